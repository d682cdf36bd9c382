"""Order statistics: quantiles of every method, and partial sorts; covariances, correlations, and sums by bins.

What runs over all rows, neither a sum nor a mean, by sums and means, where rows come in blocks: a maximum is taken over
the blocks for its value, and its derivative goes to the rows that reach it, in equal parts.
"""

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, declare_total, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.hooks import stop_gradient
from srcgrad.runtime.layout import add_at
from srcgrad.runtime.reductions import (
    binned,
    fraction,
    groups_below,
    merge_axes,
    of_bins,
    quantile_place,
    quantile_slope,
    quantile_type,
)
from srcgrad.runtime.singular import root

# ruff: noqa: RUF005 - unpacking with `*` is outside of the accepted Python

constants([quantile_slope, quantile_type])
constants([groups_below], result="argument")

FORMS = (
    ("{name}(x, {half})", (5,)),
    ("{name}(x, {half}, axis=0)", (4, 3)),
    ("{name}(x, np.array([{low}, {high}]), axis=-1)", (2, 5)),
    ("{name}(x, [{low}, {high}], axis=1, keepdims=True)", (2, 5)),
    ("{name}(x, {low}, axis=(0, 2))", (3, 2, 3)),
    ("{name}(x, {low}, keepdims=True)", (3, 2)),
    ("{name}(x, {low} + {scale} * y)", (6,), ()),
    ("{name}(x, {low} + {scale} * y, axis=0)", (6, 2), (2,)),
    *((f"{{name}}(x, {{high}}, axis=0, method='{method}')", (7, 2)) for method in (
        "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
        "weibull", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
    )),
    ("{name}(x, {low} + {scale} * y, method='weibull')", (6,), ()),
)  # fmt: skip


def _forms(name, whole):
    """The forms for fractions (a whole of 1), or for percentages."""
    numbers = {"half": 0.5 * whole, "low": 0.23 * whole, "high": 0.81 * whole, "scale": 0.01 * whole}
    return tuple((call.format(name=name, **numbers), *shapes) for call, *shapes in FORMS)


@adjoint.composed(
    np.quantile,
    forms=_forms("np.quantile", 1.0),
    note="Equal elements keep their order; at a kink the slope on the right. No weights.",
)
def quantile(a, q, axis=None, *, method="linear", keepdims=False):
    lines = np.moveaxis(np.sort(merge_axes(a, axis), axis=-1), -1, 0)
    place = quantile_place(q, np.shape(lines)[0], method).astype(quantile_type(lines, q, method))
    whole = np.floor(place)
    below = whole.astype(int)
    above = np.minimum(below + 1, np.shape(lines)[0] - 1)
    part = np.reshape(place - whole, np.shape(below) + (1,) * (np.ndim(lines) - 1))
    low = np.take(lines, below, axis=0)
    y = low + part * (np.take(lines, above, axis=0) - low)
    y = np.where(np.isnan(lines[-1]), np.nan, y)[()]
    if keepdims:
        y = np.reshape(y, np.shape(q) + np.shape(np.any(a, axis=axis, keepdims=True)))
    return y


@adjoint.composed(
    np.percentile,
    forms=_forms("np.percentile", 100.0),
    note="As np.quantile.",
)
def percentile(a, q, axis=None, *, method="linear", keepdims=False):
    return np.quantile(a, fraction(q), axis=axis, method=method, keepdims=keepdims)


SOME = "np.where(x > 1.0, np.nan, x)"


