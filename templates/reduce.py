"""Reductions along axes: sums, means, extremes, medians; running sums and differences.

A result that several elements share (a tie) spreads its gradient evenly over them. `ties` has the floating
type of `a`: a count of integers would turn float32 into float64. A `spread` inside an expression stands
beside operands of the shape of `a`, so that broadcasting may do its work.
"""

import builtins

import numpy as np

from srcgrad.rules import adjoint, d, tangent
from srcgrad.runtime import spread
from srcgrad.runtime.reduce import count, diff_transpose

from .forms import reduction_forms


@adjoint.linear(np.sum, forms=reduction_forms("np.sum"))
def total(y, a, axis=None, dtype=None, keepdims=False):
    d[a] = spread(d[y], a, axis, keepdims)


@adjoint.linear(
    builtins.sum,
    forms=(("sum(x)", (3, 4)), ("sum(x, y)", (3, 4), (4,)), ("sum(x * x)", (3,))),
)
def builtin_sum(y, iterable, start=0):
    d[iterable] = np.broadcast_to(d[y], np.shape(iterable))
    d[start] = d[y]


@adjoint(np.nansum, forms=reduction_forms("np.nansum"))
def nansum(y, a, axis=None, keepdims=False):
    if axis is None or keepdims:
        d[a] = np.where(np.isnan(a), 0.0, d[y])
    else:
        d[a] = np.where(np.isnan(a), 0.0, spread(d[y], a, axis, keepdims))


@tangent(np.nansum)
def nansum_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(np.where(np.isnan(a), 0.0, d[a]), axis=axis, keepdims=keepdims)


@adjoint.linear(np.mean, forms=reduction_forms("np.mean"))
def mean(y, a, axis=None, dtype=None, keepdims=False):
    if axis is None:
        d[a] = spread(d[y] / count(a), a, axis, keepdims)
    else:
        d[a] = spread(d[y] / count(a, axis), a, axis, keepdims)


@adjoint(np.nanmean, forms=reduction_forms("np.nanmean"))
def nanmean(y, a, axis=None, keepdims=False):
    present = np.where(np.isnan(a), 0.0, np.ones_like(a))
    n = np.sum(present, axis=axis, keepdims=True)
    d[a] = np.where(np.isnan(a), 0.0, spread(d[y], a, axis, keepdims)) / n


@tangent(np.nanmean)
def nanmean_tangent(y, a, axis=None, keepdims=False):
    present = np.where(np.isnan(a), 0.0, np.ones_like(a))
    n = np.sum(present, axis=axis, keepdims=True)
    d[y] = np.sum(np.where(np.isnan(a), 0.0, d[a]) / n, axis=axis, keepdims=keepdims)


@adjoint(
    np.max,
    forms=reduction_forms("np.max"),
    aliases=(np.amax, np.nanmax),
    note="Ties share the gradient evenly; nan gives nan.",
)
def largest(y, a, axis=None, keepdims=False):
    if axis is None and not keepdims:
        ties = a == y
        d[a] = d[y] * ties / np.count_nonzero(ties)
    elif keepdims:
        ties = np.ones_like(a) * (a == y)
        d[a] = d[y] * ties / np.sum(ties, axis=axis, keepdims=True)
    elif axis in (-3, -2, -1, 0, 1, 2, 3):
        ties = np.ones_like(a) * (a == np.expand_dims(y, axis))
        d[a] = np.expand_dims(d[y], axis) * ties / np.sum(ties, axis=axis, keepdims=True)
    else:
        ties = np.ones_like(a) * (a == spread(y, a, axis, keepdims))
        d[a] = spread(d[y], a, axis, keepdims) * ties / np.sum(ties, axis=axis, keepdims=True)


@tangent(np.max)
def largest_tangent(y, a, axis=None, keepdims=False):
    ties = np.ones_like(a) * (a == spread(y, a, axis, keepdims))
    share = ties / np.sum(ties, axis=axis, keepdims=True)
    d[y] = np.sum(share * d[a], axis=axis, keepdims=keepdims)


@adjoint(
    np.min,
    forms=reduction_forms("np.min"),
    aliases=(np.amin, np.nanmin),
    note="Ties share the gradient evenly; nan gives nan.",
)
def smallest(y, a, axis=None, keepdims=False):
    if axis is None and not keepdims:
        ties = a == y
        d[a] = d[y] * ties / np.count_nonzero(ties)
    elif keepdims:
        ties = np.ones_like(a) * (a == y)
        d[a] = d[y] * ties / np.sum(ties, axis=axis, keepdims=True)
    elif axis in (-3, -2, -1, 0, 1, 2, 3):
        ties = np.ones_like(a) * (a == np.expand_dims(y, axis))
        d[a] = np.expand_dims(d[y], axis) * ties / np.sum(ties, axis=axis, keepdims=True)
    else:
        ties = np.ones_like(a) * (a == spread(y, a, axis, keepdims))
        d[a] = spread(d[y], a, axis, keepdims) * ties / np.sum(ties, axis=axis, keepdims=True)


