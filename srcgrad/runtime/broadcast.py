"""Undoing broadcasting, and the transpose of a sum."""

from __future__ import annotations

from typing import Any  # values are scalars, arrays of any kind, or sequences of them

import numpy as np

from srcgrad.runtime.checks import check_sequences

DOUBLE = np.dtype(np.float64)
SINGLE = np.dtype(np.float32)
ARRAY = np.ndarray  # found sooner than an attribute is: nothing of ours is called more often than `sum_to`


def sum_to(g: Any, x: Any, dtype: Any = None) -> Any:
    """`g` summed over the axes along which `x` was broadcast: the adjoint of `x` from that of the result.

    The result has the shape, the floating dtype and the class of `x` (float, NumPy scalar, array; for a list or tuple,
    one result per item). A `g` that fits is returned as it is; a scalar `g` is repeated. The real part is taken where
    `x` is real. With `dtype`, wider than that of `x`, the sum is of that dtype. Float16 is added up in float32. Raises
    TypeError (E5002) for integers and booleans of NumPy
    (those of Python are numbers), ValueError (E5004) where no broadcasting relates the two, TypeError (E5017) for what
    is no number and no plain array.

    >>> import numpy as np
    >>> sum_to(np.ones((2, 3)), np.zeros((2, 1)))
    array([[3.],
           [3.]])
    """
    kind = type(x)
    if kind is type(g) is ARRAY and dtype is None:
        own = g.dtype
        if own is x.dtype and (own is DOUBLE or own is SINGLE) and g.shape == x.shape:
            return g  # the usual case, made cheap
    if dtype is not None:
        summed = summed_to(np.asarray(g), np.shape(x)).astype(dtype, copy=False)
        return summed if isinstance(x, np.ndarray) else summed[()]
    if kind is float:
        if isinstance(g, float):
            return g
    elif type(g) is kind:
        if kind is ARRAY:
            if g.dtype is x.dtype and g.dtype.kind in "fc" and g.dtype.itemsize > 2:
                shape, due = g.shape, x.shape
                if shape == due:
                    return g
                lead = len(shape) - len(due)
                if lead > 0 and shape[lead:] == due:
                    return np.add.reduce(g, 0 if lead == 1 else tuple(range(lead)))
                if lead == 0 and 0 not in shape:
                    grown = tuple([k for k, size in enumerate(due) if size == 1])
                    summed = np.add.reduce(g, grown, keepdims=True)
                    if summed.shape == due:
                        return summed
        elif issubclass(kind, np.inexact):
            return g
    elif type(g) is float and issubclass(kind, np.floating):
        return kind(g)
    if isinstance(x, list | tuple):
        return _by_items(g, x)
    for value in (g, x):
        if type(value) is np.ndarray and value.dtype.kind == "O" and value.size:
            value = value.flat[0]  # of an array of objects, which NumPy has made
        if type(value) is not np.ndarray and not isinstance(value, int | float | complex | np.generic):
            what = f"a value of type {type(value).__name__} takes part in an operation, and has arithmetic of its own"
            raise TypeError(f"E5017 {what}; make it a plain array before: `.to_numpy()`, `np.asarray(...)`")
    target = np.asarray(0.0 if kind is int else x)  # `total = 0` is a number in which what varies is added up
    if target.dtype.kind not in "fc":
        raise TypeError(f"E5002 integer or boolean input: a value of dtype {target.dtype} has no gradient")
    summed = summed_to(np.asarray(g), target.shape)
    if target.dtype.kind == "f":
        summed = summed.real
    summed = summed.astype(target.dtype, copy=False)
    return summed if isinstance(x, np.ndarray) else summed[()]


def _by_items(g: Any, x: Any) -> Any:
    """`sum_to` for each item of a list or a tuple, of which NumPy may have made an array."""
    parts = g if isinstance(g, list | tuple) else summed_to(np.asarray(g), np.shape(x))
    return mirrored(x, [sum_to(part, item) for part, item in zip(parts, x, strict=True)])


