"""`with np.errstate(...)` around the statements that the user put into it, in both halves."""

from __future__ import annotations

import gast

from srcgrad.front.quiet import is_inside
from srcgrad.trees import COMPOUND, Block, Node, at, copy


def enclosed(block: Block, contexts: list[Node]) -> Block:
    """Runs of statements that come from the body of a `with` are put into one again."""
    for context in contexts:
        block = _enclosed(block, context)
    return block


def _enclosed(block: Block, context: Node) -> Block:
    made: Block = []
    inside: Block = []
    held: Block = []  # comments, which belong to the statement below
    for node in block:
        if _is_remark(node):
            held.append(node)
        elif is_inside(node, context):
            inside += [*held, node]
            held = []
        else:
            made += [*_closed(inside, context), *held, node]
            inside, held = [], []
            if isinstance(node, COMPOUND):
                node.body = _enclosed(node.body, context)
                node.orelse = _enclosed(getattr(node, "orelse", None) or [], context)
    return made + _closed(inside, context) + held


def _is_remark(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant) and "lineno" not in node.__dict__


def _closed(inside: Block, context: Node) -> Block:
    if not inside:
        return []
    return [at(gast.With([copy(item) for item in context.items], inside, None), context)]
