"""Checkpointed loops: the forward half keeps few states, the backward half is handed all of them, last first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.facts import Facts, copied
from srcgrad.front.step import Step
from srcgrad.names import stack
from srcgrad.trees import Block, Node, assign, at, constant, expression, name, statement

if TYPE_CHECKING:
    from srcgrad.derive.saves import Saves


def own_statements(facts: Facts) -> dict[Node, Node]:
    """The statements of the bodies of checkpointed loops: what they overwrite, the snapshots bring back."""
    return {inner: loop for loop in facts.checkpointed for inner in loop.body}


def backward_loop(loop: Node, body: Block, saves: Saves) -> Block:
    """`for t, h in states.backwards(step, w): ...`, and in the forward half `states.append(h)` before each trip."""
    facts = saves.facts
    call, step = _call(loop, facts)
    first = 1 if step.item else 0
    state = call.args[first : first + len(step.state)]
    constants = call.args[first + len(step.state) :]
    states = facts.names.fresh("states")
    facts.snapshots[states] = loop
    made = at(assign(states, _snapshots(loop, step, facts)), loop)
    keep = statement(f"{states}.append()")
    keep.value.args = [copied(item, facts) for item in state]
    for push in (made, keep):
        facts.pushes[at(push, loop)] = states
    saves.before.setdefault(loop, []).append(made)
    saves.before.setdefault(loop.body[0], []).append(keep)
    head = _from_stack(loop, states, saves) if loop in saves.lost.looped else []
    walk_back = expression(f"{states}.backwards()")
    walk_back.args = [copied(call.func, facts), *(copied(item, facts) for item in constants)]
    names = [name(item.id, gast.Store()) for item in state]
    target = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Store())
    if step.item:
        target = gast.Tuple(elts=[name(loop.target.id, gast.Store()), target], ctx=gast.Store())
    changed = [item.id for item in state if item.id in facts.mutable] if facts.mode == "vjp" else []
    own = [at(statement(f"{one} = {one}.copy()"), loop) for one in changed]  # it changes before another walk back
    return [*head, at(gast.For(target, walk_back, body, [], None), loop), *own]


def _call(loop: Node, facts: Facts) -> tuple[Node, Step]:
    """The call of the step in the body of a loop."""
    calls = [n.value for n in loop.body if isinstance(getattr(n, "value", None), gast.Call)]
    found = [call for call in calls if call in facts.operation and isinstance(facts.operation[call].function, Step)]
    assert len(found) == 1, "the body of a checkpointed loop is one call"
    return found[0], facts.operation[found[0]].function


def _snapshots(loop: Node, step: Step, facts: Facts) -> Node:
    """`Snapshots(range(n), slots=s)`; the number of trips alone where the step does not read the item."""
    made = expression(f"{facts.library('Snapshots')}()")
    if isinstance(loop, gast.For):
        trips = copied(loop.iter, facts)
        if trips.func.id == "reversed":
            trips = expression("trips[::-1]", trips=trips.args[0])
        if not step.item:
            single = isinstance(trips, gast.Call) and len(trips.args) == 1
            trips = trips.args[0] if single else expression("len(trips)", trips=trips)
        made.args = [trips]
    slots = facts.checkpointed[loop]
    if getattr(slots, "value", 0) is not None:
        made.keywords = [gast.keyword("slots", copied(slots, facts))]
    further = len(step.results) - len(step.state)
    if further:
        made.keywords.append(gast.keyword("further", constant(further)))
    return made


def _from_stack(loop: Node, states: str, saves: Saves) -> Block:
    """A loop inside of another one has snapshots for each of its runs."""
    facts = saves.facts
    kept = facts.names.fresh(stack(states))
    saves.stacks.append(kept)
    push = at(statement(f"{kept}.append({states})"), loop)
    facts.pushes[push] = kept
    saves.after.setdefault(loop, []).append(push)
    again = ".copy()" if facts.mode == "vjp" else ""
    return [at(statement(f"{states} = {kept}.pop(){again}"), loop)]
