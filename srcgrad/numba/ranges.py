"""Items of ranges by their place: Numba knows `trips.start`, but not `trips[place]`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.respelled import is_call
from srcgrad.trees import Node, constant, copy, expression, header, loads, name, statements, stores, target, walk


def ranges(program: Program, facts: Facts) -> Program:
    """Spell `trips[place]` as `place` for `trips = range(n)`, as `2 + place * 3` for `trips = range(2, n, 3)`.

    Loops with `break` or `return` read their counter so. A start that is no number is read at the range,
    `trips.start + place`, since its names may be bound anew by then.
    """
    nodes = list(statements(program.block))
    bound = [each for node in nodes for each in stores(node)]
    plain = [node for node in nodes if target(node) is not None]
    calls = {str(target(node)): node.value for node in plain if is_call(node.value, "range", facts)}
    made = {held: value for held, value in calls.items() if bound.count(held) == 1}
    fixed = {each for each in program.parameters if each not in bound}
    for item in [item for node in nodes for part in header(node) for item in walk(part)] if made else []:
        for field, value in gast.iter_fields(item):
            if isinstance(value, list):
                value[:] = [_item(one, made, fixed) for one in value]
            else:
                setattr(item, field, _item(value, made, fixed))
    return program


def _item(node: Node, made: dict[str, Node], fixed: set[str]) -> Node:
    """What an item of a range is, or the node itself."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name) or node.value.id not in made:
        return node
    if not isinstance(node.slice, gast.Name):  # a slice; a negative place counts from the end, and a loop has none
        return node
    held, parts = node.value.id, made[node.value.id].args
    first = _part(parts[0], held, "start", fixed) if len(parts) > 1 else constant(0)
    step = _part(parts[2], held, "step", fixed) if len(parts) > 2 else constant(1)
    place = name(node.slice.id)
    moved = place if _is(step, 1) else expression("place * step", place=place, step=step)
    if _is(step, -1):
        return expression("first - place", first=first, place=place)
    return moved if _is(first, 0) else expression("first + moved", first=first, moved=moved)


def _part(node: Node, held: str, which: str, fixed: set[str]) -> Node:
    """A number, or arithmetic of arguments that nothing binds, as it stands; anything else is read at the range."""
    plain = gast.Constant | gast.Name | gast.BinOp | gast.UnaryOp | gast.operator | gast.unaryop | gast.Load
    if all(isinstance(item, plain) for item in walk(node)) and set(loads(node)) <= fixed:
        return copy(node)
    return expression(f"{held}.{which}")


def _is(node: Node, number: int) -> bool:
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _is(node.operand, -number)
    return isinstance(node, gast.Constant) and type(node.value) is int and node.value == number
