"""Matrices of `scipy.linalg` that are made of a few numbers, and systems of them, in terms of other operations."""

import numpy as np
from scipy import linalg

from srcgrad.rules import adjoint
from srcgrad.runtime.triangles import half_read

from .forms import HALF


@adjoint.composed(
    linalg.toeplitz,
    forms=(("scipy.linalg.toeplitz(x)", (3,)), ("scipy.linalg.toeplitz(x, y)", (3,), (4,))),
    note="Of vectors.",
)
def toeplitz(c, r=None):
    row = c if r is None else r
    rows = np.arange(len(c))
    columns = np.arange(len(row))
    return np.concatenate([np.flip(row[1:]), c])[rows[:, None] - columns + len(row) - 1]


@adjoint.composed(
    linalg.hankel,
    forms=(("scipy.linalg.hankel(x)", (3,)), ("scipy.linalg.hankel(x, y)", (3,), (4,))),
    note="Of vectors.",
)
def hankel(c, r=None):
    row = np.zeros_like(c) if r is None else r
    rows = np.arange(len(c))
    columns = np.arange(len(row))
    return np.concatenate([c, row[1:]])[rows[:, None] + columns]


@adjoint.composed(linalg.circulant, forms=(("scipy.linalg.circulant(x)", (4,)),), note="Of vectors.")
def circulant(c):
    places = np.arange(len(c))
    return c[(places[:, None] - places) % len(c)]


@adjoint.composed(linalg.companion, forms=(("scipy.linalg.companion(x + 4.0)", (4,)),), note="Of vectors.")
def companion(a):
    return np.concatenate([-a[None, 1:] / a[0], np.eye(len(a) - 2, len(a) - 1)])


@adjoint.composed(linalg.leslie, forms=(("scipy.linalg.leslie(x, y)", (4,), (3,)),), note="Of vectors.")
def leslie(f, s):
    return np.concatenate([f[None, :], np.eye(len(s), len(f)) * np.concatenate([s, np.zeros(1)])])


@adjoint.composed(linalg.fiedler, forms=(("scipy.linalg.fiedler(x)", (4,)),), note="Of vectors.")
def fiedler(a):
    return np.abs(a[:, None] - a)


@adjoint.composed(linalg.khatri_rao, forms=(("scipy.linalg.khatri_rao(x, y)", (2, 3), (4, 3)),))
def khatri_rao(a, b):
    return np.reshape(a[:, None, :] * b[None, :, :], (-1, np.shape(a)[1]))


@adjoint.composed(
    linalg.matmul_toeplitz,
    forms=(
        ("scipy.linalg.matmul_toeplitz((x, y), z)", (3,), (4,), (4,)),
        ("scipy.linalg.matmul_toeplitz((x, y), z)", (3,), (4,), (4, 2)),
    ),
    note="Of a column and a row.",
)
def matmul_toeplitz(c_or_cr, x):
    return linalg.toeplitz(c_or_cr[0], c_or_cr[1]) @ x


@adjoint.composed(
    linalg.solve_toeplitz,
    forms=(("scipy.linalg.solve_toeplitz((x + 5.0, y), z)", (3,), (3,), (3,)),),
    note="Of a column and a row; in time that is cubic in the size.",
)
def solve_toeplitz(c_or_cr, b):
    return np.linalg.solve(linalg.toeplitz(c_or_cr[0], c_or_cr[1]), b)


@adjoint.composed(
    linalg.solve_circulant,
    forms=(("scipy.linalg.solve_circulant(x + 9.0 * np.eye(3)[0], y)", (3,), (3,)),),
    note="Of a vector; in time that is cubic in the size.",
)
def solve_circulant(c, b):
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


@adjoint.composed(linalg.polar, forms=(("scipy.linalg.polar(x)[0]", (3, 3)), ("scipy.linalg.polar(x)", (4, 2))))
def polar(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u @ vh, (vh.T * s) @ vh


@adjoint.composed(
    linalg.block_diag,
    forms=(
        ("scipy.linalg.block_diag(x, y)", (2, 3), (2, 2)),
        ("scipy.linalg.block_diag(x, 2.0, y)", (2,), ()),
    ),
)
def block_diag(*arrs):
    whole = np.zeros((0, 0))
    for a in arrs:
        block = np.atleast_2d(a)
        above = np.concatenate((whole, np.zeros((np.shape(whole)[0], np.shape(block)[1]))), axis=1)
        below = np.concatenate((np.zeros((np.shape(block)[0], np.shape(whole)[1])), block), axis=1)
        whole = np.concatenate((above, below))
    return whole
