"""Linear systems of `scipy.linalg`: dense, triangular, factored, banded, patterned; on request."""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import HALF, adjoint, constants, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.linalg import (
    columns,
    half_bands,
    half_read,
    lowered,
    matched,
    outer_bands,
    permuted,
    raised,
    shared_batch,
    times_bands,
    triangle,
    turned_bands,
    unpermuted,
    whole_bands,
)
from srcgrad.runtime.structure import zeros_like
from srcgrad.templates.numpy import systems

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
