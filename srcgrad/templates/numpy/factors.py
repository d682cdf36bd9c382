"""Factors of matrices: Cholesky, QR, singular values; batched over leading axes.

S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions", 2010, for QR;
J. Townsend, "Differentiating the singular value decomposition", 2016, with its quotients split into sums and
differences of singular values, so that what does not divide by a vanishing gap is kept.
"""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.decompositions import (
    half_read,
    inverse_gaps,
    inverse_sums,
    reciprocals,
    singular_values,
    smaller_side,
    upper_factor,
    widened,
)
from srcgrad.templates.declarations import HALF


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
