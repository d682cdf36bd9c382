"""Signs: `a + -b` is `a - b`, and `-(a / b)` is `-a / b`, exactly."""

from __future__ import annotations

import gast

from srcgrad.analyse.floating import (
    has_sign,
    is_floating,
    is_linear,
    is_minus,
    is_sum,
    is_transpose,
    negated,
    negative,
)
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import replace
from srcgrad.trees import Node, at, header, holds, statements, walk


def outward(value: Node, facts: Facts) -> Node:
    """The expression with minus signs moved out of `sum_to` and of parts: these are smaller than the whole."""
    if isinstance(value, gast.BinOp):
        value.left, value.right = outward(value.left, facts), outward(value.right, facts)
        minus = negated(value.right, facts)
        if isinstance(value.op, gast.Mult | gast.Div):
            if is_minus(value.left):
                value.left = negative(value.left.operand, facts)
            if minus is not None:
                own = negated(value.left, facts)
                if own is None and not has_sign(value.left, facts) and not isinstance(value.left, gast.Constant):
                    return at(gast.UnaryOp(gast.USub(), gast.BinOp(value.left, value.op, minus)), value)
                value.left, value.right = negative(value.left, facts) if own is None else own, minus
        elif minus is not None and isinstance(value.op, gast.Add | gast.Sub):
            value.op, value.right = gast.Sub() if isinstance(value.op, gast.Add) else gast.Add(), minus
        elif isinstance(value.op, gast.Add) and (minus := negated(value.left, facts)) is not None:
            value.op, value.left, value.right = gast.Sub(), value.right, minus
    elif isinstance(value, gast.UnaryOp):
        value.operand = outward(value.operand, facts)
        twice = negated(value.operand, facts) if isinstance(value.op, gast.USub) else None
        return value if twice is None else twice
    elif is_linear(value, facts):
        inner = outward(value.args[0], facts)
        minus = negated(inner, facts)
        value.args[0] = inner if minus is None else minus
        return value if minus is None else at(gast.UnaryOp(gast.USub(), value), value)
    elif isinstance(value, gast.Subscript) or is_transpose(value) or is_sum(value):
        holder = value.func if isinstance(value, gast.Call) else value
        holder.value = outward(holder.value, facts)
        minus = negated(holder.value, facts)
        holder.value = holder.value if minus is None else minus
        return value if minus is None else at(gast.UnaryOp(gast.USub(), value), value)
    elif isinstance(value, gast.Call):
        value.args = [outward(argument, facts) for argument in value.args]
    return value


def settled(node: Node, facts: Facts) -> Node:
    """A statement with its minus signs moved out, as far as into `x_bar -= e`."""
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return):
        node.value = outward(node.value, facts)
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub):
        minus = negated(node.value, facts)
        if minus is not None:
            node.op = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
            node.value = minus
    return node


def signs(program: Program, facts: Facts) -> Program:
    """Subtract where the negative of something would be added."""
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if not any(holds(part, gast.UnaryOp) for part in header(node)):
            continue
        settled(node, facts)
        for part in header(node):
            for item in walk(part):
                if is_minus(item) and _starts(item.operand, facts):
                    replace(node, item, negative(item.operand, facts))
    return program


def _starts(value: Node, facts: Facts) -> bool:
    """Whether a value is a product or a quotient that begins with a float: what is unsigned has no negative."""
    first = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div):
        first = first.left
    return first is not value and is_floating(first, facts)
