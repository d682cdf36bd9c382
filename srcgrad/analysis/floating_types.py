"""Dtypes as far as signs and derivatives depend on them: floating values, and integers that cut off.

Which values are of a floating type, and which signs of products may move: `-w` of small integers is no negative.

Of `w = np.uint8(1)`, `-w` is 255, and `2 * w` and `w * w` may be too large for their type as well.

What holds integers by its dtype: elements are cut off there, and no derivative flows through it.
"""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.rules import FITTED, rule_of
from srcgrad.core.trees import Node, at, find_nodes, is_write, loads, parameters, statements, stores, target
from srcgrad.frontend.resolve import METHODS, binding_of, dtype_given

_MOVERS = (
    np.roll, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.flip, np.rot90,
)  # fmt: skip
_PRODUCTS = (
    runtime.matmul_left, runtime.matmul_right, runtime.matmul_both, runtime.dot_left, runtime.dot_right,
    runtime.dot_both, runtime.diff_transpose,
)  # fmt: skip


def fits(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call of a helper that gives a value the shape of another: an array, no list."""
    return function_called(node, facts) in FITTED and not _is_listed(node.args[1:], facts)


def _is_listed(models: list[Node], facts: Facts) -> bool:
    """Whether a value gets the form of a list or a tuple: it has no sign that could be moved, and no product."""
    held = models[0].id if models and isinstance(models[0], gast.Name) else ""
    return bool(facts.list_kind(held)) or facts.kinds.get(held, UNKNOWN).tag in ("list", "tuple")


def is_linear(node: Node, facts: Facts) -> bool:
    """Whether an expression is a call that gives its first argument a shape, multiplies it or moves its elements.

    All of these keep signs.
    """
    function = function_called(node, facts)
    return fits(node, facts) or function in _PRODUCTS or (function in _MOVERS and bool(node.args))


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
    rule = rule_of(function_called(node, facts))
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
    if function_called(value, facts) is np.linalg.solve:
        return True  # it divides
    if function_called(value, facts) is np.outer:
        return any(has_sign(factor, facts) for factor in value.args)
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") in ("sum", "copy") and not value.args:
        return has_sign(value.func.value, facts)
    return is_floating(value, facts)


def is_of_derivative(value: Node, facts: Facts) -> bool:
    """Whether an expression reads an adjoint or a tangent, or what is made of them: others are the function's own."""
    made = {target(node) for node in facts.tangents}
    return any(
        one.id in facts.adjoint_of or one.id in made or _is_derived(one.id, facts)
        for one in find_nodes(value, gast.Name)
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


def operand_of_negative(value: Node, facts: Facts) -> Node | None:
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


def negative_of(value: Node, facts: Facts) -> Node:
    """`-a * b` for the negative of `a * b`: exact, and read from the left; `-(w * b)` where w may be unsigned."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div) and has_sign(value.left, facts):
        return gast.BinOp(negative_of(value.left, facts), value.op, value.right)
    return gast.UnaryOp(gast.USub(), value)


_KEPT = (operator.getitem, np.copy, np.ravel, np.reshape, np.transpose, np.zeros_like, np.ones_like, np.empty_like)
_COUNTS = (np.argsort, np.argmax, np.argmin, np.argpartition, np.searchsorted, np.digitize, np.count_nonzero)
_CLOSED = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)


def integers(function: Node, facts: Facts) -> dict[str, None]:
    """Names that hold nothing but integers, whatever is written into them.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(x):\\n    k = np.zeros(3, int)\\n    k[0] = 9 * x[1]\\n    return np.sum(k * x)"
    >>> "k" in explain_facts(text).active
    False
    """
    bound: dict[str, list[Node | None]] = {}
    for node in statements(function.body):
        if is_write(node):
            continue
        call = node.value.func if isinstance(getattr(node, "value", None), gast.Call) else None
        kept, owner = getattr(call, "attr", ""), getattr(getattr(call, "value", None), "id", "")
        if isinstance(node, gast.Expr) and owner and kept == "append":  # what is recorded
            bound.setdefault(owner, []).append(node.value.args[0])
            continue
        for held in stores(node):
            if kept != "pop" or held != owner:
                bound.setdefault(held, []).append(node.value if target(node) == held else None)
    found = {held: None for held in bound if held not in parameters(function)}
    before = len(found) + 1
    while len(found) < before:
        before = len(found)
        found = {held: None for held in found if all(v is not None and _holds(v, found, facts) for v in bound[held])}
    return found


def _holds(value: Node, found: dict[str, None], facts: Facts) -> bool:
    """Whether a value is an array or a number of integers, if these names hold such."""
    if isinstance(value, gast.Name):
        return value.id in found
    if isinstance(value, gast.BinOp) and isinstance(value.op, _CLOSED):
        return all(_is_int(side) or _holds(side, found, facts) for side in (value.left, value.right))
    if isinstance(value, gast.Subscript):
        return _holds(value.value, found, facts)
    if not isinstance(value, gast.Call):
        return isinstance(value, gast.List) and not value.elts and facts.source.is_derivative  # what it records
    operation, bound = facts.operation.get(value), binding_of(value.func, facts, facts.local)
    given = list(value.args)
    if bound is None and isinstance(value.func, gast.Attribute):
        given = [value.func.value, *given]  # a method
        if value.func.attr == "pop":
            return _holds(value.func.value, found, facts)
    op = operation.function if operation is not None else getattr(bound, "object", None)
    if op is None and given is not value.args and given and _holds(given[0], found, facts):
        op = METHODS.get(getattr(value.func, "attr", ""))
    if rule_of(op) is None or not callable(op):
        return False
    if dtype_given(op, given, value.keywords, facts) in ("b", "i", "u") or op in _COUNTS:
        return True
    if op is np.arange or (op in (np.array, np.asarray) and given and not isinstance(given[0], gast.Name)):
        return not value.keywords and all(_is_int(n) for part in given for n in _items(part))
    return op in _KEPT and not any(w.arg == "dtype" for w in value.keywords) and _holds(given[0], found, facts)


def _items(value: Node) -> list[Node]:
    """The items of a display, and of those within it; another value itself."""
    return [n for e in value.elts for n in _items(e)] if isinstance(value, gast.List | gast.Tuple) else [value]


def _is_int(value: Node) -> bool:
    return isinstance(value, gast.Constant) and isinstance(value.value, int)


def check_steps(function: Node, useful: dict[str, None], facts: Facts) -> None:
    """Refuse a sum or a mean of varied floats as integers, where the result counts: each element is cut off.

    `np.sum(x, dtype=int)` of 0.9 and 0.9 is 0: whoever writes it may mean `int(np.sum(x))`, which is 1.
    """
    for node in statements(function.body):
        value: Node = getattr(node, "value", None)
        counts = isinstance(value, gast.Call) and any(bound in useful for bound in stores(node))
        if not counts or not any(read in facts.varied for read in loads(value)):
            continue
        bound = binding_of(value.func, facts, facts.local)
        method = getattr(value.func, "attr", "") if bound is None else ""
        op, given = (
            (METHODS.get(method), [value, *value.args]) if method else (getattr(bound, "object", None), value.args)
        )
        if (op is np.sum or op is np.mean) and dtype_given(op, given, value.keywords, facts) in ("b", "i", "u"):
            raise facts.refuse(
                value,
                "E5001",
                f"{op.__name__} as integers cuts off each element before it is added, and has no derivative",
                "convert before, `x.astype(int)`, whose derivative is 0, or leave `dtype=` out",
            )
