"""Writes into arrays, and arrays that change places: what flows back.

Arrays that change places, `a, b = b, a`: so do their adjoints, in the opposite direction.

Writes into arrays, `a[i] = e` and `a[i] += e`: how the old elements are kept, and what flows back.
"""

from __future__ import annotations

from typing import Any  # tables of several things, by name

import gast

from srcgrad.core.expressions import as_value, index_rank, is_basic, is_swap, on_array
from srcgrad.core.facts import Facts, Spec, copy_with_facts
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    expression,
    literal_node,
    name,
    part_written,
    statement,
    stores,
    walk,
    written_names,
)
from srcgrad.derive.adjoints import PRESENT, Adjoints, is_product, is_sum, shape_may_differ, wide_spec
from srcgrad.derive.mask_arrivals import cleared_mask, mask_before, mask_of_part


def swaps(node: Node, facts: Facts) -> bool:
    """Whether a statement lets arrays that the function writes into change places."""
    return is_swap(node) and stores(node)[0] in facts.swapped


def swapped_back(node: Node) -> Node:
    """`b, a = a, b`: every name holds again what it held before."""
    return _exchange([n.id for n in node.value.elts], stores(node), node)


def undo_swap(node: Node, adjoints: Adjoints) -> Block:
    """The adjoints change places."""
    bound, read = stores(node), [n.id for n in node.value.elts]
    facts = adjoints.facts
    if not any(adjoints.exists(one) for one in bound):
        return []
    made: Block = []
    for one in bound:
        if not adjoints.exists(one):
            made.append(adjoints.zeros(one, facts.value_spec.get(one), node))
            adjoints.state[one] = PRESENT
    made.append(_exchange([adjoints.of(one) for one in read], [adjoints.of(one) for one in bound], node))
    for known in (adjoints.state, adjoints.specs, adjoints.masks, adjoints.flags):
        _rename_adjoints(known, bound, read)
    return made


def _rename_adjoints(known: dict[str, Any], bound: list[str], read: list[str]) -> None:
    """What is known of the adjoints goes with them."""
    held = {old: known.pop(new) for new, old in zip(bound, read, strict=True) if new in known}
    known.update(held)


def tangent_of_swap(node: Node, facts: Facts, dotted: object) -> Block:
    """The tangents change places."""
    assert callable(dotted), "a function that names tangents"
    bound, read = stores(node), [n.id for n in node.value.elts]
    if not all(one in facts.active for one in bound):
        return []
    return [_exchange([dotted(one, facts) for one in bound], [dotted(one, facts) for one in read], node)]


def _exchange(bound: list[str], read: list[str], like: Node) -> Node:
    targets = gast.Tuple(elts=[name(one, gast.Store()) for one in bound], ctx=gast.Store())
    values = gast.Tuple(elts=[name(one) for one in read], ctx=gast.Load())
    return at(gast.Assign([targets], values, None), like)


def is_number(node: Node, facts: Facts) -> bool:
    """Whether the part that is written is a single element."""
    part = part_written(node)
    spec = facts.value_spec.get(part.value.id) if isinstance(part.value, gast.Name) else None
    if any(isinstance(n, gast.Constant) and n.value is ... for n in walk(part.slice)):
        return False  # `a[0, ...]` of a vector is an array without axes, which shows the element
    return spec is not None and index_rank(part.slice, spec.ndim, frozenset(facts.integers)) == 0


def read_part(node: Node, facts: Facts) -> Node:
    """`a[i]`, as it is before the write."""
    part = part_written(node)
    return expression(
        "array[index]", array=copy_with_facts(part.value, facts), index=copy_with_facts(part.slice, facts)
    )


def kept_part(node: Node, facts: Facts) -> Node:
    """The elements that a write replaces: a copy, since they change in place; a number needs none."""
    part = read_part(node, facts)
    return part if is_number(node, facts) else expression("part.copy()", part=part)


def write_back(node: Node, value: str, facts: Facts) -> Node:
    """`a[i] = value`: the elements are as they were before the write."""
    made = statement(f"part = {value}")
    part = read_part(node, facts)
    part.ctx = gast.Store()
    made.targets = [part]
    return made


