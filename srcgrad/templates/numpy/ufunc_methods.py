"""Methods of ufuncs, such as `np.add.reduce`; functions made for elements; arguments that a rule leaves out.

Methods go along one axis, the first if none is named; `outer` and `at` are spelled with the function itself before
anything is derived. A call with `where=`, `prepend=`, `period=` or a mode of padding is written out with others; its
derivatives are those of this text.
"""
# ruff: noqa: RUF005 - unpacking with `*` is outside of the accepted Python

import numpy as np

from srcgrad.core.identity import ufunc_methods
from srcgrad.core.rules import (
    adjoint,
    constants,
    d,
    declare,
    declare_other_form,
    declare_refused,
    made_to_be_called,
    rule_of,
)
from srcgrad.runtime.layout import (
    at_elements,
    at_pairs,
    at_triples,
    keeps_values,
    makes_floats,
    pad_widths,
    require_handled,
    sides,
)
from srcgrad.runtime.pieces import common_shape
from srcgrad.runtime.reductions import section_sums_transpose
from srcgrad.runtime.singular import root


def _forms(name):
    """Calls of a reduction by a ufunc."""
    return (
        (f"{name}(x)", (4,)),
        (f"{name}(x)", (3, 2)),
        (f"{name}(x, axis=-1)", (2, 3)),
        (f"{name}(x, 1, keepdims=True)", (2, 3)),
    )


def _every_axis(name):
    """Calls of one whose order does not matter."""
    return (*_forms(name), (f"{name}(x, axis=(0, 2))", (2, 3, 2)), (f"{name}(x, axis=None)", (2, 3)))


@adjoint.composed(np.add.reduce, forms=_every_axis("np.add.reduce"))
def add_reduce(array, axis=0, *, keepdims=False):
    return np.sum(array, axis=axis, keepdims=keepdims)


@adjoint.composed(np.multiply.reduce, forms=_every_axis("np.multiply.reduce"))
def multiply_reduce(array, axis=0, *, keepdims=False):
    return np.prod(array, axis=axis, keepdims=keepdims)


@adjoint.composed(np.maximum.reduce, forms=_every_axis("np.maximum.reduce"), note="Ties share evenly.")
def maximum_reduce(array, axis=0, *, keepdims=False):
    return np.max(array, axis=axis, keepdims=keepdims)


@adjoint.composed(np.minimum.reduce, forms=_every_axis("np.minimum.reduce"), note="Ties share evenly.")
def minimum_reduce(array, axis=0, *, keepdims=False):
    return np.min(array, axis=axis, keepdims=keepdims)


@adjoint.composed(np.fmax.reduce, forms=_every_axis("np.fmax.reduce"), note="Ties share evenly.")
def fmax_reduce(array, axis=0, *, keepdims=False):
    return np.nanmax(array, axis=axis, keepdims=keepdims)


@adjoint.composed(np.fmin.reduce, forms=_every_axis("np.fmin.reduce"), note="Ties share evenly.")
def fmin_reduce(array, axis=0, *, keepdims=False):
    return np.nanmin(array, axis=axis, keepdims=keepdims)


@adjoint.composed(
    np.logaddexp.reduce,
    forms=_every_axis("np.logaddexp.reduce"),
    note="The gradient is 0 where all elements are -inf.",
)
def logaddexp_reduce(array, axis=0, *, keepdims=False):
    peak = np.max(array, axis=axis, keepdims=True)
    level = np.where(np.isinf(peak), 0.0, peak)
    empty = np.isinf(peak) & (peak < 0.0)
    total = np.sum(np.exp(array - level), axis=axis, keepdims=True) + empty
    y = np.log(total) + np.where(empty, -np.inf, level)
    if not keepdims:
        y = np.reshape(y, np.shape(np.any(array, axis=axis)))[()]
    return y


@adjoint.composed(np.subtract.reduce, forms=_forms("np.subtract.reduce"))
def subtract_reduce(array, axis=0, *, keepdims=False):
    first = np.take(array, np.arange(1), axis=axis)
    y = 2.0 * first - np.sum(array, axis=axis, keepdims=True)
    if not keepdims:
        y = np.squeeze(y, axis)[()]
    return y


@adjoint.composed(
    np.divide.reduce,
    domain=(0.5, 2.0),
    forms=_forms("np.divide.reduce"),
)
def divide_reduce(array, axis=0, *, keepdims=False):
    first = np.take(array, np.arange(1), axis=axis)
    rest = np.take(array, np.arange(1, np.shape(array)[axis]), axis=axis)
    y = first / np.prod(rest, axis=axis, keepdims=True)
    if not keepdims:
        y = np.squeeze(y, axis)[()]
    return y


