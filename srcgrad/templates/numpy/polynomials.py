"""Polynomials as vectors of coefficients: the highest power first, and the series of `np.polynomial`, lowest first."""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from srcgrad.core.rules import adjoint, made_to_be_called
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.pieces import chebyshev_at, fitted_at, legendre_at, powers_at, series_at


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


@adjoint.composed(
    polynomial.polyder,
    name="np.polynomial.polynomial.polyder",
    forms=(
        ("np.polynomial.polynomial.polyder(x, 2)", (4,)),
        ("np.polynomial.polynomial.polyder(x, scl=3.0)", (1,)),
    ),
)
def series_slope(c, m=1, scl=1):
    made = np.asarray(c) + 0.0
    for _ in range(m):
        powers = np.arange(1.0, len(made)).astype(made.dtype)
        made = scl * made[1:] * powers if len(made) > 1 else 0.0 * made
    return made


@adjoint.composed(
    polynomial.polyint,
    name="np.polynomial.polynomial.polyint",
    forms=(
        ("np.polynomial.polynomial.polyint(x)", (3,)),
        ("np.polynomial.polynomial.polyint(x, 2, [1.0, 2.0])", (3,)),
    ),
    note="From 0.",
)
def series_integral(c, m=1, k=(), lbnd=None):
    require_handled(lbnd is None and np.ndim(c) == 1, "the integral of a series from another place than 0")
    made = np.asarray(c) + 0.0
    constants = np.append(np.asarray(k), np.zeros(m)).astype(made.dtype)
    for step in range(m):
        powers = np.arange(1.0, len(made) + 1.0).astype(made.dtype)
        made = np.append(constants[step], made / powers)
    return made


@adjoint.composed(powers_at, forms=(("powers_at(x, y)", (3,), (2,)),), note="Of `np.poly1d(c)(x)`.")
def powers_of_at(c, places):
    return np.polyval(np.atleast_1d(c), places)


@adjoint.composed(series_at, forms=(("series_at(x, y)", (3,), (2,)),), note="Of `Polynomial(coef)(x)`.")
def series_of_at(coef, places):
    return polynomial.polyval(places, np.asarray(coef))


@adjoint.composed(chebyshev_at, forms=(("chebyshev_at(x, y)", (3,), (2,)),), note="Of `Chebyshev(coef)(x)`.")
def chebyshev_of_at(coef, places):
    return chebyshev.chebval(places, np.asarray(coef))


@adjoint.composed(legendre_at, forms=(("legendre_at(x, y)", (3,), (2,)),), note="Of `Legendre(coef)(x)`.")
def legendre_of_at(coef, places):
    return legendre.legval(places, np.asarray(coef))


@adjoint.composed(
    fitted_at,
    forms=(("fitted_at(np.array([0.0, 1.0, 2.5, 4.0]) + 0.1 * x, y, 2, z)", (4,), (4,), (2,)),),
    note="Of `Polynomial.fit(x, y, deg)(t)`.",
)
def fitted_of_at(x, y, deg, places, w=None):
    given = np.asarray(x)
    low, high = np.min(given), np.max(given)
    coefficients = np.polyfit(2.0 * (given - low) / (high - low) - 1.0, y, deg, w=w)
    return np.polyval(coefficients, 2.0 * (np.asarray(places) - low) / (high - low) - 1.0)


def held_by_series(made):
    """How the parameter of a series is read; None for one of another interval than that from -1 to 1."""
    plain = np.array_equal(made.domain, made.window)
    return {"coef": "self.coef"} if plain else None


made_to_be_called(
    np.poly1d,
    powers_at,
    made=("c_or_r",),
    required=1,
    held=lambda made: {"c_or_r": "self.coeffs"},
    copies=None,
    derived={"deriv": np.polyder, "integ": np.polyint},
)
made_to_be_called(
    polynomial.Polynomial,
    series_at,
    made=("coef",),
    required=1,
    held=held_by_series,
    copies=True,
    derived={"deriv": polynomial.polyder, "integ": polynomial.polyint},
)
made_to_be_called(chebyshev.Chebyshev, chebyshev_at, made=("coef",), required=1, held=held_by_series, copies=True)
made_to_be_called(legendre.Legendre, legendre_at, made=("coef",), required=1, held=held_by_series, copies=True)
made_to_be_called(
    polynomial.Polynomial.fit, fitted_at, made=("x", "y", "deg", "w"), required=3, held=lambda made: None, copies=True
)
