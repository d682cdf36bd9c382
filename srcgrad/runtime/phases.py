"""Phases of eigenvectors of complex matrices: LAPACK makes one component real, which derivatives follow."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


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
