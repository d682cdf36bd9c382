"""`a += e` changes an array that others may see: where a is surely an array it is spelled `a[...] += e`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import METHODS, PASSIVE_ATTRIBUTES, binding_of
from srcgrad.front.viewing import VIEWS
from srcgrad.kinds import numbers
from srcgrad.trees import (
    Node,
    at,
    children,
    expression,
    header,
    inside,
    is_write,
    remade,
    statements,
    stores,
    walk,
    written,
)

_MAKERS = (np.zeros, np.ones, np.empty, np.full, np.outer, np.eye, np.diag)
_KEEPERS = (
    np.copy, np.sort, np.cumsum, np.cumprod, np.ravel, np.flip, np.roll, np.zeros_like, np.ones_like, np.empty_like,
    np.full_like, np.where, np.transpose, np.clip, np.minimum, np.maximum, np.round,
)  # fmt: skip
# Methods whose result shows nothing of the array: `a /= a.sum()` may bind a anew.
_ASKING = frozenset(name for name, function in METHODS.items() if not any(function is one for one in VIEWS))


def in_place(function: Node, facts: Facts) -> None:
    """Spell out in-place changes of arrays of which parts, views or second names are in use."""
    _open_numbers(function, facts)
    changes = [
        n for n in statements(function.body) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    ]
    if not changes:
        return
    arrays = surely_arrays(function, facts)
    shown = _shown(function) | _callers(function)
    several = second_names(function, facts)
    known = arrays & (shown | _same(function)) | (
        _known(function, facts, _is_ndarray, ndim=0) & several if several else set()
    )
    for node in changes:
        if node.target.id in known and not isinstance(node.op, gast.MatMult):
            whole = at(expression(f"{node.target.id}[...]"), node.target)
            whole.ctx = gast.Store()
            node.target = whole
            facts.foreign[node] = None


def _open_numbers(function: Node, facts: Facts) -> None:
    """`x[()]` and `x[...]` of an argument that is a number, as NumPy's numbers have them: `+x`, `np.array(x)`."""
    bound = {s for node in statements(function.body) for s in stores(node)}
    known = numbers(facts.kinds) - bound
    for node in statements(function.body) if known else ():
        for key in ("value", "test", "iter"):
            part = getattr(node, key, None)
            if part is not None and any(_of_all(n, known) for n in inside(part, gast.Subscript)):
                setattr(node, key, _opened(part, known, facts))
                facts.foreign[node] = None


def _of_all(node: Node, known: frozenset[str]) -> bool:
    held = node.value.id if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) else ""
    empty = held in known and isinstance(node.slice, gast.Tuple) and not node.slice.elts
    return empty or (held in known and getattr(node.slice, "value", None) is ...)


def _opened(part: Node, known: frozenset[str], facts: Facts) -> Node:
    if not isinstance(part, gast.AST) or not part._fields:
        return part
    if _of_all(part, known):
        spelled = "+x" if isinstance(part.slice, gast.Tuple) else f"{facts.library('np')}.array(x)"
        return at(expression(spelled, x=part.value), part)
    return at(remade(part, lambda inner: _opened(inner, known, facts)), part)


def surely_arrays(function: Node, facts: Facts) -> set[str]:
    """Names that hold nothing but arrays with axes."""
    return _known(function, facts, _is_array, ndim=1)


def _known(function: Node, facts: Facts, is_one: Callable[[Node | None, set[str], Facts], bool], ndim: int) -> set[str]:
    """Names to which nothing but arrays is bound, arguments with fewer axes than `ndim` apart."""
    bound: dict[str, list[Node | None]] = {}
    given = function.args
    for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs]:
        kind = facts.kinds.get(argument.id)
        known = kind is not None and kind.tag == "array" and (kind.ndim or 0) >= ndim
        bound[argument.id] = [] if known else [None]
    for node in statements(function.body):
        for one in stores(node):
            if one in written(node) and is_write(node):
                continue
            if isinstance(node, gast.AugAssign):
                continue  # what is an array before it is one afterwards
            bound.setdefault(one, []).append(_bound_to(node, one))
    found = set(bound)
    while True:
        less = {one for one in found if all(is_one(value, found, facts) for value in bound[one])}
        if less == found:
            return found
        found = less


