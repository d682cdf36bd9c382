"""Keep what the returned values need, and what speaks to the user; drop the rest."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program, parents, rebuilt
from srcgrad.facts import Facts
from srcgrad.flow import definitions
from srcgrad.trees import COMPOUND, Node, at, loads, statements


def dead(program: Program, facts: Facts) -> Program:
    """Mark what is needed, starting from the results; a record that nothing reads goes with its push and pop."""
    while _dropped(program, facts):  # a loop of which nothing is left goes, and with it what its header read
        pass
    return program


def _dropped(program: Program, facts: Facts) -> bool:
    """Drop what is not needed once; whether a statement went that was needed."""
    block = program.block
    reaching = definitions(block, program.parameters)
    above = parents(block)
    pushes: dict[str, list[Node]] = {}
    for node in statements(block):
        if node in facts.pushes:
            pushes.setdefault(facts.pushes[node], []).append(node)
        filled = facts.fills.get(getattr(node, "value", None))
        if filled is not None:
            pushes.setdefault(filled, []).append(node)
    needed: dict[Node, None] = {}
    counted: dict[Node, None] = {}
    followed = 0  # definitions that need not be looked at again
    todo = [node for node in statements(block) if _speaks(node, facts)] + [program.result]
    while todo:
        node = todo.pop()
        if node is None or node in needed:
            continue
        needed[node] = None
        todo.append(above[node])
        for name in loads(node):
            if name in pushes:
                todo.extend(pushes[name])
            for definition in reaching.at(node, name, followed):
                bound = reaching.graph.nodes[reaching.of[definition][0]]
                todo.append(bound)
                if type(bound) is not gast.For:
                    followed |= 1 << definition
                elif not _is_in(node, bound, above):
                    counted[bound] = None
    counted.update({node: None for node in needed if node in facts.moving and isinstance(node, COMPOUND)})
    for held in counted:
        if not any(node in needed for node in statements([held]) if node is not held):
            held.body = [at(gast.Pass(), held)]  # a loop leaves its last item, a header draws
            needed[held.body[0]] = None
    program.forward = rebuilt(program.forward, needed)
    program.backward = rebuilt(program.backward, needed)
    return len(statements(program.block)) < len(needed)


def _is_in(node: Node, loop: Node, above: dict[Node, Node | None]) -> bool:
    """Whether a statement stands in a loop."""
    outer: Node | None = node
    while outer is not None and outer is not loop:
        outer = above.get(outer)
    return outer is loop


def _speaks(node: Node, facts: Facts) -> bool:
    """Whether a statement acts on more than names: print, assert, raise, a draw of a generator."""
    if isinstance(node, gast.Assert | gast.Raise) or node in facts.moving:
        return True
    return isinstance(node, gast.Expr) and node in facts.effects
