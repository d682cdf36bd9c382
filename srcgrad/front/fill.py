"""NumPy calls that fill an array, `out=`, `np.copyto`, `np.put`, `a.fill`, `a.sort`, `np.add.at`: spelled as writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.facts import UNKNOWN
from srcgrad.front.chosen import selected
from srcgrad.front.resolve import binding_of
from srcgrad.trees import Block, Node, copy, expression, root, statement, walk

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def fill(node: Node, work: Plain) -> Block:
    """The statement itself, or the writes that it stands for."""
    value = getattr(node, "value", None)
    if not isinstance(node, gast.Expr | gast.Assign) or not isinstance(value, gast.Call):
        return [node]
    if isinstance(node, gast.Expr):
        made = _method(value, work) or _function(value, work)
        if made is not None:
            return [work.own(made, node)]
    before: Block = []
    target = _out(value, work)
    if target is None:
        return [node]
    filled = selected(value, target, _meant(value.func, work), node, before, work)
    if filled is None and value.keywords and value.keywords[-1].arg == "where":
        return [node]
    write = work.own(_store(target, value if filled is None else filled), node)
    if isinstance(node, gast.Expr):
        return [*before, write]
    node.value = gast.copy_location(copy(target), value)
    work.facts.foreign[node] = None
    return [*before, write, node]


def _store(target: Node, value: Node) -> Node:
    """`a[...] = value` for a name, `a[i] = value` for a part."""
    part = copy(target)
    if isinstance(part, gast.Name):
        part = gast.copy_location(expression("a[...]", a=part), target)
    part.ctx = gast.Store()
    return gast.Assign([part], value, None)


def _method(call: Node, work: Plain) -> Node | None:
    """`a.fill(e)`, `a.sort()`, `a.partition(k)`, `a.put(i, e)`."""
    function = call.func
    if not isinstance(function, gast.Attribute) or not _is_array(function.value, work):
        return None
    owner = getattr(root(function.value), "id", "")
    if owner in work.facts.records or work.facts.kinds.get(owner, UNKNOWN).tag == "object":
        return None  # a method of the object's class
    if binding_of(function, work.facts, work.facts.local) is not None:
        return None
    if function.attr == "fill" and len(call.args) == 1 and not call.keywords:
        return _store(function.value, call.args[0])
    if function.attr in ("sort", "partition") and not _is_list(function.value, work):
        sort = expression(f"{work.library('np')}.{function.attr}(a)", a=copy(function.value))
        sort.args += call.args
        sort.keywords = call.keywords
        return _store(function.value, sort)
    if function.attr == "put" and len(call.args) == 2 and not call.keywords:
        return _written(np.put, function.value, call.args, work)
    return None


def _is_list(node: Node, work: Plain) -> bool:
    return isinstance(node, gast.Name) and work.lists.get(node.id) == "list"


def _function(call: Node, work: Plain) -> Node | None:
    """`np.copyto(a, e)`, `np.add.at(a, i, e)`, `np.fill_diagonal(a, e)`."""
    called = _meant(call.func, work)
    if called is np.copyto and len(call.args) == 2 and _is_array(call.args[0], work):
        mask = next((w.value for w in call.keywords if w.arg == "where"), None)
        if any(w.arg not in ("where", "casting") for w in call.keywords):
            return None
        array, value = call.args
        if mask is not None:
            library = work.library("np")
            value = expression(f"{library}.where(mask, value, a)", mask=mask, value=value, a=copy(array))
        return _store(array, value)
    if call.args and _is_array(call.args[0], work) and not call.keywords:
        made = _written(called, call.args[0], call.args[1:], work)
        if made is not None:
            return made
    if isinstance(call.func, gast.Attribute) and call.func.attr == "at" and len(call.args) == 3:
        ufunc = _meant(call.func.value, work)
        if (ufunc is np.add or ufunc is np.subtract) and _is_array(call.args[0], work):
            array, index, value = call.args
            value = value if ufunc is np.add else gast.UnaryOp(gast.USub(), value)
            helper = work.library("add_at")
            added = expression(f"{helper}(a.copy(), index, g)", a=copy(array), index=index, g=value)
            return _store(array, added)
    return None


def _written(called: Any, array: Node, given: list[Node], work: Plain) -> Node | None:
    """`np.put(a, i, e)`, `np.put_along_axis`, `np.place`, `np.putmask` and `np.fill_diagonal` as assignments."""
    pieces = {"a": array} | {f"x{k}": part for k, part in enumerate(given, 1)}
    numpy = work.library("np")
    if called is np.put and len(given) == 2:
        text = f"a[{work.library('flat_index')}(x1, a)] = x2"
    elif called is np.put_along_axis and len(given) == 3:
        text = f"a[{work.library('along_axis')}(x1, a, x3)] = x2"
    elif called is np.fill_diagonal and len(given) == 1:
        text = f"a[{work.library('diagonal_index')}(a)] = x1"
    elif called is np.putmask and len(given) == 2:
        text = f"a[...] = {numpy}.where(x1, {numpy}.resize(x2, {numpy}.shape(a)), a)"
    elif called is np.place and len(given) == 2 and isinstance(given[0], gast.Name):
        text = f"a[{numpy}.asarray(x1, bool)] = {numpy}.resize(x2, {numpy}.count_nonzero(x1))"
    else:
        return None
    return statement(text, **pieces)


def _out(call: Node, work: Plain) -> Node | None:
    """The array that a call fills by `out=`, which is taken from the call."""
    for word in call.keywords:
        if word.arg != "out":
            continue
        array = word.value
        if isinstance(array, gast.Tuple) and len(array.elts) == 1:
            array = array.elts[0]
        if isinstance(array, gast.Constant) and array.value is None:
            call.keywords.remove(word)
            return None
        if isinstance(_meant(call.func, work), np.ufunc) or _meant(call.func, work) in _WITH_OUT:
            if _is_array(array, work):
                call.keywords.remove(word)
                return array
    return None


_WITH_OUT: tuple[Any, ...] = (
    np.dot, np.sum, np.mean, np.prod, np.max, np.min, np.clip, np.cumsum, np.cumprod, np.take, np.var, np.std,
    np.concatenate, np.stack, np.outer, np.einsum, np.trace, np.round, np.compress,
)  # fmt: skip


def _meant(node: Node, work: Plain) -> Any:
    found = binding_of(node, work.facts, work.facts.local)
    return None if found is None else found.object


def _is_array(node: Node, work: Plain) -> bool:
    """Whether a place may be written: a name, or a part of a name; an item of a list or dict is an array of its own."""
    inner = node.value if isinstance(node, gast.Subscript) else node
    if isinstance(node, gast.Subscript) and isinstance(inner, gast.Name):
        kind = work.facts.kinds.get(inner.id)
        held = kind is not None and kind.tag in ("list", "dict", "tuple")
        if held or inner.id in work.lists or isinstance(getattr(node.slice, "value", None), str):
            return False
    return isinstance(inner, gast.Name) and not any(isinstance(n, gast.Call) for n in walk(node))
