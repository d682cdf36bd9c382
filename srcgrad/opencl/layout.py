"""How the arguments of a kernel lie in memory, and in which float type NumPy would compute with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any  # arguments are arbitrary objects

import numpy as np

REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
BOOL = np.dtype(np.bool_)
_SCALARS = (np.float32, np.float64)
_SPREAD = 16  # times its size that an array may spread over in memory, before a copy of it is better
_ASKED = 0x500  # of the flags of an array: aligned, writeable
_EXACT = 2**24  # integers below are exact in any float type


def real_of(args: Sequence[Any], asked: Sequence[bool]) -> Any:
    """The float type in which NumPy would compute throughout; None if there is no such type."""
    real: Any = None
    for value, test in zip(args, asked, strict=True):
        kind = type(value)
        if kind is float or (kind is int and abs(value) < _EXACT):
            continue
        if kind is not np.ndarray and kind not in _SCALARS:
            return None
        if value.dtype == BOOL and test and value.ndim:
            continue
        if value.dtype not in REALS or (real is not None and value.dtype != real):
            return None
        real = value.dtype
    return real


def key_of(args: Sequence[Any]) -> tuple[Any, ...] | None:
    """What a kernel is prepared for: types, shapes and strides; None for integers that are not exact as floats."""
    made: list[Any] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            made.append((value.dtype, value.shape, value.strides, value.flags.num & _ASKED))
        elif kind is int and abs(value) >= _EXACT:
            return None
        else:
            made.append(kind)
    return tuple(made)


def steps(value: Any) -> tuple[int, ...] | None:
    """Strides in elements; None for memory that kernels do not read as it is."""
    if not value.flags.aligned or any(s < 0 or s % value.itemsize for s in value.strides):
        return None
    if _span(value) > _SPREAD * value.nbytes:
        return None
    return tuple(0 if n == 1 else s // value.itemsize for n, s in zip(value.shape, value.strides, strict=True))


def _span(value: Any) -> int:
    """Bytes from the first element to the last."""
    return sum((n - 1) * s for n, s in zip(value.shape, value.strides, strict=True))


def steps_in_one_piece(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array whose elements lie next to each other."""
    made, step = [], 1
    for length in reversed(shape):
        made.append(0 if length == 1 else step)
        step *= length
    return tuple(reversed(made))
