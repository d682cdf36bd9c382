"""`a += e` changes an array that others may see: where a is surely an array it is spelled `a[...] += e`."""

from __future__ import annotations

from typing import Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import METHODS, PASSIVE_ATTRIBUTES, binding_of
from srcgrad.front.viewing import VIEWS
from srcgrad.trees import Node, at, children, expression, header, is_write, statements, stores, target, walk, written

_MAKERS = (np.zeros, np.ones, np.empty, np.full, np.outer, np.eye, np.diag)
_KEEPERS = (
    np.copy, np.sort, np.cumsum, np.cumprod, np.ravel, np.flip, np.roll, np.zeros_like, np.ones_like, np.empty_like,
    np.full_like, np.where, np.transpose, np.clip, np.minimum, np.maximum, np.round,
)  # fmt: skip
# Methods whose result shows nothing of the array: `a /= a.sum()` may bind a anew.
_ASKING = frozenset(name for name, function in METHODS.items() if not any(function is one for one in VIEWS))


def in_place(function: Node, facts: Facts) -> None:
    """Spell out in-place changes of arrays of which parts, views or second names are in use."""
    changes = [
        n for n in statements(function.body) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    ]
    if not changes:
        return
    arrays = surely_arrays(function, facts)
    shown = _shown(function) | _callers(function)
    for node in changes:
        if node.target.id in arrays and node.target.id in shown and not isinstance(node.op, gast.MatMult):
            whole = at(expression(f"{node.target.id}[...]"), node.target)
            whole.ctx = gast.Store()
            node.target = whole
            facts.foreign[node] = None


def surely_arrays(function: Node, facts: Facts) -> set[str]:
    """Names that hold nothing but arrays with axes."""
    bound: dict[str, list[Node | None]] = {}
    given = function.args
    for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs]:
        kind = facts.kinds.get(argument.id)
        known = kind is not None and kind.tag == "array" and bool(kind.ndim)
        bound[argument.id] = [] if known else [None]
    for node in statements(function.body):
        for one in stores(node):
            if one in written(node) and is_write(node):
                continue
            if isinstance(node, gast.AugAssign):
                continue  # what is an array before it is one afterwards
            bound.setdefault(one, []).append(node.value if target(node) == one else None)
    found = set(bound)
    while True:
        less = {one for one in found if all(_is_array(value, found, facts) for value in bound[one])}
        if less == found:
            return found
        found = less


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
