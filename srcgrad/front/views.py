"""Names for parts of an array, through which the array changes: each use is spelled as the part itself."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.integers import integers
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.resolve import binding_of
from srcgrad.front.rows import FUNCTIONS, Views, base_of, check_target, rows
from srcgrad.kinds import numbers
from srcgrad.runtime import check_array
from srcgrad.trees import (
    COMPOUND,
    Block,
    Node,
    at,
    copy,
    expression,
    header,
    is_write,
    part_written,
    statement,
    statements,
    stores,
    target,
    walk,
    written,
)


def views(function: Node, facts: Facts) -> Node:
    """Spell a view that is written through, or read after its array has changed, as a part of the array.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    a = x * 2.0\\n    v = a[1:]\\n    v[0] = 3.0\\n    return np.sum(a)"
    >>> print(explain_text(text, after="views"))
    def f(x):
        a = x * 2.0
        a[1:][0] = 3.0
        return np.sum(a)
    """
    if facts.generated:
        return function
    indexed = any(isinstance(n, gast.Subscript) for node in function.body for n in walk(node))
    given = numbers(facts.kinds) if indexed else frozenset[str]()  # which are told apart in indices alone
    work = Views(facts, function, given | frozenset(integers(function, facts)))
    rows(function.body, work)
    while _spell_one(work):
        pass
    for node in work.order():
        if check_target(node, work):
            _check_base(written(node)[0], work)
    return function


def _spell_one(work: Views) -> bool:
    """Spell out one view; whether there was one."""
    order = work.order()
    changes = [n for n in order if _changed(n, work)]
    if not changes:
        return False
    for node in order:
        view = target(node)
        as_method = _as_method(node.value, work) if view is not None else None
        base = None if as_method is None else base_of(as_method, work)
        if view is None or base is None or base == view or not _is_needed(node, view, base, order, work):
            continue
        if _is_steady(node, view, base, order):
            node.value = as_method
            _spell(node, view, base, work)
            return True
    return False


def _changed(node: Node, work: Views) -> list[str]:
    """Arrays into which a statement writes: `a[i] = e`, and `a += e` too where a is one."""
    if is_write(node):
        return written(node)
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        return [node.target.id]
    return []


def _as_method(value: Node, work: Views) -> Node:
    """`a.swapaxes(0, 1)` for `np.swapaxes(a, 0, 1)`; any other expression as it is."""
    if not isinstance(value, gast.Call) or value.keywords or not value.args:
        return value
    found = binding_of(value.func, work.facts, work.facts.local)
    for function, method in FUNCTIONS.items():
        if found is not None and found.object is function:
            own = gast.copy_location(gast.Attribute(value.args[0], method, gast.Load()), value)
            return gast.copy_location(gast.Call(own, value.args[1:], []), value)
    return value


def _is_needed(node: Node, view: str, base: str, order: list[Node], work: Views) -> bool:
    """Whether the array changes while the view lives: through the view, or before the view is read."""
    place = {n: k for k, n in enumerate(order)}
    through = [n for n in order if view in _changed(n, work)]
    if any(is_write(n) for n in through) or (through and _is_array(node.value)):
        return True
    if through:
        return False  # `s = a[i]; s += e` may count with a number
    if not _is_array(node.value) and not isinstance(node.value, gast.Name):
        return False  # a number does not change with its array
    family = _family(base, order, work)
    reads = [n for n in order if n is not node and view in _reads(n)]
    for change in [n for n in order if set(_changed(n, work)) & family and (is_write(n) or _is_surely(n, order, work))]:
        loops = [n for n in order if isinstance(n, gast.For | gast.While) and _holds(n, change) and not _holds(n, node)]
        if any(place[read] > place[change] > place[node] for read in reads):
            return True
        if any(_holds(loop, read) for loop in loops for read in reads):
            return True
    return False


def _is_surely(node: Node, order: list[Node], work: Views) -> bool:
    """Whether `a += e` changes an array, not a number: one that is written into elsewhere, or made as one."""
    held = node.target.id
    if any(is_write(n) and held in written(n) for n in order):
        return True
    kind = work.facts.kinds.get(held)
    if kind is not None and kind.tag == "array":
        return True
    parts = [i for n in order for part in header(n) for i in walk(part) if isinstance(i, gast.Subscript)]
    if any(getattr(part.value, "id", "") == held and _is_array(part) for part in parts):
        return True
    made = [n.value for n in order if target(n) == held]
    return bool(made) and all(_makes_array(value, work) for value in made)


def _makes_array(value: Node, work: Views) -> bool:
    """Whether an expression makes an array with axes."""
    if not isinstance(value, gast.Call) or (not value.args and not isinstance(value.func, gast.Attribute)):
        return False
    found = binding_of(value.func, work.facts, work.facts.local)
    if found is not None and found.object in (np.zeros, np.ones, np.empty, np.full, np.outer, np.eye):
        return True
    of = value.func.value if found is None and isinstance(value.func, gast.Attribute) else (value.args or [None])[0]
    kind = work.facts.kinds.get(getattr(of, "id", ""))
    copies = getattr(value.func, "attr", "") in ("copy", "zeros_like", "empty_like", "ones_like", "full_like", "array")
    return copies and kind is not None and kind.tag == "array" and bool(kind.ndim)


def _family(base: str, order: list[Node], work: Views) -> set[str]:
    """An array and all names for parts of it."""
    found = {base}
    while True:
        more = {
            str(target(n)) for n in order if target(n) and base_of(_as_method(n.value, work), work) in found
        } - found
        if not more:
            return found
        found |= more


def _is_array(value: Node) -> bool:
    """Whether a view has axes: `a[1:]` has, `a[0]` may be a number."""
    if isinstance(value, gast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        return any(isinstance(part, gast.Slice) or getattr(part, "value", 0) in (None, ...) for part in parts)
    return not isinstance(value, gast.Name)


def _is_steady(node: Node, view: str, base: str, order: list[Node]) -> bool:
    """Whether the expression means the same part wherever the view is used."""
    bound = [n for n in order if view in stores(n) and not (is_write(n) or isinstance(n, gast.AugAssign))]
    if bound != [node]:
        return False
    place = {n: k for k, n in enumerate(order)}
    uses = [n for n in order if n is not node and (view in _reads(n) or view in stores(n))]
    if any(place[use] < place[node] for use in uses):
        return False
    for read in {n.id for n in walk(node.value) if isinstance(n, gast.Name)}:
        binders = [n for n in order if read in stores(n) and not is_write(n)]
        if read == base:
            binders = [n for n in binders if not isinstance(n, gast.AugAssign)]
        last = max([place[use] for use in uses], default=0)
        for binder in binders:
            again = [n for n in order if _is_loop(n) and _holds(n, binder)]  # whose next trip may read the view
            if place[binder] > last and not any(_runs_again(n, one) for n in again for one in (node, *uses)):
                continue  # by then nobody reads the view
            around = [n for n in order if isinstance(n, gast.For | gast.While) and (n is binder or _holds(n, binder))]
            inside = [n for n in around if n is node or _holds(n, node)]
            if len(around) != len(inside) or place[binder] > place[node]:
                return False
            if around and not all(_holds(around[-1], use) for use in uses):
                return False
    return True


def _is_loop(node: Node) -> bool:
    return isinstance(node, gast.For | gast.While)


def _runs_again(loop: Node, node: Node) -> bool:
    """Whether each trip of a loop runs a statement: what stands in it, and its own test."""
    return _holds(loop, node) or (node is loop and isinstance(loop, gast.While))


def _reads(node: Node) -> list[str]:
    return [n.id for part in header(node) for n in walk(part) if isinstance(n, gast.Name)]


def _holds(outer: Node, inner: Node) -> bool:
    return isinstance(outer, COMPOUND) and outer is not inner and any(n is inner for n in statements(outer.body))


def _spell(node: Node, view: str, base: str, work: Views) -> None:
    """Put the expression in place of the name, and drop the statement that bound it."""
    facts = work.facts
    facts.foreign[node] = None
    _drop(work.function.body, node)
    through = [part_written(n) for n in work.order() if view in written(n) and is_write(n)]
    if _is_all(node.value) and any(map(_is_all, through)):
        node.value = node.value.value  # `a[...]` of an array without axes shows the whole of it
    for other in work.order():
        if view not in _reads(other) and view not in stores(other):
            continue
        facts.foreign[other] = None
        if isinstance(other, gast.AugAssign) and getattr(other.target, "id", "") == view:
            whole = expression("view[...]", view=copy(node.value))
            whole.ctx = gast.Store()
            other.target = at(whole, other.target)
        for field in ("iter", "test"):
            if getattr(getattr(other, field, None), "id", "") == view:
                setattr(other, field, at(copy(node.value), getattr(other, field)))
        for part in header(other):
            _replace(part, view, node.value)
    _check_base(base, work)


def _is_all(value: Node) -> bool:
    """`a[...]`, `a[()]`"""
    if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Name):
        return False
    return getattr(value.slice, "value", None) is ... or (isinstance(value.slice, gast.Tuple) and not value.slice.elts)


def _check_base(base: str, work: Views) -> None:
    """An argument of unknown kind is looked at: a part of a list is no view."""
    facts = work.facts
    kind = facts.kinds.get(base)
    if kind is None and any(a.id == base for a in work.function.args.args):
        check = at(statement(f"{facts.library('check_array')}({base})"), work.function)
        facts.foreign[check] = None
        meant = Binding("object", check_array)
        facts.namespace = Overlay(facts.namespace, {facts.imports["check_array"]: meant})
        work.function.body.insert(0, check)


def _drop(block: Block, node: Node) -> None:
    for position, item in enumerate(block):
        if item is node:
            del block[position]
            return
        for which in ("body", "orelse"):
            if getattr(item, which, None):
                _drop(getattr(item, which), node)
                if not item.body:
                    item.body.append(at(gast.Pass(), node))


def _replace(tree: Node, view: str, value: Node) -> None:
    for item in list(walk(tree)):
        for key in item._fields:
            part = getattr(item, key, None)
            if isinstance(part, list):
                for place, child in enumerate(part):
                    if isinstance(child, gast.Name) and child.id == view:
                        part[place] = at(copy(value), child)
            elif isinstance(part, gast.Name) and part.id == view:
                setattr(item, key, at(copy(value), part))
