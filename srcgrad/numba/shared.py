"""The adjoint of the largest or least element along axes, by elements: those that are equal to it share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.numba.axes import ONE, NotLoweredError, Piece, literal_axes
from srcgrad.numba.reals import converted, number
from srcgrad.numba.reduced import reduction
from srcgrad.trees import Node, constant, expression

if TYPE_CHECKING:
    from srcgrad.numba.pieces import Reader


def shared(node: Node, words: dict[str, Node], reader: Reader) -> Piece:
    """`share(g, a, y, axis)`: `among * (g / count)`, where `among` is 1.0 for elements that are equal to y."""
    if len(node.args) not in (3, 4) or not set(words) <= {"axis", "keepdims"} or (len(node.args) == 4 and words):
        raise NotLoweredError
    axis = node.args[3] if len(node.args) == 4 else words.get("axis", constant(None))
    keeps = words.get("keepdims", constant(False))
    given, whole, found = map(reader.value, node.args[:3])
    gone = literal_axes(axis, len(whole.axes))
    if not gone or not isinstance(keeps, gast.Constant):
        raise NotLoweredError
    if not keeps.value:
        given, found = _widened(given, gone, len(whole.axes)), _widened(found, gone, len(whole.axes))
    one, zero = (converted(number(constant(each)), found.real, reader.facts).at([]) for each in (1.0, 0.0))
    among = reader.mapped(
        [whole, found],
        lambda parts: expression("one if a == y else zero", one=one, a=parts[0], y=parts[1], zero=zero),
    )
    kept = tuple(None if k in gone else k for k in range(len(whole.axes)))
    count = reduction("sum", among, kept, reader)
    return reader.mapped(
        [among, given, count], lambda parts: expression("a * (g / n)", a=parts[0], g=parts[1], n=parts[2])
    )


def _widened(piece: Piece, gone: tuple[int, ...], rank: int) -> Piece:
    """A reduction with an axis of length 1 for each that is gone."""
    if not piece.axes:
        return piece
    if len(piece.axes) != rank - len(gone):
        raise NotLoweredError
    left = iter(piece.axes)
    axes = tuple(ONE if k in gone else next(left) for k in range(rank))
    return Piece(axes, piece.real, lambda index: piece.at([one for k, one in enumerate(index) if k not in gone]))
