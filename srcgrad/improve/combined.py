"""A loop keeps one value for several, which the backward half reads in one expression alone.

a_stack.append(a)
b_stack.append(b)
c = a - b                   c = a - b
                     =>     c_stack.append(c)
a = a_stack.pop()
b = b_stack.pop()
t = a - b                   t = c_stack.pop()
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop, is_push
from srcgrad.facts import Facts
from srcgrad.improve.dead import dead
from srcgrad.improve.gathered import is_final, placed
from srcgrad.improve.lasting import Text, text_of
from srcgrad.improve.outlines import elements
from srcgrad.improve.standins import bodies, is_alike
from srcgrad.names import stack
from srcgrad.trees import Block, Node, at, header, loads, name, statement, statements, target, walk


@dataclass(frozen=True)
class Record:
    """What a trip keeps: the blocks of its push and of its pop."""

    pushed: Block
    popped: Block


def combined(program: Program, facts: Facts) -> Program:
    """Keep what is computed of them, where that leaves fewer values to keep.

    A text that is to be differentiated again keeps what the rules read.
    """
    if not facts.again or not facts.restores or not is_final(facts):
        return program
    known = records(program, facts)
    changed = False
    reading: _Reading | None = None
    for clone, block in placed(program.backward) if len(known) > 1 else ():
        made = facts.definition.get(facts.again.get(str(target(clone)), ""))
        read = [one for one in dict.fromkeys(loads(clone)) if one in known]
        if made is None or len(read) < 2:
            continue
        if not all(is_of(known[one], made, block) for one in read):
            continue
        reading = reading or _read(program, facts)
        if _saves(read, clone, block, reading):
            _keep(clone, made, known[read[0]].pushed, program, facts)
            changed, reading = True, None
    return dead(program, facts) if changed else program


def records(program: Program, facts: Facts) -> dict[str, Record]:
    """By name, values that one statement of a loop keeps and one brings back."""
    pushes: dict[str, list[Block]] = {}
    for node, block in placed(program.forward):
        if node in facts.pushes and is_push(node):
            pushes.setdefault(facts.pushes[node], []).append(block)
    pops: dict[str, list[tuple[str, Block]]] = {}
    for node, block in placed(program.backward):
        if node in facts.restores and is_pop(getattr(node, "value", None)) and target(node) is not None:
            pops.setdefault(str(target(node)), []).append((facts.restores[node], block))
    return {
        held: Record(pushes[places[0][0]][0], places[0][1])
        for held, places in pops.items()
        if len(places) == 1 and len(pushes.get(places[0][0], ())) == 1 and held not in facts.mutable
    }


def is_of(record: Record, made: Node, block: Block) -> bool:
    """Whether a value is kept by the trips that compute another one, and comes back where that is computed again."""
    leaves = any(isinstance(node, gast.Break | gast.Continue) for node in statements(record.pushed))
    return record.popped is block and made in record.pushed and not leaves


@dataclass(frozen=True)
class _Reading:
    """How many statements of the backward half read a name, and how many of them its elements."""

    names: Counter[str]
    elements: Counter[str]
    text: Text
    trips: list[Block]


def _read(program: Program, facts: Facts) -> _Reading:
    nodes = [*statements(program.backward), program.result]
    return _Reading(
        Counter(one for node in nodes for one in set(loads(node))),
        Counter(one for node in nodes for one in _by_elements(node, facts)),
        text_of(program, facts),
        bodies(program.forward),
    )


def _by_elements(node: Node, facts: Facts) -> set[str]:
    return {n.id for part in header(node) for n in elements(part, facts)}


def _saves(read: list[str], clone: Node, block: Block, reading: _Reading) -> bool:
    """Whether at least two values need not be kept, if what is computed of them is."""
    own = _by_elements(clone, reading.text.facts)
    free = [one for one in read if reading.elements[one] == (one in own) and _is_spared(one, own, block, reading)]
    return len(free) > 1


def _is_spared(held: str, own: set[str], block: Block, reading: _Reading) -> bool:
    """Whether no other statement reads a value, or its shape alone, which something else has."""
    facts = reading.text.facts
    if reading.names[held] == 1 or reading.text.is_steady(name(held)):
        return True
    restored = [str(target(node)) for node in block if node in facts.restores]
    back = [one for one in restored if reading.elements[one] > (one in own) and one not in facts.mutable]
    return any(is_alike(one, held, reading.trips, facts) for one in back)


def _keep(clone: Node, made: Node, trip: Block, program: Program, facts: Facts) -> None:
    """Bring a value back that was computed again."""
    held = str(target(made))
    kept = facts.names.fresh(stack(held))
    head, push = statement(f"{kept} = []"), at(statement(f"{kept}.append({held})"), made)
    program.forward.insert(0, head)
    trip.insert(trip.index(made) + 1, push)
    facts.pushes.update({head: kept, push: kept})
    facts.stacks.setdefault(held, kept)
    clone.value = statement(f"{kept}.pop()").value
    facts.restores[clone] = kept
    again = str(target(clone))
    for item in [n for node in program.backward for n in walk(node) if isinstance(n, gast.Name) and n.id == again]:
        item.id = held
    del facts.again[again]
