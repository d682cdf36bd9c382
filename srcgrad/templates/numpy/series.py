"""Along an axis: running products and sums, steps and gradients, the trapezoidal rule, phases made continuous.

Each is written out in operations that have a rule, so that its derivatives are those of this text.
"""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.reductions import (
    gradient_transpose,
    gradients,
    products_before,
    recurrence,
    recurrence_back,
    shifted,
)
from srcgrad.templates.declarations import since, where_known


@adjoint(
    np.cumprod,
    forms=(
        ("np.cumprod(x)", (4,)),
        ("np.cumprod(x)", (2, 2)),
        ("np.cumprod(x, axis=0)", (3, 2)),
        ("np.cumprod(x, -1)", (2, 3)),
        ("np.cumprod(x * np.array([1.0, 0.0, 2.0, 3.0]))", (4,)),
        ("np.cumprod(x * np.array([1.0, 0.0, 2.0, 0.0]))", (4,)),
    ),
    note="Exact where elements are 0.",
    complex="conjugated",
    shape="accumulate",
    gives="array",
)
def cumprod(y, a, axis=None):
    if axis in (-3, -2, -1, 0, 1, 2, 3):
        d[a] = recurrence_back(d[y], a, axis) * products_before(a, axis)
    else:
        d[a] = recurrence_back(np.reshape(d[y], np.shape(a)), a, axis) * products_before(a, axis)


@tangent(np.cumprod)
def cumprod_tangent(y, a, axis=None):
    if axis in (-3, -2, -1, 0, 1, 2, 3):
        d[y] = recurrence(d[a] * products_before(a, axis), a, axis)
    else:
        d[y] = np.reshape(recurrence(d[a] * products_before(a, axis), a, axis), np.shape(y))


@adjoint(
    recurrence,
    forms=(("recurrence(x, y, 1)", (2, 3), (2, 3)), ("recurrence(x, y, None)", (2, 2), (2, 2))),
    complex="conjugated",
    linear=("g",),
)
def recurrence_adjoint(s, g, a, axis):
    below = recurrence_back(d[s], a, axis)
    d[g] = below
    d[a] = below * shifted(s, 1, axis)


@tangent(recurrence)
def recurrence_tangent(s, g, a, axis):
    d[s] = recurrence(d[g] + d[a] * shifted(s, 1, axis), a, axis)


@adjoint(
    recurrence_back,
    forms=(("recurrence_back(x, y, 1)", (2, 3), (2, 3)), ("recurrence_back(x, y, 0)", (3,), (3,))),
    complex="conjugated",
    linear=("g",),
)
def recurrence_back_adjoint(s, g, a, axis):
    above = recurrence(d[s], a, axis)
    d[g] = above
    d[a] = shifted(above, 1, axis) * s


@tangent(recurrence_back)
def recurrence_back_tangent(s, g, a, axis):
    d[s] = recurrence_back(d[g] + shifted(d[a] * s, -1, axis), a, axis)


@adjoint(
    products_before,
    forms=(("products_before(x, 1)", (2, 3)), ("products_before(x, None)", (2, 2))),
    complex="conjugated",
)
def products_before_adjoint(p, a, axis):
    d[a] = recurrence_back(shifted(d[p], -1, axis), a, axis) * p


@tangent(products_before)
def products_before_tangent(p, a, axis):
    d[p] = shifted(recurrence(d[a] * p, a, axis), 1, axis)


@adjoint.linear(shifted, forms=(("shifted(x, 1, 0)", (3, 2)), ("shifted(x, -1, 1)", (2, 3))), complex="conjugated")
def shifted_adjoint(z, x, by, axis):
    if by == -1:
        d[x] = shifted(d[z], 1, axis)
    else:
        d[x] = shifted(d[z], -by, axis)


@adjoint.composed(
    since("cumulative_sum"),
    forms=(
        ("np.cumulative_sum(x)", (4,)),
        ("np.cumulative_sum(x, axis=0)", (3, 2)),
        ("np.cumulative_sum(x, axis=-1, include_initial=True)", (2, 3)),
    ),
)
def cumulative_sum(x, *, axis=None, include_initial=False):
    y = np.cumsum(x, axis)
    if include_initial:
        along = -1 if axis is None else axis
        first = np.zeros_like(np.take(y, np.arange(1), axis=along))
        y = np.concatenate((first, y), axis=along)
    return y


