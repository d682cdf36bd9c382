"""The transpose of a convolution."""

from __future__ import annotations

from typing import Any  # vectors of any floating type

import numpy as np


def convolve_transpose(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """The transpose of `np.convolve(a, v, mode)` as a function of a, applied to g; of a's shape.

    >>> convolve_transpose(np.array([1.0, 0.0, 0.0]), np.zeros(2), np.array([3.0, 4.0]))
    array([3., 0.])
    """
    n, m = np.size(a), np.size(v)
    before = 0 if mode == "full" else min(n, m) - 1
    if mode == "same":
        before = (min(n, m) - 1) // 2
    whole = np.zeros(n + m - 1, np.result_type(g, v))
    whole[before : before + np.size(g)] = g
    made = np.correlate(whole, np.atleast_1d(v), "valid")
    return np.reshape(made, np.shape(a)).astype(np.asarray(g).dtype, copy=False)
