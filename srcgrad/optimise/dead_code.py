"""Dead code, and names that a loop without a trip would leave unbound.

Keep what the returned values need, and what speaks to the user; drop the rest.

`z = None` before a loop that may make no trip, where a sum begins with the shape of `z` whether or not it did.

for i in range(n):              z = None
    z = x * c                   for i in range(n):
...                                 z = x * c
z_bar = zeros_like(z)           ...
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.core.control_flow import definitions
from srcgrad.core.facts import Facts
from srcgrad.core.trees import COMPOUND, Block, Node, assign, at, loads, statements, stores, target
from srcgrad.core.visitor import own_statements
from srcgrad.derive.program import Program, parents, rebuilt
from srcgrad.frontend.early_facts import After, Names, Reader


def dead_code(program: Program, facts: Facts) -> Program:
    """Mark what is needed, starting from the results; a record that nothing reads goes with its push and pop."""
    if facts.left_over:
        drop(program, facts)
    return program


def drop(program: Program, facts: Facts) -> None:
    """Drop what nothing needs, until all is needed: a loop of which nothing is left goes with what its header read."""
    while _drop_once(program, facts):
        pass
    facts.left_over = False


def _drop_once(program: Program, facts: Facts) -> bool:
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


def unbound_shapes(program: Program, facts: Facts) -> Program:
    """Give such names a value that no shape is taken of.

    Not in compiled code, which has a type for each name, nor in a text that is to be differentiated again: there the
    text that comes of it has the line.
    """
    if facts.module.target.typed or facts.module.inline:
        return program
    earlier = program.forward if facts.generated else []
    asked = [name for node in _zeros_statements([*earlier, *program.backward]) for name in loads(node.value)]
    kept = [node for node in statements(program.forward) if node in facts.pushes]
    if not asked and not kept:
        return program
    local = frozenset(s for node in statements(program.forward) for s in stores(node))
    begun = dict.fromkeys(_zeros_statements(earlier))
    reader = _Keeper(local, facts=facts)
    sure = reader.block([n for n in program.forward if n not in begun], frozenset(program.parameters)) or ()
    early = [one for one in asked if one in local and one not in sure]
    for name in dict.fromkeys([*early, *reader.kept]):
        first = next(k for k, node in enumerate(program.forward) if name in _names_bound(node))
        program.forward.insert(first, at(assign(name, gast.Constant(None, None)), program.forward[first]))
    return program


@dataclass
class _Keeper(Reader):
    """Which names are put on a stack though nothing may have bound them: `x` of `for x in s` before its first trip."""

    facts: Facts = field(kw_only=True)
    kept: dict[str, None] = field(default_factory=dict)

    def statement(self, node: Node, bound: Names) -> After:
        """Note what is put on a stack."""
        if node in self.facts.pushes:
            self.kept.update(dict.fromkeys(one for one in loads(node) if one in self.local and one not in bound))
        return super().statement(node, bound)


def _zeros_statements(block: Block) -> list[Node]:
    """Statements that make zeros like a value, outside of loops."""
    found: list[Node] = []
    for node in own_statements(block, (gast.For, gast.While, gast.With)):
        if target(node) is not None and isinstance(node.value, gast.Call):
            called = str(getattr(node.value.func, "attr", getattr(node.value.func, "id", "")))
            found += [node] if called.startswith(("zeros", "empty")) else []
    return found


def _names_bound(node: Node) -> set[str]:
    return {s for each in statements([node]) for s in stores(each)}