@adjoint.composed(
    since("cumulative_prod"),
    forms=(
        ("np.cumulative_prod(x)", (4,)),
        ("np.cumulative_prod(x, axis=0)", (3, 2)),
        ("np.cumulative_prod(x, axis=-1, include_initial=True)", (2, 3)),
    ),
    note="Exact where elements are 0.",
)
def cumulative_prod(x, *, axis=None, include_initial=False):
    y = np.cumprod(x, axis)
    if include_initial:
        along = -1 if axis is None else axis
        first = np.ones_like(np.take(y, np.arange(1), axis=along))
        y = np.concatenate((first, y), axis=along)
    return y


@adjoint.composed(
    np.trapezoid,
    aliases=where_known("trapz"),
    forms=(
        ("np.trapezoid(x)", (4,)),
        ("np.trapezoid(x, dx=0.5)", (2, 4)),
        ("np.trapezoid(x, axis=0)", (3, 2)),
        ("np.trapezoid(x, y)", (4,), (4,)),
        ("np.trapezoid(x, y, axis=0)", (3, 2), (3,)),
        ("np.trapezoid(x, y, axis=1)", (2, 3), (2, 3)),
        ("np.trapezoid(x, None, y)", (4,), ()),
    ),
)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    heights = np.moveaxis(y, axis, -1)
    sums = heights[..., 1:] + heights[..., :-1]
    if x is None:
        area = np.sum(sums, axis=-1) * 0.5 * dx
    elif np.ndim(x) == 1:
        area = np.sum(sums * np.diff(x), axis=-1) * 0.5
    else:
        area = np.sum(sums * np.diff(np.moveaxis(x, axis, -1)), axis=-1) * 0.5
    return area


@adjoint.composed(
    np.ediff1d,
    forms=(
        ("np.ediff1d(x)", (4,)),
        ("np.ediff1d(x)", (2, 3)),
        ("np.ediff1d(x, y, to_begin=z)", (4,), (2,), ()),
    ),
)
def ediff1d(ary, to_end=None, to_begin=None):
    steps = np.diff(np.ravel(ary))
    if to_begin is not None:
        steps = np.concatenate((np.ravel(to_begin).astype(steps.dtype), steps))
    if to_end is not None:
        steps = np.concatenate((steps, np.ravel(to_end).astype(steps.dtype)))
    return steps


@adjoint.linear(
    np.gradient,
    refuses={"varargs": "spacings are taken as constants"},
    forms=(
        ("np.gradient(x)", (5,)),
        ("np.gradient(x, 0.5)", (5,)),
        ("np.gradient(x, edge_order=2)", (5,)),
        ("np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0, 3.5]))", (5,)),
        ("np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0, 3.5]), edge_order=2)", (5,)),
        ("np.gradient(x, axis=0)", (3, 2)),
        ("np.gradient(x, 2.0, axis=-1)", (2, 4)),
        ("np.gradient(x)[1]", (3, 4)),
        ("np.gradient(x, 0.5, np.array([0.0, 1.0, 3.0]))[0]", (2, 3)),
        ("np.gradient(x, axis=(1, 0))[0]", (3, 4)),
        ("np.gradient(x)", (2,)),
    ),
    note="Spacings are constants.",
)
def gradient(z, f, *varargs, axis=None, edge_order=1):
    d[f] = gradient_transpose(d[z], f, varargs, axis, edge_order)


@adjoint.linear(
    gradients,
    forms=(("gradients(x, (0.5,))", (5,)), ("gradients(x, (), 0, 2)", (4, 2))),
)
def gradients_adjoint(z, f, spacings, axis=None, edge_order=1):
    d[f] = gradient_transpose(d[z], f, spacings, axis, edge_order)


@adjoint.linear(
    gradient_transpose,
    zeros="added",
    forms=(
        ("gradient_transpose(x, y, ())", (5,), (5,)),
        ("gradient_transpose(x, y, (2.0,), 1, 2)", (2, 4), (2, 4)),
        ("gradient_transpose(np.stack([x, y]), x, ())", (3, 4), (3, 4)),
    ),
)
def gradient_transpose_adjoint(z, g, f, spacings, axis=None, edge_order=1):
    d[g] = gradients(d[z], spacings, axis, edge_order)


@adjoint(
    np.unwrap,
    refuses={"discont": "it is a bound", "period": "the number of periods depends on all elements before"},
    forms=(
        ("np.unwrap(x * 3.0)", (6,)),
        ("np.unwrap(x * 3.0, axis=0)", (4, 2)),
        ("np.unwrap(x * 3.0, discont=4.0, period=5.0)", (6,)),
    ),
)
def unwrap(z, p, discont=None, axis=-1, *, period=2.0 * np.pi):
    d[p] = d[z]


@tangent(np.unwrap)
def unwrap_tangent(z, p, discont=None, axis=-1, *, period=2.0 * np.pi):
    d[z] = d[p]
