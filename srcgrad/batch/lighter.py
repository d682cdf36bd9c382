"""A sign belongs to what has fewer elements: `x_dot * -y`, where y is one number and x_dot one for each direction."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.units import is_floating
from srcgrad.trees import header, loads, statements, walk


def lighter(program: Program, facts: Facts, batched: dict[str, None]) -> None:
    """Move signs in products from what has the axis to what has not; the number is the same."""
    for node in statements(program.block):
        for part in header(node):
            for product in walk(part):
                if not isinstance(product, gast.BinOp) or not isinstance(product.op, gast.Mult):
                    continue
                one, two = product.left, product.right
                signed = isinstance(one, gast.UnaryOp) and isinstance(one.op, gast.USub)
                plain = isinstance(two, gast.Name | gast.Subscript | gast.Call) and is_floating(two, facts)
                if (
                    signed
                    and plain
                    and not batched.keys().isdisjoint(loads(one))
                    and batched.keys().isdisjoint(loads(two))
                ):
                    product.left, product.right = one.operand, gast.UnaryOp(gast.USub(), two)
