"""Eigenvalues and eigenvectors, and the helpers of their rules; batched over leading axes."""

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, tangent
from srcgrad.runtime.decompositions import (
    as_real,
    eigen_frame,
    half_read,
    inverse_gaps,
    inverse_sums,
    phase_slopes,
    reciprocals,
    singular_values,
    smaller_side,
    widened,
)
from srcgrad.templates.declarations import HALF

# From NumPy 2.5 on, eigenvalues and eigenvectors of real matrices are complex numbers, even where all of them are real.
KIND = "complex" if np.iscomplexobj(np.linalg.eigvals(np.eye(1))) else ""


@adjoint(
    np.linalg.eigvalsh,
    forms=(
        ("np.linalg.eigvalsh(x + x.T)", (3, 3)),
        ("np.linalg.eigvalsh(x + np.matrix_transpose(x))", (4, 2, 2)),
        ("np.linalg.eigvalsh(x + x.T, UPLO='U')", (3, 3)),
        ("np.linalg.eigvalsh(x)", (3, 3)),
        ("np.linalg.eigvalsh(x, 'u')", (4, 3, 3)),
        ("np.linalg.eigvalsh(x, UPLO='U')", (3, 3)),
    ),
    complex="written",
    values="real",
    note=HALF,
)
def eigvalsh(z, a, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    if np.iscomplexobj(a):
        whole = (v * np.expand_dims(d[z], -2)) @ np.conj(v.mT)
    elif np.ndim(a) == 2:
        whole = (v * d[z]) @ v.T
    else:
        whole = (v * np.expand_dims(d[z], -2)) @ v.mT
    if UPLO == "L":
        d[a] = np.tril(whole) + np.tril(whole, -1)
    else:
        d[a] = half_read(whole, UPLO)


@tangent(np.linalg.eigvalsh)
def eigvalsh_tangent(z, a, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    half = half_read(d[a], UPLO)
    if np.iscomplexobj(a):
        d[z] = np.real(np.diagonal(np.conj(v.mT) @ (0.5 * (half + np.conj(half.mT))) @ v, 0, -2, -1))
    else:
        d[z] = np.diagonal(v.mT @ (0.5 * (half + half.mT)) @ v, 0, -2, -1)


@adjoint(
    np.linalg.eigh,
    results=(("eigenvalues", -1), ("eigenvectors", 0)),
    forms=(
        ("np.linalg.eigh(x + x.T)[0]", (3, 3)),
        ("np.linalg.eigh(x + x.T)[1] ** 2", (3, 3)),
        ("np.linalg.eigh(x + np.matrix_transpose(x))[1] ** 2", (4, 2, 2)),
        ("np.linalg.eigh(x + x.T, 'U').eigenvectors ** 2", (3, 3)),
        ("np.linalg.eigh(x + x.mT).eigenvalues", (4, 2, 2)),
        ("np.linalg.eigh(x + x.T)", (2, 2)),
        ("np.linalg.eigh(x)", (3, 3)),
        ("np.linalg.eigh(x, 'U')", (3, 3)),
        ("np.linalg.eigh(x, UPLO='l').eigenvectors ** 2", (4, 2, 2)),
    ),
    complex="written",
    note=HALF + " For equal eigenvalues the part that would divide by 0 is left out. Eigenvectors "
    "of a complex matrix have the phase that LAPACK gives them: the first (UPLO='U': the last) component is real.",
)
def eigh(z, a, UPLO="L"):
    if np.iscomplexobj(a):
        phases = np.imag(np.sum(np.conj(z[1]) * d[z][1], axis=-2, keepdims=True))
        turned = np.conj(z[1].mT) @ (d[z][1] - 1j * phase_slopes(z[1], UPLO) * phases)
        inner = 0.5 * inverse_gaps(z[0]) * (turned - np.conj(turned.mT))
    else:
        turned = z[1].mT @ d[z][1]
        inner = 0.5 * inverse_gaps(z[0]) * (turned - turned.mT)
    if np.iscomplexobj(a):
        straight = (z[1] * np.expand_dims(np.real(d[z][0]), -2)) @ np.conj(z[1].mT)
        whole = z[1] @ inner @ np.conj(z[1].mT) + straight
    elif np.ndim(a) == 2:
        whole = z[1] @ inner @ z[1].T + (z[1] * d[z][0]) @ z[1].T
    else:
        whole = z[1] @ inner @ z[1].mT + (z[1] * np.expand_dims(d[z][0], -2)) @ z[1].mT
    if UPLO == "L":
        d[a] = np.tril(whole) + np.tril(whole, -1)
    else:
        d[a] = half_read(whole, UPLO)


@tangent(np.linalg.eigh)
def eigh_tangent(z, a, UPLO="L"):
    half = half_read(d[a], UPLO)
    if np.iscomplexobj(a):
        turned = np.conj(z[1].mT) @ (0.5 * (half + np.conj(half.mT))) @ z[1]
        moved = z[1] @ (inverse_gaps(z[0]) * turned)
        phases = np.sum(phase_slopes(z[1], UPLO) * np.imag(moved), axis=-2, keepdims=True)
        d[z] = (np.real(np.diagonal(turned, 0, -2, -1)), moved - 1j * z[1] * phases)
    else:
        turned = z[1].mT @ (0.5 * (half + half.mT)) @ z[1]
        d[z] = (np.diagonal(turned, 0, -2, -1), z[1] @ (inverse_gaps(z[0]) * turned))


@adjoint(
    np.linalg.eigvals,
    forms=(
        ("np.linalg.eigvals(x + np.diag([1.0, 8.0, 16.0]))", (3, 3)),
        ("np.linalg.eigvals(x + np.diag([1.0, 9.0]))", (4, 2, 2)),
    ),
    complex="written",
    values=KIND,
    note="Of complex matrices, and of real ones with real eigenvalues; complex ones of those raise TypeError (E5001).",
)
def eigvals(z, a):
    if np.iscomplexobj(a):
        _, v = eigen_frame(a)
        d[a] = np.linalg.solve(np.conj(v.mT), np.expand_dims(d[z], -1) * np.conj(v.mT))
    else:
        _, v = np.linalg.eig(a)
        d[a] = np.linalg.solve(as_real(v).mT, np.expand_dims(d[z], -1) * v.mT)


@tangent(np.linalg.eigvals)
def eigvals_tangent(z, a):
    if np.iscomplexobj(a):
        _, v = eigen_frame(a)
        d[z] = np.diagonal(np.linalg.solve(v, d[a] @ v), 0, -2, -1)
    else:
        _, v = np.linalg.eig(a)
        d[z] = np.diagonal(np.linalg.solve(as_real(v), d[a] @ v), 0, -2, -1)


@adjoint(
    np.linalg.eig,
    results=(("eigenvalues", -1), ("eigenvectors", 0)),
    forms=(
        ("np.linalg.eig(x + np.diag([1.0, 8.0, 16.0]))[0]", (3, 3)),
        ("np.linalg.eig(x + np.diag([1.0, 8.0, 16.0])).eigenvectors", (3, 3)),
        ("np.linalg.eig(x + np.diag([1.0, 9.0]))", (4, 2, 2)),
    ),
    values=KIND,
    note="Of real matrices with real eigenvalues; complex ones raise TypeError (E5001). For equal eigenvalues the part "
    "that would divide by 0 is left out.",
)
def eig(z, a):
    v = as_real(z[1])
    straight = d[z][1] - v * np.sum(v * d[z][1], axis=-2, keepdims=True)
    inner = inverse_gaps(z[0]) * (v.mT @ straight)
    d[a] = np.linalg.solve(v.mT, inner @ v.mT + np.expand_dims(d[z][0], -1) * v.mT)


@tangent(np.linalg.eig)
def eig_tangent(z, a):
    v = as_real(z[1])
    if np.iscomplexobj(z):
        turned = np.linalg.solve(v, d[a] @ z[1])
    else:
        turned = np.linalg.solve(v, d[a] @ v)
    moved = v @ (inverse_gaps(z[0]) * turned)
    d[z] = (np.diagonal(turned, 0, -2, -1), moved - v * np.sum(v * moved, axis=-2, keepdims=True))


@adjoint.linear(
    as_real,
    complex="written",
    values="real",
    forms=(("as_real(x)", (2, 2)),),
    note="It raises where its argument has imaginary parts.",
    result="view",
)
def as_real_adjoint(z, x):
    d[x] = d[z]


@adjoint(
    eigen_frame,
    results=(("eigenvalues", -1), ("eigenvectors", 0)),
    complex="conjugated",
    forms=(("eigen_frame(x + np.diag([1.0, 8.0, 16.0]))[0]", (3, 3)),),
    note="Of functions that do not depend on the lengths and phases of the vectors.",
)
def eigen_frame_adjoint(z, a):
    inner = inverse_gaps(z[0]) * (z[1].mT @ d[z][1])
    d[a] = np.linalg.solve(z[1].mT, (inner + np.expand_dims(d[z][0], -1) * np.eye(np.shape(a)[-1])) @ z[1].mT)


@tangent(eigen_frame)
def eigen_frame_tangent(z, a):
    turned = np.linalg.solve(z[1], d[a] @ z[1])
    d[z] = (np.diagonal(turned, 0, -2, -1), z[1] @ (inverse_gaps(z[0]) * turned))


@adjoint(
    phase_slopes,
    complex="written",
    values="real",
    forms=(("phase_slopes(x + 3.0 * np.eye(2), 'L')", (2, 2)), ("phase_slopes(x + 3.0 * np.eye(2), 'U')", (4, 2, 2))),
)
def phase_slopes_adjoint(z, v, UPLO="L"):
    d[v] = -d[z] * z * z


@tangent(phase_slopes)
def phase_slopes_tangent(z, v, UPLO="L"):
    d[z] = -np.real(d[v]) * z * z


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
    widened,
    complex="conjugated",
    forms=(("widened(x, y)", (3, 2), (3, 4)), ("widened(x, y)", (2, 2), (2, 2))),
    result="argument",
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
