"""Reading elements: subscripts, gathers, sorting, linear interpolation; and arrays built from parts of others."""

import operator

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, since, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.layout import (
    along_axis,
    axis_index,
    block_transpose,
    broadcast_parts,
    choose_transpose,
    diagonal_index,
    entry,
    flat_index,
    insertion,
    otherwise,
    require_handled,
    scatter,
    select_transpose,
    unselected,
)
from srcgrad.runtime.structure import add, zeros_like

# Of places no derivative is taken.
constants([along_axis, axis_index, slice])


@adjoint.linear(
    operator.getitem,
    name="operator.getitem",
    forms=(
        ("x[1]", (3,)),
        ("x[-1]", (3, 2)),
        ("x[0, 1]", (2, 3)),
        ("x[1:]", (4,)),
        ("x[::-2, None, ..., 1]", (4, 2, 3)),
        ("x[[0, 2, 0]]", (3, 2)),
        ("x[[0, 0, 2], 1]", (3, 2)),
        ("x[[0, 0], 1:]", (3, 3)),
        ("x[[True, False, True]]", (3, 2)),
        ("x[[[0, 1], [1, 1]]]", (2,)),
        ("operator.getitem(x, np.array([[0, 1], [1, 1]]))", (3, 2)),
        ("x[...]", (2, 3)),
    ),
    note="Repeated indices accumulate; the engine adds into the adjoint of x in place.",
    result="view",
    complex="conjugated",
)
def getitem(z, x, index):
    d[x] = scatter(d[z], x, index)


@adjoint.linear(
    dict.get,
    name="dict.get",
    forms=(
        ("dict.get({'a': x, 'b': y}, 'a')", (3,), ()),
        ("dict.get({'a': x}, 'b', y)", (3,), (2,)),
        ("dict.get({'a': x}, 'a', 0.0)", ()),
    ),
    result="view",
)
def get(z, self, key, default=None):
    d[self] = entry(d[z], self, key)
    d[default] = otherwise(d[z], self, key)


@adjoint.linear(entry, forms=(("entry(x, {'a': y}, 'a')['a']", (3,), (3,)),))
def entry_adjoint(z, g, x, key):
    d[g] = add(zeros_like(g), d[z].get(key))


@adjoint.linear(
    otherwise,
    forms=(("otherwise(x, {'a': y}, 'b')", (3,), (3,)), ("otherwise(x, {'b': y}, 'b')", (), ())),
    result="view",
)
def otherwise_adjoint(z, g, x, key):
    d[g] = otherwise(d[z], x, key)


@adjoint.linear(
    np.take,
    forms=(
        ("np.take(x, 1)", (3,)),
        ("np.take(x, [0, 0, 3])", (2, 2)),
        ("np.take(x, np.array([[0, 1], [1, 1]]), axis=0)", (3, 2)),
        ("np.take(x, [2, 0], axis=1)", (2, 3)),
        ("np.take(x, -1, axis=-1)", (2, 3)),
        ("np.take(x, [1, 1], axis=-2)", (2, 3, 2)),
    ),
    complex="conjugated",
)
def take(z, a, indices, axis=None):
    if axis is None:
        d[a] = np.reshape(scatter(d[z], np.ravel(a), indices), np.shape(a))
    elif axis == 0:
        d[a] = scatter(d[z], a, indices)
    elif axis == -1:
        d[a] = scatter(d[z], a, (..., indices))
    else:
        d[a] = scatter(d[z], a, axis_index(indices, a, axis))


@adjoint.linear(
    np.take_along_axis,
    zeros="kept",
    forms=(
        ("np.take_along_axis(x, np.array([[1], [0]]), 1)", (2, 3)),
        ("np.take_along_axis(x, np.array([[1, 0, 1]]), axis=0)", (2, 3)),
        ("np.take_along_axis(x, np.argsort(x, axis=-1), -1)", (2, 3)),
        ("np.take_along_axis(x, np.array([1, 0, 1, 3]), None)", (2, 2)),
    ),
    complex="conjugated",
)
def take_along_axis(z, arr, indices, axis):
    if axis is None:
        d[arr] = np.reshape(scatter(d[z], np.ravel(arr), indices), np.shape(arr))
    else:
        d[arr] = scatter(d[z], arr, along_axis(indices, arr, axis))


