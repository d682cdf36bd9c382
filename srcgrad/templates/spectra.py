"""Helpers of factors and eigenvalues: reciprocals of gaps between them, parts of matrices that are read."""

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, tangent
from srcgrad.runtime.spectra import (
    inverse_gaps,
    inverse_sums,
    reciprocals,
    singular_values,
    smaller_side,
    widened,
)
from srcgrad.runtime.triangles import half_read


@adjoint(
    inverse_gaps,
    complex="conjugated",
    forms=(("inverse_gaps(np.cumsum(np.exp(x)))", (3,)), ("inverse_gaps(np.cumsum(np.exp(x), -1))", (4, 2))),
)
def inverse_gaps_adjoint(z, w):
    turned = d[z] * z * z
    d[w] = np.sum(turned, axis=-1) - np.sum(turned, axis=-2)


@tangent(inverse_gaps)
def inverse_gaps_tangent(z, w):
    d[z] = (np.expand_dims(d[w], -1) - np.expand_dims(d[w], -2)) * z * z


@adjoint(inverse_sums, forms=(("inverse_sums(np.exp(x))", (3,)), ("inverse_sums(np.exp(x))", (4, 2))))
def inverse_sums_adjoint(z, s):
    turned = d[z] * z * z
    d[s] = -np.sum(turned, axis=-1) - np.sum(turned, axis=-2)


@tangent(inverse_sums)
def inverse_sums_tangent(z, s):
    d[z] = -(np.expand_dims(d[s], -1) + np.expand_dims(d[s], -2)) * z * z


@adjoint(reciprocals, forms=(("reciprocals(np.exp(x))", (3,)), ("reciprocals(np.exp(x))", (4, 2))))
def reciprocals_adjoint(z, s):
    d[s] = -d[z] * z * z


@tangent(reciprocals)
def reciprocals_tangent(z, s):
    d[z] = -d[s] * z * z


@adjoint.linear(
    widened, complex="conjugated", forms=(("widened(x, y)", (3, 2), (3, 4)), ("widened(x, y)", (2, 2), (2, 2)))
)
def widened_adjoint(z, x, a):
    d[x] = d[z][..., : x.shape[-1]]


@adjoint.linear(
    half_read,
    complex="conjugated",
    forms=(("half_read(x)", (3, 3)), ("half_read(x, False)", (2, 3, 3)), ("half_read(x, 'U')", (3, 3))),
)
def half_read_adjoint(z, x, lower=True):
    d[x] = half_read(d[z], lower)


constants((smaller_side,))


@adjoint(
    singular_values,
    forms=(
        ("singular_values(x)", (3, 2)),
        ("singular_values(x, True)", (4, 3, 3)),
        ("singular_values(x, True)", (2, 2)),
    ),
    complex="written",
    values="real",
)
def singular_values_adjoint(z, a, hermitian=False):
    if hermitian:
        u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=True)
    else:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
    if np.ndim(a) == 2:
        whole = (u * d[z]) @ vh
    else:
        whole = (u * np.expand_dims(d[z], -2)) @ vh
    if hermitian:
        symmetric = 0.5 * (whole + np.conj(whole.mT))
        d[a] = np.tril(symmetric) + np.tril(symmetric, -1)
    else:
        d[a] = whole


@tangent(singular_values)
def singular_values_tangent(z, a, hermitian=False):
    if hermitian:
        u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=True)
    else:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
    if hermitian:
        half = half_read(d[a])
        a_dot = 0.5 * (half + np.conj(half.mT))
    else:
        a_dot = d[a]
    if np.iscomplexobj(a):
        d[z] = np.real(np.diagonal(np.conj(u.mT) @ a_dot @ np.conj(vh.mT), 0, -2, -1))
    else:
        d[z] = np.diagonal(u.mT @ a_dot @ vh.mT, 0, -2, -1)
