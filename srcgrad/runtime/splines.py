"""Shapes of what splines give: the axes of the places stand where the axis of the values stood."""

from __future__ import annotations

from typing import Any  # arrays, and splines of scipy.interpolate

import numpy as np


def over_values(g: Any, x: Any, spline: Any) -> Any:
    """`g`, of the shape of `spline(x)`, summed over the axes that are not those of `x`.

    >>> from types import SimpleNamespace
    >>> over_values(np.ones((2, 3)), np.zeros(2), SimpleNamespace(axis=0))
    array([3., 3.])
    """
    first, rank = spline.axis, np.ndim(x)
    others = tuple(k for k in range(np.ndim(g)) if not first <= k < first + rank)
    return np.sum(g, axis=others) if others else g


def for_values(g: Any, z: Any, spline: Any) -> Any:
    """`g`, of the shape of x, with axes of length 1 for those that `z = spline(x)` has besides.

    >>> from types import SimpleNamespace
    >>> for_values(np.ones(2), np.ones((2, 3)), SimpleNamespace(axis=0)).shape
    (2, 1)
    """
    first, rank = spline.axis, np.ndim(g)
    return np.reshape(g, (1,) * first + np.shape(g) + (1,) * (np.ndim(z) - first - rank))
