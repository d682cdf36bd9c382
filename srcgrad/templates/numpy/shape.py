"""Shapes and joins: what reshapes, turns, repeats or takes apart an array, and what puts several together."""

import numpy as np

from srcgrad.core.rules import adjoint, d, declare_other_form, tangent, where_known
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import (
    converted,
    diag_transpose,
    mesh,
    mesh_transpose,
    pad_constants,
    pad_constants_transpose,
    place_diagonal,
    repeat_transpose,
    require_handled,
    split_like,
    tile_transpose,
    unpad,
)


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


@adjoint.linear(
    np.concatenate,
    forms=(
        ("np.concatenate((x, y))", (2,), (3,)),
        ("np.concatenate([x, y], axis=1)", (2, 1), (2, 3)),
        ("np.concatenate((x, y, x), axis=-1)", (2, 1), (2, 3)),
        ("np.concatenate((x, y), axis=None)", (2, 1), (3,)),
        ("np.concatenate((x, np.ones(2), y))", (0,), (3,)),
        ("np.concat((x, y))", (2,), (3,)),
    ),
    shape="join",
    zeros="kept",
    complex="conjugated",
    gives="array",
)
def concatenate(z, arrays, axis=0):
    d[arrays] = split_like(d[z], arrays, axis)


@adjoint.linear(
    np.stack,
    forms=(
        ("np.stack((x, y))", (3,), (3,)),
        ("np.stack([x, y], axis=1)", (2, 3), (2, 3)),
        ("np.stack((x, y, x), axis=-1)", (3,), (3,)),
        ("np.stack((x, y))", (), ()),
    ),
    shape="stack",
    complex="conjugated",
    gives="array",
)
def stack(z, arrays, axis=0):
    if axis == 0:
        d[arrays] = d[z]
    else:
        d[arrays] = np.moveaxis(d[z], axis, 0)


@adjoint.linear(
    np.vstack,
    forms=(
        ("np.vstack((x, y))", (3,), (2, 3)),
        ("np.vstack([x, y])", (2, 3), (1, 3)),
        ("np.vstack((x, y))", (), ()),
    ),
    aliases=tuple(op for op in where_known("row_stack") if op is not np.vstack),
    complex="conjugated",
    gives="array",
)
def vstack(z, tup):
    d[tup] = split_like(d[z], tup, 0)


@adjoint.linear(
    np.hstack,
    forms=(
        ("np.hstack((x, y))", (3,), (2,)),
        ("np.hstack([x, y])", (2, 3), (2, 1)),
        ("np.hstack((x, y))", (), (2,)),
    ),
    complex="conjugated",
    gives="array",
)
def hstack(z, tup):
    d[tup] = split_like(d[z], tup, 1)


@adjoint.linear(
    np.dstack,
    forms=(("np.dstack((x, y))", (2, 3), (2, 3, 2)), ("np.dstack((x, y))", (3,), (3,))),
    complex="conjugated",
    gives="array",
)
def dstack(z, tup):
    d[tup] = split_like(d[z], tup, 2)


@adjoint.linear(
    np.column_stack,
    forms=(("np.column_stack((x, y))", (3,), (3,)), ("np.column_stack((x, y))", (2,), (2, 3))),
    complex="conjugated",
    gives="array",
)
def column_stack(z, tup):
    d[tup] = split_like(d[z], tup, 1)


@adjoint.linear(
    np.append,
    forms=(
        ("np.append(x, y)", (2, 2), (3,)),
        ("np.append(x, y)", (3,), ()),
        ("np.append(x, y, axis=0)", (2, 2), (1, 2)),
    ),
    complex="conjugated",
    gives="array",
)
def append(z, arr, values, axis=None):
    parts = split_like(d[z], (arr, values), axis)
    d[arr] = parts[0]
    d[values] = parts[1]


@adjoint.linear(
    np.split,
    forms=(
        ("np.split(x, 2)[0]", (4,)),
        ("np.split(x, [1, 3])[1]", (4, 2)),
        ("np.split(x, 3, axis=-1)[2]", (2, 6)),
        ("np.split(x, (2,), 1)[0]", (2, 3)),
    ),
    result="view",
    complex="conjugated",
    gives="arrays",
)
def split(z, ary, indices_or_sections, axis=0):
    d[ary] = np.concatenate(d[z], axis=axis)


