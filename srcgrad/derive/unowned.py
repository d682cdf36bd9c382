"""Tangents that are another tangent, of an array that changes: the tangent of `t = m - 3.0` is `m_dot`."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts, Operation
from srcgrad.trees import Node

_SHOWING = ("broadcast_to", "reshape", "transpose", "expand_dims", "squeeze", "ravel", "real", "imag", "conj")


def shows_changing(value: Node, operation: Operation | None, facts: Facts) -> bool:
    """Whether a tangent shows the elements of one that is changed in place: `m_dot`, `np.broadcast_to(m_dot, s)`.

    The result of the operation is new, and keeps its elements when `m[i] = e` changes those of `m`. Of a linear one the
    tangent is the same of tangents: new where the result is new, a view where it is one.
    """
    if operation is None or operation.rule is None or operation.rule.kind in ("linear", "multilinear"):
        return False
    while not isinstance(value, gast.Name):
        if isinstance(value, gast.Attribute) and value.attr in ("T", "real", "imag", "mT"):
            value = value.value
        elif isinstance(value, gast.Call) and value.args and _may_show(value, facts):
            value = value.args[0]
        else:
            return False
    primal = facts.adjoint_of.get(value.id)
    return primal in facts.mutable or primal in facts.views


def _may_show(call: Node, facts: Facts) -> bool:
    """Whether a call may give back its first argument, or a view of it."""
    ours = [facts.imports.get(helper) for helper in ("converted", "sum_to", "fitted", "spread")]
    if isinstance(call.func, gast.Name):
        return call.func.id in ours
    return isinstance(call.func, gast.Attribute) and call.func.attr in _SHOWING
