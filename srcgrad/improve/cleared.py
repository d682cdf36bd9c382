"""`a_bar[i] = 0.0`, then `a_bar[i] += e`: one store, `a_bar[i] = e`. What is cleared twice in a row is cleared once."""

from __future__ import annotations

import gast

from srcgrad.analyse.floating import negative
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.scope import cheap
from srcgrad.indices import is_basic
from srcgrad.trees import COMPOUND, Block, Node, at, children, same, stores, walk


def cleared(program: Program, facts: Facts) -> Program:
    """Store at once what would be added to a part that has just been cleared.

    What stands between the two only adds to the array, and sums may be added in any order.
    """
    program.backward = _block(program.backward, frozenset(facts.integers), facts)
    return program


def _block(block: Block, integers: frozenset[str], facts: Facts) -> Block:
    gone: set[int] = set()
    made: Block = list(block)
    for position, node in enumerate(made):
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, integers, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], integers, facts)
        elif clears(node):
            if position + 1 < len(made) and _covers(made[position + 1], node, integers):
                gone.add(position)
                continue
            later = _added(made, position)
            if later is not None:
                value = made[later].value
                if isinstance(made[later].op, gast.Sub):
                    value = negative(value, facts)
                made[position] = at(gast.Assign(node.targets, value, None), node)
                gone.add(later)
    return [node for position, node in enumerate(made) if position not in gone]


def clears(node: Node) -> bool:
    """`a_bar[i] = 0.0`"""
    part = node.targets[0] if isinstance(node, gast.Assign) else None
    if not isinstance(part, gast.Subscript) or not isinstance(part.value, gast.Name):
        return False
    return isinstance(node.value, gast.Constant) and isinstance(node.value.value, float) and node.value.value == 0.0


def _covers(later: Node, node: Node, integers: frozenset[str]) -> bool:
    """Whether a statement clears all that another one clears: `a_bar[n, :] = 0.0` after `a_bar[n, n] = 0.0`.

    A name may hold a mask that stands for several axes: what differs then is followed by whole axes alone.
    """
    if not clears(later) or later.targets[0].value.id != node.targets[0].value.id:
        return False
    index, wider = node.targets[0].slice, later.targets[0].slice
    inner, outer = _places(index), _places(wider)
    if len(inner) != len(outer) or not all(_is_place(part) for part in (*inner, *outer)):
        return False
    equal = [same(one, two) for one, two in zip(inner, outer, strict=True)]
    whole = [isinstance(two, gast.Slice) and not children(two) for two in outer]
    if not (is_basic(index, integers) and is_basic(wider, integers)):
        return all(whole[equal.index(False) :]) if False in equal else True
    return all(one or other for one, other in zip(equal, whole, strict=True))


def _places(index: Node) -> list[Node]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _is_place(part: Node) -> bool:
    """Whether an entry of an index is cheap, and neither None nor Ellipsis."""
    return cheap(part) and not (isinstance(part, gast.Constant) and type(part.value) is not int)


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
