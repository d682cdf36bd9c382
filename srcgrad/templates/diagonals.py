"""Diagonals, traces and triangles."""

import numpy as np

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import diag_transpose, place_diagonal


@adjoint.linear(
    np.diag,
    zeros="made",
    forms=(
        ("np.diag(x)", (3,)),
        ("np.diag(x, k=-1)", (3,)),
        ("np.diag(x)", (3, 3)),
        ("np.diag(x, 1)", (2, 4)),
        ("np.diag(x, -1)", (4, 2)),
        ("np.diag(np.squeeze(x), 1)", (1, 3)),
    ),
)
def diag(z, v, k=0):
    if np.ndim(v) == 1 and k == 0:
        d[v] = np.diag(d[z])
    elif np.ndim(v) == 1:
        d[v] = np.diag(d[z], k)
    elif np.ndim(v) == 2:
        d[v] = place_diagonal(d[z], v, k)
    else:
        d[v] = diag_transpose(d[z], v, k)


@adjoint.linear(
    np.diagonal,
    zeros="kept",
    forms=(
        ("np.diagonal(x)", (3, 3)),
        ("np.diagonal(x, 1)", (2, 4)),
        ("np.diagonal(x, offset=-1)", (3, 2)),
        ("np.diagonal(x, 0, 0, -1)", (3, 2, 3)),
        ("np.diagonal(x, axis1=2, axis2=1)", (2, 3, 4)),
    ),
)
def diagonal(z, a, offset=0, axis1=0, axis2=1):
    d[a] = place_diagonal(d[z], a, offset, axis1, axis2)


@adjoint.linear(
    np.linalg.diagonal,
    forms=(("np.linalg.diagonal(x)", (2, 3, 3)), ("np.linalg.diagonal(x, offset=1)", (3, 4))),
)
def linalg_diagonal(z, x, offset=0):
    d[x] = place_diagonal(d[z], x, offset, -2, -1)


@adjoint.linear(
    np.trace,
    forms=(
        ("np.trace(x)", (3, 3)),
        ("np.trace(x, 1)", (2, 4)),
        ("np.trace(x, offset=-1)", (3, 2)),
        ("np.trace(x, 0, 0, -1)", (3, 2, 3)),
        ("np.trace(x, axis1=1, axis2=2)", (2, 3, 3)),
    ),
)
def trace(z, a, offset=0, axis1=0, axis2=1):
    d[a] = place_diagonal(np.expand_dims(d[z], -1), a, offset, axis1, axis2)


@adjoint.linear(
    np.linalg.trace,
    forms=(("np.linalg.trace(x)", (2, 3, 3)), ("np.linalg.trace(x, offset=1)", (3, 4))),
)
def linalg_trace(z, x, offset=0):
    d[x] = place_diagonal(np.expand_dims(d[z], -1), x, offset, -2, -1)


@adjoint.linear(
    np.tril,
    zeros="made",
    forms=(("np.tril(x)", (3, 3)), ("np.tril(x, -1)", (2, 3, 4)), ("np.tril(x, k=1)", (3,))),
)
def tril(z, m, k=0):
    if np.ndim(m) >= 2:
        d[m] = np.tril(d[z], k)
    else:
        d[m] = sum_to(np.tril(d[z], k), m)


@adjoint.linear(
    np.triu,
    zeros="made",
    forms=(("np.triu(x)", (3, 3)), ("np.triu(x, 1)", (2, 3, 4)), ("np.triu(x, k=-1)", (3,))),
)
def triu(z, m, k=0):
    if np.ndim(m) >= 2:
        d[m] = np.triu(d[z], k)
    else:
        d[m] = sum_to(np.triu(d[z], k), m)
