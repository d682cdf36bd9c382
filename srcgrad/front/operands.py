"""What may stand in an operation: no display where NumPy wants an array, no object with arithmetic of its own."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Container
from typing import Any  # global names mean arbitrary objects

import gast
import numpy as np

from srcgrad.converted import literal_value
from srcgrad.facts import Kind, Operation
from srcgrad.front.resolve import binding_of
from srcgrad.front.scope import Scope
from srcgrad.front.sparse import attribute_held
from srcgrad.kinds import contained
from srcgrad.runtime import add_at, fields_of
from srcgrad.trees import Node, statements, target

TAKE_SEVERAL = (
    "arrays",
    "tup",
    "choices",
    "choicelist",
    "c_and_lower",
    "c_or_cr",
    "lu_and_piv",
    "args",
    "t_span",
)  # that take several arrays
TAKE_ITEMS = (dict.get, np.array, np.asarray, operator.getitem)
_ARITHMETIC = ("__mul__", "__rmul__", "__add__", "__matmul__", "__getitem__")
_NUMBERS = (int, float, complex, np.generic)


def is_sequence(value: Node, scope: Scope) -> bool:
    """Whether an operand is a list or a tuple: a display, or one that the module has."""
    if isinstance(value, gast.Tuple | gast.List):
        return True
    text = _text(value, scope)
    return isinstance(_global(value, scope), list | tuple) or isinstance(text, ast.Tuple | ast.List)


def wants_arrays(operation: Operation, parameter: str) -> bool:
    """Whether an op makes an array of what it is given."""
    if operation.function is add_at:
        return True
    module = str(getattr(operation.function, "__module__", "numpy"))
    theirs = isinstance(operation.function, np.ufunc) or module.partition(".")[0] in ("numpy", "scipy", "_operator")
    return theirs and parameter not in TAKE_SEVERAL and operation.function not in TAKE_ITEMS


def check_operands(value: Node, operation: Operation, places: Container[str], scope: Scope) -> None:
    """Refuse what has arithmetic of its own, and `+` and `*` of displays, which join and repeat lists."""
    if operation.rule is not None and operation.rule.own is not None:
        return  # a function of the user takes what it takes
    for parameter, operand in operation.bound.items():
        joins = isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add | gast.Mult)
        if joins and is_sequence(operand, scope):
            raise scope.facts.refuse(
                value,
                "E5005",
                "`+` or `*` of a list or a tuple",
                "make an array of it: `np.array([...])`, or append to it",
            )
        if parameter in places and (what := _odd(operand, parameter, operation, scope)):
            raise scope.facts.refuse(
                operand,
                "E5017",
                f"`{gast.unparse(operand)}` is {what}, whose arithmetic is its own",
                "use numbers and plain arrays: `np.asarray(...)`",
            )


def check_method(value: Node, operation: Operation, places: Container[str], scope: Scope) -> None:
    """Refuse a method that is named like an array's and gets what no array's method takes: `model.mean(x)`."""
    held = value.func.value if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) else None
    if held is None or scope.varied(held) or binding_of(value.func, scope.facts, scope.local) is not None:
        return
    for parameter, argument in operation.bound.items():
        if argument is not held and parameter not in places and scope.varied(argument):
            raise scope.facts.refuse(
                value,
                "E5003",
                f"`{gast.unparse(held)}` is not known to be an array, and `.{value.func.attr}()` gets "
                f"`{gast.unparse(argument)}`, which no array's method would differentiate",
                "call a function, or annotate what is known only when it runs",
            )


def _odd(operand: Node, parameter: str, operation: Operation, scope: Scope) -> str:
    """What an operand is, if it is neither a number nor an array, nor a container where one may stand."""
    held = operand.id if isinstance(operand, gast.Name) else ""
    if operation.function is fields_of:
        return ""
    kind = scope.facts.kinds.get(held) if (opened := contained(scope.facts.kinds)) else None
    if opened and kind is None and isinstance(operation.function, np.ufunc) and operation.function is not np.matmul:
        kind = _kind(operand, scope, set())
        kind = kind if kind is not None and _multiplies(kind) else None
    if kind is not None and kind.tag in ("other", "object") and not scope.facts.list_kind(held):
        return "an object" if kind.tag == "other" else str(kind.items[0][0].__name__)
    local = scope.facts.named.get(held) if isinstance(operation.function, np.ufunc) else None
    if kind is None and local is not None and local.tag in ("object", "made") and hasattr(local.items[0][0], "__mul__"):
        return str(local.items[0][0].__name__)
    found = _global(operand, scope)
    text = _text(operand, scope)
    if isinstance(text, ast.Call) and _OWN.search(ast.unparse(text.func)):
        return f"made by `{ast.unparse(text.func)}`"
    if found is None and isinstance(operation.function, np.ufunc):
        found = attribute_held(operand, lambda part: binding_of(part, scope.facts, scope.local))
        found = found if hasattr(type(found), "__mul__") and not isinstance(found, np.memmap) else None
    return "" if _is_plain(found, parameter, operation) else f"of type {type(found).__qualname__}"


def _kind(operand: Node, scope: Scope, seen: set[str]) -> Kind | None:
    """What is known of `p`, `p.m`, `p["m"]`, and of a name that stands for one of these."""
    if isinstance(operand, gast.Name):
        if operand.id in scope.facts.kinds:
            return scope.facts.kinds[operand.id]
        if operand.id in seen:
            return None  # `a = a.T`
        seen.add(operand.id)
        bound = [n for n in statements(scope.facts.source.tree.body) if target(n) == operand.id]
        shown = [n.value for n in bound if isinstance(n.value, gast.Attribute | gast.Subscript)]
        return next((kind for value in shown if (kind := _kind(value, scope, seen)) is not None), None)
    if not isinstance(operand, gast.Attribute | gast.Subscript):
        return None
    whole = _kind(operand.value, scope, seen)
    if whole is None:
        return None
    if isinstance(operand, gast.Attribute):
        return dict(whole.items[1:]).get(operand.attr) if whole.tag == "object" else None
    try:
        return dict(whole.items).get(literal_value(operand.slice))
    except (ValueError, TypeError):
        return next((kind for _, kind in whole.items if _multiplies(kind)), None)  # any of the items


def _multiplies(kind: Kind) -> bool:
    """Whether a kind is that of a class with a product of its own."""
    return kind.tag == "object" and hasattr(kind.items[0][0], "__mul__")


def _is_plain(found: Any, parameter: str, operation: Operation) -> bool:
    if found is None or type(found) is np.ndarray or isinstance(found, (*_NUMBERS, list, tuple)):
        return True
    ours = not wants_arrays(operation, parameter) and operation.function is not operator.getitem
    computes = any(hasattr(type(found), method) for method in _ARITHMETIC)
    return ours or isinstance(found, dict | str | slice | type | np.dtype) or (callable(found) and not computes)


def _global(value: Node, scope: Scope) -> Any:
    """The object that a dotted name means outside of the function; None for anything else."""
    found = binding_of(value, scope.facts, scope.local) if isinstance(value, gast.Name | gast.Attribute) else None
    return found.object if found is not None and found.kind == "object" else None


_OWN = re.compile(r"\b(ma|mat|matrix|sparse|chararray|recarray)\b|^[A-Z]|\.[A-Z]")  # makers of what is no plain array


def _text(value: Node, scope: Scope) -> ast.expr | None:
    """What a name of a module that does not run is bound to, as a tree."""
    found = binding_of(value, scope.facts, scope.local) if isinstance(value, gast.Name | gast.Attribute) else None
    if found is None or found.kind != "value" or found.expression is None:
        return None
    return ast.parse(found.expression, mode="eval").body


def check_passive(value: Node, scope: Scope) -> None:
    """Refuse an expression through which a derivative would flow unseen."""
    if isinstance(value, gast.Compare | gast.UnaryOp | gast.Attribute | gast.JoinedStr | gast.Call):
        return
    raise scope.facts.refuse(
        value, "E5003", f"`{gast.unparse(value)}` has no rule", "compute it in statements of its own"
    )