def fit_to(g: Any, x: Any) -> Any:
    """`g` broadcast with `x`, and summed to it: the adjoint of `x` from one that is narrower than the result.

    That is what `x` gets in an operation on it and on what has the shape of `g`. Otherwise it is `sum_to(g, x)`.

    >>> import numpy as np
    >>> fit_to(np.ones(3), np.zeros((2, 1))), fit_to(np.ones(3), np.zeros(3))
    (array([[3.],
           [3.]]), array([1., 1., 1.]))
    """
    if type(g) is type(x) is ARRAY and g.shape == x.shape:
        return sum_to(g, x)
    shape, due = np.shape(g), np.shape(x)
    if shape != due:
        g = np.broadcast_to(g, np.broadcast_shapes(shape, due))
    return sum_to(g, x)


def summed_to(g: Any, shape: tuple[int, ...]) -> Any:
    """The array `g` summed to a shape that broadcasts to its own; a 0-d `g` is repeated instead."""
    if g.ndim == 0:
        return np.full(shape, g)
    if not shape:
        return np.add.reduce(g, axis=None, dtype=_adding(g))
    if g.ndim < len(shape) and set(shape[: len(shape) - g.ndim]) == {1}:  # stored where there are fewer axes
        g = g.reshape((*(1,) * (len(shape) - g.ndim), *g.shape))
    lead = g.ndim - len(shape)
    grown = [lead + k for k, size in enumerate(shape) if size == 1 and lead >= 0 and g.shape[lead + k] != 1]
    axes = (*range(lead), *grown)
    if axes:
        g = np.add.reduce(g, axis=axes, dtype=_adding(g), keepdims=True)  # np.sum, without its overhead
    if lead < 0 or g.shape[lead:] != shape:
        raise ValueError(f"E5004 gradient of a rule has the wrong shape: {g.shape} where {shape} is due")
    return g.reshape(shape)


def _adding(g: Any) -> Any:
    """The dtype in which elements are added up: float32 for float16, which stops at 2048 + 1."""
    return np.float32 if g.dtype.char == "e" else g.dtype


def mirrored(x: Any, items: list[Any]) -> Any:
    """The items in a sequence of the class of `x`: list, tuple or NamedTuple."""
    if isinstance(x, list):
        return items
    return type(x)(*items) if hasattr(x, "_fields") else tuple(items)


def spread(g: Any, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The transpose of `np.sum(a, axis, keepdims=keepdims)`: `g` repeated along the axes that were summed.

    The result has the shape of `a` and may be a read-only view.

    >>> import numpy as np
    >>> spread(np.array([1.0, 2.0]), np.zeros((2, 3)), axis=1)
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    shape = np.shape(a)
    if axis is not None and not keepdims and shape:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, shape)


def summands(g: Any, xs: Any) -> Any:
    """The adjoint of `xs` in `sum(xs)`: an array's in its shape, for a list one adjoint per item.

    >>> summands(np.ones(2), [np.zeros(2), 1.0])
    [array([1., 1.]), np.float64(2.0)]
    >>> summands(np.ones(2), np.zeros(3))  # of `sum(xs, start)`, where each item is added to both
    array([2., 2., 2.])
    """
    if isinstance(xs, np.ndarray):
        item = np.broadcast_to(np.zeros((), xs.dtype), np.shape(xs)[1:])
        return np.broadcast_to(g if np.shape(g) == np.shape(item) else sum_to(g, item), np.shape(xs))
    check_sequences(xs)
    if isinstance(g, list):
        raise TypeError("E5005 `sum` of lists joins them; use `np.concatenate`, or add arrays")
    return [sum_to(g, x) for x in xs]


def summed(parts: Any, g: Any) -> Any:
    """The sum of an array's items, or of a list's, in the shape of `g`: the transpose of `summands`.

    >>> summed([np.ones(2), 1.0], np.zeros(2))
    array([2., 2.])
    """
    if isinstance(parts, np.ndarray):
        items = np.sum(parts, axis=0)
        return items if np.shape(items) == np.shape(g) else items + np.zeros_like(g)
    total: Any = 0.0
    for part in parts:
        total = total + part
    return total + np.zeros_like(g)
