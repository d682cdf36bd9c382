"""Reductions along axes: sums, products, means, variances, extremes, medians; running sums; all of them without nan."""

import builtins

import numpy as np

from srcgrad.core.rules import adjoint, d, reduction_forms, tangent
from srcgrad.runtime import spread, sum_to
from srcgrad.runtime.broadcast import summands
from srcgrad.runtime.reductions import (
    along_axes,
    along_axes_transpose,
    count,
    diff_transpose,
    max_or_least,
    merge_axes,
    min_or_most,
    prod_without,
    prod_without_tangent,
    share,
    split_axes,
)
from srcgrad.runtime.singular import root


@adjoint.linear(np.sum, forms=reduction_forms("np.sum"), shape="reduce", complex="conjugated")
def total(y, a, axis=None, dtype=None, keepdims=False):
    d[a] = spread(d[y], a, axis, keepdims)


@adjoint.linear(
    builtins.sum,
    forms=(
        ("sum(x)", (3, 4)),
        ("sum(x, y)", (3, 4), (4,)),
        ("sum(x, y)", (3, 4), ()),
        ("sum(x, y)", (3,), (2, 1)),
        ("sum(x * x)", (3,)),
    ),
    complex="conjugated",
)
def builtin_sum(y, iterable, start=0):
    d[iterable] = summands(d[y], iterable)
    d[start] = sum_to(d[y], start)


@adjoint(np.nansum, along="reduced", asks=(np.nansum,), forms=reduction_forms("np.nansum"), linear=("a",))
def nansum(y, a, axis=None, keepdims=False):
    if axis is None or keepdims:
        d[a] = np.where(np.isnan(a), 0.0, d[y])
    else:
        d[a] = np.where(np.isnan(a), 0.0, spread(d[y], a, axis, keepdims))


@tangent(np.nansum)
def nansum_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(np.where(np.isnan(a), 0.0, d[a]), axis=axis, keepdims=keepdims)


@adjoint.linear(np.mean, forms=reduction_forms("np.mean"), shape="reduce", complex="conjugated")
def mean(y, a, axis=None, dtype=None, keepdims=False):
    if axis is None:
        d[a] = spread(d[y] / count(a), a, axis, keepdims)
    else:
        d[a] = spread(d[y] / count(a, axis), a, axis, keepdims)


@adjoint(np.nanmean, along="reduced", asks=(np.nanmean,), forms=reduction_forms("np.nanmean"), linear=("a",))
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
    shape="reduce",
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
    shape="reduce",
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


@adjoint(max_or_least, forms=reduction_forms("max_or_least"), shape="reduce")
def largest_or_least(y, a, axis=None, keepdims=False):
    d[a] = share(d[y], a, y, axis, keepdims)


@tangent(max_or_least)
def largest_or_least_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[a], axis=axis, keepdims=keepdims)


@adjoint(min_or_most, forms=reduction_forms("min_or_most"), shape="reduce")
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
    shape="accumulate",
    complex="conjugated",
    gives="array",
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
    showing={"n": (0,)},
    shape="difference",
    complex="conjugated",
    gives="array",
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
    shape="a",
)
def share_adjoint(z, g, a, y, axis=None, keepdims=False):
    d[g] = np.sum(share(np.ones_like(y), a, y, axis, keepdims) * d[z], axis=axis, keepdims=keepdims)


@adjoint.linear(
    diff_transpose,
    zeros="added",
    forms=(("diff_transpose(x, y, 2, 0)", (3, 2), (5, 2)),),
    outline="a",
    complex="conjugated",
)
def diff_transpose_adjoint(z, g, a, n=1, axis=-1):
    d[g] = np.diff(d[z], n, axis)


@adjoint(
    np.prod,
    forms=(*reduction_forms("np.prod"), ("np.prod(x * np.array([1.0, 0.0, 2.0]), axis=1)", (2, 3))),
    note="Exact where elements are 0.",
    shape="reduce",
    complex="conjugated",
)
def prod(y, a, axis=None, keepdims=False):
    if axis is None:
        d[a] = d[y] * prod_without(a)
    else:
        d[a] = spread(d[y], a, axis, keepdims) * prod_without(a, axis)


