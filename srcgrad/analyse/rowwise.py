"""Whether each row of what a called function gives depends on the same row of its argument, and on no other of it."""

from __future__ import annotations

from srcgrad.analyse.rows import of_result
from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.trees import Node, statements, written


def rowwise(function: Node, facts: Facts) -> Node:
    """Note it for a function that a text for many directions calls, and that is differentiated by one argument."""
    facts.by_rows = facts.called and len(facts.wrt) == 1 and _is_rowwise(function, facts.wrt[0], facts)
    return function


def _is_rowwise(function: Node, over: str, facts: Facts) -> bool:
    kind = facts.kinds.get(over)
    if kind is None or kind.tag != "array" or not kind.ndim or any(written(n) for n in statements(function.body)):
        return False
    try:
        form = of_result(function, over, facts)
    except DifferentiationError:
        return False
    return form.row == 0 and not form.late and not form.total
