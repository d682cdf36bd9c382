"""Which names hold nothing but lists, or dicts, that a function made or was given."""

from __future__ import annotations

import gast

from srcgrad.core.facts import UNKNOWN, Facts, inner_kinds
from srcgrad.core.trees import Node, is_write, parameters, part_written, statements, stores, target, walk, written_names
from srcgrad.frontend.again.stacks import container_of
from srcgrad.frontend.context import changed_lists, is_change
from srcgrad.frontend.rename_variables import reading_apart
from srcgrad.frontend.resolve import binding_of
from srcgrad.runtime import owned


def kinds_of_lists(function: Node, facts: Facts | None = None) -> dict[str, str]:
    """Names to which nothing but new lists, or new dicts, is bound; an argument is copied before it is changed."""
    known: dict[str, str] = {}
    while True:
        found = _kinds(function, facts, known)
        if found == known:
            return found
        known = found


def rebound_containers(function: Node, facts: Facts) -> list[str]:
    """Names of lists and dicts that change and are bound to something else as well: `s[0] = e`, then `s = s[0]`."""
    order = list(statements(function.body))
    changed = dict.fromkeys(w for n in order for w in (written_names(n)[:1] if is_write(n) else changed_lists(n)))
    tags = _tags(function, facts, {}) if changed else {}
    return [one for one in changed if one in tags and len(set(tags[one])) > 1 and set(tags[one]) & {"list", "dict"}]


def _kinds(function: Node, facts: Facts | None, known: dict[str, str]) -> dict[str, str]:
    """The same where some names are known: zeros that mirror a list are a list."""
    found = _tags(function, facts, known)
    return {bound: kinds[0] for bound, kinds in found.items() if kinds and kinds[0] and len(set(kinds)) == 1}


def _tags(function: Node, facts: Facts | None, known: dict[str, str]) -> dict[str, list[str]]:
    """For each name what is bound to it: a list or a dict that is new, or an empty string for anything else."""
    found: dict[str, list[str]] = {}
    ours = facts is not None and facts.generated
    filled = {written_names(node)[0] for node in statements(function.body) if is_write(node)} if ours else set()
    held = {} if facts is None else dict(inner_kinds(facts.kinds))
    changed = _changed_as_given(function)
    keyed = _names_with_keys(function)
    arguments = function.args
    for given in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        tag = held.get(given.id, UNKNOWN).tag
        if tag == "unknown" and given.id in changed:
            known_as = UNKNOWN if facts is None else facts.kinds.get(given.id, UNKNOWN)
            tag = "list" if known_as.tag == "unknown" else known_as.tag
        elif tag == "unknown" and given.id in keyed and facts is not None:
            tag = "dict" if facts.kinds.get(given.id, UNKNOWN) == UNKNOWN else tag
        if facts is not None and given.id in facts.records and tag == "object":
            tag = "dict"
        found[given.id] = [tag if tag in ("list", "dict") else ""]
    for node in statements(function.body):
        for bound in stores(node):
            if is_write(node) or is_change(node, bound) or _extends(node, bound):
                continue
            value = node.value if target(node) == bound else None
            if facts is not None and (node in facts.copies or (ours and _is_own(value, bound, facts))):
                continue
            tag = "" if _reads_itself(value, bound) else kind_of_list(value, facts, known)
            if not tag and value is not None and facts is not None and bound in filled:
                tag = container_of(value, function, facts)
            found.setdefault(bound, []).append(tag)
    return found


def _changed_as_given(function: Node) -> set[str]:
    """Parameters whose argument `append` or `pop` may change, not only what is bound to their names later on."""
    order = list(statements(function.body))
    given = {one: [n for n in order if one in changed_lists(n)] for one in parameters(function)}
    bound = {one for one in given if given[one] and any(one in stores(n) and not is_change(n, one) for n in order)}
    apart = reading_apart(function, {one: given[one] for one in bound}) if bound else set()
    return {one for one, changes in given.items() if changes and one not in apart}


def _names_with_keys(function: Node) -> set[str]:
    """Names into which something is written by names: `s["a"] = e`. Where nothing else is known they hold dicts."""
    parts = [part_written(node) for node in statements(function.body) if is_write(node)]
    return {getattr(p.value, "id", "") for p in parts if isinstance(getattr(p.slice, "value", None), str)}


def _is_own(value: Node | None, bound: str, facts: Facts) -> bool:
    """`s = owned(s, others)`, which a text of ours begins with: a copy of the same kind."""
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Name) or not value.args:
        return False
    found = binding_of(value.func, facts, facts.local)
    return found is not None and found.object is owned and getattr(value.args[0], "id", "") == bound


def _reads_itself(value: Node | None, bound: str) -> bool:
    """Whether a name is bound to another list that is made of its own: `points = [2.0 * p for p in points]`."""
    comprehends = isinstance(value, gast.ListComp | gast.DictComp)
    return comprehends and any(getattr(n, "id", "") == bound for n in walk(value))


def _extends(node: Node, bound: str) -> bool:
    """`out += items`, `out = out + items`"""
    if isinstance(node, gast.AugAssign):
        return isinstance(node.op, gast.Add) and isinstance(node.target, gast.Name)
    value = node.value if target(node) == bound else None
    return isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add) and getattr(value.left, "id", "") == bound


def kind_of_list(value: Node | None, facts: Facts | None, known: dict[str, str]) -> str:
    """The kind of container that an expression makes anew."""
    if isinstance(value, gast.List | gast.ListComp):
        return "list"
    if isinstance(value, gast.Dict | gast.DictComp):
        return "dict"
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        return "list" if isinstance(value.left, gast.List) or isinstance(value.right, gast.List) else ""
    called = value.func if isinstance(value, gast.Call) else None
    if value is None or not isinstance(called, gast.Name) or called.id not in ("list", "dict", "zeros_like"):
        return ""
    if called.id == "zeros_like":
        mirrored = value.args[0].id if len(value.args) == 1 and isinstance(value.args[0], gast.Name) else ""
        return known.get(mirrored, "") if facts is not None and facts.generated else ""
    found = binding_of(called, facts, facts.local) if facts is not None else None
    return str(called.id) if facts is None or (found is not None and found.object in (list, dict)) else ""
