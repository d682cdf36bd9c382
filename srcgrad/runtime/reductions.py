"""Reductions along axes and their transposes: sums, running sums, recurrences, steps, bins, sections."""

from __future__ import annotations

from typing import Any  # arrays of any floating type; an axis is an int, or None for all elements in their order

import numpy as np
from numpy.typing import NDArray


def recurrence(g: Any, a: Any, axis: Any) -> Any:
    """`s[k] = g[k] + a[k] * s[k - 1]` along `axis`, begun by `s[0] = g[0]`; of a's shape.

    >>> recurrence(np.array([1.0, 2.0, 3.0]), np.array([5.0, 10.0, 0.0]), 0)
    array([ 1., 12.,  3.])
    """
    s, factors = _steps(g, a, axis)
    for k in range(1, len(s)):
        s[k] += factors[k] * s[k - 1]
    return _laid(s, a, axis)


def recurrence_back(g: Any, a: Any, axis: Any) -> Any:
    """`s[k] = g[k] + a[k + 1] * s[k + 1]` along `axis`, begun at its end; the transpose of `recurrence`.

    >>> recurrence_back(np.array([1.0, 2.0, 3.0]), np.array([5.0, 10.0, 0.0]), 0)
    array([21.,  2.,  3.])
    """
    s, factors = _steps(g, a, axis)
    for k in range(len(s) - 1, 0, -1):
        s[k - 1] += factors[k] * s[k]
    return _laid(s, a, axis)


def products_before(a: Any, axis: Any) -> Any:
    """For each element of a, the product of all before it along `axis`; of a's shape.

    >>> products_before(np.array([2.0, 0.0, 3.0]), 0)
    array([1., 2., 0.])
    """
    lines, factors = _steps(a, a, axis)
    lines[:1] = 1.0
    lines[1:] = np.cumprod(factors[:-1], axis=0)
    return _laid(lines, a, axis)


def shifted(x: Any, by: int, axis: Any) -> Any:
    """Each element of x in the place of its neighbour: the next one along `axis` for 1, the one before for -1.

    Where none comes from there are zeros.

    >>> shifted(np.array([2.0, 5.0, 3.0]), 1, 0), shifted(np.array([2.0, 5.0, 3.0]), -1, 0)
    (array([0., 2., 5.]), array([5., 3., 0.]))
    """
    made, lines = _steps(x, x, axis)
    made[:] = 0.0
    if by > 0:
        made[1:] = lines[:-1]
    else:
        made[:-1] = lines[1:]
    return _laid(made, x, axis)


def _steps(g: Any, a: Any, axis: Any) -> tuple[Any, Any]:
    """A copy of `g`, and `a`, with the axis first."""
    if axis is None or np.ndim(a) == 0:
        factors = np.reshape(a, -1)
        made = np.reshape(g, -1)
    else:
        factors = np.moveaxis(a, axis, 0)
        made = np.moveaxis(g, axis, 0)
    return np.array(made, np.result_type(made, factors)), factors


def _laid(s: Any, a: Any, axis: Any) -> Any:
    """A result in the shape of `a`."""
    return np.reshape(s, np.shape(a)) if axis is None or np.ndim(a) == 0 else np.moveaxis(s, 0, axis)


def ordered_axes(a: Any, axis: Any) -> tuple[tuple[int, ...], int]:
    """The axes of a, those that are kept before those that are reduced, and the number of those kept."""
    rank = np.ndim(a)
    given = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    reduced = tuple(k % rank for k in given)
    kept = tuple(k for k in range(rank) if k not in reduced)
    return kept + reduced, len(kept)


def count(a: Any, axis: Any = None) -> int:
    """How many elements of a a reduction along `axis` puts together (all axes for None); 1 if there are none.

    It is a divisor, hence never 0: the mean of an empty array has an empty gradient, not a ZeroDivisionError.

    >>> count(np.zeros((2, 3)), -1), count(np.zeros((2, 3))), count(np.zeros(0))
    (3, 6, 1)
    """
    order, kept = ordered_axes(a, axis)
    shape = np.shape(a)
    return int(np.prod([shape[k] for k in order[kept:]], dtype=np.int64)) or 1


