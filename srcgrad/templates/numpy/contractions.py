"""Products that sum over axes: matmul, dot, inner, outer, tensordot, einsum, cross, kron; with itself; transposes."""

import numpy as np

from srcgrad.core.rules import adjoint, d, since, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.contract import (
    dot_both,
    dot_left,
    dot_right,
    einsum_adjoints,
    einsum_tangent,
    fitted,
    inner_left,
    inner_right,
    kron_left,
    kron_right,
    matmul_both,
    matmul_left,
    matmul_right,
    self_dot,
    self_product,
    tensordot_left,
    tensordot_right,
)
from srcgrad.runtime.linalg import no_further


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
    shape="matmul",
    complex="conjugated",
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
    shape="dot",
    complex="conjugated",
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
    complex="written",
)
def vdot(z, a, b):
    if np.iscomplexobj(z) and np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = np.conj(d[z]) * b
        d[b] = d[z] * a
    elif np.iscomplexobj(z):
        d[a] = np.conj(d[z]) * np.reshape(b, np.shape(a))
        d[b] = d[z] * np.reshape(a, np.shape(b))
    elif np.ndim(a) == 1 and np.ndim(b) == 1:
        d[a] = d[z] * b
        d[b] = d[z] * a
    else:
        d[a] = d[z] * np.reshape(b, np.shape(a))
        d[b] = d[z] * np.reshape(a, np.shape(b))


@adjoint.multilinear(
    np.vecdot,
    forms=(
        ("np.vecdot(x, y)", (2, 3), (2, 3)),
        ("np.vecdot(x, y)", (3,), (3,)),
        ("np.vecdot(x, y)", (4, 1, 3), (2, 3)),
        ("np.linalg.vecdot(x, y)", (2, 3), (3,)),
    ),
    aliases=(np.linalg.vecdot,),
    complex="written",
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
    shape="inner",
    complex="conjugated",
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
    shape="outer",
    complex="conjugated",
    gives="array",
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
    complex="conjugated",
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
    result="view",
    complex="conjugated",
    factors=("operands",),
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
    shape="cross",
    complex="conjugated",
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
    complex="conjugated",
    gives="array",
)
def kron(z, a, b):
    d[a] = kron_left(d[z], a, b)
    d[b] = kron_right(d[z], a, b)


@adjoint.composed(
    since("matvec"),
    forms=(
        ("np.matvec(x, y)", (2, 3), (3,)),
        ("np.matvec(x, y)", (4, 2, 3), (3,)),
        ("np.matvec(x, y)", (2, 3), (4, 3)),
    ),
)
def matvec(x1, x2):
    return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]


@adjoint.composed(
    since("vecmat"),
    forms=(
        ("np.vecmat(x, y)", (2,), (2, 3)),
        ("np.vecmat(x, y)", (4, 2), (2, 3)),
        ("np.vecmat(x, y)", (2,), (4, 2, 3)),
    ),
)
def vecmat(x1, x2):
    return np.matmul(np.expand_dims(np.conj(x1), -2), x2)[..., 0, :]


@adjoint(
    self_product,
    forms=(
        ("self_product(x)", (3,)),
        ("self_product(x)", (3, 3)),
        ("self_product(x)", (4, 3, 3)),
        ("self_product(x)", (0,)),
    ),
    wide=True,
)
def self_product_adjoint(z, x):
    if np.ndim(x) == 1:
        d[x] = d[z] * 2.0 * x
    elif np.ndim(x) == 2:
        d[x] = d[z] @ x.T + x.T @ d[z]
    else:
        d[x] = matmul_both(d[z], x)


@tangent(self_product)
def self_product_tangent(z, x):
    if np.ndim(x) == 1:
        d[z] = 2.0 * (x @ d[x])
    else:
        d[z] = d[x] @ x + x @ d[x]


@adjoint(
    self_dot,
    forms=(
        ("self_dot(x)", (3,)),
        ("self_dot(x)", (3, 3)),
        ("self_dot(x)", (3, 3, 3)),
        ("self_dot(x)", ()),
    ),
    wide=True,
)
def self_dot_adjoint(z, x):
    if np.ndim(x) == 1:
        d[x] = d[z] * 2.0 * x
    elif np.ndim(x) == 2:
        d[x] = d[z] @ x.T + x.T @ d[z]
    else:
        d[x] = dot_both(d[z], x)


@tangent(self_dot)
def self_dot_tangent(z, x):
    if np.ndim(x) == 1:
        d[z] = 2.0 * np.dot(x, d[x])
    else:
        d[z] = np.dot(d[x], x) + np.dot(x, d[x])


@adjoint.multilinear(
    matmul_both,
    forms=(
        ("matmul_both(x, y)", (), (3,)),
        ("matmul_both(x, y)", (3, 3), (3, 3)),
        ("matmul_both(x, y)", (3, 3), (4, 3, 3)),
        ("matmul_both(x, y)", (4, 3, 3), (4, 3, 3)),
    ),
    shape="a",
)
def matmul_both_adjoint(z, g, a):
    d[g] = fitted(np.matmul(d[z], a) + np.matmul(a, d[z]), np.shape(g))
    d[a] = matmul_both(g, d[z])


