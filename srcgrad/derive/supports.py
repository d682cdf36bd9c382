"""Where a tangent is zero by structure: forward mode's masks, docs/decisions/masks.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast

from srcgrad.derive.doubts import meets_doubt
from srcgrad.derive.instantiate import Lines
from srcgrad.derive.masks import Mask, Masking
from srcgrad.facts import Facts, Operation
from srcgrad.trees import Block, Node, expression, loads, name, statements, stores, written


def sought(function: Node, facts: Facts) -> dict[str, None]:
    """Names whose tangents go on to where they meet a factor that may not be finite."""
    found: dict[str, None] = {}
    if not facts.doubts or facts.complex:
        return found
    order = [node for node in statements(function.body) if isinstance(node, gast.Assign) and not written(node)]
    meets = {node: meets_doubt(node, facts) for node in order}
    known = -1
    while known != len(found):
        known = len(found)
        for node in reversed(order):
            if meets[node] or any(one in found for one in stores(node)):
                found.update(dict.fromkeys(one for one in loads(node) if one in facts.active))
    return found


def _is_kept(one: str, facts: Facts) -> bool:
    """Whether a name is bound once, to what nothing changes."""
    changing = (facts.rebound, facts.mutable, facts.viewed, facts.views, facts.containers)
    return one in facts.definition and not any(one in table for table in changing)


def _note(node: Node, mask: Mask | None, facts: Facts) -> None:
    bound = stores(node)
    if mask is not None and len(bound) == 1 and bound[0] in facts.sought and _is_kept(bound[0], facts):
        facts.supports[bound[0]] = mask


def mask_terms(node: Node, made: list[tuple[Lines, str, str]], facts: Facts) -> None:
    """Mask the factors of the lines of a statement's tangent, and note where that may be nonzero.

    Each part has its operand, and the name of that one's tangent.
    """
    carried: dict[str, Mask | None] = {held: facts.supports.get(operand) for _, operand, held in made}
    wanted = stores(node)[0] in facts.sought
    tests: list[tuple[Node, Mask]] = []
    if not wanted and not any(carried.values()):
        return
    found: list[Mask | None] = []
    for lines, _, _ in made:
        masking = Masking(facts, node, dict(carried), ahead=True)
        lines.shared, terms = masking.lines(lines.shared, [line.value for line in lines.lines])
        lines.lines = [replace(line, value=value) for line, (value, _) in zip(lines.lines, terms, strict=True)]
        found += [mask for _, mask in terms]
        tests += masking.tests
    if wanted and found and all(mask is not None for mask in found):
        masking = Masking(facts, node, {}, ahead=True)
        mask = masking.either(found)
        _note(node, mask and replace(mask, tests=tuple(tests)), facts)
        made[-1][0].shared += masking.made


def moved(
    node: Node,
    operation: Operation,
    active: list[str],
    again: Callable[[dict[Node, Node]], Node],
    facts: Facts,
    shared: Block,
) -> None:
    """Note where the tangent of a linear operation may be nonzero: where nan goes from what may be.

    `again` gives the operation with other operands.
    """
    operands = [operation.bound[parameter] for parameter in active]
    known = {one: facts.supports.get(getattr(one, "id", "")) for one in operands}
    if stores(node)[0] not in facts.sought:
        return
    masking = Masking(facts, node, {}, ahead=True)
    numpy = facts.library("np")
    swap: dict[Node, Node] = {}
    for one, mask in known.items():
        if mask is None:
            return
        true = masking.true(masking.fitting(mask, name(one.id), facts.value_spec.get(one.id)))
        swap[one] = expression(f"{numpy}.where(m, {numpy}.nan, 0.0)", m=true)
    reached = masking.bound(expression(f"{numpy}.isnan(e)", e=again(swap)), True)
    _note(node, reached if node not in facts.spec else replace(reached, spec=facts.spec[node]), facts)
    shared += masking.made
