"""Where a quantile lies among sorted elements."""

from __future__ import annotations

from typing import Any  # fractions and counts are numbers or arrays

import numpy as np

# By the method's name: the slope of the place in q is n plus this number; the other methods have slope 0.
SLOPES = {
    "linear": -1.0,
    "interpolated_inverted_cdf": 0.0,
    "hazen": 0.0,
    "weibull": 1.0,
    "median_unbiased": 1.0 / 3.0,
    "normal_unbiased": 0.25,
}


def quantile_place(q: Any, n: Any, method: str = "linear") -> Any:
    """The place of the quantiles q among n sorted elements, counted from 0: the quantile of the places themselves.

    For an array of counts n, each q is placed among each of them, and the result has both shapes.

    >>> quantile_place(0.5, 4), quantile_place(0.5, 4, "lower")
    (np.float64(1.5), np.float64(1.0))
    """
    if np.ndim(n) == 0:
        return np.quantile(np.arange(float(max(n, 1))), q, method=method)  # type: ignore[call-overload]
    made = np.empty(np.shape(q) + np.shape(n))
    for count in np.unique(n):
        made[..., n == count] = np.asarray(quantile_place(q, count, method))[..., None]
    return made


def quantile_slope(q: Any, n: Any, method: str = "linear") -> Any:
    """The derivative of `quantile_place(q, n, method)` with respect to q; 0 where the place is the first or the last.

    >>> quantile_slope(np.array([0.5, 1.0]), 4)
    array([3., 0.])
    """
    place = quantile_place(q, n, method)
    if method not in SLOPES:
        return 0.0 * place
    return np.where((place > 0.0) & (place < n - 1.0), n + SLOPES[method], 0.0)