@adjoint.linear(
    np.array_split,
    forms=(("np.array_split(x, 3)[1]", (5,)), ("np.array_split(x, 2, axis=1)[1]", (2, 3))),
    result="view",
    complex="conjugated",
    gives="arrays",
)
def array_split(z, ary, indices_or_sections, axis=0):
    d[ary] = np.concatenate(d[z], axis=axis)


@adjoint.linear(
    np.hsplit,
    forms=(("np.hsplit(x, 2)[1]", (2, 4)), ("np.hsplit(x, [1])[1]", (3,))),
    result="view",
    complex="conjugated",
    gives="arrays",
)
def hsplit(z, ary, indices_or_sections):
    d[ary] = np.hstack(d[z])


@adjoint.linear(
    np.vsplit, forms=(("np.vsplit(x, [1])[1]", (3, 2)),), result="view", complex="conjugated", gives="arrays"
)
def vsplit(z, ary, indices_or_sections):
    d[ary] = np.vstack(d[z])


@adjoint.linear(
    np.dsplit, forms=(("np.dsplit(x, 2)[0]", (2, 1, 4)),), result="view", complex="conjugated", gives="arrays"
)
def dsplit(z, ary, indices_or_sections):
    d[ary] = np.dstack(d[z])


@adjoint.linear(
    np.repeat,
    forms=(
        ("np.repeat(x, 2)", (3,)),
        ("np.repeat(x, 3)", (2, 2)),
        ("np.repeat(x, 2, axis=-1)", (2, 3)),
        ("np.repeat(x, [1, 0, 2], axis=0)", (3, 2)),
        ("np.repeat(x, 3)", ()),
        ("np.repeat(x, 3, axis=0)", ()),
    ),
    complex="conjugated",
    gives="array",
)
def repeat(z, a, repeats, axis=None):
    d[a] = repeat_transpose(d[z], a, repeats, axis)


@adjoint.linear(
    np.tile,
    forms=(
        ("np.tile(x, 2)", (3,)),
        ("np.tile(x, (2, 1))", (3,)),
        ("np.tile(x, 2)", (2, 3)),
        ("np.tile(x, (2, 1, 2))", (2, 3)),
        ("np.tile(x, 3)", ()),
    ),
    complex="conjugated",
    gives="array",
)
def tile(z, A, reps):  # NumPy's own name
    d[A] = tile_transpose(d[z], A, reps)


@adjoint(
    np.pad,
    forms=(
        ("np.pad(x, 1)", (3,)),
        ("np.pad(x, ((1, 2), (0, 1)))", (2, 3)),
        ("np.pad(x, (1, 2), constant_values=3.0)", (2, 2)),
        ("np.pad(x, 1, constant_values=y)", (2, 2), ()),
        ("np.pad(x, ((1, 2), (0, 1)), constant_values=y)", (2, 2), (2, 2)),
        ("np.pad(np.arange(6.0).reshape(2, 3), (2, 1), constant_values=x)", (2,)),
        ("np.pad(np.arange(3), 1, constant_values=x)", ()),
        ("np.pad(x, (1, 2), mode='edge')", (3,)),
        ("np.pad(x, 2, 'reflect')", (3, 4)),
        ("np.pad(x, ((5, 4), (0, 1)), 'symmetric')", (2, 3)),
        ("np.pad(x, 4, 'wrap')", (3,)),
    ),
    note="Modes constant, edge, reflect, symmetric and wrap; around integers, a constant has gradient 0.",
    complex="conjugated",
    values="array",
    linear=("array",),
    gives="array",
)
def pad(z, array, pad_width, mode="constant", constant_values=0):
    d[array] = unpad(d[z], array, pad_width, mode)
    d[constant_values] = pad_constants_transpose(d[z], constant_values, array, pad_width)


@tangent(np.pad)
def pad_tangent(z, array, pad_width, mode="constant", constant_values=0):
    d[z] = np.pad(d[array], pad_width, mode) + pad_constants(d[constant_values], array, pad_width)


