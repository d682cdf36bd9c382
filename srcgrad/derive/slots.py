"""Masks of arrays of which a part is read or overwritten, and of the items of a list."""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad.derive.masks import Mask, Masking
from srcgrad.facts import copied
from srcgrad.trees import Node, constant, expression, name


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
