"""Lines of a tangent template without what is zero: the derivatives of operands that carry none."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts, copied
from srcgrad.trees import Node, expression, walk


def pruned(value: Node, lost: dict[str, Node], facts: Facts) -> Node | None:
    """A linear expression without the terms of derivatives that are zero; None if nothing is left."""
    if isinstance(value, gast.Name):
        return None if value.id in lost else value
    if not mentions(value, lost):
        return value
    if isinstance(value, gast.BinOp):
        return _pruned_operation(value, lost, facts)
    if isinstance(value, gast.Call):
        return _pruned_call(value, lost, facts)
    if isinstance(value, gast.Tuple):
        return _pruned_tuple(value, lost, facts)
    if isinstance(value, gast.UnaryOp):
        value.operand = inner = pruned(value.operand, lost, facts)
        return None if inner is None else value
    if isinstance(value, gast.Subscript | gast.Attribute):
        value.value = inner = pruned(value.value, lost, facts)
        return None if inner is None else value
    raise AssertionError("a tangent line is made of sums, products, calls, subscripts and attributes")


def _pruned_tuple(value: Node, lost: dict[str, Node], facts: Facts) -> Node | None:
    """The tangents that a rule takes, zeros in the places of those that are zero."""
    kept = [pruned(part, lost, facts) for part in value.elts]
    if not any(kept):
        return None
    zeros = facts.library("zeros_like")
    filled = [
        expression(f"{zeros}(x)", x=_primal_of(old, lost, facts)) if new is None else new
        for old, new in zip(value.elts, kept, strict=True)
    ]
    return gast.Tuple(elts=filled, ctx=gast.Load())


def _pruned_operation(value: Node, lost: dict[str, Node], facts: Facts) -> Node | None:
    left, right = pruned(value.left, lost, facts), pruned(value.right, lost, facts)
    if isinstance(value.op, gast.Add | gast.Sub):
        if left is None:
            return right if right is None or isinstance(value.op, gast.Add) else gast.UnaryOp(gast.USub(), right)
        if right is None:
            return left
    elif left is None or right is None:
        return None
    return gast.BinOp(left, value.op, right)


def _pruned_call(value: Node, lost: dict[str, Node], facts: Facts) -> Node | None:
    """A call is linear in the arguments that hold derivatives: zero if all of these are."""
    parts = [*value.args, *(word.value for word in value.keywords)]
    kept = [pruned(copied(part, facts), lost, facts) for part in parts]
    if None in kept and not any(k is not None and _carries(k) for k in kept):
        return None
    zeros = facts.library("zeros_like")
    filled = [
        expression(f"{zeros}(x)", x=_primal_of(old, lost, facts)) if new is None else new
        for old, new in zip(parts, kept, strict=True)
    ]
    value.args = filled[: len(value.args)]
    for word, argument in zip(value.keywords, filled[len(value.args) :], strict=True):
        word.value = argument
    return value


def _primal_of(part: Node, lost: dict[str, Node], facts: Facts) -> Node:
    """The operand whose derivative is zero."""
    found = next(n.id for n in walk(part) if isinstance(n, gast.Name) and n.id in lost)
    return copied(lost[found], facts)


def _carries(value: Node) -> bool:
    return any(isinstance(n, gast.Name) and n.id.endswith("_dot") for n in walk(value))


def mentions(value: Node, names: dict[str, Node]) -> bool:
    """Whether an expression reads one of the names."""
    return any(isinstance(n, gast.Name) and n.id in names for n in walk(value))
