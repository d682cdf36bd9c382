"""Constant factors: `e * 100.0 * 2.0` is `e * 200.0`, exactly, where one of the two is a power of two.

`a * 2.0 + b * 2.0` is `(a + b) * 2.0`, exactly as well: twice anything has its digits.
"""

from __future__ import annotations

from math import frexp

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.floating import has_sign, is_floating, is_minus
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, constant, inside, statements


def factors(program: Program, facts: Facts) -> Program:
    """Multiply the constant factors of a product, and leave out a factor that becomes 1.0; one of -1.0 is a sign.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    return 100.0 * x ** 2", after="factors").splitlines()[-2])
    x_bar = y_bar * 200.0 * x
    >>> print(explain_text("def f(x):\\n    return np.exp(-0.5 * x ** 2)", after="factors").splitlines()[-2])
    x_bar = -(y_bar * np.exp(-0.5 * x**2)) * x
    """
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if isinstance(node, gast.Assign | gast.AugAssign) and any(
            _is_float(item) for item in inside(node.value, gast.Constant)
        ):
            node.value = _merged(node.value, facts, inside=isinstance(node, gast.AugAssign))
    return program


def _merged(value: Node, facts: Facts, inside: bool) -> Node:
    """An expression in which each product has one constant; `inside` tells whether it is an operand of arithmetic."""
    arithmetic = isinstance(value, gast.BinOp | gast.UnaryOp)
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_merged(item, facts, False) if isinstance(item, gast.AST) else item for item in part])
        elif isinstance(part, gast.AST) and part._fields and key != "slice":
            setattr(value, key, _merged(part, facts, arithmetic))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add | gast.Sub):
        return _outside(value, facts)
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return value
    for factor, rest in ((value.right, value.left), (value.left, value.right)):
        if _is_float(factor) and is_floating(rest, facts):
            found = _absorbed(rest, factor.value, facts, next_to=True)
            if found is not None and (inside or isinstance(found, gast.BinOp | gast.UnaryOp | gast.Constant)):
                return found
    return value


def _outside(total: Node, facts: Facts) -> Node:
    """`(a + b) * 2.0` for `a * 2.0 + b * 2.0`, of floats; by 2, 4, 8 or 16."""
    for number in (2.0, 4.0, 8.0, 16.0):
        left, right = _without(total.left, number, facts), _without(total.right, number, facts)
        if left is None or right is None or not is_floating(left[0], facts) or not is_floating(right[0], facts):
            continue
        if not all(spec_of_tree(times, facts).scalar for _, times in (left, right)):  # a product of numbers is free
            return gast.BinOp(gast.BinOp(left[0], total.op, right[0]), gast.Mult(), constant(number))
    return total


def _without(value: Node, number: float, facts: Facts, beside: bool = False) -> tuple[Node, Node] | None:
    """The other factors of a product of which a number is one, and what it multiplies; None if it is none."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return None
    for side, other in (("right", value.left), ("left", value.right)):
        own = getattr(value, side)
        if _is_float(own) and own.value == number and (beside or has_sign(other, facts)):
            return other, other
        found = _without(own, number, facts, has_sign(other, facts))
        if found is not None:
            return gast.BinOp(*_placed(side, other, found[0], value.op)), found[1]
    return None


def _absorbed(value: Node, factor: float, facts: Facts, next_to: bool = False, beside: bool = False) -> Node | None:
    """`value * factor`, by a constant that `value` has; None if it has none, or if another number could come out.

    `beside` tells whether it is a factor of a product of floats: an integer needs no 1.0 there.
    """
    if _is_float(value):
        exact = _is_power(factor) or (next_to and _is_power(value.value))
        return constant(value.value * factor) if exact else None
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        for side, other in (("right", value.left), ("left", value.right)):
            own = getattr(value, side)
            found = _absorbed(own, factor, facts, next_to and _is_float(own), has_sign(other, facts))
            if found is not None and _is_one(found) and (beside or has_sign(other, facts)):
                return other
            if found is not None and is_minus(found) and _is_one(found.operand) and has_sign(other, facts):
                return gast.UnaryOp(found.op, other)
            if found is not None:
                return gast.BinOp(*_placed(side, other, found, value.op))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div):
        found = _absorbed(value.left, factor, facts, beside=has_sign(value.right, facts))
        return None if found is None else gast.BinOp(found, value.op, value.right)
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        found = _absorbed(value.operand, factor, facts)
        return None if found is None else gast.UnaryOp(value.op, found)
    if _is_sum(value):
        found = _absorbed(value.args[0], factor, facts)
        return None if found is None or _is_float(found) else gast.Call(value.func, [found], value.keywords)
    if isinstance(value, gast.Subscript):
        found = _absorbed(value.value, factor, facts)
        return None if found is None or _is_float(found) else gast.Subscript(found, value.slice, value.ctx)
    return None


def _is_sum(value: Node) -> bool:
    """Whether an expression is `np.sum(e)`, of all or along axes: twice a sum is the sum of what is twice as large."""
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute) or value.func.attr != "sum":
        return False
    return len(value.args) == 1 and all(word.arg in ("axis", "keepdims") for word in value.keywords)


def _placed(side: str, other: Node, found: Node, op: Node) -> tuple[Node, Node, Node]:
    return (other, op, found) if side == "right" else (found, op, other)


def _is_float(value: Node) -> bool:
    return isinstance(value, gast.Constant) and type(value.value) is float


def _is_one(value: Node) -> bool:
    return _is_float(value) and value.value == 1.0


def _is_power(number: float) -> bool:
    """Whether a number is a power of two, or minus one: a product with it is exact."""
    return abs(frexp(number)[0]) == 0.5
