"""Adding into the place from which an element or a part was read."""

from __future__ import annotations

from typing import Any  # containers and indices of every kind

import numpy as np

from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.structure import add, zeros_like


def add_at(x_bar: Any, index: Any, g: Any) -> Any:
    """Add `g` to `x_bar[index]` in place, repeated indices accumulating; return `x_bar`.

    `x_bar` is an array, list or dict with any index that reads from it, or from the array of a list; a tuple, which
    cannot change, is made anew and returned. Items of a list or dict are replaced, never changed in place.

    >>> import numpy as np
    >>> add_at(np.zeros(3), [0, 0, 2], np.array([1.0, 2.0, 3.0])), add_at([[0.0, 0.0]], (0, 1), 2.0)
    (array([3., 0., 3.]), [[np.float64(0.0), np.float64(2.0)]])
    """
    if type(x_bar) is np.ndarray:
        g = np.asarray(g) if isinstance(g, list | tuple) else g
        g = g if x_bar.dtype.kind == "c" else g.real
        if type(index) is int or type(index) is slice or not repeats(index):
            x_bar[index] += g
        else:
            np.add.at(x_bar, index, np.asarray(g, x_bar.dtype))
        return x_bar
    if isinstance(x_bar, list | tuple) and isinstance(index, list | tuple | np.ndarray):
        made = sum_to(add_at(np.array(x_bar), index, g), x_bar)  # NumPy has made an array of what it read
        if isinstance(x_bar, tuple):
            return made
        x_bar[:] = made
        return x_bar
    if isinstance(x_bar, tuple):
        parts = add_at(list(x_bar), index, g)
        return type(x_bar)(*parts) if hasattr(x_bar, "_fields") else tuple(parts)
    if isinstance(index, slice):
        g = list(g)
    if isinstance(x_bar, list | dict):
        x_bar[index] = add(x_bar[index], g)
        return x_bar
    return x_bar + g  # a scalar, read with () or ...


def stored(a_bar: Any, index: Any) -> Any:
    """The adjoint of `e` in `a[index] = e`: the elements of `a_bar` there, as an array of its own.

    Of an element that `index` names more than once only the last stored value counts.

    >>> stored(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 2]))
    array([0., 1., 3.])
    """
    taken = np.array(a_bar[index])
    if repeats(index):
        places = np.arange(taken.size).reshape(taken.shape)
        last = np.zeros(a_bar.shape, places.dtype)
        last[index] = places
        taken *= last[index] == places
    return taken


def repeats(index: Any) -> bool:
    """Whether an index of an array may name an element more than once: it holds an array of integers."""
    if isinstance(index, tuple):
        return any(repeats(part) for part in index)
    if isinstance(index, list):
        index = np.asarray(index)
    return isinstance(index, np.ndarray) and index.ndim > 0 and index.dtype.kind != "b"


def scatter(g: Any, x: Any, index: Any) -> Any:
    """Zeros mirroring `x`, with `g` added at `index`: the transpose of `x[index]`.

    >>> import numpy as np
    >>> scatter(5.0, np.ones(3), 1)
    array([0., 5., 0.])
    """
    if isinstance(x, np.ndarray) and x.dtype == np.float16:
        return add_at(np.zeros(x.shape, np.float32), index, g).astype(x.dtype)  # ones of float16 add up to 2048
    return add_at(zeros_like(x), index, g)


def entry(g: Any, x: Any, key: Any) -> Any:
    """Zeros mirroring the dict `x`, with `g` at a key that it has: the transpose of `x.get(key)`.

    A key that a loop has added holds None where the loop is gone back behind that.

    >>> entry(5.0, {"a": 1.0, "b": 2.0}, "b"), entry(5.0, {"a": 1.0}, "b")
    ({'a': 0.0, 'b': 5.0}, {'a': 0.0})
    """
    made = zeros_like(x)
    if x.get(key) is not None and g is not None:
        made[key] = add(made[key], g)
    return made


def otherwise(g: Any, x: Any, key: Any) -> Any:
    """`g` if the dict `x` has no such key, else zeros: what the default of `x.get(key, default)` gets.

    >>> otherwise(5.0, {"a": 1.0}, "b"), otherwise(5.0, {"a": 1.0}, "a")
    (5.0, 0.0)
    """
    return g if x.get(key) is None else zeros_like(g)
