"""Namespaces: what the names of a function mean.

They are looked up where Python would look, running and changing nothing; names of a text stand beside those of another.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from dataclasses import field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from srcgrad.core.bindings import (
    Binding,
    attribute,
    bound_to,
    unknown_binding,
)
from srcgrad.core.identity import record
from srcgrad.core.source_text import Source
from srcgrad.core.trees import Node


class Namespace(Protocol):
    """Where the free names of one function are looked up; each callee has its own."""

    def lookup(self, name: str) -> Binding | None:
        """What `name` means outside the function's own locals; None if nothing binds it."""


class LiveNamespace:
    """The namespace of a live function: its closure, then its globals, then builtins.

    >>> import numpy as np
    >>> names = LiveNamespace(lambda x: np.sin(x) * scale)
    >>> attribute(names.lookup("np"), "sin").object is np.sin, names.lookup("scale")
    (True, None)
    """

    def __init__(self, function: FunctionType) -> None:
        names, cells = function.__code__.co_freevars, function.__closure__ or ()
        self.function = function
        self.cells: dict[str, CellType] = dict(zip(names, cells, strict=True))
        self.scopes: tuple[Mapping[str, object], ...] = (function.__globals__, vars(builtins))
        self.bound: dict[str, Binding] = {}  # what names have meant; it serves as long as they mean the same

    def lookup(self, name: str) -> Binding | None:
        """What `name` means now."""
        if name in self.cells:
            try:
                return bound_to(self.cells[name].cell_contents)
            except ValueError:
                return unknown_binding(f"{name} is not bound yet")
        for scope in self.scopes:
            if name in scope:
                value, known = scope[name], self.bound.get(name)
                if known is None or known.object is not value:
                    known = self.bound[name] = bound_to(value)
                return known
        return None

    def dependencies(self, names: Iterable[str], called: bool = True) -> Dependencies:
        """What `names` mean now, dotted names included, so that a later change can be noticed.

        The defaults of the function itself matter if the text calls it.
        """
        cells: dict[str, tuple[CellType, object]] = {}
        entries: list[Entry] = []
        functions = {id(self.function): self.function} if called else {}
        codes: list[Code] = [] if called else [(self.function, self.function.__code__, None, None)]
        for dotted in names:
            first, *rest = dotted.split(".")
            found = self.lookup(first)
            if first in self.cells:
                bound = found is not None and found.kind == "object"
                cells[first] = (self.cells[first], found.object if found and bound else MISSING)
            else:
                own = self.scopes[0]
                entries.extend(entry(scope, first) for scope in (self.scopes if first not in own else (own,)))
            held = None if found is None else found.object
            for part in rest:
                value = None if found is None else found.object
                entries.extend(entry(scope, part) for scope in _scopes(value))
                found = None if found is None else attribute(found, part)
                held = getattr(held, "__dict__", {}).get(part)
            entries.extend(functions_in(held))
            if found is not None and isinstance(found.object, FunctionType):
                functions[id(found.object)] = found.object
        for function in functions.values():
            named: dict[str, object] = function.__kwdefaults__ or {}
            entries.extend(entry(named, name) for name in named)
        codes += [(one, one.__code__, one.__defaults__, one.__kwdefaults__) for one in functions.values()]
        return Dependencies(tuple(cells.values()), tuple(entries), tuple(codes))


Entry = tuple[Mapping[str, Any], str, Any]
Code = tuple[FunctionType, CodeType, Any, Any]  # a function, what it runs, and its defaults, of keywords apart
MISSING: object = object()


def entry(scope: Mapping[Any, Any], name: Any) -> Entry:
    """What a name means in a scope now."""
    return scope, name, scope.get(name, MISSING)


class _Items(list):  # type: ignore[type-arg]  # the user's own list or tuple, asked as dicts are
    """The places of a list or a tuple, as a namespace."""

    def get(self, place: int, missing: object) -> Any:
        """What is in a place now."""
        return self[0][place] if place < len(self[0]) else missing


def functions_in(value: object, depth: int = 0) -> list[Entry]:
    """The functions in a list, a tuple or a dict, each in its place: what a text calls is the one that is there."""
    if not isinstance(value, list | tuple | dict) or depth > 2:
        return []
    scope: Any = value if isinstance(value, dict) else _Items([value])
    places = list(value)[:_FEW] if isinstance(value, dict) else list(range(min(len(value), _FEW)))
    parts = [(place, scope.get(place, None)) for place in places]
    found = [entry(scope, place) for place, part in parts if callable(part)]
    return found + [one for _, part in parts for one in functions_in(part, depth + 1)]


