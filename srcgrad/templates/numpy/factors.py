"""Factors of matrices: Cholesky, QR, singular values; eigenvalues and eigenvectors; batched over leading axes.

S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions", 2010, for QR;
J. Townsend, "Differentiating the singular value decomposition", 2016, with its quotients split into sums and
differences of singular values, so that what does not divide by a vanishing gap is kept.
"""

import numpy as np

from srcgrad.core.rules import HALF, adjoint, constants, d, tangent
from srcgrad.runtime.linalg import (
    as_real,
    eigen_frame,
    half_read,
    inverse_gaps,
    inverse_sums,
    phase_slopes,
    reciprocals,
    singular_values,
    smaller_side,
    upper_factor,
    widened,
)


@adjoint(
    np.linalg.cholesky,
    forms=(
        ("np.linalg.cholesky(x @ x.T + 3.0 * np.eye(3))", (3, 3)),
        ("np.linalg.cholesky(x @ np.matrix_transpose(x) + 3.0 * np.eye(2))", (4, 2, 2)),
        ("np.linalg.cholesky(x @ x.T + 3.0 * np.eye(3), upper=True)", (3, 3)),
        ("np.linalg.cholesky(x @ x.mT + 3.0 * np.eye(2), upper=True)", (4, 2, 2)),
        ("np.linalg.cholesky(x + 8.0 * np.eye(3))", (3, 3)),
        ("np.linalg.cholesky(x + 8.0 * np.eye(3), upper=True)", (4, 3, 3)),
    ),
    literals={"upper": (False, True)},
    complex="written",
    note=HALF,
    shape="a",
)
def cholesky(z, a, upper=False):
    inverse = np.linalg.inv(z)
    if np.iscomplexobj(a) and upper:
        product = z @ np.conj(d[z].mT)
        turned = inverse @ (0.5 * (np.tril(product) + np.tril(product, -1))) @ np.conj(inverse.mT)
    elif np.iscomplexobj(a):
        product = np.conj(z.mT) @ d[z]
        turned = np.conj(inverse.mT) @ (0.5 * (np.tril(product) + np.tril(product, -1))) @ inverse
    elif upper:
        product = z @ d[z].mT
        turned = inverse @ (0.5 * (np.tril(product) + np.tril(product, -1))) @ inverse.mT
    else:
        product = z.mT @ d[z]
        turned = inverse.mT @ (0.5 * (np.tril(product) + np.tril(product, -1))) @ inverse
    if np.iscomplexobj(a):
        whole = 0.5 * (turned + np.conj(turned.mT))
    else:
        whole = 0.5 * (turned + turned.mT)
    if upper:
        d[a] = np.triu(whole) + np.triu(whole, 1)
    else:
        d[a] = np.tril(whole) + np.tril(whole, -1)


@tangent(np.linalg.cholesky)
def cholesky_tangent(z, a, upper=False):
    inverse = np.linalg.inv(z)
    half = half_read(d[a], not upper)
    if np.iscomplexobj(a):
        a_dot = 0.5 * (half + np.conj(half.mT))
    else:
        a_dot = 0.5 * (half + half.mT)
    if np.iscomplexobj(a) and upper:
        turned = np.conj(inverse.mT) @ a_dot @ inverse
        d[z] = 0.5 * (np.triu(turned) + np.triu(turned, 1)) @ z
    elif np.iscomplexobj(a):
        turned = inverse @ a_dot @ np.conj(inverse.mT)
        d[z] = z @ (0.5 * (np.tril(turned) + np.tril(turned, -1)))
    elif upper:
        turned = inverse.mT @ a_dot @ inverse
        d[z] = 0.5 * (np.triu(turned) + np.triu(turned, 1)) @ z
    else:
        turned = inverse @ a_dot @ inverse.mT
        d[z] = z @ (0.5 * (np.tril(turned) + np.tril(turned, -1)))


