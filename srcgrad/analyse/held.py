"""Lists and dicts that change while something else holds them, and arrays that change while a list holds them."""

from __future__ import annotations

from collections.abc import Iterable

import gast

from srcgrad.analyse.alias import is_computed
from srcgrad.analyse.views import Views, is_checked, written_after
from srcgrad.facts import Facts
from srcgrad.flow import Graph
from srcgrad.parts import is_swap
from srcgrad.trees import Block, Node, is_write, statements, stores, walk, written


def check_held(body: Block, flow: Graph, views: Views, facts: Facts) -> None:
    """Refuse a change that another name, another list or a called function would see."""
    order = list(statements(body))
    changed = dict.fromkeys(w for node in order for w in written(node) if facts.list_kind(w))
    for node in order:
        if isinstance(node, gast.For) and isinstance(node.iter, gast.Name) and node.iter.id in changed:
            _check_trips(node, facts)
        given = _given(node, facts)
        for held in [n.id for part in given for n in walk(part) if isinstance(n, gast.Name)]:
            if held in changed and (later := _changed_after(flow, node, held)) is not None:
                raise _refusal(later, node, held, "list", facts)
        if written(node) and facts.list_kind(written(node)[0]):
            _check_items(node, given, flow, views, body, facts)


def _given(node: Node, facts: Facts) -> list[Node]:
    """What a statement lets something else hold: a second name, an item, an argument."""
    if written(node):
        if isinstance(node, gast.Expr):
            return [node.value.args[-1]] if node.value.args else []
        return [node.value] if is_write(node) else []
    value = node.value if isinstance(node, gast.Assign) and not is_swap(node) else None
    if isinstance(value, gast.Name | gast.Tuple | gast.List | gast.Dict | gast.IfExp):
        return [value]
    operation = facts.operation.get(value)
    if operation is not None and operation.function in (list, sorted):
        return []  # a list of its own, of the same items; of a dict, its keys
    if isinstance(value, gast.Call) and operation is not None and operation.kind != "op":
        return [*value.args, *(w.value for w in value.keywords)]
    return []


def _changed_after(flow: Graph, node: Node, held: str) -> Node | None:
    """A change of a list that may come after a statement, before its name holds another one."""
    seen: set[int] = set()
    todo = list(flow.successors[flow.index[node]])
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        after = flow.nodes[number]
        if after is not None and held in written(after):
            return after
        if after is None or held not in stores(after):
            todo += flow.successors[number]
    return None


def _check_trips(loop: Node, facts: Facts) -> None:
    for inner in statements(loop.body):
        if loop.iter.id in written(inner):
            what = f"a loop over `{_user(loop.iter.id, facts)}` changes it"
            raise facts.refuse(inner, "E5010", what, "loop over a copy: `list(...)`")


def _check_items(node: Node, given: Iterable[Node], flow: Graph, views: Views, body: Block, facts: Facts) -> None:
    """An array that goes into a list and changes later changes in the list as well."""
    kept = [part for part in given if not is_computed(part)]
    for read in [n.id for part in kept for n in walk(part) if isinstance(n, gast.Name)]:
        bases = {read: None} if read in facts.mutable else views.get(read, {})
        later = written_after(flow, node, bases, facts)
        if later and (read in facts.mutable or not is_checked(read, body, facts)):
            raise _refusal(later[0], node, written(later[0])[0], "array", facts)


def _refusal(later: Node, node: Node, held: str, what: str, facts: Facts) -> Exception:
    copy = "`.copy()`" if what == "array" else "`list(...)`"
    return facts.refuse(
        later,
        "E5010",
        f"the {what} `{_user(held, facts)}` changes, and line {node.lineno} has given it on",
        f"give a copy in line {node.lineno}: {copy}",
    )


def _user(name: str, facts: Facts) -> str:
    return facts.base.get(name, name)
