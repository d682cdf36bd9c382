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
    for clone, block in placed(program.backward) if len(known) > 1 else ():
        made = facts.definition.get(facts.again.get(str(target(clone)), ""))
        read = [one for one in dict.fromkeys(loads(clone)) if one in known]
        if made is None or len(read) < 2:
            continue
        if all(is_of(known[one], made, block) for one in read) and _saves(read, clone, block, program, facts):
            _keep(clone, made, known[read[0]].pushed, program, facts)
            changed = True
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


def _saves(read: list[str], clone: Node, block: Block, program: Program, facts: Facts) -> bool:
    """Whether at least two values need not be kept, if what is computed of them is."""
    others = [node for node in [*statements(program.backward), program.result] if node is not clone]
    wanted = {n.id for node in others for part in header(node) for n in elements(part, facts)}
    text = text_of(program, facts)
    free = [one for one in read if one not in wanted and _is_spared(one, others, wanted, block, text, program)]
    return len(free) > 1


def _is_spared(held: str, others: Block, wanted: set[str], block: Block, text: Text, program: Program) -> bool:
    """Whether nothing else reads a value, or its shape alone, which something else has."""
    facts = text.facts
    if not any(held in loads(node) for node in others) or text.is_steady(name(held)):
        return True
    back = [str(target(node)) for node in block if node in facts.restores and target(node) in wanted]
    return any(is_alike(one, held, bodies(program.forward), facts) for one in back if one not in facts.mutable)


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