@tangent(np.prod)
def prod_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(prod_without(a, axis) * d[a], axis=axis, keepdims=keepdims)


@adjoint(prod_without, forms=(("prod_without(x, 0)", (3, 2)), ("prod_without(x)", (2, 2))), complex="conjugated")
def prod_without_adjoint(z, a, axis=None):
    d[a] = prod_without_tangent(d[z], a, axis)


@tangent(prod_without)
def prod_without_forward(z, a, axis=None):
    d[z] = prod_without_tangent(d[a], a, axis)


@adjoint(
    prod_without_tangent,
    forms=(("prod_without_tangent(x, y, (0, 2))", (2, 3, 2), (2, 3, 2)),),
    note="Its derivative with respect to a takes memory of the square of the number of factors.",
    complex="conjugated",
    linear=("a_dot",),
)
def prod_without_tangent_adjoint(z, a_dot, a, axis=None):
    lines = merge_axes(a, axis)[..., None, :]
    dots = merge_axes(a_dot, axis)[..., None, :]
    apart = np.eye(np.shape(lines)[-1]) == 0.0
    rest = prod_without_tangent(np.where(apart, dots, 0.0), np.where(apart, lines, 1.0), -1)
    pairs = np.where(apart, rest, 0.0)  # row k, column m: the products without the factors k and m
    d[a_dot] = prod_without_tangent(d[z], a, axis)
    d[a] = split_axes(np.sum(merge_axes(d[z], axis)[..., :, None] * pairs, axis=-2), a, axis)


@tangent(prod_without_tangent)
def prod_without_tangent_forward(z, a_dot, a, axis=None):
    lines = merge_axes(a, axis)[..., None, :]
    dots = merge_axes(a_dot, axis)[..., None, :]
    apart = np.eye(np.shape(lines)[-1]) == 0.0
    rest = prod_without_tangent(np.where(apart, dots, 0.0), np.where(apart, lines, 1.0), -1)
    pairs = np.where(apart, rest, 0.0)
    d[z] = prod_without_tangent(d[a_dot], a, axis) + split_axes(
        np.sum(merge_axes(d[a], axis)[..., :, None] * pairs, axis=-2), a, axis
    )


@adjoint.linear(
    merge_axes,
    zeros="kept",
    forms=(("merge_axes(x, (2, 0))", (2, 3, 4)), ("merge_axes(x)", (2, 3))),
    result="view",
    complex="conjugated",
)
def merge_axes_adjoint(z, a, axis=None):
    d[a] = split_axes(d[z], a, axis)


@adjoint.linear(
    split_axes,
    zeros="kept",
    forms=(("split_axes(x, y, (2, 0))", (3, 8), (2, 3, 4)),),
    result="view",
    complex="conjugated",
)
def split_axes_adjoint(z, g, a, axis=None):
    d[g] = merge_axes(d[z], axis)


def _moment_forms(name):
    """Calls of a moment: those of every reduction of more than one element, and the divisors."""
    return (
        (f"{name}(x)", (3, 4)),
        (f"{name}(x, axis=0)", (3, 4)),
        (f"{name}(x, axis=-1)", (2, 3, 4)),
        (f"{name}(x, axis=(0, -1))", (2, 3, 2)),
        (f"{name}(x, axis=1, keepdims=True)", (2, 3)),
        (f"{name}(x, keepdims=True)", (2, 3)),
        (f"{name}(x, ddof=1)", (3, 4)),
        (f"{name}(x, axis=-2, ddof=1, keepdims=True)", (3, 4)),
        (f"{name}(x, axis=1, correction=1)", (3, 4)),
        (f"{name}(x, axis=(2, 0), correction=0.5)", (2, 3, 2)),
        (f"{name}(x, axis=len(x) - 2, ddof=len(x) - 2)", (3, 4)),
        (f"{name}(x, correction=len(x) - 2)", (3, 4)),
    )


