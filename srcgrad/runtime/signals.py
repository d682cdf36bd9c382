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
    whole = np.zeros(n + m - 1, np.result_type(np.asarray(g), np.asarray(v)))
    whole[before : before + np.size(g)] = g
    made = np.correlate(whole, np.atleast_1d(v), "valid")
    return np.reshape(made, np.shape(a)).astype(np.asarray(g).dtype, copy=False)


def within_full(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """What `scipy.signal.convolve(a, v, mode)` cuts off of the full convolution, put back as zeros around g.

    >>> within_full(np.array([1.0, 2.0]), np.zeros(2), np.zeros(3), "same")
    array([0., 1., 2., 0.])
    """
    n, m = np.asarray(np.shape(a)), np.asarray(np.shape(v))
    whole = np.zeros(tuple(n + m - 1), np.asarray(g).dtype)
    whole[_middle(n, m, mode)] = g
    return whole


def of_full(whole: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """The part of a full convolution that `scipy.signal.convolve(a, v, mode)` gives.

    >>> of_full(np.arange(4.0), np.zeros(2), np.zeros(3), "same")
    array([1., 2.])
    """
    n, m = np.asarray(np.shape(a)), np.asarray(np.shape(v))
    return np.array(whole[_middle(n, m, mode)])


def _middle(n: Any, m: Any, mode: str) -> tuple[slice, ...]:
    """Where the result lies in the full convolution, axis by axis."""
    if mode == "full":
        return tuple(slice(None) for _ in n)
    start = (m - 1) // 2 if mode == "same" else np.minimum(n, m) - 1
    length = n if mode == "same" else np.maximum(n, m) - np.minimum(n, m) + 1
    return tuple(slice(first, first + size) for first, size in zip(start, length, strict=True))


def lagged(g: Any, u: Any, b: Any, axis: int = -1) -> Any:
    """The products of g with u, which comes 0, 1, 2 ... samples later, as many as b has elements, of b's shape.

    >>> lagged(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0]), np.zeros(2))
    array([9., 5.])
    """
    g, u = np.moveaxis(np.asarray(g), axis, 0), np.moveaxis(np.asarray(u), axis, 0)
    sums = [np.sum(g[k:] * u[: max(0, len(u) - k)]) for k in range(np.size(b))]
    return np.reshape(np.array(sums), np.shape(b)).astype(np.result_type(g, u), copy=False)


def filtered_transpose(g: Any, weights: Any, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """The transpose of `scipy.ndimage.correlate1d` as a function of its input, applied to g.

    >>> filtered_transpose(np.array([1.0, 0.0, 0.0]), [1.0, 2.0, 4.0])
    array([3., 4., 0.])
    """
    pads = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}
    size, moved = len(weights), np.moveaxis(np.asarray(g), axis, 0)
    before = size // 2 + origin
    more = {"constant_values": -1} if mode == "constant" else {}
    place = np.pad(np.arange(len(moved)), (before, size - 1 - before), pads[mode], **more)  # type: ignore[call-overload]
    made = np.zeros(moved.shape, np.result_type(moved, np.asarray(weights)))
    for k, weight in enumerate(weights):
        inside = place[k : k + len(moved)] >= 0
        np.add.at(made, place[k : k + len(moved)][inside], weight * moved[inside])
    return np.moveaxis(made, 0, axis).astype(np.asarray(g).dtype, copy=False)
