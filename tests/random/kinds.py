"""What a drawn program may hold under a name, and the scopes that say which names hold what."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NAMES = ("a", "b", "c", "d", "x", "s")  # of values, in every scope
COUNTERS = ("i", "j", "k")
MISLEADING = (
    "mean",
    "sum",
    "copy",
    "append",
    "dot",
    "sort",
    "fill",
    "max",
    "scale",
    "update",
    "pop",
    "reshape",
    "real",
)


@dataclass(frozen=True)
class Kind:
    """A kind of value: `num`, `int`, `arr` with a shape, `list` or `tuple` with its items, `obj` with its class.

    `numbers` of an array is its dtype's letter: `f`, or `i` for integers.
    """

    tag: str
    shape: tuple[int, ...] = ()
    items: tuple[Kind, ...] = ()
    name: str = ""
    keys: tuple[str, ...] = ()
    numbers: str = "f"


NUM = Kind("num")
INT = Kind("int")
NUMPY = Kind("module")


def arr(*shape: int, numbers: str = "f") -> Kind:
    """An array of that shape."""
    return Kind("arr", shape=shape, numbers=numbers)


@dataclass(frozen=True)
class Function:
    """What is known of a function: its parameters, what it returns (None: called for effect), names of keywords."""

    parameters: tuple[Kind, ...]
    result: Kind | None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True)
class Class:
    """What is known of a class: how its objects are made, their fields, and their methods."""

    name: str
    form: str  # plain, dataclass, named
    fields: tuple[tuple[str, Kind], ...]
    methods: tuple[tuple[str, Function], ...] = ()


@dataclass
class World:
    """What all scopes of a program share."""

    pick: random.Random
    shape: tuple[int, ...]
    classes: dict[str, Class] = field(default_factory=dict)
    without: frozenset[str] = frozenset()  # forms that this program has none of, so that others meet each other
    left: int = 30  # statements that may still be written
    depth: int = 0


@dataclass
class Scope:
    """One function being written, or the module (without `outer`): its lines, and what its names hold."""

    world: World
    outer: Scope | None = None
    holds: dict[str, Kind] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)  # names of outer scopes: never bound here
    captured: set[str] = field(default_factory=set)  # names that inner functions read
    lines: list[str] = field(default_factory=list)
    indent: int = 0
    loops: int = 0
    returns: Kind | None = None
    assigned: frozenset[str] = frozenset()

    def put(self, line: str) -> None:
        """Write one line."""
        self.lines.append("    " * self.indent + line)

    def visible(self) -> list[tuple[str, Kind]]:
        """Names that may be read here, those of this scope first."""
        found = list(self.holds.items())
        names = set(self.holds) | self.bound | set(self.functions)
        scope = self.outer
        while scope is not None:
            found += [(name, kind) for name, kind in scope.holds.items() if name not in names]
            names |= set(scope.holds) | scope.bound | set(scope.functions)
            scope = scope.outer
        return found

    def callables(self) -> list[tuple[str, Function]]:
        """Functions that may be called here."""
        found = list(self.functions.items())
        names = set(self.functions) | self.bound | set(self.holds)
        scope = self.outer
        while scope is not None:
            found += [(name, known) for name, known in scope.functions.items() if name not in names]
            names |= set(scope.holds) | scope.bound | set(scope.functions)
            scope = scope.outer
        return found

    def use(self, name: str) -> str:
        """Read a name: one of an outer scope is from now on not bound here."""
        if name not in self.holds and name not in self.functions:
            self.read.add(name)
            scope = self.outer
            while scope is not None:
                if name in scope.holds or name in scope.functions:
                    scope.captured.add(name)
                    break
                scope.read.add(name)
                scope = scope.outer
        return name

    def target(self, kind: Kind, pool: tuple[str, ...] = NAMES) -> str:
        """A name to bind to a value of that kind."""
        free = [name for name in pool if name not in self.read and name not in self.functions]
        same = [name for name in free if self.holds.get(name) == kind]
        if same and (self.loops or self.world.pick.random() < 0.4):
            return self.world.pick.choice(same)
        fixed = set(self.holds) if self.loops and self.world.pick.random() < 0.9 else self.captured
        open_ = [name for name in free if name not in fixed or self.holds.get(name) == kind]
        return self.world.pick.choice(open_ or [name for name in ("t", "u", "v", "w") if name not in self.read])

    def bind(self, name: str, kind: Kind) -> str:
        """The name holds a value of that kind from here on."""
        self.holds[name] = kind
        self.bound.add(name)
        self.functions.pop(name, None)
        return name
