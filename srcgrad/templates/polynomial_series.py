"""Series of polynomials, `np.polynomial`, at places: their coefficients come with the lowest order first.

Each is summed by the recurrence of its polynomials from the highest order down (Clenshaw, 1955).
"""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from srcgrad.core.rules import adjoint


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
def polyval(x, c, tensor=True):
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
