"""Calls that carry no derivative, of functions that change an array by `a += e` of a parameter of theirs."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.analyse.alias import is_computed, is_fresh
from srcgrad.analyse.views import shared
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.procedures import Procedures
from srcgrad.trees import Node, header, inside, loads, stores, target, walk


def check_entered(order: list[Node], facts: Facts) -> None:
    """Refuse them where the argument may be an array: what carries a derivative is looked at in the function itself."""
    procedures = Procedures(facts, augments=True)
    read = {one for node in order for one in loads(node)}
    for node in order:
        unread = target(node) is not None and target(node) not in read  # it goes, and what it changes would not change
        for call in (n for part in header(node) for n in inside(part, gast.Call)):
            if call is getattr(node, "value", None) and any(one in facts.active for one in stores(node)):
                continue
            for given in procedures.arguments(call, facts, facts.local):
                for held in (n.id for n in walk(given) if isinstance(n, gast.Name) and not is_computed(given)):
                    if _may_be_array(held, order, facts) or (unread and not _is_number(held, facts)):
                        raise facts.refuse(
                            call,
                            "E5010",
                            f"`{gast.unparse(call.func)}` changes its argument in place where that is an array",
                            "write `a = a + e` in that function for `a += e`, or give it a copy: `.copy()`",
                        )


def _may_be_array(held: str, order: list[Node], facts: Facts) -> bool:
    """Whether a name may hold an array that something else reads: of floats, of the module, or one that was given."""
    if _is_number(held, facts):
        return False
    made = facts.definition.get(held)
    if held in facts.temporaries and made is not None and is_fresh(made, facts):
        return False
    return held in facts.varied or facts.kinds.get(held, UNKNOWN).tag == "array" or _shows_module(held, order, facts)


def _is_number(held: str, facts: Facts) -> bool:
    spec = facts.value_spec.get(held)
    return facts.kinds.get(held, UNKNOWN).tag == "scalar" or (spec is not None and spec.scalar)


def _shows_module(held: str, order: list[Node], facts: Facts) -> bool:
    """Whether a name may show an array of the module: by itself, or by what it was bound to."""
    todo = [held]
    for one in todo:
        found = None if one in facts.local else facts.namespace.lookup(one)
        if found is not None and found.kind == "object" and isinstance(found.object, np.ndarray):
            return True
        for node in order:
            if one in stores(node) and not is_fresh(node, facts):
                todo += [read for read in shared(node, facts) if read not in todo]
    return False
