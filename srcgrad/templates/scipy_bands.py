"""Banded systems of `scipy.linalg`: bands in, bands out, in time that is linear in the size."""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.bands import half_bands, outer_bands, times_bands, turned_bands, whole_bands

CHECKED = {"check_finite": (True, False)}


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
    d[z] = linalg.solve_banded(l_and_u, ab, d[b] - times_bands(d[ab], z, l_and_u))


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
