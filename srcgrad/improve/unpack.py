"""`t, back = f_vjp(x)` and then `u, v = t` are `(u, v), back = f_vjp(x)`; a result that nothing reads is `_`.

A seed `y_bar` is unpacked, or read by its items where each of them is read once.
In the backward half `t1, t2 = back(y_bar)` and then `x_bar = t1` are `x_bar, t2 = back(y_bar)`, if nothing reads x_bar
in between.
"""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.results import gives_several
from srcgrad.improve.inline import Uses, count
from srcgrad.trees import COMPOUND, Block, Node, assign, at, expression, loads, statements, stores, target


def unpack(program: Program, facts: Facts) -> Program:
    """Unpack the tuple that a callee returned in the statement that calls it."""
    uses = count(program.block)
    program.forward = _block(program.forward, uses, facts)
    for node in statements(program.forward):
        if gives_several(node, facts):
            for item in node.targets[0].elts:
                if item.id in facts.temporaries and not uses.read.get(item.id):
                    item.id = facts.unused
    program.backward = [one for node in program.backward for one in _parts(node, uses, facts)]
    program.backward = _bound_at_once(program.backward, uses, facts)
    return program


def _parts(node: Node, uses: Uses, facts: Facts) -> Block:
    """The items of a seed of which each is read once, `y_bar[k]`, as they are written where they are read."""
    if not _unpacks(node) or node.value.id not in facts.seeds:
        return [node]
    held = [part.id for part in node.targets[0].elts]
    if any(uses.read.get(one, 0) > 1 for one in held):
        return [node]
    return [
        at(assign(one, expression(f"{node.value.id}[{position}]"), node), node) for position, one in enumerate(held)
    ]


def _bound_at_once(block: Block, uses: Uses, facts: Facts) -> Block:
    """Names that are bound to results right behind a call, in the place of the temporaries that hold them."""
    made: Block = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _bound_at_once(node.body, uses, facts)
            node.orelse = _bound_at_once(getattr(node, "orelse", None) or [], uses, facts)
        part = _result(node, made, uses, facts)
        if part is None:
            made.append(node)
        else:
            part.id = node.targets[0].id
    return made


def _result(node: Node, made: Block, uses: Uses, facts: Facts) -> Node | None:
    """The place among a call's results of what a statement binds to a name, where nothing else reads it."""
    bound = target(node)
    if bound is None or not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Name):
        return None
    held = node.value.id
    if node in facts.pushes or node in facts.restores or held not in facts.temporaries:
        return None
    if uses.read.get(held) != 1 or uses.bound.get(held) != 1:
        return None
    for before in reversed(made):
        if isinstance(before, COMPOUND) or bound in stores(before):
            return None
        if held in stores(before):
            places = before.targets[0] if isinstance(before, gast.Assign) else None
            if not isinstance(places, gast.Tuple) or not isinstance(before.value, gast.Call):
                return None
            return next((part for part in places.elts if isinstance(part, gast.Name) and part.id == held), None)
        if bound in loads(before):
            return None
    return None


def _block(block: Block, uses: Uses, facts: Facts) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, uses, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], uses, facts)
        if not (_unpacks(node) and made and _joined(node, made, uses, facts)):
            made.append(node)
    return made


def _unpacks(node: Node) -> bool:
    return (
        isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) and isinstance(node.value, gast.Name)
    )


def _joined(node: Node, made: Block, uses: Uses, facts: Facts) -> bool:
    """Put the names of `node` in the place of the temporary that a statement right before it binds."""
    held = node.value.id
    if held not in facts.temporaries and facts.adjoint_of.get(held) not in facts.temporaries:
        return False
    if uses.read.get(held) != 1 or uses.bound.get(held) != 1:
        return False
    before = made[-1]
    if not (isinstance(before, gast.Assign) and isinstance(before.targets[0], gast.Tuple)):
        return False
    parts = before.targets[0].elts
    for position, part in enumerate(parts):
        if isinstance(part, gast.Name) and part.id == held:
            parts[position] = node.targets[0]
            return True
    return False
