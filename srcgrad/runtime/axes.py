"""Reductions along an axis by names of their own: compiled code has them for arrays of any rank, which NumPy's lack."""

from __future__ import annotations

from typing import Any  # arrays of any dtype; an axis is an int, a tuple of them, or None

import numpy as np


def max_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.max(a, axis, keepdims=keepdims)`.

    >>> max_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 0)
    array([3., 4.])
    """
    return np.max(a, axis=axis, keepdims=keepdims)


def min_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.min(a, axis, keepdims=keepdims)`.

    >>> min_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 1, True)
    array([[1.],
           [2.]])
    """
    return np.min(a, axis=axis, keepdims=keepdims)


def sum_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.sum(a, axis, keepdims=keepdims)`.

    >>> sum_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 1, True)
    array([[5.],
           [5.]])
    """
    return np.sum(a, axis=axis, keepdims=keepdims)


def mean_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.mean(a, axis, keepdims=keepdims)`.

    >>> mean_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 0)
    array([2., 3.])
    """
    return np.mean(a, axis=axis, keepdims=keepdims)
