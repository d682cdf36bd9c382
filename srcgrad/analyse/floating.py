"""Which values are of a floating type, and which signs of products may move: `-w` of small integers is no negative.

Of `w = np.uint8(1)`, `-w` is 255, and `2 * w` and `w * w` may be too large for their type as well.
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.resolve import binding_of
from srcgrad.rules import rule_of
from srcgrad.trees import Node, at, inside, target

_FITTING = ("sum_to", "fit_to")
_MOVERS = ("roll", "reshape", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "flip", "rot90")
_PRODUCTS = ("matmul_left", "matmul_right", "matmul_both", "dot_left", "dot_right", "dot_both", "diff_transpose")


def fits(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call of a helper that gives a value the shape of another: an array, no list."""
    return _helps(node, _FITTING, facts) and not _is_listed(node.args[1:], facts)


def _is_listed(models: list[Node], facts: Facts) -> bool:
    """Whether a value gets the form of a list or a tuple: it has no sign that could be moved, and no product."""
    held = models[0].id if models and isinstance(models[0], gast.Name) else ""
    return bool(facts.list_kind(held)) or facts.kinds.get(held, UNKNOWN).tag in ("list", "tuple")


def is_linear(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call that gives its first argument a shape, multiplies it or moves its elements.

    All of these keep signs.
    """
    if fits(node, facts) or _helps(node, _PRODUCTS, facts):
        return True
    return _is_numpys(node, facts) and node.func.attr in _MOVERS and bool(node.args)


def _is_numpys(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call of a function of NumPy that our text has written."""
    function = node.func if isinstance(node, gast.Call) else None
    return isinstance(function, gast.Attribute) and getattr(function.value, "id", "") == facts.imports.get("np", " ")


def _helps(node: Node, helpers: tuple[str, ...], facts: Facts) -> bool:
    """Whether an expression calls one of some helpers, as this text spells them or one of ours that it is made of."""
    held = getattr(node.func, "id", "") if isinstance(node, gast.Call) and node.args else ""
    if not held or any(facts.imports.get(one) == held for one in helpers):
        return bool(held)
    known = facts.namespace.lookup(held) if facts.generated and held in helpers and held not in facts.local else None
    return known is not None and known.object is getattr(runtime, held)


def is_floating(node: Node, facts: Facts) -> bool:
    """Whether a value is known to be of a floating type, so that 1.0 would not make it so."""
    if isinstance(node, gast.Constant):
        return type(node.value) is float
    if isinstance(node, gast.Name):
        return node.id in facts.active or node.id in facts.adjoint_of
    if isinstance(node, gast.BinOp):
        return is_floating(node.left, facts) or is_floating(node.right, facts)
    if isinstance(node, gast.Subscript):
        return is_floating(node.value, facts)
    if fits(node, facts):
        return is_floating(node.args[0], facts)
    if isinstance(node, gast.Call):
        summed = getattr(node.func, "attr", "") in ("sum", "mean") and len(node.args) == 1
        return (summed or is_elementwise(node, facts)) and any(is_floating(argument, facts) for argument in node.args)
    return isinstance(node, gast.UnaryOp) and is_floating(node.operand, facts)


def is_elementwise(node: Node, facts: Facts) -> bool:
    """Whether a call is one of an elementwise function of NumPy."""
    own = getattr(getattr(node.func, "value", None), "id", "") == facts.imports.get("np", "no name")
    found = None if own else binding_of(node.func, facts, facts.local)
    rule = rule_of(getattr(np, node.func.attr, None) if own else getattr(found, "object", None))
    return rule is not None and rule.kind == "elementwise"


def has_sign(value: Node, facts: Facts) -> bool:
    """Whether a value is of a floating type, so that `-value` is its negative."""
    if isinstance(value, gast.Name) and _is_derived(value.id, facts):
        return True
    if isinstance(value, gast.Attribute):
        return is_transpose(value) and has_sign(value.value, facts)
    if isinstance(value, gast.Subscript):
        return has_sign(value.value, facts)
    if isinstance(value, gast.UnaryOp):
        return has_sign(value.operand, facts)
    if isinstance(value, gast.BinOp):
        return has_sign(value.left, facts) or has_sign(value.right, facts)
    if is_linear(value, facts):
        return has_sign(value.args[0], facts)
    if isinstance(value, gast.Call) and gast.unparse(value.func) == f"{facts.imports.get('np')}.linalg.solve":
        return True  # it divides
    if isinstance(value, gast.Call) and gast.unparse(value.func) == f"{facts.imports.get('np')}.outer":
        return any(has_sign(factor, facts) for factor in value.args)
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") in ("sum", "copy") and not value.args:
        return has_sign(value.func.value, facts)
    return is_floating(value, facts)


def is_of_derivative(value: Node, facts: Facts) -> bool:
    """Whether an expression reads an adjoint or a tangent, or what is made of them: others are the function's own."""
    made = {target(node) for node in facts.tangents}
    return any(
        one.id in facts.adjoint_of or one.id in made or _is_derived(one.id, facts) for one in inside(value, gast.Name)
    )


def _is_derived(held: str, facts: Facts) -> bool:
    """Whether a name is one that derivation has made: it holds what is computed from adjoints and tangents."""
    if held in facts.seeds:
        return True
    tables = (facts.reads, facts.definition, facts.again, facts.unsigned)
    return held in facts.temporaries and not any(held in table for table in tables)


def note_integers(held: str, value: Node, facts: Facts) -> None:
    """Note a temporary of which it is not known that its value has a sign."""
    if not has_sign(value, facts):
        facts.unsigned[held] = None


def is_transpose(value: Node) -> bool:
    """Whether an expression is `e.T`."""
    return isinstance(value, gast.Attribute) and value.attr in ("T", "mT")


def is_sum(value: Node) -> bool:
    """Whether an expression is `e.sum(...)`."""
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "sum"


def is_minus(value: Node) -> bool:
    """Whether an expression is `-e`."""
    return isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)


def negated(value: Node, facts: Facts) -> Node | None:
    """The e of a value that is `-e`, or `-a * b` or `-a @ b` with e = `a * b` or `a @ b`; None for any other value."""
    first = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div | gast.MatMult):
        first = first.left
    if not is_minus(first):
        return None
    number = isinstance(first.operand, gast.Constant) and (first is value or has_sign(value, facts))
    return _without_minus(value) if number or has_sign(first.operand, facts) else None


def _without_minus(value: Node) -> Node:
    if is_minus(value):
        return value.operand
    return at(gast.BinOp(_without_minus(value.left), value.op, value.right), value)


def negative(value: Node, facts: Facts) -> Node:
    """`-a * b` for the negative of `a * b`: exact, and read from the left; `-(w * b)` where w may be unsigned."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div) and has_sign(value.left, facts):
        return gast.BinOp(negative(value.left, facts), value.op, value.right)
    return gast.UnaryOp(gast.USub(), value)
