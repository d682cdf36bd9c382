"""What texts of ours are taken for when they are differentiated once more, where a derivative is a convention.

There the first derivative is 0, which says nothing of the second: that one is nan, never a number that is no limit.
"""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type

import numpy as np

from srcgrad.runtime.norm import norm_axes, norm_gradient


def divisor(z: Any) -> Any:
    """`np.where(0.0 == z, np.inf, z)`: by it a gradient is 0 where the length z is; its own derivative there is nan.

    >>> divisor(np.array([0.0, 2.0]))
    array([inf,  2.])
    """
    return np.where(z == 0.0, np.inf, z)


def quotient(x: Any, y: Any) -> Any:
    """`x / y`, and where y is inf, in place of a size of 0, nan for any x but 0: that is no derivative there.

    Of what is 0 and stays so, as the distance of a point to itself, the derivative is 0.

    >>> quotient(np.array([3.0, 3.0, 0.0]), np.array([2.0, np.inf, np.inf]))
    array([1.5, nan, 0. ])
    """
    return np.where(np.isinf(y) & (x != 0.0), np.nan, x / y)[()]


def root(x: Any) -> Any:
    """`np.sqrt(x)` of a sum of squares, with a derivative of 0 where it is 0.

    >>> root(4.0)
    np.float64(2.0)
    """
    return np.sqrt(x)


def one_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm(x, 1, axis)` of vectors, with a derivative of nan with respect to elements that are 0.

    >>> one_norm(np.array([1.0, -2.0]), 1)
    np.float64(3.0)
    """
    return np.linalg.norm(x, ord, axis, keepdims)


def one_norm_gradient(x: Any, ord: Any, axis: Any = None) -> Any:
    """The gradient of `one_norm`; that of matrices, of which the largest column counts, is `norm_gradient`.

    >>> one_norm_gradient(np.array([0.0, -2.0]), 1)
    array([nan, -1.])
    """
    slope = norm_gradient(x, ord, axis)
    return np.where(x == 0.0, np.nan, slope) if len(norm_axes(x, ord, axis)) == 1 else slope


def magnitude(x: Any) -> Any:
    """`np.abs(x)`, with a derivative of nan at 0.

    >>> magnitude(-2.0)
    np.float64(2.0)
    """
    return np.abs(x)