@adjoint.composed(
    np.nanquantile,
    forms=(
        *_forms("np.nanquantile", 1.0),
        (f"np.nanquantile({SOME}, 0.3)", (3, 4)),
        (f"np.nanquantile({SOME}, [0.3, 0.8], axis=0)", (7, 2)),
        (f"np.nanquantile({SOME}, 0.7, axis=(0, 2), method='hazen')", (3, 2, 3)),
    ),
    note="As np.quantile; elements that are nan are left out.",
)
def nanquantile(a, q, axis=None, *, method="linear", keepdims=False):
    lines = np.moveaxis(np.sort(merge_axes(a, axis), axis=-1), -1, 0)
    present = np.count_nonzero(np.logical_not(np.isnan(lines)), axis=0)
    place = quantile_place(q, present, method).astype(quantile_type(lines, q, method))
    whole = np.floor(place)
    below = whole.astype(int)
    above = np.minimum(below + 1, np.maximum(present - 1, 0))
    flat = (-1,) + np.shape(lines)[1:]
    low = np.reshape(np.take_along_axis(lines, np.reshape(below, flat), axis=0), np.shape(below))
    high = np.reshape(np.take_along_axis(lines, np.reshape(above, flat), axis=0), np.shape(below))
    y = (low + (place - whole) * (high - low))[()]
    if keepdims:
        y = np.reshape(y, np.shape(q) + np.shape(np.any(a, axis=axis, keepdims=True)))
    return y


@adjoint.composed(
    np.nanpercentile,
    forms=(*_forms("np.nanpercentile", 100.0), (f"np.nanpercentile({SOME}, 30.0, axis=0)", (7, 2))),
    note="As np.nanquantile.",
)
def nanpercentile(a, q, axis=None, *, method="linear", keepdims=False):
    return np.nanquantile(a, fraction(q), axis=axis, method=method, keepdims=keepdims)


@adjoint.composed(
    np.nanmedian,
    forms=(
        (f"np.nanmedian({SOME})", (3, 4)),
        (f"np.nanmedian({SOME}, axis=0)", (6, 2)),
        (f"np.nanmedian({SOME}, axis=-1, keepdims=True)", (2, 6)),
        ("np.nanmedian(x, axis=(0, 1))", (3, 2, 3)),
    ),
    note="Of an even number of elements, each of the two in the middle gets half.",
)
def nanmedian(a, axis=None, *, keepdims=False):
    return np.nanquantile(a, 0.5, axis=axis, keepdims=keepdims)


@adjoint.composed(
    np.partition,
    forms=(
        ("np.partition(x, 2)[2]", (5,)),
        ("np.partition(x, 1, axis=0)[1]", (4, 3)),
        ("np.partition(x, 2, axis=None)[2]", (2, 3)),
        ("np.partition(x, [0, 1, 2])", (4,)),
    ),
    note="Elements come to places that np.argpartition tells.",
)
def partition(a, kth, axis=-1, kind="introselect"):
    lines = np.ravel(a) if axis is None else np.moveaxis(a, axis, -1)
    y = np.take_along_axis(lines, np.argpartition(lines, kth, kind=kind), axis=-1)
    if axis is not None:
        y = np.moveaxis(y, -1, axis)
    return y


@adjoint(fraction, forms=(("fraction(x)", (3,)), ("fraction(x)", ()), ("fraction(x)", None)))
def fraction_adjoint(z, q):
    d[q] = d[z] / 100.0


@tangent(fraction)
def fraction_tangent(z, q):
    d[z] = d[q] / 100.0


@adjoint(
    quantile_place,
    domain={"x": (0.1, 0.9)},
    forms=(
        ("quantile_place(x, 7)", (3,)),
        ("quantile_place(x, 7, 'weibull')", ()),
        ("quantile_place(x, np.array([3, 5]), 'hazen')", (3,)),
    ),
)
def quantile_place_adjoint(z, q, n, method="linear"):
    d[q] = sum_to(np.reshape(d[z] * quantile_slope(q, n, method), np.shape(q) + (-1,)), np.expand_dims(q, -1))[..., 0]


@tangent(quantile_place)
def quantile_place_tangent(z, q, n, method="linear"):
    d[z] = np.reshape(d[q], np.shape(q) + (1,) * np.ndim(n)) * quantile_slope(q, n, method)


