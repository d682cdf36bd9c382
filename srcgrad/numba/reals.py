"""Dtypes of elements: where NumPy computes in float32 and where in float64, and how compiled code is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import gast

from srcgrad.facts import Facts
from srcgrad.numba.axes import DOUBLE, ONE, SINGLE, WEAK, Form, Piece
from srcgrad.trees import Node, constant, copy, expression, name


def joined(reals: Iterable[str]) -> str:
    """The dtype of what several make together.

    >>> joined(["weak", "single"]), joined(["single", "double", "weak"]), joined(["weak", "weak"])
    ('single', 'double', 'weak')
    """
    found = set(reals)
    return DOUBLE if DOUBLE in found else SINGLE if SINGLE in found else WEAK


def leaf(held: str, form: Form) -> Piece:
    """An array by its name."""

    def element(index: list[Node]) -> Node:
        parts = [constant(0) if axis == ONE else copy(one) for axis, one in zip(form.axes, index, strict=True)]
        return gast.Subscript(name(held), parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load()), gast.Load())

    return Piece(form.axes, form.real, element, leaf=held)


def number(node: Node, real: str = WEAK) -> Piece:
    """A number by its name, or as it is spelled."""
    return Piece((), real, lambda _: copy(node))


def strong(piece: Piece) -> Piece:
    """What a function of NumPy gives, which is a number of NumPy also where it was given those of Python."""
    return replace(piece, real=DOUBLE) if piece.real == WEAK else piece


def converted(piece: Piece, real: str, facts: Facts) -> Piece:
    """A piece of another dtype. Compiled code takes all numbers for float64, and widens what meets it by itself."""
    if real == piece.real or (real, piece.real) in ((DOUBLE, WEAK), (WEAK, DOUBLE)):
        return replace(piece, real=real)
    return Piece(piece.axes, real, lambda index: cast(piece.at(index), real, facts))


def asked(node: Node) -> str:
    """What `np.float32` and `np.float64` are called here; an empty string for any other dtype."""
    return {"float32": SINGLE, "float64": DOUBLE}.get(getattr(node, "attr", ""), "")


def cast(node: Node, real: str, facts: Facts) -> Node:
    """An element or a number in another dtype."""
    return expression(f"{_spelled(real, facts)}(x)", x=node)


def dtype(real: str, facts: Facts) -> list[Node]:
    """The argument by which an array gets its dtype, where it needs one."""
    return [expression(_spelled(real, facts))] if real == SINGLE else []


def widened(node: Node, facts: Facts) -> Node:
    """An array of float32 as one of float64: compiled products of matrices take one dtype."""
    return expression(f"x.astype({_spelled(DOUBLE, facts)})", x=node)


def _spelled(real: str, facts: Facts) -> str:
    return f"{facts.library('np')}.{'float32' if real == SINGLE else 'float64'}"
