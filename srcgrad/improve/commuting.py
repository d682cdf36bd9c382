"""Which statements may change places: what they read, bind, and only add to."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.flow import liveness
from srcgrad.trees import COMPOUND, Block, Node, header, loads, statements, stores, target, written


def live_in(block: Block) -> list[str]:
    """Names that a block reads before it binds them."""
    flow = liveness(block)
    return [one for one, bit in flow.bits.items() if flow.before[0] & bit]


def mentioned(node: Node) -> list[str]:
    """Names that a statement, and those inside it, read or bind."""
    return [one for each in statements([node]) for one in [*loads(each), *stores(each)]]


def mentions_in(block: Block) -> dict[str, list[int]]:
    """Where in the block each name is read or bound, nested statements included."""
    found: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        for inner in () if node is None else statements([node]) if isinstance(node, COMPOUND) else [node]:
            for one in dict.fromkeys((*loads(inner), *stores(inner))):
                places = found.setdefault(one, [])
                if not places or places[-1] != position:
                    places.append(position)
    return found


def only_added(held: str, block: Block, facts: Facts) -> bool:
    """Whether a block does nothing with an adjoint but add to it."""
    for node in block:
        if isinstance(node, COMPOUND):
            if any(held in mentioned(part) for part in [gast.Expr(h) for h in header(node)]):
                return False
            inner = [*node.body, *(getattr(node, "orelse", None) or [])]
            if not only_added(held, inner, facts):
                return False
        elif held in mentioned(node) and not _adds(node, held, facts):
            return False
    return True


def _adds(node: Node, held: str, facts: Facts) -> bool:
    """Whether a statement is `h = h + e`, `h += e`, `h[i] += e` or `add_at(h, i, e)`, with e and i free of h."""
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub):
        others = [node.value, *([node.target.slice] if isinstance(node.target, gast.Subscript) else [])]
        return held in stores(node) and not any(held in loads(part) for part in others)
    if node in facts.accumulates and target(node) == held and isinstance(node.value, gast.BinOp):
        return getattr(node.value.left, "id", "") == held and held not in loads(node.value.right)
    if isinstance(node, gast.Expr) and written(node) == [held]:
        return not any(held in loads(argument) for argument in node.value.args[1:])
    return False


def apart(one: Block, two: Block, but: set[str]) -> bool:
    """Whether statements may change places: neither binds what the other reads or binds, the names in `but` aside.

    These are adjoints to which both add, in whatever order, and names that each binds for itself.
    """
    made = [stored(block) - but for block in (one, two)]
    read = [{r for n in statements(block) for r in loads(n)} - but for block in (one, two)]
    return not (made[0] & (made[1] | read[1]) or made[1] & read[0])


def stored(block: Block) -> set[str]:
    """Names that a block binds, or whose contents it changes."""
    return {s for node in statements(block) for s in stores(node)}
