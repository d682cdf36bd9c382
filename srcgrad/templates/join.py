"""Operations that join arrays, cut them apart, and repeat or pad them."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.layout import (
    pad_constants,
    pad_constants_transpose,
    repeat_transpose,
    split_like,
    tile_transpose,
    unpad,
)

from .versions import where_known


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
)
def hstack(z, tup):
    d[tup] = split_like(d[z], tup, 1)


@adjoint.linear(
    np.dstack,
    forms=(("np.dstack((x, y))", (2, 3), (2, 3, 2)), ("np.dstack((x, y))", (3,), (3,))),
)
def dstack(z, tup):
    d[tup] = split_like(d[z], tup, 2)


@adjoint.linear(
    np.column_stack,
    forms=(("np.column_stack((x, y))", (3,), (3,)), ("np.column_stack((x, y))", (2,), (2, 3))),
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
)
def split(z, ary, indices_or_sections, axis=0):
    d[ary] = np.concatenate(d[z], axis=axis)


@adjoint.linear(
    np.array_split,
    forms=(("np.array_split(x, 3)[1]", (5,)), ("np.array_split(x, 2, axis=1)[1]", (2, 3))),
)
def array_split(z, ary, indices_or_sections, axis=0):
    d[ary] = np.concatenate(d[z], axis=axis)


@adjoint.linear(np.hsplit, forms=(("np.hsplit(x, 2)[1]", (2, 4)), ("np.hsplit(x, [1])[1]", (3,))))
def hsplit(z, ary, indices_or_sections):
    d[ary] = np.hstack(d[z])


@adjoint.linear(np.vsplit, forms=(("np.vsplit(x, [1])[1]", (3, 2)),))
def vsplit(z, ary, indices_or_sections):
    d[ary] = np.vstack(d[z])


@adjoint.linear(np.dsplit, forms=(("np.dsplit(x, 2)[0]", (2, 1, 4)),))
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
