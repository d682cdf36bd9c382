"""Shapes of linear systems: right sides as columns, tensors as matrices, residuals that were not given."""

from __future__ import annotations

import math
from typing import Any  # arrays of any floating type

import numpy as np


def columns(x: Any, b: Any) -> Any:
    """`x` as a stack of matrices: a column where `b`, the right side of a linear system, is a vector.

    >>> columns(np.zeros(3), np.zeros(3)).shape, columns(np.zeros((3, 2)), np.zeros((3, 2))).shape
    ((3, 1), (3, 2))
    """
    return np.expand_dims(x, -1) if np.ndim(b) == 1 else x


def square(a: Any) -> Any:
    """An array as a square matrix: `np.linalg.tensorinv` and `tensorsolve` take it as one.

    >>> square(np.zeros((2, 3, 6))).shape
    (6, 6)
    """
    return np.reshape(a, (math.isqrt(np.size(a)), -1) if np.size(a) else (0, 0))


def last_axes(a: Any, axes: Any = None) -> tuple[int, ...]:
    """The axes of `a` in the order in which those in `axes` come last.

    >>> last_axes(np.zeros((2, 4, 2)), (0,))
    (1, 2, 0)
    """
    last = [axis % np.ndim(a) for axis in axes or ()]
    return (*(axis for axis in range(np.ndim(a)) if axis not in last), *last)


def filled(g: Any, x: Any) -> Any:
    """The adjoint of residuals, one for each column of `x`: zeros where `np.linalg.lstsq` gave none.

    >>> filled(np.zeros(0), np.zeros((4, 2))), filled(np.ones(2), np.zeros((4, 2)))
    (array([0., 0.]), array([1., 1.]))
    """
    columns = np.shape(x)[-1]
    return np.reshape(g, (columns,)) if np.size(g) == columns else np.zeros(columns, np.asarray(g).dtype)


def emptied(x: Any, g: Any) -> Any:
    """The transpose of `filled`: `x`, or nothing where `g` holds nothing.

    >>> emptied(np.ones(2), np.zeros(0))
    array([], dtype=float64)
    """
    return np.reshape(x, np.shape(g)) if np.size(g) == np.size(x) else np.zeros(0, np.asarray(x).dtype)
