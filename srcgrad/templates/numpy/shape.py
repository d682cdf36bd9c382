"""Operations that rearrange elements: new shapes, permuted axes, flips and rolls, diagonals and triangles."""

import numpy as np

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import diag_transpose, place_diagonal


@adjoint.linear(
    np.reshape,
    zeros="kept",
    forms=(
        ("np.reshape(x, (3, 2))", (2, 3)),
        ("np.reshape(x, -1)", (2, 3)),
        ("np.reshape(x, (2, -1, 2))", (4, 3)),
        ("np.reshape(x, ())", (1,)),
        ("np.reshape(x, (1, 1))", ()),
        ("np.reshape(x, (3, 2), order='F')", (2, 3)),
    ),
    literals={"order": ("C", "F")},
    result="view",
    shape="reshape",
    complex="conjugated",
    gives="array",
)
def reshape(z, a, shape, order="C"):
    if order == "C":
        d[a] = np.reshape(d[z], np.shape(a))
    else:
        d[a] = np.reshape(d[z], np.shape(a), order=order)


@adjoint.linear(
    np.ravel,
    forms=(
        ("np.ravel(x)", (2, 3)),
        ("np.ravel(x)", ()),
        ("np.ravel(x, order='F')", (2, 3)),
        ("np.ravel(x, 'F')", (2, 3)),
    ),
    literals={"order": ("C", "F")},
    aliases=(np.ndarray.flatten,),
    result="view",
    copying=(np.ndarray.flatten,),
    complex="conjugated",
    shape="flat",
    gives="array",
    rearranges=True,
)
def ravel(z, a, order="C"):
    if order == "C":
        d[a] = np.reshape(d[z], np.shape(a))
    else:
        d[a] = np.reshape(d[z], np.shape(a), order=order)


@adjoint.linear(
    np.squeeze,
    forms=(
        ("np.squeeze(x)", (1, 3, 1)),
        ("np.squeeze(x, axis=0)", (1, 3, 1)),
        ("np.squeeze(x, axis=(0, -1))", (1, 3, 1)),
        ("np.squeeze(x)", (1,)),
    ),
    result="view",
    complex="conjugated",
    rearranges=True,
)
def squeeze(z, a, axis=None):
    d[a] = np.reshape(d[z], np.shape(a))


@adjoint.linear(
    np.expand_dims,
    zeros="kept",
    forms=(
        ("np.expand_dims(x, 0)", (3,)),
        ("np.expand_dims(x, axis=-1)", (2, 3)),
        ("np.expand_dims(x, (0, 2))", (2, 3)),
        ("np.expand_dims(x, 0)", ()),
    ),
    result="view",
    complex="conjugated",
)
def expand_dims(z, a, axis):
    d[a] = np.reshape(d[z], np.shape(a))


@adjoint.linear(
    np.atleast_1d,
    zeros="kept",
    forms=(("np.atleast_1d(x)", ()), ("np.atleast_1d(x)", (2, 3))),
    result="view",
    complex="conjugated",
    gives="array",
)
def atleast_1d(z, x):
    d[x] = np.reshape(d[z], np.shape(x))


@adjoint.linear(
    np.atleast_2d,
    forms=(("np.atleast_2d(x)", (3,)), ("np.atleast_2d(x)", (2, 3))),
    result="view",
    complex="conjugated",
    gives="array",
)
def atleast_2d(z, x):
    d[x] = np.reshape(d[z], np.shape(x))


@adjoint.linear(
    np.atleast_3d, forms=(("np.atleast_3d(x)", (3,)), ("np.atleast_3d(x)", (2, 3))), result="view", complex="conjugated"
)
def atleast_3d(z, x):
    d[x] = np.reshape(d[z], np.shape(x))