@adjoint.multilinear(
    dot_both,
    forms=(
        ("dot_both(x, y)", (), (3,)),
        ("dot_both(x, y)", (3, 3), (3, 3)),
        ("dot_both(x, y)", (3, 3, 3, 3), (3, 3, 3)),
        ("dot_both(x, y)", (), ()),
    ),
    shape="a",
)
def dot_both_adjoint(z, g, a):
    d[g] = fitted(np.dot(d[z], a) + np.dot(a, d[z]), np.shape(g))
    d[a] = dot_both(g, d[z])


@adjoint.multilinear(
    matmul_left,
    forms=(
        ("matmul_left(x, y, z)", (4, 2, 2), (2, 3), (4, 3, 2)),
        ("matmul_left(x, y, z)", (5, 4), (3,), (3, 4)),
        ("matmul_left(x, y, z)", (4,), (3,), (3,)),
        ("matmul_left(x, y, z)", (1, 4), (2, 3), (3, 1)),
    ),
    shape="a",
    outline="a",
    complex="conjugated",
)
def matmul_left_adjoint(z, g, a, b):
    d[g] = fitted(np.matmul(d[z], b), np.shape(g))
    d[b] = matmul_right(g, d[z], b)


@adjoint.multilinear(
    matmul_right,
    forms=(
        ("matmul_right(x, y, z)", (4, 2), (3,), (4, 3, 2)),
        ("matmul_right(x, y, z)", (5, 2), (2, 3), (3,)),
        ("matmul_right(x, y, z)", (4,), (3,), (3,)),
        ("matmul_right(x, y, z)", (1, 4), (2, 3), (3, 1)),
    ),
    shape="b",
    outline="b",
    complex="conjugated",
)
def matmul_right_adjoint(z, g, a, b):
    d[g] = fitted(np.matmul(a, d[z]), np.shape(g))
    d[a] = matmul_left(g, a, d[z])


@adjoint.multilinear(
    dot_left,
    forms=(("dot_left(x, y, z)", (4, 2, 5), (4, 2, 3), (3, 5)), ("dot_left(x, y, z)", (4,), (3,), (3,))),
    shape="a",
    outline="a",
    complex="conjugated",
)
def dot_left_adjoint(z, g, a, b):
    d[g] = fitted(np.dot(d[z], b), np.shape(g))
    d[b] = dot_right(g, d[z], b)


@adjoint.multilinear(
    dot_right,
    forms=(("dot_right(x, y, z)", (4, 5, 2), (4, 3), (5, 3, 2)), ("dot_right(x, y, z)", (2, 4), (3,), (3, 1))),
    shape="b",
    outline="b",
    complex="conjugated",
)
def dot_right_adjoint(z, g, a, b):
    d[g] = fitted(np.dot(a, d[z]), np.shape(g))
    d[a] = dot_left(g, a, d[z])


@adjoint.linear(
    fitted,
    forms=(("fitted(x, (2, 1))", (4, 1, 3)), ("fitted(x, (2, 3))", (2, 1))),
    result="argument",
    complex="conjugated",
)
def fitted_adjoint(z, g, shape):
    d[g] = fitted(d[z], np.shape(g))


@adjoint.multilinear(inner_left, forms=(("inner_left(x, y, z)", (2, 4), (2, 3), (4, 3)),), complex="conjugated")
def inner_left_adjoint(z, g, a, b):
    d[g] = np.inner(d[z], b)
    d[b] = inner_right(g, d[z], b)


@adjoint.multilinear(inner_right, forms=(("inner_right(x, y, z)", (2, 4), (2, 3), (4, 3)),), complex="conjugated")
def inner_right_adjoint(z, g, a, b):
    d[g] = np.inner(a, d[z])
    d[a] = inner_left(g, a, d[z])


@adjoint.multilinear(
    tensordot_left,
    forms=(("tensordot_left(x, y, z, ((0, 2), (-1, 0)))", (3, 5), (2, 3, 4), (4, 5, 2)),),
    complex="conjugated",
)
def tensordot_left_adjoint(z, g, a, b, axes=2):
    d[g] = np.tensordot(d[z], b, axes)
    d[b] = tensordot_right(g, d[z], b, axes)


@adjoint.multilinear(
    tensordot_right,
    forms=(("tensordot_right(x, y, z, ((0, 2), (-1, 0)))", (3, 5), (2, 3, 4), (4, 5, 2)),),
    complex="conjugated",
)
def tensordot_right_adjoint(z, g, a, b, axes=2):
    d[g] = np.tensordot(a, d[z], axes)
    d[a] = tensordot_left(g, a, d[z], axes)


