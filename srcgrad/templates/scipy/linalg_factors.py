"""Factors, eigenvalues, functions of matrices and equations for matrices in `scipy.linalg`; on request."""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import HALF, adjoint, constants, d, declare, rule_of, tangent
from srcgrad.runtime.linalg import (
    as_real,
    as_square,
    bordered,
    corner,
    half_read,
    inverse_gaps,
    lowered,
    permuted,
    raised,
    smaller_side,
    triangle,
    unpermuted,
    widened,
)
from srcgrad.runtime.structure import zeros_like
from srcgrad.templates.numpy import factors, norms

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


@adjoint.linear(
    as_square, forms=(("as_square(x)", (2, 2)),), note="It raises where its argument is not square.", result="argument"
)
def as_square_adjoint(z, a):
    d[a] = d[z]


@adjoint(
    linalg.expm,
    forms=(
        ("scipy.linalg.expm(x)", (3, 3)),
        ("scipy.linalg.expm(0.1 * x)", (4, 2, 2)),
        ("scipy.linalg.expm(x - x.T)", (2, 2)),
    ),
)
def expm(z, A):
    d[A] = corner(linalg.expm(bordered(A.mT, d[z])))


@tangent(linalg.expm)
def expm_tangent(z, A):
    d[z] = corner(linalg.expm(bordered(A, d[A])))


@adjoint(
    linalg.expm_frechet,
    forms=(("scipy.linalg.expm_frechet(x, y, compute_expm=False)", (2, 2), (2, 2)),),
    literals={"check_finite": (True, False), "compute_expm": (False,), "method": (None, "SPS", "blockEnlarge")},
    note="With compute_expm=False.",
)
def expm_frechet(z, A, E, compute_expm):
    half = A.shape[-1]
    whole = corner(linalg.expm(bordered(bordered(A, E).mT, bordered(np.zeros_like(d[z]), d[z]))))
    d[A] = whole[:half, :half] + whole[half:, half:]
    d[E] = whole[:half, half:]


@tangent(linalg.expm_frechet)
def expm_frechet_tangent(z, A, E, compute_expm):
    d[z] = corner(corner(linalg.expm(bordered(bordered(A, E), bordered(d[A], d[E])))))


@adjoint(
    linalg.sqrtm,
    forms=(("scipy.linalg.sqrtm(x @ x.T + np.eye(3))", (3, 3)), ("scipy.linalg.sqrtm(x + 9.0 * np.eye(3))", (3, 3))),
    note="Of real matrices with a real square root; a complex one raises TypeError (E5001).",
)
def sqrtm(z, A):
    d[A] = linalg.solve_sylvester(as_real(z).mT, as_real(z).mT, d[z])


@tangent(linalg.sqrtm)
def sqrtm_tangent(z, A):
    d[z] = linalg.solve_sylvester(as_real(z), as_real(z), d[A])


@adjoint(
    linalg.logm,
    forms=(("scipy.linalg.logm(x @ x.T + np.eye(3))", (3, 3)), ("scipy.linalg.logm(x + 9.0 * np.eye(2))", (2, 2))),
    note="Of real matrices with a real logarithm; a complex one raises TypeError (E5001).",
)
def logm(z, A):
    d[A] = as_real(corner(linalg.logm(bordered(A.mT, d[z]))))


@tangent(linalg.logm)
def logm_tangent(z, A):
    d[z] = as_real(corner(linalg.logm(bordered(A, d[A]))))


@adjoint.composed(
    linalg.fractional_matrix_power,
    forms=(
        ("scipy.linalg.fractional_matrix_power(x @ x.T + np.eye(3), 0.5)", (3, 3)),
        ("scipy.linalg.fractional_matrix_power(x @ x.T + np.eye(2), -y)", (2, 2), None),
    ),
    note="Of real matrices with a real logarithm; a complex one raises TypeError (E5001).",
)
def fractional_matrix_power(A, t):
    return linalg.expm(t * linalg.logm(A))


@adjoint(linalg.cosm, forms=(("scipy.linalg.cosm(x)", (3, 3)),))
def cosm(z, A):
    d[A] = corner(linalg.cosm(bordered(A.mT, d[z])))


@tangent(linalg.cosm)
def cosm_tangent(z, A):
    d[z] = corner(linalg.cosm(bordered(A, d[A])))


@adjoint(linalg.sinm, forms=(("scipy.linalg.sinm(x)", (3, 3)),))
def sinm(z, A):
    d[A] = corner(linalg.sinm(bordered(A.mT, d[z])))


@tangent(linalg.sinm)
def sinm_tangent(z, A):
    d[z] = corner(linalg.sinm(bordered(A, d[A])))


@adjoint(linalg.tanm, forms=(("scipy.linalg.tanm(0.2 * x)", (2, 2)),))
def tanm(z, A):
    d[A] = corner(linalg.tanm(bordered(A.mT, d[z])))


@tangent(linalg.tanm)
def tanm_tangent(z, A):
    d[z] = corner(linalg.tanm(bordered(A, d[A])))


@adjoint(linalg.coshm, forms=(("scipy.linalg.coshm(x)", (3, 3)),))
def coshm(z, A):
    d[A] = corner(linalg.coshm(bordered(A.mT, d[z])))


