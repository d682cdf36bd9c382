"""Polynomials as vectors of coefficients: the highest power first, and the series of `np.polynomial`, lowest first."""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from srcgrad.core.rules import adjoint
from srcgrad.runtime.layout import require_handled


@adjoint.composed(
    np.polyval,
    forms=(
        ("np.polyval(x, y)", (4,), ()),
        ("np.polyval(x, y)", (3,), (2, 3)),
        ("np.polyval(np.array([1.0, x, 2.0]), y)", (), (3,)),
        ("np.polyval(x, y)", (1,), (2,)),
    ),
)
def polyval(p, x):
    y = np.zeros_like(1.0 * x)
    for k in range(len(p)):
        y = y * x + p[k]
    return y


@adjoint.composed(
    np.polyadd,
    forms=(("np.polyadd(x, y)", (4,), (2,)), ("np.polyadd(x, y)", (2,), (3,)), ("np.polyadd(x, y)", (3,), ())),
)
def polyadd(a1, a2):
    first = np.atleast_1d(a1)
    second = np.atleast_1d(a2)
    n = max(len(first), len(second))
    return np.pad(first, (n - len(first), 0)) + np.pad(second, (n - len(second), 0))


@adjoint.composed(
    np.polysub,
    forms=(("np.polysub(x, y)", (4,), (2,)), ("np.polysub(x, y)", (2,), (3,))),
)
def polysub(a1, a2):
    return np.polyadd(a1, np.negative(a2))


@adjoint.composed(
    np.polymul,
    forms=(("np.polymul(x, y)", (4,), (2,)), ("np.polymul(x, y)", (2,), (3,))),
    note="Leading zeros are cut off first, as NumPy does.",
)
def polymul(a1, a2):
    return np.convolve(np.trim_zeros(np.atleast_1d(a1), "f"), np.trim_zeros(np.atleast_1d(a2), "f"))


@adjoint.composed(
    np.polyder,
    forms=(("np.polyder(x)", (4,)), ("np.polyder(x, 2)", (4,)), ("np.polyder(x, m=0)", (3,))),
)
def polyder(p, m=1):
    y = np.asarray(p)
    for _ in range(m):
        y = y[:-1] * np.arange(len(y) - 1, 0, -1)
    return y


@adjoint.composed(
    np.polyint,
    forms=(
        ("np.polyint(x)", (3,)),
        ("np.polyint(x, 2)", (3,)),
        ("np.polyint(x, 1, y)", (3,), ()),
        ("np.polyint(x, 2, k=y)", (3,), (2,)),
    ),
)
def polyint(p, m=1, k=None):
    y = np.asarray(p)
    require_handled(np.size(y) > 0, "np.polyint of nothing")
    for step in range(m):
        last = np.zeros_like(y[:1]) if k is None else np.atleast_1d(k)[step : step + 1]
        y = np.concatenate((y / np.arange(len(y), 0, -1), last))
    return y


@adjoint.composed(
    np.poly,
    forms=(("np.poly(x)", (3,)), ("np.poly(x)", (1,))),
    note="Of roots; of a matrix it is refused.",
)
def poly(seq_of_zeros):
    require_handled(np.ndim(seq_of_zeros) == 1 and np.size(seq_of_zeros) > 0, "np.poly of a matrix, or of nothing")
    y = np.ones_like(seq_of_zeros[:1])
    for k in range(len(seq_of_zeros)):
        y = np.pad(y, (0, 1)) - np.pad(y * seq_of_zeros[k], (1, 0))
    return y


@adjoint.composed(
    np.roots,
    forms=(
        ("np.roots(np.poly(np.array([1.0, 3.0, -2.0]) + 0.1 * x))", (3,)),
        ("np.roots(np.array([1.0, -9.0, 11.0, 3.0]) + 0.1 * x)", (4,)),
        ("np.roots(np.array([x, 2.0]))", ()),
    ),
    note="The eigenvalues of the companion matrix. Complex roots of real coefficients (E5001), and a first or last "
    "coefficient of 0 (E5006), raise TypeError; roots that meet have no derivative.",
)
def roots(p):
    p = np.asarray(p)
    require_handled(np.ndim(p) == 1 and np.size(p) > 1, "np.roots of a number, or of a constant")
    require_handled(p[0] != 0.0 and p[-1] != 0.0, "np.roots of coefficients of which the first or the last is 0")
    first = -p[1:] / p[0]
    return np.linalg.eigvals(np.concatenate((np.expand_dims(first, 0), np.eye(len(first) - 1, len(first)))))


