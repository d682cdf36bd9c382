"""Minus signs of products: found, and put in front."""

from __future__ import annotations

import gast

from srcgrad.trees import Node, at


def negated(value: Node) -> Node | None:
    """The e of a value that is `-e`, or `-a * b` or `-a @ b` with e = `a * b` or `a @ b`; None for any other value."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return value.operand
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div | gast.MatMult):
        left = negated(value.left)
        if left is not None:
            return at(gast.BinOp(left, value.op, value.right), value)
    return None


def negative(value: Node) -> Node:
    """`-a * b` for the negative of `a * b`: exact, and read from the left."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        return gast.BinOp(negative(value.left), value.op, value.right)
    return gast.UnaryOp(gast.USub(), value)