@tangent(np.min)
def smallest_tangent(y, a, axis=None, keepdims=False):
    ties = np.ones_like(a) * (a == spread(y, a, axis, keepdims))
    share = ties / np.sum(ties, axis=axis, keepdims=True)
    d[y] = np.sum(share * d[a], axis=axis, keepdims=keepdims)


@adjoint.linear(
    np.cumsum,
    forms=(
        ("np.cumsum(x)", (3, 4)),
        ("np.cumsum(x)", (5,)),
        ("np.cumsum(x, axis=0)", (3, 4)),
        ("np.cumsum(x, axis=-1)", (2, 3, 4)),
        ("np.cumsum(x, 1)", (3, 1)),
        ("np.cumsum(x, axis=len(x) - 2)", (3, 4)),
    ),
)
def cumsum(y, a, axis=None):
    if axis is None:
        d[a] = np.reshape(np.cumsum(d[y][::-1])[::-1], np.shape(a))
    elif axis in (-3, -2, -1, 0, 1, 2, 3):
        d[a] = np.flip(np.cumsum(np.flip(d[y], axis), axis), axis)
    else:
        d[a] = np.reshape(np.flip(np.cumsum(np.flip(d[y], axis), axis), axis), np.shape(a))


@adjoint.linear(
    np.diff,
    forms=(
        ("np.diff(x)", (5,)),
        ("np.diff(x, axis=0)", (3, 4)),
        ("np.diff(x, 2)", (3, 4)),
        ("np.diff(x, n=3, axis=-2)", (5, 2)),
        ("np.diff(x, n=0)", (4,)),
        ("np.diff(x)", (2, 1)),
    ),
)
def diff(y, a, n=1, axis=-1):
    d[a] = diff_transpose(d[y], a, n, axis)


@adjoint(
    np.ptp,
    forms=reduction_forms("np.ptp"),
    note="Ties share the gradient evenly; it is 0 where all elements are equal.",
)
def ptp(y, a, axis=None, keepdims=False):
    top = np.ones_like(a) * (a == np.max(a, axis=axis, keepdims=True))
    bottom = np.ones_like(a) * (a == np.min(a, axis=axis, keepdims=True))
    share = top / np.sum(top, axis=axis, keepdims=True) - bottom / np.sum(bottom, axis=axis, keepdims=True)
    if axis is None or keepdims:
        d[a] = d[y] * share
    else:
        d[a] = spread(d[y], a, axis, keepdims) * share


@tangent(np.ptp)
def ptp_tangent(y, a, axis=None, keepdims=False):
    top = np.ones_like(a) * (a == np.max(a, axis=axis, keepdims=True))
    bottom = np.ones_like(a) * (a == np.min(a, axis=axis, keepdims=True))
    share = top / np.sum(top, axis=axis, keepdims=True) - bottom / np.sum(bottom, axis=axis, keepdims=True)
    d[y] = np.sum(share * d[a], axis=axis, keepdims=keepdims)


@adjoint(
    np.median,
    forms=reduction_forms("np.median"),
    note="Of an even number of elements, each of the two in the middle gets half; ties share evenly.",
)
def median(y, a, axis=None, keepdims=False):
    middle = spread(y, a, axis, keepdims)
    lower = np.max(np.where(a <= middle, a, -np.inf), axis=axis, keepdims=True)
    upper = np.min(np.where(a >= middle, a, np.inf), axis=axis, keepdims=True)
    below = np.ones_like(a) * (a == lower)
    above = np.ones_like(a) * (a == upper)
    share = below / np.sum(below, axis=axis, keepdims=True) + above / np.sum(above, axis=axis, keepdims=True)
    if axis is None or keepdims:
        d[a] = 0.5 * d[y] * share
    else:
        d[a] = 0.5 * spread(d[y], a, axis, keepdims) * share


@tangent(np.median)
def median_tangent(y, a, axis=None, keepdims=False):
    middle = spread(y, a, axis, keepdims)
    lower = np.max(np.where(a <= middle, a, -np.inf), axis=axis, keepdims=True)
    upper = np.min(np.where(a >= middle, a, np.inf), axis=axis, keepdims=True)
    below = np.ones_like(a) * (a == lower)
    above = np.ones_like(a) * (a == upper)
    share = below / np.sum(below, axis=axis, keepdims=True) + above / np.sum(above, axis=axis, keepdims=True)
    d[y] = np.sum(0.5 * share * d[a], axis=axis, keepdims=keepdims)


@adjoint.linear(diff_transpose, forms=(("diff_transpose(x, y, 2, 0)", (3, 2), (5, 2)),))
def diff_transpose_adjoint(z, g, a, n=1, axis=-1):
    d[g] = np.diff(d[z], n, axis)
