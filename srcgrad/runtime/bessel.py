"""Derivatives of `np.i0` of every order."""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type

import numpy as np


def i0_derivative(x: Any, order: int) -> Any:
    """The derivative of `np.i0` of the given order at x, of x's shape and floating type.

    It is the mean of `cos(t)**order * exp(x * cos(t))` over t, at 256 places: exact to rounding for all x whose value
    is finite.

    >>> round(float(i0_derivative(1.0, 1)), 12)
    0.565159103992
    """
    cosines = np.cos(np.pi * (np.arange(256) + 0.5) / 256)
    wide = np.expand_dims(np.asarray(x, dtype=np.float64), -1)
    result = np.asarray(np.mean(cosines**order * np.exp(wide * cosines), axis=-1))
    kind = np.asarray(x).dtype
    return result.astype(kind if kind.kind == "f" else np.float64, copy=False)[()]
