"""Dicts and lists of which the function only reads and binds parts by literal keys: activity looks at each part."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Node, header, is_write, part_written, statements, target, walk


def parted(function: Node, facts: Facts) -> dict[str, None]:
    """The names of such containers: a counter in one is no input of what stands beside it.

    >>> from srcgrad.phases import explain_facts
    >>> text = "def f(x):\\n    s = {'a': x, 'n': 0}\\n    s['n'] = s['n'] + 1\\n    n = s['n']\\n    return n * s['a']"
    >>> sorted(explain_facts(text).active)
    ['s', 't4', 'x', 'y']
    """
    if not facts.lists:
        return {}
    given = function.args
    parameters = {one.id for one in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
    found: dict[str, None] = {}
    other: dict[str, None] = {}
    for node in statements(function.body):
        bound = target(node)
        if bound is not None and facts.list_kind(bound):
            (found if _is_display(node.value) else other)[bound] = None
        by_part = [n.value for part in header(node) for n in walk(part) if _by_literal(n)]
        read = [n for part in header(node) for n in walk(part) if isinstance(n, gast.Name) and _reads(n)]
        other.update(dict.fromkeys(n.id for n in read if all(n is not one for one in by_part)))
    return {held: None for held in found if held not in other and held not in parameters}


def part_read(value: Node, held: dict[str, None]) -> str | None:
    """What the part is called that an expression reads of one of these containers; None for any other expression."""
    if not _by_literal(value) or value.value.id not in held:
        return None
    return _part(value.value.id, value.slice)


def parts_bound(node: Node, held: dict[str, None]) -> list[tuple[str, Node]]:
    """The parts that a statement binds, each with its value; none for what is no statement of this kind."""
    if not held:
        return []
    bound = target(node)
    if bound in held and bound is not None:
        if isinstance(node.value, gast.Dict):
            return [(_part(bound, key), value) for key, value in zip(node.value.keys, node.value.values, strict=True)]
        places = (gast.Constant(value=k, kind=None) for k in range(len(node.value.elts)))
        return [(_part(bound, key), value) for key, value in zip(places, node.value.elts, strict=True)]
    if not is_write(node):
        return []
    part = part_written(node)
    name = part_read(part, held)
    return [] if name is None else [(name, node.value)]


def _part(held: str, key: Node) -> str:
    """1, 1.0 and True are one key of a dict."""
    value = key.value
    whole = isinstance(value, bool | float) and value == value // 1
    return f"{held}[{int(value) if whole else value!r}]"


def _by_literal(node: Node) -> bool:
    """Whether an expression is `d["k"]`."""
    literal = isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant)
    return literal and isinstance(node.value, gast.Name)


def _reads(node: Node) -> bool:
    return isinstance(node.ctx, gast.Load)


def _is_display(value: Node) -> bool:
    if isinstance(value, gast.Dict):
        return all(isinstance(key, gast.Constant) for key in value.keys)
    return isinstance(value, gast.List)
