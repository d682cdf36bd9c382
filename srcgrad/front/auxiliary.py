"""Functions that return a value to differentiate and something beside it: the pair is spelled as one."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Node, at, name


def auxiliary(function: Node, facts: Facts) -> Node:
    """`return g(x)` as `value, beside = g(x)` and `return value, beside`: the derivative is of the first alone."""
    if not facts.auxiliary:
        return function
    last = function.body[-1]
    if isinstance(last.value, gast.Tuple) and len(last.value.elts) == 2:
        return function
    if isinstance(last.value, gast.Tuple | gast.List | gast.Dict | gast.Constant):
        raise facts.refuse(
            last, "E5007", "with has_aux the function returns a pair", "return the scalar, and beside it one value"
        )
    names = [facts.names.fresh("value"), facts.names.fresh("beside")]
    facts.local |= frozenset(names)
    pair = gast.Tuple(elts=[name(each, gast.Store()) for each in names], ctx=gast.Store())
    unpacked = at(gast.Assign([pair], last.value, None), last)
    result = at(gast.Return(gast.Tuple(elts=[name(each) for each in names], ctx=gast.Load())), last)
    for made in (unpacked, result):
        facts.foreign[made] = None
    function.body[-1:] = [unpacked, result]
    return function