@adjoint.linear(
    np.broadcast_to,
    zeros="kept",
    forms=(
        ("np.broadcast_to(x, (2, 3))", (3,)),
        ("np.broadcast_to(x, (2, 3))", (2, 1)),
        ("np.broadcast_to(x, (4, 2, 3))", ()),
        ("np.broadcast_to(x, (2, 3))", (2, 3)),
    ),
    result="view",
    complex="conjugated",
    shape="given",
    gives="array",
)
def broadcast_to(z, array, shape):
    d[array] = sum_to(d[z], array)


@adjoint.linear(
    np.transpose,
    zeros="kept",
    forms=(
        ("np.transpose(x)", (2, 3)),
        ("np.transpose(x)", (3,)),
        ("np.transpose(x)", (2, 3, 4)),
        ("np.transpose(x, (1, 0))", (2, 3)),
        ("np.transpose(x, (0, 2, 1))", (2, 3, 4)),
        ("np.transpose(x, (1, 2, 0))", (2, 3, 4)),
        ("np.transpose(x, (2, 0, 1))", (2, 3, 4)),
        ("np.transpose(x, (-1, 0, 1))", (2, 3, 4)),
        ("np.transpose(x, [2, 0, 3, 1])", (2, 3, 4, 5)),
    ),
    result="view",
    shape="transpose",
    complex="conjugated",
    gives="array",
)
def transpose(z, a, axes=None):
    if axes is None or axes == (1, 0):
        d[a] = d[z].T
    elif axes in ((0, 2, 1), (1, 0, 2), (2, 1, 0), (0, 2, 1, 3), (0, 1, 3, 2)):
        d[a] = np.transpose(d[z], axes)
    elif axes == (1, 2, 0):
        d[a] = np.transpose(d[z], (2, 0, 1))
    elif axes == (2, 0, 1):
        d[a] = np.transpose(d[z], (1, 2, 0))
    elif axes is not None:
        d[a] = np.transpose(d[z], np.argsort(np.remainder(axes, np.ndim(a))))  # axes may be negative
    else:  # known when it runs
        d[a] = np.transpose(d[z], None if axes is None else np.argsort(np.remainder(axes, np.ndim(a))))


@adjoint.linear(
    np.matrix_transpose,
    zeros="kept",
    forms=(
        ("np.matrix_transpose(x)", (2, 3)),
        ("np.matrix_transpose(x)", (2, 3, 4)),
        ("np.linalg.matrix_transpose(x)", (2, 3)),
    ),
    aliases=(np.linalg.matrix_transpose,),
    result="view",
    complex="conjugated",
)
def matrix_transpose(z, x):
    if np.ndim(x) == 2:
        d[x] = d[z].T
    else:
        d[x] = np.matrix_transpose(d[z])


@adjoint.linear(
    np.swapaxes,
    zeros="kept",
    forms=(("np.swapaxes(x, 0, -1)", (2, 3, 4)),),
    result="view",
    shape="swap",
    complex="conjugated",
    gives="array",
)
def swapaxes(z, a, axis1, axis2):
    d[a] = np.swapaxes(d[z], axis1, axis2)


@adjoint.linear(
    np.moveaxis,
    zeros="kept",
    forms=(("np.moveaxis(x, 0, -1)", (2, 3, 4)), ("np.moveaxis(x, (0, 1), (-1, 0))", (2, 3, 4))),
    result="view",
    complex="conjugated",
)
def moveaxis(z, a, source, destination):
    d[a] = np.moveaxis(d[z], destination, source)


@adjoint.linear(
    np.rollaxis,
    zeros="kept",
    forms=(("np.rollaxis(x, 2)", (2, 3, 4)), ("np.rollaxis(x, -2)", (2, 3, 4))),
    result="view",
    complex="conjugated",
)
def rollaxis(z, a, axis):
    d[a] = np.moveaxis(d[z], 0, axis)


