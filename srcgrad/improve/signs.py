"""Signs: `a + -b` is `a - b`, and `-(a / b)` is `-a / b`, exactly."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import replace
from srcgrad.improve.units import is_floating
from srcgrad.minus import negated, negative
from srcgrad.trees import Node, at, header, holds, statements, stores, walk

_LINEAR = (
    "sum_to", "fit_to", "matmul_left", "matmul_right", "matmul_both", "dot_left", "dot_right", "dot_both",
    "diff_transpose",
)  # fmt: skip
_MOVERS = (
    "roll", "reshape", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "flip", "rot90",
)  # fmt: skip


def outward(value: Node, helpers: tuple[str | None, ...]) -> Node:
    """The expression with minus signs moved out of `sum_to` and of parts: these are smaller than the whole."""
    if isinstance(value, gast.BinOp):
        value.left, value.right = outward(value.left, helpers), outward(value.right, helpers)
        minus = negated(value.right)
        if isinstance(value.op, gast.Mult | gast.Div):
            if isinstance(value.left, gast.UnaryOp) and isinstance(value.left.op, gast.USub):
                value.left = negative(value.left.operand)
            if minus is not None:
                own = negated(value.left)
                value.left, value.right = negative(value.left) if own is None else own, minus
        elif minus is not None and isinstance(value.op, gast.Add | gast.Sub):
            value.op, value.right = gast.Sub() if isinstance(value.op, gast.Add) else gast.Add(), minus
        elif isinstance(value.op, gast.Add) and (minus := negated(value.left)) is not None:
            value.op, value.left, value.right = gast.Sub(), value.right, minus
    elif isinstance(value, gast.UnaryOp):
        value.operand = outward(value.operand, helpers)
        twice = negated(value.operand) if isinstance(value.op, gast.USub) else None
        return value if twice is None else twice
    elif isinstance(value, gast.Call) and value.args and called(value.func) in helpers:
        inner = outward(value.args[0], helpers)
        minus = negated(inner)
        value.args[0] = inner if minus is None else minus
        return value if minus is None else at(gast.UnaryOp(gast.USub(), value), value)
    elif isinstance(value, gast.Subscript) or _is_transpose(value) or _is_sum(value):
        holder = value.func if isinstance(value, gast.Call) else value
        holder.value = outward(holder.value, helpers)
        minus = negated(holder.value)
        holder.value = holder.value if minus is None else minus
        return value if minus is None else at(gast.UnaryOp(gast.USub(), value), value)
    elif isinstance(value, gast.Call):
        value.args = [outward(argument, helpers) for argument in value.args]
    return value


def _is_transpose(value: Node) -> bool:
    return isinstance(value, gast.Attribute) and value.attr in ("T", "mT")


def _is_sum(value: Node) -> bool:
    """Whether an expression is `e.sum(...)`."""
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "sum"


def called(function: Node) -> str:
    """What a call calls, as the text spells it: `sum_to`, `np.roll`."""
    holder = f"{getattr(function.value, 'id', '')}." if isinstance(function, gast.Attribute) else ""
    return holder + str(getattr(function, "attr", "") or getattr(function, "id", ""))


def fitting(facts: Facts) -> tuple[str | None, ...]:
    """How the text spells what gives a value the shape of another, multiplies it or moves its elements.

    All of these keep signs.
    """
    return (*(facts.imports.get(one) for one in _LINEAR), *(f"{facts.imports.get('np')}.{one}" for one in _MOVERS))


def settled(node: Node, facts: Facts, ours: frozenset[str] = frozenset()) -> Node:
    """A statement with its minus signs moved out, as far as into `x_bar -= e`."""
    held = getattr(node, "value", None)
    if any(not _has_sign(item.operand, facts, ours) for item in walk(held or node) if _is_minus(item)):
        return node
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return):
        node.value = outward(node.value, fitting(facts))
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub):
        minus = negated(node.value)
        if minus is not None:
            node.op = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
            node.value = minus
    return node


def _is_minus(item: Node) -> bool:
    return isinstance(item, gast.UnaryOp) and isinstance(item.op, gast.USub)


def _has_sign(value: Node, facts: Facts, ours: frozenset[str]) -> bool:
    """Whether a value is a number of the text or of a floating type: `-w` of small integers is no negative of w.

    `ours` are names that the backward half alone binds: they hold what is computed from adjoints.
    """
    if isinstance(value, gast.Constant) or getattr(value, "id", "") in ours or is_floating(value, facts):
        return True
    if isinstance(value, gast.Attribute):
        return _is_transpose(value) and _has_sign(value.value, facts, ours)
    if isinstance(value, gast.Subscript):
        return _has_sign(value.value, facts, ours)
    if isinstance(value, gast.BinOp):
        return _has_sign(value.left, facts, ours) or _has_sign(value.right, facts, ours)
    if isinstance(value, gast.Call) and value.args:
        if gast.unparse(value.func) == f"{facts.imports.get('np')}.linalg.solve":
            return True  # it divides
        return called(value.func) in fitting(facts) and _has_sign(value.args[0], facts, ours)
    return isinstance(value, gast.Call) and _is_sum(value) and _has_sign(value.func.value, facts, ours)


def signs(program: Program, facts: Facts) -> Program:
    """Subtract where the negative of something would be added."""
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    forward = {one for node in statements(program.forward) for one in stores(node)} | set(program.parameters)
    bound = {one for node in statements(program.backward) for one in stores(node)} - forward
    ours = frozenset(one for one in bound if one not in facts.definition)
    for node in [*statements(program.backward), *tangents]:
        if not any(holds(part, gast.UnaryOp) for part in header(node)):
            continue
        settled(node, facts, ours)
        for part in header(node):
            for item in walk(part):
                if isinstance(item, gast.UnaryOp) and isinstance(item.op, gast.USub) and _starts(item.operand, facts):
                    replace(node, item, negative(item.operand))
    return program


def _starts(value: Node, facts: Facts) -> bool:
    """Whether a value is a product or a quotient that begins with a float: what is unsigned has no negative."""
    first = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div):
        first = first.left
    return first is not value and is_floating(first, facts)
