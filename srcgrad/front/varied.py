"""Names that may depend on a differentiated input, before the tree is in normal form."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from srcgrad.facts import Facts
from srcgrad.front.resolve import PASSIVE_ATTRIBUTES, binding_of
from srcgrad.front.values import is_own
from srcgrad.rules import rule_of
from srcgrad.trees import Node, children, holds, loads, statements, stores, written
from srcgrad.walked import walked


def varied_names(function: Node, facts: Facts, local: frozenset[str], inputs: Iterable[str] = ()) -> list[str]:
    """Names that may depend on the inputs in `wrt`, or on those given, through anything but shapes and constants."""
    users: dict[str, list[Node]] = {}
    for node in statements(function.body):
        for read in dict.fromkeys(loads(node)):
            users.setdefault(read, []).append(node)
    found = dict.fromkeys(inputs or facts.wrt)
    todo = list(found)
    while todo:
        for node in users.get(todo.pop(), []):
            if _carries(node, found, facts, local):
                for bound in stores(node):
                    if bound not in found:
                        found[bound] = None
                        todo.append(bound)
    return list(found)


def assigned_varied(function: Node, facts: Facts, inputs: Iterable[str]) -> frozenset[str]:
    """Names that assignments bind to what depends on the inputs."""
    varied = dict.fromkeys(varied_names(function, facts, facts.local, inputs))
    values = [n for n in statements(function.body) if isinstance(n, gast.Assign | gast.AugAssign)]
    return frozenset(s for n in values if reads_varied(n.value, varied, facts, facts.local) for s in stores(n))


def _carries(node: Node, varied: dict[str, None], facts: Facts, local: frozenset[str]) -> bool:
    if not isinstance(node, gast.Assign | gast.For) and not written(node):
        return False
    value = node.iter if isinstance(node, gast.For) else node.value
    return reads_varied(value, varied, facts, local)


_OF_TEXT = ("startswith", "endswith")  # methods that strings alone have: a key of what varies is no value
_NONE = {gast.Compare, gast.JoinedStr}  # carry none
_BETWEEN = (gast.Compare, gast.JoinedStr, gast.Attribute, gast.IfExp, gast.Call)  # may carry none


def reads_varied(node: Node, varied: dict[str, None], facts: Facts, local: frozenset[str]) -> bool:
    """Whether some varied name is read by an expression in a place that carries a derivative."""
    if type(node) is gast.Name:
        return node.id in varied
    if not any(table["id"] in varied for table in walked(node).names):
        return False
    if not holds(node, *_BETWEEN):
        return True
    todo = [node]
    while todo:
        item = todo.pop()
        kind = type(item)
        if kind is gast.Name:
            if item.id in varied:
                return True
        elif kind in _NONE or (kind is gast.Attribute and item.attr in PASSIVE_ATTRIBUTES and not is_own(item, facts)):
            continue
        elif kind is gast.IfExp:
            todo.extend((item.body, item.orelse))
        elif kind is gast.Call and getattr(item.func, "attr", "") in _OF_TEXT:
            continue
        elif kind is gast.Call:
            found = binding_of(item.func, facts, local)
            rule = None if found is None else rule_of(found.object if found.static is None else found.static)
            if rule is None or rule.kind != "constant":
                todo.extend(children(item))
        else:
            todo.extend(children(item))
    return False
