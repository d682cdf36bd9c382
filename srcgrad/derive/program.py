"""A derivative before it is text: forward half, backward half, and what is returned."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.facts import Facts
from srcgrad.front.unshared import is_fresh
from srcgrad.trees import COMPOUND, Block, Node, loads, statements, target


@dataclass
class Program:
    """The two halves, the parameters, and the values returned: the primal's (if wanted) and the adjoints."""

    parameters: list[str]
    forward: Block
    backward: Block
    result: Node  # a Return of all values that leave the function

    @property
    def block(self) -> Block:
        """All statements in order."""
        return [*self.forward, *self.backward, self.result]


def kept_alive(program: Program, facts: Facts) -> dict[str, None]:
    """The names whose arrays must not change in place: those that are pushed, and those that views show later on."""
    found = {name: None for n in statements(program.forward) if n in facts.pushes for name in loads(n)}
    if facts.augmented:
        found.update(_shown_later(list(statements(program.block)), found, facts))
    return found


def _shown_later(order: Block, pushed: dict[str, None], facts: Facts) -> dict[str, None]:
    """Arrays that `b /= np.flip(b)` would change while the view, which has a name by then, is still to be read."""
    changed: dict[str, int] = {}  # the last change of each array
    for place, node in enumerate(order):
        bound = target(node)
        if bound is not None and node in facts.augmented:
            changed[bound] = place
    found: dict[str, None] = {}
    for place, node in enumerate(order) if changed else ():
        view = target(node)
        if view is None or node in facts.augmented or not isinstance(node.value, gast.Call | gast.Subscript):
            continue
        shown = [one for one in loads(node.value) if one in changed and one != view]
        if shown and not is_fresh(node.value, facts):
            reads = [k for k, other in enumerate(order) if view in loads(other)]
            last = len(order) if view in pushed else max(reads, default=place)
            found.update({one: None for one in shown if place < changed[one] < last})
    return found


def parents(block: Block, above: Node = None, found: dict[Node, Node] | None = None) -> dict[Node, Node]:
    """The compound statement that holds each statement; None at the top."""
    found = {} if found is None else found
    for node in block:
        found[node] = above
        if isinstance(node, COMPOUND):
            parents(node.body, node, found)
            parents(getattr(node, "orelse", None) or [], node, found)
    return found


def rebuilt(block: Block, keep: dict[Node, None]) -> Block:
    """The block with only the statements in `keep`, and no empty compound statement."""
    made: Block = []
    for node in block:
        if node not in keep:
            continue
        if isinstance(node, gast.If):
            node.body, node.orelse = rebuilt(node.body, keep), rebuilt(node.orelse, keep)
            if not node.body and node.orelse:
                node.test = gast.UnaryOp(gast.Not(), node.test)
                node.body, node.orelse = node.orelse, []
            if not node.body:
                continue
        elif isinstance(node, gast.For | gast.While):
            node.body = rebuilt(node.body, keep)
            if not node.body:
                continue
        made.append(node)
    return made
