"""Extremes whose elements are computed again: rounding may leave none that is equal, so the nearest ones share.

A kernel rounds otherwise than NumPy does, and otherwise than another kernel; where NumPy computes `x * w - c` twice it
gets the same bits, and `share(m_bar, x * w - c, m)` finds the elements of which `m` was the largest.
"""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Block, Node, name, statements, stores, target, walk

_EXTREMES = ("max", "min", "amax", "amin")


def nearest(body: Block, facts: Facts) -> None:
    """`share_nearest` for `share`, but where an extreme is of the very array that is asked for its elements."""
    helper = facts.imports.get("share")
    if helper is None:
        return
    bound: dict[str, list[Node]] = {}
    for node in statements(body):
        for one in stores(node):
            bound.setdefault(one, []).append(node)
    for node in body:
        for call in walk(node):
            if not (isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and call.func.id == helper):
                continue
            if not _is_same(call.args[1], call.args[2], bound):
                call.func = name(facts.library("share_nearest"))


def _is_same(of: Node, extreme: Node, bound: dict[str, list[Node]]) -> bool:
    """Whether an extreme was found in an array that has its name from then on."""
    if not (isinstance(of, gast.Name) and isinstance(extreme, gast.Name)):
        return False
    made = bound.get(extreme.id, [])
    if len(made) != 1 or len(bound.get(of.id, [])) > 1 or target(made[0]) != extreme.id:
        return False
    value = made[0].value
    if not (isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _EXTREMES):
        return False
    taken = value.args[0] if value.args else value.func.value
    if isinstance(value.func.value, gast.Name) and value.func.value.id == of.id:
        return True
    return isinstance(taken, gast.Name) and taken.id == of.id
