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


def denominator(z: Any) -> Any:
    """`np.where(0.0 == z, np.inf, z)`, where the lines around it know what the length of 0 is of.

    >>> denominator(np.array([0.0, 2.0]))
    array([inf,  2.])
    """
    return np.where(z == 0.0, np.inf, z)


def length_dot(z: Any, z_dot: Any, away: Any) -> Any:
    """The tangent of a length z: nan where z is 0 and does not stay so, since it is `away` a little further on.

    >>> length_dot(np.array([2.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    array([ 1., nan,  0.])
    """
    return np.where((z == 0.0) & (away != 0.0), np.nan, z_dot)[()]


def share(q: Any, x: Any, r: Any) -> Any:
    """`q * x`, where q is a quotient by r, the length of x, or inf for 0: its derivative is nan there.

    >>> share(np.array([0.5, 0.0]), np.array([2.0, 0.0]), np.array([2.0, np.inf]))
    array([1., 0.])
    """
    return np.where(np.isnan(r), np.nan, q * x)[()]


def shared(g: Any, q: Any, r: Any) -> Any:
    """`g * q`, and nan where r is inf, in place of a length of 0, for any g but 0.

    >>> shared(np.array([3.0, 3.0, 0.0]), np.array([0.5, 0.0, 0.0]), np.array([2.0, np.inf, np.inf]))
    array([1.5, nan, 0. ])
    """
    return np.where(np.isinf(r) & (g != 0.0), np.nan, g * q)[()]


def signed(q: Any, x: Any) -> Any:
    """`q * np.sign(x)`, where q is computed from the size of x: its derivative is nan at 0.

    >>> signed(3.0, np.array([-2.0, 0.0]))
    array([-3.,  0.])
    """
    return q * np.sign(x)


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
