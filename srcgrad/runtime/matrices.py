"""Functions of matrices through a matrix of twice the size, and products of several matrices."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def bordered(a: Any, x: Any) -> Any:
    """The matrix `[[a, x], [0, a]]`: the upper right corner of f of it is the derivative of f(a) along x.

    This holds for every function of a matrix that a power series defines (R. Mathias, 1996; N. J. Higham,
    "Functions of Matrices", 2008, theorem 3.6).

    >>> bordered(np.array([[2.0]]), np.array([[5.0]]))
    array([[2., 5.],
           [0., 2.]])
    """
    a, x = np.broadcast_arrays(a, x)
    upper = np.concatenate([a, x], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def corner(m: Any) -> Any:
    """The upper right quarter of a matrix.

    >>> corner(np.array([[2.0, 5.0], [0.0, 2.0]]))
    array([[5.]])
    """
    half = np.shape(m)[-1] // 2
    return m[..., :half, half:]


def chain(arrays: Any) -> Any:
    """The product of several matrices; a single one is itself."""
    return arrays[0] if len(arrays) == 1 else np.linalg.multi_dot(arrays)


def _matrices(arrays: Any) -> list[Any]:
    """The factors of `np.linalg.multi_dot` as matrices: the first may be a row, the last a column, or both numbers."""
    first, *middle, last = (np.asarray(array) for array in arrays)
    return [np.atleast_2d(first), *middle, np.expand_dims(last, -1) if last.ndim == 1 else np.atleast_2d(last)]


def chain_adjoints(g: Any, arrays: Any) -> list[Any]:
    """The adjoints of all factors of `np.linalg.multi_dot(arrays)`.

    >>> [a.shape for a in chain_adjoints(np.zeros(2), [np.zeros(3), np.zeros((3, 4)), np.zeros((4, 2))])]
    [(3,), (3, 4), (4, 2)]
    """
    factors = _matrices(arrays)
    middle = np.reshape(g, (np.shape(factors[0])[0], np.shape(factors[-1])[1]))
    found = []
    for k, array in enumerate(arrays):
        before = [factor.T for factor in reversed(factors[:k])]
        after = [factor.T for factor in reversed(factors[k + 1 :])]
        found.append(np.reshape(chain([*before, middle, *after]), np.shape(array)))
    return found


def chain_tangent(u: Any, arrays: Any) -> Any:
    """The derivative of `np.linalg.multi_dot(arrays)` along `u`.

    >>> one, two = np.array([[2.0]]), np.array([[3.0]])
    >>> chain_tangent([one, two], [one, two])
    array([[12.]])
    """
    terms = [chain([*arrays[:k], u[k], *arrays[k + 1 :]]) for k in range(len(arrays))]
    return sum(terms[1:], terms[0])


def chain_second(u: Any, v: Any, arrays: Any) -> Any:
    """The second derivative of `np.linalg.multi_dot(arrays)` along `u` and `v`.

    >>> one, two = np.array([[2.0]]), np.array([[3.0]])
    >>> chain_second([one, two], [one, two], [one, two])
    array([[12.]])
    """
    rest = [[u[k] if n == k else array for n, array in enumerate(arrays)] for k in range(len(arrays))]
    terms = [
        chain([*changed[:j], v[j], *changed[j + 1 :]])
        for k, changed in enumerate(rest)
        for j in range(len(arrays))
        if j != k
    ]
    return sum(terms[1:], terms[0])


def chain_bend(g: Any, arrays: Any, u: Any) -> list[Any]:
    """The derivative of `chain_adjoints(g, arrays)` along changes `u` of the arrays; it is its own transpose.

    >>> one, two = np.array([[2.0]]), np.array([[3.0]])
    >>> chain_bend(np.array([[1.0]]), [one, two], [one, two])
    [array([[3.]]), array([[2.]])]
    """
    total = [np.zeros_like(array) for array in arrays]
    for j in range(len(arrays)):
        changed = chain_adjoints(g, [*arrays[:j], u[j], *arrays[j + 1 :]])
        total = [t if k == j else t + c for k, (t, c) in enumerate(zip(total, changed, strict=True))]
    return total