@adjoint.composed(
    np.hypot.reduce,
    forms=_every_axis("np.hypot.reduce"),
    note="The gradient is 0 where all elements are 0.",
)
def hypot_reduce(array, axis=0, *, keepdims=False):
    squares = np.sum(array * array, axis=axis, keepdims=keepdims)
    return root(squares)


def _along(name):
    """Calls of a running fold."""
    return ((f"{name}(x)", (4,)), (f"{name}(x)", (3, 2)), (f"{name}(x, axis=-1)", (2, 3)))


@adjoint.composed(np.add.accumulate, forms=_along("np.add.accumulate"))
def add_accumulate(array, axis=0):
    return np.cumsum(array, axis)


@adjoint.composed(np.multiply.accumulate, forms=_along("np.multiply.accumulate"))
def multiply_accumulate(array, axis=0):
    return np.cumprod(array, axis)


@adjoint.composed(np.subtract.accumulate, forms=_along("np.subtract.accumulate"))
def subtract_accumulate(array, axis=0):
    return 2.0 * np.take(array, np.arange(1), axis=axis) - np.cumsum(array, axis)


@adjoint.composed(np.maximum.accumulate, forms=_along("np.maximum.accumulate"), note="The first of equals gets all.")
def maximum_accumulate(array, axis=0):
    lines = np.moveaxis(array, axis, -1)
    best = np.maximum.accumulate(lines, axis=-1)
    n = np.shape(lines)[-1]
    new = np.concatenate((np.ones_like(lines[..., :1]) > 0.0, best[..., 1:] > best[..., :-1]), axis=-1)
    places = np.maximum.accumulate(np.where(new, np.arange(n), 0), axis=-1)
    return np.moveaxis(np.take_along_axis(lines, places, -1), -1, axis)


@adjoint.composed(np.minimum.accumulate, forms=_along("np.minimum.accumulate"), note="The first of equals gets all.")
def minimum_accumulate(array, axis=0):
    return -np.maximum.accumulate(-array, axis)


@adjoint.composed(np.logaddexp.accumulate, forms=_along("np.logaddexp.accumulate"))
def logaddexp_accumulate(array, axis=0):
    lines = np.moveaxis(array, axis, -1)
    made = np.zeros_like(lines)
    total = lines[..., 0]
    made[..., 0] = total
    for k in range(1, np.shape(lines)[-1]):
        total = np.logaddexp(total, lines[..., k])
        made[..., k] = total
    return np.moveaxis(made, -1, axis)


@adjoint.linear(
    np.add.reduceat,
    forms=(
        ("np.add.reduceat(x, [0, 2, 3])", (5,)),
        ("np.add.reduceat(x, np.array([0, 3, 1, 2]), 1)", (2, 5)),
        ("np.add.reduceat(x, [1, 1], axis=-1)", (2, 3)),
    ),
)
def add_reduceat(z, array, indices, axis=0):
    d[array] = section_sums_transpose(d[z], array, indices, axis)


@adjoint.linear(
    section_sums_transpose,
    forms=(("section_sums_transpose(x, y, [0, 3, 1, 2], 1)", (2, 4), (2, 5)),),
)
def section_sums_transpose_adjoint(z, g, a, indices, axis=0):
    d[g] = np.add.reduceat(d[z], indices, axis)


def _pairs(name):
    """Calls of a function on all pairs."""
    return ((f"{name}(x, y)", (3,), (2,)), (f"{name}(x, y)", (2, 2), (3,)), (f"{name}(x, y)", (), (2,)))


@adjoint.composed(np.add.outer, forms=_pairs("np.add.outer"))
def add_outer(A, B):  # NumPy's own names, here and below
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B)) + B


@adjoint.composed(np.subtract.outer, forms=_pairs("np.subtract.outer"))
def subtract_outer(A, B):
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B)) - B


@adjoint.composed(np.multiply.outer, forms=_pairs("np.multiply.outer"))
def multiply_outer(A, B):
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B)) * B


@adjoint.composed(np.divide.outer, domain=(0.5, 2.0), forms=_pairs("np.divide.outer"))
def divide_outer(A, B):
    return np.reshape(A, np.shape(A) + (1,) * np.ndim(B)) / B


