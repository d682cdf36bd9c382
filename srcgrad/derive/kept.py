"""What the backward half reads of the forward half: that is all that a pullback keeps in memory."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.derive.program import Program
from srcgrad.emit.expression import expression as spelled
from srcgrad.facts import Facts
from srcgrad.flow import ENTRY, definitions
from srcgrad.trees import loads, statements


@dataclass(frozen=True)
class Saved:
    """A value that the forward half leaves for the backward half.

    `name` is its name in the text, `value` what it holds: a stack such as `x_stack` holds x of each trip. `line` is
    the line of the user's text that binds it, 0 for an argument; `needed` are the lines that stand above what reads it
    in the backward half.
    """

    name: str
    value: str
    line: int
    needed: tuple[int, ...]


def kept(program: Program, facts: Facts) -> tuple[Saved, ...]:
    """What the backward half reads and the forward half has bound: arguments first, then as the text binds it."""
    reaching = definitions(program.block, program.parameters)
    place = {node: k for k, node in enumerate(statements(program.block))}
    forward = set(statements(program.forward))
    order: dict[str, tuple[int, int]] = {}
    needed: dict[str, set[int]] = {}
    backward = [node for node in statements(program.backward) if node not in facts.effects]
    for node, read in [(n, r) for n in backward for r in loads(n)]:
        for number in reaching.at(node, read):
            position = reaching.of[number][0]
            made = None if position == ENTRY else reaching.graph.nodes[position]
            if (made is None and read not in facts.seeds) or made in forward:
                first = (-1, 0) if made is None else (place[made], getattr(made, "lineno", 0))
                order[read] = min(order.get(read, first), first)
                needed.setdefault(read, set()).add(getattr(node, "lineno", 0))
    arguments = {name: k for k, name in enumerate(program.parameters)}
    names = sorted(order, key=lambda name: (order[name][0], arguments.get(name, 0)))
    values = {name: (name, order[name][1]) for name in names}
    for node in statements(program.forward):
        stack = facts.pushes.get(node)
        if stack in values and isinstance(node, gast.Expr):
            values[stack] = spelled(node.value.args[0]), node.lineno
    return tuple(Saved(name, *values[name], tuple(sorted(needed[name] - {0}))) for name in names)