@adjoint.linear(
    pad_constants,
    forms=(
        ("pad_constants(x, y, ((1, 0), (2, 1)))", (2, 2), (2, 3)),
        ("pad_constants(x, y, 1)", (2, 1), (2, 3)),
        ("pad_constants(x, y, (1, 2))", (), (3,)),
    ),
)
def pad_constants_adjoint(z, c, array, pad_width):
    d[c] = pad_constants_transpose(d[z], c, array, pad_width)


@adjoint.linear(
    pad_constants_transpose,
    forms=(("pad_constants_transpose(x, y, z, (1, 2))", (6,), (2,), (3,)),),
)
def pad_constants_transpose_adjoint(z, g, c, array, pad_width):
    d[g] = pad_constants(d[z], array, pad_width)


@adjoint(
    np.array,
    forms=(
        ("np.array([x, y, 1.0])", (), ()),
        ("np.array([[x, y], [y, x * y]])", (), ()),
        ("np.array((x, y))", (2,), (2,)),
        ("np.array(x)", (2, 3)),
        ("np.array(x, dtype=np.float64)", (3,)),
        ("np.array(x, order='F')", (2, 3)),
        ("np.array([x, y], float, copy=None, subok=True)", (2,), (2,)),
        ("np.array(x * y, copy=False)", (2,), (2,)),
    ),
    note="A conversion to integers has gradient 0.",
    showing={"copy": (False, None)},
    complex="conjugated",
    shape="display",
    linear=("object",),
    gives="array",
)
def array(z, object, dtype=None, *, copy=True, order="K", subok=False):
    if dtype is None:
        d[object] = d[z]
    else:
        d[object] = converted(d[z], z, object)


@tangent(np.array)
def array_tangent(z, object, dtype=None, *, copy=True, order="K", subok=False):
    if dtype is None:
        d[z] = np.array(d[object])
    else:
        d[z] = converted(np.array(d[object]), z, z)


@adjoint(
    np.asarray,
    forms=(
        ("np.asarray([x, y])", (), ()),
        ("np.asarray(x)", (2, 3)),
        ("np.asarray(x, dtype=float)", (3,)),
        ("np.asarray(x, int)", (3,)),
        ("np.asarray(x, order='F')", (2, 3)),
        ("np.asarray(x, float, copy=True)", (3,)),
    ),
    aliases=(np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.asarray_chkfinite, np.require),
    note="A conversion to integers has gradient 0.",
    result="view",
    complex="conjugated",
    shape="display",
    linear=("a",),
    gives="array",
)
def asarray(z, a, dtype=None, order=None, *, copy=None):
    if dtype is None:
        d[a] = d[z]
    else:
        d[a] = converted(d[z], z, a)


@tangent(np.asarray)
def asarray_tangent(z, a, dtype=None, order=None, *, copy=None):
    if dtype is None:
        d[z] = np.asarray(d[a])
    else:
        d[z] = converted(np.asarray(d[a]), z, z)


@adjoint.linear(np.copy, zeros="kept", forms=(("np.copy(x)", (2, 3)),), shape="a", complex="conjugated", gives="array")
def copy(z, a):
    d[a] = d[z]


@adjoint(
    np.ndarray.astype,
    name="np.ndarray.astype",
    forms=(
        ("np.ndarray.astype(x, np.float64)", (2, 3)),
        ("np.ndarray.astype(x, float)", (3,)),
        ("np.ndarray.astype(x, int)", (3,)),
        ("np.ndarray.astype(x, float, copy=False)", (3,)),
    ),
    aliases=where_known("astype"),
    note="A conversion to integers has gradient 0.",
    showing={"copy": (False, None)},
    complex="conjugated",
    linear=("x",),
)
def astype(z, x, dtype, *, copy=True):
    d[x] = converted(d[z], z, x)


@tangent(np.ndarray.astype)
def astype_tangent(z, x, dtype, *, copy=True):
    d[z] = converted(d[x], x, z)


@adjoint.linear(
    np.ndarray.item,
    name="np.ndarray.item",
    forms=(("np.ndarray.item(x)", (1,)), ("np.ndarray.item(x)", (1, 1))),
    complex="conjugated",
)
def item(z, x):
    d[x] = np.reshape(d[z], np.shape(x))


