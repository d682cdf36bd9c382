"""Derivatives of determinants, where NumPy has no function for them."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np

from srcgrad.runtime.reduce import prod_without


def no_further(g: Any) -> Any:
    """Stands where a derivative of third order is not known: it raises TypeError (E5001).

    >>> no_further(1.0)
    Traceback (most recent call last):
    TypeError: E5001 operation not differentiable: third derivatives of this operation are not known
    """
    if isinstance(g, np.ndarray) and g.size == 0:
        return g
    raise TypeError("E5001 operation not differentiable: third derivatives of this operation are not known")


def cofactor(a: Any) -> Any:
    """The matrix of cofactors of `a`, the gradient of its determinant; exact where `a` is singular.

    With the singular value decomposition `a = u @ diag(s) @ vt` it is `det(u) * det(vt) * u @ diag(p) @ vt`,
    where p holds the products of all other singular values.

    >>> cofactor(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    u, s, vt = np.linalg.svd(a)
    sign = np.expand_dims(np.linalg.det(u) * np.linalg.det(vt), (-2, -1))
    return sign * (np.conj(u) * np.expand_dims(prod_without(s, -1), -2)) @ np.conj(vt)


def cofactor_derivative(x: Any, a: Any) -> Any:
    """The derivative of `cofactor(a)` in the direction `x`; it is symmetric, hence its own transpose.

    >>> cofactor_derivative(np.eye(2), np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    u, s, vt = np.linalg.svd(a)
    sign = np.expand_dims(np.linalg.det(u) * np.linalg.det(vt), (-2, -1))
    u, vt = np.conj(u), np.conj(vt)
    turned = np.swapaxes(u, -1, -2) @ x @ np.swapaxes(vt, -1, -2)
    pairs = np.zeros_like(turned)  # pairs[i, j]: the product of all singular values but i and j
    for i in range(s.shape[-1]):
        rest = s.copy()
        rest[..., i] = 1.0
        pairs[..., i, :] = prod_without(rest, -1)
        pairs[..., i, i] = 0.0
    traces = np.einsum("...ij,...jj->...i", pairs, turned)
    made = -pairs * np.swapaxes(turned, -1, -2)
    diagonal = np.einsum("...ii->...i", made)  # a view
    diagonal[...] = traces
    return sign * u @ made @ vt


def cofactor_second(x: Any, y: Any, a: Any) -> Any:
    """The second derivative of `cofactor(a)` along `x` and `y`, for an invertible `a`.

    A singular or nearly singular `a` raises TypeError (E5001): the formula divides by its determinant.

    >>> bent = cofactor_second(np.eye(3), np.eye(3), np.eye(3))
    >>> bent.round(12)
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    if np.any(np.linalg.cond(a) > 1e8):
        raise TypeError("E5001 operation not differentiable: third derivatives of a singular determinant")
    inverse = np.linalg.inv(a)
    one, two = inverse @ x, inverse @ y
    both = one @ two
    t_one, t_two, t_both = (np.expand_dims(np.trace(m, 0, -2, -1), (-2, -1)) for m in (one, two, both))
    rest = both + two @ one - t_one * two - t_two * one
    whole = (t_one * t_two - t_both) * inverse + rest @ inverse
    return np.expand_dims(np.linalg.det(a), (-2, -1)) * np.swapaxes(whole, -1, -2)
