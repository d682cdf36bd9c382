"""`a_bar[i] = 0.0`, then `a_bar[i] += e`: one store, `a_bar[i] = e`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.minus import negative
from srcgrad.trees import COMPOUND, Block, Node, at, stores, walk


def cleared(program: Program, facts: Facts) -> Program:
    """Store at once what would be added to a part that has just been cleared.

    What stands between the two only adds to the array, and sums may be added in any order.
    """
    program.backward = _block(program.backward)
    return program


def _block(block: Block) -> Block:
    gone: set[int] = set()
    made: Block = list(block)
    for position, node in enumerate(made):
        if isinstance(node, COMPOUND):
            node.body = _block(node.body)
            node.orelse = _block(getattr(node, "orelse", None) or [])
        elif _clears(node):
            later = _added(made, position)
            if later is not None:
                value = made[later].value
                if isinstance(made[later].op, gast.Sub):
                    value = negative(value)
                made[position] = at(gast.Assign(node.targets, value, None), node)
                gone.add(later)
    return [node for position, node in enumerate(made) if position not in gone]


def _clears(node: Node) -> bool:
    """`a_bar[i] = 0.0`"""
    part = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(part, gast.Subscript) or not isinstance(part.value, gast.Name):
        return False
    return isinstance(node.value, gast.Constant) and isinstance(node.value.value, float) and node.value.value == 0.0


def _added(block: Block, position: int) -> int | None:
    """Where the first sum is added to the part that a statement clears, if it may be stored there and then."""
    part = block[position].targets[0]
    array, place = part.value.id, gast.unparse(part.slice)
    bound: set[str] = set()
    for later in range(position + 1, len(block)):
        node = block[later]
        if not isinstance(node, gast.AugAssign) or not isinstance(node.op, gast.Add | gast.Sub):
            return None
        read = {n.id for n in walk(node.value) if isinstance(n, gast.Name)}
        if array in read or not isinstance(node.target, gast.Subscript) or not isinstance(node.target.value, gast.Name):
            return None
        if node.target.value.id == array and gast.unparse(node.target.slice) == place:
            return None if bound & read else later
        bound.update(stores(node))
    return None
