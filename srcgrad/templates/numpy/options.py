"""Arguments of operations whose rule holds for calls without them: `where=`, `prepend=`, `period=`, modes of padding.

Such a call is written out with others; its derivatives are those of this text.
"""

import numpy as np

from srcgrad.core.rules import constants, declare_other_form
from srcgrad.runtime.layout import pad_widths, require_handled, sides
from srcgrad.runtime.singular import root

# ruff: noqa: RUF005 - unpacking with `*` is outside of the accepted Python

constants([pad_widths, sides])

MASK = "np.array([True, False, True, True])"


def _masked(name):
    """Calls with `where=`."""
    return (
        (f"{name}(x * x, where={MASK})", (3, 4)),
        (f"{name}(x, axis=1, where={MASK})", (3, 4)),
        (f"{name}(x, axis=0, keepdims=True, where={MASK}[:, None])", (4, 2)),
        (f"{name}(x, axis=(0, 1), where=[[True], [False], [True]])", (2, 3, 4)),
    )


def _moments(name):
    return (
        *_masked(name),
        (f"{name}(x, axis=1, ddof=1, where={MASK})", (3, 4)),
        (f"{name}(x, axis=1, correction=0.5, where={MASK}, keepdims=True)", (3, 4)),
        (f"{name}(x, axis=0, mean=y)", (3, 4), (1, 4)),
    )


@declare_other_form(np.mean, _masked("np.mean"), where=())
def mean(a, axis=None, *, keepdims=False, where=True):
    kept = np.broadcast_to(where, np.shape(a))
    total = np.sum(np.where(kept, a, 0.0), axis=axis, keepdims=keepdims)
    return total / np.count_nonzero(kept, axis=axis, keepdims=keepdims)