@adjoint(
    np.linalg.qr,
    results=(("Q", 0), ("R", 0)),
    forms=(
        ("np.linalg.qr(x)[0]", (3, 3)),
        ("np.linalg.qr(x)[1]", (4, 2)),
        ("np.linalg.qr(x).Q", (4, 2)),
        ("np.linalg.qr(x).Q", (2, 4)),
        ("np.linalg.qr(x).R", (2, 4)),
        ("np.linalg.qr(x)", (4, 3, 2)),
        ("np.linalg.qr(x)", (4, 2, 3)),
        ("np.linalg.qr(x, 'r')", (4, 2)),
        ("np.linalg.qr(x, mode='r')", (2, 4)),
        ("np.linalg.qr(x, mode='complete').R", (4, 2)),
        ("np.linalg.qr(x, 'complete')[0][:, :2]", (4, 2)),
        ("np.linalg.qr(x, 'complete')[0][:, 2:] @ np.linalg.qr(x, 'complete')[0][:, 2:].T", (4, 2)),
        ("np.linalg.qr(x, 'complete')[0]", (2, 4)),
    ),
    literals={"mode": ("reduced", "complete", "r")},
    instead=(("mode", "r", upper_factor),),
    complex="written",
    note="Of a matrix of full rank. Functions of the columns that mode='complete' adds must not depend on which "
    "basis they are. R of a complex one has a real diagonal.",
)
def qr(z, a, mode="reduced"):
    k = smaller_side(a)
    if np.iscomplexobj(a):
        product = np.conj(z[0].mT) @ d[z][0]
        one_side = product - d[z][1] @ np.conj(z[1].mT)
        skew = one_side - np.conj(one_side.mT)
        lower = 0.5 * (np.tril(skew) + np.tril(skew, -1))
    else:
        product = z[0].mT @ d[z][0]
        skew = product - d[z][1] @ z[1].mT
        lower = np.tril(skew - skew.mT, -1)
    if mode == "complete":
        inner = z[0] @ lower[..., :k]
    else:
        inner = d[z][0] + z[0] @ (lower - product)
    if np.iscomplexobj(a):
        solved = np.linalg.solve(z[1][..., :k, :k], np.conj(inner.mT))
        d[a] = z[0] @ d[z][1] + widened(np.conj(solved.mT), a)
    else:
        d[a] = z[0] @ d[z][1] + widened(np.linalg.solve(z[1][..., :k, :k], inner.mT).mT, a)


@tangent(np.linalg.qr)
def qr_tangent(z, a, mode="reduced"):
    k = smaller_side(a)
    pulled = np.linalg.solve(z[1][..., :k, :k].mT, d[a][..., :k].mT).mT
    if np.iscomplexobj(a):
        turned = np.conj(z[0].mT)
        product = turned @ pulled
        lower = widened(0.5 * (np.tril(product) + np.tril(product, -1)), z[0])
        skew = lower - np.conj(lower.mT)
    else:
        product = z[0].mT @ pulled
        lower = widened(np.tril(product, -1), z[0])
        skew = lower - lower.mT
    if np.iscomplexobj(a) and mode == "complete":
        d[z] = (z[0] @ skew, turned @ d[a] - skew @ z[1])
    elif np.iscomplexobj(a):
        d[z] = (pulled + z[0] @ (skew - product), turned @ d[a] - skew @ z[1])
    elif mode == "complete":
        d[z] = (z[0] @ skew, z[0].mT @ d[a] - skew @ z[1])
    else:
        d[z] = (pulled + z[0] @ (skew - product), z[0].mT @ d[a] - skew @ z[1])


@adjoint(upper_factor, complex="written", forms=(("upper_factor(x)", (4, 2)), ("upper_factor(x)", (2, 4))))
def upper_factor_adjoint(z, a):
    q, r = np.linalg.qr(a)
    k = smaller_side(a)
    if np.iscomplexobj(a):
        skew = r @ np.conj(d[z].mT) - d[z] @ np.conj(r.mT)
        lower = 0.5 * (np.tril(skew) + np.tril(skew, -1))
        d[a] = q @ (d[z] + widened(np.conj(np.linalg.solve(r[..., :k], np.conj(lower.mT)).mT), a))
    else:
        skew = r @ d[z].mT - d[z] @ r.mT
        d[a] = q @ (d[z] + widened(np.linalg.solve(r[..., :k], np.tril(skew, -1).mT).mT, a))


@tangent(upper_factor)
def upper_factor_tangent(z, a):
    q, r = np.linalg.qr(a)
    k = smaller_side(a)
    if np.iscomplexobj(a):
        product = np.linalg.solve(r[..., :k].mT, (np.conj(q.mT) @ d[a][..., :k]).mT).mT
        lower = 0.5 * (np.tril(product) + np.tril(product, -1))
        d[z] = np.conj(q.mT) @ d[a] - (lower - np.conj(lower.mT)) @ r
    else:
        lower = np.tril(np.linalg.solve(r[..., :k].mT, (q.mT @ d[a][..., :k]).mT).mT, -1)
        d[z] = q.mT @ d[a] - (lower - lower.mT) @ r


