"""Reverse mode: the statements in opposite order.

Reverse mode: the statements in opposite order, each replaced by the lines that its template gives.

Putting the two halves together: what the derivative returns, and zeros for inputs that do not matter.
"""

from __future__ import annotations

import gast

from srcgrad.analysis.argument_kinds import may_be_array
from srcgrad.analysis.containers import gives_tuple
from srcgrad.core.facts import UNKNOWN, Facts
from srcgrad.core.identity import record
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    called_name,
    copy,
    expression,
    find_nodes,
    header,
    is_write,
    literal_node,
    loads,
    name,
    parameters,
    part_written,
    root,
    statement,
    statements,
    stores,
    target,
    written_names,
)
from srcgrad.derive.adjoint_seeds import (
    after_trip,
    before_loop,
    carry_flags,
    guard_by_flag,
    is_guarded,
    merge_flags,
    met_masks,
    move_into_branch,
    seed,
    seed_masks,
)
from srcgrad.derive.adjoints import (
    ABSENT,
    EITHER,
    Adjoints,
    State,
    at_trip,
    changed_adjoints,
    differ,
    join_adjoint_kinds,
    names,
)
from srcgrad.derive.contributions import Parts, added_row, contributions
from srcgrad.derive.in_place_writes import stack_adjoints, swaps, undo, undo_swap
from srcgrad.derive.mask_arrivals import branch_masks, loop_masks, mask_heads, masks_given
from srcgrad.derive.needed_derivatives import bind_needed_masks
from srcgrad.derive.program import Program
from srcgrad.derive.recording import (
    Overwrites,
    Saves,
    backward_loop,
    loop_invariant_names,
    names_kept_in_arrays,
    overwrites,
    own_statements,
)


@record
class Backward:
    """What the backward half is made with."""

    facts: Facts
    adjoints: Adjoints
    lost: Overwrites
    saves: Saves


@record
class Halves:
    """A differentiated body before it is put together: forward half, backward half, adjoints."""

    forward: Block
    backward: Block
    adjoints: Adjoints
    output: Node


def reverse(function: Node, facts: Facts) -> Halves:
    """Derive the backward half; the forward half saves whatever is lost, needed or not (`dead_code` decides)."""
    bind_needed_masks(function, facts)
    lost = overwrites(function, facts)
    facts.calls.steps = own_statements(facts)
    adjoints = Adjoints(facts)
    for wanted in [*parameters(function), *facts.request.inner]:
        if wanted in facts.request.wrt:
            adjoints.of(wanted)
    output = function.body[-1]
    begun = seed(output, adjoints, facts)
    facts.calls.output = output
    if facts.request.handed.takes_masks:
        seed_masks(output, adjoints)
    saves = Saves(
        facts, lost, standing=names_kept_in_arrays(function, facts), steady=loop_invariant_names(function, facts)
    )
    work = Backward(facts, adjoints, lost, saves)
    stacks = stack_adjoints(function.body, adjoints)
    body = _block(function.body[:-1], (function, "body"), work)
    backward = stacks + mask_heads(adjoints) + begun + body
    forward = work.saves.forward(function.body[:-1])
    facts.tape.again.update({bound: bound for bound in work.saves.brought if bound in facts.names.temporaries})
    return Halves(forward, backward, adjoints, output)


def _block(block: Block, place: tuple[Node, str], work: Backward) -> Block:
    """The backward half of a block: values kept at its end come back first."""
    made = work.saves.restore_ends(place)
    for run in reversed(_runs(block, work.facts)):
        made += _run(run, work)
    return move_into_branch(made, work.adjoints)


def _runs(block: Block, facts: Facts) -> list[Block]:
    """Statements that stand for one statement of the user belong together."""
    runs: list[Block] = []
    previous: Node | None = None
    for node in block:
        user = facts.origin.user.get(node, node)
        if user is previous:
            runs[-1].append(node)
        else:
            runs.append([node])
        previous = user
    return runs


def _run(run: Block, work: Backward) -> Block:
    """A statement of the user backwards; its cheap values are computed again once their operands are back."""
    again = work.saves.again(run)
    made: Block = []
    for position in range(len(run) - 1, -1, -1):
        node = run[position]
        overwritten = {lost for other in run[:position] for lost in work.lost.before.get(other, [])}
        ready, again = _split_recomputed(again, overwritten)
        if isinstance(node, gast.If):
            made += ready + _branch(node, work)
        elif isinstance(node, gast.For | gast.While):
            made += _loop(node, work) + ready
        else:
            made += _assignment(node, work, ready, again)
    return made


