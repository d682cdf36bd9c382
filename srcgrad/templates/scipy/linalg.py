"""Linear systems of `scipy.linalg`, factors, eigenvalues, functions of matrices and equations for matrices; on request.

Systems are dense, triangular, factored, banded or patterned.
"""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import HALF, adjoint, constants, d, declare, rule_of, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.linalg import (
    as_real,
    as_square,
    bordered,
    columns,
    corner,
    half_bands,
    half_read,
    inverse_gaps,
    lowered,
    matched,
    outer_bands,
    permuted,
    raised,
    shared_batch,
    smaller_side,
    times_bands,
    triangle,
    turned_bands,
    unpermuted,
    whole_bands,
    widened,
)
from srcgrad.runtime.structure import zeros_like
from srcgrad.templates.numpy import factors, norms, systems

CHECKED = {"check_finite": (True, False)}
SYMMETRIC = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")

adjoint(
    linalg.inv,
    forms=(("scipy.linalg.inv(x + 3.0 * np.eye(3))", (3, 3)), ("scipy.linalg.inv(x + 3.0 * np.eye(2))", (4, 2, 2))),
    literals=CHECKED,
)(systems.inv)
tangent(linalg.inv)(systems.inv_tangent)

adjoint(
    linalg.det,
    forms=(("scipy.linalg.det(x)", (3, 3)), ("scipy.linalg.det(x, check_finite=False)", (4, 2, 2))),
    literals=CHECKED,
    note="Exact where the matrix is singular.",
)(systems.det)
tangent(linalg.det)(systems.det_tangent)

adjoint(
    linalg.pinv,
    forms=(("scipy.linalg.pinv(x)", (3, 2)), ("scipy.linalg.pinv(x, rtol=1e-12)", (2, 4))),
    literals=CHECKED,
    note="The rank is taken to be constant.",
)(systems.pinv)
tangent(linalg.pinv)(systems.pinv_tangent)

adjoint(
    linalg.lstsq,
    results=(("x", None), ("residuals", None), ("rank", None), ("s", -1)),
    forms=(
        ("scipy.linalg.lstsq(x, y)[0]", (4, 2), (4,)),
        ("scipy.linalg.lstsq(x, y)[1]", (4, 2), (4,)),
        ("scipy.linalg.lstsq(x, y)[0]", (2, 4), (2, 2)),
        ("scipy.linalg.lstsq(x, y)[3]", (4, 2), (4,)),
    ),
    literals={**CHECKED, "lapack_driver": (None, "gelsd", "gelss")},
    note="The rank is taken to be constant.",
)(systems.lstsq)
tangent(linalg.lstsq)(systems.lstsq_tangent)


