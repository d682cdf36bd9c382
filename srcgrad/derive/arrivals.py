"""Where the adjoints may be nonzero to which a statement contributes: masks on their way to its operands."""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.instantiate import Lines
from srcgrad.derive.masks import Mask, Masking
from srcgrad.facts import Operation, copied
from srcgrad.indices import as_value, without_axes
from srcgrad.trees import Block, Node, loads, part_written, stores


def mask_lines(node: Node, operation: Operation, made: Lines, derivatives: list[Node], adjoints: Adjoints) -> None:
    """Mask the factors of lines whose adjoints are zero by structure, and note where those of the operands are."""
    facts = adjoints.facts
    carried = {one: adjoints.masks.get(facts.adjoint_of.get(one, "")) for part in derivatives for one in loads(part)}
    operands = [operation.bound[line.parameter] for line in made.lines]
    wanted = [isinstance(operand, gast.Name) and operand.id in facts.masked for operand in operands]
    if not any(one in facts.masked for operand in operands for one in loads(operand)) and not any(carried.values()):
        return
    masking = Masking(facts, node, carried)
    made.shared, found = masking.lines(made.shared, [line.value for line in made.lines])
    made.lines = [replace(line, value=value) for line, (value, _) in zip(made.lines, found, strict=True)]
    for operand, wants, (_, mask) in zip(operands, wanted, found, strict=True):
        if not isinstance(operand, gast.Name):
            _mask_of_items(operand, mask, masking, adjoints)
        if wants and mask is not None and operation.rule is not None and operation.rule.kind == "elementwise":
            mask = masking.fitting(mask, copied(operand, facts), facts.spec.get(operand))
        if wants:
            adjoints.arrive(operand.id, mask)


def _mask_of_items(display: Node, mask: Mask | None, masking: Masking, adjoints: Adjoints) -> None:
    """The masks of the items of a list, one part each of the list of masks that is carried."""
    for place, item in enumerate(getattr(display, "elts", ())):
        if isinstance(item, gast.Name) and mask is not None and item.id in adjoints.facts.masked:
            adjoints.arrive(item.id, masking.item(mask, place, item))
        else:
            for one in loads(item):
                adjoints.arrive(one, None)


def mask_without_axes(node: Node, source: Node, index: Node, adjoints: Adjoints, shared: Block) -> None:
    """The mask of x from that of `x[:, None]`."""
    mask, facts = adjoints.masks.get(stores(node)[0]), adjoints.facts
    if mask is None or source.id not in facts.masked:
        return
    masking = Masking(facts, node, {})
    part = gast.Subscript(masking.whole(mask), without_axes(copied(index, facts)), gast.Load())
    adjoints.arrive(source.id, masking.bound(part))
    shared += masking.made


def mask_before(primal: str, adjoints: Adjoints) -> list[Mask | None]:
    """The mask of an adjoint to which something is about to be added."""
    return [adjoints.masks.get(primal)] if adjoints.exists(primal) else []


def united(primal: str, before: list[Mask | None], node: Node, adjoints: Adjoints) -> Block:
    """Note where an adjoint may be nonzero after a contribution, with the statements that it takes."""
    arrived = adjoints.arriving.pop(primal, None)
    if arrived is None or primal not in adjoints.facts.masked:
        return []
    masking = Masking(adjoints.facts, node, {})
    mask = masking.either([*before, *arrived])
    if mask is not None:
        adjoints.masks[primal] = mask
    return masking.made


def mask_of_element(operand: Node, index: Node, node: Node, mask: Mask | None, adjoints: Adjoints) -> Block:
    """`mask_at(x, index)`, what `x[index]` reads of x."""
    facts = adjoints.facts
    if operand.id not in facts.masked or operand.id in facts.containers:
        return []
    masking = Masking(facts, node, {})
    adjoints.arrive(operand.id, masking.read_at(operand, as_value(copied(index, facts)), mask))
    return masking.made


def mask_of_part(node: Node, value: Node, had: list[Mask | None], before: Mask | None, adjoints: Adjoints) -> Block:
    """The mask of e in `a[index] = e`: that of the part."""
    facts, part = adjoints.facts, part_written(node)
    if value.id not in facts.masked or before is None or not isinstance(part.value, gast.Name):
        return []
    masking = Masking(facts, node, {})
    index = as_value(copied(part.slice, facts))
    own = masking.of_part(before, copied(part.value, facts), index, value)
    mask = masking.either([*had, own])
    if mask is not None:
        adjoints.masks[value.id] = mask
    return masking.made


def cleared_mask(node: Node, array: str, before: Mask | None, adjoints: Adjoints) -> Block:
    """The mask of an array before a part of it is overwritten: `mask_without(m, a, index)`."""
    facts, part = adjoints.facts, part_written(node)
    adjoints.masks.pop(array, None)
    if array not in facts.masked or not isinstance(part.value, gast.Name):
        return []
    masking = Masking(facts, node, {})
    index = as_value(copied(part.slice, facts))
    adjoints.masks[array] = masking.without(before, copied(part.value, facts), index)
    return masking.made
