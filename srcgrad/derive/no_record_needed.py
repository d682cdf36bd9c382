"""Values that need no record, since they stand in an array or are the same in each trip.

Values that need no record, since they stand in an array: `a[i] = t`, where nothing writes into that part again.

In the backward half `t = a[i]` brings such a value back. A loop that fills an array records nothing of what it stores.

Values that need no record, since every trip computes the same: `t = c**2` in a loop that does not change c.

After the loop such a name still holds the value, wherever the backward half reads it. In a text that will be
differentiated again each trip finds a value of its own, since the adjoint of one value for all trips would begin before
the loop, where a loop without trips has bound none.
"""

from __future__ import annotations

from collections import Counter

import gast
import numpy as np

from srcgrad.analysis.array_regions import Integers, Where, regions, regions_are_disjoint
from srcgrad.core.expressions import index_rank, is_basic
from srcgrad.core.facts import Facts, copy_with_facts
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    children,
    expression,
    is_write,
    loads,
    parameters,
    part_written,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.core.visitor import places as each_place
from srcgrad.frontend.resolve import binding_of

_WHOLE = gast.Constant(value=Ellipsis, kind=None)


def names_kept_in_arrays(function: Node, facts: Facts) -> dict[str, Node]:
    """Names whose values stand in an array until the end, with the statements that store them."""
    places = regions(function.body)
    homes = {place.node: place.block for place in each_place(function.body)}
    known = _integers(function, facts)
    found: dict[str, Node] = {}
    for node, where in places.items():
        if not where.loops or not _is_candidate(node, homes[node], facts):
            continue
        if _keeps(node, places, facts) and _lasts(node, places, known, function, facts):
            found.setdefault(node.value.id, node)
    return found


def brought_back(node: Node, like: Node, facts: Facts) -> Node:
    """`t = a[i]`, for a statement `a[i] = t`; a copy of what is an array, since it may change in place."""
    part = part_written(node)
    read = expression(
        "array[index]", array=copy_with_facts(part.value, facts), index=copy_with_facts(part.slice, facts)
    )
    if not facts.spec[node.value].scalar:
        read = expression("part.copy()", part=read)
    return assign(node.value.id, read, like)


def _integers(function: Node, facts: Facts) -> Integers:
    bound = [s for node in statements(function.body) for s in stores(node)]
    inside = {s for n in statements(function.body) if isinstance(n, gast.For | gast.While) for s in _bound_in(n)}
    once = {s for s in bound if bound.count(s) == 1} | (set(parameters(function)) - set(bound))
    return Integers(frozenset(once - inside), facts.counters)


def _bound_in(loop: Node) -> list[str]:
    return [s for node in [loop, *statements(loop.body)] for s in stores(node)]


def _is_candidate(node: Node, block: Block, facts: Facts) -> bool:
    """Whether a statement stores a whole value, bound in the same block, in a part of the same shape."""
    if not isinstance(node, gast.Assign) or not is_write(node) or not isinstance(node.value, gast.Name):
        return False
    part, value = part_written(node), node.value.id
    index = set(loads(part.slice))
    if not isinstance(part.value, gast.Name) or not index <= facts.counters:
        return False
    if not is_basic(part.slice, frozenset(facts.integers)) or value in facts.mutable or value in facts.viewed:
        return False
    definition = facts.definition.get(value)
    if definition not in block or target(definition) != value or not _fits(node, facts):
        return False
    if value not in facts.active:
        return False
    return block.index(definition) < block.index(node)


def _fits(node: Node, facts: Facts) -> bool:
    """Whether the value has the shape of the part."""
    spec, part = facts.spec.get(node.value), part_written(node)
    whole = facts.value_spec.get(part.value.id)
    if spec is None or whole is None or facts.list_kind(part.value.id) or part.value.id in facts.containers:
        return False
    rank = index_rank(part.slice, whole.ndim, frozenset(facts.integers))
    if rank == 0:
        return spec.scalar
    found = facts.part_spec.get(node)
    return found is not None and rank is not None and spec.ndim == rank and found.shape == spec.shape


def _keeps(node: Node, places: dict[Node, Where], facts: Facts) -> bool:
    """Whether the array holds the value to the last bit: it is of float64, or of dtypes that the value's are among."""
    spec, array = facts.spec[node.value], part_written(node).value.id
    whole = facts.value_spec[array]
    if spec.dtype and spec.dtype <= whole.dtype:
        return True
    return all(_is_float64(other.value, facts) for other in places if target(other) == array)


def _is_float64(made: Node, facts: Facts) -> bool:
    """`np.zeros(shape)` and the like, with no dtype."""
    if not isinstance(made, gast.Call) or len(made.args) != 1 or made.keywords:
        return False
    found = binding_of(made.func, facts, facts.local)
    return found is not None and any(found.object is function for function in (np.zeros, np.ones, np.empty))


def _lasts(node: Node, places: dict[Node, Where], known: Integers, function: Node, facts: Facts) -> bool:
    """Whether nothing that runs later writes into the part, and the array stays the same one."""
    part = part_written(node)
    array = part.value.id
    if array in facts.swapped or array not in facts.mutable:
        return False
    bound = 0 if array not in parameters(function) else 1
    for other, where in places.items():
        if array not in stores(other):
            continue
        if not is_write(other) or array not in written_names(other):
            bound += 1
            continue
        changed = part_written(other)
        exact = isinstance(changed.value, gast.Name) and is_basic(changed.slice, frozenset(facts.integers))
        if not regions_are_disjoint(part.slice, places[node], changed.slice if exact else _WHOLE, where, known):
            return False
    return bound == 1


_MAKERS = (np.array, np.zeros, np.ones, np.eye, np.identity)
_LITERAL = (gast.Constant, gast.Name, gast.List, gast.Tuple, gast.UnaryOp, gast.BinOp)


def loop_invariant_names(function: Node, facts: Facts) -> dict[str, None]:
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