@adjoint(
    linalg.solve,
    forms=(
        ("scipy.linalg.solve(x + 3.0 * np.eye(3), y)", (3, 3), (3,)),
        ("scipy.linalg.solve(x + 3.0 * np.eye(3), y, check_finite=False)", (3, 3), (3, 2)),
        ("scipy.linalg.solve(x + 3.0 * np.eye(3), y, transposed=True)", (3, 3), (3,)),
        ("scipy.linalg.solve(x + 3.0 * np.eye(3), y, assume_a='gen', transposed=True)", (3, 3), (3, 2)),
        ("scipy.linalg.solve(x @ x.T + 3.0 * np.eye(3), y, assume_a='pos')", (3, 3), (3,)),
        ("scipy.linalg.solve(x + x.T + 3.0 * np.eye(3), y, lower=True, assume_a='sym')", (3, 3), (3, 2)),
        ("scipy.linalg.solve(x + 3.0 * np.eye(2), y)", (4, 2, 2), (4, 2, 3)),
        ("scipy.linalg.solve(x + 3.0 * np.eye(2), y)", (4, 2, 2), (2, 3)),
        ("scipy.linalg.solve(x + 3.0 * np.eye(2), y, transposed=True)", (4, 2, 2), (2, 3)),
        ("scipy.linalg.solve(x, y)", (2, 2), (4, 2, 3)),
        ("scipy.linalg.solve(x, y, transposed=True)", (2, 2), (4, 2, 3)),
        ("scipy.linalg.solve(x, y, assume_a='sym')", (2, 2), (4, 2, 3)),
        ("scipy.linalg.solve(x @ x.mT + 3.0 * np.eye(2), y, assume_a='pos')", (4, 2, 2), (2, 3)),
        ("scipy.linalg.solve(x + 8.0 * np.eye(3), y, assume_a='pos')", (3, 3), (3,)),
        ("scipy.linalg.solve(x + 8.0 * np.eye(3), y, True, assume_a='sym')", (2, 3, 3), (3, 2)),
        ("scipy.linalg.solve(x + 8.0 * np.eye(3), y, lower=True, assume_a='her', transposed=True)", (3, 3), (3,)),
    ),
    literals={**CHECKED, "lower": (False, True), "transposed": (False, True), "assume_a": (None, "gen", *SYMMETRIC)},
    note="For a matrix that is assumed to be symmetric: " + HALF[0].lower() + HALF[1:],
)
def solve(z, a, b, lower=False, assume_a=None, transposed=False):
    if assume_a is None or assume_a == "gen":
        if np.ndim(a) == 2 and np.ndim(b) == 1 and not transposed:
            solved = linalg.solve(a.T, d[z])
            d[a] = -np.outer(solved, z)
            d[b] = solved
        elif np.ndim(a) == 2 and np.ndim(b) == 2 and not transposed:
            solved = linalg.solve(a.T, d[z])
            d[a] = -solved @ z.T
            d[b] = solved
        elif transposed:
            turned = linalg.solve(a, columns(d[z], b))
            d[a] = sum_to(-columns(z, b) @ turned.mT, a)
            d[b] = sum_to(np.reshape(turned, np.shape(z)), b)
        else:
            turned = linalg.solve(a.mT, columns(d[z], b))
            d[a] = sum_to(-turned @ columns(z, b).mT, a)
            d[b] = sum_to(np.reshape(turned, np.shape(z)), b)
    else:
        turned = linalg.solve(a, columns(d[z], b), lower=lower, assume_a=assume_a)
        product = turned @ columns(z, b).mT
        d[a] = sum_to(half_read(-0.5 * (product + product.mT), lower), a)
        d[b] = sum_to(np.reshape(turned, np.shape(z)), b)


@tangent(linalg.solve)
def solve_tangent(z, a, b, lower=False, assume_a=None, transposed=False):
    if assume_a is None or assume_a == "gen":
        if transposed:
            moved = linalg.solve(a.mT, columns(d[b], b) - d[a].mT @ columns(z, b))
        else:
            moved = linalg.solve(a, columns(d[b], b) - d[a] @ columns(z, b))
    else:
        half = half_read(d[a], lower)
        rest = columns(d[b], b) - 0.5 * ((half + half.mT) @ columns(z, b))
        moved = linalg.solve(a, rest, lower=lower, assume_a=assume_a)
    d[z] = np.reshape(moved, np.shape(z))


