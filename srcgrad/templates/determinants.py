"""Determinants, exact where a matrix is singular, and the cofactors from which their derivatives are made."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.linalg import cofactor, cofactor_derivative, cofactor_second, no_further


@adjoint(
    np.linalg.det,
    forms=(
        ("np.linalg.det(x)", (3, 3)),
        ("np.linalg.det(x)", (4, 2, 2)),
        ("np.linalg.det(x @ y + np.eye(3))", (3, 2), (2, 3)),
        ("np.linalg.det(x)", (1, 1)),
    ),
    note="Exact where the matrix is singular.",
)
def det(z, a):
    if np.ndim(a) == 2:
        d[a] = d[z] * cofactor(a)
    else:
        d[a] = np.expand_dims(d[z], (-2, -1)) * cofactor(a)


@tangent(np.linalg.det)
def det_tangent(z, a):
    d[z] = np.sum(cofactor(a) * d[a], axis=(-2, -1))


@adjoint(
    np.linalg.slogdet,
    results=(("sign", -2), ("logabsdet", -2)),
    forms=(
        ("np.linalg.slogdet(x)[1]", (2, 2)),
        ("np.linalg.slogdet(x + 3.0 * np.eye(3))[1]", (3, 3)),
        ("np.linalg.slogdet(x + 3.0 * np.eye(2))[1]", (4, 2, 2)),
    ),
    complex="written",
    note="A singular matrix raises LinAlgError, as np.linalg.inv does.",
)
def slogdet(z, a):
    if np.iscomplexobj(a):
        turned = np.real(d[z][1]) + 1j * np.imag(d[z][0] * np.conj(z[0]))
        d[a] = np.expand_dims(turned, (-2, -1)) * np.conj(np.matrix_transpose(np.linalg.inv(a)))
    elif np.ndim(a) == 2:
        d[a] = d[z][1] * np.linalg.inv(a).T
    else:
        d[a] = np.expand_dims(d[z][1], (-2, -1)) * np.matrix_transpose(np.linalg.inv(a))


@tangent(np.linalg.slogdet)
def slogdet_tangent(z, a):
    if np.iscomplexobj(a):
        grown = np.sum(np.matrix_transpose(np.linalg.inv(a)) * d[a], axis=(-2, -1))
        d[z] = (1j * z[0] * np.imag(grown), np.real(grown))
    else:
        d[z] = (np.zeros_like(z[0]), np.sum(np.matrix_transpose(np.linalg.inv(a)) * d[a], axis=(-2, -1)))


@adjoint(
    cofactor,
    forms=(("cofactor(x)", (3, 3)), ("cofactor(x)", (4, 2, 2)), ("cofactor(x + 2.0 * np.eye(3))", (3, 3))),
)
def cofactor_adjoint(z, a):
    d[a] = cofactor_derivative(d[z], a)


@tangent(cofactor)
def cofactor_forward(z, a):
    d[z] = cofactor_derivative(d[a], a)


@adjoint(
    cofactor_derivative,
    forms=(
        ("cofactor_derivative(x, y)", (2, 2), (2, 2)),
        ("cofactor_derivative(x, y + 4.0 * np.eye(3))", (3, 3), (3, 3)),
        ("cofactor_derivative(x, y + 4.0 * np.eye(2))", (4, 2, 2), (4, 2, 2)),
    ),
    second=False,
    note="Its second derivative is the fourth of a determinant, which raises.",
)
def cofactor_derivative_adjoint(z, x, a):
    d[x] = cofactor_derivative(d[z], a)
    d[a] = cofactor_second(x, d[z], a)


@tangent(cofactor_derivative)
def cofactor_derivative_forward(z, x, a):
    d[z] = cofactor_derivative(d[x], a) + cofactor_second(x, d[a], a)


@adjoint(
    cofactor_second,
    forms=(
        (
            "cofactor_second(x, y, np.array([[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [0.0, 1.0, 2.0]]))",
            (3, 3),
            (3, 3),
        ),
    ),
    note="The fourth derivative of a determinant raises.",
)
def cofactor_second_adjoint(z, x, y, a):
    d[x] = cofactor_second(d[z], y, a)
    d[y] = cofactor_second(x, d[z], a)
    d[a] = no_further(d[z])


@tangent(cofactor_second)
def cofactor_second_forward(z, x, y, a):
    d[z] = cofactor_second(d[x], y, a) + cofactor_second(x, d[y], a) + no_further(d[a])
