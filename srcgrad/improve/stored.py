"""A sum of two terms that is only stored away is written where it is stored.

b_bar = c * b
b_bar += e[:, :n]       =>  a_bar[:, d:] = c * b + e[:, :n]
a_bar[:, d:] = b_bar
"""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.quiet import is_inside
from srcgrad.improve.gathered import is_final
from srcgrad.improve.inline import Uses, count, has_room, is_inlinable, is_steady, positions
from srcgrad.improve.order import added
from srcgrad.trees import COMPOUND, Block, Node, is_write, stores, target


def stored(program: Program, facts: Facts) -> Program:
    """Write the terms of an adjoint into the line that stores it into a part of another one, if they fit there."""
    if is_final(facts):
        program.backward = _block(program.backward, count(program.block), facts, 4 + 4 * (facts.mode == "vjp"))
    return program


def _block(block: Block, uses: Uses, facts: Facts, indent: int) -> Block:
    terms: dict[str, list[int]] = {}
    gone: set[int] = set()
    written = positions(block)
    for position, node in enumerate(block):
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, uses, facts, indent + 4)
            node.orelse = _block(getattr(node, "orelse", None) or [], uses, facts, indent + 4)
        elif target(node) is not None or isinstance(getattr(node, "target", None), gast.Name):
            terms.setdefault(stores(node)[0], []).append(position)
        elif is_write(node) and isinstance(node.value, gast.Name):
            held, places = node.value.id, terms.get(node.value.id, [])
            if len(places) != 2 or uses.bound.get(held) != 2 or uses.read.get(held) != 2:
                continue
            total = _sum(held, block[places[0]], block[places[1]], facts)
            steady = all(is_steady(block[k].value, k, position, written, facts) for k in places)
            around = [is_inside(one, each) for each in facts.contexts for one in (node, *(block[k] for k in places))]
            if total is not None and steady and not any(around) and has_room(total, node, held, uses.width - indent):
                node.value = total
                gone.update(places)
    return [node for position, node in enumerate(block) if position not in gone]


def _sum(held: str, first: Node, second: Node, facts: Facts) -> Node | None:
    """The `e + g` of `u = e` and `u += g`; None if they are not of this form, or have to stay where they are."""
    if not isinstance(second, gast.AugAssign) or not isinstance(second.op, gast.Add | gast.Sub):
        return None
    if target(first) != held or not is_inlinable(held, first, facts) or facts.hooked(second):
        return None
    if isinstance(second.op, gast.Sub):
        return gast.BinOp(first.value, second.op, second.value)
    return added(first.value, second.value, facts)
