"""Arrays that are made: of numbers, of other arrays joined, cut, repeated or padded; conversions."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import (
    converted,
    mesh,
    mesh_transpose,
    pad_constants,
    pad_constants_transpose,
    repeat_transpose,
    split_like,
    tile_transpose,
    unpad,
)
from srcgrad.templates.declarations import where_known


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