def _bound_to(node: Node, one: str) -> Node | None:
    """What an assignment binds to a name, also as one of several targets that are names: `a = b = e`."""
    if isinstance(node, gast.Assign) and all(isinstance(item, gast.Name) for item in node.targets):
        return node.value
    first = node.targets[0] if isinstance(node, gast.Assign) else None
    if isinstance(first, gast.Tuple) and isinstance(node.value, gast.Tuple) and len(first.elts) == len(node.value.elts):
        pairs = zip(first.elts, node.value.elts, strict=True)
        return next((value for item, value in pairs if getattr(item, "id", "") == one), None)
    return None


def _same(function: Node) -> set[str]:
    """Names that mean one array: `b = a`, `a = b = e`."""
    found: set[str] = set()
    for node in statements(function.body):
        if isinstance(node, gast.Assign) and (isinstance(node.value, gast.Name) or len(node.targets) > 1):
            found.update(stores(node), [node.value.id] if isinstance(node.value, gast.Name) else [])
    return found


def second_names(function: Node, facts: Facts) -> set[str]:
    """Names of a function that hold the array of another one, and names of which another one holds the array."""
    found: set[str] = set()
    for node in statements(function.body):
        if isinstance(node, gast.Assign):
            values = node.value.elts if isinstance(node.value, gast.Tuple) else [node.value]
            shared = [one for value in values for one in _shared(value, facts)]
            bound = stores(node) if shared else []
            found.update(shared, bound)
            if len(node.targets) > 1:
                found.update(stores(node))
    return found


def _shared(value: Node, facts: Facts) -> list[str]:
    """Names whose array an expression may be, or show: `a`, `a[...]`, `np.asarray(a)`, `[a, b]`."""
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, gast.Attribute):
        return _shared(value.value, facts) if value.attr in _SHOWING else []
    if isinstance(value, gast.Subscript):
        return _shared(value.value, facts) if _has_ellipsis(value) else []
    if isinstance(value, gast.Call):
        found = binding_of(value.func, facts, facts.local)
        method = value.func if found is None and isinstance(value.func, gast.Attribute) else None
        function: Any = METHODS.get(method.attr) if method is not None else getattr(found, "object", None)
        holder = [method.value] if method is not None else value.args[:1]
        return [n for part in holder for n in _shared(part, facts)] if any(function is one for one in VIEWS) else []
    if isinstance(value, gast.IfExp):
        return [*_shared(value.body, facts), *_shared(value.orelse, facts)]
    if isinstance(value, gast.Tuple | gast.List | gast.Dict):
        return [one for part in children(value) for one in _shared(part, facts)]
    return []


def _has_ellipsis(value: Node) -> bool:
    parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
    return any(isinstance(part, gast.Constant) and part.value is ... for part in parts)


def _is_ndarray(value: Node | None, known: set[str], facts: Facts) -> bool:
    """Whether an expression is an array of any rank, no number, if some names are: `np.zeros_like(2.0)`, `a[...]`."""
    if isinstance(value, gast.Name):
        return value.id in known
    if isinstance(value, gast.IfExp):
        return _is_ndarray(value.body, known, facts) and _is_ndarray(value.orelse, known, facts)
    if isinstance(value, gast.Attribute):
        return value.attr in _SHOWING and _is_ndarray(value.value, known, facts)
    if isinstance(value, gast.Subscript):
        return _has_ellipsis(value) and _is_ndarray(value.value, known, facts)
    if not isinstance(value, gast.Call):
        return False
    found = binding_of(value.func, facts, facts.local)
    if found is None and isinstance(value.func, gast.Attribute):
        return value.func.attr in _RETURNING and _is_ndarray(value.func.value, known, facts)
    return found is not None and any(found.object is one for one in WRAPPING)


