"""Whether an adjoint was added to at all: a branch that is not taken contributes nothing.

x_bar += 0.5 * r_bar / r    # 0 / 0 where no branch has read r
if r_used:
    x_bar += 0.5 * r_bar / r
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from srcgrad.core.facts import Spec
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    expression,
    literal_node,
    loads,
    name,
    statement,
    statements,
    stores,
    written_names,
)
from srcgrad.derive.adjoints import ABSENT, EITHER, NUMBER, PRESENT, ZERO, Adjoints, State
from srcgrad.derive.masks import Mask, StatementMasks
from srcgrad.derive.regularity import meets_doubt

Flags = dict[str, str]  # primal -> the name of a boolean: where it is false, the adjoint is zero by structure


def is_guarded(node: Node, adjoints: Adjoints) -> bool:
    """Whether a statement whose adjoint has a flag goes under it: it may multiply by what is not finite."""
    return meets_doubt(node, adjoints.facts) or any(one in adjoints.guarded for one in stores(node))


def carry_flags(flag: str, before: State, flags: Flags, node: Node, adjoints: Adjoints) -> Block:
    """Note the flags of what a statement has contributed to, whose own adjoint has one; statements that unite two."""
    made: Block = []
    for primal in _names_with_flags(adjoints):
        if before.get(primal, ABSENT) not in (PRESENT, EITHER):
            adjoints.flags[primal] = flag
        elif primal in flags and primal not in adjoints.flags:
            adjoints.flags[primal] = flags[primal]
            if flags[primal] != flag:
                adjoints.flags[primal] = _flag_name(primal, node, adjoints)
                made.append(at(statement(f"{adjoints.flags[primal]} = {flags[primal]} | {flag}"), node))
    return made


def merge_flags(
    sides: list[Block], states: list[State], flags: list[Flags], before: Flags, node: Node, adjoints: Adjoints
) -> Block:
    """Note the flags behind the sides of a branch, which bind them; what they are before it."""
    begun: Block = []
    ended: Flags = {}
    for primal in _names_with_flags(adjoints):
        found = [_value(primal, *each) for each in zip(states, flags, strict=True)]
        if found[0] == found[1]:
            ended.update({primal: found[0]} if isinstance(found[0], str) else {})
            continue
        own = [str(one) for one, side in zip(found, flags, strict=True) if _is_own(one, side, before)]
        held = ended[primal] = own[0] if own else _flag_name(primal, node, adjoints)
        known = [value for value in (False, before.get(primal)) if value in found]
        begun += [_bind(held, known[0], node)] if known else []
        for side, value in zip(sides, found, strict=True):
            if value != held and (not known or value != known[0]):
                side.append(_bind(held, value, node))
                adjoints.flag_sides[held] = side if known[:1] == [False] and value is True else []
    adjoints.flags = ended
    return begun


def _is_own(value: bool | str, side: Flags, before: Flags) -> bool:
    """Whether a flag was made in one side of a branch, for one adjoint alone."""
    return isinstance(value, str) and value not in before.values() and list(side.values()).count(value) == 1


def before_loop(fresh: list[str], flags: Flags, node: Node, adjoints: Adjoints) -> tuple[Block, bool]:
    """Flags of adjoints to which some trips of a loop add, as they are before it, and whether any has changed.

    What each trip adds to has none: it is taken to be added to.
    """
    made: Block = []
    lost = [one for one, held in flags.items() if _value(one, adjoints.state, adjoints.flags) is True]
    for primal in lost:
        del flags[primal]
    for primal in _names_with_flags(adjoints):
        own = flags.get(primal, "")
        value = _value(primal, adjoints.state, adjoints.flags)
        passed = own and own != _flag_name(primal, node, adjoints) and value != own
        if passed or (primal in fresh and isinstance(value, str)):
            flags[primal] = _flag_name(primal, node, adjoints)
            made.append(_bind(flags[primal], own or False, node))
    return made, bool(made or lost)


def after_trip(flags: Flags, node: Node, adjoints: Adjoints) -> Block:
    """What a trip makes of the flags that it was handed."""
    made = {held: _value(one, adjoints.state, adjoints.flags) for one, held in flags.items()}
    changed = [held for held, value in made.items() if value != held]
    values = {held: True if made[held] in changed else made[held] for held in changed}
    return [_bind(held, value, node) for held, value in values.items()]


def move_into_branch(block: Block, adjoints: Adjoints) -> Block:
    """What stands under a flag right behind the one side of a branch that sets it stands in that side.

    if r > 0.0:                       if r > 0.0:
        r_bar = -s_bar / r**2             r_bar = -s_bar / r**2
        r_used = True                     x_bar += 0.5 * r_bar / r
    if r_used:
        x_bar += 0.5 * r_bar / r
    """
    made: Block = []
    for node in block:
        one_sided = isinstance(node, gast.If) and not node.orelse
        flag = getattr(node.test, "id", "") if one_sided else ""
        place = len(made) - 1
        while flag and place >= 0 and isinstance(made[place], gast.Assign):
            place -= 1
        side = _side(made[place], flag, adjoints) if flag and place >= 0 else None
        between = made[place + 1 :]
        if side is None or not _moves(between, made[place]):
            made.append(node)
            continue
        made[place:] = [*between, made[place]]
        side += node.body
    return made


def _side(held: Node, flag: str, adjoints: Adjoints) -> Block | None:
    """The part of a branch that runs if a flag is set behind it, and in no other case."""
    if getattr(getattr(held, "test", None), "id", "") == flag and not held.orelse:
        side: Block = held.body
        return None if any(flag in stores(each) for each in statements(side)) else side
    sides = [getattr(held, one, None) for one in BLOCKS]
    return next((one for one in sides if one and one is adjoints.flag_sides.get(flag)), None)


def _moves(block: Block, held: Node) -> bool:
    """Whether statements do the same before a branch as behind it."""
    inner = statements([held])
    bound = {one for each in inner for one in (*stores(each), *written_names(each))}
    touched = bound.union(*(loads(each) for each in inner))
    return all(
        not written_names(each) and not touched.intersection(stores(each)) and not bound.intersection(loads(each))
        for each in block
    )


def guard_by_flag(flag: str, block: Block, node: Node, adjoints: Adjoints, then: Sequence[Node] = ()) -> Block:
    """`if flag: ...`; masks are made before it, since they hold in either case, and so is what they read `then`."""
    needed = {held for mask in adjoints.masks.values() for held in mask.names}
    needed.update(read for each in then if isinstance(each, gast.Assign) for read in loads(each))
    before: Block = []
    for each in reversed(block):
        if isinstance(each, gast.Assign) and not written_names(each) and needed.intersection(stores(each)):
            needed.update(loads(each))
            before.append(each)
    inner = [each for each in block if each not in before]
    return [*reversed(before), *([at(gast.If(name(flag), inner, []), node)] if inner else [])]


def pushed_flag(node: Node, stack: str, bound: str, adjoints: Adjoints) -> Block:
    """`r_flags.append(r_used)`, beside the adjoint of what was popped."""
    facts, value = adjoints.facts, _value(bound, adjoints.state, adjoints.flags)
    adjoints.flags.pop(bound, None)
    if stack not in adjoints.flag_stacks:
        if (
            value is True
            or stack not in facts.idioms.masked
            or facts.tape.pops.get(stack) != 1
            or facts.list_kind(stack)
        ):
            return []
        adjoints.flag_stacks[stack] = facts.names.fresh(f"{stack}_used")
    held = name(value) if isinstance(value, str) else literal_node(value)
    return [at(statement(f"{adjoints.flag_stacks[stack]}.append(flag)", flag=held), node)]


def popped_flag(node: Node, stack: str, before: State, flags: Flags, adjoints: Adjoints) -> Block:
    """`r_used = r_flags.pop()`, beside the adjoint of what was pushed."""
    if stack not in adjoints.flag_stacks:
        return []
    flag = _flag_name(stack, node, adjoints)
    popped = at(statement(f"{flag} = {adjoints.flag_stacks[stack]}.pop()"), node)
    return [popped, *carry_flags(flag, before, flags, node, adjoints)]


def met_masks(
    sides: list[Block], states: list[State], masks: list[dict[str, Mask]], node: Node, adjoints: Adjoints
) -> None:
    """Note the masks behind the two sides of a branch, each of which binds those that differ."""
    facts, found = adjoints.facts, {}
    for primal in dict.fromkeys(one for side in masks for one in side):
        given = [side.get(primal) for side in masks]
        zero = [state.get(primal, ABSENT) in (ABSENT, ZERO, NUMBER) for state in states]
        first = next(mask for mask in given if mask is not None)
        if given[0] == given[1]:
            found[primal] = first
        elif facts.idioms.masked.get(primal) and not any(m is not None and (m.grown or m.of_items) for m in given):
            if all(mask is not None or none for mask, none in zip(given, zero, strict=True)):
                found[primal] = _mask_after_branch(primal, given, sides, node, adjoints)
    adjoints.masks = found


def _mask_after_branch(
    primal: str, given: list[Mask | None], sides: list[Block], node: Node, adjoints: Adjoints
) -> Mask:
    facts, numpy = adjoints.facts, adjoints.facts.library("np")
    spec = facts.values.value_spec.get(primal, Spec(ndim=None))
    held = facts.names.new_temporary()
    for side, mask in zip(sides, given, strict=True):
        masking = StatementMasks(facts, node, {})
        if mask is not None:
            tree = masking.true_where_taken(masking.fit_mask(mask, name(primal), spec))
        elif spec.scalar or adjoints.may_be_unbound(primal):
            tree = literal_node(False)
        else:
            tree = expression(f"{numpy}.zeros({numpy}.shape({primal}), dtype={numpy}.bool_)")
        side += [*masking.made, at(assign(held, tree), node)]
    return Mask(held, spec, True)


def _names_with_flags(adjoints: Adjoints) -> list[str]:
    """Names whose adjoints meet a factor that may not be finite, arguments apart."""
    facts, masks = adjoints.facts, adjoints.masks
    wanted = [one for one in adjoints.state if one in facts.idioms.masked or one in adjoints.guarded]
    return [one for one in wanted if one not in facts.kinds.containers and not (one in masks and masks[one].grown)]


def _value(primal: str, state: State, flags: Flags) -> bool | str:
    """Whether an adjoint may be nonzero, as far as that is known here, or the name of the flag that says it."""
    return flags.get(primal, True) if state.get(primal, ABSENT) in (PRESENT, EITHER) else False


def _flag_name(primal: str, node: Node, adjoints: Adjoints) -> str:
    """The name of the flag that a statement makes for an adjoint, whenever it is looked at."""
    if (node, primal) not in adjoints.flag_names:
        adjoints.flag_names[node, primal] = adjoints.facts.names.fresh(f"{primal}_used")
    return adjoints.flag_names[node, primal]


def _bind(held: str, value: bool | str, node: Node) -> Node:
    return assign(held, name(value) if isinstance(value, str) else literal_node(value), node)
