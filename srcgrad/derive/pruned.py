"""Linear expressions without the terms of derivatives that are zero."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts, copied
from srcgrad.trees import Node, expression, walk


@dataclass
class Lost:
    """Names that stand for derivatives that are zero, with the value to which each belongs; and those that are not."""

    zeros: dict[str, Node] = field(default_factory=dict)
    carriers: dict[str, None] = field(default_factory=dict)


def pruned(value: Node, lost: Lost, facts: Facts) -> Node | None:
    """A linear expression without the terms of derivatives that are zero; None if nothing is left."""
    if isinstance(value, gast.Name):
        return None if value.id in lost.zeros else value
    if not mentions(value, lost.zeros):
        return value
    if isinstance(value, gast.BinOp):
        return _operation(value, lost, facts)
    if isinstance(value, gast.Call):
        return _call(value, lost, facts)
    if isinstance(value, gast.Tuple):
        return _tuple(value, lost, facts)
    if isinstance(value, gast.UnaryOp):
        value.operand = inner = pruned(value.operand, lost, facts)
        return None if inner is None else value
    if isinstance(value, gast.Subscript | gast.Attribute):
        value.value = inner = pruned(value.value, lost, facts)
        return None if inner is None else value
    raise AssertionError("a line of a rule is made of sums, products, calls, subscripts and attributes")


def _tuple(value: Node, lost: Lost, facts: Facts) -> Node | None:
    """The tangents that a rule takes, zeros in the places of those that are zero."""
    kept = [pruned(part, lost, facts) for part in value.elts]
    if not any(kept):
        return None
    return gast.Tuple(elts=_filled(value.elts, kept, lost, facts), ctx=gast.Load())


def _filled(parts: list[Node], kept: list[Node | None], lost: Lost, facts: Facts) -> list[Node]:
    """What is left of each part, zeros in the places of those that are zero."""
    return [
        expression(f"{facts.library('zeros_like')}(x)", x=_primal_of(old, lost, facts)) if new is None else new
        for old, new in zip(parts, kept, strict=True)
    ]


def _operation(value: Node, lost: Lost, facts: Facts) -> Node | None:
    left, right = pruned(value.left, lost, facts), pruned(value.right, lost, facts)
    if isinstance(value.op, gast.Add | gast.Sub):
        if left is None:
            return right if right is None or isinstance(value.op, gast.Add) else gast.UnaryOp(gast.USub(), right)
        if right is None:
            return left
    elif left is None or right is None:
        return None
    return gast.BinOp(left, value.op, right)


def _call(value: Node, lost: Lost, facts: Facts) -> Node | None:
    """A call is linear in the arguments that hold derivatives: zero if all of these are."""
    parts = [*value.args, *(word.value for word in value.keywords)]
    kept = [pruned(copied(part, facts), lost, facts) for part in parts]
    if None in kept and not any(k is not None and mentions(k, lost.carriers) for k in kept):
        return None
    filled = _filled(parts, kept, lost, facts)
    value.args = filled[: len(value.args)]
    for word, argument in zip(value.keywords, filled[len(value.args) :], strict=True):
        word.value = argument
    return value


def _primal_of(part: Node, lost: Lost, facts: Facts) -> Node:
    """The value whose derivative is zero."""
    found = next(n.id for n in walk(part) if isinstance(n, gast.Name) and n.id in lost.zeros)
    assert lost.zeros[found] is not None, "a rule adds what it computes of derivatives by `+`"
    return copied(lost.zeros[found], facts)


def mentions(value: Node, names: dict[str, Node] | dict[str, None]) -> bool:
    """Whether an expression reads one of some names."""
    return any(isinstance(n, gast.Name) and n.id in names for n in walk(value))