@adjoint.composed(
    np.polyfit,
    forms=(
        ("np.polyfit(np.arange(5.0), x, 2)", (5,)),
        ("np.polyfit(x, y, 1)", (5,), (5,)),
        ("np.polyfit([0, 1, 2, 3], x, 1)", (4, 2)),
        ("np.polyfit(np.arange(5.0), x, 2, w=np.exp(y))", (5,), (5,)),
        ("np.polyfit(np.arange(4.0), x, deg=0, w=np.exp(y))", (4, 2), (4,)),
    ),
    note="Of a given degree; the rank is taken to be full.",
)
def polyfit(x, y, deg, rcond=None, *, w=None):
    require_handled(np.ndim(deg) == 0, "np.polyfit with a list of degrees")
    columns = np.vander(np.asarray(x) + 0.0, deg + 1)
    values = np.asarray(y) + 0.0
    if w is not None:
        weights = np.asarray(w) + 0.0
        columns = np.expand_dims(weights, 1) * columns
        values = (weights * values.T).T
    scale = np.sqrt(np.sum(columns * columns, axis=0))
    found = np.linalg.lstsq(columns / scale, values, rcond)[0]
    return (found.T / scale).T


def _forms(name):
    """Calls for numbers and arrays, with one coefficient and several, and with a series per column."""
    return (
        (f"{name}(x, y)", (3,), (5,)),
        (f"{name}(x, y)", (), (4,)),
        (f"{name}(x, y)", (3,), (4, 2)),
        (f"{name}(x, y)", (2, 3), (2,)),
        (f"{name}(x, y)", (3,), (1,)),
        (f"{name}(x, y, tensor=False)", (2,), (4, 2)),
        (f"{name}([0.5, -0.25], y)", (), (3,)),
    )


def columns(x, c, tensor):
    """The coefficients with axes for those of the places."""
    given = np.asarray(c) + 0.0
    if tensor:
        given = np.reshape(given, np.shape(given) + (1,) * np.ndim(x))
    return given


@adjoint.composed(
    polynomial.polyval,
    name="np.polynomial.polynomial.polyval",
    forms=_forms("np.polynomial.polynomial.polyval"),
)
def series_value(x, c, tensor=True):
    places, given = np.asarray(x), columns(x, c, tensor)
    made = given[-1] + 0.0 * places
    for k in range(2, len(given) + 1):
        made = given[-k] + made * places
    return made


@adjoint.composed(
    chebyshev.chebval,
    name="np.polynomial.chebyshev.chebval",
    forms=_forms("np.polynomial.chebyshev.chebval"),
)
def chebval(x, c, tensor=True):
    places, given = np.asarray(x), columns(x, c, tensor)
    last, before = 0.0 * (given[0] + places), 0.0 * (given[0] + places)
    for k in range(len(given) - 1, 0, -1):
        last, before = given[k] + 2.0 * places * last - before, last
    return given[0] + places * last - before


@adjoint.composed(
    legendre.legval,
    name="np.polynomial.legendre.legval",
    forms=_forms("np.polynomial.legendre.legval"),
)
def legval(x, c, tensor=True):
    places, given = np.asarray(x), columns(x, c, tensor)
    last, before = 0.0 * (given[0] + places), 0.0 * (given[0] + places)
    for k in range(len(given) - 1, -1, -1):
        last, before = given[k] + (2.0 * k + 1.0) / (k + 1.0) * places * last - (k + 1.0) / (k + 2.0) * before, last
    return last


@adjoint.composed(
    hermite.hermval,
    name="np.polynomial.hermite.hermval",
    forms=_forms("np.polynomial.hermite.hermval"),
)
def hermval(x, c, tensor=True):
    places, given = np.asarray(x), columns(x, c, tensor)
    last, before = 0.0 * (given[0] + places), 0.0 * (given[0] + places)
    for k in range(len(given) - 1, -1, -1):
        last, before = given[k] + 2.0 * places * last - 2.0 * (k + 1.0) * before, last
    return last


@adjoint.composed(
    hermite_e.hermeval,
    name="np.polynomial.hermite_e.hermeval",
    forms=_forms("np.polynomial.hermite_e.hermeval"),
)
def hermeval(x, c, tensor=True):
    places, given = np.asarray(x), columns(x, c, tensor)
    last, before = 0.0 * (given[0] + places), 0.0 * (given[0] + places)
    for k in range(len(given) - 1, -1, -1):
        last, before = given[k] + places * last - (k + 1.0) * before, last
    return last


@adjoint.composed(
    laguerre.lagval,
    name="np.polynomial.laguerre.lagval",
    forms=_forms("np.polynomial.laguerre.lagval"),
)
def lagval(x, c, tensor=True):
    places, given = np.asarray(x), columns(x, c, tensor)
    last, before = 0.0 * (given[0] + places), 0.0 * (given[0] + places)
    for k in range(len(given) - 1, -1, -1):
        last, before = given[k] + (2.0 * k + 1.0 - places) / (k + 1.0) * last - (k + 1.0) / (k + 2.0) * before, last
    return last