@adjoint(
    linalg.solve_triangular,
    forms=(
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(3), y)", (3, 3), (3,)),
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(3), y, lower=True)", (3, 3), (3, 2)),
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(3), y, 'T', True)", (3, 3), (3, 2)),
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(3), y, trans=1)", (3, 3), (3,)),
        ("scipy.linalg.solve_triangular(x, y, unit_diagonal=True)", (3, 3), (3,)),
        ("scipy.linalg.solve_triangular(x, y, trans=1, lower=True, unit_diagonal=True)", (3, 3), (3, 2)),
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(2), y, lower=True)", (4, 2, 2), (4, 2, 3)),
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(2), y)", (4, 2, 2), (2, 3)),
        ("scipy.linalg.solve_triangular(x, y)", (2, 2), (4, 2, 3)),
        ("scipy.linalg.solve_triangular(x, y, 1)", (2, 2), (4, 2, 3)),
        ("scipy.linalg.solve_triangular(x + 3.0 * np.eye(2), y, 'T')", (4, 2, 2), (2, 3)),
    ),
    literals={**CHECKED, "trans": (0, 1, 2, "N", "T", "C")},
    note="Nothing flows to the half that is not read.",
)
def solve_triangular(z, a, b, trans=0, lower=False, unit_diagonal=False):
    if trans == 0 or trans == "N":
        if np.ndim(a) == 2 and np.ndim(b) == 1:
            solved = linalg.solve_triangular(a, d[z], trans=1, lower=lower, unit_diagonal=unit_diagonal)
            d[a] = -triangle(np.outer(solved, z), lower, unit_diagonal)
            d[b] = solved
        elif np.ndim(a) == 2 and np.ndim(b) == 2:
            solved = linalg.solve_triangular(a, d[z], trans=1, lower=lower, unit_diagonal=unit_diagonal)
            d[a] = -triangle(solved @ z.T, lower, unit_diagonal)
            d[b] = solved
        else:
            turned = linalg.solve_triangular(a, columns(d[z], b), trans=1, lower=lower, unit_diagonal=unit_diagonal)
            d[a] = sum_to(-triangle(turned @ columns(z, b).mT, lower, unit_diagonal), a)
            d[b] = sum_to(np.reshape(turned, np.shape(z)), b)
    else:
        turned = linalg.solve_triangular(a, columns(d[z], b), lower=lower, unit_diagonal=unit_diagonal)
        d[a] = sum_to(-triangle(columns(z, b) @ turned.mT, lower, unit_diagonal), a)
        d[b] = sum_to(np.reshape(turned, np.shape(z)), b)


@tangent(linalg.solve_triangular)
def solve_triangular_tangent(z, a, b, trans=0, lower=False, unit_diagonal=False):
    if np.ndim(a) == 2 and (trans == 0 or trans == "N"):
        rest = d[b] - triangle(d[a], lower, unit_diagonal) @ z
        d[z] = linalg.solve_triangular(a, rest, lower=lower, unit_diagonal=unit_diagonal)
    else:
        if trans == 0 or trans == "N":
            rest = columns(d[b], b) - triangle(d[a], lower, unit_diagonal) @ columns(z, b)
        else:
            rest = columns(d[b], b) - triangle(d[a], lower, unit_diagonal).mT @ columns(z, b)
        moved = linalg.solve_triangular(a, rest, trans=trans, lower=lower, unit_diagonal=unit_diagonal)
        d[z] = np.reshape(moved, np.shape(z))


@adjoint(
    linalg.cho_solve,
    forms=(
        ("scipy.linalg.cho_solve((x + 3.0 * np.eye(3), True), y)", (3, 3), (3,)),
        ("scipy.linalg.cho_solve((x + 3.0 * np.eye(3), False), y)", (3, 3), (3, 2)),
        ("scipy.linalg.cho_solve(scipy.linalg.cho_factor(x @ x.T + np.eye(3)), y)", (3, 3), (3,)),
        ("scipy.linalg.cho_solve(scipy.linalg.cho_factor(x @ x.T + np.eye(3), lower=True), y)", (3, 3), (3, 2)),
    ),
    literals=CHECKED,
    note="Nothing flows to the half of the factor that is not read.",
)
def cho_solve(z, c_and_lower, b):
    if np.ndim(b) == 1:
        solved = linalg.cho_solve(c_and_lower, d[z])
        turned = np.outer(solved, z)
    else:
        solved = linalg.cho_solve(c_and_lower, columns(d[z], b))
        turned = solved @ columns(z, b).mT
    factor = lowered(c_and_lower[0], c_and_lower[1])
    d[c_and_lower] = (-raised((turned + turned.mT) @ factor, c_and_lower[1]), 0.0)
    if np.ndim(b) == 1:
        d[b] = solved
    else:
        d[b] = np.reshape(solved, np.shape(z))


