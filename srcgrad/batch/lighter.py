"""What has no axis of directions is multiplied first: `x_dot * -y`, `2.0 * y * x_dot`, where y is one number.

x_dot has one number for each direction, and so has each product with it.
"""

from __future__ import annotations

import gast

from srcgrad.analyse.floating import has_sign, is_floating, is_minus
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, header, loads, statements, walk


def lighter(program: Program, facts: Facts, batched: dict[str, None]) -> None:
    """Move signs in products from what has the axis to what has not; the number is the same.

    Where products may be in another order, `x_dot * a * b` is `a * b * x_dot`: one product with the axis, not two.
    If `a * b` is too large for a float, zeros of x_dot give NaN, and then the text is made anew without this.
    """
    for node in statements(program.block):
        for part in header(node):
            for product in walk(part):
                if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.Mult):
                    continue
                if facts.module.leading.regroup and isinstance(product.left, gast.BinOp):
                    _local_first(product, facts, batched)
                one, two = product.left, product.right
                plain = isinstance(two, gast.Name | gast.Subscript | gast.Call) and is_floating(two, facts)
                if (
                    is_minus(one)
                    and plain
                    and not batched.keys().isdisjoint(loads(one))
                    and batched.keys().isdisjoint(loads(two))
                ):
                    product.left, product.right = one.operand, gast.UnaryOp(gast.USub(), two)


def _local_first(product: Node, facts: Facts, batched: dict[str, None]) -> None:
    """Multiply the other factors of a product first, if its first one alone has the axis.

    One of the first two is an array of floats: the product of small integers may be too large for their type.
    """
    others: list[Node] = []
    first = product
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult):
        others.insert(0, first.right)
        first = first.left
    having = [not batched.keys().isdisjoint(loads(one)) for one in (first, *others)]
    if len(others) < 2 or having != [True] + [False] * len(others):
        return
    if not any(is_floating(one, facts) for one in others[:2] if not isinstance(one, gast.Constant)):
        return
    local = others[0]
    if is_minus(first) and has_sign(local, facts):
        first, local = first.operand, gast.UnaryOp(gast.USub(), local)
    for other in others[1:]:
        local = gast.BinOp(local, gast.Mult(), other)
    product.left, product.right = local, first
