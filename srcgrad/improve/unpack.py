"""`t, back = f_vjp(x)` and then `u, v = t` are `(u, v), back = f_vjp(x)`; a result that nothing reads is `_`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.results import gives_several
from srcgrad.improve.inline import Uses, count
from srcgrad.trees import COMPOUND, Block, Node, statements


def unpack(program: Program, facts: Facts) -> Program:
    """Unpack the tuple that a callee returned in the statement that calls it."""
    uses = count(program.block)
    program.forward = _block(program.forward, uses, facts)
    for node in statements(program.forward):
        if gives_several(node, facts):
            for item in node.targets[0].elts:
                if item.id in facts.temporaries and not uses.read.get(item.id):
                    item.id = facts.unused
    return program


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
