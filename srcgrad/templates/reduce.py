"""Reductions along axes: sums, means, extremes, medians; running sums and differences.

A result that several elements share (a tie) spreads its gradient evenly over them. A `spread` inside an
expression stands beside operands of the shape of `a`, so that broadcasting may do its work.
"""

import builtins

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import spread
from srcgrad.runtime.broadcast import summands
from srcgrad.runtime.reduce import count, diff_transpose, max_or_least, min_or_most, share

from .forms import reduction_forms


@adjoint.linear(np.sum, forms=reduction_forms("np.sum"))
def total(y, a, axis=None, dtype=None, keepdims=False):
    d[a] = spread(d[y], a, axis, keepdims)


@adjoint.linear(
    builtins.sum,
    forms=(("sum(x)", (3, 4)), ("sum(x, y)", (3, 4), (4,)), ("sum(x * x)", (3,))),
)
def builtin_sum(y, iterable, start=0):
    d[iterable] = summands(d[y], iterable)
    d[start] = d[y]


@adjoint(np.nansum, asks=(np.nansum,), forms=reduction_forms("np.nansum"))
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


@adjoint(np.nanmean, asks=(np.nanmean,), forms=reduction_forms("np.nanmean"))
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
    asks=(np.nanmax,),
    forms=reduction_forms("np.max"),
    aliases=(np.amax, np.nanmax),
    note="Ties share the gradient evenly; nan gives nan, and gets 0 in `np.nanmax`.",
)
def largest(y, a, axis=None, keepdims=False):
    if axis is None and not keepdims:
        ties = a == y
        d[a] = d[y] * ties / np.count_nonzero(ties)
    else:
        d[a] = share(d[y], a, y, axis, keepdims)


@tangent(np.max)
def largest_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[a], axis=axis, keepdims=keepdims)


@adjoint(
    np.min,
    asks=(np.nanmin,),
    forms=reduction_forms("np.min"),
    aliases=(np.amin, np.nanmin),
    note="Ties share the gradient evenly; nan gives nan, and gets 0 in `np.nanmin`.",
)
def smallest(y, a, axis=None, keepdims=False):
    if axis is None and not keepdims:
        ties = a == y
        d[a] = d[y] * ties / np.count_nonzero(ties)
    else:
        d[a] = share(d[y], a, y, axis, keepdims)


@tangent(np.min)
def smallest_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[a], axis=axis, keepdims=keepdims)


@adjoint(max_or_least, forms=reduction_forms("max_or_least"))
def largest_or_least(y, a, axis=None, keepdims=False):
    d[a] = share(d[y], a, y, axis, keepdims)


@tangent(max_or_least)
def largest_or_least_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[a], axis=axis, keepdims=keepdims)


@adjoint(min_or_most, forms=reduction_forms("min_or_most"))
def smallest_or_most(y, a, axis=None, keepdims=False):
    d[a] = share(d[y], a, y, axis, keepdims)


@tangent(min_or_most)
def smallest_or_most_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[a], axis=axis, keepdims=keepdims)


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
    if axis is None or np.ndim(a) == 0:
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
    top = np.max(a, axis=axis, keepdims=keepdims)
    bottom = np.min(a, axis=axis, keepdims=keepdims)
    d[a] = share(d[y], a, top, axis, keepdims) - share(d[y], a, bottom, axis, keepdims)


@tangent(np.ptp)
def ptp_tangent(y, a, axis=None, keepdims=False):
    top = np.max(a, axis=axis, keepdims=keepdims)
    bottom = np.min(a, axis=axis, keepdims=keepdims)
    one = np.ones_like(y)
    weights = share(one, a, top, axis, keepdims) - share(one, a, bottom, axis, keepdims)
    d[y] = np.sum(weights * d[a], axis=axis, keepdims=keepdims)


@adjoint(
    np.median,
    forms=reduction_forms("np.median"),
    note="Of an even number of elements, each of the two in the middle gets half; ties share evenly.",
)
def median(y, a, axis=None, keepdims=False):
    middle = spread(y, a, axis, keepdims)
    lower = np.max(np.where(a <= middle, a, -np.inf), axis=axis, keepdims=keepdims)
    upper = np.min(np.where(a >= middle, a, np.inf), axis=axis, keepdims=keepdims)
    d[a] = share(0.5 * d[y], a, lower, axis, keepdims) + share(0.5 * d[y], a, upper, axis, keepdims)


@tangent(np.median)
def median_tangent(y, a, axis=None, keepdims=False):
    middle = spread(y, a, axis, keepdims)
    lower = np.max(np.where(a <= middle, a, -np.inf), axis=axis, keepdims=keepdims)
    upper = np.min(np.where(a >= middle, a, np.inf), axis=axis, keepdims=keepdims)
    half = np.full_like(y, 0.5)
    weights = share(half, a, lower, axis, keepdims) + share(half, a, upper, axis, keepdims)
    d[y] = np.sum(weights * d[a], axis=axis, keepdims=keepdims)


@adjoint.linear(
    share,
    zeros="made",
    forms=(
        ("share(x, y, np.max(y, axis=1), 1)", (3,), (3, 4)),
        ("share(x, y, np.min(y, axis=0, keepdims=True), 0, True)", (1, 4), (3, 4)),
        ("share(x, y, np.max(y))", (), (3,)),
    ),
)
def share_adjoint(z, g, a, y, axis=None, keepdims=False):
    d[g] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[z], axis=axis, keepdims=keepdims)


@adjoint.linear(diff_transpose, zeros="added", forms=(("diff_transpose(x, y, 2, 0)", (3, 2), (5, 2)),))
def diff_transpose_adjoint(z, g, a, n=1, axis=-1):
    d[g] = np.diff(d[z], n, axis)
