"""Calls of what treats each row of its argument by itself: derivatives by columns, once for all tangents."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import loads, name, statements

LEAST = 8  # reads of tangents, from which on fewer tangents and one product are faster


def rows_first(program: Program, facts: Facts, batched: dict[str, None]) -> None:
    """Let `y, y_dot = f_jvps(x, x_dot=x_dot)` be `by_rows(f_jvps, x, x_dot=x_dot)` where f treats each row by itself.

    That runs f_jvps with as many tangents as x has columns, and multiplies by x_dot. It adds up in another order.
    """
    reads = [one for node in statements(program.forward) for one in loads(node) if one in batched]
    facts.by_rows = facts.by_rows and len(reads) >= LEAST
    for node in statements(program.forward):
        call = getattr(node, "value", None)
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name):
            continue
        called = facts.module.making.get(call.func.id)
        if called is not None and called.by_rows and len(call.keywords) == 1 and _gives_array(called):
            call.args.insert(0, name(call.func.id))
            call.func = name(facts.library("by_rows"))


def _gives_array(called: Facts) -> bool:
    """Whether the value is an array, with the axis of rows."""
    value, tangent = called.outcome
    return called.mode == "forward" and not value.container and tangent.ndim is not None and tangent.ndim > 0
