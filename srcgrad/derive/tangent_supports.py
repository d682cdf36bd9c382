"""Where a tangent is zero by structure: forward mode's masks, docs/decisions/masks.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast

from srcgrad.core.facts import Facts, Operation, Spec, copy_with_facts
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    expression,
    loads,
    name,
    statements,
    stores,
    written_names,
)
from srcgrad.core.visitor import rebuild
from srcgrad.derive.instantiate_rules import Lines
from srcgrad.derive.masks import Mask, StatementMasks
from srcgrad.derive.regularity import meets_doubt
from srcgrad.derive.structural_zeros import NONE, zeros


def tangents_to_follow(
    function: Node, facts: Facts, meets: Callable[[Node, Facts], bool] = meets_doubt
) -> dict[str, None]:
    """Names whose tangents go on to where they meet a factor that may not be finite."""
    found: dict[str, None] = {}
    if not facts.doubts or facts.complex:
        return found
    order = [node for node in statements(function.body) if isinstance(node, gast.Assign) and not written_names(node)]
    doubtful = {node: meets(node, facts) for node in order}
    known = -1
    while known != len(found):
        known = len(found)
        for node in reversed(order):
            if doubtful[node] or any(one in found for one in stores(node)):
                found.update(dict.fromkeys(one for one in loads(node) if one in facts.active))
    return found


def supports(function: Node, facts: Facts) -> None:
    """Note whose tangents have masks, and whose have a support that is changed as they are."""
    facts.sought = tangents_to_follow(function, facts)
    if not facts.doubts or facts.complex:
        return
    wanted, facts.zeroed, read = zeros(function, facts)
    facts.sought.update(wanted)
    rows = [node.iter for node in statements(function.body) if isinstance(node, gast.For) and node in read]
    walked = [getattr(each, "id", "") for each in rows]  # `for row in m`: the support goes along
    for one in wanted:
        if one in walked or not (_is_kept(one, facts) and _has_mask(facts.definition[one], read, facts)):
            held = facts.names.fresh(f"t{len(facts.temporaries) + 1}" if one in facts.temporaries else f"{one}_support")
            facts.supported[one] = held
            if one in facts.temporaries:
                facts.temporaries[held] = "t"


def _has_mask(node: Node, read: dict[Node, dict[str, None]], facts: Facts) -> bool:
    """Whether the mask of what a statement binds is made of those of its operands."""
    operation = facts.operation.get(getattr(node, "value", None))
    rule = None if operation is None else operation.rule
    if operation is None or rule is None or rule.kind not in ("elementwise", "linear"):
        return False
    trees = [a for a in operation.bound.values() if isinstance(a, gast.AST)]
    given = [a for a in trees if any(one in facts.active for one in loads(a))]
    return rule.kind == "elementwise" or all(getattr(a, "id", "") in read.get(node, ()) for a in given)


def _mask_of(one: str, masking: StatementMasks) -> Mask | None:
    """The mask of a tangent, which its support gives where it has one."""
    facts = masking.facts
    if one not in facts.supported:
        return facts.supports.get(one)
    numpy = facts.library("np")
    mask = masking.bound(expression(f"{numpy}.isnan(s)", s=name(facts.supported[one])), True)
    spec = facts.value_spec.get(one)
    return mask if spec is None else replace(mask, spec=spec)


def full_support(one: str, spec: Spec | None, facts: Facts, new: bool = False) -> Node:
    """The support of a tangent that may be nonzero everywhere."""
    numpy = facts.library("np")
    if spec is not None and spec.scalar:
        return expression(f"{numpy}.nan")
    if one in facts.containers:
        return expression(f"{numpy}.full({numpy}.shape(x), {numpy}.nan)", x=one)
    made = expression(f"{numpy}.nan * x", x=one)
    if new:
        facts.results[made.right] = None
    return made


def _nans(true: Node, facts: Facts) -> Node:
    """nan where a mask is true; compiled, that of a number is a number."""
    numpy = facts.library("np")
    if facts.module is not None and facts.module.target.typed:
        return expression(f"{facts.library('if_larger')}({numpy}.nan, m, 0.5)", m=true)
    return expression(f"{numpy}.where(m, {numpy}.nan, 0.0)", m=true)


def support_beside(node: Node, facts: Facts, again: Callable[[Callable[[str, Facts], str]], Block]) -> Block:
    """What a statement makes of supports: what it makes of tangents, given nan wherever those may be nonzero."""
    bound = [one for one in stores(node) if one in facts.supported]
    if not bound:
        return []
    display = isinstance(getattr(node, "value", None), gast.Tuple | gast.List | gast.Dict)
    if not written_names(node) and isinstance(node, gast.Assign) and not display and not facts.zeroed.get(node, NONE):
        return [
            assign(facts.supported[one], full_support(one, facts.value_spec.get(one), facts, True)) for one in bound
        ]
    operation = facts.operation.get(getattr(node, "value", None))
    rule = None if operation is None or written_names(node) else operation.rule
    if rule is not None and rule.kind == "elementwise":
        masking, mask = StatementMasks(facts, node, {}), facts.supports.pop(bound[0], None)
        value = (
            full_support(bound[0], facts.spec.get(node), facts, True)
            if mask is None
            else _nans(masking.whole(mask), facts)
        )
        return [*masking.made, assign(facts.supported[bound[0]], value)]
    before: Block = []

    def support_of_name(one: str, facts: Facts) -> str:
        if one in facts.supported:
            return facts.supported[one]
        masking = StatementMasks(facts, node, {})
        mask, spec = facts.supports.get(one), facts.value_spec.get(one)
        value = full_support(one, spec, facts)
        if mask is not None:
            value = _nans(masking.true_where_taken(masking.fit_mask(mask, name(one), spec)), facts)
        made = masking.bound(value).held
        before.extend(masking.made)
        return made

    made = again(support_of_name)
    return [*before, *made]


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
    if not made:
        return
    given = StatementMasks(facts, node, {})
    carried = {held: _mask_of(operand, given) for _, operand, held in made}
    made[0][0].shared[:0] = given.made
    wanted = any(one in facts.sought for one in stores(node)[:1])
    tests: list[tuple[Node, Mask]] = []
    if not wanted and not any(carried.values()):
        return
    found: list[Mask | None] = []
    for lines, _, _ in made:
        masking = StatementMasks(facts, node, dict(carried), ahead=True)
        lines.shared, terms = masking.lines(lines.shared, [line.value for line in lines.lines])
        lines.lines = [replace(line, value=value) for line, (value, _) in zip(lines.lines, terms, strict=True)]
        found += [mask for _, mask in terms]
        tests += masking.tests
    if wanted and found and all(mask is not None for mask in found):
        masking = StatementMasks(facts, node, {}, ahead=True)
        mask = masking.union_of_masks(found)
        if stores(node)[0] in facts.supported and mask is not None:
            facts.supports[stores(node)[0]] = mask
        else:
            _note(node, mask and replace(mask, tests=tuple(tests)), facts)
        made[-1][0].shared += masking.made


def move_support(
    node: Node,
    operation: Operation,
    active: list[str],
    facts: Facts,
    shared: Block,
) -> None:
    """Note where the tangent of a linear operation may be nonzero: where nan goes from what may be."""
    if stores(node)[0] not in facts.sought or stores(node)[0] in facts.supported:
        return
    masking = StatementMasks(facts, node, {}, ahead=True)
    numpy = facts.library("np")
    swap: dict[Node, Node] = {}
    for one in (operation.bound[parameter] for parameter in active):
        held = getattr(one, "id", "")
        mask = facts.supports.get(held)
        if held in facts.supported:
            swap[one] = name(facts.supported[held])
        elif mask is None:
            return
        else:
            true = masking.true_where_taken(masking.fit_mask(mask, name(held), facts.value_spec.get(held)))
            swap[one] = expression(f"{numpy}.where(m, {numpy}.nan, 0.0)", m=true)
    reached = masking.bound(expression(f"{numpy}.isnan(e)", e=exchange_parts(node.value, swap, facts)), True)
    _note(node, reached if node not in facts.spec else replace(reached, spec=facts.spec[node]), facts)
    shared += masking.made


def exchange_parts(value: Node, swap: dict[Node, Node], facts: Facts) -> Node:
    """A copy of an expression with some of its parts exchanged."""
    return rebuild(
        value, lambda part: swap.get(part) or (copy_with_facts(part, facts) if type(part) is gast.Name else None)
    )
