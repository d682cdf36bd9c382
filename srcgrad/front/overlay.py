"""A namespace with names of its own beside those of another."""

from __future__ import annotations

from dataclasses import dataclass, field

from srcgrad.front.namespace import Binding, Namespace
from srcgrad.front.source import Source


@dataclass
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


def found_in(namespace: Namespace, name: str) -> tuple[Namespace, str]:
    """The namespace that knows what a name means, and by what name."""
    while isinstance(namespace, Overlay):
        home = namespace.homes.get(name)
        if home is None and name in namespace.extra:
            break
        namespace, name = (namespace.base, name) if home is None else home
    return namespace, name