@tangent(linalg.coshm)
def coshm_tangent(z, A):
    d[z] = corner(linalg.coshm(bordered(A, d[A])))


@adjoint(linalg.sinhm, forms=(("scipy.linalg.sinhm(x)", (3, 3)),))
def sinhm(z, A):
    d[A] = corner(linalg.sinhm(bordered(A.mT, d[z])))


@tangent(linalg.sinhm)
def sinhm_tangent(z, A):
    d[z] = corner(linalg.sinhm(bordered(A, d[A])))


@adjoint(linalg.tanhm, forms=(("scipy.linalg.tanhm(0.5 * x)", (2, 2)),))
def tanhm(z, A):
    d[A] = corner(linalg.tanhm(bordered(A.mT, d[z])))


@tangent(linalg.tanhm)
def tanhm_tangent(z, A):
    d[z] = corner(linalg.tanhm(bordered(A, d[A])))


@adjoint(
    linalg.solve_sylvester,
    forms=(("scipy.linalg.solve_sylvester(x + 5.0 * np.eye(3), y, z)", (3, 3), (2, 2), (3, 2)),),
)
def solve_sylvester(z, a, b, q):
    solved = linalg.solve_sylvester(a.T, b.T, d[z])
    d[a] = -solved @ z.T
    d[b] = -z.T @ solved
    d[q] = solved


@tangent(linalg.solve_sylvester)
def solve_sylvester_tangent(z, a, b, q):
    d[z] = linalg.solve_sylvester(a, b, d[q] - d[a] @ z - z @ d[b])


@adjoint(
    linalg.solve_continuous_lyapunov,
    forms=(("scipy.linalg.solve_continuous_lyapunov(x + 5.0 * np.eye(3), y)", (3, 3), (3, 3)),),
    aliases=(linalg.solve_lyapunov,) if linalg.solve_lyapunov is not linalg.solve_continuous_lyapunov else (),
)
def solve_continuous_lyapunov(z, a, q):
    solved = linalg.solve_continuous_lyapunov(a.T, d[z])
    d[a] = -solved @ z.T - solved.T @ z
    d[q] = solved


@tangent(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov_tangent(z, a, q):
    d[z] = linalg.solve_continuous_lyapunov(a, d[q] - d[a] @ z - z @ d[a].T)


@adjoint(
    linalg.solve_discrete_lyapunov,
    forms=(
        ("scipy.linalg.solve_discrete_lyapunov(0.3 * x, y)", (3, 3), (3, 3)),
        ("scipy.linalg.solve_discrete_lyapunov(0.3 * x, y, 'bilinear')", (2, 2), (2, 2)),
    ),
    literals={"method": (None, "direct", "bilinear")},
)
def solve_discrete_lyapunov(z, a, q, method=None):
    solved = linalg.solve_discrete_lyapunov(a.T, d[z], method)
    d[a] = solved @ a @ z.T + solved.T @ a @ z
    d[q] = solved


@tangent(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov_tangent(z, a, q, method=None):
    moved = d[a] @ z @ a.T + a @ z @ d[a].T
    d[z] = linalg.solve_discrete_lyapunov(a, moved + d[q], method)


COMPLEX = """eig eigvals schur rsf2csf cdf2rdf qz ordqz eig_banded eigvals_banded"""
BASES = """orth null_space subspace_angles hessenberg matrix_balance ldl rq cossin qr_multiply"""
UPDATES = """qr_(delete|insert|update) clarkson_woodruff_transform"""
BANDED = """cholesky_banded cho_solve_banded eigh_tridiagonal eigvalsh_tridiagonal"""
RICCATI = """solve_.*_are"""
NUMBERS = """get_.*_funcs find_best_blas_type test"""
FIXED = """bandwidth ishermitian issymmetric dft hadamard helmert hilbert invhilbert pascal invpascal"""

REASONS = (
    (COMPLEX, "its value may be complex; use np.linalg.eig, or scipy.linalg.eigh of a symmetric matrix"),
    (BASES, "its result depends on a choice of basis; use scipy.linalg.svd or qr"),
    (UPDATES, "it updates a decomposition; decompose the new matrix"),
    (BANDED, "its bands have no rule; use scipy.linalg.solveh_banded, or eigh of the whole matrix"),
    (RICCATI, "its equation has no rule"),
    (NUMBERS, "it is no function of numbers"),
    ("funm", "it calls a function that it is given; use scipy.linalg.expm, logm, sqrtm or fractional_matrix_power"),
    ("signm", "it is constant where it is smooth; use scipy.linalg.sqrtm"),
    ("orthogonal_procrustes", "use scipy.linalg.polar of A.T @ B"),
    ("diagsvd convolution_matrix fiedler_companion", "it places numbers; use np.concatenate or np.diag"),
    ("expm_cond", "it is an estimate"),
)

constants(
    op for op in (getattr(linalg, name, None) for name in FIXED.split()) if op is not None and rule_of(op) is None
)
for names, reason in REASONS:
    declare(linalg, "scipy.linalg", names, reason)
