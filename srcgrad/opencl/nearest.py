"""Extremes whose elements are computed again: rounding may leave none that is equal, so the nearest ones share.

A kernel rounds otherwise than NumPy does, and otherwise than another kernel; where NumPy computes `x * w - c` twice it
gets the same bits, and `share(m_bar, x * w - c, m)` finds the elements of which `m` was the largest.
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.core.facts import Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.trees import Block, Node, name, statements, stores, target, walk

_EXTREMES = ("max", "min", "amax", "amin")


def nearest(body: Block, facts: Facts) -> None:
    """`share_nearest` for `share`, but where an extreme is of the very array that is asked for its elements.

    Likewise `is_nearest(a, y)` for `a == y`, of which the adjoint of an extreme of all elements counts the hits.
    """
    counted = {
        call.args[0].id
        for node in body
        for call in walk(node)
        if isinstance(call, gast.Call) and _is_counting(call) and isinstance(call.args[0], gast.Name)
    }
    if "share" not in facts.imports and not counted:
        return
    bound: dict[str, list[Node]] = {}
    for node in statements(body):
        for one in stores(node):
            bound.setdefault(one, []).append(node)
    for node in statements(body):
        value = node.value if target(node) in counted else None
        if isinstance(value, gast.Compare) and isinstance(value.ops[0], gast.Eq):
            if not _is_same(value.left, value.comparators[0], bound):
                called = name(facts.library("is_nearest"))
                node.value = gast.Call(called, [value.left, value.comparators[0]], [])
    for node in body:
        for call in walk(node):
            if function_called(call, facts) is runtime.share and not _is_same(call.args[1], call.args[2], bound):
                call.func = name(facts.library("share_nearest"))


def _is_counting(call: Node) -> bool:
    """`np.count_nonzero(t)`"""
    return isinstance(call.func, gast.Attribute) and call.func.attr == "count_nonzero" and len(call.args) == 1


def _is_same(of: Node, extreme: Node, bound: dict[str, list[Node]]) -> bool:
    """Whether an extreme was found in an array that has its name from then on."""
    if not isinstance(of, gast.Name) or len(bound.get(of.id, [])) > 1:
        return False
    made = bound.get(extreme.id, []) if isinstance(extreme, gast.Name) else []
    if len(made) == 1 and target(made[0]) == extreme.id:
        extreme = made[0].value
    return _is_extreme(extreme, of.id)


def _is_extreme(value: Node, of: str) -> bool:
    """`np.max(of, ...)` or `of.max(...)`"""
    if not (isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _EXTREMES):
        return False
    places = [value.func.value, *value.args[:1]]
    return any(isinstance(place, gast.Name) and place.id == of for place in places)