@declare_other_form(
    np.ndarray.item, (("np.ndarray.item(x, 2)", (4,)), ("np.ndarray.item(x, -1)", (2, 3))), {1: "place"}, place=()
)
def item_at(x, place):
    return np.ravel(x)[place]


@adjoint.composed(np.ndarray.tolist, name="np.ndarray.tolist", forms=(("x.tolist()[1]", (3,)),), note="Of one axis.")
def tolist(x):
    require_handled(np.ndim(x) == 1, ".tolist() of what has not one axis")
    return list(x)


@adjoint.linear(
    np.full, forms=(("np.full((2, 3), x)", ()), ("np.full((2, 3), x)", (3,))), complex="conjugated", shape="filled"
)
def full(z, shape, fill_value):
    d[fill_value] = sum_to(d[z], fill_value)


@adjoint(
    np.full_like,
    forms=(("np.full_like(x, y)", (2, 3), ()), ("np.full_like(x, y)", (2, 3), (3,))),
    note="Only the filling carries a derivative; an integer array, whose filling is rounded, gives 0.",
    shape="a",
    dtype="a",
    outline="a",
    complex="conjugated",
    values="a",
    linear=("fill_value",),
)
def full_like(z, a, fill_value):
    d[fill_value] = converted(d[z], z, fill_value)


@tangent(np.full_like)
def full_like_tangent(z, a, fill_value):
    d[z] = converted(np.broadcast_to(d[fill_value], np.shape(z)), z, z)


@adjoint.linear(
    np.linspace,
    forms=(
        ("np.linspace(x, y, 5)", (), ()),
        ("np.linspace(x, y, num=4, endpoint=False)", (), ()),
        ("np.linspace(x, y, 4)", (3,), ()),
        ("np.linspace(x, y, 4)", (2, 1), (3,)),
        ("np.linspace(x, y, 4, axis=-1)", (), (3,)),
        ("np.linspace(x, 1.0, 3)", (2, 3)),
        ("np.linspace(x, y, 3, axis=-1)", (2,), (2,)),
        ("np.linspace(x, y, 3, axis=1)", (2, 2), ()),
    ),
    complex="conjugated",
    gives="array",
)
def linspace(z, start, stop, num=50, endpoint=True, axis=0):
    t = np.linspace(0.0, 1.0, num, endpoint)
    if np.ndim(start) == 0 and np.ndim(stop) == 0:
        d[start] = d[z] @ (1.0 - t)
        d[stop] = d[z] @ t
    elif axis == 0:
        d[start] = sum_to(np.tensordot(1.0 - t, d[z], 1), start)
        d[stop] = sum_to(np.tensordot(t, d[z], 1), stop)
    else:
        d[start] = sum_to(np.tensordot(1.0 - t, np.moveaxis(d[z], axis, 0), 1), start)
        d[stop] = sum_to(np.tensordot(t, np.moveaxis(d[z], axis, 0), 1), stop)


@declare_other_form(
    np.linspace,
    (("np.linspace(x, y, 5, retstep=True)[1]", (), ()), ("np.linspace(x, y, 4, False, True)[1]", (3,), ())),
    {4: "retstep"},
    retstep=(True,),
)
def with_step(start, stop, num=50, endpoint=True, retstep=True, *, axis=0):
    gaps = num - 1 if endpoint else num
    return np.linspace(start, stop, num, endpoint, axis=axis), (stop - start) / gaps


@adjoint(
    np.meshgrid,
    forms=(
        ("np.meshgrid(x, y)[0]", (3,), (2,)),
        ("np.meshgrid(x, y)[1]", (3,), (2,)),
        ("np.meshgrid(x, y, indexing='ij')[1]", (3,), (2,)),
    ),
    result="view",
    complex="conjugated",
    linear=("xi",),
    gives="arrays",
)
def meshgrid(z, *xi, indexing="xy"):
    d[xi] = mesh_transpose(d[z], xi, indexing)


@tangent(np.meshgrid)
def meshgrid_tangent(z, *xi, indexing="xy"):
    d[z] = mesh(d[xi], indexing)
