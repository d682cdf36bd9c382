"""A derivative before it is text: forward half, backward half, and what is returned."""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.facts import Facts
from srcgrad.trees import COMPOUND, Block, Node, loads, statements


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


def pushed(forward: Block, facts: Facts) -> dict[str, None]:
    """The names whose values a forward half pushes: what holds them must not change in place."""
    return {name: None for n in statements(forward) if n in facts.pushes for name in loads(n)}


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
