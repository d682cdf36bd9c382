"""How the arguments of a kernel lie in memory, and so which C is for them; None where none is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any  # arguments are arbitrary objects

import numpy as np

from srcgrad.opencl.source import Output, Variant

REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
BOOL = np.dtype(np.bool_)
MOST_AXES = 4
_SPREAD = 16  # times its size that an array may spread over in memory, before a copy of it is better


@dataclass
class Layout:
    """The space over which a kernel runs, and each argument as memory and strides over it."""

    shape: tuple[int, ...]
    variant: Variant
    arrays: list[Any] = field(default_factory=list)
    strides: list[tuple[int, ...]] = field(default_factory=list)
    extents: tuple[int, ...] = ()  # rows, elements in a row, then the axes of rows but for the first


def real_of(args: Sequence[Any], tests: Sequence[bool]) -> Any:
    """The float type in which NumPy would compute throughout; None if there is no such type."""
    real: Any = None
    for value, test in zip(args, tests, strict=True):
        kind = type(value)
        if kind is float or (kind is int and abs(value) < 2**24):
            continue
        if not isinstance(value, np.ndarray | np.generic) or kind not in (np.ndarray, *_SCALARS):
            return None
        if value.dtype == BOOL and test and value.ndim:
            continue
        if value.dtype not in REALS or (real is not None and value.dtype != real):
            return None
        real = value.dtype
    return real


_SCALARS = (np.float32, np.float64)


def space_of(
    args: Sequence[Any], outputs: Sequence[Output], wholes: Sequence[tuple[str, ...]], places: dict[str, int]
) -> tuple[int, ...] | None:
    """The shape to which all arguments broadcast, if every result has it, and all that must have it."""
    shapes = [np.shape(value) for value in args]
    space = _broadcast(shapes)
    if not space or 0 in space:
        return None
    for needed in (*wholes, *(output.of for output in outputs)):
        if _broadcast([shapes[places[argument]] for argument in needed]) != space:
            return None
    return space


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def is_flat(args: Sequence[Any], space: tuple[int, ...]) -> bool:
    """Whether every array has the shape of the space and lies in one piece."""
    arrays = [value for value in args if type(value) is np.ndarray and value.ndim]
    return all(a.shape == space and a.flags.c_contiguous and a.flags.aligned for a in arrays)


def flat(args: Sequence[Any], space: tuple[int, ...], real: Any, sums: tuple[bool, ...], gpu: bool) -> Layout:
    """All arrays in one piece: one row."""
    kinds = ["v" if not np.ndim(value) else ("1b" if value.dtype == BOOL else "1") for value in args]
    variant = Variant(REALS[real], tuple(kinds), sums, 1, gpu)
    return Layout(space, variant, list(args), [()] * len(args), (1, math.prod(space)))


def in_rows(args: Sequence[Any], space: tuple[int, ...], real: Any, sums: tuple[bool, ...], gpu: bool) -> Layout | None:
    """Arrays with strides: rows along the last axis."""
    if len(space) > MOST_AXES:
        return None
    kinds: list[str] = []
    arrays: list[Any] = []
    strides: list[tuple[int, ...]] = []
    for value in args:
        if not np.ndim(value):
            kinds.append("v")
            arrays.append(value)
            strides.append(())
            continue
        odd = not value.flags.aligned or any(s < 0 or s % value.itemsize for s in value.strides)
        if odd or _span(value) > _SPREAD * value.nbytes:
            value = np.ascontiguousarray(value)
        steps = [0] * (len(space) - value.ndim)
        steps += [0 if n == 1 else s // value.itemsize for n, s in zip(value.shape, value.strides, strict=True)]
        inner = {1: "r1", 0: "r0"}.get(steps[-1], "rs")
        kinds.append(inner + ("b" if value.dtype == BOOL else ""))
        arrays.append(value)
        strides.append((*(steps[:-1] or [0]), *([steps[-1]] if inner == "rs" else [])))
    outer = space[:-1] or (1,)
    variant = Variant(REALS[real], tuple(kinds), sums, max(len(space), 2), gpu)
    return Layout(space, variant, arrays, strides, (math.prod(outer), space[-1], *outer[1:]))


def _span(value: Any) -> int:
    """Bytes from the first element to the last."""
    return sum((n - 1) * s for n, s in zip(value.shape, value.strides, strict=True))
