"""Arrays that change places, `a, b = b, a`: so do their adjoints, in the opposite direction."""

from __future__ import annotations

from typing import Any  # tables of several things, by name

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.states import PRESENT
from srcgrad.facts import Facts
from srcgrad.parts import is_swap
from srcgrad.trees import Block, Node, at, name, stores


def swaps(node: Node, facts: Facts) -> bool:
    """Whether a statement lets arrays that the function writes into change places."""
    return is_swap(node) and stores(node)[0] in facts.swapped


def swapped_back(node: Node) -> Node:
    """`b, a = a, b`: every name holds again what it held before."""
    return _exchange([n.id for n in node.value.elts], stores(node), node)


def undo_swap(node: Node, adjoints: Adjoints) -> Block:
    """The adjoints change places."""
    bound, read = stores(node), [n.id for n in node.value.elts]
    facts = adjoints.facts
    if not any(adjoints.exists(one) for one in bound):
        return []
    made: Block = []
    for one in bound:
        if not adjoints.exists(one):
            made.append(adjoints.zeros(one, facts.value_spec.get(one), node))
            adjoints.state[one] = PRESENT
    made.append(_exchange([adjoints.of(one) for one in read], [adjoints.of(one) for one in bound], node))
    for known in (adjoints.state, adjoints.specs, adjoints.masks, adjoints.flags):
        _renamed(known, bound, read)
    return made


def _renamed(known: dict[str, Any], bound: list[str], read: list[str]) -> None:
    """What is known of the adjoints goes with them."""
    held = {old: known.pop(new) for new, old in zip(bound, read, strict=True) if new in known}
    known.update(held)


def tangent_of_swap(node: Node, facts: Facts, dotted: object) -> Block:
    """The tangents change places."""
    assert callable(dotted), "a function that names tangents"
    bound, read = stores(node), [n.id for n in node.value.elts]
    if not all(one in facts.active for one in bound):
        return []
    return [_exchange([dotted(one, facts) for one in bound], [dotted(one, facts) for one in read], node)]


def _exchange(bound: list[str], read: list[str], like: Node) -> Node:
    targets = gast.Tuple(elts=[name(one, gast.Store()) for one in bound], ctx=gast.Store())
    values = gast.Tuple(elts=[name(one) for one in read], ctx=gast.Load())
    return at(gast.Assign([targets], values, None), like)
