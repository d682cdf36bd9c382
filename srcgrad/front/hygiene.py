"""Names of one scope in the text of another: each goes on meaning what it meant where it stood."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import gast

from srcgrad.facts import Facts
from srcgrad.front.namespace import Binding, Namespace
from srcgrad.front.overlay import Overlay, found_in
from srcgrad.front.plain import own_names
from srcgrad.trees import Node, walk

if TYPE_CHECKING:
    from srcgrad.front.functions import Function


def read_outside(function: Node, local: Collection[str]) -> dict[str, None]:
    """The names of a function that mean what is outside of it, in the order of the text."""
    names = [n for node in function.body for n in walk(node) if isinstance(n, gast.Name)]
    return {n.id: None for n in names if n.id not in local}


def read_alone(function: Node) -> dict[str, None]:
    """The names that a function, or one in it, reads, and that neither binds: each means one thing outside."""
    names = [n for n in walk(function) if isinstance(n, gast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, gast.Load)}
    bound |= {n.name for n in walk(function) if isinstance(n, gast.FunctionDef | gast.ClassDef)}
    return {n.id: None for n in names if n.id not in bound}


def read_by_both(function: Node, inner: Namespace, outer: Namespace) -> dict[str, None]:
    """The names that the text around reads from outside, and that mean the same where a function does not have them."""
    assert isinstance(outer, Overlay), "an overlay was put there"
    own = {n.id for n in walk(function) if isinstance(n, gast.Name)}
    own |= {n.name for n in walk(function) if isinstance(n, gast.FunctionDef | gast.ClassDef)}
    known = {n: outer.lookup(n) for n in outer.read if n not in own}
    return {n: None for n, meant in known.items() if meant is not None and is_same(meant, inner.lookup(n))}


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
    home = home and found_in(*home)
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
    if one is None or other is None or meant.kind != "value":
        return meant.kind != "value" and (one is None or other is None or one[1] == other[1])
    return one[0] is other[0] and one[1] == other[1]


def mentioned(functions: Iterable[Function]) -> dict[str, None]:
    """The names of the caller that functions which it hands on bring along: objects, arguments given before."""
    parts = [part for one in functions for part in (*one.args, *one.words.values())]
    return {n.id: None for part in parts for n in walk(part) if isinstance(n, gast.Name)}


def reached(tree: Node, functions: Mapping[str, Function]) -> dict[str, None]:
    """The names in the texts of functions around a function which it calls, itself or through others."""
    found: dict[str, None] = {}
    todo, seen = [tree], {id(tree)}
    while todo:
        for one in {n.id: None for n in walk(todo.pop()) if isinstance(n, gast.Name)}:
            known = functions.get(one)
            if known is not None:
                found.update(mentioned([known]))
            if known is not None and known.tree is not None and id(known.tree) not in seen:
                seen.add(id(known.tree))
                todo.append(known.tree)
                found.update({n.id: None for n in walk(known.tree) if isinstance(n, gast.Name)})
    return found


def move_apart(
    tree: Node, inner: Facts, theirs: Collection[str], outer: Collection[str], facts: Facts
) -> dict[str, str]:
    """Rename what a function binds, or reads from outside, by a name that functions which it gets have as well.

    `outer` are names that it shares with the function around it.
    """
    defined = [n for n in walk(tree) if isinstance(n, gast.FunctionDef | gast.ClassDef) and n is not tree]
    own = own_names(tree) | {n.name for n in defined}
    moved = {n: inner.names.numbered(n) for n in own if n in theirs and n not in inner.functions and n not in outer}
    overlay = inner.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    for identifier in read_outside(tree, own | set(outer)):
        meant = overlay.lookup(identifier) if identifier in theirs and identifier not in inner.functions else None
        hidden = identifier in facts.local or identifier in facts.around
        known = None if hidden else facts.namespace.lookup(identifier)
        if meant is not None and not is_same(meant, known):
            moved[identifier] = inner.names.numbered(identifier)
            overlay.extra[moved[identifier]] = meant
            overlay.homes[moved[identifier]] = overlay.base, identifier
    for item in walk(tree):
        if isinstance(item, gast.Name) and item.id in moved:
            item.id = moved[item.id]
    for one in defined:
        one.name = moved.get(one.name, one.name)
    inner.local = own_names(tree)
    return moved


def brought(theirs: Iterable[str], inner: Facts, facts: Facts) -> None:
    """Let names of the caller that are global there mean the same in the function that gets them."""
    overlay = inner.namespace
    assert isinstance(overlay, Overlay), "an overlay was put there"
    for identifier in theirs:
        hidden = identifier in facts.local or identifier in facts.around
        meant = None if hidden else facts.namespace.lookup(identifier)
        if meant is not None:
            overlay.extra[identifier] = meant
            overlay.homes[identifier] = facts.namespace, identifier


def is_same(one: Binding, other: Binding | None) -> bool:
    """Whether two names mean the same; two values known as text are the same in one module only."""
    if other is None or one.kind != other.kind or one.reason != other.reason:
        return False
    if one.kind == "object":
        return one.object is other.object
    return one.static is other.static and one.module is other.module and one.expression == other.expression
