"""Factors and eigenvalues of `scipy.linalg`, and the halves of matrices in which LAPACK keeps factors."""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.spectra import inverse_gaps, smaller_side, widened
from srcgrad.runtime.structure import zeros_like
from srcgrad.runtime.triangles import as_square, half_read, lowered, permuted, raised, triangle, unpermuted

from . import factors, norms
from .forms import HALF

CHECKED = {"check_finite": (True, False)}
DRIVERS = (None, "ev", "evd", "evr", "evx")


adjoint(
    linalg.norm,
    forms=(
        ("scipy.linalg.norm(x)", (2, 3)),
        ("scipy.linalg.norm(x, 2)", (2, 3)),
        ("scipy.linalg.norm(x, axis=1)", (2, 3)),
        ("scipy.linalg.norm(x, axis=(0, 2))", (2, 3, 2)),
        ("scipy.linalg.norm(x, 2)", (3,)),
        ("scipy.linalg.norm(x, 1)", (3,)),
        ("scipy.linalg.norm(x, 1, axis=0)", (2, 3)),
        ("scipy.linalg.norm(x, ord='nuc', keepdims=True)", (2, 3)),
    ),
    literals=CHECKED,
    note="0 where the norm is 0; entries that attain a maximum or minimum share evenly.",
)(norms.norm)
tangent(linalg.norm)(norms.norm_tangent)

adjoint(
    linalg.svdvals,
    forms=(("scipy.linalg.svdvals(x)", (3, 2)), ("scipy.linalg.svdvals(x)", (4, 2, 3))),
    literals=CHECKED,
)(factors.svdvals)
tangent(linalg.svdvals)(factors.svdvals_tangent)

adjoint(
    linalg.svd,
    results=(("u", 0), ("s", -1), ("vh", 0)),
    forms=(
        ("scipy.linalg.svd(x)[1]", (3, 2)),
        ("scipy.linalg.svd(x, compute_uv=False)", (2, 3)),
        ("scipy.linalg.svd(x, full_matrices=False)[0] ** 2", (3, 2)),
        ("scipy.linalg.svd(x)[2][:2] ** 2", (2, 4)),
    ),
    literals={
        **CHECKED,
        "full_matrices": (True, False),
        "compute_uv": (True, False),
        "lapack_driver": ("gesdd", "gesvd"),
    },
    instead=(("compute_uv", False, linalg.svdvals),),
    note="As np.linalg.svd.",
)(factors.svd)
tangent(linalg.svd)(factors.svd_tangent)


@adjoint(
    linalg.eigvalsh,
    forms=(
        ("scipy.linalg.eigvalsh(x + x.T)", (3, 3)),
        ("scipy.linalg.eigvalsh(x + x.mT, lower=False)", (4, 2, 2)),
        ("scipy.linalg.eigvalsh(x)", (3, 3)),
        ("scipy.linalg.eigvalsh(x, lower=False)", (2, 3, 3)),
    ),
    literals={**CHECKED, "driver": DRIVERS},
    note=HALF + " Of one matrix, not of a pair.",
)
def eigvalsh(z, a, *, lower=True):
    _, v = linalg.eigh(a, lower=lower)
    d[a] = half_read((v * np.expand_dims(d[z], -2)) @ v.mT, lower)


@tangent(linalg.eigvalsh)
def eigvalsh_tangent(z, a, *, lower=True):
    _, v = linalg.eigh(a, lower=lower)
    half = half_read(d[a], lower)
    d[z] = np.diagonal(v.mT @ (0.5 * (half + half.mT)) @ v, 0, -2, -1)


@adjoint(
    linalg.eigh,
    results=(("eigenvalues", -1), ("eigenvectors", 0)),
    forms=(
        ("scipy.linalg.eigh(x + x.T)[0]", (3, 3)),
        ("scipy.linalg.eigh(x + x.T)[1] ** 2", (3, 3)),
        ("scipy.linalg.eigh(x + x.T, lower=False)[1] ** 2", (3, 3)),
        ("scipy.linalg.eigh(x + x.T, eigvals_only=True)", (3, 3)),
        ("scipy.linalg.eigh(x)[0]", (3, 3)),
        ("scipy.linalg.eigh(x, lower=False)[1] ** 2", (2, 3, 3)),
    ),
    literals={**CHECKED, "driver": DRIVERS, "eigvals_only": (False, True)},
    instead=(("eigvals_only", True, linalg.eigvalsh),),
    note=HALF + " For equal eigenvalues the part that would divide by 0 is left out. Of one matrix, not of a pair.",
)
def eigh(z, a, *, lower=True, eigvals_only=False):
    turned = z[1].mT @ d[z][1]
    inner = 0.5 * inverse_gaps(z[0]) * (turned - turned.mT)
    d[a] = half_read(z[1] @ inner @ z[1].mT + (z[1] * np.expand_dims(d[z][0], -2)) @ z[1].mT, lower)


