"""Tangents that are not as the rule has them: another tangent, of an array that changes; lengths that begin to grow."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts, Operation
from srcgrad.runtime.singular import length_dot
from srcgrad.trees import Node, expression, target

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


def is_length_again(operation: Operation, facts: Facts) -> bool:
    """Whether a statement of a derivative computes a length whose second derivative is asked for."""
    rule = operation.rule
    return rule is not None and rule.length and facts.source.is_derivative


def grown(node: Node, tangent: Node, away: Node, facts: Facts) -> Node:
    """`length_dot(r, r_dot, np.linalg.norm(x_dot))`: a length of 0 grows by that of its argument's tangent."""
    helper = facts.library("length_dot", length_dot)
    made = expression(f"{helper}(z, z_dot, away)", z=str(target(node)), z_dot=tangent, away=away)
    facts.results[made.args[0]] = None
    return made
