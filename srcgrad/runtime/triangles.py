"""Triangular factors as LAPACK keeps them: in one half of a matrix, of which the other half means nothing."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def triangle(x: Any, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """The half of a matrix that a triangular solver reads, zeros elsewhere.

    >>> triangle(np.ones((2, 2)), True, True)
    array([[0., 0.],
           [1., 0.]])
    """
    return np.tril(x, -1 if unit_diagonal else 0) if lower else np.triu(x, 1 if unit_diagonal else 0)


def lowered(c: Any, lower: bool = False) -> Any:
    """A Cholesky factor as a lower triangle, whichever half of `c` holds it.

    >>> lowered(np.array([[1.0, 2.0], [9.0, 3.0]]))
    array([[1., 0.],
           [2., 3.]])
    """
    return np.tril(c) if np.all(lower) else np.matrix_transpose(np.triu(c))


def raised(x: Any, lower: bool = False) -> Any:
    """The transpose of `lowered`: the lower half of `x`, put where the factor is kept.

    >>> raised(np.array([[1.0, 9.0], [2.0, 3.0]]))
    array([[1., 2.],
           [0., 3.]])
    """
    return np.tril(x) if np.all(lower) else np.matrix_transpose(np.tril(x))


def half_read(x: Any, lower: Any = True) -> Any:
    """The half of a matrix that is read for the whole of a symmetric one, with what is off the diagonal twice.

    `lower` is a bool, or the UPLO of `np.linalg.eigh`. As a map of x it is its own transpose.

    >>> half_read(np.array([[1.0, 2.0], [2.0, 3.0]]), "L")
    array([[1., 0.],
           [4., 3.]])
    """
    below = lower.upper() == "L" if isinstance(lower, str) else np.all(lower)
    return np.tril(x) + np.tril(x, -1) if below else np.triu(x) + np.triu(x, 1)


def permuted(x: Any, piv: Any) -> Any:
    """The rows of `x` in the order to which the pivots of `scipy.linalg.lu_factor` bring them.

    >>> permuted(np.array([[1.0], [2.0], [3.0]]), np.array([2, 2, 2])).ravel()
    array([3., 1., 2.])
    """
    return np.take_along_axis(x, np.expand_dims(_order(piv), -1), -2)


def unpermuted(x: Any, piv: Any) -> Any:
    """The inverse, and the transpose, of `permuted`.

    >>> unpermuted(np.array([[3.0], [1.0], [2.0]]), np.array([2, 2, 2])).ravel()
    array([1., 2., 3.])
    """
    return np.take_along_axis(x, np.expand_dims(np.argsort(_order(piv), axis=-1), -1), -2)


def _order(piv: Any) -> Any:
    """The permutation that interchanges row k with row `piv[k]`, one k after the other."""
    order = np.broadcast_to(np.arange(np.shape(piv)[-1]), np.shape(piv)).copy()
    for k in range(np.shape(piv)[-1]):
        other = np.expand_dims(piv[..., k], -1)
        held = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, order[..., k : k + 1].copy(), -1)
        order[..., k : k + 1] = held
    return order


def as_square(a: Any) -> Any:
    """`a` itself; a matrix that is not square raises TypeError (E5001).

    >>> as_square(np.zeros((2, 3)))
    Traceback (most recent call last):
    TypeError: E5001 operation not differentiable: LU of a matrix that is not square
    """
    if np.shape(a)[-1] != np.shape(a)[-2]:
        raise TypeError("E5001 operation not differentiable: LU of a matrix that is not square")
    return a
