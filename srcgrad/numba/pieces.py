"""Expressions of arrays by their elements: `x * w[:, None]` at i, j is `x[i, j] * w[i]`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import gast
import numpy as np
import scipy.special

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.numba.axes import (
    ONE,
    Axes,
    Lengths,
    NotLoweredError,
    Piece,
    Reduction,
    fixed,
    literal_axes,
    product_of,
    shifted,
    sources,
)
from srcgrad.numba.elementwise import of_elements
from srcgrad.numba.lengths import bounds
from srcgrad.numba.shared import shared
from srcgrad.trees import Node, constant, copy, name

REDUCED = {"sum": "sum", "max": "max", "min": "min", "amax": "max", "amin": "min", "mean": "mean"}


@dataclass
class Reader:
    """Reads expressions of one text, whose names hold arrays and numbers that are known."""

    facts: Facts
    lengths: Lengths
    known: dict[str, Axes]  # names that hold arrays of float64, and real numbers, which have no axes
    fresh: Callable[[str], str]
    opaque: Callable[[Node], Axes | None]  # the axes of what a call that is no map gives
    reductions: list[Reduction | tuple[str, Node, Axes]] = field(default_factory=list)  # of this statement, in order

    def piece(self, node: Node) -> Piece:
        """An expression as a piece; NotLoweredError for what is none."""
        if isinstance(node, gast.Constant) and type(node.value) in (int, float):
            return _number(node)
        if isinstance(node, gast.Name):
            return self.named(node)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
            return self.mapped([self.value(node.operand)], lambda parts: gast.UnaryOp(node.op, parts[0]))
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
            return self._left(node)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div | gast.Pow):
            return self._binary(node)
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            sides = [self.value(node.left), self.value(node.comparators[0])]
            made = self.mapped(sides, lambda parts: gast.Compare(parts[0], node.ops, [parts[1]]))
            return Piece(made.axes, made.at, tests=True)
        if isinstance(node, gast.Subscript):
            return self._part(node)
        if isinstance(node, gast.Call):
            return self._call(node)
        raise NotLoweredError

    def value(self, node: Node) -> Piece:
        """An expression of numbers."""
        found = self.piece(node)
        if found.tests:
            raise NotLoweredError
        return found

    def taken(self) -> list[Reduction | tuple[str, Node, Axes]]:
        """What the statement at hand needs before it, which is nobody else's then."""
        found, self.reductions = self.reductions, []
        return found

    def named(self, node: Node) -> Piece:
        """A name of an array or of a number."""
        axes = self.known.get(node.id)
        if axes is None:
            raise NotLoweredError
        return _number(node) if not axes else leaf(node.id, axes)

    def _binary(self, node: Node) -> Piece:
        if isinstance(node.op, gast.Pow) and not isinstance(node.right, gast.Constant):
            if self.value(node.left).axes == () == self.value(node.right).axes:
                raise NotLoweredError  # a number, which may be an integer
        sides = [self.value(node.left), self.value(node.right)]
        return self.mapped(sides, lambda parts: gast.BinOp(parts[0], node.op, parts[1]))

    def mapped(self, parts: list[Piece], made: Callable[[list[Node]], Node]) -> Piece:
        """What a function of elements makes of several pieces."""
        axes: Axes = ()
        for part in parts:
            axes = self.lengths.broadcast(axes, part.axes)
        return Piece(axes, lambda index: made([part.at(index[len(index) - len(part.axes) :]) for part in parts]))

    def _part(self, node: Node) -> Piece:
        """`e[:, None]`, `e[:, 0]`, and of arrays `x[1:-1]`."""
        if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            return _number(node)
        parts = list(node.slice.elts) if isinstance(node.slice, gast.Tuple) else [node.slice]
        if isinstance(node.value, gast.Call) and self.spelled(node.value) == "split_like":
            return self._left(node)
        whole = self.piece(node.value)
        used = [part for part in parts if not _is(part, None)]
        if not whole.axes or len(used) > len(whole.axes) or any(_is(part, ...) for part in parts):
            raise NotLoweredError
        axes: list[str] = []
        places: list[Callable[[list[Node]], Node]] = []
        source = 0
        for part in [*parts, *([_ALL] * (len(whole.axes) - len(used)))]:
            here = len(axes)
            if _is(part, None):
                axes.append(ONE)
                continue
            axis = whole.axes[source]
            source += 1
            if isinstance(part, gast.Slice):
                ends = bounds(part)
                if ends is None or (axis == ONE and ends != (0, 0)):
                    raise NotLoweredError
                axes.append(self.lengths.cut(axis, sum(ends)))
                places.append(shifted(here, ends[0]))
            elif isinstance(part, gast.Constant) and type(part.value) is int and part.value >= 0:
                if not (whole.leaf or (axis == ONE and part.value == 0)):
                    raise NotLoweredError
                places.append(fixed(part))
            else:
                raise NotLoweredError
        return Piece(tuple(axes), lambda index: whole.at([place(index) for place in places]), whole.tests)

    def _call(self, node: Node) -> Piece:
        called = self.spelled(node)
        words = {word.arg: word.value for word in node.keywords}
        if called in REDUCED:
            return self._reduced(node, called, words)
        if called == "share":
            return shared(node, words, self)
        if not words:
            if called in ("sum_to", "fit_to") and len(node.args) == 2:
                return self._summed(self.value(node.args[0]), self.axes_of(node.args[1]))
            if called == "count":
                return _number(self._count(node))
            if called in ("spread", "broadcast_to") and len(node.args) == 2:
                return self._spread(node)
            if (called, len(node.args)) in (("full_like", 2), ("ones_like", 1)):
                value = self.value(node.args[1]) if len(node.args) == 2 else _number(constant(1.0))
                return self._widened(value, self.axes_of(node.args[0]))
            if called == "where" and len(node.args) == 3:
                test, *sides = [self.piece(node.args[0]), *map(self.value, node.args[1:])]
                if test.tests:
                    return self.mapped([test, *sides], lambda parts: gast.IfExp(parts[0], parts[1], parts[2]))
            made = of_elements(node, called, self.facts)
            if made is not None and not any(isinstance(one, gast.Starred) for one in node.args):
                return self.mapped([self.value(one) for one in node.args], made)
        return self._left(node)

    def _count(self, node: Node) -> Node:
        """How many elements a reduction puts together."""
        axes = self.axes_of(node.args[0])
        gone = literal_axes(node.args[1] if len(node.args) == 2 else constant(None), len(axes))
        if gone is None:
            raise NotLoweredError
        return product_of([self.lengths.node(axes[k]) for k in gone if axes[k] != ONE])

    def _left(self, node: Node) -> Piece:
        """A product of matrices or the like, which has a name of its own before the loops."""
        axes = self.opaque(node)
        if axes is None:
            raise NotLoweredError
        held = self.fresh("t")
        self.reductions.append((held, node, axes))
        return leaf(held, axes) if axes else _number(name(held))

    def spelled(self, node: Node) -> str:
        """The function of NumPy, or helper of ours, that is called; an empty string for any other."""
        function = node.func
        if isinstance(function, gast.Name):
            meant = [known for known, spelled in self.facts.imports.items() if spelled == function.id]
            if meant:
                return meant[0]
            found = binding_of(function, self.facts, self.facts.local)
            return "erf" if found is not None and found.object in (scipy.special.erf, math.erf) else ""
        if not isinstance(function, gast.Attribute):
            return ""
        if isinstance(function.value, gast.Name) and function.value.id not in self.known:
            library = function.value.id == self.facts.imports.get("np")
            found = None if library else binding_of(function.value, self.facts, self.facts.local)
            if library or (found is not None and found.object in (np, math)):
                return str(function.attr)
            whole = binding_of(function, self.facts, self.facts.local)
            return "erf" if whole is not None and whole.object is scipy.special.erf else ""
        return str(function.attr) if function.attr in ("sum", "max", "min", "mean") else ""

    def axes_of(self, node: Node) -> Axes:
        """The axes of an expression of which only the shape matters."""
        if isinstance(node, gast.Call) and self.spelled(node) == "shape" and len(node.args) == 1:
            return self.axes_of(node.args[0])
        if isinstance(node, gast.Attribute) and node.attr == "T":
            return self.axes_of(node.value)[::-1]
        before = len(self.reductions)
        axes = self.piece(node).axes
        del self.reductions[before:]
        return axes

    def _reduced(self, node: Node, called: str, words: dict[str, Node]) -> Piece:
        method = isinstance(node.func, gast.Attribute) and not self._is_library(node.func.value)
        given = [node.func.value, *node.args] if method else list(node.args)
        if not set(words) <= {"axis", "keepdims"} or len(given) > 2 or (len(given) == 2 and "axis" in words):
            raise NotLoweredError
        axis = given[1] if len(given) == 2 else words.get("axis", constant(None))
        keeps = words.get("keepdims", constant(False))
        inner = self.value(given[0])
        rank = len(inner.axes)
        gone = literal_axes(axis, rank)
        if gone is None or not isinstance(keeps, gast.Constant) or not rank:
            raise NotLoweredError
        kept = [(None if k in gone else k) for k in range(rank) if keeps.value or k not in gone]
        return self.reduction(REDUCED[called], inner, tuple(kept))

    def _is_library(self, node: Node) -> bool:
        return isinstance(node, gast.Name) and node.id not in self.known

    def reduction(self, kind: str, inner: Piece, kept: tuple[int | None, ...]) -> Piece:
        """What holds a reduction, which comes before the statement; `kept` are the axes of the result."""
        axes = tuple(ONE if k is None else inner.axes[k] for k in kept)
        gone = [inner.axes[k] for k in range(len(inner.axes)) if k not in kept and inner.axes[k] != ONE]
        if not gone:
            return Piece(axes, lambda index: inner.at(sources(index, kept, len(inner.axes))))
        if kind in ("max", "min"):
            self.lengths.filled += gone
        held = self.fresh("t")
        self.reductions.append(Reduction(held, "sum" if kind == "mean" else kind, inner, axes, kept))
        made = leaf(held, axes) if axes else Piece((), lambda _: name(held), leaf=held)
        if kind != "mean":
            return made
        length = product_of([self.lengths.node(one) for one in gone], least=False)
        return Piece(axes, lambda index: gast.BinOp(made.at(index), gast.Div(), copy(length)))

    def _summed(self, inner: Piece, axes: Axes) -> Piece:
        """A value reduced to the shape of another that was broadcast to it."""
        lead = len(inner.axes) - len(axes)
        if lead < 0:
            return self._widened(inner, axes)
        kept: list[int | None] = []
        for k, wanted in enumerate(axes, lead):
            own = inner.axes[k]
            if own == ONE and wanted != ONE:
                raise NotLoweredError
            kept.append(None if wanted == ONE else k)
            if wanted != ONE:
                self.lengths.joined(wanted, own)
        if lead == 0 and all(k is not None or inner.axes[place] == ONE for place, k in enumerate(kept)):
            return inner
        return self.reduction("sum", inner, tuple(kept))

    def _widened(self, inner: Piece, axes: Axes) -> Piece:
        """A value repeated along the axes of another."""
        lead = len(axes) - len(inner.axes)
        if lead < 0 or any(a != ONE and b == ONE for a, b in zip(inner.axes, axes[lead:], strict=True)):
            raise NotLoweredError
        self.lengths.broadcast(inner.axes, axes)
        zeros = [a == ONE and b != ONE for a, b in zip(inner.axes, axes[lead:], strict=True)]
        return Piece(
            axes,
            lambda index: inner.at(
                [constant(0) if zero else one for zero, one in zip(zeros, index[lead:], strict=True)]
            ),
        )

    def _spread(self, node: Node) -> Piece:
        return self._widened(self.value(node.args[0]), self.axes_of(node.args[1]))


_ALL = gast.Slice(None, None, None)


def leaf(held: str, axes: Axes) -> Piece:
    """An array by its name."""

    def element(index: list[Node]) -> Node:
        parts = [constant(0) if axis == ONE else copy(one) for axis, one in zip(axes, index, strict=True)]
        return gast.Subscript(name(held), parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load()), gast.Load())

    return Piece(axes, element, leaf=held)


def _number(node: Node) -> Piece:
    return Piece((), lambda _: copy(node))


def _is(part: Node, value: object) -> bool:
    return isinstance(part, gast.Constant) and part.value is value