@declare_other_form(np.var, _moments("np.var"), where=(), mean=())
def var(a, axis=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    kept = np.broadcast_to(where, np.shape(a))
    if mean is None:
        total = np.sum(np.where(kept, a, 0.0), axis=axis, keepdims=True)
        middle = total / np.count_nonzero(kept, axis=axis, keepdims=True)
    else:
        middle = mean
    lost = ddof if correction is None else correction
    off = np.where(kept, a - middle, 0.0)
    freedom = np.count_nonzero(kept, axis=axis, keepdims=keepdims) - lost
    return np.sum(off * off, axis=axis, keepdims=keepdims) / freedom


@declare_other_form(np.std, _moments("np.std"), where=(), mean=())
def std(a, axis=None, *, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    if mean is None:
        variance = np.var(a, axis=axis, ddof=ddof, keepdims=keepdims, where=where, correction=correction)
    else:
        variance = np.var(a, axis=axis, ddof=ddof, keepdims=keepdims, where=where, mean=mean, correction=correction)
    return root(variance)


@declare_other_form(np.nansum, _masked("np.nansum"), where=())
def nansum(a, axis=None, *, keepdims=False, where=True):
    return np.nansum(np.where(where, a, np.nan), axis=axis, keepdims=keepdims)


@declare_other_form(np.nanmean, _masked("np.nanmean"), where=())
def nanmean(a, axis=None, *, keepdims=False, where=True):
    return np.nanmean(np.where(where, a, np.nan), axis=axis, keepdims=keepdims)


@declare_other_form(
    np.diff,
    (
        ("np.diff(x, prepend=x[0])", (5,)),
        ("np.diff(x, append=0.0)", (2, 3)),
        ("np.diff(x, prepend=y, append=3)", (2, 3), ()),
        ("np.diff(x, n=2, axis=0, prepend=y, append=z)", (2, 3), (1, 3), (2, 3)),
        ("np.diff(x, 1, -1, y, z)", (2, 3), (2, 1), ()),
    ),
    {3: "prepend", 4: "append"},
    prepend=(),
    append=(),
)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    whole = a
    edge = np.shape(np.any(a, axis=axis, keepdims=True))
    if prepend is not None:
        first = np.broadcast_to(prepend, edge) if np.ndim(prepend) == 0 else prepend
        whole = np.concatenate((first, whole), axis=axis)
    if append is not None:
        last = np.broadcast_to(append, edge) if np.ndim(append) == 0 else append
        whole = np.concatenate((whole, last), axis=axis)
    return np.diff(whole, n, axis)


@declare_other_form(
    np.interp,
    (
        ("np.interp(2.0 * x - 3.0, np.array([0.0, 1.0, 2.5]), y, left=0.0, right=z)", (6,), (3,), ()),
        ("np.interp(x, np.sort(y), z, 0.5)", (2, 3), (4,), (4,)),
        ("np.interp(3.0 * x - 2.0, np.array([0.5, 1.0, 2.5]), y, period=3.0)", (2, 4), (3,)),
        ("np.interp(3.0 * x - 2.0, np.array([4.0, 0.4, -2.9]), y, period=-3.5)", (5,), (3,)),
        ("np.interp(x, y, z, period=8.0)", (3,), (4,), (4,)),
    ),
    {3: "left", 4: "right", 5: "period"},
    left=(),
    right=(),
    period=(),
)
def interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None:
        length = np.abs(period)
        places = np.mod(xp, length)
        order = np.argsort(places)
        knots = np.take(places, order)
        values = np.take(fp, order)
        around = np.concatenate((knots[-1:] - length, knots, knots[:1] + length))
        y = np.interp(np.mod(x, length), around, np.concatenate((values[-1:], values, values[:1])))
    else:
        y = np.interp(x, xp, fp)
        if left is not None:
            y = np.where(x < np.take(xp, 0), left, y)
        if right is not None:
            y = np.where(x > np.take(xp, -1), right, y)
        y = y[()]
    return y


@declare_other_form(
    np.pad,
    (
        ("np.pad(x, 2, 'linear_ramp')", (3,)),
        ("np.pad(x, ((1, 2), (0, 3)), mode='linear_ramp', end_values=y)", (2, 3), ()),
        ("np.pad(x, (2, 3), mode='linear_ramp', end_values=(-1.0, 4.0))", (2, 3)),
        ("np.pad(x, (0, 2), mode='linear_ramp')", (3,)),
    ),
    {2: "mode"},
    mode=("linear_ramp",),
)
def ramped(array, pad_width, mode="constant", *, stat_length=None, end_values=0, reflect_type="even"):
    widths = pad_widths(pad_width, np.ndim(array))
    ends = np.broadcast_to(end_values, (np.ndim(array), 2))
    y = array
    for axis in range(np.ndim(array)):
        lines = np.moveaxis(y, axis, 0)
        left, right = widths[axis]
        rise = np.reshape(np.arange(left) / max(left, 1), (left,) + (1,) * (np.ndim(array) - 1))
        fall = np.reshape(np.arange(right)[::-1] / max(right, 1), (right,) + (1,) * (np.ndim(array) - 1))
        first = ends[axis, 0] + rise * (lines[:1] - ends[axis, 0])
        last = ends[axis, 1] + fall * (lines[-1:] - ends[axis, 1])
        y = np.moveaxis(np.concatenate((first, lines, last)), 0, axis)
    return y


def _by(statistic):
    """Padding with a statistic of each line, or of its first and last elements."""

    def padded(array, pad_width, mode="constant", *, stat_length=None, end_values=0, reflect_type="even"):
        widths = pad_widths(pad_width, np.ndim(array))
        lengths = pad_widths(stat_length, np.ndim(array))
        y = array
        for axis in range(np.ndim(array)):
            lines = np.moveaxis(y, axis, 0)
            left, right = widths[axis]
            head, tail = sides(lengths[axis], np.shape(lines)[0])
            near = statistic(lines[:head], axis=0)
            far = statistic(lines[np.shape(lines)[0] - tail :], axis=0)
            first = np.broadcast_to(near, (left,) + np.shape(near))
            last = np.broadcast_to(far, (right,) + np.shape(far))
            y = np.moveaxis(np.concatenate((first, lines, last)), 0, axis)
        return y

    return padded


MEANS = (("np.pad(x, 2, mode='mean')", (3, 4)), ("np.pad(x, (1, 2), mode='mean', stat_length=2)", (3, 4)))
LEAST = (("np.pad(x, (2, 0), mode='minimum', stat_length=((1, 2), (2, 1)))", (3, 4)),)
declare_other_form(np.pad, MEANS, {2: "mode"}, mode=("mean",))(_by(np.mean))
declare_other_form(np.pad, (("np.pad(x, 1, mode='median')", (3, 4)),), {2: "mode"}, mode=("median",))(_by(np.median))
declare_other_form(np.pad, (("np.pad(x, 1, mode='maximum')", (3, 4)),), {2: "mode"}, mode=("maximum",))(_by(np.max))
declare_other_form(np.pad, LEAST, {2: "mode"}, mode=("minimum",))(_by(np.min))


@declare_other_form(
    np.pad,
    (
        ("np.pad(x, 2, mode='reflect', reflect_type='odd')", (3, 4)),
        ("np.pad(x, (1, 2), mode='symmetric', reflect_type='odd')", (3, 4)),
        ("np.pad(x, 2, mode='reflect', reflect_type='even')", (4,)),
    ),
    reflect_type=(),
)
def reflected(array, pad_width, mode="constant", *, stat_length=None, end_values=0, reflect_type="even"):
    if reflect_type == "even" and mode in ("reflect", "symmetric"):
        y = np.pad(array, pad_width, mode)
    else:
        require_handled(mode in ("reflect", "symmetric"), "np.pad with reflect_type=, of another mode")
        skip = 1 if mode == "reflect" else 0
        widths = pad_widths(pad_width, np.ndim(array))
        y = array
        for axis in range(np.ndim(array)):
            lines = np.moveaxis(y, axis, 0)
            n = np.shape(lines)[0]
            left, right = widths[axis]
            require_handled(max(left, right) <= n - skip, "np.pad with reflect_type='odd', wider than the array")
            first = 2.0 * lines[:1] - np.flip(lines[skip : left + skip], 0)
            last = 2.0 * lines[-1:] - np.flip(lines[n - right - skip : n - skip], 0)
            y = np.moveaxis(np.concatenate((first, lines, last)), 0, axis)
    return y


@declare_other_form(
    np.array,
    (
        ("np.array(x, ndmin=2)", (3,)),
        ("np.array(x, ndmin=1, copy=None)", ()),
        ("np.array([x, y], ndmin=3)", (2,), (2,)),
        ("np.array(x, dtype=float, ndmin=1)", (2, 3)),
    ),
    ndmin=(),
)
def array(object, dtype=None, *, copy=True, ndmin=0):
    made = np.array(object, dtype)
    return np.reshape(made, (1,) * max(ndmin - np.ndim(made), 0) + np.shape(made))


def _cast(name):
    """Calls with `dtype=`: elements are cast before they are put together, and a cast to integers carries nothing."""
    return ((f"{name}(x, dtype=np.float64)", (4,)), (f"{name}(x, axis=0, dtype=float)", (3, 2)))


@declare_other_form(np.prod, _cast("np.prod"), {2: "dtype"}, dtype=())
def prod(a, axis=None, dtype=None, *, keepdims=False):
    return np.prod(np.asarray(a).astype(dtype), axis=axis, keepdims=keepdims)


@declare_other_form(np.cumsum, _cast("np.cumsum"), {2: "dtype"}, dtype=())
def cumsum(a, axis=None, dtype=None):
    return np.cumsum(np.asarray(a).astype(dtype), axis=axis)


@declare_other_form(np.cumprod, _cast("np.cumprod"), {2: "dtype"}, dtype=())
def cumprod(a, axis=None, dtype=None):
    return np.cumprod(np.asarray(a).astype(dtype), axis=axis)


@declare_other_form(np.trace, (("np.trace(x, dtype=float)", (3, 3)),), dtype=())
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return np.trace(np.asarray(a).astype(dtype), offset=offset, axis1=axis1, axis2=axis2)
