"""Calls that change what the rest of their expression may read: they are written out before all of it."""

from __future__ import annotations

import gast

from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.functions import called_by
from srcgrad.front.procedures import Procedures
from srcgrad.front.sequence import changes_outside, outer_changes
from srcgrad.front.straight import is_straight
from srcgrad.front.written_out import Site
from srcgrad.trees import Node, is_write, statements, walk


def check_order(value: Node | None, site: Site, alone: bool = True) -> None:
    """A call that changes what the rest of its expression may read stands alone; `a += g(a)` reads a before."""
    calls = [] if value is None else [n for n in walk(value) if isinstance(n, gast.Call)]
    for call in [n for n in calls if n is not value or not alone]:
        found = called_by(call, site.facts, site.local)
        if found is None:
            continue
        writes = found.tree is not None and _changes_what_is_read(found.tree, call, value, site)
        known = Procedures(site.facts)
        given = known.arguments(call, site.facts, site.local)
        seen = {one for part in given for one in known.seen(part, site.facts, site.local)}
        if writes or (seen and not (alone and _is_apart(seen, call, value, site.facts))):
            raise site.facts.refuse(
                call,
                "E5010",
                f"`{found.name}` changes what the rest of the expression may read",
                "call it in a statement of its own: `t = ...`",
            )


def _changes_what_is_read(tree: Node, call: Node, value: Node, site: Site) -> bool:
    """Whether a nested function writes into arrays, or binds a name that its expression reads beside it.

    Other calls are written out before the statement as well, in their order.
    """
    if not changes_outside(tree, site.facts) or is_straight(tree):
        return changes_outside(tree, site.facts)
    if any(is_write(node) for node in statements(tree.body)):
        return True
    inside = {id(n) for n in walk(call)}
    read = {n.id for n in walk(value) if isinstance(n, gast.Name) and id(n) not in inside}
    calls = [n for n in walk(value) if isinstance(n, gast.Call) and id(n) not in inside]
    found = [called_by(one, site.facts, site.local) for one in calls]
    trees = [one.tree for one in found if one is not None and one.tree is not None]
    kept = [one for one in trees if is_straight(one) or not changes_outside(one, site.facts)]
    read |= {n.id for one in kept for n in walk(one) if isinstance(n, gast.Name)}
    return bool(read & outer_changes(tree, site.facts))


def _is_apart(seen: set[str], call: Node, value: Node, facts: Facts) -> bool:
    """Whether a call changes lists and dicts alone that nothing else in its expression reads."""
    inside = {id(n) for n in walk(call)}
    read = {n.id for n in walk(value) if isinstance(n, gast.Name) and id(n) not in inside}
    kinds = [facts.kinds.get(one, facts.named.get(one, UNKNOWN)) for one in sorted(seen)]
    return not seen & read and all(kind.tag in ("list", "dict") for kind in kinds)