@adjoint(
    np.linalg.svdvals,
    forms=(("np.linalg.svdvals(x)", (3, 2)), ("np.linalg.svdvals(x)", (4, 2, 3)), ("np.linalg.svdvals(x)", (3, 3))),
    complex="written",
    values="real",
    note="Singular values that vanish have the derivative of one sign of their vectors.",
)
def svdvals(z, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    if np.ndim(x) == 2:
        d[x] = (u * d[z]) @ vh
    else:
        d[x] = (u * np.expand_dims(d[z], -2)) @ vh


@tangent(np.linalg.svdvals)
def svdvals_tangent(z, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    if np.iscomplexobj(x):
        d[z] = np.real(np.diagonal(np.conj(u.mT) @ d[x] @ np.conj(vh.mT), 0, -2, -1))
    else:
        d[z] = np.diagonal(u.mT @ d[x] @ vh.mT, 0, -2, -1)


@adjoint(
    np.linalg.svd,
    results=(("U", 0), ("S", -1), ("Vh", 0)),
    forms=(
        ("np.linalg.svd(x)[1]", (3, 2)),
        ("np.linalg.svd(x).S", (4, 2, 3)),
        ("np.linalg.svd(x, compute_uv=False)", (2, 3)),
        ("np.linalg.svd(x, compute_uv=False, hermitian=True)", (3, 3)),
        ("np.linalg.svd(x, False).U ** 2", (3, 2)),
        ("np.linalg.svd(x, full_matrices=False).Vh ** 2", (3, 2)),
        ("np.linalg.svd(x, full_matrices=False)[0][:, :1] @ np.linalg.svd(x, full_matrices=False)[2][:1]", (2, 3)),
        ("np.linalg.svd(x, full_matrices=False).Vh ** 2", (4, 2, 3)),
        ("np.linalg.svd(x).U ** 2", (3, 3)),
        ("np.linalg.svd(x)[0][:, 2:] @ np.linalg.svd(x)[0][:, 2:].T", (4, 2)),
        ("np.linalg.svd(x)[2][:2] ** 2", (2, 4)),
        ("np.linalg.svd(x + x.T, hermitian=True)[1]", (3, 3)),
        ("np.linalg.svd(x + x.T, hermitian=True)[0] ** 2", (3, 3)),
        ("np.linalg.svd(x, hermitian=True)[1]", (3, 3)),
        ("np.linalg.svd(x, hermitian=True)[2] ** 2", (3, 3)),
        ("np.linalg.svd(x + 3.0 * np.eye(2), False, hermitian=True).U ** 2", (4, 2, 2)),
    ),
    literals={"full_matrices": (False, True), "compute_uv": (False, True), "hermitian": (False, True)},
    instead=(("compute_uv", False, singular_values),),
    note="Parts that would divide by a vanishing gap of singular values, or by one that vanishes, are left out. "
    "Functions of the columns beyond the smaller side must not depend on which basis they are. With hermitian=True the "
    "lower triangle is read, and nothing flows to the other one.",
)
def svd(z, a, full_matrices=True, compute_uv=True, hermitian=False):
    k = z[1].shape[-1]
    u = z[0][..., :k]
    vh = z[2][..., :k, :]
    left = z[0].mT @ d[z][0]
    right = z[2] @ d[z][2].mT
    both = inverse_gaps(z[1]) * (left[..., :k, :k] + right[..., :k, :k])
    apart = inverse_sums(z[1]) * (left[..., :k, :k] - right[..., :k, :k])
    if full_matrices:
        below = (left - left.mT)[..., k:, :k] * np.expand_dims(reciprocals(z[1]), -2)
        beside = (right - right.mT)[..., k:, :k] * np.expand_dims(reciprocals(z[1]), -2)
        outside = z[0][..., k:] @ below @ vh + u @ beside.mT @ z[2][..., k:, :]
    else:
        below = (d[z][0] - z[0] @ left) * np.expand_dims(reciprocals(z[1]), -2)
        beside = (d[z][2] - right.mT @ z[2]) * np.expand_dims(reciprocals(z[1]), -1)
        outside = below @ vh + u @ beside
    inner = u @ (0.5 * (both + both.mT + apart - apart.mT)) @ vh
    whole = inner + (u * np.expand_dims(d[z][1], -2)) @ vh + outside
    if hermitian:
        symmetric = 0.5 * (whole + whole.mT)
        d[a] = np.tril(symmetric) + np.tril(symmetric, -1)
    else:
        d[a] = whole


@tangent(np.linalg.svd)
def svd_tangent(z, a, full_matrices=True, compute_uv=True, hermitian=False):
    k = z[1].shape[-1]
    if hermitian:
        half = half_read(d[a])
        a_dot = 0.5 * (half + half.mT)
    else:
        a_dot = d[a]
    whole = z[0].mT @ a_dot @ z[2].mT
    core = whole[..., :k, :k]
    both = 0.5 * inverse_gaps(z[1]) * (core + core.mT)
    apart = 0.5 * inverse_sums(z[1]) * (core - core.mT)
    scales = np.expand_dims(reciprocals(z[1]), -2)
    if full_matrices:
        below = whole[..., k:, :k] * scales
        beside = whole.mT[..., k:, :k] * scales
        u_dot = np.concatenate([z[0][..., :k] @ (both + apart) + z[0][..., k:] @ below, -z[0][..., :k] @ below.mT], -1)
        v = z[2].mT
        v_dot = np.concatenate([v[..., :k] @ (both - apart) + v[..., k:] @ beside, -v[..., :k] @ beside.mT], -1)
        d[z] = (u_dot, np.diagonal(core, 0, -2, -1), v_dot.mT)
    else:
        below = (a_dot @ z[2].mT - z[0] @ core) * scales
        beside = (a_dot.mT @ z[0] - z[2].mT @ core.mT) * scales
        d[z] = (
            z[0] @ (both + apart) + below,
            np.diagonal(core, 0, -2, -1),
            ((both - apart).mT @ z[2]) + beside.mT,
        )


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
