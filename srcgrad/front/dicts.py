"""`dict(w=a)`, which is a display in other words, as a display."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.trees import SIMPLE, Node, at, constant


def displayed(call: Node, facts: Facts) -> Node | None:
    """The display that a call of `dict` with words alone is; None for any other call."""
    if call.args or not isinstance(call.func, gast.Name) or not all(word.arg for word in call.keywords):
        return None
    found = binding_of(call.func, facts, facts.local)
    if found is None or found.object is not dict:
        return None
    return gast.Dict([constant(word.arg) for word in call.keywords], [word.value for word in call.keywords])


def spell_displays(node: Node, facts: Facts) -> None:
    """The same for all calls below a node of a text of ours, in which nothing else is spelled anew."""
    for key in node._fields:
        part = getattr(node, key, None)
        if isinstance(part, list):
            setattr(node, key, [_spelled(p, facts) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST):
            setattr(node, key, _spelled(part, facts))


def _spelled(node: Node, facts: Facts) -> Node:
    if not node._fields or isinstance(node, SIMPLE):
        return node
    spell_displays(node, facts)
    made = displayed(node, facts) if isinstance(node, gast.Call) else None
    return node if made is None else at(made, node)
