"""Functions of elements and lengths at places where a formula alone would give nan, or a number that is no limit.

Texts that are differentiated once more are taken for what is here, where a first derivative is a convention: it is 0
there, which says nothing of the second, and that one is nan, never a number that is no limit.
"""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type

import numpy as np

from srcgrad.runtime.linalg import norm_axes, norm_gradient


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


_BITS = {np.dtype(f"f{size}"): np.dtype(f"i{size}") for size in (2, 4, 8)}  # integers of the same size


def if_larger(seed: Any, x: Any, y: Any, out: Any = None) -> Any:
    """`seed` where x is larger than y, half of it where they are equal, 0 elsewhere, whatever it is there.

    With `out`, which may be x, it takes the memory of that array, if its shape and dtype are those of the result.

    >>> if_larger(np.array([2.0, 2.0, np.inf]), np.array([3.0, 1.0, 0.0]), 1.0)
    array([2., 1., 0.])
    """
    if type(seed) is type(x) is float and type(y) in (float, int):
        return seed if x > y else 0.5 * seed if x == y else 0.0
    if type(seed) is float and (real := np.result_type(x, y)).kind == "f":
        seed = real.type(seed)  # where float32 is larger than a number, so is what comes of the number
    chosen, tie = np.greater(x, y), np.equal(x, y)  # before x changes
    made = _where(chosen, seed, out)
    return np.where(tie, 0.5 * seed, made) if np.any(tie) else made


def _where(chosen: Any, g: Any, out: Any) -> Any:
    """`np.where(chosen, g, 0.0)`; of an array the bits are masked, which takes no branch for each element."""
    shape = np.shape(chosen)
    fits = type(g) is np.ndarray and (g.shape == shape or np.broadcast_shapes(g.shape, shape) == shape)
    bits = _BITS.get(g.dtype) if fits else None
    if bits is None:
        return np.where(chosen, g, 0.0)
    if type(out) is not np.ndarray or out.shape != shape or out.dtype != g.dtype or not out.flags.writeable:
        out = np.empty_like(chosen, g.dtype)
    mask = out.view(bits)
    np.copyto(mask, chosen)
    np.negative(mask, out=mask)
    np.bitwise_and(mask, g.view(bits), out=mask)
    return out


def falling(x: Any) -> Any:
    """`1 / (1 + exp(x))` as one operation: no text calls it, but its rule is that of these three.

    >>> float(falling(0.0)), float(falling(-np.inf))
    (0.5, 1.0)
    """
    return 1.0 / (1.0 + np.exp(x))


def squared_magnitude(z: Any) -> Any:
    """`np.abs(z) ** 2` as one operation, which has all derivatives at 0 too.

    >>> float(squared_magnitude(3.0 + 4.0j))
    25.0
    """
    return np.real(z) ** 2 + np.imag(z) ** 2


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
