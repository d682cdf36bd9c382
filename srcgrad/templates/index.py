"""Reading elements: subscripts, gathers along an axis, sorting, and linear interpolation."""

import operator

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, tangent
from srcgrad.runtime.layout import along_axis, axis_index
from srcgrad.runtime.scatter import entry, otherwise, scatter
from srcgrad.runtime.structure import add, zeros_like

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
)
def get(z, self, key, default=None):
    d[self] = entry(d[z], self, key)
    d[default] = otherwise(d[z], self, key)


@adjoint.linear(entry, forms=(("entry(x, {'a': y}, 'a')['a']", (3,), (3,)),))
def entry_adjoint(z, g, x, key):
    d[g] = add(zeros_like(g), d[z].get(key))


@adjoint.linear(otherwise, forms=(("otherwise(x, {'a': y}, 'b')", (3,), (3,)), ("otherwise(x, {'b': y}, 'b')", (), ())))
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
)
def compress(z, condition, a, axis=None):
    kept = np.flatnonzero(condition)
    if axis is None:
        d[a] = np.reshape(scatter(d[z], np.ravel(a), kept), np.shape(a))
    elif axis == 0:
        d[a] = scatter(d[z], a, kept)
    else:
        d[a] = scatter(d[z], a, axis_index(kept, a, axis))


@adjoint.linear(np.extract, forms=(("np.extract(x > 0.0, x)", (2, 3)),))
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
