"""Lengths of axes as symbols that are joined where arrays meet, and what is checked for it when the text runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import gast

from srcgrad.converted import literal_value
from srcgrad.trees import Node, constant, copy, expression, name

ONE = "1"  # an axis whose length is 1 by construction: `x[:, None]`
WEAK, SINGLE, DOUBLE = "weak", "single", "double"  # Python's numbers, which give way; float32; float64
Axes = tuple[str, ...]


class NotLoweredError(Exception):
    """An expression stays one of arrays."""


class Form(NamedTuple):
    """What is known of an array or a number: its axes, of which a number has none, and its dtype."""

    axes: Axes
    real: str


@dataclass(frozen=True)
class Piece:
    """An expression: its axes, its dtype, and what its element is at some indices."""

    axes: Axes
    real: str
    at: Callable[[list[Node]], Node]
    tests: bool = False  # whether its elements are true or false
    leaf: str = ""  # the array that it is, as it is


@dataclass(frozen=True)
class Reduction:
    """What is added up, or of which the largest is wanted: the piece, the axes that go, and what holds the result."""

    held: str
    kind: str
    piece: Piece
    axes: Axes  # of the result
    kept: tuple[int | None, ...]  # for each of them the axis of the piece; None where its length is 1


@dataclass
class Lengths:
    """Symbols of lengths, joined where broadcasting needs them to be equal. A class is spelled by its oldest symbol."""

    above: dict[str, str] = field(default_factory=dict)
    spelled: dict[str, Node] = field(default_factory=dict)  # symbol -> the expression
    names: list[tuple[str, str]] = field(default_factory=list)  # a symbol, and a name of the user's that holds it
    age: dict[str, int] = field(default_factory=dict)
    pending: list[tuple[str, str]] = field(default_factory=list)  # joined, and not yet checked
    filled: list[str] = field(default_factory=list)  # must not be 0: a maximum is taken along it
    fixed: bool = False  # whether an element is read at an index of which nothing tells that it lies inside

    def new(self, symbol: str, spelled: Node) -> str:
        """A symbol, which means what it meant if it is known."""
        if symbol not in self.spelled:
            self.spelled[symbol], self.age[symbol] = spelled, len(self.age)
        return symbol

    def of_array(self, held: str, rank: int) -> Axes:
        """The axes of an array of which nothing else is known."""
        return tuple(
            self.new(f"{held}.{k}", expression("x.shape[k]", x=name(held), k=constant(k))) for k in range(rank)
        )

    def top(self, symbol: str) -> str:
        """The symbol that stands for all that are equal to one."""
        while symbol in self.above:
            symbol = self.above[symbol]
        return symbol

    def joined(self, one: str, two: str) -> str:
        """The length along which two axes broadcast; symbols are made equal."""
        if one == ONE or two == ONE:
            return two if one == ONE else one
        one, two = self.top(one), self.top(two)
        if one != two:
            old, new = sorted((one, two), key=self.age.__getitem__)
            self.above[new] = old
            self.pending.append((old, new))
            return old
        return one

    def broadcast(self, one: Axes, two: Axes) -> Axes:
        """The axes of what two arrays make together."""
        if len(one) < len(two):
            one, two = two, one
        lead = len(one) - len(two)
        return (*one[:lead], *(self.joined(a, b) for a, b in zip(one[lead:], two, strict=True)))

    def same(self, one: Axes, two: Axes) -> bool:
        """Whether axes are known to be equal, one by one."""
        return len(one) == len(two) and all(map(self.equal, one, two))

    def equal(self, one: str, two: str) -> bool:
        """Whether two lengths are known to be equal."""
        return one == two or (ONE not in (one, two) and self.top(one) == self.top(two))

    def cut(self, axis: str, count: int) -> str:
        """The length of an axis of which some items are left out."""
        if not count:
            return axis
        whole = self.top(axis)
        length = expression("max(n - cut, 0)", n=self.node(whole), cut=constant(count))
        return self.new(f"{whole}-{count}", length)

    def call(self, axis: str, held: str) -> None:
        """Let a length be spelled by a name of the user's."""
        if axis != ONE:
            self.names.append((axis, held))

    def held(self, number: str) -> str:
        """The length that a name holds; an empty string if it holds none."""
        return next((symbol for symbol, one in self.names if one == number), "")

    def node(self, axis: str) -> Node:
        """How a length is spelled."""
        if axis == ONE:
            return constant(1)
        whole = self.top(axis)
        for symbol, held in self.names:
            if self.top(symbol) == whole:
                return name(held)
        return copy(self.spelled[whole])

    def spells(self, held: str) -> bool:
        """Whether a name spells some length."""
        return f"{held}.0" in self.spelled or any(one == held for _, one in self.names)

    def own(self, symbol: str) -> Node:
        """How the text spells one symbol, whatever it is equal to."""
        held = next((held for known, held in self.names if known == symbol), "")
        return name(held) if held else copy(self.spelled[symbol])

    def shape(self, axes: Axes) -> Node:
        """The shape of an array, as `np.empty` takes it."""
        parts = [self.node(axis) for axis in axes]
        return parts[0] if len(parts) == 1 else gast.Tuple(elts=parts, ctx=gast.Load())

    def saved(self) -> tuple[dict[str, str], int, int]:
        """What is known, to come back to."""
        return dict(self.above), len(self.pending), len(self.filled)

    def restore(self, before: tuple[dict[str, str], int, int]) -> None:
        """Forget what was joined since."""
        self.above = before[0]
        del self.pending[before[1] :], self.filled[before[2] :]


def literal_axes(axis: Node, rank: int) -> tuple[int, ...] | None:
    """The axes that a literal names, all for None; None for anything else."""
    try:
        found = literal_value(axis)
    except (ValueError, TypeError):
        return None
    listed = range(rank) if found is None else found if isinstance(found, tuple) else (found,)
    if any(type(one) is not int or not -rank <= one < rank for one in listed):
        return None
    return tuple(sorted({one % rank for one in listed})) if rank else ()


def product_of(factors: list[Node], *, least: bool = True) -> Node:
    """A product of lengths, at least 1."""
    if not factors:
        return constant(1)
    made = factors[0]
    for one in factors[1:]:
        made = gast.BinOp(made, gast.Mult(), one)
    return expression("max(n, 1)", n=made) if least else made


def shifted(place: int, first: int) -> Callable[[list[Node]], Node]:
    """A counter behind which some elements are left out."""

    def made(index: list[Node]) -> Node:
        zero = isinstance(index[place], gast.Constant)
        if not first:
            return index[place]
        return constant(index[place].value + first) if zero else expression("i + n", i=index[place], n=constant(first))

    return made


def fixed(part: Node) -> Callable[[list[Node]], Node]:
    """An index that is a number."""
    return lambda _: copy(part)


def sources(index: list[Node], kept: tuple[int | None, ...], rank: int) -> list[Node]:
    """The index of a piece from that of its reduction along axes of length 1."""
    at_axis = {k: one for k, one in zip(kept, index, strict=True) if k is not None}
    return [at_axis.get(k, constant(0)) for k in range(rank)]
