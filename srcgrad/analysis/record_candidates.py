"""To-be-recorded analysis: which values are lost before the backward half, and how each could be kept.

Sums built up by a loop: `s = s + e`, where the loop does nothing else with s.

Where a value is lost by being bound anew, and how it could be kept: candidates for recording.

Two forms. A name that is bound already (carried by a loop, or changed in a branch) is saved just before it is
bound again. A name that each trip binds afresh is saved at the end of the block in which it lives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.core.facts import Facts
from srcgrad.core.trees import Block, Node, loads, parameters, statements, stores, target


def accumulators(function: Node, facts: Facts) -> Node:
    """Find accumulators: their adjoint passes through the loop unchanged, so nothing need be recorded for it.

    If broadcasting widens s on the way, the adjoint stays wide until the statement before the loop is undone,
    which must be elementwise (or a literal) for that to be right.
    """
    for loop in statements(function.body):
        if isinstance(loop, gast.For | gast.While):
            for node in loop.body:
                name = _name_of_update(node, facts)
                if name is not None and name not in parameters(function) and _used_by_update_only(name, node, loop):
                    if _plain_start(name, loop, function, facts):
                        facts.tape.accumulators[node] = (name,)
    return function


def _name_of_update(node: Node, facts: Facts) -> str | None:
    """The s of `s = s + e` or `s = s - e`."""
    bound = target(node)
    operation = facts.resolution.operation.get(node.value) if bound is not None else None
    if operation is None or operation.function not in (np.add, np.subtract):
        return None
    operands = list(operation.bound.values())
    held = [isinstance(o, gast.Name) and o.id == bound for o in operands]
    if held == [True, False] or (held == [False, True] and operation.function is np.add):
        return bound
    return None


def _used_by_update_only(name: str, update: Node, loop: Node) -> bool:
    """Whether the loop reads and binds the name in this one statement only."""
    others = [n for n in statements([loop]) if n is not update]
    return all(name not in loads(n) and name not in stores(n) for n in others)


def _plain_start(name: str, loop: Node, function: Node, facts: Facts) -> bool:
    """Whether all other bindings of the name carry no derivative, or are elementwise, and stand outside loops."""
    inside = set(statements([loop]))
    for node in statements(function.body):
        if name in stores(node) and node not in inside:
            operation = facts.operation_of(node)
            elementwise = operation is not None and operation.rule is not None and operation.rule.kind == "elementwise"
            if not elementwise and (operation is not None or not isinstance(node, gast.Assign)):
                return False
            if not isinstance(node.targets[0], gast.Name):
                return False
    return True


Place = tuple[Node, str]  # a compound statement and which of its blocks


@dataclass
class Overwrites:
    """`before[s]`: names to save before statement s; `ends[block]`: names to save at the end of a block.

    `looped` holds the statements inside some loop.
    """

    before: dict[Node, list[str]] = field(default_factory=dict)
    ends: dict[Place, list[str]] = field(default_factory=dict)
    looped: dict[Node, None] = field(default_factory=dict)


def overwrites(function: Node, facts: Facts) -> Overwrites:
    """All places where some value is bound anew while an older one may still be wanted."""
    found = Overwrites()
    _note_rebound_names(function, facts)
    _block(function.body, dict.fromkeys(parameters(function)), False, found)
    return found


def _note_rebound_names(function: Node, facts: Facts) -> None:
    """Names bound in several places, and counters of loops over `range`."""
    seen = dict.fromkeys(parameters(function))
    for node in statements(function.body):
        for name in stores(node):
            if name in seen:
                facts.activity.rebound[name] = None
            seen[name] = None
        if isinstance(node, gast.For) and isinstance(node.target, gast.Name) and not isinstance(node.iter, gast.Name):
            facts.values.integers[node.target.id] = None
            facts.values.counting[node.target.id] = None
        if isinstance(node, gast.For | gast.While):
            for inner in statements(node.body):
                if not isinstance(inner, gast.For):
                    facts.activity.rebound.update(dict.fromkeys(stores(inner)))


def _block(block: Block, bound: dict[str, None], looped: bool, found: Overwrites) -> None:
    for node in block:
        if looped:
            found.looped[node] = None
        lost = [name for name in dict.fromkeys(stores(node)) if name in bound]
        if lost:
            found.before[node] = lost
        for name in stores(node):
            bound[name] = None
        if isinstance(node, gast.If):
            sides = [dict(bound), dict(bound)]
            _block(node.body, sides[0], looped, found)
            _block(node.orelse, sides[1], looped, found)
            bound.update(sides[0] | sides[1])
        elif isinstance(node, gast.For | gast.While):
            _loop(node, bound, found)


def _loop(node: Node, bound: dict[str, None], found: Overwrites) -> None:
    inside = dict(bound)
    _block(node.body, inside, True, found)
    fresh = [s for n in statements(node.body) for s in stores(n) if s not in bound]
    touched: dict[Node, frozenset[str]] = {}
    for name in dict.fromkeys(fresh):
        place = _home(node, "body", name, touched)
        if place is not None:
            found.ends.setdefault(place, []).append(name)
    bound.update(inside)


def _home(owner: Node, which: str, name: str, touched: dict[Node, frozenset[str]]) -> Place | None:
    """The smallest block, loops not entered, that holds all that happens to a name; None if a loop holds it."""
    touching = [node for node in getattr(owner, which) if name in (touched.get(node) or _names(node, touched))]
    if len(touching) == 1:
        only = touching[0]
        header = name in stores(only) or name in loads(only)
        if isinstance(only, gast.If) and not header:
            sides = [s for s in ("body", "orelse") if any(name in _names(n, touched) for n in getattr(only, s))]
            if len(sides) == 1:
                return _home(only, sides[0], name, touched)
        if isinstance(only, gast.For | gast.While) and (not header or isinstance(only, gast.For)):
            return None
    return (owner, which)


def _names(node: Node, touched: dict[Node, frozenset[str]]) -> frozenset[str]:
    """What a statement, and those inside it, read or bind, looked up once."""
    if node not in touched:
        touched[node] = frozenset(one for n in statements([node]) for one in (*stores(n), *loads(n)))
    return touched[node]
