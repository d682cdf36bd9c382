"""What holds integers by its dtype: elements are cut off there, and no derivative flows through it."""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import METHODS, binding_of, dtype_given
from srcgrad.front.webs import parameters
from srcgrad.rules import rule_of
from srcgrad.trees import Node, is_write, loads, statements, stores, target

_KEPT = (operator.getitem, np.copy, np.ravel, np.reshape, np.transpose, np.zeros_like, np.ones_like, np.empty_like)
_COUNTS = (np.argsort, np.argmax, np.argmin, np.argpartition, np.searchsorted, np.digitize, np.count_nonzero)
_CLOSED = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)


def integers(function: Node, facts: Facts) -> dict[str, None]:
    """Names that hold nothing but integers, whatever is written into them.

    >>> from srcgrad.phases import explain_facts
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
