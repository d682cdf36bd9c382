"""Linear systems of `scipy.linalg`: dense, triangular, factored, banded; loaded when a function names one of them."""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.structure import zeros_like
from srcgrad.runtime.systems import columns
from srcgrad.runtime.triangles import half_read, lowered, permuted, raised, triangle, unpermuted

from . import determinants, systems
from .forms import HALF

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
)(determinants.det)
tangent(linalg.det)(determinants.det_tangent)

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
