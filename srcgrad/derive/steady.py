"""Values that need no record, since every trip computes the same: `t = c**2` in a loop that does not change c.

After the loop such a name still holds the value, wherever the backward half reads it. In a text that will be
differentiated again each trip finds a value of its own, since the adjoint of one value for all trips would begin before
the loop, where a loop without trips has bound none.
"""

from __future__ import annotations

from collections import Counter

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.trees import Node, children, loads, statements, stores, target

_MAKERS = (np.array, np.zeros, np.ones, np.eye, np.identity)
_LITERAL = (gast.Constant, gast.Name, gast.List, gast.Tuple, gast.UnaryOp, gast.BinOp)


def steady(function: Node, facts: Facts) -> dict[str, None]:
    """Names bound by one statement, in a loop, whose operands no loop binds, and nothing writes into."""
    if facts.module is None or facts.module.inline:
        return {}
    loops = [node for node in statements(function.body) if isinstance(node, gast.For | gast.While)]
    looped = dict.fromkeys(node for loop in loops for node in statements(loop.body))
    bound = Counter(one for node in dict.fromkeys([*loops, *looped]) for one in stores(node))
    found: dict[str, None] = {}
    for node in looped:  # in the order of the text
        kept = target(node)
        if kept is None or bound[kept] > 1 or kept not in facts.definition or not _is_pure(node, facts):
            continue
        operands = [read for read in loads(node) if read not in found]
        if all(_is_intact(one, facts) for one in (kept, *operands)) and not any(bound[one] for one in operands):
            found[kept] = None
    return found


def _is_pure(node: Node, facts: Facts) -> bool:
    """Whether a statement is an operation of the table, or makes an array: its value hangs on its operands alone."""
    operation = facts.operation.get(node.value)
    if operation is None:
        return _makes_array(node.value, facts)
    return operation.kind == "op" and operation.rule is not None


def _makes_array(call: Node, facts: Facts) -> bool:
    """Whether a call makes a new array of literals and local names: `np.array([[1.0, -1.0], [-1.0, a]])`."""
    if not isinstance(call, gast.Call) or call.keywords or not all(_is_display(part, facts) for part in call.args):
        return False
    found = binding_of(call.func, facts, facts.local)
    return found is not None and any(found.object is one for one in _MAKERS)


def _is_display(part: Node, facts: Facts) -> bool:
    """Whether an expression is made of literals and local names: those of a module may be bound anew by a call."""
    if not isinstance(part, _LITERAL):
        return False
    if isinstance(part, gast.Name):
        return part.id in facts.local
    return all(_is_display(below, facts) for below in children(part))


def _is_intact(read: str, facts: Facts) -> bool:
    """Whether nothing writes into what a name holds."""
    changing = (facts.mutable, facts.views, facts.viewed, facts.added_to, facts.swapped, facts.containers)
    return not any(read in table for table in changing) and not facts.list_kind(read)
