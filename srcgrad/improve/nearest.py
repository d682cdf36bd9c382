"""A trip keeps what its backward half reads, not what that is computed from: `x + 0.5 * h * k` rather than k."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop, is_push
from srcgrad.facts import Facts
from srcgrad.improve.inline import Uses, count
from srcgrad.names import stack
from srcgrad.trees import COMPOUND, Block, Node, header, loads, name, statements, stores, target, walk

_WORTH = 2  # operations: one is as soon computed again as it is named


@dataclass(frozen=True)
class _Record:
    """What one statement of a loop puts on a list, and one of its backward form takes off."""

    held: str
    push: Node
    pushed: Block
    pop: Node
    popped: Block


def nearest(program: Program, facts: Facts) -> Program:
    """Keep a value in the place of one that is read for nothing else, where both have one shape.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x: float, n):\\n for _ in range(n):\\n  k = np.sin(x)\\n  x = np.sin(x + k * 2.0)\\n return x"
    >>> print("\\n".join(explain_text(text, after="nearest", wrt=("x",)).splitlines()[3:9]))
        k = np.sin(x)
        t2 = k * 2.0
        t1 = x + t2
        x_stack.append(x)
        x = np.sin(t1)
        t1_stack.append(t1)
    """
    if facts.generated or facts.pushes_forward:
        return program
    uses = count([*program.backward, program.result])
    for one in _records(program, facts):
        again = _computed(one, uses, facts)
        if again:
            _exchange(one, again, program, uses, facts)
    return program


def _records(program: Program, facts: Facts) -> list[_Record]:
    """Records of loops, each with one push and one pop."""
    pushes: dict[str, list[tuple[Node, Block]]] = {}
    for node, block in _placed(program.forward):
        if node in facts.pushes and is_push(node):
            pushes.setdefault(facts.pushes[node], []).append((node, block))
    found = []
    for node, block in _placed(program.backward):
        held = target(node)
        if held is None or node not in facts.restores or not is_pop(node.value):
            continue
        kept = pushes.get(facts.restores[node], [])
        if len(kept) == 1 and getattr(kept[0][0].value.args[0], "id", "") == held:
            found.append(_Record(held, *kept[0], node, block))
    return found


def _placed(block: Block) -> list[tuple[Node, Block]]:
    """Each statement with the block that has it."""
    found = []
    for node in block:
        found.append((node, block))
        if isinstance(node, COMPOUND):
            found += [*_placed(node.body), *_placed(getattr(node, "orelse", None) or [])]
    return found


def _computed(one: _Record, uses: Uses, facts: Facts) -> Block:
    """The statements that compute again what alone reads a record, the last of them what is kept in its place."""
    chain: Block = []
    last, work = one.held, 0
    while uses.read.get(last) == 1:
        reader = next((n for n in one.popped[one.popped.index(one.pop) :] if last in loads(n)), None)
        bound = None if reader is None else target(reader)
        if reader is None or bound not in facts.again:
            break
        chain.append(reader)
        work += sum(isinstance(n, gast.BinOp | gast.Call) for n in walk(reader.value))
        last = str(bound)
    if not chain or work < _WORTH or uses.bound.get(last) != 1 or not _is_alike(one, facts.again[last], facts):
        return []
    return chain


def _is_alike(one: _Record, other: str, facts: Facts) -> bool:
    """Whether a value of the forward half is there when the record is made, has its shape, and stays as it is."""
    changing = (facts.mutable, facts.viewed, facts.swapped, facts.containers)
    if any(each in table for each in (one.held, other) for table in changing):
        return False
    kept, computed = facts.value_spec.get(one.held), facts.value_spec.get(other)
    if kept is None or computed is None or kept.shape != computed.shape or facts.list_kind(one.held):
        return False
    before = one.pushed[: one.pushed.index(one.push)]
    return other in facts.definition and any(target(node) == other for node in before)


def _exchange(one: _Record, again: Block, program: Program, uses: Uses, facts: Facts) -> None:
    """Keep the other value, on a list of its name."""
    last = str(target(again[-1]))
    own, old = facts.again[last], facts.pushes[one.push]
    kept = facts.names.fresh(stack(own))
    facts.stacks[own] = kept
    facts.stacks.pop(one.held, None)
    for node in [n for n in statements(program.block) if old in (facts.pushes.get(n), facts.restores.get(n))]:
        for item in walk(node):
            if isinstance(item, gast.Name) and item.id == old:
                item.id = kept
        for table in (facts.pushes, facts.restores):
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