@tangent(linalg.cho_solve)
def cho_solve_tangent(z, c_and_lower, b):
    factor = lowered(c_and_lower[0], c_and_lower[1])
    product = lowered(d[c_and_lower][0], c_and_lower[1]) @ factor.mT
    rest = columns(d[b], b) - (product + product.mT) @ columns(z, b)
    d[z] = np.reshape(linalg.cho_solve(c_and_lower, rest), np.shape(z))


@adjoint(
    linalg.lu_solve,
    forms=(
        ("scipy.linalg.lu_solve((x + 3.0 * np.eye(3), np.array([2, 1, 2])), y)", (3, 3), (3,)),
        ("scipy.linalg.lu_solve((x + 3.0 * np.eye(3), np.array([2, 1, 2])), y, trans=1)", (3, 3), (3, 2)),
        ("scipy.linalg.lu_solve(scipy.linalg.lu_factor(x), y)", (3, 3), (3, 2)),
        ("scipy.linalg.lu_solve(scipy.linalg.lu_factor(x), y, 1)", (3, 3), (3,)),
    ),
    literals={**CHECKED, "trans": (0, 1, 2)},
)
def lu_solve(z, lu_and_piv, b, trans=0):
    lower = np.tril(lu_and_piv[0], -1) + np.eye(np.shape(lu_and_piv[0])[-1])
    upper = np.triu(lu_and_piv[0])
    if trans == 0:
        solved = linalg.lu_solve(lu_and_piv, columns(d[z], b), 1)
        turned = permuted(solved, lu_and_piv[1]) @ columns(z, b).mT
    else:
        solved = linalg.lu_solve(lu_and_piv, columns(d[z], b), 0)
        turned = permuted(columns(z, b), lu_and_piv[1]) @ solved.mT
    d[lu_and_piv] = (-np.tril(turned @ upper.mT, -1) - np.triu(lower.mT @ turned), zeros_like(lu_and_piv[1]))
    d[b] = np.reshape(solved, np.shape(z))


@tangent(linalg.lu_solve)
def lu_solve_tangent(z, lu_and_piv, b, trans=0):
    lower = np.tril(lu_and_piv[0], -1) + np.eye(np.shape(lu_and_piv[0])[-1])
    upper = np.triu(lu_and_piv[0])
    whole = np.tril(d[lu_and_piv][0], -1) @ upper + lower @ np.triu(d[lu_and_piv][0])
    moved = unpermuted(whole, lu_and_piv[1])
    if trans == 0:
        rest = columns(d[b], b) - moved @ columns(z, b)
    else:
        rest = columns(d[b], b) - moved.mT @ columns(z, b)
    d[z] = np.reshape(linalg.lu_solve(lu_and_piv, rest, trans), np.shape(z))


@adjoint(
    linalg.solve_banded,
    forms=(
        ("scipy.linalg.solve_banded((1, 1), x + 6.0 * np.eye(3)[:, [1]], y)", (3, 4), (4,)),
        ("scipy.linalg.solve_banded((1, 2), x + 7.0 * np.eye(4)[:, [2]], y)", (4, 4), (4, 2)),
        ("scipy.linalg.solve_banded((2, 0), x + 5.0 * np.eye(3)[:, [0]], y, check_finite=False)", (3, 4), (4,)),
    ),
    literals=CHECKED,
    note="Entries of the bands that stand outside of the matrix get 0.",
)
def solve_banded(z, l_and_u, ab, b):
    solved = linalg.solve_banded(l_and_u[::-1], turned_bands(ab, l_and_u), d[z])
    d[ab] = -outer_bands(solved, z, l_and_u)
    d[b] = solved


