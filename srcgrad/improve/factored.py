"""Factors that the terms of a sum share: `g * a + g * b` is `g * (a + b)`, which multiplies once less.

Terms of one adjoint share what comes in, `y_bar` or what was made of it. Sums of what may be small integers stay: these
may be too large for their type, where the products with a float were not.
"""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.floating import has_sign, is_minus, is_of_derivative
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, at, constant, inside, same, statements

_Factor = tuple[type, Node]  # gast.Mult or gast.Div, and what one multiplies with or divides by


def factored(program: Program, facts: Facts) -> Program:
    """Multiply two terms by what they share after they are added, where that is less work.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    return np.sum(x * np.exp(-x))"
    >>> print(explain_text(text, after="factored").splitlines()[-2])
    x_bar = y_bar * t3 * (1.0 - x)
    """
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if isinstance(node, gast.Assign | gast.AugAssign) and node not in facts.again_written:
            if any(isinstance(item.op, gast.Add | gast.Sub) for item in inside(node.value, gast.BinOp)):
                node.value = _visited(node.value, facts)
    return program


def _visited(value: Node, facts: Facts) -> Node:
    """An expression whose sums are products where their terms share factors."""
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_visited(item, facts) if isinstance(item, gast.AST) else item for item in part])
        elif isinstance(part, gast.AST) and part._fields and key != "slice":
            setattr(value, key, _visited(part, facts))
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add | gast.Sub):
        return value
    made = _together(value, facts)
    if made is None or not is_of_derivative(value, facts) or _work(made, facts) >= _work(value, facts):
        return value
    return at(made, value)


def _together(total: Node, facts: Facts) -> Node | None:
    """`g * (a + b)` for `g * a + g * b`; for `e + g * a + g * b` it is `e + g * (a + b)`. Signs may be any."""
    first = _factors(total.left)
    minus = is_minus(first[0][1])
    if minus:
        first[0] = (gast.Mult, first[0][1].operand)
    shared, one, two = _split(first, _factors(total.right))
    rests = [_product(one), _product(two)]
    if shared and all(has_sign(rest, facts) or isinstance(rest, gast.Constant) for rest in rests):
        op = total.op
        if minus and isinstance(op, gast.Add):
            rests, op = rests[::-1], gast.Sub()
        elif minus and shared[0][0] is gast.Mult:
            shared[0], op = (gast.Mult, gast.UnaryOp(gast.USub(), shared[0][1])), gast.Add()
        elif minus:
            rests[0] = gast.UnaryOp(gast.USub(), rests[0])
        return _product([*shared, (gast.Mult, gast.BinOp(rests[0], op, rests[1]))])
    before = total.left
    if not isinstance(before, gast.BinOp) or not isinstance(before.op, gast.Add | gast.Sub):
        return None
    if isinstance(before.op, gast.Add):
        made = _together(gast.BinOp(before.right, total.op, total.right), facts)
    elif isinstance(total.op, gast.Add):
        made = _together(gast.BinOp(total.right, before.op, before.right), facts)
    else:
        made = _together(gast.BinOp(before.right, gast.Add(), total.right), facts)
    op = gast.Add() if isinstance(before.op, gast.Add) or isinstance(total.op, gast.Add) else gast.Sub()
    return None if made is None else gast.BinOp(before.left, op, made)


def _split(one: list[_Factor], two: list[_Factor]) -> tuple[list[_Factor], list[_Factor], list[_Factor]]:
    """What two products share, divisors last, and the rest of each; a constant factor alone is not shared."""
    shared, left, right = [], [], list(two)
    for op, factor in one:
        place = next((k for k, (other, two_) in enumerate(right) if other is op and same(two_, factor)), None)
        if place is None:
            left.append((op, factor))
        else:
            shared.append((op, factor))
            right.pop(place)
    shared.sort(key=lambda factor: factor[0] is gast.Div)
    named = any(op is gast.Div or not isinstance(factor, gast.Constant) for op, factor in shared)
    return shared if named else [], left, right


def _factors(value: Node) -> list[_Factor]:
    """The factors and divisors of a product, from left to right."""
    found: list[_Factor] = []
    while isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        found.append((type(value.op), value.right))
        value = value.left
    return [(gast.Mult, value), *reversed(found)]


def _product(factors: list[_Factor]) -> Node:
    """A product of factors, which begins with the first that is no divisor; 1.0 if there is none."""
    first = next((one for one in factors if one[0] is gast.Mult), None)
    made = constant(1.0) if first is None else first[1]
    for one in factors:
        if one is not first:
            made = gast.BinOp(made, one[0](), one[1])
    return made


def _work(value: Node, facts: Facts) -> tuple[int, int]:
    """How many operations an expression has on arrays, and in all."""
    operations = inside(value, gast.BinOp)
    return sum(not spec_of_tree(one, facts).scalar for one in operations), len(operations)