@adjoint.multilinear(kron_left, forms=(("kron_left(x, y, z)", (6, 6), (2, 3), (3, 2)),), complex="conjugated")
def kron_left_adjoint(z, g, a, b):
    d[g] = np.kron(d[z], b)
    d[b] = kron_right(g, d[z], b)


@adjoint.multilinear(kron_right, forms=(("kron_right(x, y, z)", (6, 6), (2, 3), (3, 2)),), complex="conjugated")
def kron_right_adjoint(z, g, a, b):
    d[g] = np.kron(a, d[z])
    d[a] = kron_left(g, a, d[z])


@adjoint(
    einsum_adjoints,
    forms=(
        ("einsum_adjoints(x, ('ij,jk->ik', y, z))[2]", (2, 4), (2, 3), (3, 4)),
        ("einsum_adjoints(x, ('i,i,i->i', y, y, y), (None, z, None, z))[2]", (2,), (2,), (2,)),
        (
            "einsum_adjoints(x, ('i,i,i->i', np.ones(2), np.ones(2), np.ones(2)), (None, y, y, y), (None, z, z, z))[2]",
            (2,),
            (2,),
            (2,),
        ),
    ),
    second=False,
    note="Its second derivative is the third of np.einsum, which raises where an operand stands three times.",
    complex="conjugated",
    gives="arrays",
)
def einsum_adjoints_adjoint(z, g, operands, u=None, v=None):
    if u is None and v is None:
        d[g] = einsum_tangent(operands, d[z])
        d[operands] = einsum_adjoints(g, operands, d[z])
    elif v is None:
        d[g] = einsum_tangent(operands, u, d[z])
        d[operands] = einsum_adjoints(g, operands, u, d[z])
        d[u] = einsum_adjoints(g, operands, d[z])
    else:
        d[g] = einsum_tangent(operands, u, v, d[z])
        d[operands] = no_further(d[z])
        d[u] = einsum_adjoints(g, operands, v, d[z])
        d[v] = einsum_adjoints(g, operands, u, d[z])


@tangent(einsum_adjoints)
def einsum_adjoints_forward(z, g, operands, u=None, v=None):
    if u is None and v is None:
        d[z] = einsum_adjoints(d[g], operands)  # the lines add up; the results are lists
        d[z] = einsum_adjoints(g, operands, d[operands])
    elif v is None:
        d[z] = einsum_adjoints(d[g], operands, u)
        d[z] = einsum_adjoints(g, operands, d[u])
        d[z] = einsum_adjoints(g, operands, u, d[operands])
    else:
        d[z] = einsum_adjoints(d[g], operands, u, v)
        d[z] = einsum_adjoints(g, operands, d[u], v)
        d[z] = einsum_adjoints(g, operands, u, d[v])
        d[z] = no_further(d[operands])


@adjoint(
    einsum_tangent,
    forms=(
        ("einsum_tangent(('ij,jk->ik', x, y), (None, z, None))", (2, 3), (3, 4), (2, 3)),
        ("einsum_tangent(('i,i->i', np.ones(2), np.ones(2)), (None, x, None), (None, None, y))", (2,), (2,)),
        ("einsum_tangent(('i,i,i->i', x, x, x), (None, y, y, y), (None, z, z, z))", (2,), (2,), (2,)),
        (
            "einsum_tangent(('i,i,i->i', np.ones(2), np.ones(2), np.ones(2)), "
            "(None, x, x, x), (None, y, y, y), (None, z, z, z))",
            (2,),
            (2,),
            (2,),
        ),
    ),
    second=False,
    note="To third order of np.einsum; the fourth raises where an operand stands that often.",
    complex="conjugated",
)
def einsum_tangent_adjoint(z, operands, u, v=None, w=None):
    if v is None:
        d[operands] = einsum_adjoints(d[z], operands, u)
        d[u] = einsum_adjoints(d[z], operands)
    elif w is None:
        d[operands] = einsum_adjoints(d[z], operands, u, v)
        d[u] = einsum_adjoints(d[z], operands, v)
        d[v] = einsum_adjoints(d[z], operands, u)
    else:
        d[operands] = no_further(d[z])
        d[u] = einsum_adjoints(d[z], operands, v, w)
        d[v] = einsum_adjoints(d[z], operands, u, w)
        d[w] = einsum_adjoints(d[z], operands, u, v)


@tangent(einsum_tangent)
def einsum_tangent_forward(z, operands, u, v=None, w=None):
    if v is None:
        d[z] = einsum_tangent(operands, d[u]) + einsum_tangent(operands, u, d[operands])
    elif w is None:
        first = einsum_tangent(operands, d[u], v) + einsum_tangent(operands, u, d[v])
        d[z] = first + einsum_tangent(operands, u, v, d[operands])
    else:
        first = einsum_tangent(operands, d[u], v, w) + einsum_tangent(operands, u, d[v], w)
        d[z] = first + einsum_tangent(operands, u, v, d[w]) + no_further(d[operands])
