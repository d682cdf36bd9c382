"""Factors of products of matrices with their weights: what one product in place of many takes."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def blend_factors(a: Any, w: Any) -> Any:
    """The matrix (b * k, v) of `w * a`, for a (k, v) and w (b, 1, v).

    With it, `np.sum(np.matmul(p, a) * w, axis=0)` is one product. FloatingPointError where a number is too large or too
    small for that order.

    >>> blend_factors(np.ones((1, 2)), np.array([[[3.0, 4.0]], [[5.0, 6.0]]]))
    array([[3., 4.],
           [5., 6.]])
    """
    with np.errstate(over="raise", under="raise", invalid="raise"):
        made = w * a
        return np.reshape(made, (len(w) * len(a), made.shape[-1]))
