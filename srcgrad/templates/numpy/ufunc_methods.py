"""Methods of ufuncs: `np.add.reduce` and the like, along one axis, the first if none is named.

`outer` and `at` are spelled with the function itself before anything is derived. Functions that are made to be called
for elements, by `np.vectorize` and `np.frompyfunc`, or are called for rows.
"""

import numpy as np

from srcgrad.core.identity import ufunc_methods
from srcgrad.core.rules import (
    adjoint,
    constants,
    d,
    declare_other_form,
    declare_refused,
    made_to_be_called,
    rule_of,
)
from srcgrad.runtime.layout import at_elements, at_pairs, at_triples, keeps_values, makes_floats, require_handled
from srcgrad.runtime.pieces import common_shape
from srcgrad.runtime.reductions import section_sums_transpose
from srcgrad.runtime.singular import root
from srcgrad.templates.declarations import declare


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
