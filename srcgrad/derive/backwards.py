"""The header of a loop that goes through another one's trips from the last to the first."""

from __future__ import annotations

import gast

from srcgrad.converted import literal_value
from srcgrad.indices import is_integer
from srcgrad.trees import Node, constant, expression


def backwards(trips: Node) -> Node:
    """What the backward loop of `for i in trips` goes through: `reversed(range(n))` of `range(n)`.

    The tree that is given becomes part of the result. A range downwards is one upwards then: `range(n - 1)` of
    `range(n - 2, -1, -1)`.

    >>> from srcgrad.emit.expression import expression as spell
    >>> for text in ("range(1, n)", "reversed(range(n))", "range(n - 1, -1, -1)", "range(n, k, -1)", "range(n, 0, -2)"):
    ...     print(spell(backwards(expression(text))))
    reversed(range(1, n))
    range(n)
    range(n)
    range(k + 1, n + 1)
    reversed(range(n, 0, -2))
    """
    called = getattr(trips.func, "id", "") if isinstance(trips, gast.Call) else ""
    if called == "reversed":
        return trips.args[0]
    if called != "range" or len(trips.args) != 3 or not is_integer(trips.args[2]) or literal_value(trips.args[2]) != -1:
        return expression("reversed(trips)", trips=trips)
    first, beyond = (_one_more(bound) for bound in trips.args[1::-1])
    zero = isinstance(first, gast.Constant) and first.value == 0
    trips.args = [beyond] if zero else [first, beyond]
    return trips


def _one_more(bound: Node) -> Node:
    """`n - 1` for `n - 2`, `n` for `n - 1`, 0 for -1, `n + 1` for anything else."""
    if is_integer(bound):
        return constant(literal_value(bound) + 1)
    less = isinstance(bound, gast.BinOp) and isinstance(bound.op, gast.Sub) and is_integer(bound.right)
    by = literal_value(bound.right) if less else 0
    if by == 1:
        return bound.left
    if by > 1:
        bound.right = constant(by - 1)
        return bound
    return expression("bound + 1", bound=bound)