@tangent(linalg.eigh)
def eigh_tangent(z, a, *, lower=True, eigvals_only=False):
    half = half_read(d[a], lower)
    turned = z[1].mT @ (0.5 * (half + half.mT)) @ z[1]
    d[z] = (np.diagonal(turned, 0, -2, -1), z[1] @ (inverse_gaps(z[0]) * turned))


@adjoint(
    linalg.qr,
    results=(("q", 0), ("r", 0)),
    forms=(
        ("scipy.linalg.qr(x)", (3, 3)),
        ("scipy.linalg.qr(x, mode='economic')", (4, 2)),
        ("scipy.linalg.qr(x, mode='economic')[1]", (2, 4)),
        ("scipy.linalg.qr(x)[1]", (4, 2)),
        ("scipy.linalg.qr(x)[0]", (2, 3)),
    ),
    literals={**CHECKED, "mode": ("full", "economic"), "pivoting": (False,)},
    note="As np.linalg.qr with mode='complete', or 'reduced'.",
)
def qr(z, a, mode="full"):
    k = smaller_side(a)
    product = z[0].mT @ d[z][0]
    skew = product - d[z][1] @ z[1].mT
    lower = np.tril(skew - skew.mT, -1)
    if mode == "full":
        inner = z[0] @ lower[..., :k]
    else:
        inner = d[z][0] + z[0] @ (lower - product)
    turned = linalg.solve_triangular(z[1][..., :k, :k], inner.mT).mT
    d[a] = z[0] @ d[z][1] + widened(turned, a)


@tangent(linalg.qr)
def qr_tangent(z, a, mode="full"):
    k = smaller_side(a)
    pulled = linalg.solve_triangular(z[1][..., :k, :k], d[a][..., :k].mT, trans=1).mT
    product = z[0].mT @ pulled
    lower = widened(np.tril(product, -1), z[0])
    skew = lower - lower.mT
    if mode == "full":
        d[z] = (z[0] @ skew, z[0].mT @ d[a] - skew @ z[1])
    else:
        d[z] = (pulled + z[0] @ (skew - product), z[0].mT @ d[a] - skew @ z[1])


@adjoint(
    linalg.cholesky,
    forms=(
        ("scipy.linalg.cholesky(x @ x.T + 3.0 * np.eye(3))", (3, 3)),
        ("scipy.linalg.cholesky(x @ x.T + 3.0 * np.eye(3), lower=True)", (3, 3)),
        ("scipy.linalg.cholesky(x @ x.mT + 3.0 * np.eye(2), True)", (4, 2, 2)),
        ("scipy.linalg.cholesky(x + 8.0 * np.eye(3))", (2, 3, 3)),
        ("scipy.linalg.cholesky(x + 8.0 * np.eye(3), lower=True)", (3, 3)),
    ),
    literals=CHECKED,
    note=HALF,
)
def cholesky(z, a, lower=False):
    factor = lowered(z, lower)
    product = factor.mT @ lowered(d[z], lower)
    halved = 0.5 * (np.tril(product) + np.tril(product, -1))
    left = linalg.solve_triangular(factor, halved, trans=1, lower=True)
    turned = linalg.solve_triangular(factor, left.mT, trans=1, lower=True)
    d[a] = half_read(0.5 * (turned + turned.mT), lower)


@tangent(linalg.cholesky)
def cholesky_tangent(z, a, lower=False):
    factor = lowered(z, lower)
    half = half_read(d[a], lower)
    left = linalg.solve_triangular(factor, 0.5 * (half + half.mT), lower=True)
    turned = linalg.solve_triangular(factor, left.mT, lower=True)
    d[z] = raised(factor @ (0.5 * (np.tril(turned) + np.tril(turned, -1))), lower)


@adjoint(
    linalg.cho_factor,
    results=(("c", 0), ("lower", None)),
    forms=(
        ("np.triu(scipy.linalg.cho_factor(x @ x.T + 3.0 * np.eye(3))[0])", (3, 3)),
        ("np.tril(scipy.linalg.cho_factor(x @ x.T + 3.0 * np.eye(3), lower=True)[0])", (3, 3)),
        ("np.triu(scipy.linalg.cho_factor(x + 8.0 * np.eye(3))[0])", (3, 3)),
        ("np.tril(scipy.linalg.cho_factor(x + 8.0 * np.eye(3), True)[0])", (2, 3, 3)),
    ),
    literals=CHECKED,
    note=HALF + " The half of the result that holds no factor means nothing, and nothing flows from it.",
)
def cho_factor(z, a, lower=False):
    factor = lowered(z[0], lower)
    product = factor.mT @ lowered(d[z][0], lower)
    halved = 0.5 * (np.tril(product) + np.tril(product, -1))
    left = linalg.solve_triangular(factor, halved, trans=1, lower=True)
    turned = linalg.solve_triangular(factor, left.mT, trans=1, lower=True)
    d[a] = half_read(0.5 * (turned + turned.mT), lower)