@adjoint(np.var, forms=(*_moment_forms("np.var"), ("np.var(x)", ()), ("np.var(x, axis=1)", (3, 1))), shape="reduce")
def var(y, a, axis=None, ddof=0, keepdims=False, correction=None):
    if axis is None:
        n = np.size(a)
        centred = a - np.mean(a)
    else:
        n = count(a, axis)
        centred = a - np.mean(a, axis=axis, keepdims=True)
    if correction is None and ddof == 0:
        freedom = n
    elif correction is None:
        freedom = n - ddof
    else:
        freedom = n - correction
    if axis is None or keepdims:
        d[a] = d[y] * 2.0 * centred / freedom
    elif axis in (-3, -2, -1, 0, 1, 2, 3):
        d[a] = np.expand_dims(d[y], axis) * 2.0 * centred / freedom
    else:
        d[a] = spread(d[y], a, axis, keepdims) * 2.0 * centred / freedom


@tangent(np.var)
def var_tangent(y, a, axis=None, ddof=0, keepdims=False, correction=None):
    if correction is None:
        freedom = count(a, axis) - ddof
    else:
        freedom = count(a, axis) - correction
    centred = a - np.mean(a, axis=axis, keepdims=True)
    d[y] = np.sum(2.0 * centred * d[a], axis=axis, keepdims=keepdims) / freedom


@adjoint(
    np.std,
    length=True,
    forms=_moment_forms("np.std"),
    note="The gradient is 0 where all elements are equal.",
    shape="reduce",
)
def std(y, a, axis=None, ddof=0, keepdims=False, correction=None):
    if axis is None:
        n = np.size(a)
        centred = a - np.mean(a)
    else:
        n = count(a, axis)
        centred = a - np.mean(a, axis=axis, keepdims=True)
    if correction is None and ddof == 0:
        freedom = n
    elif correction is None:
        freedom = n - ddof
    else:
        freedom = n - correction
    deviation = np.where(0.0 == y, np.inf, y)  # noqa: SIM300
    if axis is None or keepdims:
        d[a] = d[y] * centred / (freedom * deviation)
    elif axis in (-3, -2, -1, 0, 1, 2, 3):
        d[a] = np.expand_dims(d[y] / (freedom * deviation), axis) * centred
    else:
        d[a] = spread(d[y] / (freedom * deviation), a, axis, keepdims) * centred


@tangent(np.std)
def std_tangent(y, a, axis=None, ddof=0, keepdims=False, correction=None):
    if correction is None:
        freedom = count(a, axis) - ddof
    else:
        freedom = count(a, axis) - correction
    centred = a - np.mean(a, axis=axis, keepdims=True)
    d[y] = np.sum(centred * d[a], axis=axis, keepdims=keepdims) / (freedom * np.where(0.0 == y, np.inf, y))  # noqa: SIM300


@adjoint(
    np.average,
    along="reduced",
    forms=(
        *reduction_forms("np.average"),
        ("np.average(x, weights=np.exp(y))", (3, 4), (3, 4)),
        ("np.average(x, axis=1, weights=np.exp(y))", (3, 4), (3, 4)),
        ("np.average(x, axis=1, weights=np.exp(y))", (3, 4), (4,)),
        ("np.average(x, axis=0, weights=np.exp(y), keepdims=True)", (3, 3), (3,)),
        ("np.average(x, axis=(2, 0), weights=np.exp(y))", (2, 3, 4), (4, 2)),
    ),
    complex="conjugated",
    linear=("a",),
)
def average(y, a, axis=None, weights=None, keepdims=False):
    if weights is None and axis is None:
        d[a] = spread(d[y] / count(a), a, axis, keepdims)
    elif weights is None:
        d[a] = spread(d[y] / count(a, axis), a, axis, keepdims)
    elif axis is None:
        d[a] = d[y] * weights / np.sum(weights)
        d[weights] = d[y] * (a - y) / np.sum(weights)
    else:
        wide = along_axes(weights, a, axis)
        part = spread(d[y], a, axis, keepdims) / np.sum(wide, axis=axis, keepdims=True)
        d[a] = part * wide
        d[weights] = along_axes_transpose(sum_to(part * (a - spread(y, a, axis, keepdims)), wide), weights, axis)