def max_or_least(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.max(a, axis, keepdims=keepdims)`, and the least number of the dtype where there are no elements.

    >>> max_or_least(np.zeros((2, 0)), 1), max_or_least(np.array([], np.int8)), max_or_least(np.array([1.0, 2.0]))
    (array([-inf, -inf]), np.int8(-128), np.float64(2.0))
    """
    return np.max(a, axis=axis, keepdims=keepdims, initial=_end(a, largest=False))


def min_or_most(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.min(a, axis, keepdims=keepdims)`, and the largest number of the dtype where there are no elements.

    >>> min_or_most(np.zeros((2, 0)), 1), min_or_most(np.array([], np.int8)), min_or_most(np.array([1.0, 2.0]))
    (array([inf, inf]), np.int8(127), np.float64(1.0))
    """
    return np.min(a, axis=axis, keepdims=keepdims, initial=_end(a, largest=True))


def _end(a: Any, largest: bool) -> Any:
    """The largest or the least number of the dtype of an array."""
    dtype = np.asarray(a).dtype
    if dtype.kind not in "iu":
        return largest if dtype.kind == "b" else np.inf if largest else -np.inf
    return np.iinfo(dtype).max if largest else np.iinfo(dtype).min


def share(g: Any, a: Any, y: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The adjoint of an extreme `y` of a along `axis`, shared evenly by the elements of a that are equal to it.

    The result has the shape of a. `g` and `y` have that of the reduction. Where no element equals `y`, as with nan,
    it is nan.

    >>> share(np.array([3.0, 8.0]), np.array([[1.0, 2.0], [5.0, 5.0]]), np.array([2.0, 5.0]), axis=1)
    array([[0., 3.],
           [4., 4.]])
    """
    if np.ndim(g) > np.ndim(y) == 0:
        g = np.reshape(g, ())  # of a sum along the axis that a number has there
    if axis == -1 and not keepdims and np.ndim(a):
        g, y = np.asarray(g)[..., None], np.asarray(y)[..., None]
    elif axis is not None and not keepdims and np.ndim(a):
        g, y = np.expand_dims(g, axis), np.expand_dims(y, axis)
    among = np.equal(a, y).astype(np.asarray(y).dtype)  # no integers: their count would turn float32 into float64
    if not among.size:
        return among
    return among * (g / np.add.reduce(among, axis, keepdims=True))


def share_nearest(g: Any, a: Any, y: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`share` for an `a` that is computed again, otherwise than where `y` was found: those nearest to `y` share.

    >>> share_nearest(np.array([3.0]), np.array([[1.0, 2.0]]), np.array([2.0000000000000004]), axis=1)
    array([[0., 3.]])
    """
    if axis is not None and not keepdims and np.ndim(a):
        g, y = np.expand_dims(g, axis), np.expand_dims(y, axis)
    gap = _gap(a, y)
    return share(g, gap, np.min(gap, axis=axis, keepdims=True), axis, True)


def is_nearest(a: Any, y: Any) -> Any:
    """Which elements of `a` are `y`, an extreme of it, or nearest to it where `a` is computed again.

    >>> is_nearest(np.array([1.0, 2.0]), 2.0000000000000004)
    array([False,  True])
    """
    gap = _gap(a, y)
    return np.equal(gap, np.min(gap))


def _gap(a: Any, y: Any) -> Any:
    """How far elements are from a value; 0 where they are equal, infinite ones too."""
    with np.errstate(invalid="ignore"):  # inf - inf
        return np.where(np.equal(a, y), 0.0, np.abs(np.subtract(a, y)))


def merge_axes(a: Any, axis: Any = None) -> Any:
    """a with the axes that `axis` names (all for None) moved to the end and merged into one.

    >>> merge_axes(np.zeros((2, 3, 4)), (0, 2)).shape
    (3, 8)
    """
    order, kept = ordered_axes(a, axis)
    moved = np.transpose(a, order)
    return np.reshape(moved, (*moved.shape[:kept], int(np.prod(moved.shape[kept:], dtype=np.int64))))


def split_axes(g: Any, a: Any, axis: Any = None) -> Any:
    """The inverse of `merge_axes`: g, shaped as `merge_axes(a, axis)`, brought to the shape of a.

    >>> split_axes(np.zeros((3, 8)), np.zeros((2, 3, 4)), (0, 2)).shape
    (2, 3, 4)
    """
    order, _ = ordered_axes(a, axis)
    shape = np.shape(a)
    back = sorted(range(len(order)), key=lambda k: order[k])
    return np.transpose(np.reshape(g, tuple(shape[k] for k in order)), back)


def prod_without(a: Any, axis: Any = None) -> Any:
    """For each element of a, the product of all others along `axis` (all axes for None), of a's shape.

    It never divides, so zeros do no harm.

    >>> prod_without(np.array([2.0, 0.0, 3.0])).tolist()
    [0.0, 6.0, 0.0]
    """
    axis = axis if np.ndim(a) else None  # NumPy takes the first and the last axis of what has none
    lines = merge_axes(a, axis)
    after = products_before(lines[..., ::-1], -1)[..., ::-1]
    return split_axes(products_before(lines, -1) * after, a, axis)


def prod_without_tangent(a_dot: Any, a: Any, axis: Any = None) -> Any:
    """The tangent of `prod_without(a, axis)` in the direction a_dot, of a's shape.

    As a map of a_dot it is symmetric, hence its own adjoint.

    >>> prod_without_tangent(np.array([1.0, 0.0, 0.0]), np.array([2.0, 0.0, 3.0])).tolist()
    [0.0, 3.0, 0.0]
    """
    axis = axis if np.ndim(a) else None
    lines, dots = merge_axes(a, axis), merge_axes(a_dot, axis)
    before, before_dot = running_products(lines, dots)
    after, after_dot = running_products(lines[..., ::-1], dots[..., ::-1])
    after, after_dot = after[..., ::-1], after_dot[..., ::-1]
    return split_axes(before_dot * after + before * after_dot, a, axis)


def running_products(lines: Any, dots: Any) -> tuple[Any, Any]:
    """Products of all elements before each, along the last axis, and their tangents."""
    product, product_dot = np.ones_like(lines), np.zeros(lines.shape, np.result_type(lines, dots))
    for i in range(1, lines.shape[-1]):
        last = lines[..., i - 1]
        product[..., i] = product[..., i - 1] * last
        product_dot[..., i] = product_dot[..., i - 1] * last + product[..., i - 1] * dots[..., i - 1]
    return product, product_dot


def diff_transpose(g: Any, a: Any, n: int = 1, axis: int = -1) -> Any:
    """The transpose of `np.diff(a, n, axis)` applied to g; of a's shape.

    >>> diff_transpose(np.array([1.0, 5.0]), np.zeros(3)).tolist()
    [-1.0, -4.0, 5.0]
    """
    if n >= np.shape(a)[axis]:
        return np.zeros(np.shape(a), g.dtype)
    g = np.moveaxis(g, axis, -1)
    zero = np.zeros_like(g[..., :1])
    for _ in range(n):
        padded = np.concatenate((zero, g, zero), axis=-1)
        g = padded[..., :-1] - padded[..., 1:]
    return np.moveaxis(g, -1, axis)


def along_axes(weights: Any, a: Any, axis: Any) -> Any:
    """The weights of `np.average(a, axis, weights)`, of a's shape or of one that broadcasts to it.

    >>> along_axes(np.ones(2), np.zeros((2, 3)), 0).shape
    (2, 1)
    """
    if np.shape(weights) == np.shape(a):
        return weights
    order, kept = ordered_axes(a, axis)
    shape = [1] * kept + list(np.shape(weights))
    back = sorted(range(len(order)), key=lambda k: order[k])
    return np.transpose(np.reshape(weights, shape), back)


def along_axes_transpose(g: Any, weights: Any, axis: Any) -> Any:
    """The inverse of `along_axes`: g, shaped as `along_axes(weights, a, axis)`, in the shape of weights.

    >>> along_axes_transpose(np.ones((2, 1)), np.ones(2), 0).shape
    (2,)
    """
    if np.shape(weights) == np.shape(g):
        return g
    order, _ = ordered_axes(g, axis)
    return np.reshape(np.transpose(g, order), np.shape(weights))


REACH = 2  # an element of `np.gradient` depends on elements at most that far away


def gradients(f: Any, spacings: Any = (), axis: Any = None, edge_order: Any = 1) -> Any:
    """`np.gradient(f, *spacings, axis=axis, edge_order=edge_order)`; an array of arrays where there are several axes.

    >>> gradients(np.array([0.0, 1.0, 4.0]))
    array([1., 2., 3.])
    """
    return np.asarray(np.gradient(f, *spacings, axis=axis, edge_order=edge_order))


def gradient_transpose(g: Any, f: Any, spacings: Any = (), axis: Any = None, edge_order: Any = 1) -> Any:
    """The transpose of `gradients` applied to g, which is shaped like its result; of f's shape.

    >>> gradient_transpose(np.array([1.0, 1.0, 1.0]), np.zeros(3))
    array([-1.5,  0. ,  1.5])
    """
    given = tuple(range(np.ndim(f))) if axis is None else axis
    axes = (given,) if np.ndim(given) == 0 else tuple(given)
    steps = (1.0,) if not len(spacings) else tuple(spacings)
    parts = g if isinstance(g, list | tuple) or np.ndim(g) > np.ndim(f) else [g]
    total = np.zeros(np.shape(f), np.asarray(parts[0]).dtype)
    for place, (part, own) in enumerate(zip(parts, axes, strict=True)):
        step = steps[place] if len(steps) > 1 else steps[0]
        total += np.moveaxis(_along_last(np.moveaxis(part, own, -1), step, edge_order), -1, own)
    return total


def _along_last(g: Any, step: Any, edge_order: Any) -> Any:
    """Rows of the matrix of `np.gradient`, found by its action on combs whose teeth do not meet, against g."""
    n, width = g.shape[-1], 2 * REACH + 1
    made, rim = np.zeros_like(g), np.zeros_like(g[..., :1])
    for first in range(min(width, n)):
        comb = np.zeros(n, g.dtype)
        comb[first::width] = 1.0
        part = np.gradient(comb, step, edge_order=edge_order) * g
        padded = np.concatenate((rim, rim, part, rim, rim), axis=-1)
        sums = np.sum([padded[..., k : k + n] for k in range(width)], axis=0)
        made[..., first::width] = sums[..., first::width]
    return made


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


def quantile_type(a: Any, q: Any, method: str = "linear") -> Any:
    """The dtype of `np.quantile(a, q, method=method)`: a number of Python's for q leaves that of a as it is.

    >>> quantile_type(np.zeros(3, np.float32), 0.5), quantile_type(np.zeros(3, np.float32), [0.5])
    (dtype('float32'), dtype('float64'))
    """
    return np.asarray(np.quantile(np.ones(1, a.dtype), q, method=method)).dtype  # type: ignore[call-overload]


def fraction(q: Any) -> Any:
    """q percent, as `np.percentile` takes it: a number of Python's stays one.

    >>> fraction(50), fraction(np.array([50.0]))
    (0.5, array([0.5]))
    """
    return q / 100.0 if type(q) in (int, float) else np.true_divide(q, 100.0)


def quantile_slope(q: Any, n: Any, method: str = "linear") -> Any:
    """The derivative of `quantile_place(q, n, method)` with respect to q; 0 where the place is the first or the last.

    >>> quantile_slope(np.array([0.5, 1.0]), 4)
    array([3., 0.])
    """
    place = quantile_place(q, n, method)
    if method not in SLOPES:
        return 0.0 * place
    return np.where((place > 0.0) & (place < n - 1.0), n + SLOPES[method], 0.0)


def _bins(a: Any, edges: Any) -> tuple[Any, Any]:
    """Which elements are in some bin, and in which; the last bin holds its right edge."""
    inside = (a >= edges[0]) & (a <= edges[-1])
    return inside, np.minimum(np.searchsorted(edges, a, side="right") - 1, len(edges) - 2)


def groups_below(a: NDArray[np.integer], count: int) -> NDArray[np.integer]:
    """The labels of groups themselves, where there is a group for each; blocks of rows cannot tell how many there are.

    >>> groups_below(np.array([0, 3]), 3)
    Traceback (most recent call last):
    ...
    ValueError: E5029 not a sum over rows: a label is not one of 3 groups, 0 to 2; give a larger `minlength`
    """
    if a.size and not 0 <= np.min(a) <= np.max(a) < count:
        what = f"a label is not one of {count} groups, 0 to {count - 1}"
        raise ValueError(f"E5029 not a sum over rows: {what}; give a larger `minlength`")
    return a


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


def section_sums_transpose(g: Any, a: Any, indices: Any, axis: int = 0) -> Any:
    """The transpose of `np.add.reduceat(a, indices, axis)` applied to g; of a's shape.

    >>> section_sums_transpose(np.array([1.0, 5.0]), np.zeros(3), [0, 2])
    array([1., 1., 5.])
    """
    made = np.zeros(np.shape(a), g.dtype)
    lines, parts = np.moveaxis(made, axis, -1), np.moveaxis(g, axis, -1)
    starts = [int(k) for k in indices]
    for k, (start, end) in enumerate(zip(starts, [*starts[1:], lines.shape[-1]], strict=True)):
        lines[..., start : max(end, start + 1)] += parts[..., k : k + 1]
    return made