def _split_recomputed(again: Block, overwritten: set[str]) -> tuple[Block, Block]:
    """Values that may be computed now, and values that read what a statement further up has overwritten."""
    ready: Block = []
    waiting: Block = []
    stale = set(overwritten)
    for clone in again:
        if stale & set(loads(clone)):
            stale |= set(stores(clone))
            waiting.append(clone)
        else:
            ready.append(clone)
    return ready, waiting


def _assignment(node: Node, work: Backward, again: Block, waiting: Block) -> Block:
    """Lines that read the new value, then the old values come back, then the other lines."""
    if written_names(node):
        lines = undo(node, work.adjoints)
        index = set(loads(part_written(node).slice)) if is_write(node) else set()
        first = [clone for clone in again if index & set(stores(clone))]
        rest = [clone for clone in again if clone not in first]
        return first + work.saves.restore_before(node) + rest + lines
    if not isinstance(node, gast.Assign):
        return again
    if swaps(node, work.facts):
        return undo_swap(node, work.adjoints) + work.saves.restore_before(node) + again
    made = _made_whole(node, work)
    bound = [one for one in stores(node) if work.adjoints.exists(one)]
    flag = work.adjoints.flags.get(bound[0], "") if len(bound) == 1 else ""
    state, flags, masks = dict(work.adjoints.state), dict(work.adjoints.flags), dict(work.adjoints.masks)
    guarded = bool(flag) and is_guarded(node, work.adjoints)
    zeros, parts, united = _parts(node, work, flag, guarded)
    restored = work.saves.restore_before(node)
    missing = {one for clone in waiting for one in stores(clone)}
    like_missing = any(not missing.isdisjoint(loads(made)) for made in zeros)
    if like_missing or (zeros and restored and parts.reads_result):  # what they are like may not be there yet
        work.adjoints.state, work.adjoints.flags, work.adjoints.masks = state, flags, masks
        zeros, parts, united = _parts(node, work, flag, False)
        guarded = False
    early: Block = []
    late = parts.all()
    if restored and parts.reads_result:
        computed = [one for clone in again for one in stores(clone)]
        early, late = parts.split(work.lost.before[node], computed)
    if guarded:
        late = guard_by_flag(flag, late, node, work.adjoints)
        early = guard_by_flag(flag, early, node, work.adjoints, then=late)
    return [*made, *early, *restored, *again, *zeros, *late, *united]


def _parts(node: Node, work: Backward, flag: str, guarded: bool) -> tuple[Block, Parts, Block]:
    """Zeros before the contributions of an assignment, these, and what unites flags behind them."""
    adjoints = work.adjoints
    before, flags, masks = dict(adjoints.state), adjoints.flags, adjoints.masks
    adjoints.flag = flag
    zeros: Block = []
    while True:
        adjoints.state, adjoints.flags, adjoints.masks = dict(before), dict(flags), dict(masks)
        parts = contributions(node, adjoints, work.facts)
        after = [one for one in adjoints.state if adjoints.exists(one)]
        fresh = [one for one in after if before.get(one, ABSENT) == ABSENT] if guarded else []
        if not fresh:
            break
        adjoints.state = before
        for primal in fresh:
            _initialise(primal, zeros, node, work)
            adjoints.guarded.update({} if primal in work.facts.request.wrt else {primal: None})
    adjoints.flag = ""
    gone = [one for one in stores(node) if not adjoints.exists(one)]
    adjoints.flags = {one: kept for one, kept in adjoints.flags.items() if one not in gone}
    own = {one: kind for one, kind in before.items() if one not in stores(node)}
    return zeros, parts, carry_flags(flag, own, flags, node, adjoints) if flag else []


def _made_whole(node: Node, work: Backward) -> Block:
    """The adjoint of what a statement binds has the shape of it."""
    state, specs = work.adjoints.state, work.facts.values.value_spec
    either = [bound for bound in stores(node) if state.get(bound) == EITHER]
    return [made for bound in either for made in work.adjoints.whole(bound, specs.get(bound), node)]


