"""`z = None` before a loop that may make no trip, where a sum begins with the shape of `z` whether or not it did.

for i in range(n):              z = None
    z = x * c                   for i in range(n):
...                                 z = x * c
z_bar = zeros_like(z)           ...
"""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.assigned import Reader
from srcgrad.trees import Block, Node, assign, at, loads, statements, stores, target


def unbound(program: Program, facts: Facts) -> Program:
    """Give such names a value that no shape is taken of.

    Not in compiled code, which has a type for each name, nor in a text that is to be differentiated again: there the
    text that comes of it has the line.
    """
    if facts.module.target == "numba" or facts.module.inline:
        return program
    earlier = program.forward if facts.generated else []
    asked = [name for node in _begun([*earlier, *program.backward]) for name in loads(node.value)]
    if not asked:
        return program
    local = frozenset(s for node in statements(program.forward) for s in stores(node))
    begun = dict.fromkeys(_begun(earlier))
    sure = Reader(local).block([n for n in program.forward if n not in begun], frozenset(program.parameters))
    for name in dict.fromkeys(one for one in asked if one in local and one not in (sure or ())):
        first = next(k for k, node in enumerate(program.forward) if name in _bound(node))
        program.forward.insert(first, at(assign(name, gast.Constant(None, None)), program.forward[first]))
    return program


def _begun(block: Block) -> list[Node]:
    """Statements that make zeros like a value, outside of loops."""
    found: list[Node] = []
    for node in block:
        if isinstance(node, gast.If):
            found += _begun([*node.body, *node.orelse])
        elif target(node) is not None and isinstance(node.value, gast.Call):
            called = str(getattr(node.value.func, "attr", getattr(node.value.func, "id", "")))
            found += [node] if called.startswith(("zeros", "empty")) else []
    return found


def _bound(node: Node) -> set[str]:
    return {s for each in statements([node]) for s in stores(each)}
