"""What a later kernel computes again: the sum or difference of two arrays that it has, or that are there anyway.

To keep such a value is to write it and to read it once more, where its operands would be read. It comes out the same to
the last bit in any kernel: there is no product that could be rounded otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.core.trees import Block, Node, copy, loads, name, stores, walk
from srcgrad.opencl.groups import Group
from srcgrad.opencl.numbers import is_number


@dataclass
class Closed:
    """A group whose statements are known: the name of its kernel, its results, and what stands for its call."""

    group: Group
    called: str
    results: list[str]
    mark: Node
    first: Node  # its first statement


def again(closed: list[Closed], forward: Block, body: Block) -> None:
    """Take from the results what only other kernels read and can compute from what is there; straight lines alone.

    Of `t = x + b; h = np.maximum(t, 0.0)` the kernel stores h; that of the backward half, which asks where t was
    positive, is given x and b.
    """
    if not closed or not all(_is_plain(node, closed[0].group) for node in body):
        return
    if any(isinstance(node, gast.AugAssign) for node in forward):
        return  # another name may be of the same memory
    bound: dict[str, int] = {}
    for node in body:
        for stored in stores(node):
            bound[stored] = bound.get(stored, 0) + (2 if isinstance(node, gast.AugAssign) else 1)
    for k, first in enumerate(closed):
        for held in list(first.results):
            made = _sum(held, first.group)
            readers = [one for one in closed[k + 1 :] if held in one.group.arguments]
            if made is None or len(first.results) < 2 or not readers or bound.get(held) != 1:
                continue
            operands = loads(made.value)
            if any(bound.get(operand, 0) > 1 for operand in operands):
                continue
            if _reads(held, body) != sum(_reads(held, one.group.statements) for one in [first, *readers]):
                continue
            lasting = [operand for operand in operands if operand in bound]  # the others are parameters
            if all(_is_there(operand, one, body) for operand in lasting for one in readers):
                first.results.remove(held)
                for one in readers:
                    _computed(made, held, one.group)


def _is_plain(node: Node, group: Group) -> bool:
    """Whether a statement binds names, and changes no array but, by `x_bar += e`, an adjoint."""
    if not isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Pass):
        return False
    for item in walk(node):
        if isinstance(item, gast.Subscript) and not isinstance(item.ctx, gast.Load):
            return False
        if isinstance(item, gast.Call) and any(word.arg == "out" for word in item.keywords):
            return False
    return group.is_pure(node)


def _sum(held: str, group: Group) -> Node | None:
    """The statement of a group that binds a name to the sum or difference of two arguments."""
    for node in group.statements:
        value = node.value
        if set(stores(node)) == {held} and isinstance(node, gast.Assign) and isinstance(value, gast.BinOp):
            names = [value.left, value.right]
            plain = all(isinstance(one, gast.Name) and _is_given(one.id, group) for one in names)
            adds = isinstance(value.op, gast.Add | gast.Sub) and not is_number(value, group)
            return node if plain and adds else None
    return None


def _is_given(word: str, group: Group) -> bool:
    given = group.arguments.get(word)
    return isinstance(given, gast.Name) and given.id == word


def _reads(word: str, block: Block) -> int:
    return sum(read == word for node in block for read in loads(node))


def _is_there(operand: str, reader: Closed, body: Block) -> bool:
    """Whether an operand lives until a kernel runs, whoever reads it there."""
    first = next((k for k, node in enumerate(body) if node is reader.group.original[0]), len(body))
    return any(operand in loads(node) for node in body[first:])


def _computed(made: Node, held: str, group: Group) -> None:
    """Let a group compute a value of which it was given the result."""
    del group.arguments[held]
    for operand in loads(made.value):
        group.arguments.setdefault(operand, name(operand))
    group.statements.insert(0, copy(made))
    group.stored.insert(0, held)