def _branch(node: Node, work: Backward) -> Block:
    """The same test in reverse if its operands are intact then, otherwise a named boolean."""
    state = work.adjoints.state
    zeros: Block = branch_masks(node, statements([*node.body, *node.orelse]), work.adjoints)
    before, masks, flags = dict(state), work.adjoints.masks, work.adjoints.flags
    test = work.saves.test(node)
    while True:
        sides, states, ended_masks, ended_flags = [], [], [], []
        work.adjoints.depth += 1
        for which in ("body", "orelse"):
            work.adjoints.state, work.adjoints.masks, work.adjoints.flags = dict(before), dict(masks), dict(flags)
            sides.append(_block(getattr(node, which), (node, which), work))
            states.append(work.adjoints.state)
            ended_masks.append(work.adjoints.masks)
            ended_flags.append(work.adjoints.flags)
        work.adjoints.depth -= 1
        fresh = [n for n in names(*states) if differ(n, states) and before.get(n, ABSENT) == ABSENT]
        fresh += [n for n in changed_adjoints(before, states) if not work.adjoints.may_be_unbound(n)]
        if not fresh:
            break
        work.adjoints.state = before
        for primal in fresh:
            _initialise(primal, zeros, node, work)
    merged: State = {}
    for primal in names(*states):
        if differ(primal, states):
            for side, ended in zip(sides, states, strict=True):
                if ended.get(primal, ABSENT) == ABSENT:
                    work.adjoints.state = ended
                    side.append(work.adjoints.zeros(primal, work.facts.values.value_spec.get(primal), node))
        merged[primal] = join_adjoint_kinds([ended.get(primal, ABSENT) for ended in states])
    work.adjoints.state = merged
    met_masks(sides, states, ended_masks, node, work.adjoints)
    zeros += merge_flags(sides, states, ended_flags, flags, node, work.adjoints)
    restored = work.saves.restore_before(node)
    if not sides[0] and not sides[1]:
        return zeros + restored
    return [*zeros, at(gast.If(test, *sides), node), *restored]


def _initialise(primal: str, into: Block, like: Node, work: Backward) -> None:
    """Zeros before a loop or branch."""
    spec = work.facts.values.value_spec.get(primal)
    indexed = primal in work.facts.activity.indexed and not work.adjoints.may_be_unbound(primal)
    made = (work.adjoints.element_zeros if indexed else work.adjoints.zeros)(primal, spec, like)
    into.append(made)


def _loop(node: Node, work: Backward) -> Block:
    """The same header backwards; adjoints that the body adds to exist, as zeros, before it."""
    before = dict(work.adjoints.state)
    zeros: Block = loop_masks(node, work.adjoints)
    masks, flags = work.adjoints.masks, dict(work.adjoints.flags)
    while True:
        work.adjoints.state, work.adjoints.masks, work.adjoints.flags = at_trip(before), dict(masks), dict(flags)
        body = _loop_body(node, work)
        after = work.adjoints.state
        steady = {one: mask for one, mask in masks.items() if work.adjoints.masks.get(one) == mask}
        if len(steady) < len(masks):
            masks = steady  # a trip adds to the others, or hands them on
            continue
        fresh = [n for n in after if after[n] != ABSENT and before.get(n, ABSENT) == ABSENT]
        numbers = changed_adjoints(before, [after])
        begun, again = before_loop(fresh, flags, node, work.adjoints)
        if not fresh and not numbers and not again:
            break
        zeros += begun
        work.adjoints.state, work.adjoints.masks = before, masks
        for primal in numbers:
            before[primal] = EITHER
        for primal in [*fresh, *(n for n in numbers if not work.adjoints.may_be_unbound(n))]:
            _initialise(primal, zeros, node, work)
    body += after_trip(flags, node, work.adjoints)
    behind: Block = []
    for primal, kind in before.items():
        if kind != ABSENT and after.get(primal, ABSENT) == ABSENT:
            body.append(work.adjoints.zeros(primal, work.facts.values.value_spec.get(primal), node))
            body, after_loop = _of_each_trip(primal, body, node, work)
            behind += after_loop
    work.adjoints.state = {n: join_adjoint_kinds([k, after.get(n, ABSENT)]) for n, k in before.items()}
    work.adjoints.masks, work.adjoints.flags = masks, flags
    restored = work.saves.restore_before(node)
    if body and node in work.facts.calls.checkpointed:
        return zeros + backward_loop(node, body, work.saves) + restored + behind
    return zeros + ([work.saves.loop(node, body)] if body else []) + restored + behind


