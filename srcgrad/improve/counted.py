"""Trips of a `while` are counted by a stack, where each trip keeps something.

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

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop
from srcgrad.facts import Facts
from srcgrad.improve.gathered import is_final
from srcgrad.trees import Block, Node, at, name, stores, target, walk


def counted(program: Program, facts: Facts) -> Program:
    """Undo trips for as long as there is a record, which each trip has made once and undoes once."""
    if not is_final(facts) or not facts.whiles:
        return program
    mentions = Counter(item.id for node in program.block for item in walk(node) if isinstance(item, gast.Name))
    for place, back in enumerate(program.backward):
        loop = facts.whiles.get(back)
        if loop is None or loop not in program.forward:
            continue
        trips = back.iter.args[0].id
        kept = [one for one in _popped(back.body) if mentions[one] == 3 and _is_kept(one, loop, program.forward, facts)]
        if kept and mentions[trips] == 3:
            program.backward[place] = at(gast.While(name(kept[0]), back.body, []), back)
            program.forward = [n for n in program.forward if target(n) != trips]
            loop.body = [n for n in loop.body if not (isinstance(n, gast.AugAssign) and stores(n) == [trips])]
    return program


def _popped(body: Block) -> list[str]:
    """The stacks from which every trip takes a value, in the order of the text."""
    taken = [n.value if isinstance(n, gast.Assign) else n.test for n in body if isinstance(n, gast.Assign | gast.If)]
    return [value.func.value.id for value in taken if is_pop(value)]


def _is_kept(stack: str, loop: Node, forward: Block, facts: Facts) -> bool:
    """Whether a stack is made before the loop, not in another one, and every trip puts a value on it."""
    made = any(target(node) == stack for node in forward[: forward.index(loop)])
    return made and any(facts.pushes.get(node) == stack for node in loop.body)
