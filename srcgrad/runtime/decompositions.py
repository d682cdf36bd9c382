"""Factors of matrices: spectra, phases of columns, triangles."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def inverse_gaps(w: Any) -> Any:
    """The matrix of `1 / (w[j] - w[i])`, with 0 where the two are equal to rounding.

    >>> inverse_gaps(np.array([1.0, 3.0, 3.0]))
    array([[ 0. ,  0.5,  0.5],
           [-0.5,  0. ,  0. ],
           [-0.5,  0. ,  0. ]])
    """
    return _inverted(np.expand_dims(w, -2) - np.expand_dims(w, -1), w)


def inverse_sums(s: Any) -> Any:
    """The matrix of `1 / (s[i] + s[j])`, with 0 where both vanish to rounding.

    >>> inverse_sums(np.array([3.0, 1.0, 0.0]))[:2, :2]
    array([[0.16666667, 0.25      ],
           [0.25      , 0.5       ]])
    """
    return _inverted(np.expand_dims(s, -2) + np.expand_dims(s, -1), s)


def _inverted(matrix: Any, w: Any) -> Any:
    """One over each entry, with 0 where it is nothing but rounding of the largest of `w`."""
    limit = 4.0 * np.shape(w)[-1] * np.finfo(matrix.dtype).eps * np.max(np.abs(w), axis=-1, initial=0.0)
    small = np.abs(matrix) <= np.expand_dims(limit, (-2, -1))
    return np.where(small, 0.0, 1.0 / np.where(small, 1.0, matrix)).astype(matrix.dtype)


def reciprocals(s: Any) -> Any:
    """One over each singular value, with 0 for those that vanish to rounding.

    >>> reciprocals(np.array([4.0, 2.0, 0.0]))
    array([0.25, 0.5 , 0.  ])
    """
    limit = 4.0 * np.shape(s)[-1] * np.finfo(s.dtype).eps * np.max(s, axis=-1, initial=0.0, keepdims=True)
    small = s <= limit
    return np.where(small, 0.0, 1.0 / np.where(small, 1.0, s)).astype(s.dtype)


def as_real(x: Any) -> Any:
    """The real values of `x`; complex eigenvalues and eigenvectors of a real matrix raise TypeError (E5001).

    From NumPy 2.5 on real eigenvalues come as complex numbers, too, whose imaginary parts are all 0.

    >>> as_real(np.array([1.0j]))
    Traceback (most recent call last):
    TypeError: E5001 operation not differentiable: complex eigenvalues of a real matrix
    """
    if np.iscomplexobj(x) and np.any(np.imag(x)):
        raise TypeError("E5001 operation not differentiable: complex eigenvalues of a real matrix")
    return np.real(x)


def smaller_side(a: Any) -> int:
    """The smaller number of the rows and columns of a matrix.

    >>> smaller_side(np.zeros((4, 2)))
    2
    """
    return int(min(np.shape(a)[-2:]))


def upper_factor(a: Any) -> Any:
    """R of the decomposition of `a` into Q and R.

    >>> np.abs(upper_factor(np.array([[3.0, 1.0], [4.0, 2.0]]))).round(12)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    return np.linalg.qr(a, "r")


def singular_values(a: Any, hermitian: bool = False) -> Any:
    """The singular values of `a`, of whose lower triangle alone where it is taken to be Hermitian.

    >>> singular_values(np.array([[3.0, 9.0], [0.0, -4.0]]), True)
    array([4., 3.])
    """
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


def widened(x: Any, a: Any) -> Any:
    """`x` with columns of zeros behind its own, as many as `a` has more.

    >>> widened(np.ones((2, 1)), np.zeros((2, 3)))
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """
    more = np.shape(a)[-1] - np.shape(x)[-1]
    return np.concatenate([x, np.zeros((*np.shape(x)[:-1], more), x.dtype)], axis=-1) if more else x


def phase_slopes(v: Any, UPLO: str = "L") -> Any:  # noqa: N803 (the name that NumPy has given it)
    """One over the components of eigenvectors that are real, in the row where they stand, and zeros elsewhere.

    LAPACK reduces a Hermitian matrix by reflections that leave the first row of the eigenvectors as it is (the last
    one, for the upper triangle). Where that row is not real, the phase is unknown: TypeError (E5017).

    >>> phase_slopes(np.array([[0.5, 0.25], [1j, 2j]]))
    array([[2., 4.],
           [0., 0.]])
    """
    row = -1 if UPLO.upper() == "U" else 0
    real = v[..., row, :]
    if np.any(np.abs(real.imag) > 1e3 * np.finfo(v.dtype).eps):
        raise TypeError(
            "E5017 kind of value that is not supported: eigenvectors of a complex matrix whose phase is not known; "
            "use the eigenvalues, or functions of the matrix"
        )
    found = np.zeros(v.shape, v.real.dtype)
    small = np.abs(real) == 0.0
    found[..., row, :] = np.where(small, 0.0, 1.0 / np.where(small, 1.0, real.real))
    return found


def eigen_frame(a: Any) -> Any:
    """`np.linalg.eig(a)`, for what does not depend on the lengths and phases of the eigenvectors.

    >>> eigen_frame(np.diag([1.0, 2.0])).eigenvalues
    array([1., 2.])
    """
    return np.linalg.eig(a)


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
    if np.ndim(x) < 2:
        raise TypeError("E5006 argument that the rule does not handle: a matrix that is given by its diagonal")
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