@adjoint.linear(
    np.flip,
    zeros="kept",
    forms=(
        ("np.flip(x)", (2, 3)),
        ("np.flip(x, 0)", (2, 3)),
        ("np.flip(x, axis=-1)", (2, 3)),
        ("np.flip(x, axis=(0, 2))", (2, 3, 2)),
    ),
    result="view",
    shape="m",
    complex="conjugated",
    gives="array",
)
def flip(z, m, axis=None):
    if axis is None:
        d[m] = np.flip(d[z])
    else:
        d[m] = np.flip(d[z], axis)


@adjoint.linear(np.fliplr, zeros="kept", forms=(("np.fliplr(x)", (2, 3)),), result="view", complex="conjugated")
def fliplr(z, m):
    d[m] = np.fliplr(d[z])


@adjoint.linear(
    np.flipud,
    zeros="kept",
    forms=(("np.flipud(x)", (2, 3)), ("np.flipud(x)", (3,))),
    result="view",
    complex="conjugated",
)
def flipud(z, m):
    d[m] = np.flipud(d[z])


@adjoint.linear(
    np.rot90,
    zeros="kept",
    forms=(
        ("np.rot90(x)", (2, 3)),
        ("np.rot90(x, 2)", (2, 3)),
        ("np.rot90(x, k=-1, axes=(1, 2))", (2, 3, 4)),
    ),
    result="view",
    complex="conjugated",
)
def rot90(z, m, k=1, axes=(0, 1)):
    if axes == (0, 1):
        d[m] = np.rot90(d[z], -k)
    else:
        d[m] = np.rot90(d[z], -k, axes)


@adjoint.linear(
    np.roll,
    zeros="kept",
    forms=(
        ("np.roll(x, 1)", (4,)),
        ("np.roll(x, -2)", (2, 3)),
        ("np.roll(x, 1, axis=0)", (3, 2)),
        ("np.roll(x, -1, axis=-1)", (3, 2)),
        ("np.roll(x, (1, 2), axis=(0, 1))", (3, 4)),
        ("np.roll(x, 1, axis=(0, 1))", (3, 4)),
    ),
    shape="a",
    dtype="a",
    complex="conjugated",
    gives="array",
)
def roll(z, a, shift, axis=None):
    if axis is None:
        d[a] = np.roll(d[z], np.negative(shift))
    elif shift >= 0 or shift < 0:  # a number
        d[a] = np.roll(d[z], -shift, axis)
    else:
        d[a] = np.roll(d[z], np.negative(shift), axis)


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
    result="view",
    shape="diag",
    complex="conjugated",
    gives="array",
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
    result="view",
    complex="conjugated",
)
def diagonal(z, a, offset=0, axis1=0, axis2=1):
    d[a] = place_diagonal(d[z], a, offset, axis1, axis2)


@adjoint.linear(
    np.linalg.diagonal,
    forms=(("np.linalg.diagonal(x)", (2, 3, 3)), ("np.linalg.diagonal(x, offset=1)", (3, 4))),
    result="view",
    complex="conjugated",
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
    complex="conjugated",
)
def trace(z, a, offset=0, axis1=0, axis2=1):
    d[a] = place_diagonal(np.expand_dims(d[z], -1), a, offset, axis1, axis2)


@adjoint.linear(
    np.linalg.trace,
    forms=(("np.linalg.trace(x)", (2, 3, 3)), ("np.linalg.trace(x, offset=1)", (3, 4))),
    complex="conjugated",
)
def linalg_trace(z, x, offset=0):
    d[x] = place_diagonal(np.expand_dims(d[z], -1), x, offset, -2, -1)


@adjoint.linear(
    np.tril,
    zeros="made",
    forms=(("np.tril(x)", (3, 3)), ("np.tril(x, -1)", (2, 3, 4)), ("np.tril(x, k=1)", (3,))),
    complex="conjugated",
    gives="array",
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
    complex="conjugated",
    gives="array",
)
def triu(z, m, k=0):
    if np.ndim(m) >= 2:
        d[m] = np.triu(d[z], k)
    else:
        d[m] = sum_to(np.triu(d[z], k), m)
