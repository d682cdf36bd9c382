"""What derivatives of factors divide by: gaps and sums of eigenvalues, left out where they vanish."""

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
