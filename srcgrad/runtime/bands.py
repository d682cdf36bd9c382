"""Banded matrices as SciPy keeps them: `ab[u + i - j, j]` is the entry in row i and column j."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def turned_bands(ab: Any, l_and_u: tuple[int, int]) -> Any:
    """The bands of the transposed matrix, which has as many above its diagonal as there were below.

    >>> turned_bands(np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]]), (1, 1))
    array([[0., 4.],
           [2., 3.],
           [1., 0.]])
    """
    below, above = l_and_u
    turned = np.zeros_like(ab)
    for k in range(-below, above + 1):  # the diagonal of the entries (j - k, j)
        turned[below + k] = _moved(ab[above - k], k)
    return turned


def outer_bands(x: Any, y: Any, l_and_u: tuple[int, int]) -> Any:
    """The bands of the matrix `x @ y.T` of two stacks of columns, or of two vectors.

    >>> outer_bands(np.array([1.0, 2.0]), np.array([3.0, 4.0]), (0, 1))
    array([[0., 4.],
           [3., 8.]])
    """
    below, above = l_and_u
    rows = [_products(_moved(x.T, -k).T, y) for k in range(above, -below - 1, -1)]
    return np.stack(rows)


def times_bands(ab: Any, y: Any, l_and_u: tuple[int, int]) -> Any:
    """The product of a banded matrix with columns, or with a vector.

    >>> times_bands(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1.0, 1.0]), (0, 1))
    array([3., 3.])
    """
    below, above = l_and_u
    terms = [_moved(ab[above - k] * y.T, k) for k in range(-below, above + 1)]
    return sum(terms[1:], terms[0]).T


def whole_bands(ab: Any, lower: bool = False) -> Any:
    """All bands of a symmetric matrix of which `ab` holds the diagonal and those on one side of it.

    >>> whole_bands(np.array([[0.0, 1.0], [2.0, 3.0]]))
    array([[0., 1.],
           [2., 3.],
           [1., 0.]])
    """
    width = np.shape(ab)[0] - 1
    if lower:
        upper = turned_bands(np.concatenate([np.zeros_like(ab[1:]), ab]), (width, width))[: width + 1]
        return np.concatenate([upper, ab[1:]])
    below = turned_bands(np.concatenate([ab, np.zeros_like(ab[:-1])]), (width, width))[width + 1 :]
    return np.concatenate([ab, below])


def half_bands(g: Any, lower: bool = False) -> Any:
    """The transpose of `whole_bands`: what the bands on both sides add up to.

    >>> half_bands(np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 0.0]]))
    array([[0., 2.],
           [2., 3.]])
    """
    width = np.shape(g)[0] // 2
    mirrored = turned_bands(g, (width, width))
    total = g + mirrored
    total[width] = g[width]
    return total[width:] if lower else total[: width + 1]


def _moved(row: Any, k: int) -> Any:
    """A row moved to the left by k places (to the right by -k), zeros where nothing comes."""
    n = np.shape(row)[-1]
    moved = np.zeros_like(row)
    if k >= 0:
        moved[..., : max(n - k, 0)] = row[..., k:]
    else:
        moved[..., -k:] = row[..., : max(n + k, 0)]
    return moved


def _products(x: Any, y: Any) -> Any:
    """The sums of products along rows: of vectors the products."""
    return x * y if np.ndim(x) == 1 else np.sum(x * y, axis=-1)
