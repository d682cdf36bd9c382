"""Names of one scope in the text of another: each goes on meaning what it meant where it stood."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import gast

from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding, Namespace
from srcgrad.front.overlay import Overlay
from srcgrad.front.plain import own_names
from srcgrad.trees import Node, walk

if TYPE_CHECKING:
    from srcgrad.front.functions import Function


def read_outside(function: Node, local: Collection[str]) -> dict[str, None]:
    """The names of a function that mean what is outside of it, in the order of the text."""
    names = [n for node in function.body for n in walk(node) if isinstance(n, gast.Name)]
    return {n.id: None for n in names if n.id not in local}


def carried(
    stem: str,
    meant: Binding,
    facts: Facts,
    local: Collection[str],
    home: tuple[Namespace, str] | None = None,
    taken: Collection[str] | None = None,
) -> str:
    """How the receiving text spells what `stem` means in another scope, or what is known by its value alone.

    The name itself, if nothing else goes by it there; else one that is new, and that stands for the same. `home` is
    where the name is looked up, and `taken` are the names that the text had before.
    """
    overlay = facts.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    known = overlay.lookup(stem)
    taken = facts.names.taken if taken is None else taken
    free = stem not in local and stem not in facts.local and (stem in overlay.read or stem not in taken)
    if free and is_same(meant, known):
        overlay.read[stem] = None
        facts.names.taken.add(stem)
        return stem
    for spelled, other in overlay.extra.items():
        if spelled in overlay.read and is_same(meant, other) and _is_home(home, overlay.homes.get(spelled), meant):
            return spelled
    spelled = stem if free and known is None else facts.names.numbered(stem)
    facts.names.taken.add(spelled)
    overlay.extra[spelled], overlay.read[spelled] = meant, None
    if home is not None:
        overlay.homes[spelled] = home
    return spelled


def _is_home(one: tuple[Namespace, str] | None, other: tuple[Namespace, str] | None, meant: Binding) -> bool:
    """Whether one spelling will do for both: a value that is known as text alone is known by its name."""
    if one is None or other is None:
        return one is other or meant.kind in ("object", "function")
    return one[0] is other[0] and one[1] == other[1]


def mentioned(functions: Iterable[Function]) -> dict[str, None]:
    """The names of the caller that functions which it hands on bring along: objects, arguments given before."""
    parts = [part for one in functions for part in (*one.args, *one.words.values())]
    return {n.id: None for part in parts for n in walk(part) if isinstance(n, gast.Name)}


def move_apart(tree: Node, inner: Facts, theirs: Collection[str], facts: Facts) -> dict[str, str]:
    """Rename what a function binds, or reads from outside, by a name that functions which it gets have as well."""
    own = own_names(tree)
    moved = {n: inner.names.numbered(n) for n in own if n in theirs and n not in inner.functions}
    overlay = inner.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    for identifier in read_outside(tree, own):
        meant = overlay.lookup(identifier) if identifier in theirs and identifier not in inner.functions else None
        if meant is not None and not (
            identifier not in facts.local and is_same(meant, facts.namespace.lookup(identifier))
        ):
            moved[identifier] = inner.names.numbered(identifier)
            overlay.extra[moved[identifier]] = meant
            overlay.homes[moved[identifier]] = overlay.base, identifier
    for item in walk(tree):
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
    inner.local = own_names(tree)
    for identifier in theirs:
        meant = facts.namespace.lookup(identifier) if identifier not in facts.local else None
        if meant is not None:
            overlay.extra[identifier] = meant
            overlay.homes[identifier] = facts.namespace, identifier
    return moved


def is_same(one: Binding, other: Binding | None) -> bool:
    """Whether two names mean the same; two values known as text are the same in one module only."""
    if other is None or one.kind != other.kind or one.reason != other.reason:
        return False
    if one.kind == "object":
        return one.object is other.object
    return one.static is other.static and one.module is other.module and one.expression == other.expression