@tangent(linalg.solve_banded)
def solve_banded_tangent(z, l_and_u, ab, b):
    d[z] = linalg.solve_banded(l_and_u, ab, d[b] - times_bands(d[ab], z, l_and_u), check_finite=False)


@adjoint(
    linalg.solveh_banded,
    forms=(
        ("scipy.linalg.solveh_banded(x + 6.0 * np.eye(2)[:, [1]], y)", (2, 4), (4,)),
        ("scipy.linalg.solveh_banded(x + 9.0 * np.eye(3)[:, [0]], y, lower=True)", (3, 4), (4, 2)),
        ("scipy.linalg.solveh_banded(x + 6.0 * np.eye(2)[:, [1]], y, check_finite=False)", (2, 3), (3, 2)),
    ),
    literals=CHECKED,
    note="A band on one side of the diagonal stands for those on both. Entries outside of the matrix get 0.",
)
def solveh_banded(z, ab, b, lower=False):
    solved = linalg.solveh_banded(ab, d[z], lower=lower)
    width = np.shape(ab)[0] - 1
    d[ab] = -half_bands(outer_bands(solved, z, (width, width)), lower)
    d[b] = solved


@tangent(linalg.solveh_banded)
def solveh_banded_tangent(z, ab, b, lower=False):
    width = np.shape(ab)[0] - 1
    d[z] = linalg.solveh_banded(ab, d[b] - times_bands(whole_bands(d[ab], lower), z, (width, width)), lower=lower)


@adjoint.linear(
    turned_bands,
    forms=(
        ("turned_bands(x, (1, 1))", (3, 4)),
        ("turned_bands(x, (0, 2))", (3, 4)),
        ("turned_bands(x, (2, 1))", (4, 3)),
    ),
)
def turned_bands_adjoint(z, ab, l_and_u):
    d[ab] = turned_bands(d[z], l_and_u[::-1])


@adjoint.multilinear(
    outer_bands,
    forms=(("outer_bands(x, y, (1, 1))", (4,), (4,)), ("outer_bands(x, y, (0, 2))", (4, 2), (4, 2))),
)
def outer_bands_adjoint(z, x, y, l_and_u):
    d[x] = times_bands(d[z], y, l_and_u)
    d[y] = times_bands(turned_bands(d[z], l_and_u), x, l_and_u[::-1])


@adjoint.multilinear(
    times_bands,
    forms=(("times_bands(x, y, (1, 1))", (3, 4), (4,)), ("times_bands(x, y, (2, 0))", (3, 4), (4, 2))),
)
def times_bands_adjoint(z, ab, y, l_and_u):
    d[ab] = outer_bands(d[z], y, l_and_u)
    d[y] = times_bands(turned_bands(ab, l_and_u), d[z], l_and_u[::-1])


@adjoint.linear(whole_bands, forms=(("whole_bands(x)", (2, 4)), ("whole_bands(x, True)", (3, 4))))
def whole_bands_adjoint(z, ab, lower=False):
    d[ab] = half_bands(d[z], lower)


@adjoint.linear(half_bands, forms=(("half_bands(x)", (3, 4)), ("half_bands(x, True)", (5, 4))))
def half_bands_adjoint(z, g, lower=False):
    d[g] = whole_bands(d[z], lower)


# ruff: noqa: RUF005 - unpacking with `*` is outside of the accepted Python

BATCHED = "Batched over leading axes."

constants([shared_batch])


@adjoint.linear(
    matched,
    complex="conjugated",
    forms=(("matched(x, (2,))", (3,)), ("matched(x, (4, 2))", (1, 2, 3))),
    result="argument",
)
def matched_adjoint(z, x, batch):
    d[x] = sum_to(d[z], x)


