"""Where adjoints begin and are handed out, and whether one was added to at all.

The seed, displays, calls that give several: `x_bar, y_bar = g_back(z_bar)`. A branch that is not taken adds nothing:

    x_bar += 0.5 * r_bar / r    # 0 / 0 where no branch has read r

    if r_used:
        x_bar += 0.5 * r_bar / r
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import gast

from srcgrad import runtime
from srcgrad.analysis.dtypes import note_complex
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts, Spec, bar, copy_with_facts, function_called
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
from srcgrad.derive.arguments import called_once_more, is_called_again
from srcgrad.derive.masks import Mask, StatementMasks, is_container
from srcgrad.derive.regularity import meets_doubt

Pair = tuple[Node, Node]  # operand, its contribution


def pulled_back(
    node: Node, bound: list[str], adjoints: Adjoints, shared: Block, taken: list[Node], given: list[str]
) -> list[Pair]:
    """`a_bar, b_bar = g_back(y_bar)`: one closure per call of a differentiated function.

    Masks that it has `taken` stand behind the seeds, and those `given` behind the adjoints.
    """
    facts = adjoints.facts
    operands = facts.calls.pulled[node.value]
    seed = adjoints.of_value(node, bound[0])
    seeds = facts.calls.callee_seeds.get(node.value, ())
    if is_called_again(node.value, facts):
        call = called_once_more("adjoint_of", node.value, [seed], facts)
    elif node.value in facts.calls.recomputed:
        call = _repeat_call(node.value, seed, facts)
        seeds_of_masks = facts.module.making[facts.calls.recomputed[node.value]].calls.mask_seeds
        call.keywords += [gast.keyword(one, mask) for one, mask in zip(seeds_of_masks, taken, strict=True)]
    else:
        call = expression("back()", back=facts.calls.backs[node.value])
        call.args.append(gast.Starred(seed, gast.Load()) if len(seeds) > 1 else seed)
        call.args += taken
    if len(operands) == 1 and not given:
        return [(copy_with_facts(operands[0], facts), call)]
    return unpack_adjoints(call, operands, node, adjoints, shared, given)


def _repeat_call(call: Node, seed: Node, facts: Facts) -> Node:
    """`g_pull(a, b, y_bar=y_bar)`: the call once more, and its adjoints; several seeds stand behind the arguments."""
    again = copy_with_facts(call, facts)
    again.func = name(facts.calls.recomputed[call])
    spelled = facts.module.seeds(again.func.id)
    if len(spelled) == 1:
        again.keywords.append(gast.keyword(spelled[0], seed))
    elif again.keywords:
        parts = [expression(f"seed[{place}]", seed=copy_with_facts(seed, facts)) for place in range(len(spelled))]
        again.keywords += [gast.keyword(one, part) for one, part in zip(spelled, parts, strict=True)]
    else:
        again.args.append(gast.Starred(seed, gast.Load()))
    return again


def unpack_adjoints(
    call: Node,
    operands: Sequence[Node | None],
    node: Node,
    adjoints: Adjoints,
    shared: Block,
    behind: Iterable[str] = (),
) -> list[Pair]:
    """`a_bar, b_bar = call`: adjoints that begin here get their names at once; None in `operands` is not asked for.

    An adjoint whose elements will change goes by another name first: two of them may be one array.
    """
    facts = adjoints.facts
    names = [operand.id for operand in operands if operand is not None]
    targets: list[Node] = []
    pairs: list[Pair] = []
    direct: list[str] = []
    for operand in operands:
        if operand is None:
            targets.append(name(facts.unused_name, gast.Store()))
            continue
        once = names.count(operand.id) == 1 and operand.id not in stores(node)
        changes = operand.id in facts.activity.indexed and operand.id not in facts.kinds.containers
        if once and not changes and not adjoints.exists(operand.id):
            targets.append(name(adjoints.of(operand.id), gast.Store()))
            direct.append(operand.id)
        else:
            held = facts.names.new_temporary()
            targets.append(name(held, gast.Store()))
            pairs.append((copy_with_facts(operand, facts), name(held)))
    targets += [name(one, gast.Store()) for one in behind]
    for primal in direct:
        adjoints.state[primal] = PRESENT
        adjoints.masks.pop(primal, None)
    shared.append(gast.Assign([gast.Tuple(elts=targets, ctx=gast.Store())], call, None))
    return pairs


def sequence(display: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    """Adjoints of the items of a display, one per item of `value`."""
    if isinstance(value, gast.Tuple) and isinstance(display, gast.Tuple | gast.List):
        parts = zip(display.elts, value.elts, strict=True)
        return [pair for item, part in parts if is_active(item, facts) for pair in _of_part(item, part, facts, shared)]
    first = _first_part(display, value, facts)
    if first is not None:
        return [first]
    held = facts.names.new_temporary()
    shared.append(assign(held, value))
    note_complex(held, value, facts)
    return items(display, name(held), facts)


def _first_part(display: Node, value: Node, facts: Facts) -> Pair | None:
    """The first of several parts `split_like(g, (a, b), 1)`, if it is the only one wanted: `g[:, : a.shape[1]]`."""
    if (
        function_called(value, facts) is not runtime.split_like
        or not isinstance(display, gast.Tuple | gast.List)
        or not isinstance(display.elts[0], gast.Name)
    ):
        return None
    first, *others = display.elts
    axis = value.args[2].value if len(value.args) == 3 and isinstance(value.args[2], gast.Constant) else 0
    rank, whole = spec_of_tree(first, facts).ndim, spec_of_tree(value.args[0], facts).ndim
    literal = len(value.args) < 4 and not value.keywords and type(axis) is int
    if not literal or rank is None or rank != whole or not 0 <= axis < rank or first.id not in facts.activity.active:
        return None
    if any(is_active(item, facts) for item in others):
        return None
    part = f"g[{':, ' * axis}: item.shape[{axis}]]"
    return copy_with_facts(first, facts), expression(part, g=value.args[0], item=copy_with_facts(first, facts))


def _of_part(item: Node, value: Node, facts: Facts, shared: Block) -> list[Pair]:
    return (
        [(copy_with_facts(item, facts), value)] if isinstance(item, gast.Name) else sequence(item, value, facts, shared)
    )


def items(display: Node, value: Node, facts: Facts) -> list[Pair]:
    """The parts of a display, each with its part of the adjoint."""
    found: list[Pair] = []
    if isinstance(display, gast.Dict):
        keys = [copy_with_facts(key, facts) for key in display.keys if key is not None]
        parts = list(zip(keys, display.values, strict=True))
    else:
        parts = [(gast.Constant(value=k, kind=None), item) for k, item in enumerate(display.elts)]
    for key, item in parts:
        part = expression("value[key]", value=copy_with_facts(value, facts), key=key)
        if isinstance(item, gast.Name):
            if item.id in facts.activity.active:
                found.append((copy_with_facts(item, facts), part))
        elif isinstance(item, gast.Tuple | gast.List | gast.Dict):
            found += items(item, part, facts)
    return found


def is_active(argument: Node, facts: Facts) -> bool:
    """Whether an operand, or a part of it, carries a derivative."""
    if isinstance(argument, gast.Name):
        return argument.id in facts.activity.active
    parts = getattr(argument, "elts", None) or getattr(argument, "values", None) or []
    return isinstance(argument, gast.Tuple | gast.List | gast.Dict) and any(is_active(a, facts) for a in parts)


def seed(output: Node, adjoints: Adjoints, facts: Facts) -> Block:
    """The adjoint of the returned name is the seed; a tuple's is unpacked."""
    value = output.value.elts[0] if facts.request.auxiliary else output.value
    if isinstance(value, gast.Name) and _is_own(value.id, facts):
        adjoints.state[value.id] = PRESENT
        return _start(adjoints.of(value.id), output, facts)
    if _is_split(value, facts):
        facts.names.seeds = tuple(facts.names.fresh(bar(f"y{k}")) for k, _ in enumerate(value.elts, 1))
        split: Block = []
        for item, one in zip(value.elts, facts.names.seeds, strict=True):
            adjoints.contribute_whole(copy_with_facts(item, facts), name(one), split, output)
        return split
    given = facts.names.fresh(bar(facts.names.of_result()))
    made = _start(given, output, facts)
    if isinstance(value, gast.Name):
        if value.id in facts.activity.active:
            adjoints.contribute_whole(copy_with_facts(value, facts), name(given), made, output)
        return made
    for item, part in zip(value.elts, _parts(given, value.elts, made, output, adjoints), strict=True):
        if item.id in facts.activity.active:
            adjoints.contribute_whole(copy_with_facts(item, facts), part, made, output)
    return made


