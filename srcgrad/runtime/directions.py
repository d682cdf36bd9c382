"""A leading axis for many directions: sums, splits and reductions of each."""

from __future__ import annotations

import math
from typing import Any  # values are scalars, arrays of any kind, or sequences of them

import numpy as np

from srcgrad.runtime.layout import sections
from srcgrad.runtime.structure import mapped, zeros_like


def each(count: int, x: Any) -> Any:
    """`x` so many times along a new leading axis, in memory of its own; of a container each part.

    >>> each(2, (1.0, None))
    (array([1., 1.]), None)
    """
    if isinstance(x, np.ndarray | np.generic | int | float | complex):
        return np.array(np.broadcast_to(x, (count, *np.shape(x))))
    return mapped(lambda part: each(count, part), x)


def zeros_each(count: int, x: Any) -> Any:
    """Zeros like `x` so many times along a new leading axis; of a container each part.

    >>> zeros_each(2, 3.0)
    array([0., 0.])
    """
    if isinstance(x, np.ndarray):
        return np.zeros((count, *x.shape), x.dtype if x.dtype.kind in "fc" else np.float64)
    return each(count, zeros_like(x))


def by_rows(function: Any, *args: Any, **tangent: Any) -> tuple[Any, Any]:
    """The value and all tangents of a function of which each row depends on the same row of x, given `x_dot=`.

    If x has much fewer columns than there are directions, the function runs with one tangent for each column; these
    are the derivatives by the columns, and the tangents are their products with the rows of x_dot.

    >>> square = lambda x, x_dot: (x * x, 2.0 * x * x_dot)
    >>> by_rows(square, np.array([3.0, 5.0]), x_dot=np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]))[1]
    array([[ 6.,  0.],
           [ 0., 10.],
           [ 6., 20.]])
    """
    ((keyword, x_dot),) = tangent.items()
    count, rows, *rest = x_dot.shape
    columns = math.prod(rest)
    if not rows or not columns or count <= 2 * columns:
        found: tuple[Any, Any] = function(*args, **tangent)
        return found
    units = np.eye(columns, dtype=x_dot.dtype).reshape(columns, 1, *rest)
    y, by_column = function(*args, **{keyword: np.repeat(units, rows, axis=1)})
    blocks = by_column.reshape(columns, rows, -1).transpose(1, 0, 2)
    y_dot = x_dot.reshape(count, rows, columns).transpose(1, 0, 2) @ blocks
    return y, y_dot.transpose(1, 0, 2).reshape(count, *by_column.shape[1:])


def split_each_like(g: Any, arrays: Any, axis: int | None = 0) -> list[Any]:
    """`split_like(g, arrays, axis)` for each entry of the leading axis of `g`, which stays.

    >>> [part.shape for part in split_each_like(np.ones((2, 5)), (np.zeros(3), np.zeros(2)))]
    [(2, 3), (2, 2)]
    """
    ndim = g.ndim - 1
    axis = None if axis is None else min(axis, ndim - 1) % ndim
    ends = np.cumsum(sections(np.empty(g.shape[1:]), arrays, axis))[:-1]
    parts = np.split(g, ends, axis=1 if axis is None else axis + 1)
    return [np.reshape(part, (len(g), *np.shape(a))) for part, a in zip(parts, arrays, strict=True)]


def sum_each_to(g: Any, x: Any, dtype: Any = None) -> Any:
    """`sum_to(g, x)` for each entry of the leading axis of `g`, which stays.

    >>> import numpy as np
    >>> sum_each_to(np.ones((2, 3, 4)), np.zeros((3, 1)))[1]
    array([[4.],
           [4.],
           [4.]])
    """
    due = np.asarray(0.0 if type(x) is int else x)
    if due.dtype.kind not in "fc":
        raise TypeError(f"E5002 integer or boolean input: a value of dtype {due.dtype} has no gradient")
    shape, wanted = g.shape[1:], due.shape
    if not shape:  # a number for each
        return np.array(np.broadcast_to(g.reshape(-1, *(1,) * due.ndim), (len(g), *wanted)), dtype or due.dtype)
    if len(shape) < len(wanted):
        g = g.reshape(g.shape[0], *(1,) * (len(wanted) - len(shape)), *shape)
        shape = g.shape[1:]
    lead = len(shape) - len(wanted)
    axes = (*range(1, lead + 1), *(lead + k + 1 for k, n in enumerate(wanted) if n == 1 and shape[lead + k] != 1))
    if axes:
        kind = np.float32 if g.dtype.char == "e" else g.dtype
        g = np.add.reduce(g, axis=axes, dtype=kind, keepdims=True)
        g = g.reshape(g.shape[0], *g.shape[lead + 1 :])
    if g.shape[1:] != wanted:
        raise ValueError(f"E5004 gradient of a rule has the wrong shape: {shape} where {wanted} is due")
    if due.dtype.kind == "f":
        g = g.real
    return g.astype(due.dtype if dtype is None else dtype, copy=False)


def max_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.max(a, axis, keepdims=keepdims)`.

    >>> max_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 0)
    array([3., 4.])
    """
    return np.max(a, axis=axis, keepdims=keepdims)


def min_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.min(a, axis, keepdims=keepdims)`.

    >>> min_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 1, True)
    array([[1.],
           [2.]])
    """
    return np.min(a, axis=axis, keepdims=keepdims)


def sum_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.sum(a, axis, keepdims=keepdims)`.

    >>> sum_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 1, True)
    array([[5.],
           [5.]])
    """
    return np.sum(a, axis=axis, keepdims=keepdims)


def mean_along(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.mean(a, axis, keepdims=keepdims)`.

    >>> mean_along(np.array([[1.0, 4.0], [3.0, 2.0]]), 0)
    array([2., 3.])
    """
    return np.mean(a, axis=axis, keepdims=keepdims)
