"""Masks of arrays of which a part is read or overwritten, and of the items of a list."""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.masks import Mask, Masking
from srcgrad.facts import Facts, copied
from srcgrad.indices import as_value
from srcgrad.trees import Block, Node, at, constant, expression, name, part_written, root, statement


def read_at(x: Node, index: Node, mask: Mask | None, masking: Masking) -> Mask:
    """The mask of x from that of `x[index]`."""
    facts = masking.facts
    made = expression(f"{facts.library('mask_at')}(x, index)", x=copied(x, facts), index=index)
    made.args += [] if mask is None else [masking.true(mask)]
    bound, spec = masking.bound(made, True), facts.spec.get(x)
    return bound if spec is None else replace(bound, spec=spec)


def item_mask(masks: Mask, place: int, x: Node, masking: Masking) -> Mask:
    """One of several masks, in the shape of what it belongs to."""
    part = masking.bound(gast.Subscript(name(masks.held), constant(place), gast.Load()))
    return masking.fitting(part, copied(x, masking.facts), None)


def without(mask: Mask | None, x: Node, index: Node, masking: Masking) -> Mask:
    """The mask of x before `x[index]` was overwritten."""
    facts = masking.facts
    given = constant(True) if mask is None else masking.true(mask)
    made = expression(f"{facts.library('mask_without')}(m, x, index)", m=given, x=x, index=index)
    bound, spec = masking.bound(made, True), facts.value_spec.get(x.id)
    return bound if spec is None else replace(bound, spec=spec)


def has_mask(array: str, facts: Facts) -> bool:
    """Whether the adjoint of an array wants a mask of its elements: it is made as a whole, or in a text of ours."""
    return facts.masked.get(array, False) or (facts.generated and array in facts.masked)


def mask_of_part(node: Node, value: Node, had: list[Mask | None], before: Mask | None, adjoints: Adjoints) -> Block:
    """The mask of e in `a[index] = e`: that of the part."""
    facts, part = adjoints.facts, part_written(node)
    if value.id not in facts.masked or before is None or before.grown or not isinstance(part.value, gast.Name):
        return []
    masking = Masking(facts, node, {})
    parts = {"m": masking.true(before), "x": copied(part.value, facts), "index": copied(part.slice, facts)}
    own = masking.bound(expression(f"{facts.library('mask_to')}(m, x)[index]", **parts), True)
    own = masking.fitting(own, copied(value, facts), facts.spec.get(value))
    mask = masking.either([*had, own])
    if mask is not None:
        adjoints.masks[value.id] = mask
    return masking.made


def cleared_mask(node: Node, array: str, before: Mask | None, adjoints: Adjoints) -> Block:
    """The mask of an array before a part of it is overwritten: `mask_without(m, a, index)`."""
    facts, part = adjoints.facts, part_written(node)
    adjoints.masks.pop(array, None)
    if not has_mask(array, facts):
        return []
    if not isinstance(part.value, gast.Name):
        return _cleared_view(node, array, before, adjoints)
    if before is not None and before.grown:
        adjoints.masks[array] = before
        return [at(statement("m[index] = False", m=name(before.held), index=copied(part.slice, facts)), node)]
    masking = Masking(facts, node, {})
    index = as_value(copied(part.slice, facts))
    adjoints.masks[array] = without(before, copied(part.value, facts), index, masking)
    return masking.made


def _cleared_view(node: Node, array: str, before: Mask | None, adjoints: Adjoints) -> Block:
    """The same where a part of a view is overwritten: `m[1:][0] = False`, for `y[1:][0] = e`."""
    facts, part = adjoints.facts, copied(part_written(node), adjoints.facts)
    held = root(part)
    if held is None or held.id != array or (before is not None and before.grown):
        return []
    masking = Masking(facts, node, {})
    given = constant(True) if before is None else masking.true(before)
    text = f"{facts.library('np')}.array({facts.library('mask_to')}(m, {array}))"
    mask = masking.bound(expression(text, m=given), True)
    facts.elements[mask.held] = None
    adjoints.masks[array] = replace(mask, spec=facts.value_spec.get(array, mask.spec))
    held.id = mask.held
    return [*masking.made, at(gast.Assign([part], constant(False), None), node)]