@adjoint.linear(
    np.compress,
    forms=(
        ("np.compress([True, False, True], x)", (4,)),
        ("np.compress([False, True], x, axis=1)", (2, 3)),
        ("np.compress([False, True], x, 0)", (2, 3)),
    ),
    complex="conjugated",
)
def compress(z, condition, a, axis=None):
    kept = np.flatnonzero(condition)
    if axis is None:
        d[a] = np.reshape(scatter(d[z], np.ravel(a), kept), np.shape(a))
    elif axis == 0:
        d[a] = scatter(d[z], a, kept)
    else:
        d[a] = scatter(d[z], a, axis_index(kept, a, axis))


@adjoint.linear(np.extract, forms=(("np.extract(x > 0.0, x)", (2, 3)),), complex="conjugated")
def extract(z, condition, arr):
    d[arr] = np.reshape(scatter(d[z], np.ravel(arr), np.flatnonzero(condition)), np.shape(arr))


@adjoint(
    np.sort,
    forms=(
        ("np.sort(x)", (4,)),
        ("np.sort(x, axis=0)", (3, 2)),
        ("np.sort(x, axis=None)", (2, 3)),
        ("np.sort(x, kind='mergesort')", (4,)),
        ("np.sort(x, stable=True)", (4,)),
    ),
    note="Equal elements keep their order.",
    shape="accumulate",
    gives="array",
)
def sort(z, a, axis=-1, kind=None, stable=None):
    order = np.argsort(a, axis=axis, kind="stable")
    if axis is None:
        d[a] = np.reshape(d[z][np.argsort(order)], np.shape(a))
    elif axis is not None:
        d[a] = np.take_along_axis(d[z], np.argsort(order, axis=axis), axis)
    else:  # known when it runs
        d[a] = np.reshape(np.take_along_axis(d[z], np.argsort(order, axis=axis), axis), np.shape(a))


@tangent(np.sort)
def sort_tangent(z, a, axis=-1, kind=None, stable=None):
    order = np.argsort(a, axis=axis, kind="stable")
    if axis is None:
        d[z] = np.ravel(d[a])[order]
    else:
        d[z] = np.take_along_axis(d[a], order, axis)


@adjoint(
    np.interp,
    domain={"x": (0.2, 3.8), "y": (-2.0, 2.0)},
    forms=(
        ("np.interp(x, np.array([0.0, 1.0, 2.5, 4.0]), y)", (3,), (4,)),
        ("np.interp(x, np.array([0.0, 1.0, 2.5, 4.0]), y)", (), (4,)),
        ("np.interp(x, np.sort(y), z)", (2, 3), (4,), (4,)),
    ),
    note="At a knot the slope on its right; outside the knots the slope is 0.",
    shape="x",
)
def interp(z, x, xp, fp):
    left = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, np.size(xp) - 2)
    width = xp[left + 1] - xp[left]
    t = np.clip((x - xp[left]) / width, 0.0, 1.0)
    slope = np.where((xp[0] <= x) & (x < xp[-1]), (fp[left + 1] - fp[left]) / width, 0.0)
    d[x] = d[z] * slope
    d[xp] = -scatter(d[z] * slope * (1.0 - t), xp, left) - scatter(d[z] * slope * t, xp, left + 1)
    d[fp] = scatter(d[z] * (1.0 - t), fp, left) + scatter(d[z] * t, fp, left + 1)


@tangent(np.interp)
def interp_tangent(z, x, xp, fp):
    left = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, np.size(xp) - 2)
    width = xp[left + 1] - xp[left]
    t = np.clip((x - xp[left]) / width, 0.0, 1.0)
    slope = np.where((xp[0] <= x) & (x < xp[-1]), (fp[left + 1] - fp[left]) / width, 0.0)
    d[z] = (
        slope * d[x]
        - slope * (1.0 - t) * d[xp][left]
        - slope * t * d[xp][left + 1]
        + (1.0 - t) * d[fp][left]
        + t * d[fp][left + 1]
    )


constants([flat_index, insertion])
constants([diagonal_index], outline="a")


@adjoint.linear(
    np.block,
    forms=(
        ("np.block([x, y])", (3,), (2,)),
        ("np.block([[x, y], [y.T, x[:1, :1]]])", (2, 2), (2, 1)),
        ("np.block([[x], [y]])", (2, 3), (1, 3)),
        ("np.block([[x, 1.0], [2.0, y]])", (), ()),
    ),
)
def block(z, arrays):
    d[arrays] = block_transpose(d[z], arrays)