@adjoint.composed(
    linalg.toeplitz,
    forms=(
        ("scipy.linalg.toeplitz(x)", (3,)),
        ("scipy.linalg.toeplitz(x, y)", (3,), (4,)),
        ("scipy.linalg.toeplitz(x)", (2, 3)),
        ("scipy.linalg.toeplitz(x, y)", (2, 1, 3), (2, 4)),
        ("scipy.linalg.toeplitz(x, y)", (2, 3), (4,)),
    ),
    note=BATCHED,
)
def toeplitz(c, r=None):
    first = np.atleast_1d(c)
    row = np.conj(first) if r is None else np.atleast_1d(r)
    batch = shared_batch(first, row)
    places = np.arange(np.shape(first)[-1])[:, None] - np.arange(np.shape(row)[-1]) + np.shape(row)[-1] - 1
    before = matched(np.flip(row[..., 1:], -1), batch)
    return np.concatenate([before, matched(first, batch)], axis=-1)[..., places]


@adjoint.composed(
    linalg.hankel,
    forms=(
        ("scipy.linalg.hankel(x)", (3,)),
        ("scipy.linalg.hankel(x, y)", (3,), (4,)),
        ("scipy.linalg.hankel(x, y)", (2, 3), (2, 2)),
    ),
    note="Of vectors; other arrays are read element by element, as SciPy does.",
)
def hankel(c, r=None):
    first = np.ravel(c)
    row = np.zeros_like(first) if r is None else np.ravel(r)
    rows = np.arange(len(first))
    columns = np.arange(len(row))
    return np.concatenate([first, row[1:]])[rows[:, None] + columns]


@adjoint.composed(
    linalg.circulant,
    forms=(("scipy.linalg.circulant(x)", (4,)), ("scipy.linalg.circulant(x)", (2, 3, 4))),
    note=BATCHED,
)
def circulant(c):
    first = np.atleast_1d(c)
    places = np.arange(np.shape(first)[-1])
    return first[..., (places[:, None] - places) % np.shape(first)[-1]]


@adjoint.composed(
    linalg.companion,
    forms=(("scipy.linalg.companion(x + 4.0)", (4,)), ("scipy.linalg.companion(x + 4.0)", (2, 4))),
    note=BATCHED,
)
def companion(a):
    n = np.shape(a)[-1]
    below = np.zeros_like(a[..., 1:-1, None]) + np.eye(n - 2, n - 1, dtype=np.asarray(a).dtype)
    return np.concatenate([np.expand_dims(-a[..., 1:] / a[..., :1], -2), below], axis=-2)


@adjoint.composed(
    linalg.leslie,
    forms=(
        ("scipy.linalg.leslie(x, y)", (4,), (3,)),
        ("scipy.linalg.leslie(x, y)", (2, 4), (2, 3)),
        ("scipy.linalg.leslie(x, y)", (2, 4), (3,)),
    ),
    note=BATCHED,
)
def leslie(f, s):
    n = np.shape(f)[-1]
    batch = shared_batch(f, s)
    below = np.eye(n - 1, n, dtype=np.asarray(s).dtype) * np.expand_dims(matched(s, batch), -1)
    return np.concatenate([np.expand_dims(matched(f, batch), -2), below], axis=-2)


@adjoint.composed(
    linalg.fiedler,
    forms=(("scipy.linalg.fiedler(x)", (4,)), ("scipy.linalg.fiedler(x)", (2, 3))),
    note=BATCHED,
)
def fiedler(a):
    first = np.atleast_1d(a)
    require_handled(np.size(first) > 1, "scipy.linalg.fiedler of less than two numbers, which is constant")
    return np.abs(np.expand_dims(first, -1) - np.expand_dims(first, -2))


@adjoint.composed(
    linalg.khatri_rao,
    forms=(
        ("scipy.linalg.khatri_rao(x, y)", (2, 3), (4, 3)),
        ("scipy.linalg.khatri_rao(x, y)", (2, 2, 3), (2, 4, 3)),
    ),
)
def khatri_rao(a, b):
    product = np.expand_dims(a, -2) * np.expand_dims(b, -3)
    return np.reshape(product, np.shape(product)[:-3] + (np.shape(a)[-2] * np.shape(b)[-2], np.shape(a)[-1]))


