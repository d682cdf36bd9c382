"""Signs: `a + -b` is `a - b`, exactly."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.improve.program import Program
from srcgrad.trees import Node, at, statements


def negated(value: Node) -> Node | None:
    """The e of a value that is `-e`, or `-a * b` with e = `a * b`; None for any other value."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return value.operand
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        left = negated(value.left)
        if left is not None:
            return at(gast.BinOp(left, value.op, value.right), value)
    return None


def signs(program: Program, facts: Facts) -> Program:
    """Subtract where the negative of something would be added."""
    for node in statements(program.backward):
        if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add):
            minus = negated(node.value)
            if minus is not None:
                node.op, node.value = gast.Sub(), minus
        elif isinstance(node, gast.Assign) and isinstance(node.value, gast.BinOp):
            value = node.value
            minus = negated(value.right) if isinstance(value.op, gast.Add) else None
            if minus is not None:
                value.op, value.right = gast.Sub(), minus
    return program
