"""Tape layout: stacks that count trips, and one stack for several.

What a loop keeps on several stacks, at one place of each trip, it keeps on one.

x_stack.append(x)
y_stack.append(y)       =>  kept.append((x, y))
...
y = y_stack.pop()
x = x_stack.pop()       =>  x, y = kept.pop()

Trips of a `while` are counted by a stack, where each trip keeps something.

trips = 0
while abs(x * x - a) > 1e-12:       while abs(x * x - a) > 1e-12:
    x_stack.append(x)                   x_stack.append(x)
    x = 0.5 * (x + a / x)       =>      x = 0.5 * (x + a / x)
    trips += 1
for _ in range(trips):              while x_stack:
    x = x_stack.pop()                   x = x_stack.pop()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    loads,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import places
from srcgrad.derive.lists_and_stacks import is_pop, is_push
from srcgrad.derive.program import Program
from srcgrad.optimise.loop_fusion import names_changed, names_mentioned


@dataclass(frozen=True)
class _TouchedNames:
    """What statements store, and what they mention: it is asked for again with each stack of a loop."""

    facts: Facts
    stores: dict[Node, set[str]] = field(default_factory=dict)
    mentions: dict[Node, set[str]] = field(default_factory=dict)

    def names_stored(self, node: Node) -> set[str]:
        """The names that a statement binds, or whose elements it changes."""
        if node not in self.stores:
            self.stores[node] = names_changed([node])
        return self.stores[node]

    def names_mentioned(self, node: Node) -> set[str]:
        """The names that a statement reads or binds."""
        if node not in self.mentions:
            self.mentions[node] = set(names_mentioned(node))
        return self.mentions[node]


@dataclass(frozen=True)
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


def gather_records(program: Program, facts: Facts) -> Program:
    """Keep values of one trip together, where none of them changes between the places at which each was kept.

    A text that is to be differentiated again, or compiled, has a stack for each value.
    """
    if not is_final(facts):
        return program
    groups: dict[tuple[int, int], list[_Stack]] = {}
    for one in _stacks(program, facts):
        groups.setdefault((id(one.pushed), id(one.popped)), []).append(one)
    count = 0
    touched = _TouchedNames(facts)
    for group in groups.values():
        for together in _stacks_to_join(sorted(group, key=lambda one: one.pushed.index(one.push)), touched):
            kept = facts.names.fresh("kept") if not count else facts.names.numbered_name("kept")
            _join(together, kept, program, touched)
            count += 1
    return program


def is_final(facts: Facts) -> bool:
    """Whether a text with records is for NumPy and for readers: not differentiated again, compiled or explained."""
    module = facts.module
    if module is None or not module.target.as_written or not module.seeded or module.inline or module.explained:
        return False
    return not (facts.generated or facts.pushes_forward or module.leading.axis or facts.mode == "trace")


def _stacks(program: Program, facts: Facts) -> list[_Stack]:
    """Stacks with one push and one pop, which nothing else reads."""
    mentions: dict[str, int] = {}
    for node in [*program.forward, *program.backward, program.result]:
        for item in walk(node):
            if isinstance(item, gast.Name):
                mentions[item.id] = mentions.get(item.id, 0) + 1
    pushes = {
        facts.pushes[n]: (n, block) for n, block, _ in places(program.forward) if n in facts.pushes and is_push(n)
    }
    pops = {facts.restores[n]: (n, block) for n, block, _ in places(program.backward) if n in facts.restores}
    changed = {one for node in statements(program.backward) for one in written_names(node)}
    found = []
    for head in [node for node in program.forward if node in facts.pushes and isinstance(node, gast.Assign)]:
        kept = facts.pushes[head]
        if kept not in pushes or kept not in pops or mentions.get(kept) != 3 or kept in facts.snapshots:
            continue
        one = _Stack(kept, head, pushes[kept][0], pops[kept][0], pushes[kept][1], pops[kept][1])
        held = target(one.pop)
        if held is None or not is_pop(one.pop.value) or held in changed | set(facts.swapped):
            continue
        if held in facts.mutable and not isinstance(one.push.value.args[0], gast.Name):
            continue  # a copy of an array that changes
        if facts.list_kind(held):
            continue
        if isinstance(head.value, gast.List) and not head.value.elts and one.push.value.func.value.id == kept:
            found.append(one)
    return found


def _stacks_to_join(group: list[_Stack], touched: _TouchedNames) -> list[list[_Stack]]:
    """Stacks whose pushes may stand at one place, and whose pops may: as many as come one after the other."""
    made: list[list[_Stack]] = []
    known: dict[Node, tuple[int, int]] = {}
    for one in group:
        if made and _places([*made[-1], one], touched, known) is not None:
            made[-1].append(one)
        else:
            made.append([one])
    return [each for each in made if len(each) > 1]


def _places(
    group: list[_Stack], touched: _TouchedNames, known: dict[Node, tuple[int, int]]
) -> tuple[Node, Node] | None:
    """The last push at whose place all others may stand, and the first such pop.

    `known` is where each may move, as long as nothing has moved.
    """
    if len({one.held for one in group}) < len(group):
        return None
    pushed, popped = group[0].pushed, group[0].popped
    for one in group:
        if one.push not in known:
            known[one.push] = _range_of_moves(one.push, pushed, _reads(one, touched.facts), touched.names_stored)
            known[one.pop] = _range_of_moves(one.pop, popped, {one.held}, touched.names_mentioned)
    last = _meeting_statement(reversed(group), lambda one: one.push, pushed, known)
    place = {node: k for k, node in enumerate(popped)}
    first = _meeting_statement(sorted(group, key=lambda one: place[one.pop]), lambda one: one.pop, popped, known)
    return (last, first) if last is not None and first is not None else None


def _meeting_statement(
    group: Iterable[_Stack], of: Callable[[_Stack], Node], block: Block, known: dict[Node, tuple[int, int]]
) -> Node | None:
    """The first of some statements at whose place all of them may stand."""
    nodes = [of(one) for one in group]
    place = {node: k for k, node in enumerate(block)}
    start, end = max(known[node][0] for node in nodes), min(known[node][1] for node in nodes)
    return next((node for node in nodes if start <= place[node] <= end), None)


def _reads(one: _Stack, facts: Facts) -> set[str]:
    """What a push reads, and the arrays whose parts that may be."""
    return facts.names_and_bases(read for read in loads(one.push.value.args[0]))


def _range_of_moves(node: Node, block: Block, names: set[str], touched: Callable[[Node], set[str]]) -> tuple[int, int]:
    """From where to where a statement may move in its block, if what touches its names is not passed."""
    place = block.index(node)
    start, end = place, place + 1
    while start > 0 and not touched(block[start - 1]) & names:
        start -= 1
    while end < len(block) and not touched(block[end]) & names:
        end += 1
    return start, end


def _join(group: list[_Stack], kept: str, program: Program, touched: _TouchedNames) -> None:
    """One list in the place of several."""
    facts, places = touched.facts, _places(group, touched, {})
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
    facts.pushes.update({made: kept, head: kept})
    facts.restores[back] = kept
    for one in group:
        facts.pushes.pop(one.head)
        facts.pushes.pop(one.push)
        facts.restores.pop(one.pop)
        facts.names.taken.discard(one.name)
        facts.stacks = {primal: stack for primal, stack in facts.stacks.items() if stack != one.name}
    heads, others = {one.head: None for one in group}, {n: None for one in group for n in (one.push, one.pop)}
    first = program.forward.index(group[0].head)
    program.forward[:] = [
        head if k == first else n for k, n in enumerate(program.forward) if k == first or n not in heads
    ]
    _replace(group[0].pushed, {push: made}, others)
    _replace(group[0].popped, {pop: back}, others)


def _replace(block: Block, swaps: dict[Node, Node], gone: dict[Node, None]) -> None:
    block[:] = [swaps.get(node, node) for node in block if node in swaps or node not in gone]


def count_by_records(program: Program, facts: Facts) -> Program:
    """Undo trips for as long as there is a record, which each trip has made once and undoes once."""
    if not is_final(facts) or not facts.whiles:
        return program
    mentions = Counter(item.id for node in program.block for item in walk(node) if isinstance(item, gast.Name))
    for place, back in enumerate(program.backward):
        loop = facts.whiles.get(back)
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
    return program


def _stacks_popped(body: Block) -> list[str]:
    """The stacks from which every trip takes a value, in the order of the text."""
    taken = [n.value if isinstance(n, gast.Assign) else n.test for n in body if isinstance(n, gast.Assign | gast.If)]
    return [value.func.value.id for value in taken if is_pop(value)]


def _is_kept(stack: str, loop: Node, forward: Block, facts: Facts) -> bool:
    """Whether a stack is made before the loop, not in another one, and every trip puts a value on it."""
    made = any(target(node) == stack for node in forward[: forward.index(loop)])
    return made and any(facts.pushes.get(node) == stack for node in loop.body)