@tangent(linalg.cho_factor)
def cho_factor_tangent(z, a, lower=False):
    factor = lowered(z[0], lower)
    half = half_read(d[a], lower)
    left = linalg.solve_triangular(factor, 0.5 * (half + half.mT), lower=True)
    turned = linalg.solve_triangular(factor, left.mT, lower=True)
    d[z] = (raised(factor @ (0.5 * (np.tril(turned) + np.tril(turned, -1))), lower), zeros_like(z[1]))


@adjoint(
    linalg.lu_factor,
    results=(("lu", 0), ("piv", -1)),
    forms=(("scipy.linalg.lu_factor(x)[0]", (3, 3)), ("scipy.linalg.lu_factor(x)[0]", (4, 2, 2))),
    literals=CHECKED,
    note="Of a square matrix. Where the choice of pivots changes the derivative is that of one side.",
)
def lu_factor(z, a):
    factors = as_square(z[0])
    upper = np.triu(factors)
    below = np.tril(d[z][0], -1)
    turned = np.tril(below + triangle(factors, True, True).mT @ below, -1)
    inner = turned + np.triu(np.triu(d[z][0]) @ upper.mT)
    left = linalg.solve_triangular(factors, inner, trans=1, lower=True, unit_diagonal=True)
    d[a] = unpermuted(linalg.solve_triangular(factors, left.mT).mT, z[1])


@tangent(linalg.lu_factor)
def lu_factor_tangent(z, a):
    factors = as_square(z[0])
    left = linalg.solve_triangular(factors, permuted(d[a], z[1]), lower=True, unit_diagonal=True)
    inner = linalg.solve_triangular(factors, left.mT, trans=1).mT
    lower = np.tril(factors, -1) @ np.tril(inner, -1) + np.tril(inner, -1)
    d[z] = (lower + np.triu(inner) @ np.triu(factors), zeros_like(z[1]))


@adjoint(
    linalg.lu,
    results=(("p", None), ("l", 0), ("u", 0)),
    forms=(
        ("scipy.linalg.lu(x)[1]", (3, 3)),
        ("scipy.linalg.lu(x)[2]", (3, 3)),
        ("scipy.linalg.lu(x)[1] @ scipy.linalg.lu(x)[2] ** 2", (4, 2, 2)),
    ),
    literals={**CHECKED, "permute_l": (False,), "p_indices": (False,)},
    note="Of a square matrix. Where the choice of pivots changes the derivative is that of one side.",
)
def lu(z, a):
    inner = np.tril(as_square(z[1]).mT @ d[z][1], -1) + np.triu(d[z][2] @ z[2].mT)
    left = linalg.solve_triangular(z[1], inner, trans=1, lower=True, unit_diagonal=True)
    d[a] = z[0] @ linalg.solve_triangular(as_square(z[2]), left.mT).mT


@tangent(linalg.lu)
def lu_tangent(z, a):
    left = linalg.solve_triangular(as_square(z[1]), z[0].mT @ d[a], lower=True, unit_diagonal=True)
    inner = linalg.solve_triangular(as_square(z[2]), left.mT, trans=1).mT
    d[z] = (np.zeros_like(z[0]), z[1] @ np.tril(inner, -1), np.triu(inner) @ z[2])


@adjoint.linear(
    triangle,
    forms=(("triangle(x, True)", (3, 3)), ("triangle(x, False, True)", (3, 3)), ("triangle(x)", (2, 2, 2))),
)
def triangle_adjoint(z, x, lower=False, unit_diagonal=False):
    d[x] = triangle(d[z], lower, unit_diagonal)


@adjoint.linear(lowered, forms=(("lowered(x, True)", (3, 3)), ("lowered(x)", (2, 3, 3))))
def lowered_adjoint(z, c, lower=False):
    d[c] = raised(d[z], lower)


@adjoint.linear(raised, forms=(("raised(x, True)", (3, 3)), ("raised(x)", (2, 3, 3))))
def raised_adjoint(z, x, lower=False):
    d[x] = lowered(d[z], lower)


@adjoint.linear(permuted, forms=(("permuted(x, np.array([2, 2, 2]))", (3, 2)),))
def permuted_adjoint(z, x, piv):
    d[x] = unpermuted(d[z], piv)


@adjoint.linear(unpermuted, forms=(("unpermuted(x, np.array([2, 2, 2]))", (3, 2)),))
def unpermuted_adjoint(z, x, piv):
    d[x] = permuted(d[z], piv)


@adjoint.linear(as_square, forms=(("as_square(x)", (2, 2)),), note="It raises where its argument is not square.")
def as_square_adjoint(z, a):
    d[a] = d[z]
