"""Products that sum over axes: matmul, dot, inner, outer, tensordot, einsum, cross, kron."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.contract import (
    dot_left,
    dot_right,
    inner_left,
    inner_right,
    kron_left,
    kron_right,
    matmul_left,
    matmul_right,
    tensordot_left,
    tensordot_right,
)
from srcgrad.runtime.einsum import einsum_adjoints, einsum_tangent


@adjoint.multilinear(
    np.matmul,
    forms=(
        ("np.matmul(x, y)", (2, 3), (3, 4)),
        ("x @ y", (2, 3), (3,)),
        ("x @ y", (3,), (3, 2)),
        ("x @ y", (3,), (3,)),
        ("x @ y", (4, 2, 3), (3, 2)),
        ("x @ y", (2, 3), (4, 3, 2)),
        ("x @ y", (4, 2, 3), (3,)),
        ("x @ y", (3,), (4, 3, 2)),
        ("x @ y", (4, 1, 2, 3), (5, 3, 2)),
        ("x @ x", (3, 3)),
        ("x @ y", (0, 3), (3, 2)),
        ("x @ y", (1, 1), (1, 1)),
    ),
    aliases=(np.linalg.matmul,),
    wide=True,
)
def matmul(z, x1, x2):
    if np.ndim(x1) == 2 and np.ndim(x2) == 2:
        d[x1] = d[z] @ x2.T
        d[x2] = x1.T @ d[z]
    elif np.ndim(x1) == 2 and np.ndim(x2) == 1:
        d[x1] = np.outer(d[z], x2)
        d[x2] = x1.T @ d[z]
    elif np.ndim(x1) == 1 and np.ndim(x2) == 2:
        d[x1] = x2 @ d[z]
        d[x2] = np.outer(x1, d[z])
    elif np.ndim(x1) == 1 and np.ndim(x2) == 1:
        d[x1] = d[z] * x2
        d[x2] = d[z] * x1
    else:
        d[x1] = matmul_left(d[z], x1, x2)
        d[x2] = matmul_right(d[z], x1, x2)


@adjoint.multilinear(
    np.dot,
    forms=(
        ("np.dot(x, y)", (2, 3), (3, 4)),
        ("np.dot(x, y)", (2, 3), (3,)),
        ("np.dot(x, y)", (3,), (3, 2)),
        ("np.dot(x, y)", (3,), (3,)),
        ("np.dot(x, y)", (4, 2, 3), (5, 3, 2)),
        ("np.dot(x, y)", (4, 2, 3), (3,)),
        ("np.dot(x, y)", (3,), (4, 3, 2)),
        ("np.dot(x, y)", (), (2, 3)),
        ("np.dot(x, y)", (3,), ()),
        ("np.dot(x, y)", (), ()),
    ),
    wide=True,
)
def dot(z, a, b):
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        d[a] = d[z] @ b.T
        d[b] = a.T @ d[z]
    elif np.ndim(a) == 2 and np.ndim(b) == 1:
        d[a] = np.outer(d[z], b)
        d[b] = a.T @ d[z]
    elif np.ndim(a) == 1 and np.ndim(b) == 2:
        d[a] = b @ d[z]
        d[b] = np.outer(a, d[z])
    elif np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = d[z] * b
        d[b] = d[z] * a
    else:
        d[a] = dot_left(d[z], a, b)
        d[b] = dot_right(d[z], a, b)


@adjoint.multilinear(
    np.vdot,
    forms=(
        ("np.vdot(x, y)", (3,), (3,)),
        ("np.vdot(x, y)", (2, 3), (3, 2)),
        ("np.vdot(x, y)", (), ()),
    ),
)
def vdot(z, a, b):
    if np.iscomplexobj(z) and np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = np.conj(d[z]) * b
        d[b] = d[z] * a
    elif np.iscomplexobj(z):
        d[a] = np.reshape(np.conj(d[z]) * b, np.shape(a))
        d[b] = np.reshape(d[z] * a, np.shape(b))
    elif np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = d[z] * b
        d[b] = d[z] * a
    else:
        d[a] = np.reshape(d[z] * b, np.shape(a))
        d[b] = np.reshape(d[z] * a, np.shape(b))


@adjoint.multilinear(
    np.vecdot,
    forms=(
        ("np.vecdot(x, y)", (2, 3), (2, 3)),
        ("np.vecdot(x, y)", (3,), (3,)),
        ("np.vecdot(x, y)", (4, 1, 3), (2, 3)),
        ("np.linalg.vecdot(x, y)", (2, 3), (3,)),
    ),
    aliases=(np.linalg.vecdot,),
)
def vecdot(z, x1, x2):
    if np.iscomplexobj(z):
        d[x1] = sum_to(np.expand_dims(np.conj(d[z]), -1) * x2, x1)
    else:
        d[x1] = sum_to(np.expand_dims(d[z], -1) * x2, x1)
    d[x2] = sum_to(np.expand_dims(d[z], -1) * x1, x2)


@adjoint.multilinear(
    np.inner,
    forms=(
        ("np.inner(x, y)", (3,), (3,)),
        ("np.inner(x, y)", (2, 3), (4, 3)),
        ("np.inner(x, y)", (2, 3), (3,)),
        ("np.inner(x, y)", (2, 2, 3), (4, 3)),
        ("np.inner(x, y)", (), (2, 3)),
    ),
)
def inner(z, a, b):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = d[z] * b
        d[b] = d[z] * a
    elif np.ndim(a) == 2 and np.ndim(b) == 2:
        d[a] = d[z] @ b
        d[b] = d[z].T @ a
    else:
        d[a] = inner_left(d[z], a, b)
        d[b] = inner_right(d[z], a, b)


@adjoint.multilinear(
    np.outer,
    forms=(
        ("np.outer(x, y)", (3,), (2,)),
        ("np.outer(x, y)", (2, 2), (3,)),
        ("np.outer(x, y)", (), (2,)),
        ("np.linalg.outer(x, y)", (2,), (3,)),
    ),
    aliases=(np.linalg.outer,),
)
def outer(z, a, b):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = d[z] @ b
        d[b] = a @ d[z]
    else:
        d[a] = np.reshape(d[z] @ np.ravel(b), np.shape(a))
        d[b] = np.reshape(np.ravel(a) @ d[z], np.shape(b))


@adjoint.multilinear(
    np.tensordot,
    forms=(
        ("np.tensordot(x, y, axes=1)", (2, 3), (3, 4)),
        ("np.tensordot(x, y)", (2, 3, 4), (3, 4, 2)),
        ("np.tensordot(x, y, axes=0)", (2,), (2, 3)),
        ("np.tensordot(x, y, axes=((1, 0), (0, 2)))", (2, 3, 2), (3, 4, 2)),
        ("np.tensordot(x, y, axes=([0, 2], [-1, 0]))", (2, 3, 4), (4, 5, 2)),
        ("np.tensordot(x, y, axes=(-1, 0))", (2, 3), (3,)),
        ("np.linalg.tensordot(x, y, axes=1)", (2, 3), (3, 4)),
    ),
    aliases=(np.linalg.tensordot,),
)
def tensordot(z, a, b, axes=2):
    if axes == 1 and np.ndim(a) == 2 and np.ndim(b) == 2:
        d[a] = d[z] @ b.T
        d[b] = a.T @ d[z]
    else:
        d[a] = tensordot_left(d[z], a, b, axes)
        d[b] = tensordot_right(d[z], a, b, axes)


@adjoint(
    np.einsum,
    forms=(
        ("np.einsum('ij,jk->ik', x, y)", (2, 3), (3, 4)),
        ("np.einsum('ij,jk', x, y)", (2, 3), (3, 4)),
        ("np.einsum('ij->i', x)", (2, 3)),
        ("np.einsum('ii->i', x)", (3, 3)),
        ("np.einsum('ii', x)", (3, 3)),
        ("np.einsum('iji->j', x)", (2, 3, 2)),
        ("np.einsum('ba', x)", (2, 3)),
        ("np.einsum('...ij,...jk->...ik', x, y)", (4, 2, 3), (3, 2)),
        ("np.einsum('...i,...i', x, y)", (2, 3), (3,)),
        ("np.einsum('i...->...', x)", (2, 3)),
        ("np.einsum('i,ij,j->', x, y, z)", (2,), (2, 3), (3,)),
        ("np.einsum('ij,kj->', x, y)", (2, 3), (2, 3)),
        ("np.einsum('i,j->ij', x, x)", (3,)),
        ("np.einsum('ij,ij->ij', x, y)", (1, 3), (2, 3)),
        ("np.einsum('ij,jk,kl->il', x, y, z, optimize=True)", (2, 3), (3, 2), (2, 2)),
        ("np.einsum(',i->i', x, y)", (), (3,)),
        ("np.einsum(x, [0, 1], [1, 0])", (2, 3)),
        ("np.einsum(x, [0, 1], y, [1, 2])", (2, 3), (3, 2)),
        ("np.einsum(x, [..., 27, 3], y, [3], [27, ...])", (4, 2, 3), (3,)),
        ("np.einsum(x, [0, 0], x, [0, 1], [1], optimize=True)", (3, 3)),
        ("np.einsum(x, (0,), (0,))", (3,)),
        ("np.einsum(x, [], y, [0], [])", (), (3,)),
    ),
)
def einsum(z, *operands, optimize=False):
    d[operands] = einsum_adjoints(d[z], operands)


@tangent(np.einsum)
def einsum_forward(z, *operands, optimize=False):
    d[z] = einsum_tangent(operands, d[operands])


@adjoint.multilinear(
    np.cross,
    forms=(
        ("np.cross(x, y)", (3,), (3,)),
        ("np.cross(x, y)", (2, 3), (2, 3)),
        ("np.cross(x, y)", (2, 3), (3,)),
        ("np.cross(x, y, axis=0)", (3, 2), (3, 2)),
        ("np.cross(x, y, axis=0)", (3,), (3, 3)),
        ("np.cross(x, y, axis=0)", (3, 3), (3,)),
        ("np.cross(x, y)", (3,), (2, 3)),
        ("np.cross(x, y, axis=len(x) - 3)", (3, 2), (3,)),
        ("np.cross(x, y, axis=len(y) - 3)", (3,), (3, 2)),
        ("np.linalg.cross(x, y)", (2, 3), (2, 3)),
    ),
    aliases=(np.linalg.cross,),
    note="Vectors of three components.",
)
def cross(z, a, b, axis=None):
    if axis is None or axis == -1:
        d[a] = sum_to(np.cross(b, d[z]), a)
        d[b] = sum_to(np.cross(d[z], a), b)
    elif axis is not None:
        first = np.moveaxis(a, axis, -1)
        second = np.moveaxis(b, axis, -1)
        moved = np.moveaxis(d[z], axis, -1)
        d[a] = np.moveaxis(sum_to(np.cross(second, moved), first), -1, axis)
        d[b] = np.moveaxis(sum_to(np.cross(moved, first), second), -1, axis)
    else:  # known when it runs
        place = -1 if axis is None else axis
        one = np.moveaxis(a, place, -1)
        two = np.moveaxis(b, place, -1)
        three = np.moveaxis(d[z], place, -1)
        d[a] = np.moveaxis(sum_to(np.cross(two, three), one), -1, place)
        d[b] = np.moveaxis(sum_to(np.cross(three, one), two), -1, place)


@adjoint.multilinear(
    np.kron,
    forms=(
        ("np.kron(x, y)", (3,), (2,)),
        ("np.kron(x, y)", (2, 3), (3, 2)),
        ("np.kron(x, y)", (2,), (3, 2)),
        ("np.kron(x, y)", (2, 2, 2), (3,)),
        ("np.kron(x, y)", (), (3,)),
    ),
)
def kron(z, a, b):
    d[a] = kron_left(d[z], a, b)
    d[b] = kron_right(d[z], a, b)
