"""Variance, standard deviation, weighted average."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import spread, sum_to
from srcgrad.runtime.reduce import along_axes, along_axes_transpose, count

from .forms import reduction_forms


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


@adjoint(np.var, forms=(*_moment_forms("np.var"), ("np.var(x)", ()), ("np.var(x, axis=1)", (3, 1))))
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
    forms=(
        *reduction_forms("np.average"),
        ("np.average(x, weights=np.exp(y))", (3, 4), (3, 4)),
        ("np.average(x, axis=1, weights=np.exp(y))", (3, 4), (3, 4)),
        ("np.average(x, axis=1, weights=np.exp(y))", (3, 4), (4,)),
        ("np.average(x, axis=0, weights=np.exp(y), keepdims=True)", (3, 3), (3,)),
        ("np.average(x, axis=(2, 0), weights=np.exp(y))", (2, 3, 4), (4, 2)),
    ),
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
)
def along_axes_adjoint(z, weights, a, axis):
    d[weights] = along_axes_transpose(d[z], weights, axis)


@adjoint.linear(
    along_axes_transpose,
    forms=(("along_axes_transpose(x, y, 0)", (2, 1), (2,)), ("along_axes_transpose(x, y, 0)", (2,), (2,))),
)
def along_axes_transpose_adjoint(z, g, weights, axis):
    d[g] = along_axes(d[z], g, axis)
