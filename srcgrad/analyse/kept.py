"""The shape of what a reduction leaves: with `keepdims`, it broadcasts into the shape that was reduced.

It is spelled `kept: 1 ['z']`: what a reduction along axis 1 with `keepdims=True` leaves of the shape {z}, whose rank
need not be known.
"""

from __future__ import annotations

import ast

from srcgrad.analyse.extents import brief

_MARK = "kept:"  # no name of a program ends like that


def kept(shape: frozenset[str], axis: object) -> frozenset[str]:
    """The shape of a reduction of a shape along `axis` with `keepdims=True`."""
    return frozenset([f"{_MARK} {str(axis).replace(' ', '')} {sorted(map(brief, shape))!r}"]) if shape else shape


def without_kept(shape: frozenset[str]) -> frozenset[str]:
    """The shape without parts that broadcast into the rest of it.

    >>> sorted(without_kept(frozenset("z") | kept(frozenset("z"), 1)))
    ['z']
    >>> sorted(without_kept(frozenset("x") | kept(frozenset("z"), 1)))
    ["kept: 1 ['z']", 'x']
    """
    reduced = {symbol: frozenset(_whole(symbol)) for symbol in shape if symbol.startswith(f"{_MARK} ")}
    whole = frozenset(map(brief, shape))
    return frozenset(s for s in shape if s not in reduced or not reduced[s] <= whole)


def axis_kept(shape: frozenset[str], whole: frozenset[str]) -> object:
    """The axis along which a shape is what a reduction leaves of `whole`; Ellipsis if it is nothing of the kind."""
    if len(shape) == 1:
        symbol = next(iter(shape))
        if symbol.startswith(f"{_MARK} ") and frozenset(_whole(symbol)) == frozenset(map(brief, whole)):
            return ast.literal_eval(symbol.split(" ", 2)[1])
    return ...


def _whole(symbol: str) -> list[str]:
    found: list[str] = ast.literal_eval(symbol.split(" ", 2)[2])
    return found