@adjoint.composed(np.power.outer, domain=(0.5, 2.0), forms=_pairs("np.power.outer"))
def power_outer(A, B):
    return np.power(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


@adjoint.composed(np.maximum.outer, forms=_pairs("np.maximum.outer"))
def maximum_outer(A, B):
    return np.maximum(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


@adjoint.composed(np.minimum.outer, forms=_pairs("np.minimum.outer"))
def minimum_outer(A, B):
    return np.minimum(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


@adjoint.composed(np.hypot.outer, forms=_pairs("np.hypot.outer"))
def hypot_outer(A, B):
    return np.hypot(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


@adjoint.composed(np.arctan2.outer, forms=_pairs("np.arctan2.outer"))
def arctan2_outer(A, B):
    return np.arctan2(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


@adjoint.composed(np.logaddexp.outer, forms=_pairs("np.logaddexp.outer"))
def logaddexp_outer(A, B):
    return np.logaddexp(np.reshape(A, np.shape(A) + (1,) * np.ndim(B)), B)


WRITES = "it writes into its argument, once for each repetition of an index; write a loop, or use np.add.at"
OTHERS = "only the usual functions are folded with a derivative; write a loop"
PAIRS = "only the usual functions are written out for pairs; use broadcasting: `f(a[:, None], b)`"
REASONS = {"reduce": OTHERS, "accumulate": OTHERS, "reduceat": OTHERS, "outer": PAIRS, "at": WRITES}

for ufunc in {id(op): op for op in vars(np).values() if isinstance(op, np.ufunc)}.values():
    own = rule_of(ufunc)
    for method in ufunc_methods(ufunc):
        if rule_of(getattr(ufunc, method)) is None:
            if own is not None and own.kind == "constant" and method != "at":
                constants([getattr(ufunc, method)])
            else:
                of = {f"np.{ufunc.__name__}.{method}": getattr(ufunc, method)}
                declare_refused(REASONS[method], of, writes=method == "at")


constants([common_shape, keeps_values, makes_floats])


def in_row(a, shape):
    """The elements of what is broadcast to a shape."""
    return np.ravel(np.broadcast_to(a, shape))


@adjoint.composed(
    at_elements,
    forms=(
        ("at_elements(lambda s: s * s * y if s > 0.1 else s * y, x)", (2, 3), ()),
        ("at_elements(lambda s: np.sin(s), x)", ()),
    ),
    note="Of `np.vectorize(f)` and `np.frompyfunc(f, n, 1)`, with up to three arguments by position.",
)
def at_elements_of(pyfunc, a, doc=None, cache=False):
    found = [pyfunc(one) for one in np.ravel(a)]
    require_handled(keeps_values(found), "np.vectorize that cuts values to the kind of the first: give otypes=[float]")
    return np.reshape(np.array(found), np.shape(a))


@declare_other_form(
    at_elements, (("at_elements(lambda s: s if s > 0.1 else 0, x, otypes=[float])", (3,)),), otypes=(), nout=()
)
def at_elements_converted(pyfunc, a, otypes=None, doc=None, cache=False, nin=None, nout=1):
    require_handled(nout == 1 and makes_floats(otypes), "np.vectorize that makes integers, or several results")
    return np.reshape(np.array([pyfunc(one) for one in np.ravel(a)]), np.shape(a))


@adjoint.composed(at_pairs, forms=(("at_pairs(lambda s, t: s * s * t, x, y)", (2, 3), (3,)),))
def at_pairs_of(pyfunc, a, b, doc=None, cache=False):
    shape = common_shape((a, b))
    found = [pyfunc(one, two) for one, two in zip(in_row(a, shape), in_row(b, shape), strict=True)]
    require_handled(keeps_values(found), "np.vectorize that cuts values to the kind of the first: give otypes=[float]")
    return np.reshape(np.array(found), shape)


@declare_other_form(at_pairs, (), otypes=(), nout=())
def at_pairs_converted(pyfunc, a, b, otypes=None, doc=None, cache=False, nin=None, nout=1):
    require_handled(nout == 1 and makes_floats(otypes), "np.vectorize that makes integers, or several results")
    shape = common_shape((a, b))
    found = [pyfunc(one, two) for one, two in zip(in_row(a, shape), in_row(b, shape), strict=True)]
    return np.reshape(np.array(found), shape)


@adjoint.composed(at_triples, forms=(("at_triples(lambda s, t, u: s * s * t - u, x, y, z)", (2, 3), (3,), ()),))
def at_triples_of(pyfunc, a, b, c, doc=None, cache=False):
    shape = common_shape((a, b, c))
    found = [pyfunc(*one) for one in zip(in_row(a, shape), in_row(b, shape), in_row(c, shape), strict=True)]
    require_handled(keeps_values(found), "np.vectorize that cuts values to the kind of the first: give otypes=[float]")
    return np.reshape(np.array(found), shape)


@declare_other_form(at_triples, (), otypes=(), nout=())
def at_triples_converted(pyfunc, a, b, c, otypes=None, doc=None, cache=False, nin=None, nout=1):
    require_handled(nout == 1 and makes_floats(otypes), "np.vectorize that makes integers, or several results")
    shape = common_shape((a, b, c))
    found = [pyfunc(*one) for one in zip(in_row(a, shape), in_row(b, shape), in_row(c, shape), strict=True)]
    return np.reshape(np.array(found), shape)


def held_by_vectorize(made):
    """How the parameters of a `np.vectorize` are read; None for one that calls its function with more than elements."""
    plain = not made.excluded and made.signature is None and makes_floats(made.otypes)
    known = {"pyfunc": "self.pyfunc"} | ({"otypes": "self.otypes"} if made.otypes is not None else {})
    return known if plain else None


made_to_be_called(
    np.vectorize,
    at_elements,
    at_pairs,
    at_triples,
    made=("pyfunc", "otypes", "doc", "cache"),
    required=1,
    held=held_by_vectorize,
)
made_to_be_called(
    np.frompyfunc,
    at_elements,
    at_pairs,
    at_triples,
    made=("pyfunc", "nin", "nout"),
    required=1,
    held=lambda made: None,
)


@adjoint.composed(
    np.apply_along_axis,
    forms=(
        ("np.apply_along_axis(lambda r: np.sum(r) ** 2 * y, 1, x)", (3, 2), ()),
        ("np.apply_along_axis(lambda r: r / np.linalg.norm(r), 0, x)", (3, 2)),
        ("np.apply_along_axis(lambda r: np.outer(r, r), -2, x)", (2, 2, 3)),
    ),
    note="Without more arguments for the function.",
)
def apply_along_axis(func1d, axis, arr):
    rows = np.moveaxis(np.asarray(arr), axis, -1)
    made = np.stack([func1d(row) for row in np.reshape(rows, (-1, np.shape(rows)[-1]))])
    whole = np.reshape(made, np.shape(rows)[:-1] + np.shape(made)[1:])
    place, rank = axis % np.ndim(rows), np.ndim(rows) - 1
    return np.moveaxis(whole, tuple(range(rank, np.ndim(whole))), tuple(range(place, place + np.ndim(made) - 1)))


declare(
    np,
    "np",
    "vectorize frompyfunc",
    "it makes an object that has a derivative where it is called by position, with up to three arguments, and has "
    "neither excluded= nor signature=; write the loop over elements or rows",
)


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


@declare_other_form(np.sum, _cast("np.sum"), {2: "dtype"}, dtype=())
def sum_of_dtype(a, axis=None, dtype=None, *, keepdims=False):
    return np.sum(np.asarray(a, dtype), axis=axis, keepdims=keepdims)


@declare_other_form(np.mean, _cast("np.mean"), {2: "dtype"}, dtype=())
def mean_of_dtype(a, axis=None, dtype=None, *, keepdims=False):
    made = np.asarray(a, dtype)
    require_handled(made.dtype.kind in "fc", "a mean of integers, which is cut off")
    return np.mean(made, axis=axis, keepdims=keepdims)


@declare_other_form(np.prod, _cast("np.prod"), {2: "dtype"}, dtype=())
def prod(a, axis=None, dtype=None, *, keepdims=False):
    return np.prod(np.asarray(a, dtype), axis=axis, keepdims=keepdims)


@declare_other_form(np.cumsum, _cast("np.cumsum"), {2: "dtype"}, dtype=())
def cumsum(a, axis=None, dtype=None):
    return np.cumsum(np.asarray(a, dtype), axis=axis)


@declare_other_form(np.cumprod, _cast("np.cumprod"), {2: "dtype"}, dtype=())
def cumprod(a, axis=None, dtype=None):
    return np.cumprod(np.asarray(a, dtype), axis=axis)


@declare_other_form(np.trace, (("np.trace(x, dtype=float)", (3, 3)),), dtype=())
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return np.trace(np.asarray(a, dtype), offset=offset, axis1=axis1, axis2=axis2)
