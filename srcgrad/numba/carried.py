"""Adjoints that a trip of a loop hands to the next: one product and no chain, since each trip waits for the last."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.numbers import numbers
from srcgrad.trees import Block, Node, at, copy, loads, name, statements, stores, target, walk


def carried(program: Program, facts: Facts) -> Program:
    """Let `t_bar = x_bar * a`, `x_bar = t_bar * b - x_bar * c` be `x_bar *= a * b - c`, for numbers in a loop.

    That is where the new value is a sum of multiples of the old one, and where nothing is changed in between.
    """
    loops = [node for node in statements(program.backward) if isinstance(node, gast.For | gast.While)]
    if not loops or facts.complex:
        return program
    known = numbers(program, facts)
    for loop in loops:
        for held in dict.fromkeys(target(node) for node in loop.body):
            if held in known and held in facts.adjoint_of:
                _multiply(held, loop.body)
    reads = {each for node in statements(program.block) for each in loads(node)}
    for loop in loops:
        loop.body[:] = [node for node in loop.body if node in facts.restores or target(node) not in known - reads]
    return program


def _multiply(held: str, body: Block) -> None:
    """Write the sums of multiples of a name that it is bound to anew as products."""
    factors: dict[str, Node] = {}  # name -> what `held` is multiplied with
    for place, node in enumerate(body):
        bound = target(node)
        factor = _factor(node.value, held, factors) if bound is not None else None
        if bound == held and factor is not None and isinstance(node.value, gast.BinOp) and _adds(node.value):
            body[place] = at(gast.AugAssign(name(held, gast.Store()), gast.Mult(), factor), node)
        changed = {each for one in statements([node]) for each in stores(one)}
        alive = () if held in changed else factors
        factors = {each: factors[each] for each in alive if not changed & {each, *_names(factors[each])}}
        if bound is not None and bound != held and factor is not None and bound not in _names(factor):
            factors[bound] = factor


def _adds(value: Node) -> bool:
    return isinstance(value.op, gast.Add | gast.Sub)


def _names(value: Node) -> set[str]:
    return {item.id for item in walk(value) if isinstance(item, gast.Name)}


def _factor(value: Node, held: str, factors: dict[str, Node]) -> Node | None:
    """What a name is multiplied with in an expression that is a multiple of it; None for any other."""
    if isinstance(value, gast.Name):
        if value.id == held:
            return gast.Constant(value=1.0, kind=None)
        return copy(factors[value.id]) if value.id in factors else None
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        inner = _factor(value.operand, held, factors)
        return None if inner is None else gast.UnaryOp(gast.USub(), inner)
    if not isinstance(value, gast.BinOp):
        return None
    one, two = _factor(value.left, held, factors), _factor(value.right, held, factors)
    if isinstance(value.op, gast.Add | gast.Sub):
        return None if one is None or two is None else gast.BinOp(one, value.op, two)
    if one is not None and two is None and isinstance(value.op, gast.Mult | gast.Div):
        product = _times(one, value.right) if isinstance(value.op, gast.Mult) else None
        return product or gast.BinOp(one, value.op, copy(value.right))
    if two is not None and one is None and isinstance(value.op, gast.Mult):
        return _times(two, value.left) or gast.BinOp(copy(value.left), gast.Mult(), two)
    return None


def _times(one: Node, other: Node) -> Node | None:
    """A product with 1.0 or -1.0."""
    if isinstance(one, gast.UnaryOp) and isinstance(one.operand, gast.Constant) and one.operand.value == 1.0:
        return gast.UnaryOp(gast.USub(), copy(other))
    return copy(other) if isinstance(one, gast.Constant) and one.value == 1.0 else None