@adjoint.linear(
    block_transpose,
    forms=(("block_transpose(x, [y, z])[1]", (2, 3), (2, 1), (2, 2)),),
    result="view",
    gives="arrays",
)
def block_transpose_adjoint(z, g, arrays):
    d[g] = np.block(d[z])


@adjoint(
    np.broadcast_arrays,
    forms=(("np.broadcast_arrays(x, y)[0]", (3, 1), (4,)), ("np.broadcast_arrays(x, y)[1]", (3,), ())),
    result="view",
    gives="arrays",
)
def broadcast_arrays(z, *args):
    d[args] = sum_to(d[z], args)


@tangent(np.broadcast_arrays)
def broadcast_arrays_tangent(z, *args):
    d[z] = broadcast_parts(d[args])


@adjoint.linear(broadcast_parts, forms=(("broadcast_parts((x, y))[0]", (3, 1), (4,)),), result="view", gives="arrays")
def broadcast_parts_adjoint(z, parts):
    d[parts] = sum_to(d[z], parts)


@adjoint.linear(
    np.choose,
    forms=(
        ("np.choose([0, 1, 1, 0], [x, y])", (4,), (4,)),
        ("np.choose(np.array([[0, 1], [1, 0]]), (x, y))", (2,), ()),
        ("np.choose([0, 5, -1], [x, y], mode='clip')", (3,), (3,)),
        ("np.choose([0, 5, -1], [x, y], mode='wrap')", (3,), (3,)),
    ),
)
def choose(z, a, choices, mode="raise"):
    d[choices] = choose_transpose(d[z], a, choices, mode)


@adjoint.linear(
    choose_transpose,
    zeros="made",
    forms=(("choose_transpose(x, [0, 1, 1], [y, z])[1]", (3,), (3,), (3,)),),
    gives="arrays",
)
def choose_transpose_adjoint(z, g, a, choices, mode="raise"):
    d[g] = np.choose(a, d[z], mode=mode)


@adjoint.linear(
    np.select,
    forms=(
        ("np.select([x > 0.5, x > 0.0], [x * x, y])", (4,), (4,)),
        ("np.select([x > 0.5, x < 0.0], (x * x, y), z)", (2, 3), (3,), ()),
        ("np.select([x > 0.5], [y], default=x)", (4,), ()),
    ),
    note="What is not selected gets 0.",
    gives="array",
)
def select(z, condlist, choicelist, default=0):
    d[choicelist] = select_transpose(d[z], condlist, choicelist)
    d[default] = sum_to(unselected(d[z], condlist), default)


@adjoint.linear(unselected, zeros="made", forms=(("unselected(x, [x > 0.5, x < 0.0])", (6,)),))
def unselected_adjoint(z, g, condlist):
    d[g] = unselected(d[z], condlist)


@adjoint.linear(
    select_transpose,
    zeros="made",
    forms=(("select_transpose(x, [x > 0.5, x > 0.0], [y, z])[1]", (4,), (4,), (4,)),),
    gives="arrays",
)
def select_transpose_adjoint(z, g, condlist, choicelist):
    d[g] = np.select(condlist, d[z])


@adjoint.linear(
    since("unstack"),
    forms=(("np.unstack(x)[1]", (3, 2)), ("np.unstack(x, axis=-1)[0]", (3, 2))),
    result="view",
    gives="arrays",
)
def unstack(z, x, *, axis=0):
    d[x] = np.stack(d[z], axis=axis)


@adjoint.composed(
    np.delete,
    forms=(
        ("np.delete(x, 1)", (4,)),
        ("np.delete(x, [0, -1])", (2, 3)),
        ("np.delete(x, slice(0, 3, 2), axis=0)", (4, 2)),
        ("np.delete(x, np.array([True, False, True]), -1)", (2, 3)),
    ),
)
def delete(arr, obj, axis=None):
    if axis is None:
        y = np.take(np.ravel(arr), np.delete(np.arange(np.size(arr)), obj))
    else:
        y = np.take(arr, np.delete(np.arange(np.shape(arr)[axis]), obj), axis=axis)
    return y