def seed_masks(output: Node, adjoints: Adjoints) -> None:
    """Masks of the seeds, as further seeds, where a pullback takes them."""
    facts, value = adjoints.facts, output.value
    several = isinstance(value, gast.Tuple)
    parts = value.elts if several else [value]
    held = [part.id for part in parts if isinstance(part, gast.Name) and part.id in facts.activity.active]
    apart = [one for one in dict.fromkeys(held) if not (several and is_container(one, facts))]
    if len(apart) < len(parts) or len(facts.names.seeds) != len(parts) or facts.values.complex:
        return
    for place in facts.request.handed.takes_masks:
        mask, one = facts.names.fresh(f"y{place + 1}_mask" if several else "y_mask"), apart[place]
        spec = Spec(ndim=None) if several else facts.values.value_spec.get(one, Spec(ndim=None))
        adjoints.masks[one] = Mask(mask, spec, listed=is_container(one, facts))
        facts.calls.mask_seeds += (mask,)
    facts.names.seeds += facts.calls.mask_seeds


def _is_split(value: Node, facts: Facts) -> bool:
    """Whether a pullback takes the adjoints of a tuple's items one by one: if only texts of ours call it."""
    if (
        not facts.request.handed.apart
        or facts.request.step is not None
        or facts.module.inline
        or facts.module.leading.axis
    ):
        return False
    given = facts.source.tree.args
    if facts.request.mode == "pull" and (given.defaults or given.kwonlyargs or given.vararg):
        return False  # seeds stand behind the arguments
    if facts.request.mode not in ("vjp", "pull") or not isinstance(value, gast.Tuple) or len(value.elts) < 2:
        return False
    return all(item.id in facts.activity.active for item in value.elts)


