"""Sums of weights by bins, and their transpose."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def _bins(a: Any, edges: Any) -> tuple[Any, Any]:
    """Which elements are in some bin, and in which; the last bin holds its right edge."""
    inside = (a >= edges[0]) & (a <= edges[-1])
    return inside, np.minimum(np.searchsorted(edges, a, side="right") - 1, len(edges) - 2)


def binned(weights: Any, a: Any, edges: Any) -> Any:
    """`np.histogram(a, edges, weights=weights)[0]`.

    >>> binned(np.array([1.0, 2.0, 4.0]), np.array([0.1, 0.2, 1.0]), np.array([0.0, 0.5, 1.0]))
    array([3., 4.])
    """
    inside, places = _bins(np.asarray(a), edges)
    weights = np.asarray(weights)
    made = np.zeros(len(edges) - 1, weights.dtype)
    np.add.at(made, places[inside], weights[inside])
    return made


def of_bins(g: Any, a: Any, edges: Any) -> Any:
    """The transpose of `binned`: for each element what its bin has, 0 for one that is in none.

    >>> of_bins(np.array([3.0, 4.0]), np.array([0.1, 0.2, 5.0]), np.array([0.0, 0.5, 1.0]))
    array([3., 3., 0.])
    """
    inside, places = _bins(np.asarray(a), edges)
    return np.where(inside, g[np.clip(places, 0, None)], g.dtype.type(0.0))