@adjoint.composed(
    np.insert,
    forms=(
        ("np.insert(x, 1, y)", (4,), ()),
        ("np.insert(x, [1, 3], y)", (2, 3), (2,)),
        ("np.insert(x, [0, 0, 2], y)", (4,), (3,)),
        ("np.insert(x, 1, y, axis=0)", (3, 2), (2,)),
        ("np.insert(x, 1, y, axis=1)", (3, 2), (3,)),
        ("np.insert(x, [0, 2], y, axis=1)", (3, 2), (3, 2)),
        ("np.insert(x, [0, 2], y, axis=1)", (3, 2), ()),
        ("np.insert(x, 1, y, axis=0)", (2, 3), (2, 3)),
        ("np.insert(x, 2, y, axis=-1)", (2, 3), (2, 2)),
        ("np.insert(x, [1], y, axis=1)", (3, 2), (3, 2)),
        ("np.insert(x, 1, y)", (4,), (3,)),
        ("np.insert(x, slice(1, 3), y, axis=0)", (3, 2), (2, 1)),
        ("np.insert(x, np.array([True, False, True]), y)", (3,), (2,)),
        ("np.insert(x, -1, [y, 2.0])", (3,), ()),
        ("np.insert(np.arange(3), 1, x)", ()),
        ("np.insert(x, 1, y, axis=1)", (2, 3, 2), (2,)),
    ),
)
def insert(arr, obj, values, axis=None):
    lines = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    n = np.shape(lines)[0]
    small, wide, along = insertion(np.shape(arr), obj, np.shape(values), axis)
    given = np.moveaxis(np.broadcast_to(np.reshape(values, small), wide), along, 0).astype(lines.dtype)
    order = np.insert(np.arange(n), obj, n + np.arange(wide[along]))
    y = np.take(np.concatenate((lines, given)), order, axis=0)
    if axis is not None:
        y = np.moveaxis(y, 0, axis)
    return y


@adjoint.composed(
    np.resize,
    forms=(("np.resize(x, (2, 3))", (4,)), ("np.resize(x, 2)", (2, 3)), ("np.resize(x, (5, 3))", (2, 2))),
)
def resize(a, new_shape):
    size = np.size(np.empty(new_shape))
    return np.reshape(np.take(np.ravel(a), np.arange(size) % np.size(a)), new_shape)


@adjoint.composed(
    np.trim_zeros,
    forms=(
        ("np.trim_zeros(x * np.array([0.0, 1.0, 0.0, 1.0, 0.0]))", (5,)),
        ("np.trim_zeros(x * np.array([0.0, 1.0, 0.0, 1.0, 0.0]), 'f')", (5,)),
        ("np.trim_zeros(x * np.array([0.0, 1.0, 0.0, 1.0, 0.0]), trim='b')", (5,)),
    ),
    note="Vectors only; the zeros that are cut off get 0.",
)
def trim_zeros(filt, trim="fb"):
    require_handled(np.ndim(filt) == 1, "np.trim_zeros of an array with several axes")
    kept = np.flatnonzero(filt)
    first = kept[0] if "f" in trim.lower() and len(kept) else 0
    last = kept[-1] + 1 if "b" in trim.lower() and len(kept) else len(filt)
    return filt[first : last if len(kept) else first]


@adjoint.composed(
    np.diagflat,
    forms=(("np.diagflat(x)", (3,)), ("np.diagflat(x, 1)", (2, 2)), ("np.diagflat(x, k=-1)", ())),
)
def diagflat(v, k=0):
    return np.diag(np.ravel(v), k)


@adjoint.composed(
    np.vander,
    forms=(
        ("np.vander(x)", (3,)),
        ("np.vander(x, 2)", (3,)),
        ("np.vander(x, N=4, increasing=True)", (3,)),
    ),
)
def vander(x, N=None, increasing=False):  # NumPy's own name
    count = len(x) if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return np.power(np.expand_dims(x, 1), powers)


@adjoint.composed(
    np.lib.stride_tricks.sliding_window_view,
    name="np.lib.stride_tricks.sliding_window_view",
    forms=(
        ("np.lib.stride_tricks.sliding_window_view(x, 3)", (5,)),
        ("np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)", (4, 2)),
        ("np.lib.stride_tricks.sliding_window_view(x, (2, 3))", (3, 4)),
        ("np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 0))", (3, 4)),
    ),
    result="view",
)
def sliding_window_view(x, window_shape, axis=None):
    windows = np.atleast_1d(window_shape)
    axes = np.arange(np.ndim(x)) if axis is None else np.atleast_1d(axis)
    y = x
    for k in range(len(windows)):
        count = np.shape(y)[axes[k]] - windows[k] + 1
        index = np.arange(count)[:, None] + np.arange(windows[k])
        y = np.moveaxis(np.take(y, index, axis=axes[k]), axes[k] + 1 if axes[k] >= 0 else axes[k], -1)
    return y
