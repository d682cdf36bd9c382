"""The tape: which values a loop records, one for several, as late and as near as may be, and the stacks that hold them.

What it keeps at one place of each trip stands on one stack. Trips of a `while` are counted by a stack, where each trip
keeps something.

    trips = 0
    while abs(x * x - a) > 1e-12:       while abs(x * x - a) > 1e-12:
        x_stack.append(x)                   x_stack.append(x)
        x = 0.5 * (x + a / x)       =>      x = 0.5 * (x + a / x)
        trips += 1
    for _ in range(trips):              while x_stack:
        x = x_stack.pop()                   x = x_stack.pop()

One value is kept for several that the backward half reads in one expression alone, `a - b`. A trip keeps what its
backward half reads, not what that is computed from (`x + 0.5 * h * k` rather than k), and what a name holds at the end
of a trip, if no older value is read. `e / s`, the shares of exponentials in their sum, stands for e and s:

    e = np.exp(u)                       e = np.exp(u)
    s = np.sum(e)                       s = np.sum(e)
    e_stack.append(e)            =>     share = e / s
    s_stack.append(s)                   share_stack.append(share)

    s_bar = y_bar / s                   s_bar = y_bar
    u_bar = s_bar * e                   u_bar = s_bar * share

So it is of `np.log(s)`, also of `np.log(s + 2.0)`. A share is from 0 to 1: no quotient overflows that did not before.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import field

import gast
import numpy as np

from srcgrad.core.facts import Facts, Operation, copy_with_facts, function_called, stack
from srcgrad.core.identity import record
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    find_nodes,
    header,
    loads,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import Uses, bindings, count, loop_bodies, places
from srcgrad.derive.in_place_writes import is_pop, is_push
from srcgrad.derive.program import Program
from srcgrad.optimise.broadcasting import Text, Trips, elements, is_alike, text_of
from srcgrad.optimise.dead_code import drop
from srcgrad.optimise.loops import TouchedNames


@record(frozen=True)
class _Stack:
    """A list that one statement of a loop adds to, and one of its backward form takes from."""

    name: str
    head: Node
    push: Node
    pop: Node
    pushed: Block  # the block that has the push
    popped: Block

    @property
    def held(self) -> str:
        """The name to which the value comes back."""
        return str(target(self.pop))


def tape_layout(program: Program, facts: Facts) -> Program:
    """Keep values of one trip together, where none of them changes between the places at which each was kept.

    A `while` is undone for as long as there is a record. A text that is to be differentiated again, or compiled, has a
    stack for each value, and counts trips.
    """
    if is_final(facts):
        _gather_records(program, facts)
        if facts.tape.whiles:
            _count_by_records(program, facts)
    return program


def _gather_records(program: Program, facts: Facts) -> None:
    groups: dict[tuple[int, int], list[_Stack]] = {}
    for one in _stacks(program, facts):
        groups.setdefault((id(one.pushed), id(one.popped)), []).append(one)
    count = 0
    touched = TouchedNames()
    for group in groups.values():
        for together in _stacks_to_join(sorted(group, key=lambda one: one.pushed.index(one.push)), touched, facts):
            kept = facts.names.fresh("kept") if not count else facts.names.numbered_name("kept")
            _join(together, kept, program, touched, facts)
            count += 1


def is_final(facts: Facts) -> bool:
    """Whether a text with records is for NumPy and for readers: not differentiated again, compiled or explained."""
    module = facts.module
    if module is None or not module.target.as_written or not module.seeded or module.inline or module.explained:
        return False
    return not (facts.request.generated or facts.pushes_forward or module.leading.axis or facts.request.mode == "trace")


def _stacks(program: Program, facts: Facts) -> list[_Stack]:
    """Stacks with one push and one pop, which nothing else reads."""
    mentions: dict[str, int] = {}
    for node in [*program.forward, *program.backward, program.result]:
        for item in walk(node):
            if isinstance(item, gast.Name):
                mentions[item.id] = mentions.get(item.id, 0) + 1
    pushes = {
        facts.tape.pushes[n]: (n, block)
        for n, block, _ in places(program.forward)
        if n in facts.tape.pushes and is_push(n)
    }
    pops = {facts.tape.restores[n]: (n, block) for n, block, _ in places(program.backward) if n in facts.tape.restores}
    changed = {one for node in statements(program.backward) for one in written_names(node)} | {*facts.memory.swapped}
    found = []
    for head in [node for node in program.forward if node in facts.tape.pushes and isinstance(node, gast.Assign)]:
        kept = facts.tape.pushes[head]
        if kept not in pushes or kept not in pops or mentions.get(kept) != 3 or kept in facts.calls.snapshots:
            continue
        one = _Stack(kept, head, pushes[kept][0], pops[kept][0], pushes[kept][1], pops[kept][1])
        held = target(one.pop)
        if held is None or not is_pop(one.pop.value) or held in changed:
            continue
        if held in facts.memory.mutable and not isinstance(one.push.value.args[0], gast.Name):
            continue  # a copy of an array that changes
        if facts.list_kind(held):
            continue
        if isinstance(head.value, gast.List) and not head.value.elts and one.push.value.func.value.id == kept:
            found.append(one)
    return found


def _stacks_to_join(group: list[_Stack], touched: TouchedNames, facts: Facts) -> list[list[_Stack]]:
    """Stacks whose pushes may stand at one place, and whose pops may: as many as come one after the other."""
    made: list[list[_Stack]] = []
    moves = _Moves(group[0], touched, facts)
    for one in group:
        if made and _places([*made[-1], one], moves) is not None:
            made[-1].append(one)
        else:
            made.append([one])
    return [each for each in made if len(each) > 1]


def _mentions(block: Block, touched: Callable[[Node], set[str]]) -> dict[str, list[int]]:
    """Where in a block something is done with each name."""
    found: dict[str, list[int]] = {}
    for place, node in enumerate(block):
        for one in touched(node):
            found.setdefault(one, []).append(place)
    return found


@record
class _Moves:
    """Where the pushes and the pops of stacks may move in the blocks of one of them, as long as nothing has moved."""

    first: _Stack
    touched: TouchedNames
    facts: Facts
    known: dict[Node, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pushed, popped = self.first.pushed, self.first.popped
        self.pushed = {node: place for place, node in enumerate(pushed)}
        self.popped = {node: place for place, node in enumerate(popped)}
        self.binders, self.touching = _mentions(pushed, self.touched.stored), _mentions(popped, self.touched.mentioned)

    def note(self, one: _Stack) -> None:
        """See to it that it is known of a stack."""
        if one.push not in self.known:
            read = _reads(one, self.facts)
            self.known[one.push] = _range_of_moves(self.pushed[one.push], len(self.pushed), self.binders, read)
            self.known[one.pop] = _range_of_moves(self.popped[one.pop], len(self.popped), self.touching, {one.held})


def _places(group: list[_Stack], moves: _Moves) -> tuple[Node, Node] | None:
    """The last push at whose place all others may stand, and the first such pop."""
    if len({one.held for one in group}) < len(group):
        return None
    for one in group:
        moves.note(one)
    last = _meeting_statement([one.push for one in reversed(group)], moves.pushed, moves.known)
    pops = sorted([one.pop for one in group], key=moves.popped.__getitem__)
    first = _meeting_statement(pops, moves.popped, moves.known)
    return (last, first) if last is not None and first is not None else None


def _meeting_statement(nodes: Block, place: dict[Node, int], known: dict[Node, tuple[int, int]]) -> Node | None:
    """The first of some statements at whose place all of them may stand."""
    start, end = max(known[node][0] for node in nodes), min(known[node][1] for node in nodes)
    return next((node for node in nodes if start <= place[node] <= end), None)


def _reads(one: _Stack, facts: Facts) -> set[str]:
    """What a push reads, and the arrays whose parts that may be."""
    return facts.names_and_bases(read for read in loads(one.push.value.args[0]))


def _range_of_moves(place: int, length: int, touching: dict[str, list[int]], names: set[str]) -> tuple[int, int]:
    """From where to where a statement may move in its block, if what touches its names is not passed."""
    start, end = 0, length
    for one in names:
        found = touching.get(one, [])
        before, behind = bisect_left(found, place), bisect_right(found, place)
        start = max(start, found[before - 1] + 1) if before else start
        end = min(end, found[behind]) if behind < len(found) else end
    return start, end


def _join(group: list[_Stack], kept: str, program: Program, touched: TouchedNames, facts: Facts) -> None:
    """One list in the place of several."""
    places = _places(group, _Moves(group[0], touched, facts))
    assert places is not None, "the group was made so that there are places"
    push, pop = places
    values = gast.Tuple(elts=[one.push.value.args[0] for one in group], ctx=gast.Load())
    targets = gast.Tuple(elts=[name(one.held, gast.Store()) for one in group], ctx=gast.Store())
    made = at(statement(f"{kept}.append(values)", values=values), push)
    back = at(gast.Assign([targets], pop.value, None), pop)
    back.value.func.value.id = kept
    head = (
        at(statement(f"{kept} = []"), group[0].head) if hasattr(group[0].head, "lineno") else statement(f"{kept} = []")
    )
    facts.tape.pushes.update({made: kept, head: kept})
    facts.tape.restores[back] = kept
    for one in group:
        facts.tape.pushes.pop(one.head)
        facts.tape.pushes.pop(one.push)
        facts.tape.restores.pop(one.pop)
        facts.names.taken.discard(one.name)
        facts.tape.stacks = {primal: stack for primal, stack in facts.tape.stacks.items() if stack != one.name}
    heads, others = {one.head: None for one in group}, {n: None for one in group for n in (one.push, one.pop)}
    first = program.forward.index(group[0].head)
    program.forward[:] = [
        head if k == first else n for k, n in enumerate(program.forward) if k == first or n not in heads
    ]
    _replace(group[0].pushed, {push: made}, others)
    _replace(group[0].popped, {pop: back}, others)


def _replace(block: Block, swaps: dict[Node, Node], gone: dict[Node, None]) -> None:
    block[:] = [swaps.get(node, node) for node in block if node in swaps or node not in gone]


def _count_by_records(program: Program, facts: Facts) -> None:
    """Undo trips for as long as there is a record, which each trip has made once and undoes once."""
    mentions = Counter(item.id for node in program.block for item in find_nodes(node, gast.Name))
    for place, back in enumerate(program.backward):
        loop = facts.tape.whiles.get(back)
        if loop is None or loop not in program.forward:
            continue
        trips = back.iter.args[0].id
        kept = [
            one
            for one in _stacks_popped(back.body)
            if mentions[one] == 3 and _is_kept(one, loop, program.forward, facts)
        ]
        if kept and mentions[trips] == 3:
            program.backward[place] = at(gast.While(name(kept[0]), back.body, []), back)
            program.forward = [n for n in program.forward if target(n) != trips]
            loop.body = [n for n in loop.body if not (isinstance(n, gast.AugAssign) and stores(n) == [trips])]


def _stacks_popped(body: Block) -> list[str]:
    """The stacks from which every trip takes a value, in the order of the text."""
    taken = [n.value if isinstance(n, gast.Assign) else n.test for n in body if isinstance(n, gast.Assign | gast.If)]
    return [value.func.value.id for value in taken if is_pop(value)]


def _is_kept(stack: str, loop: Node, forward: Block, facts: Facts) -> bool:
    """Whether a stack is made before the loop, not in another one, and every trip puts a value on it."""
    made = any(target(node) == stack for node in forward[: forward.index(loop)])
    return made and any(facts.tape.pushes.get(node) == stack for node in loop.body)


@record(frozen=True)
class Record:
    """What one statement of a loop puts on a list, and one of its backward form takes off, with their blocks."""

    held: str
    push: Node
    pushed: Block
    pop: Node
    popped: Block


def combined_records(program: Program, facts: Facts) -> Program:
    """Keep the shares of exponentials in their sum, and what is computed of kept values, where that leaves fewer.

    A text that is to be differentiated again keeps what the rules read.
    """
    if facts.tape.restores and is_final(facts):
        if not facts.origin.contexts:
            _keep_shares(program, facts)
        if facts.activity.left_over:
            drop(program, facts)
        if facts.tape.again:
            _combine_records(program, facts)
    return program


def _combine_records(program: Program, facts: Facts) -> None:
    known = _records_by_name(program, facts)
    changed = False
    reading: _ReadCounts | None = None
    for clone, block, _ in places(program.backward) if len(known) > 1 else ():
        made = facts.activity.definition.get(facts.tape.again.get(str(target(clone)), ""))
        read = [one for one in dict.fromkeys(loads(clone)) if one in known]
        if made is None or len(read) < 2:
            continue
        if not all(is_of(known[one], made, block) for one in read):
            continue
        reading = reading or _read(program, facts)
        if _saves(read, clone, block, reading):
            _keep(clone, made, known[read[0]].pushed, program, facts)
            changed, reading = True, None
    facts.activity.left_over |= changed


def records(program: Program, facts: Facts) -> list[Record]:
    """Records of loops, each with one push, by their pops in the order of the text."""
    pushes: dict[str, list[tuple[Node, Block]]] = {}
    for node, block, _ in places(program.forward):
        if node in facts.tape.pushes and is_push(node):
            pushes.setdefault(facts.tape.pushes[node], []).append((node, block))
    found = []
    for node, block, _ in places(program.backward):
        held = target(node)
        if held is not None and node in facts.tape.restores and is_pop(node.value):
            kept = pushes.get(facts.tape.restores[node], [])
            found += [Record(held, *kept[0], node, block)] if len(kept) == 1 else []
    return found


def _records_by_name(program: Program, facts: Facts) -> dict[str, Record]:
    """By name, values that one statement of a loop keeps and one brings back."""
    times = Counter(target(node) for node in statements(program.backward) if node in facts.tape.restores)
    found = {one.held: one for one in records(program, facts) if times[one.held] == 1}
    return {held: one for held, one in found.items() if held not in facts.memory.mutable}


def is_of(record: Record, made: Node, block: Block) -> bool:
    """Whether a value is kept by the trips that compute another one, and comes back where that is computed again."""
    leaves = any(isinstance(node, gast.Break | gast.Continue) for node in statements(record.pushed))
    return record.popped is block and made in record.pushed and not leaves


@record(frozen=True)
class _ReadCounts:
    """How many statements of the backward half read a name, and how many of them its elements."""

    names: Counter[str]
    elements: Counter[str]
    text: Text
    trips: Trips


def _read(program: Program, facts: Facts) -> _ReadCounts:
    nodes = [*statements(program.backward), program.result]
    return _ReadCounts(
        Counter(one for node in nodes for one in set(loads(node))),
        Counter(one for node in nodes for one in _by_elements(node, facts)),
        text_of(program, facts),
        Trips(loop_bodies(program.forward), facts),
    )


def _by_elements(node: Node, facts: Facts) -> set[str]:
    return {n.id for part in header(node) for n in elements(part, facts)}


def _saves(read: list[str], clone: Node, block: Block, reading: _ReadCounts) -> bool:
    """Whether at least two values need not be kept, if what is computed of them is."""
    own = _by_elements(clone, reading.text.facts)
    free = [one for one in read if reading.elements[one] == (one in own) and _is_spared(one, own, block, reading)]
    return len(free) > 1


def _is_spared(held: str, own: set[str], block: Block, reading: _ReadCounts) -> bool:
    """Whether no other statement reads a value, or its shape alone, which something else has."""
    facts = reading.text.facts
    if reading.names[held] == 1 or reading.text.is_steady(name(held)):
        return True
    restored = [str(target(node)) for node in block if node in facts.tape.restores]
    back = [one for one in restored if reading.elements[one] > (one in own) and one not in facts.memory.mutable]
    return any(is_alike(one, held, reading.trips, facts) for one in back)


def _keep(clone: Node, made: Node, trip: Block, program: Program, facts: Facts) -> None:
    """Bring a value back that was computed again."""
    held = str(target(made))
    kept = facts.names.fresh(stack(held))
    head, push = statement(f"{kept} = []"), at(statement(f"{kept}.append({held})"), made)
    program.forward.insert(0, head)
    trip.insert(trip.index(made) + 1, push)
    facts.tape.pushes.update({head: kept, push: kept})
    facts.tape.stacks.setdefault(held, kept)
    clone.value = statement(f"{kept}.pop()").value
    facts.tape.restores[clone] = kept
    again = str(target(clone))
    for item in [n for node in program.backward for n in find_nodes(node, gast.Name) if n.id == again]:
        item.id = held
    del facts.tape.again[again]


def late_records(program: Program, facts: Facts) -> Program:
    """Keep what a name holds where the trip ends, with all that is kept there, and not where it is overwritten.

    Where one value is read to compute another alone, and both have one shape, the other is kept.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x: float, n):\\n for _ in range(n):\\n  k = np.sin(x)\\n  x = np.sin(x + k * 2.0)\\n return x"
    >>> [line for line in explain_text(text, after="late_records", wrt=("x",)).splitlines() if ".append" in line]
    ['    x_stack.append(x)', '    t1_stack.append(t1)']
    >>> text = "def f(x, n):\\n    for _ in range(n):\\n        x = np.tanh(x)\\n    return x"
    >>> print("\\n".join(explain_text(text, after="late_records", wrt=("x",)).splitlines()[:4]))
    x_stack = []
    for _ in range(n):
        x = np.tanh(x)
        x_stack.append(x)
    """
    if facts.pushes_forward:
        return program
    _keep_nearest(program, facts)
    times: Counter[str] = Counter()  # how often the backward half binds a name
    for loop in [node for node in program.forward if isinstance(node, gast.For | gast.While)]:
        pushes = [node for node in loop.body if node in facts.tape.pushes and is_push(node)]
        inside = statements(loop.body) if pushes else []
        if any(isinstance(node, gast.Break | gast.Continue) for node in inside):
            continue
        binding: dict[str, Block] = {}
        for node in inside:
            for one in dict.fromkeys(stores(node)):
                binding.setdefault(one, []).append(node)
        for push in pushes:
            held = getattr(push.value.args[0], "id", "")
            if _is_bound_behind(binding.get(held, []), push, loop.body) and not changes(held, facts):
                times = times or bindings(program.backward)
                back = _body_with_late_pop(facts.tape.pushes[push], held, program, facts) if times[held] == 1 else None
                if back is not None:
                    body, pop = back
                    loop.body.remove(push)
                    loop.body.append(at(push, loop))
                    body.remove(pop)
                    body.insert(0, at(pop, loop))
    return program


def _is_bound_behind(bound: Block, push: Node, block: Block) -> bool:
    """Whether a trip binds a name once, behind the place where its old value is kept."""
    return len(bound) == 1 and bound[0] in block[block.index(push) :]


def changes(held: str, facts: Facts) -> bool:
    """Whether the elements of what a name holds may change."""
    tables = (facts.memory.mutable, facts.memory.viewed, facts.memory.swapped, facts.kinds.containers)
    return any(held in table for table in tables) or bool(facts.list_kind(held))


def _body_with_late_pop(kept: str, held: str, program: Program, facts: Facts) -> tuple[Block, Node] | None:
    """The body that takes a value off its list behind all that reads the name, and the statement that does."""
    for position, loop in enumerate(program.backward):
        body = loop.body if isinstance(loop, gast.For | gast.While) else []
        pop = next((node for node in body if facts.tape.restores.get(node) == kept), None)
        if pop is None or not is_pop(pop.value) or target(pop) != held:
            continue
        place = body.index(pop)
        behind = [*body[place + 1 :], *program.backward[position + 1 :], program.result]
        read = held in loads(loop) or any(held in loads(node) for node in statements(behind))
        return None if read or not place else (body, pop)
    return None


_WORTH = 2  # operations: one is as soon computed again as it is named


def _keep_nearest(program: Program, facts: Facts) -> None:
    """Keep a value in the place of one that is read for nothing else, where both have one shape."""
    uses = count([*program.backward, program.result])
    for one in records(program, facts):
        own = getattr(one.push.value.args[0], "id", "") == one.held
        again = _recomputing_statements(one, uses, facts) if own else []
        if again:
            _exchange(one, again, program, uses, facts)


def _recomputing_statements(one: Record, uses: Uses, facts: Facts) -> Block:
    """The statements that compute again what alone reads a record, the last of them what is kept in its place."""
    chain: Block = []
    last, work = one.held, 0
    while uses.read.get(last) == 1:
        reader = next((n for n in one.popped[one.popped.index(one.pop) :] if last in loads(n)), None)
        bound = None if reader is None else target(reader)
        if reader is None or bound not in facts.tape.again:
            break
        chain.append(reader)
        work += sum(isinstance(n, gast.BinOp | gast.Call) for n in walk(reader.value))
        last = str(bound)
    if not chain or work < _WORTH or uses.bound.get(last) != 1 or not _is_alike(one, facts.tape.again[last], facts):
        return []
    return chain


def _is_alike(one: Record, other: str, facts: Facts) -> bool:
    """Whether a value of the forward half is there when the record is made, has its shape, and stays as it is."""
    changing = (facts.memory.mutable, facts.memory.viewed, facts.memory.swapped, facts.kinds.containers)
    if any(each in table for each in (one.held, other) for table in changing):
        return False
    kept, computed = facts.values.value_spec.get(one.held), facts.values.value_spec.get(other)
    if kept is None or computed is None or kept.shape != computed.shape or facts.list_kind(one.held):
        return False
    before = one.pushed[: one.pushed.index(one.push)]
    return other in facts.activity.definition and any(target(node) == other for node in before)


def _exchange(one: Record, again: Block, program: Program, uses: Uses, facts: Facts) -> None:
    """Keep the other value, on a list of its name."""
    last = str(target(again[-1]))
    own, old = facts.tape.again[last], facts.tape.pushes[one.push]
    kept = facts.names.fresh(stack(own))
    facts.tape.stacks[own] = kept
    facts.tape.stacks.pop(one.held, None)
    for node in [n for n in statements(program.block) if old in (facts.tape.pushes.get(n), facts.tape.restores.get(n))]:
        for item in walk(node):
            if isinstance(item, gast.Name) and item.id == old:
                item.id = kept
        for table in (facts.tape.pushes, facts.tape.restores):
            if node in table:
                table[node] = kept
    one.push.value.args[0] = name(own)
    one.pop.targets[0].id = own
    one.popped[:] = [node for node in one.popped if node not in again]
    for node in statements([*program.backward, program.result]):
        if last in loads(node) or last in stores(node):
            for item in [item for part in header(node) for item in walk(part)]:
                if isinstance(item, gast.Name) and item.id == last:
                    item.id = own
    for node in again:
        for read in loads(node):
            uses.read[read] -= 1


@record(frozen=True)
class _Shares:
    """`L * e`, where L is a quotient by the sum: the three places in the backward half, and what they are of."""

    product: Node
    quotient: Node  # the statement that divides
    again: Node | None  # the one that computes the divisor again, for it alone
    powers: str  # e
    below: str  # s, or what else of the divisor is kept
    divisor: str  # s, or s + 2.0, in the forward half


def _keep_shares(program: Program, facts: Facts) -> None:
    """Keep one value in the place of two."""
    known, changed = _records_by_name(program, facts), False
    uses: Uses | None = None
    for block in loop_bodies(program.backward) if len(known) > 1 else ():
        uses = uses or count([*program.backward, program.result])
        made = {str(target(node)): node for node in block if uses.bound.get(str(target(node))) == 1}
        found = [one for node in block for one in _products(node, made, uses, facts)]
        for one in found:
            if _both_kept(one, block, known, facts) and _is_alone(one, block, program, facts):
                _keep_quotient(one, known[one.powers], program, facts)
                changed, uses = True, None
    facts.activity.left_over |= changed


def _products(node: Node, made: dict[str, Node], uses: Uses, facts: Facts) -> list[_Shares]:
    """The products of a statement that are shares times something."""
    found = []
    for product in find_nodes(getattr(node, "value", None) or node, gast.BinOp):
        factor, powers = product.left, getattr(product.right, "id", "")
        if not isinstance(product.op, gast.Mult) or not isinstance(factor, gast.Name) or powers in facts.values.complex:
            continue
        while factor.id in made and uses.read.get(factor.id) == 1 and isinstance(made[factor.id].value, gast.Name):
            factor = made[factor.id].value
        quotient = made.get(factor.id)
        by = None if quotient is None or uses.read[factor.id] != 1 else _divisor(quotient.value, facts)
        if by is None or quotient is None or not _is_sum(facts.tape.again.get(by, by), powers, facts):
            continue
        divisor = facts.tape.again.get(by, by)
        again = made[by] if by != divisor and by in made and uses.read[by] == 1 else None
        below = by if by == divisor else _total(divisor, facts)
        found.append(_Shares(product, quotient, again, powers, below, divisor))
    return found


def _divisor(value: Node, facts: Facts) -> str | None:
    """The name by which something is divided."""
    by = None
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div):
        by = value.right
    elif function_called(value, facts) is np.divide and len(value.args) == 2:
        by = value.args[1]
    return by.id if isinstance(by, gast.Name) else None


def _operation(bound: str, facts: Facts) -> Operation | None:
    return facts.operation_of(facts.activity.definition.get(bound))


def _total(divisor: str, facts: Facts) -> str:
    """The name of s, of `s`, `s + 2.0` and `2.0 + s`: to a negative number it may be next to 0."""
    operation = _operation(divisor, facts)
    if operation is None or operation.function is not np.add:
        return divisor
    sides = list(operation.bound.values())
    names = [side.id for side in sides if isinstance(side, gast.Name)]
    numbers = [side.value for side in sides if isinstance(side, gast.Constant)]
    positive = all(type(number) in (int, float) and 0 <= number < np.inf for number in numbers)
    return names[0] if len(names) == len(numbers) == 1 and positive else divisor


def _is_sum(divisor: str, powers: str, facts: Facts) -> bool:
    """Whether a value is the sum of all exponentials, and of nothing that is negative."""
    total, power = _operation(_total(divisor, facts), facts), _operation(powers, facts)
    if total is None or power is None or total.function is not np.sum or power.rule is not rule_of(np.exp):
        return False
    return list(total.bound) == ["a"] and getattr(total.bound["a"], "id", "") == powers


def _both_kept(one: _Shares, block: Block, known: dict[str, Record], facts: Facts) -> bool:
    """Whether a trip keeps both, behind the place where it has computed them."""
    if one.powers not in known or one.below not in known or facts.values.value_spec.get(one.powers) is None:
        return False
    made = (facts.activity.definition[one.powers], facts.activity.definition[one.below])
    return all(is_of(known[held], each, block) for held in (one.powers, one.below) for each in made)


def _is_alone(one: _Shares, block: Block, program: Program, facts: Facts) -> bool:
    """Whether nothing else reads the sum, and nothing else the elements of the exponentials."""
    others = [node for node in [*statements(program.backward), program.result] if node is not one.again]
    trip = {id(node) for node in statements(block)}
    if any(one.powers in loads(node) for node in others if id(node) not in trip):
        return False
    read = [n for node in others for part in header(node) for n in elements(part, facts)]
    mine = {id(n) for part in (one.product, one.quotient) for n in walk(part)}
    everywhere = [n for node in others for part in header(node) for n in find_nodes(part, gast.Name)]
    wanted = {n.id for n in read if id(n) not in mine}
    sums = {n.id for n in everywhere if id(n) not in mine and isinstance(n.ctx, gast.Load)}
    return one.powers not in wanted and one.below not in sums


def _keep_quotient(one: _Shares, record: Record, program: Program, facts: Facts) -> None:
    """Divide in the forward half, and bring the quotient back."""
    held = facts.names.new_temporary()
    like = next(node for node in record.popped if node in facts.tape.restores and target(node) == one.powers)
    last, below = facts.activity.definition[one.below], name(one.divisor)
    if facts.activity.definition[one.divisor] in record.pushed:
        last = facts.activity.definition[one.divisor]
    else:  # the value of the sum's logarithm is not asked for
        below = copy_with_facts(facts.activity.definition[one.divisor].value, facts)
    share = at(statement("share = e / s", share=held, e=one.powers, s=below), last)
    facts.activity.definition[held], facts.values.value_spec[held] = share, facts.values.value_spec[one.powers]
    facts.values.spec[share] = facts.values.spec[facts.activity.definition[one.powers]]
    sides = {"x": share.value.left, "y": share.value.right}
    facts.resolution.operation[share.value] = Operation("op", np.divide, rule_of(np.divide), sides)
    kept = facts.names.fresh(stack(held))
    head, push = statement(f"{kept} = []"), at(statement(f"{kept}.append({held})"), like)
    pop = at(statement(f"{held} = {kept}.pop()"), like)
    program.forward.insert(0, head)
    record.pushed.insert(record.pushed.index(last) + 1, share)
    record.pushed.append(push)
    record.popped.insert(record.popped.index(like), pop)
    facts.tape.pushes.update({head: kept, push: kept})
    facts.tape.stacks.setdefault(held, kept)
    facts.tape.restores[pop] = kept
    quotient = one.quotient.value
    one.quotient.value = quotient.left if isinstance(quotient, gast.BinOp) else quotient.args[0]
    for node in statements(program.backward):
        for item in [item for part in header(node) for item in find_nodes(part, gast.Name)]:
            if item.id == one.powers and isinstance(item.ctx, gast.Load):
                item.id = held