@adjoint.composed(
    np.cov,
    forms=(
        ("np.cov(x)", (3, 4)),
        ("np.cov(x)", (4,)),
        ("np.cov(x, y)", (4,), (4,)),
        ("np.cov(x, y)", (2, 4), (1, 4)),
        ("np.cov(x, rowvar=False)", (4, 3)),
        ("np.cov(x, y, rowvar=False)", (4, 2), (4, 1)),
        ("np.cov(x, bias=True)", (3, 4)),
        ("np.cov(x, ddof=0)", (3, 4)),
        ("np.cov(x, fweights=np.array([1, 2, 1, 3]))", (3, 4)),
        ("np.cov(x, aweights=np.exp(y))", (3, 4), (4,)),
        ("np.cov(x, ddof=1, fweights=np.array([1, 2, 1, 3]), aweights=np.exp(y))", (3, 4), (4,)),
    ),
)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    rows = np.atleast_2d(m)
    if not rowvar and np.ndim(m) != 1:
        rows = rows.T
    if y is not None:
        others = np.atleast_2d(y)
        if not rowvar and np.shape(others)[0] != 1:
            others = others.T
        rows = np.pad(rows, ((0, len(others)), (0, 0))) + np.pad(others, ((len(rows), 0), (0, 0)))
    if ddof is not None:
        lost = ddof
    elif bias:
        lost = 0
    else:
        lost = 1
    weights = np.ones(np.shape(rows)[1])
    if fweights is not None:
        weights = weights * fweights
    spread = np.sum(weights)
    if aweights is not None:
        weights = weights * aweights
        spread = np.sum(weights * aweights)
    total = np.sum(weights)
    mean = np.sum(rows * weights, axis=1, keepdims=True) / total
    off = rows - mean
    return np.squeeze((off * weights) @ np.conj(off).T / (total - lost * spread / total))


@adjoint.composed(
    np.corrcoef,
    forms=(
        ("np.corrcoef(x)", (3, 4)),
        ("np.corrcoef(x, y)", (4,), (4,)),
        ("np.corrcoef(x, rowvar=False)", (4, 3)),
    ),
)
def corrcoef(x, y=None, rowvar=True):
    c = np.atleast_2d(np.cov(x, y, rowvar))
    deviation = np.sqrt(np.real(np.diag(c)))
    return np.squeeze(c / np.expand_dims(deviation, 1) / deviation)[()]


@adjoint.linear(
    np.bincount,
    refuses={"x": "it holds integers, which name bins"},
    forms=(
        ("np.bincount(np.array([0, 2, 2, 1]), x)", (4,)),
        ("np.bincount([0, 2, 2, 1], weights=x, minlength=6)", (4,)),
    ),
    note="The gradient is that of the weights.",
    gives="array",
)
def bincount(z, x, weights=None, minlength=0):
    d[weights] = sum_to(d[z][np.asarray(x)], weights)


JUMPS = "sums jump where an element crosses an edge"


@adjoint(
    np.histogram,
    results=(("hist", None), ("bin_edges", None)),
    refuses={"a": JUMPS, "bins": JUMPS, "range": JUMPS},
    literals={"density": (None, False, True)},
    forms=(
        ("np.histogram([0.2, 0.5, 0.9, 1.0, 3.0], 4, weights=x)[0]", (5,)),
        ("np.histogram([[0.2, 0.5, 0.9], [1.0, 3.0, -1.0]], [0.0, 0.5, 1.0, 2.0], weights=x)[0]", (2, 3)),
        ("np.histogram([0.2, 0.5, 0.9], bins=3, range=(0.0, 1.0), weights=3.0 + x, density=True)[0]", (3,)),
    ),
    note="The gradient is that of the weights.",
)
def histogram(z, a, bins=10, range=None, density=None, weights=None):
    if density:
        total = np.sum(binned(weights, a, z[1]))
        inner = d[z][0] / np.diff(z[1]) - np.sum(d[z][0] * z[0])
        d[weights] = of_bins(inner / total, a, z[1])
    else:
        d[weights] = of_bins(d[z][0], a, z[1])


