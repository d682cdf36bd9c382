"""A loop keeps what a name holds at the end of a trip, if the backward half of the trip reads no older value."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop, is_push
from srcgrad.facts import Facts
from srcgrad.trees import Block, Node, at, loads, statements, stores, target


def late(program: Program, facts: Facts) -> Program:
    """Keep such values where the trip ends, with all that is kept there, and not where they are overwritten.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x, n):\\n    for _ in range(n):\\n        x = np.tanh(x)\\n    return x"
    >>> print("\\n".join(explain_text(text, after="late", wrt=("x",)).splitlines()[:4]))
    x_stack = []
    for _ in range(n):
        x = np.tanh(x)
        x_stack.append(x)
    """
    if facts.generated or facts.pushes_forward:
        return program
    for loop in [node for node in program.forward if isinstance(node, gast.For | gast.While)]:
        inside = list(statements(loop.body))
        if any(isinstance(node, gast.Break | gast.Continue) for node in inside):
            continue
        for push in [node for node in loop.body if node in facts.pushes and is_push(node)]:
            held = getattr(push.value.args[0], "id", "")
            if _is_bound_behind(held, push, loop.body, inside) and not changes(held, facts):
                back = _popped(facts.pushes[push], held, program, facts)
                if back is not None:
                    body, pop = back
                    loop.body.remove(push)
                    loop.body.append(at(push, loop))
                    body.remove(pop)
                    body.insert(0, at(pop, loop))
    return program


def _is_bound_behind(held: str, push: Node, block: Block, inside: Block) -> bool:
    """Whether a trip binds a name once, behind the place where its old value is kept."""
    bound = [node for node in inside if held in stores(node)]
    return len(bound) == 1 and bound[0] in block[block.index(push) :]


def changes(held: str, facts: Facts) -> bool:
    """Whether the elements of what a name holds may change."""
    tables = (facts.mutable, facts.viewed, facts.swapped, facts.containers)
    return any(held in table for table in tables) or bool(facts.list_kind(held))


def _popped(kept: str, held: str, program: Program, facts: Facts) -> tuple[Block, Node] | None:
    """The body that takes a value off its list behind all that reads the name, and the statement that does."""
    for position, loop in enumerate(program.backward):
        body = loop.body if isinstance(loop, gast.For | gast.While) else []
        pop = next((node for node in body if facts.restores.get(node) == kept), None)
        if pop is None or not is_pop(pop.value) or target(pop) != held:
            continue
        place = body.index(pop)
        behind = [*body[place + 1 :], *program.backward[position + 1 :], program.result]
        bound = [node for node in statements(program.backward) if held in stores(node)]
        read = held in loads(loop) or any(held in loads(node) for node in statements(behind))
        return None if read or len(bound) > 1 or not place else (body, pop)
    return None
