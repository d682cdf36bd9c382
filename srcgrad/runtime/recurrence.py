"""Linear recurrences of first order along an axis, from either end, and products of all elements before each.

Arrays of one call are of one shape.
"""

from __future__ import annotations

from typing import Any  # arrays of any floating type; an axis is an int, or None for all elements in their order

import numpy as np


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
