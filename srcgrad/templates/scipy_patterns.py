"""Matrices of `scipy.linalg` that are made of a few numbers, and systems of them, in terms of other operations."""

# ruff: noqa: RUF005 - unpacking with `*` is outside of the accepted Python
import numpy as np
from scipy import linalg

from srcgrad.core.rules import adjoint, constants, d
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.choices import require_handled
from srcgrad.runtime.stacked import matched, shared_batch
from srcgrad.runtime.triangles import half_read

from .forms import HALF

BATCHED = "Batched over leading axes."

constants([shared_batch])


@adjoint.linear(matched, complex="conjugated", forms=(("matched(x, (2,))", (3,)), ("matched(x, (4, 2))", (1, 2, 3))))
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
