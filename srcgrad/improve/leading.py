"""Numbers stand first in products: `y_bar * 0.3 * x` goes over one array once, `y_bar * x * 0.3` twice.

For the same reason the sign of a product that is summed to a shape is that of its number.
"""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.floating import fits, is_floating, is_minus, is_of_derivative
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, at, inside, statements


def leading(program: Program, facts: Facts) -> Program:
    """Multiply a number by a constant before arrays are.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    return np.sum(np.exp(-x * x))"
    >>> print(explain_text(text, after="leading").splitlines()[-2])
    x_bar = -y_bar * 2.0 * np.exp(-x * x) * x
    """
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if isinstance(node, gast.Assign | gast.AugAssign):
            if any(type(item.value) is float for item in inside(node.value, gast.Constant)):
                node.value = _moved(node.value, facts)
            node.value = _signed(node.value, facts)
    return program


def _moved(value: Node, facts: Facts) -> Node:
    """An expression with the constants of each product behind its first factor, if that is a number."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        factors = _factors(value)
        first = factors[0][1]
        if len(factors) > 2 and _is_number(first, facts) and is_of_derivative(value, facts):
            start = next((k for k, (_, one) in enumerate(factors) if not _is_number(one, facts)), len(factors))
            places = [k for k, factor in enumerate(factors) if k > start and _may_move(*factor)]
            for shift, place in enumerate(places):
                factors.insert(start + shift, factors.pop(place))
            for op, one in factors[1:] if places else ():
                first = at(gast.BinOp(first, op, one), value)
            value = first if places else value
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_moved(item, facts) if isinstance(item, gast.AST) else item for item in part])
        elif isinstance(part, gast.AST) and part._fields and key != "slice":
            setattr(value, key, _moved(part, facts))
    return value


def _factors(value: Node) -> list[tuple[Node, Node]]:
    """The factors and divisors of a product from left to right, each with the operator before it."""
    found = []
    while isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        found.append((value.op, value.right))
        value = value.left
    return [(found[-1][0], value), *reversed(found)]


def _may_move(op: Node, factor: Node) -> bool:
    """Whether a factor is a constant that may be multiplied earlier: not one with which products get out of range."""
    constant = isinstance(factor, gast.Constant) and type(factor.value) is float
    return constant and isinstance(op, gast.Mult) and 2.0**-8 <= abs(factor.value) <= 2.0**8


def _is_number(factor: Node, facts: Facts) -> bool:
    """Whether a factor, but for its sign, is a number of a floating type."""
    factor = factor.operand if is_minus(factor) else factor
    if not is_floating(factor, facts):
        return False
    if isinstance(factor, gast.Name) and factor not in facts.spec:
        spec = facts.value_spec.get(facts.adjoint_of.get(factor.id, factor.id))
        return spec is not None and spec.scalar
    return spec_of_tree(factor, facts).scalar


def _signed(value: Node, facts: Facts) -> Node:
    """`sum_to(-y_bar * x, z)` for `-sum_to(y_bar * x, z)`."""
    if not is_minus(value) or not fits(value.operand, facts):
        return value
    product = value.operand.args[0]
    while isinstance(product, gast.BinOp) and isinstance(product.op, gast.Mult | gast.Div):
        left = product.left
        if isinstance(left, gast.Name) and _is_number(left, facts):
            product.left = at(gast.UnaryOp(gast.USub(), left), left)
            return value.operand
        product = left
    return value