_SHOWING = ("real",)
_RETURNING = ("copy", "reshape", "squeeze", "astype")
WRAPPING = (
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.array,
    np.asarray, np.copy, np.where, np.reshape, np.squeeze, np.asanyarray, np.ascontiguousarray,
)  # fmt: skip


def _is_array(value: Node | None, known: set[str], facts: Facts) -> bool:
    """Whether an expression is an array with axes, if some names are."""
    if value is None:
        return False
    if isinstance(value, gast.Name):
        return value.id in known
    if isinstance(value, gast.BinOp):
        sides = (_is_array(value.left, known, facts), _is_array(value.right, known, facts))
        return any(sides) and not isinstance(value.op, gast.MatMult)
    if isinstance(value, gast.UnaryOp):
        return not isinstance(value.op, gast.Not) and _is_array(value.operand, known, facts)
    if isinstance(value, gast.IfExp):
        return _is_array(value.body, known, facts) and _is_array(value.orelse, known, facts)
    if isinstance(value, gast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        return _is_array(value.value, known, facts) and any(isinstance(part, gast.Slice) for part in parts)
    return isinstance(value, gast.Call) and _makes_array(value, known, facts)


def _makes_array(call: Node, known: set[str], facts: Facts) -> bool:
    found = binding_of(call.func, facts, facts.local)
    function: Any = None if found is None else found.object
    if function is None and isinstance(call.func, gast.Attribute):
        function = METHODS.get(call.func.attr)
        return _keeps(function, call) and _is_array(call.func.value, known, facts)
    if any(function is one for one in _MAKERS):
        return bool(call.args) and not (isinstance(call.args[0], gast.Tuple) and not call.args[0].elts)
    if function is np.array and call.args:
        return isinstance(call.args[0], gast.List | gast.ListComp) or _is_array(call.args[0], known, facts)
    return _keeps(function, call) and any(_is_array(part, known, facts) for part in call.args)


def _keeps(function: Any, call: Node) -> bool:
    """Whether a function gives an array with axes for one."""
    if any(word.arg in ("out", "axis") for word in call.keywords):
        return False
    elementwise = isinstance(function, np.ufunc) and function.nout == 1 and function.signature is None
    return elementwise or any(function is one for one in _KEEPERS)


def _callers(function: Node) -> set[str]:
    """Parameters that hold the caller's object all along."""
    given = function.args
    names = {argument.id for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
    for node in statements(function.body):
        if not isinstance(node, gast.AugAssign):
            names -= set(stores(node)) - set(written(node))
    return names


def _shown(function: Node) -> set[str]:
    """Names of which parts are read or written, which have second names, or which something may hold."""
    found: set[str] = set()
    for node in statements(function.body):
        found.update(written(node))
        if isinstance(node, gast.For):
            found.update(n.id for n in walk(node.iter) if isinstance(n, gast.Name))
        value = getattr(node, "value", None)
        if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict) and not isinstance(node, gast.Return):
            found.update(n.id for n in walk(value) if isinstance(n, gast.Name))
        items = [i for part in header(node) for i in walk(part)]
        used = {value} if isinstance(node, gast.Return) else set()  # parts that nothing holds
        used |= {one for i in items if isinstance(i, gast.BinOp | gast.UnaryOp | gast.Compare) for one in children(i)}
        used |= {i.func for i in items if isinstance(i, gast.Call) and getattr(i.func, "attr", "") in _ASKING}
        for item in items:
            if isinstance(item, gast.Subscript | gast.Attribute) and isinstance(item.value, gast.Name):
                if item not in used and getattr(item, "attr", "") not in PASSIVE_ATTRIBUTES:
                    found.add(item.value.id)
            elif isinstance(item, gast.Call) and isinstance(item.func, gast.Name):
                found.update(n.id for n in item.args if isinstance(n, gast.Name))
    return found
