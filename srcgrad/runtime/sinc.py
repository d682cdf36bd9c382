"""Derivatives of `np.sinc` of every order, exact at 0 too."""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type

import numpy as np


def sinc_derivative(x: Any, order: int) -> Any:
    """The derivative of `np.sinc` of the given order at x, of x's shape and floating type.

    For |x| < 1 the power series is summed; elsewhere `x * sinc(x) = sin(pi * x) / pi` is differentiated
    `order` times, which gives each derivative from the one before.

    >>> float(sinc_derivative(0.0, 1)), round(float(sinc_derivative(0.0, 2)), 12)
    (0.0, -3.289868133696)
    """
    wide = np.asarray(x, dtype=np.float64)
    near = np.abs(wide) < 1.0
    small = np.where(near, wide, 0.0)
    series = np.zeros_like(wide)
    for k in reversed(range((order + 1) // 2, order // 2 + 24)):
        factorial = float(np.prod(np.arange(1.0, 2 * k - order + 1)))
        coefficient = (-1.0) ** k * np.pi ** (2 * k) / ((2 * k + 1) * factorial)
        series = series + coefficient * small ** (2 * k - order)
    large = np.where(near, 1.0, wide)
    value = np.sinc(large)
    for n in range(1, order + 1):
        value = (np.pi ** (n - 1) * np.sin(np.pi * large + n * np.pi / 2) - n * value) / large
    result = np.where(near, series, value)
    kind = np.asarray(x).dtype
    return result.astype(kind if kind.kind == "f" else np.float64, copy=False)[()]
