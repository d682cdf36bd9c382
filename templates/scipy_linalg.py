"""Functions of `scipy.linalg`: linear systems and their determinants; loaded when a function names one of them."""

import numpy as np
from scipy import linalg

from srcgrad.rules import adjoint, d, tangent
from srcgrad.runtime.linalg import cofactor


@adjoint(
    linalg.inv,
    forms=(("scipy.linalg.inv(x + 3.0 * np.eye(3))", (3, 3)), ("scipy.linalg.inv(x + 3.0 * np.eye(2))", (4, 2, 2))),
)
def inv(z, a):
    d[a] = -np.matrix_transpose(z) @ d[z] @ np.matrix_transpose(z)


@tangent(linalg.inv)
def inv_tangent(z, a):
    d[z] = -z @ d[a] @ z


@adjoint(
    linalg.det,
    forms=(("scipy.linalg.det(x)", (3, 3)), ("scipy.linalg.det(x)", (4, 2, 2))),
    note="Exact where the matrix is singular.",
)
def det(z, a):
    d[a] = np.expand_dims(d[z], (-2, -1)) * cofactor(a)


@tangent(linalg.det)
def det_tangent(z, a):
    d[z] = np.sum(cofactor(a) * d[a], axis=(-2, -1))