def _of_each_trip(primal: str, body: Block, node: Node, work: Backward) -> tuple[Block, Block]:
    """Of a list that each trip makes and appends to, the adjoint at the end is empty: the next has a length of its own.

    `a_bar = a_bar or zeros_like(a)` where it is read first, `a_bar = []` where a trip ends. Also what follows the loop.
    """
    grown = [n for n in statements(node.body) if isinstance(n, gast.Expr) and primal in written_names(n)]
    kind = work.facts.list_kind(primal)
    if not kind or not grown:
        return body, []
    adjoint, last = work.adjoints.of(primal), body[-1]
    begin = assign(adjoint, gast.BoolOp(gast.Or(), [name(adjoint), last.value]), node)
    last.value = at(gast.List([], gast.Load()) if kind == "list" else gast.Dict([], []), node)
    first = next(k for k, each in enumerate(body) if any(n.id == adjoint for n in find_nodes(each, gast.Name)))
    return [*body[:first], begin, *body[first:]], [copy(begin)]  # behind what brings the list back


def _loop_body(node: Node, work: Backward) -> Block:
    handed = list(work.adjoints.flags.values())
    body = _block(node.body, (node, "body"), work)
    if isinstance(node, gast.For) and isinstance(node.iter, gast.Name) and node.iter.id in work.facts.activity.active:
        row = node.target.id
        if work.adjoints.exists(row):
            index = work.saves.row_index(node)
            spec = work.facts.values.value_spec.get(node.iter.id)
            operand = name(node.iter.id)
            if spec is not None:
                work.facts.values.spec[operand] = spec
            value = work.adjoints.read(row, work.facts.values.value_spec.get(row))
            work.adjoints.state.pop(row, None)
            body += added_row(node, operand, index, value, handed, work.adjoints)
    elif isinstance(node, gast.For):
        for bound in stores(node):  # what it held before the trip, an argument say, is lost
            work.adjoints.state.pop(bound, None)
    return body


def gradient(function: Node, facts: Facts) -> Program:
    """The program that returns the adjoints of the inputs, after the value if the mode asks for it."""
    halves = reverse(function, facts)
    _zeros(halves, facts)
    _separate(halves, facts)
    _sums_with_slices(halves.backward, facts, {})
    if facts.request.seed in ("parameter", "one"):
        _check_output(halves, facts)
    found = [_returned_adjoint(w, facts) for w in facts.request.wrt]
    found += masks_given(halves.output, halves.adjoints, halves.backward)
    adjoints = found[0] if len(found) == 1 and facts.request.single else gast.Tuple(elts=found, ctx=gast.Load())
    value: Node = adjoints
    if facts.request.mode in ("value-and-grad", "vjp", "trace") or _of_items(facts):
        value = gast.Tuple(elts=[_value(halves.output.value, halves, facts), adjoints], ctx=gast.Load())
    elif facts.request.auxiliary:
        value = gast.Tuple(elts=[adjoints, _value(halves.output.value.elts[1], halves, facts)], ctx=gast.Load())
    return Program(parameters(function) + list(facts.names.seeds), halves.forward, halves.backward, gast.Return(value))


def _sums_with_slices(block: Block, facts: Facts, sliced: dict[str, None]) -> None:
    """`p_bar + g`, an array, for `add(p_bar, g)`, which may be a list, where `p_bar[1:] += g` follows: that would join.

    `sliced` are the adjoints to slices of which something is added later; in a loop, by an earlier statement as well.
    """
    for node in reversed(block):
        adjoint = target(node)
        if adjoint is not None and adjoint in sliced and called_name(node.value) == facts.names.imports.get("add"):
            value = node.value
            if loads(value.args[0]) == (adjoint,) and facts.names.adjoint_of.get(adjoint) not in facts.kinds.containers:
                node.value = gast.BinOp(value.args[0], gast.Add(), value.args[1])
        within = statements([node]) if isinstance(node, gast.For | gast.While) else [node]
        places = [one.target for one in within if isinstance(one, gast.AugAssign)]
        parts = [part for part in places if isinstance(part, gast.Subscript) and isinstance(part.slice, gast.Slice)]
        sliced |= dict.fromkeys(getattr(root(part), "id", "") for part in parts)
        for which in BLOCKS:
            _sums_with_slices(getattr(node, which, None) or [], facts, sliced)


def _returned_adjoint(wanted: str, facts: Facts) -> Node:
    """The adjoint of an argument, put together as the argument is where the text alone does not tell."""
    adjoint = name(facts.names.spelled[wanted])
    if not may_be_array(wanted, facts):
        return adjoint
    return expression(f"{facts.library('of_items')}(adjoint, {wanted})", adjoint=adjoint)