@tangent(np.histogram)
def histogram_tangent(z, a, bins=10, range=None, density=None, weights=None):
    if density:
        total = np.sum(binned(weights, a, z[1]))
        sums = binned(d[weights], a, z[1])
        d[z] = ((sums / np.diff(z[1]) - z[0] * np.sum(sums)) / total, np.zeros_like(z[1]))
    else:
        d[z] = (binned(d[weights], a, z[1]), np.zeros_like(z[1]))


@adjoint.linear(
    binned,
    forms=(("binned(x, np.array([0.1, 0.4, 1.0, 2.0]), np.array([0.0, 0.4, 1.0]))", (4,)),),
)
def binned_adjoint(z, weights, a, edges):
    d[weights] = of_bins(d[z], a, edges)


@adjoint.linear(
    of_bins,
    forms=(("of_bins(x, np.array([0.1, 0.4, 1.0, 2.0]), np.array([0.0, 0.4, 1.0]))", (2,)),),
)
def of_bins_adjoint(z, g, a, edges):
    d[g] = binned(d[z], a, edges)


@declare_total(np.max)
def max(a, axis=None, *, keepdims=False):
    if axis is None or axis == 0 or keepdims:
        peak = stop_gradient(np.max(a, axis=axis, keepdims=keepdims))
        value = peak
    else:
        peak = stop_gradient(np.max(a, axis=axis, keepdims=True))
        value = np.squeeze(peak, axis=axis)
    ties = np.sum(a == peak, axis=axis, keepdims=keepdims)
    above = np.sum(np.where(a == peak, a - peak, 0.0), axis=axis, keepdims=keepdims)
    return value + above / np.asarray(ties, above.dtype)


@declare_total(np.min)
def min(a, axis=None, *, keepdims=False):
    return -np.max(-a, axis=axis, keepdims=keepdims)


@declare_total(np.mean)
def mean(a, axis=None, *, keepdims=False):
    if axis == 0 and not keepdims:
        value = np.sum(a, axis=axis) / len(a)
    else:
        total = np.sum(a, axis=axis, keepdims=keepdims)
        value = total / np.asarray(np.sum(np.ones_like(a, int), axis=axis, keepdims=keepdims), total.dtype)
    return value


@declare_total(np.ptp)
def ptp(a, axis=None, *, keepdims=False):
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@declare_total(np.var)
def var(a, axis=None, *, ddof=0, keepdims=False, correction=None):
    if axis is None or axis == 0 or keepdims:
        middle = np.mean(a, axis=axis, keepdims=keepdims)
    else:
        middle = np.mean(a, axis=axis, keepdims=True)
    off = a - middle
    lost = ddof if correction is None else correction
    if lost == 0:
        variance = np.mean(off * off, axis=axis, keepdims=keepdims)
    else:
        number = len(a) if axis == 0 else np.sum(np.ones_like(a), axis=axis, keepdims=keepdims)
        variance = np.sum(off * off, axis=axis, keepdims=keepdims) / (number - lost)
    return variance


@declare_total(np.std)
def std(a, axis=None, *, ddof=0, keepdims=False, correction=None):
    return root(np.var(a, axis=axis, ddof=ddof, keepdims=keepdims, correction=correction))


@declare_total(np.linalg.norm)
def norm(x, ord=None, axis=None, *, keepdims=False):
    return root(np.sum(x * x, axis=axis, keepdims=keepdims))


@declare_total(np.average)
def average(a, axis=None, weights=None, *, keepdims=False):
    total = np.sum(a * weights, axis=axis, keepdims=keepdims)
    return total / np.sum(weights, axis=axis, keepdims=keepdims)


@declare_total(np.nanmean)
def nanmean(a, axis=None, *, keepdims=False):
    total = np.nansum(a, axis=axis, keepdims=keepdims)
    number = np.sum(np.logical_not(np.isnan(a)), axis=axis, keepdims=keepdims)
    return total / np.asarray(number, total.dtype)


@declare_total(np.bincount)
def bincount_of_rows(x, weights=1.0, minlength=0):
    empty = np.zeros(minlength)
    return add_at(empty, groups_below(x, minlength), weights)
