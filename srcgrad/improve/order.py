"""Within the lines that undo one statement: temporaries first, then adjoints in the order of its operands."""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.extents import canonical
from srcgrad.analyse.floating import negated
from srcgrad.derive.program import Program
from srcgrad.emit.text import statement as spelled
from srcgrad.facts import Facts
from srcgrad.improve.inline import WIDTH
from srcgrad.trees import COMPOUND, Block, Node, loads, same, stores, target, walk


def order(program: Program, facts: Facts) -> Program:
    """Sort each group of lines, keeping what depends on what; join two contributions that meet in one group."""
    program.backward = _block(program.backward, facts, 4)
    return program


def _block(block: Block, facts: Facts, indent: int) -> Block:
    made: Block = []
    group: Block = []
    for node in [*block, None]:
        if group and (node is None or not _together(group[0], node, facts)):
            made += _joined(_sorted(group, facts), facts, indent)
            group = []
        if node is None:
            break
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, facts, indent + 4)
            node.orelse = _block(getattr(node, "orelse", None) or [], facts, indent + 4)
            made.append(node)
        elif node in facts.zeros:
            made.append(node)
        else:
            group.append(node)
    return made


def _together(one: Node, two: Node, facts: Facts) -> bool:
    if isinstance(two, COMPOUND) or two in facts.zeros:
        return False
    return getattr(one, "lineno", 0) == getattr(two, "lineno", 0)


def _sorted(group: Block, facts: Facts) -> Block:
    """A list schedule: the most urgent statement of those whose predecessors have been placed."""
    if len(group) > 60:
        return group
    after = _dependencies(group, facts)
    rank = {node: _rank(position, node, group, facts) for position, node in enumerate(group)}
    left = list(range(len(group)))
    placed: list[int] = []
    while left:
        ready = [k for k in left if not any(j in left for j in after[k])]
        chosen = min(ready, key=lambda k: rank[group[k]])
        placed.append(chosen)
        left.remove(chosen)
    return [group[k] for k in placed]


def _dependencies(group: Block, facts: Facts) -> list[list[int]]:
    reads = [facts.shown(loads(n)) for n in group]
    writes = [set(stores(n)) for n in group]
    for bound in [writes[k] for k, n in enumerate(group) if facts.hooked(n)]:
        bound.add("hooks")  # they are called in their order
    return [
        [j for j in range(k) if writes[j] & reads[k] or reads[j] & writes[k] or writes[j] & writes[k]]
        for k in range(len(group))
    ]


def _rank(position: int, node: Node, group: Block, facts: Facts) -> tuple[int, int]:
    bound = stores(node)
    primal = facts.adjoint_of.get(bound[0]) if bound else None
    if primal is None or primal in facts.temporaries:
        return (0, position)
    return (1, facts.mention.get((getattr(node, "lineno", 0), primal), position))


def _joined(group: Block, facts: Facts, indent: int) -> Block:
    """`x_bar = a` and, next, `x_bar = x_bar + b` are `x_bar = a + b`."""
    made: Block = []
    for node in group:
        bound = target(node)
        if made and bound is not None and target(made[-1]) == bound and node in facts.accumulates:
            first = made[-1]
            value = node.value
            again = [n for n in walk(value.right) if isinstance(n, gast.Name) and n.id == bound]
            if not again and first not in facts.restores:
                minus = isinstance(value.op, gast.Sub)
                begun = _summed(first.value, facts)
                total = _fitted(begun, value.op, value.right, facts)
                if total is None:
                    total = gast.BinOp(begun, value.op, value.right) if minus else added(begun, value.right, facts)
                joined = gast.Assign(first.targets, total, None)
                joined.lineno = first.lineno
                if max(map(len, spelled(joined, width=10_000))) + indent <= WIDTH:
                    if first in facts.accumulates:
                        facts.accumulates[joined] = None
                    made[-1] = joined
                    continue
        made.append(node)
    return made


def _summed(value: Node, facts: Facts) -> Node:
    """The `sum_to(g, x)` of `np.array(sum_to(g, x))`: what it is added to makes a new array."""
    if not isinstance(value, gast.Call) or gast.unparse(value.func) != f"{facts.imports.get('np')}.array":
        return value
    inner = value.args[0] if len(value.args) == 1 and not value.keywords else None
    summed = isinstance(inner, gast.Call) and getattr(inner.func, "id", "") == facts.imports.get("sum_to")
    return inner if summed else value


def _fitted(one: Node, op: Node, two: Node, facts: Facts) -> Node | None:
    """`sum_to(a + b, x)` for `sum_to(a, x) + sum_to(b, x)`, where a and b have one shape."""
    for call in (one, two):
        if not isinstance(call, gast.Call) or getattr(call.func, "id", "") != facts.imports.get("sum_to"):
            return None
        if len(call.args) != 2 or call.keywords:
            return None
    made, other = spec_of_tree(one.args[0], facts), spec_of_tree(two.args[0], facts)
    if made.scalar or canonical(made).shape != canonical(other).shape or not same(one.args[1], two.args[1]):
        return None
    inner = (
        gast.BinOp(one.args[0], op, two.args[0]) if isinstance(op, gast.Sub) else added(one.args[0], two.args[0], facts)
    )
    return gast.Call(one.func, [inner, one.args[1]], [])


def added(one: Node, two: Node, facts: Facts) -> Node:
    """`one + two`, with signs as a person writes them."""
    minus = negated(two, facts)
    if minus is not None:
        return gast.BinOp(one, gast.Sub(), minus)
    minus = negated(one, facts)
    if minus is not None:
        return gast.BinOp(two, gast.Sub(), minus)
    return gast.BinOp(one, gast.Add(), two)