def _of_items(facts: Facts) -> bool:
    """Whether a compiled loop over items calls the derivative, for the value as well."""
    return facts.request.mode == "pull" and facts.module.given is not None and not facts.request.called


def primal(function: Node, facts: Facts) -> Program:
    """The program that returns the value alone."""
    return Program(parameters(function), function.body[:-1], [], function.body[-1])


def _zeros(halves: Halves, facts: Facts) -> None:
    last: list[Node] = []
    bound = {s for n in statements(halves.backward) for s in stores(n)}
    for wanted in facts.request.wrt:
        if halves.adjoints.state.get(wanted, ABSENT) == ABSENT:
            made = halves.adjoints.zeros(wanted, facts.values.value_spec.get(wanted), facts.source.tree)
            if facts.kinds.of_names.get(wanted, UNKNOWN) == UNKNOWN and wanted not in facts.kinds.containers:
                made.value = expression(f"{facts.library('zeros_like')}({wanted})")  # it may be no array
            if facts.names.spelled[wanted] in bound:
                last.append(made)  # the name held the adjoint of another value before
            else:
                halves.backward.append(made)
    order = {facts.names.spelled[w]: k for k, w in enumerate(facts.request.wrt)}
    seen: set[str] = set()  # what an earlier statement binds may not be cleared, or measured, before that one
    hoisted: dict[Node, None] = {}
    for node in halves.backward:
        if node in facts.tape.zeros and target(node) in order and seen.isdisjoint([target(node), *loads(node)]):
            hoisted[node] = None
        seen.update(s for n in statements([node]) for s in stores(n) if s not in written_names(n))
    first = sorted(hoisted, key=lambda n: order[str(target(n))])
    halves.backward = first + [n for n in halves.backward if n not in hoisted] + last


def _value(returned: Node, halves: Halves, facts: Facts) -> Node:
    """The returned value, under a name of its own where the backward half brings older values back."""
    value = copy(returned)
    restored = {s for n in statements(halves.backward) for s in stores(n)}
    for item in [n for n in find_nodes(value, gast.Name) if n.id in restored]:
        kept = facts.names.fresh("y")
        facts.names.temporaries[kept] = "y"
        halves.forward.append(at(assign(kept, name(item.id)), halves.output))
        item.id = kept
    return value


def _separate(halves: Halves, facts: Facts) -> None:
    """What the backward half computes again goes by names of its own."""
    renamed = {}
    for again in facts.tape.again:
        renamed[again] = facts.names.new_temporary()
        if again in facts.memory.viewed:
            facts.memory.viewed[renamed[again]] = None
    for node in statements(halves.backward) if renamed else ():
        for item in [item for part in header(node) or [node] for item in find_nodes(part, gast.Name)]:
            item.id = renamed.get(item.id, item.id)
    facts.tape.again = {new: old for old, new in renamed.items()}


def _check_output(halves: Halves, facts: Facts) -> None:
    """A gradient has a real scalar output: proved from the text, or checked when it runs."""
    value = halves.output.value.elts[0] if facts.request.auxiliary else halves.output.value
    definition = facts.activity.definition.get(getattr(value, "id", ""))
    made = getattr(definition, "value", None)
    operation = facts.operation_of(definition)
    whole = (
        definition is not None and target(definition) is not None
    )  # not one of several names: `sign, y = np.linalg.slogdet(x)`
    several = isinstance(made, _DISPLAYS) or (whole and operation is not None and gives_tuple(operation))
    if not isinstance(value, gast.Name) or several:
        raise facts.refuse(
            halves.output,
            "E5007",
            "the function returns several values",
            "return one number; or use `has_aux=True` for `(y, others)`, or srcgrad.vjp with a seed for each",
        )
    spec = facts.values.spec.get(value)
    is_number = spec is not None and spec.scalar and value.id not in facts.values.complex
    if value.id in facts.activity.active and not is_number:
        seed: Node = name(facts.names.seeds[0]) if facts.names.seeds else literal_node(1.0)
        check = statement(f"{facts.library('check_seed')}(seed, {value.id})", seed=seed)
        facts.resolution.effects[check] = None
        at(check, halves.output)
        halves.backward.insert(0, check)


_DISPLAYS = (gast.Tuple, gast.List, gast.Dict)
