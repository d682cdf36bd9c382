"""Sums and largest elements along axes, and arrays in the shape of others, as pieces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gast

from srcgrad.numba.axes import (
    ONE,
    WEAK,
    Axes,
    Form,
    NotLoweredError,
    Piece,
    Reduction,
    literal_axes,
    product_of,
    sources,
)
from srcgrad.numba.reals import converted, leaf, number, strong
from srcgrad.trees import Node, constant, name

if TYPE_CHECKING:
    from srcgrad.numba.pieces import Reader

REDUCED = {"sum": "sum", "max": "max", "min": "min", "amax": "max", "amin": "min", "mean": "mean"}


def reduced(node: Node, called: str, words: dict[str, Node], reader: Reader) -> Piece | None:
    """A call that puts elements together, or repeats them; None for any other."""
    if called in REDUCED:
        return _along(node, called, words, reader)
    if words or any(isinstance(one, gast.Starred) for one in node.args):
        return None
    if called in ("sum_to", "fit_to") and len(node.args) == 2:
        return _summed(reader.value(node.args[0]), reader.form_of(node.args[1]), reader)
    if called == "count":
        return number(_count(node, reader))
    if called in ("spread", "broadcast_to") and len(node.args) == 2:
        return strong(_widened(reader.value(node.args[0]), reader.axes_of(node.args[1]), reader))
    if (called, len(node.args)) in (("full_like", 2), ("ones_like", 1)):
        value = reader.value(node.args[1]) if len(node.args) == 2 else number(constant(1.0))
        form = reader.form_of(node.args[0])
        return converted(_widened(value, form.axes, reader), form.real, reader.facts)
    return None


def _count(node: Node, reader: Reader) -> Node:
    """How many elements a reduction puts together."""
    axes = reader.axes_of(node.args[0])
    gone = literal_axes(node.args[1] if len(node.args) == 2 else constant(None), len(axes))
    if gone is None:
        raise NotLoweredError
    return product_of([reader.lengths.node(axes[k]) for k in gone if axes[k] != ONE])


def _along(node: Node, called: str, words: dict[str, Node], reader: Reader) -> Piece:
    method = isinstance(node.func, gast.Attribute) and not _is_library(node.func.value, reader)
    given = [node.func.value, *node.args] if method else list(node.args)
    if not set(words) <= {"axis", "keepdims"} or len(given) > 2 or (len(given) == 2 and "axis" in words):
        raise NotLoweredError
    axis = given[1] if len(given) == 2 else words.get("axis", constant(None))
    keeps = words.get("keepdims", constant(False))
    inner = reader.value(given[0])
    rank = len(inner.axes)
    gone = literal_axes(axis, rank)
    if gone is None or not isinstance(keeps, gast.Constant) or not rank:
        raise NotLoweredError
    kept = [(None if k in gone else k) for k in range(rank) if keeps.value or k not in gone]
    return reduction(REDUCED[called], inner, tuple(kept), reader)


def _is_library(node: Node, reader: Reader) -> bool:
    return isinstance(node, gast.Name) and node.id not in reader.known


def reduction(kind: str, inner: Piece, kept: tuple[int | None, ...], reader: Reader) -> Piece:
    """What holds a reduction, which comes before the statement; `kept` are the axes of the result."""
    axes = tuple(ONE if k is None else inner.axes[k] for k in kept)
    gone = [inner.axes[k] for k in range(len(inner.axes)) if k not in kept and inner.axes[k] != ONE]
    if not gone:
        return Piece(axes, inner.real, lambda index: inner.at(sources(index, kept, len(inner.axes))))
    if kind in ("max", "min"):
        reader.lengths.filled += gone
    held = reader.fresh("t")
    reader.reductions.append(Reduction(held, "sum" if kind == "mean" else kind, inner, axes, kept))
    made = leaf(held, Form(axes, inner.real)) if axes else replace(number(name(held), inner.real), leaf=held)
    if kind != "mean":
        return made
    length = number(product_of([reader.lengths.node(one) for one in gone], least=False))
    return reader.mapped([made, length], lambda parts: gast.BinOp(parts[0], gast.Div(), parts[1]))


def _summed(inner: Piece, form: Form, reader: Reader) -> Piece:
    """A value reduced to the shape of another that was broadcast to it."""
    lead = len(inner.axes) - len(form.axes)
    if lead < 0:
        return _as(_widened(inner, form.axes, reader), form, reader)
    kept: list[int | None] = []
    for k, wanted in enumerate(form.axes, lead):
        own = inner.axes[k]
        if own == ONE and wanted != ONE:
            raise NotLoweredError
        kept.append(None if wanted == ONE else k)
        if wanted != ONE:
            reader.lengths.joined(wanted, own)
    if lead == 0 and all(k is not None or inner.axes[place] == ONE for place, k in enumerate(kept)):
        return _as(inner, form, reader)
    return _as(reduction("sum", inner, tuple(kept), reader), form, reader)


def _as(piece: Piece, form: Form, reader: Reader) -> Piece:
    """An adjoint is of the dtype of what it belongs to."""
    return piece if form.real == WEAK else converted(piece, form.real, reader.facts)


def _widened(inner: Piece, axes: Axes, reader: Reader) -> Piece:
    """A value repeated along the axes of another."""
    lead = len(axes) - len(inner.axes)
    if lead < 0 or any(a != ONE and b == ONE for a, b in zip(inner.axes, axes[lead:], strict=True)):
        raise NotLoweredError
    reader.lengths.broadcast(inner.axes, axes)
    zeros = [a == ONE and b != ONE for a, b in zip(inner.axes, axes[lead:], strict=True)]
    return Piece(
        axes,
        inner.real,
        lambda index: inner.at([constant(0) if zero else one for zero, one in zip(zeros, index[lead:], strict=True)]),
    )
