"""Displays that a called function gets, in the places where it reads them: `width, height = primals`."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from srcgrad.converted import literal_value
from srcgrad.facts import Facts
from srcgrad.trees import Block, Node, assign, at, copy, name, statements, stores, walk


def displays(given: dict[str, Node], tree: Node, where: Node, before: Block, facts: Facts) -> dict[str, Node]:
    """The arguments that are tuples of a parameter that is not bound anew, as tuples of names and literals."""
    bound = {s for node in statements(tree.body) for s in stores(node)}
    found: dict[str, Node] = {}
    for parameter, value in given.items():
        if isinstance(value, gast.Tuple) and parameter not in bound:
            parts = [_part(part, f"{parameter}_{k}", where, before, facts) for k, part in enumerate(value.elts)]
            found[parameter] = at(gast.Tuple(elts=parts, ctx=gast.Load()), value)
    return found


def _part(part: Node, stem: str, where: Node, before: Block, facts: Facts) -> Node:
    """A name or a literal that holds a part."""
    if isinstance(part, gast.Name | gast.Constant):
        return part
    held = facts.names.fresh(stem)
    made = at(assign(held, part), where)
    facts.foreign[made] = None
    before.append(made)
    return name(held)


def open_display(node: Node, parameter: str, display: Node) -> None:
    """Put the display, or a part of it, where a statement reads the parameter.

    Parts that carry no derivative, a count or an axis, so stay apart from those that do.
    """
    for owner in list(walk(node)):
        for key, part in _parts(owner):
            whole = part.value if isinstance(part, gast.Subscript) else part
            if not isinstance(whole, gast.Name) or whole.id != parameter:
                continue
            place = _place(part, len(display.elts))
            made = copy(display if place is None else display.elts[place])
            if place is None and isinstance(part, gast.Subscript):
                part.value = made
                continue
            _set(owner, key, part, at(made, part))


def _parts(owner: Node) -> Iterator[tuple[str, Node]]:
    for key in owner._fields:
        value = getattr(owner, key, None)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, gast.AST):
                yield key, part


def _set(owner: Node, key: str, old: Node, new: Node) -> None:
    value = getattr(owner, key)
    if isinstance(value, list):
        value[next(k for k, part in enumerate(value) if part is old)] = new
    else:
        setattr(owner, key, new)


def _place(part: Node, count: int) -> int | None:
    """The place that `primals[0]` or `primals[-1]` reads; None for anything else."""
    if not isinstance(part, gast.Subscript):
        return None
    try:
        place = literal_value(part.slice)
    except (ValueError, TypeError):
        return None
    return place % count if isinstance(place, int) and -count <= place < count else None