def undo_write(node: Node, adjoints: Adjoints) -> Block:
    """The adjoint of what was stored; the adjoint of elements that were replaced is zero before the write."""
    facts = adjoints.facts
    part, value = part_written(node), node.value
    array, index = written_names(node)[0], part.slice
    made: Block = []
    if not adjoints.exists(array):
        return made
    made += adjoints.whole(array, facts.value_spec.get(array), node)
    adjoint = adjoints.of(array)
    facts.elements[adjoint] = None
    carried = isinstance(value, gast.Name) and value.id in facts.active
    basic = is_basic(index, frozenset(facts.integers))
    added = isinstance(node, gast.AugAssign)
    before = adjoints.masks.get(array)
    if not added and is_whole(index) and isinstance(part.value, gast.Name):
        if carried:
            read = expression(adjoint)
            if not _fits(node, facts.spec.get(value), facts):
                read = expression(f"{facts.library('sum_to')}(g, x)", g=adjoint, x=copy_with_facts(value, facts))
            adjoints.state.pop(array)
            adjoints.contribute_whole(copy_with_facts(value, facts), read, made, node)
        adjoints.state.pop(array, None)
        adjoints.masks.pop(array, None)
        return made
    if carried:
        had = mask_before(value.id, adjoints)
        read = _adjoint_of_part(adjoint, node, basic or added, facts)
        sign = "-" if added and isinstance(node.op, gast.Sub) else ""
        spec = facts.spec.get(value)
        fits = _fits(node, spec, facts)
        made_for_it = is_product(value, facts) or is_sum(value, facts)
        if not fits and basic and made_for_it and shape_may_differ(value, facts):
            adjoints.specs[value.id] = wide_spec(value.id)
            fits = True
        if not fits:
            read = expression(f"{sign}{facts.library('sum_to')}(g, x)", g=read, x=copy_with_facts(value, facts))
        elif sign:
            read = gast.UnaryOp(gast.USub(), read)
        adjoints.contribute_whole(copy_with_facts(value, facts), read, made, node)
        made += mask_of_part(node, value, had, before, adjoints)
    if not added:
        holder = on_array(copy_with_facts(part.value, facts), adjoint)
        cleared = statement("adjoint[index] = 0.0", adjoint=holder, index=copy_with_facts(index, facts))
        made.append(at(cleared, node))
        made += cleared_mask(node, array, before, adjoints)
    return made


def _fits(node: Node, spec: Spec | None, facts: Facts) -> bool:
    """Whether what is stored has the shape of the part for sure: NumPy stretches what is smaller."""
    part = facts.part_spec.get(node)
    if spec is None:
        return False
    if part is None or part.ndim is None or part.ndim == 0:
        return is_number(node, facts) and spec.scalar
    return spec.ndim == part.ndim and part.shape <= spec.shape


def is_whole(index: Node) -> bool:
    """`a[...]`, `a[:]`, `a[()]`"""
    if isinstance(index, gast.Tuple):
        return not index.elts
    if isinstance(index, gast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, gast.Constant) and index.value is ...


def _adjoint_of_part(adjoint: str, node: Node, basic: bool, facts: Facts) -> Node:
    """`a_bar[i]`, a copy where it is an array, since `a_bar` changes."""
    index = copy_with_facts(part_written(node).slice, facts)
    spec = facts.value_spec.get(written_names(node)[0])
    if spec is not None and spec.scalar and is_whole(index) and isinstance(part_written(node).value, gast.Name):
        return expression("+a_bar", a_bar=adjoint)  # the adjoint of an array without axes may be a number
    holder = on_array(copy_with_facts(part_written(node).value, facts), adjoint)
    if not basic:
        return expression(f"{facts.library('stored')}(a_bar, index)", a_bar=holder, index=as_value(index))
    part = expression("a_bar[index]", a_bar=holder, index=index)
    return part if is_number(node, facts) else expression("part.copy()", part=part)


def _stored_value(held: str, node: Node, new: Node) -> Node:
    """`a + e` for a write that adds, `e` for any other."""
    return gast.BinOp(name(held), node.op, new) if isinstance(node, gast.AugAssign) else new


def tangent_of_write(node: Node, facts: Facts, dotted: object) -> Block:
    """`a_dot[i] = e_dot`, or zero where what is stored carries none."""
    part, value = part_written(node), node.value
    array = written_names(node)[0]
    if array not in facts.active:
        return []
    carried = isinstance(value, gast.Name) and value.id in facts.active
    if isinstance(node, gast.AugAssign) and not carried:
        return []
    assert callable(dotted), "a function that names tangents"
    new = expression(dotted(value.id, facts)) if carried else literal_node(0.0)
    spec = facts.value_spec.get(array)
    if spec is not None and spec.scalar and is_whole(part.slice) and isinstance(part.value, gast.Name):
        held = dotted(array, facts)  # the tangent of an array without axes may be a number
        return [statement("a = value", a=held, value=_stored_value(held, node, new))]
    holder = on_array(copy_with_facts(part.value, facts), dotted(array, facts))
    target = expression("a_dot[index]", a_dot=holder, index=copy_with_facts(part.slice, facts))
    target.ctx = gast.Store()
    if isinstance(node, gast.AugAssign):
        return [gast.AugAssign(target, node.op, new)]
    return [gast.Assign([target], new, None)]