@tangent(np.average)
def average_tangent(y, a, axis=None, weights=None, keepdims=False):
    if weights is None:
        d[y] = np.mean(d[a], axis=axis, keepdims=keepdims)
    else:
        wide = along_axes(weights, a, axis)
        whole = np.sum(wide, axis=axis, keepdims=True)
        off = a - spread(y, a, axis, keepdims)
        d[y] = np.sum(wide * d[a] / whole, axis=axis, keepdims=keepdims) + np.sum(
            off * along_axes(d[weights], a, axis) / whole, axis=axis, keepdims=keepdims
        )


@adjoint.linear(
    along_axes,
    forms=(
        ("along_axes(x, y, 0)", (2,), (2, 3)),
        ("along_axes(x, y, (2, 0))", (4, 2), (2, 3, 4)),
        ("along_axes(x, y, 1)", (2, 3), (2, 3)),
    ),
    result="view",
    complex="conjugated",
)
def along_axes_adjoint(z, weights, a, axis):
    d[weights] = along_axes_transpose(d[z], weights, axis)


@adjoint.linear(
    along_axes_transpose,
    forms=(("along_axes_transpose(x, y, 0)", (2, 1), (2,)), ("along_axes_transpose(x, y, 0)", (2,), (2,))),
    result="view",
    complex="conjugated",
)
def along_axes_transpose_adjoint(z, g, weights, axis):
    d[g] = along_axes(d[z], g, axis)


SOME = "np.where(x > 1.0, np.nan, x)"


def _forms(name):
    """Calls of a reduction on an array some of whose elements are nan, along all kinds of axes."""
    return (
        (f"{name}({SOME})", (3, 4)),
        (f"{name}({SOME}, axis=0)", (6, 2)),
        (f"{name}({SOME}, axis=-1, keepdims=True)", (2, 6)),
        (f"{name}({SOME}, axis=(0, 2))", (3, 2, 3)),
    )


@adjoint.composed(np.nanprod, forms=(*reduction_forms("np.nanprod"), *_forms("np.nanprod")))
def nanprod(a, axis=None, *, keepdims=False):
    return np.prod(np.where(np.isnan(a), 1.0, a), axis=axis, keepdims=keepdims)


@adjoint.composed(
    np.nancumsum,
    forms=(
        (f"np.nancumsum({SOME})", (2, 3)),
        (f"np.nancumsum({SOME}, axis=0)", (6, 2)),
        ("np.nancumsum(x, 1)", (2, 3)),
    ),
)
def nancumsum(a, axis=None):
    present = np.where(np.isnan(a), 0.0, a)
    return np.cumsum(present) if axis is None else np.cumsum(present, axis)


@adjoint.composed(
    np.nancumprod,
    forms=((f"np.nancumprod({SOME})", (4,)), (f"np.nancumprod({SOME}, axis=0)", (4, 2))),
)
def nancumprod(a, axis=None):
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis)


@adjoint.composed(
    np.nanvar,
    forms=(*_forms("np.nanvar"), ("np.nanvar(x, axis=1, ddof=1)", (2, 4)), ("np.nanvar(x)", (3, 4))),
)
def nanvar(a, axis=None, *, ddof=0, keepdims=False):
    absent = np.isnan(a)
    present = np.where(absent, 0.0, np.ones_like(a))
    total = np.sum(np.where(absent, 0.0, a), axis=axis, keepdims=True)
    mean = total / np.sum(present, axis=axis, keepdims=True)
    off = np.where(absent, 0.0, a - mean)
    return np.sum(off * off, axis=axis, keepdims=keepdims) / (np.sum(present, axis=axis, keepdims=keepdims) - ddof)


@adjoint.composed(
    np.nanstd,
    forms=(*_forms("np.nanstd"), ("np.nanstd(x, axis=1, ddof=1)", (2, 4)), ("np.nanstd(x)", (3, 4))),
    note="The gradient is 0 where all elements are equal.",
)
def nanstd(a, axis=None, *, ddof=0, keepdims=False):
    variance = np.nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return root(variance)