_FEW = 64  # items of a container that are looked at, as for kinds


def _scopes(value: object) -> list[Mapping[str, object]]:
    """The dictionaries in which an attribute of a module or a class is found."""
    if isinstance(value, ModuleType):
        return [vars(value)]
    return [vars(base) for base in value.__mro__] if isinstance(value, type) else []


@record(frozen=True, repr=False)  # an entry holds the dict of a whole module
class Dependencies:
    """What names meant at one time: cells of closures, entries of namespaces, codes and defaults of functions."""

    cells: tuple[tuple[CellType, object], ...]
    entries: tuple[tuple[Mapping[str, object], str, object], ...]
    codes: tuple[Code, ...]

    def changed(self) -> bool:
        """Whether any of the names means another object now, or any of the functions is another in what it does."""
        for scope, name, known in self.entries:
            if scope.get(name, MISSING) is not known:
                return True
        for function, code, given, named in self.codes:
            if function.__code__ is not code:
                return True
            if given is not None and function.__defaults__ is not given:
                return True
            if named is not None and function.__kwdefaults__ is not named:
                return True
        for cell, known in self.cells:
            try:
                if cell.cell_contents is not known:
                    return True
            except ValueError:  # an empty cell
                if known is not MISSING:
                    return True
        return False


def join_dependencies(parts: Iterable[Dependencies]) -> Dependencies:
    """Those of several functions as one, each looked at once.

    >>> import numpy as np
    >>> own = LiveNamespace(lambda x: np.sin(x)).dependencies(["np"])
    >>> len(own.entries), len(join_dependencies([own, own]).entries)
    (1, 1)
    """
    cells: dict[object, tuple[CellType, object]] = {}
    entries: dict[object, Entry] = {}
    codes: dict[object, Code] = {}
    for part in parts:
        cells.update({(id(cell), id(known)): (cell, known) for cell, known in part.cells})
        entries.update({(id(scope), name, id(known)): (scope, name, known) for scope, name, known in part.entries})
        codes.update({tuple(map(id, one)): one for one in part.codes})
    return Dependencies(tuple(cells.values()), tuple(entries.values()), tuple(codes.values()))


@record
class Overlay:
    """The namespace of a function into which others were written: their names stand beside its own."""

    base: Namespace
    extra: dict[str, Binding] = field(default_factory=dict)
    homes: dict[str, tuple[Namespace, str]] = field(default_factory=dict)  # of those of `extra`: where, as what
    read: dict[str, None] = field(default_factory=dict)  # names of the text that mean what is outside of it
    parts: list[tuple[Namespace, Source]] = field(default_factory=list)
    hidden: frozenset[str] = frozenset()  # variables of the functions around it

    def lookup(self, name: str) -> Binding | None:
        """What `name` means."""
        return self.extra.get(name) or (None if name in self.hidden else self.base.lookup(name))


def without_overlays(namespace: Namespace) -> Namespace:
    """The namespace below what passes have laid over it."""
    while isinstance(namespace, Overlay):
        namespace = namespace.base
    return namespace


def found_in(namespace: Namespace, name: str) -> tuple[Namespace, str]:
    """The namespace that knows what a name means, and by what name."""
    while isinstance(namespace, Overlay):
        home = namespace.homes.get(name)
        if home is None and name in namespace.extra:
            break
        namespace, name = (namespace.base, name) if home is None else home
    return namespace, name


@record(frozen=True, eq=False)
class Step:
    """One trip of a loop: parameters are the item of the trip (if it is read), the state, what stays the same.

    `state` are the names that are carried from trip to trip; `results` what the function returns, the state first;
    `changed` those names of the state whose arrays the body may write into; `made` statements that are not the user's.
    """

    source: Source
    namespace: Namespace
    item: str
    state: tuple[str, ...]
    results: tuple[str, ...]
    changed: tuple[str, ...]
    made: dict[Node, None]

    @property
    def parameters(self) -> list[str]:
        """The item, the state, and what is the same in every trip."""
        return [a.id for a in self.source.tree.args.args]
