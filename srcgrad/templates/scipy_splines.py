"""Splines of `scipy.interpolate` as objects that are called, in their argument; loaded on request.

The object is a constant: one that is made of active values is refused, or taken apart before.
"""

import numpy as np
from scipy import interpolate

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.splines import for_values, over_values

OBJECT = "it is an object that was made before"
KNOTS = np.array([0.0, 1.0, 2.5, 4.0, 5.0])
HEIGHTS = np.array([1.0, -1.0, 2.0, 0.5, 3.0])
CUBIC = interpolate.CubicSpline(KNOTS, HEIGHTS)
MONOTONE = interpolate.PchipInterpolator(KNOTS, HEIGHTS)
SUMMED = interpolate.make_interp_spline(KNOTS, HEIGHTS)
ROWS = interpolate.CubicSpline(KNOTS, np.stack([HEIGHTS, HEIGHTS**2, -HEIGHTS], axis=1))
COLUMNS = interpolate.make_interp_spline(KNOTS, np.stack([HEIGHTS, HEIGHTS**2]), axis=1)
FITTED = interpolate.InterpolatedUnivariateSpline(KNOTS, HEIGHTS)


def _forms(name, *more):
    """Calls of an object that is made of constants."""
    return tuple((f"{name}{call}", shape) for call in ("(x)", "(x, 1)", *more) for shape in ((2,), (2, 3)))


@adjoint(
    interpolate.PPoly.__call__,
    name="scipy.interpolate.CubicSpline.__call__",
    domain=(0.1, 4.9),
    refuses={"self": OBJECT},
    values="self",
    forms=(*_forms("CUBIC", "(x, extrapolate=False)"), *_forms("MONOTONE")[:2], *_forms("ROWS")),
    note="Of PPoly, CubicSpline, PchipInterpolator, Akima1DInterpolator and CubicHermiteSpline. Those that a function "
    "makes, but for Akima1DInterpolator, are differentiated in knots and values, too.",
)
def piecewise(z, self, x, nu=0, extrapolate=None):
    if nu == 0 and extrapolate is None:
        d[x] = over_values(d[z] * self(x, 1), x, self)
    else:
        d[x] = over_values(d[z] * self(x, nu + 1, extrapolate), x, self)


@tangent(interpolate.PPoly.__call__)
def piecewise_tangent(z, self, x, nu=0, extrapolate=None):
    if nu == 0 and extrapolate is None:
        d[z] = for_values(d[x], z, self) * self(x, 1)
    else:
        d[z] = for_values(d[x], z, self) * self(x, nu + 1, extrapolate)


@adjoint(
    interpolate.BSpline.__call__,
    name="scipy.interpolate.BSpline.__call__",
    domain=(0.1, 4.9),
    refuses={"self": OBJECT},
    values="self",
    forms=(*_forms("SUMMED"), *_forms("COLUMNS")),
    note="Of make_interp_spline, too; of degree 3 and made in the function, in knots and values as well.",
)
def bspline(z, self, x, nu=0, extrapolate=None):
    if nu == 0 and extrapolate is None:
        d[x] = over_values(d[z] * self(x, 1), x, self)
    else:
        d[x] = over_values(d[z] * self(x, nu + 1, extrapolate), x, self)


@tangent(interpolate.BSpline.__call__)
def bspline_tangent(z, self, x, nu=0, extrapolate=None):
    if nu == 0 and extrapolate is None:
        d[z] = for_values(d[x], z, self) * self(x, 1)
    else:
        d[z] = for_values(d[x], z, self) * self(x, nu + 1, extrapolate)


@adjoint.elementwise(
    interpolate.UnivariateSpline.__call__,
    name="scipy.interpolate.UnivariateSpline.__call__",
    domain=(0.1, 4.9),
    refuses={"self": OBJECT},
    values="self",
    forms=_forms("FITTED"),
    note="Of InterpolatedUnivariateSpline and LSQUnivariateSpline, too.",
)
def univariate(z, self, x, nu=0, ext=None):
    if nu == 0 and ext is None:
        d[x] = d[z] * self(x, 1)
    else:
        d[x] = d[z] * self(x, nu + 1, ext)


@adjoint.linear(
    over_values,
    forms=(("over_values(x, y, ROWS)", (2, 3), (2,)), ("over_values(x, y, COLUMNS)", (2, 4, 3), (4, 3))),
    refuses={"spline": OBJECT},
)
def over_values_adjoint(z, g, x, spline):
    d[g] = np.broadcast_to(for_values(d[z], g, spline), np.shape(g))


@adjoint.linear(
    for_values,
    forms=(("for_values(x, y, ROWS)", (2,), (2, 3)), ("for_values(x, y, COLUMNS)", (4, 3), (2, 4, 3))),
    refuses={"spline": OBJECT},
)
def for_values_adjoint(z, g, y, spline):
    d[g] = over_values(d[z], g, spline)
