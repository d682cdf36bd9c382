"""Calls that carry no derivative, of functions that change an array by `a += e` of a parameter of theirs."""

from __future__ import annotations

import gast

from srcgrad.analyse.alias import is_computed, is_fresh
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.procedures import Procedures
from srcgrad.trees import Node, header, inside, stores, walk


def check_entered(order: list[Node], facts: Facts) -> None:
    """Refuse them where the argument may be an array: what carries a derivative is looked at in the function itself."""
    procedures = Procedures(facts, augments=True)
    for node in order:
        for call in (n for part in header(node) for n in inside(part, gast.Call)):
            if call is getattr(node, "value", None) and any(one in facts.active for one in stores(node)):
                continue
            for given in procedures.arguments(call, facts, facts.local):
                for held in (n.id for n in walk(given) if isinstance(n, gast.Name) and not is_computed(given)):
                    if _may_be_array(held, facts):
                        raise facts.refuse(
                            call,
                            "E5010",
                            f"`{gast.unparse(call.func)}` changes its argument in place where that is an array",
                            "write `a = a + e` in that function for `a += e`, or give it a copy: `.copy()`",
                        )


def _may_be_array(held: str, facts: Facts) -> bool:
    """Whether a name may hold an array that something else reads: of floats, or one that the caller gave."""
    kind = facts.kinds.get(held, UNKNOWN)
    spec = facts.value_spec.get(held)
    if kind.tag == "scalar" or (spec is not None and spec.scalar):
        return False
    made = facts.definition.get(held)
    if held in facts.temporaries and made is not None and is_fresh(made, facts):
        return False
    return held in facts.varied or kind.tag == "array"