@adjoint.composed(
    linalg.matmul_toeplitz,
    forms=(
        ("scipy.linalg.matmul_toeplitz((x, y), z)", (3,), (4,), (4,)),
        ("scipy.linalg.matmul_toeplitz((x, y), z)", (3,), (4,), (4, 2)),
    ),
    note="Of a column and a row.",
)
def matmul_toeplitz(c_or_cr, x):
    require_handled(isinstance(c_or_cr, tuple), "c_or_cr that is no tuple: give a column and a row, `(c, np.conj(c))`")
    require_handled(np.size(x) > 0, "a system without numbers")
    whole = linalg.toeplitz(c_or_cr[0], c_or_cr[1])
    require_handled(not np.iscomplexobj(whole), "complex c_or_cr: use scipy.linalg.toeplitz and a product, or solve")
    return whole.astype(np.float64) @ x


@adjoint.composed(
    linalg.solve_toeplitz,
    forms=(("scipy.linalg.solve_toeplitz((x + 5.0, y), z)", (3,), (3,), (3,)),),
    note="Of a column and a row; in time that is cubic in the size.",
)
def solve_toeplitz(c_or_cr, b):
    require_handled(isinstance(c_or_cr, tuple), "c_or_cr that is no tuple: give a column and a row, `(c, np.conj(c))`")
    require_handled(np.size(b) > 0, "a system without numbers")
    whole = linalg.toeplitz(c_or_cr[0], c_or_cr[1])
    require_handled(not np.iscomplexobj(whole), "complex c_or_cr: use scipy.linalg.toeplitz and a product, or solve")
    return np.linalg.solve(whole.astype(np.float64), b)


@adjoint.composed(
    linalg.solve_circulant,
    forms=(("scipy.linalg.solve_circulant(x + 9.0 * np.eye(3)[0], y)", (3,), (3,)),),
    note="Of a vector; in time that is cubic in the size.",
)
def solve_circulant(c, b):
    require_handled(np.ndim(c) < 2, "scipy.linalg.solve_circulant of a matrix: take scipy.linalg.circulant")
    return np.linalg.solve(linalg.circulant(c), b)


@adjoint.composed(
    linalg.pinvh,
    forms=(
        ("scipy.linalg.pinvh(x + x.T + np.eye(3))", (3, 3)),
        ("scipy.linalg.pinvh(x + 4.0 * np.eye(3))", (3, 3)),
        ("scipy.linalg.pinvh(x + 4.0 * np.eye(3), lower=False)", (2, 3, 3)),
    ),
    note=HALF + " The rank is taken to be constant.",
)
def pinvh(a, *, lower=True):
    half = half_read(a, lower)
    return linalg.pinv(0.5 * (half + half.mT))


@adjoint.composed(
    linalg.polar,
    forms=(
        ("scipy.linalg.polar(x)[0]", (3, 3)),
        ("scipy.linalg.polar(x)", (4, 2)),
        ("scipy.linalg.polar(x)[1]", (2, 3, 2)),
    ),
)
def polar(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u @ vh, (vh.mT * np.expand_dims(s, -2)) @ vh


@adjoint.composed(
    linalg.block_diag,
    forms=(
        ("scipy.linalg.block_diag(x, y)", (2, 3), (2, 2)),
        ("scipy.linalg.block_diag(x, 2.0, y)", (2,), ()),
    ),
)
def block_diag(*arrs):
    whole = np.zeros((0, 0), np.asarray(arrs[0]).dtype)
    for a in arrs:
        block = np.atleast_2d(a)
        right = np.zeros((np.shape(whole)[0], np.shape(block)[1]), block.dtype)
        left = np.zeros((np.shape(block)[0], np.shape(whole)[1]), block.dtype)
        above = np.concatenate((whole, right), axis=1)
        below = np.concatenate((left, block), axis=1)
        whole = np.concatenate((above, below))
    return whole


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