def _parts(seed: str, items: list[Node], made: Block, output: Node, adjoints: Adjoints) -> list[Node]:
    """The adjoints of a tuple's items: unpacked, if all are wanted, else `y_bar[k]`."""
    facts = adjoints.facts
    if len(items) < 2 or not all(item.id in facts.activity.active for item in items):
        return [expression(f"{seed}[{position}]") for position in range(len(items))]
    parts = [facts.names.fresh("t1") for _ in items]
    facts.names.temporaries |= dict.fromkeys(parts, "t")
    held = [adjoints.of(part) for part in parts]
    taken = gast.Tuple([name(one, gast.Store()) for one in held], gast.Store())
    made.append(at(gast.Assign([taken], name(seed), None), output))
    return [name(one) for one in held]


def _start(seed: str, output: Node, facts: Facts) -> Block:
    """The seed is a parameter, or a first statement of the backward half binds it."""
    if facts.request.seed in ("parameter", "given"):
        facts.names.seeds = (seed,)
        return []
    if facts.request.seed == "one":
        made = assign(seed, literal_node(1.0), output)
        facts.values.spec[made] = Spec()
        return [made]
    held = getattr(output.value, "id", "")
    if not isinstance(output.value, gast.Name) or "dict" in (facts.kinds.containers.get(held), facts.list_kind(held)):
        raise facts.refuse(
            output, "E5007", "the function returns several values", "return one array, or use srcgrad.vjp"
        )
    ones = expression(f"{facts.library('np')}.ones_like(y)", y=copy_with_facts(output.value, facts))
    made = assign(seed, ones, output)
    facts.values.spec[made] = facts.values.spec.get(output.value, Spec(frozenset([seed]), frozenset([seed]), None))
    return [made]


def _is_own(returned: str, facts: Facts) -> bool:
    """Whether the seed may go by the name of the returned value's adjoint, whose elements must not change."""
    if returned in facts.memory.mutable or returned in facts.activity.indexed or facts.list_kind(returned):
        return False
    if facts.names.temporaries.get(returned, "y") != "y":
        return False
    return returned in facts.activity.active and returned not in facts.request.wrt and returned not in facts.names.base


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
        own = [str(one) for one, side in zip(found, flags, strict=True) if _is_of_one_side(one, side, before)]
        held = ended[primal] = own[0] if own else _flag_name(primal, node, adjoints)
        known = [value for value in (False, before.get(primal)) if value in found]
        begun += [_bind(held, known[0], node)] if known else []
        for side, value in zip(sides, found, strict=True):
            if value != held and (not known or value != known[0]):
                side.append(_bind(held, value, node))
                adjoints.flag_sides[held] = side if known[:1] == [False] and value is True else []
    adjoints.flags = ended
    return begun


def _is_of_one_side(value: bool | str, side: Flags, before: Flags) -> bool:
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
