"""Splines of `scipy.interpolate`, in their knots, their values and their argument; on request."""

import numpy as np
from scipy import interpolate, linalg

from srcgrad.core.rules import adjoint, constants, d, declare, declare_other_form, made_to_be_called, tangent
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.pieces import (
    akima_at,
    basis_weights,
    between,
    between_ends,
    bspline_at,
    cells_of,
    common_shape,
    corners_of_cell,
    cubic_pieces,
    derived_pieces,
    for_values,
    hermite_pieces,
    integrated_pieces,
    interpolated,
    monotone_pieces,
    nearest_points,
    over_grid,
    over_triangles,
    over_values,
    pieces_at,
    places_in_period,
    spline_ends,
    spline_weights,
    step_places,
    triangles_of,
    within_ends,
    within_grid,
)

KNOTS = "np.array([0.0, 1.0, 2.5, 4.0, 5.0])"
THREE = "np.array([0.0, 1.0, 2.5])"
MOVED = f"{KNOTS} + 0.1 * x"

constants([between, spline_ends])


def column(h, y):
    """Numbers between knots as a column for the values at the knots, which may have several axes."""
    return np.reshape(h, np.shape(h) + (1,) * (np.ndim(y) - 1))


def of_slopes(x, y, s):
    """The coefficients of the cubics that have the values y and the slopes s at the knots x."""
    h = column(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    t = (s[:-1] + s[1:] - 2.0 * m) / h
    return np.stack((t / h, (m - s[:-1]) / h - t, s[:-1], y[:-1]))


def end_row(order, value, h, m, sign):
    """The equation at an end: the factors of the slopes there and beside it, and the right side."""
    if order == 1:
        return 1.0, 0.0, value + 0.0 * m[0]
    if order == 2:
        return 2.0 * h[0], h[0], 3.0 * m[0] * h[0] - sign * 0.5 * value * h[0] ** 2
    if order == -2:
        return 1.0, 0.0, 1.0 * m[0]
    if order == -3:
        return 1.0, 1.0, 2.0 * m[0]
    both = h[0] + h[1]
    return h[1], both, ((h[0] + 2.0 * both) * h[1] * m[0] + h[0] ** 2 * m[1]) / both


def spline_slopes(x, y, bc_type):
    """The slopes at the knots of a cubic spline: a system with three bands."""
    h = np.diff(x)
    m = np.diff(y, axis=0) / column(h, y)
    first, last = spline_ends(bc_type, len(x))
    main, beside, right = end_row(first[0], first[1], h, m, 1.0)
    main_, beside_, right_ = end_row(last[0], last[1], h[::-1], m[::-1], -1.0)
    inner = 3.0 * (column(h[1:], y) * m[:-1] + column(h[:-1], y) * m[1:])
    bands = np.stack(
        (
            np.hstack((0.0, beside, h[:-1])),
            np.hstack((main, 2.0 * (h[:-1] + h[1:]), main_)),
            np.hstack((h[1:], beside_, 0.0)),
        )
    )
    sides = np.concatenate((np.expand_dims(right, 0), inner, np.expand_dims(right_, 0)))
    return np.reshape(linalg.solve_banded((1, 1), bands, np.reshape(sides, (len(x), -1))), np.shape(y))


def periodic_slopes(x, y):
    """The slopes at the knots of a cubic spline whose ends meet: a system with three bands and two corners."""
    h = np.diff(x)
    m = np.diff(y, axis=0) / column(h, y)
    before, n = np.roll(h, 1), len(h)
    matrix = 2.0 * np.diag(before + h)
    matrix = matrix + np.expand_dims(h, 1) * np.roll(np.eye(n), -1, axis=1)
    matrix = matrix + np.expand_dims(before, 1) * np.roll(np.eye(n), 1, axis=1)
    right = 3.0 * (column(h, y) * np.roll(m, 1, axis=0) + column(before, y) * m)
    s = np.reshape(np.linalg.solve(matrix, np.reshape(right, (n, -1))), np.shape(right))
    return np.concatenate((s, s[:1]))


@adjoint.composed(
    cubic_pieces,
    forms=(
        (f"cubic_pieces({MOVED}, y)[1]", (5,), (5,)),
        (f"cubic_pieces({MOVED}, 2.0 * np.ones(5))[0]", (5,)),
        (f"cubic_pieces({MOVED}, y, 'natural')[1]", (5,), (5,)),
        (f"cubic_pieces({MOVED}, y, bc_type='clamped')[1]", (5,), (5,)),
        (f"cubic_pieces({MOVED}, np.append(y, y[:1]), 'periodic')[1]", (5,), (4,)),
        (f"cubic_pieces({MOVED}, y, bc_type=((1, 0.5), (2, -1.0)))[1]", (5,), (5,)),
        (f"cubic_pieces({KNOTS}, x)[1]", (5, 2, 2)),
        (f"cubic_pieces({THREE} + 0.1 * x, y)[1]", (3,), (3,)),
        ("cubic_pieces(np.array([0.0, 2.0]) + 0.1 * x, y)[1]", (2,), (2,)),
        ("cubic_pieces(np.array([0.0, 2.0]), x, 'natural')[1]", (2, 2)),
    ),
    results=(("knots", 0), ("coefficients", 0)),
    note="Of `CubicSpline(x, y, bc_type=...)`, and of splines of degree 3 through all points.",
)
def cubic_pieces_of(x, y, bc_type="not-a-knot"):
    x = 1.0 * np.asarray(x)
    y = np.asarray(y)
    require_handled(np.all(np.diff(x) > 0.0), "a spline whose knots do not increase")
    if isinstance(bc_type, str) and bc_type == "periodic":
        require_handled(len(x) > 3, "a periodic spline through fewer than four points")
        s = periodic_slopes(x, y)
    else:
        s = spline_slopes(x, y, bc_type)
    return x, of_slopes(x, y, s)


def end_slope(h0, h1, m0, m1):
    """The slope at an end of a monotone spline, from the two intervals beside it."""
    s = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    s = np.where((np.sign(m0) != np.sign(m1)) & (np.abs(s) > 3.0 * np.abs(m0)), 3.0 * m0, s)
    return np.where(np.sign(s) == np.sign(m0), s, 0.0)


@adjoint.composed(
    monotone_pieces,
    forms=(
        (f"monotone_pieces({MOVED}, np.array([0.0, 9.0, 9.5, 2.0, 3.0]) + 0.1 * y)[1]", (5,), (5,)),
        ("monotone_pieces(np.array([0.0, 2.0]) + 0.1 * x, y)[1]", (2,), (2,)),
    ),
    results=(("knots", 0), ("coefficients", 0)),
    note="Of `PchipInterpolator(x, y)`.",
)
def monotone_pieces_of(x, y):
    x = 1.0 * np.asarray(x)
    y = np.asarray(y)
    require_handled(np.all(np.diff(x) > 0.0), "a spline whose knots do not increase")
    h = column(np.diff(x), y)
    m = np.diff(y, axis=0) / h
    if len(x) == 2:
        return x, of_slopes(x, y, np.concatenate((m, m)))
    one, two = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    turns = np.sign(m[1:]) * np.sign(m[:-1]) <= 0.0
    before, after = np.where(turns, 1.0, m[:-1]), np.where(turns, 1.0, m[1:])
    inner = np.where(turns, 0.0, (one + two) / (one / before + two / after))
    first = np.expand_dims(end_slope(h[0], h[1], m[0], m[1]), 0)
    last = np.expand_dims(end_slope(h[-1], h[-2], m[-1], m[-2]), 0)
    return x, of_slopes(x, y, np.concatenate((first, inner, last)))


@adjoint.composed(
    hermite_pieces,
    forms=(
        (f"hermite_pieces({MOVED}, y, z)[1]", (5,), (5,), (5,)),
        (f"hermite_pieces({KNOTS}, x, y)[1]", (5, 2), (5, 2)),
    ),
    results=(("knots", 0), ("coefficients", 0)),
    note="Of `CubicHermiteSpline(x, y, dydx)`.",
)
def hermite_pieces_of(x, y, dydx):
    x = 1.0 * np.asarray(x)
    require_handled(np.all(np.diff(x) > 0.0), "a spline whose knots do not increase")
    return x, of_slopes(x, np.asarray(y), np.asarray(dydx))


AT = "np.array([0.3, 1.7, 4.9, 6.0]) + 0.1 * z"


@adjoint.composed(
    pieces_at,
    forms=(
        (f"pieces_at({MOVED}, y, {AT})", (5,), (4, 4), (4,)),
        (f"pieces_at({MOVED}, y, 2.0 + 0.1 * z)", (5,), (3, 4, 2), ()),
        (f"pieces_at({MOVED}, y, np.array([[0.3, 1.7]]) + 0.1 * z)", (5,), (2, 4, 2), (1, 2)),
        (f"pieces_at({KNOTS}, x, {AT.replace('z', 'y')})", (1, 4), (4,)),
    ),
    note="The call of a spline, at places of any shape.",
)
def pieces_of_at(x, c, places):
    t = np.asarray(places)
    i = np.clip(np.searchsorted(x, t, "right") - 1, 0, len(x) - 2)
    u = np.reshape(t - x[i], np.shape(t) + (1,) * (np.ndim(c) - 2))
    powers = c[:, i]
    z = powers[0] + 0.0 * u
    for k in range(1, len(powers)):
        z = z * u + powers[k]
    return np.asarray(z)


@adjoint.composed(
    places_in_period,
    forms=((f"places_in_period({MOVED}, np.array([0.3, 7.7, -1.9]) + 0.1 * y)", (5,), (3,)),),
    note="The places of a spline with `extrapolate='periodic'`.",
)
def places_moved(x, places):
    return x[0] + np.mod(places - x[0], x[-1] - x[0])


@adjoint.composed(
    derived_pieces,
    forms=(
        ("derived_pieces(x, 1)", (4, 3)),
        ("derived_pieces(x, 3)", (4, 3, 2)),
        ("derived_pieces(x, 2)", (2, 3)),
    ),
    note="The coefficients of the derivative of a spline.",
)
def slopes_of_pieces(c, nu):
    for _ in range(nu):
        powers = np.arange(len(c) - 1.0, 0.0, -1.0)
        c = c[:-1] * np.reshape(powers, (-1,) + (1,) * (np.ndim(c) - 1)) if len(c) > 1 else 0.0 * c
    return c


@adjoint.composed(
    integrated_pieces,
    forms=(
        (f"integrated_pieces({MOVED}, y, 0.3 + 0.1 * z, 4.5)", (5,), (4, 4), ()),
        (f"integrated_pieces({KNOTS}, x, 4.5, -0.3 + 0.1 * y)", (4, 4, 2), ()),
    ),
    note="The integral of a spline; `curve.integrate(a, b)`.",
)
def integral_of_pieces(x, c, a, b):
    ends = np.stack((np.asarray(a), np.asarray(b)))
    h = column(np.diff(x), c[0])
    parts = (((c[0] / 4.0 * h + c[1] / 3.0) * h + c[2] / 2.0) * h + c[3]) * h
    i = np.clip(np.searchsorted(x, ends, "right") - 1, 0, len(x) - 2)
    u = column(ends - x[i], c[0])
    inside = (((c[0][i] / 4.0 * u + c[1][i] / 3.0) * u + c[2][i] / 2.0) * u + c[3][i]) * u
    before = np.concatenate((np.zeros_like(parts[:1]), np.cumsum(parts, axis=0)))[i]
    made = before + inside
    return np.asarray(made[1] - made[0])


STEPS = ("nearest", "nearest-up", "previous", "next", "zero", 0)


def in_order_of_knots(x, y, assume_sorted):
    require_handled(np.ndim(y) == 1, "interp1d of values with several axes")
    order = np.arange(len(x)) if assume_sorted else np.argsort(x, kind="mergesort")
    return x[order], y[order]


def filled(made, x, t, bounds_error, fill_value):
    """The values with what stands in their place beyond the ends of x."""
    if isinstance(fill_value, str):
        return made
    ends = np.broadcast_to(fill_value, (2,))
    inside = between_ends(x, t, bounds_error)
    return np.where(inside, made, np.where(t < x[0], ends[0], ends[1]))


@adjoint.composed(
    interpolated,
    forms=(
        (f"interpolated({MOVED}, y, np.array([0.3, 1.7, 4.0]) + 0.1 * z)", (5,), (5,), (3,)),
        (f"interpolated({MOVED}, y, np.array([[0.3, 1.7]]) + 0.1 * z, 'cubic')", (5,), (5,), (1, 2)),
        (f"interpolated({KNOTS}[::-1], x, 1.7 + 0.1 * y, 'previous')", (5,), ()),
        (
            f"interpolated({KNOTS}, x, np.array([-4.0, 0.3, 8.0]) + y, bounds_error=False, fill_value=(x[0], 2.0))",
            (5,),
            (3,),
        ),
    ),
    note="Of `interp1d(x, y, kind)(t)`. Steps (nearest, previous, next) have no slope; kind quadratic is not"
    " differentiated in its knots. Of values with one axis.",
)
def interpolated_of(x, y, places, kind="linear", axis=-1, copy=True, assume_sorted=False):
    require_handled(kind in ("linear", "slinear", 1), "an interp1d of a kind that is not written as a literal")
    require_handled(np.ndim(y) == 1, "interp1d of values with several axes")
    order = np.argsort(x, kind="mergesort")
    knots, heights = np.asarray(x)[order], np.asarray(y)[order]
    t = within_ends(knots, np.asarray(places))
    i = np.clip(np.searchsorted(knots, t), 1, len(knots) - 1) - 1
    slope = (heights[i + 1] - heights[i]) / (knots[i + 1] - knots[i])
    return np.asarray(heights[i] + slope * (t - knots[i]))


@adjoint(within_ends, forms=(("within_ends(np.array([-9.0, 9.0]), x)", (3,)),), result="argument")
def within_ends_adjoint(z, x, places):
    d[places] = d[z]


@tangent(within_ends)
def within_ends_tangent(z, x, places):
    d[z] = d[places]


@declare_other_form(interpolated, (), {3: "kind"}, kind=("cubic", 3))
def interpolated_by_cubics(
    x,
    y,
    places,
    kind="cubic",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    t = np.asarray(places)
    knots, heights = in_order_of_knots(np.asarray(x), np.asarray(y), assume_sorted)
    require_handled(len(knots) > 3, "interp1d of kind cubic through fewer than four points")
    pieces = of_slopes(knots, heights, spline_slopes(knots, heights, "not-a-knot"))
    return np.asarray(filled(pieces_of_at(knots, pieces, t), knots, t, bounds_error, fill_value))


@declare_other_form(interpolated, (), {3: "kind"}, kind=STEPS)
def interpolated_by_steps(
    x,
    y,
    places,
    kind="nearest",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    t = np.asarray(places)
    knots, heights = in_order_of_knots(np.asarray(x), np.asarray(y), assume_sorted)
    return np.asarray(filled(heights[step_places(knots, t, kind)], knots, t, bounds_error, fill_value))


@declare_other_form(
    interpolated,
    ((f"interpolated({KNOTS}, x, np.array([0.3, 1.7, 4.0]) + 0.1 * y, kind='quadratic')", (5,), (3,)),),
    {3: "kind"},
    kind=("quadratic", 2),
)
def interpolated_by_parabolas(
    x,
    y,
    places,
    kind="quadratic",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    t = np.asarray(places)
    require_handled(np.ndim(y) == 1, "interp1d of values with several axes")
    order = np.arange(len(x)) if assume_sorted else np.argsort(x, kind="mergesort")
    knots = np.asarray(x)[order]
    heights = np.asarray(y)[order]
    return np.asarray(filled(spline_weights(knots, t, 2) @ heights, knots, t, bounds_error, fill_value))


@declare_other_form(
    interpolated,
    (
        (
            f"interpolated({KNOTS}, x, np.array([-4.0, 0.3, 8.0]) + y, bounds_error=False, fill_value='extrapolate')",
            (5,),
            (3,),
        ),
    ),
    {6: "bounds_error", 7: "fill_value"},
    fill_value=("extrapolate",),
)
def interpolated_beyond(
    x, y, places, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value="extrapolate", assume_sorted=False
):
    require_handled(kind in ("linear", "slinear", 1), "an interp1d of a kind that is not written as a literal")
    require_handled(np.ndim(y) == 1, "interp1d of values with several axes")
    order = np.argsort(x, kind="mergesort")
    knots, heights = np.asarray(x)[order], np.asarray(y)[order]
    t = np.asarray(places)
    i = np.clip(np.searchsorted(knots, t), 1, len(knots) - 1) - 1
    slope = (heights[i + 1] - heights[i]) / (knots[i + 1] - knots[i])
    return np.asarray(heights[i] + slope * (t - knots[i]))


@declare_other_form(interpolated, (), {6: "bounds_error", 7: "fill_value"}, bounds_error=(), fill_value=())
def interpolated_or_filled(
    x, y, places, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False
):
    require_handled(kind in ("linear", "slinear", 1), "an interp1d of a kind that is not written as a literal")
    require_handled(np.ndim(y) == 1, "interp1d of values with several axes")
    order = np.argsort(x, kind="mergesort")
    knots, heights = np.asarray(x)[order], np.asarray(y)[order]
    t = np.asarray(places)
    i = np.clip(np.searchsorted(knots, t), 1, len(knots) - 1) - 1
    slope = (heights[i + 1] - heights[i]) / (knots[i + 1] - knots[i])
    return np.asarray(filled(heights[i] + slope * (t - knots[i]), knots, t, bounds_error, fill_value))


@adjoint(
    spline_weights,
    refuses={"x": "of kind quadratic, knots have no rule"},
    forms=((f"spline_weights({KNOTS}, np.array([0.3, 1.7]) + 0.1 * x, 2)", (2,)),),
)
def spline_weights_adjoint(z, x, places, degree, nu=0):
    d[places] = np.sum(d[z] * spline_weights(x, places, degree, nu + 1), axis=-1)


@tangent(spline_weights)
def spline_weights_tangent(z, x, places, degree, nu=0):
    d[z] = np.expand_dims(d[places], -1) * spline_weights(x, places, degree, nu + 1)


def akima_slopes(x, y, method):
    """The slopes at the knots after Akima: means of those beside, weighted by how little the others change."""
    m = np.diff(y, axis=0) / column(np.diff(x), y)
    first, last = 2.0 * m[:1] - m[1:2], 2.0 * m[-1:] - m[-2:-1]
    m = np.concatenate((2.0 * first - m[:1], first, m, last, 2.0 * last - m[-1:]))
    bends = np.abs(np.diff(m, axis=0))
    if method == "makima":
        bends = bends + 0.5 * np.abs(m[1:] + m[:-1])
    both = bends[2:] + bends[:-2]
    even = both <= 1e-9 * np.max(both, initial=-np.inf)
    whole = np.where(even, 1.0, both)
    return np.where(even, 0.5 * (m[3:] + m[:-3]), (bends[2:] * m[1:-2] + bends[:-2] * m[2:-1]) / whole)


@adjoint.composed(
    akima_at,
    forms=(
        (f"akima_at({MOVED}, y + np.array([0.0, 9.0, 2.0, 7.0, 3.0]), np.array([0.3, 1.7, 9.0]))[:2]", (5,), (5,)),
        (f"akima_at({KNOTS}, x + np.array([0.0, 9.0, 2.0, 7.0, 3.0]), 6.0 + y, 0, 'makima', True)", (5,), ()),
    ),
    note="Of `Akima1DInterpolator(x, y)(t)`.",
)
def akima_of_at(x, y, places, axis=0, method="akima", extrapolate=None):
    t, knots, heights = np.asarray(places), 1.0 * np.asarray(x), np.asarray(y)
    require_handled(axis == 0 and len(knots) > 2, "Akima1DInterpolator of two points, or along another axis")
    made = pieces_of_at(knots, of_slopes(knots, heights, akima_slopes(knots, heights, method)), t)
    if not extrapolate:
        inside = between_ends(knots, t, False)
        made = np.where(np.reshape(inside, np.shape(inside) + (1,) * (np.ndim(heights) - 1)), made, np.nan)
    return made


BASIS = "np.array([0.0, 0.0, 0.0, 1.0, 2.5, 2.5, 2.5])"


@adjoint.composed(
    bspline_at,
    forms=(
        (f"bspline_at({BASIS}, x, 2, np.array([0.3, 1.7]) + 0.1 * y)", (4,), (2,)),
        (f"bspline_at({BASIS}, x, 2, 1.7 + 0.1 * y)", (4, 2), ()),
    ),
    note="Of `BSpline(t, c, k)(x)`, in its coefficients and its argument.",
)
def bspline_of_at(t, c, k, places, extrapolate=True, axis=0):
    require_handled(extrapolate is True and axis == 0, "BSpline that ends or repeats, or along another axis")
    rows = basis_weights(t, k, places)
    return np.tensordot(rows, np.asarray(c)[: np.shape(rows)[-1]], 1)


@adjoint(
    basis_weights,
    refuses={"t": "the knots of a B-spline have no rule"},
    forms=((f"basis_weights({BASIS}, 2, np.array([0.3, 1.7]) + 0.1 * x)", (2,)),),
)
def basis_weights_adjoint(z, t, k, places, nu=0):
    d[places] = np.sum(d[z] * basis_weights(t, k, places, nu + 1), axis=-1)


@tangent(basis_weights)
def basis_weights_tangent(z, t, k, places, nu=0):
    d[z] = np.expand_dims(d[places], -1) * basis_weights(t, k, places, nu + 1)


constants([step_places, between_ends, cells_of, corners_of_cell, within_grid, triangles_of, nearest_points])


def coordinates(xi, n):
    """Places as rows: of several arrays, one for each axis, of one array as it is."""
    if isinstance(xi, tuple):
        shape = common_shape(xi)
        return np.stack([np.broadcast_to(one, shape) for one in xi], axis=-1)
    rows = np.asarray(xi)
    return np.reshape(rows, (-1, n)) if np.ndim(rows) == 1 else rows


GRID = "(np.array([0.0, 1.0, 2.5]), np.array([0.0, 2.0, 3.0, 4.0]))"


@adjoint.composed(
    over_grid,
    forms=(
        (f"over_grid({GRID}, x, (0.3 + 0.1 * y, 1.7 + 0.1 * z))", (3, 4, 2), (2,), ()),
        (
            "over_grid((np.array([0.0, 1.0, 2.5]) + 0.1 * x, np.arange(2.0)), y, np.array([0.3, 7.0]) + 0.1 * z, "
            "bounds_error=False, fill_value=None)",
            (3,),
            (3, 2),
            (2,),
        ),
    ),
    note="Of `RegularGridInterpolator(points, values)(xi)` and `interpn`, of method linear.",
)
def over_grid_of(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    require_handled(method == "linear", "an interpolation over a grid that is not linear")
    table = np.asarray(values)
    n = len(points)
    rows = coordinates(xi, n)
    cells = cells_of(points, rows)
    lengths = np.array([len(one) for one in points])
    ends = np.concatenate(points)
    first = np.cumsum(lengths) - lengths + cells
    u = (rows - ends[first]) / (ends[first + 1] - ends[first])
    corners = np.expand_dims(corners_of_cell(n), tuple(range(1, np.ndim(rows))))
    weights = np.prod(np.where(corners == 1, u, 1.0 - u), axis=-1)
    strides = np.append(np.cumprod(lengths[:0:-1])[::-1], 1)
    whole = np.reshape(table, (-1, *np.shape(table)[n:]))
    at = whole[np.sum((cells + corners) * strides, axis=-1)]
    made = np.sum(np.reshape(weights, np.shape(weights) + (1,) * (np.ndim(table) - n)) * at, axis=0)
    inside = within_grid(points, rows, bounds_error, fill_value)
    inside = np.reshape(inside, np.shape(inside) + (1,) * (np.ndim(table) - n))
    return np.where(inside, made, np.nan if fill_value is None else fill_value)


@adjoint.composed(
    interpolate.interpn,
    forms=(("scipy.interpolate.interpn(2 * (np.array([-3.0, 0.1, 3.0]),), x, y)", (3, 3), (2, 2)),),
    note="Of method linear.",
)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    return over_grid(points, values, xi, method, bounds_error, fill_value)


SCATTERED = "np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [4.0, 5.0], [1.0, 1.5]])"


@adjoint.composed(
    over_triangles,
    forms=((f"over_triangles({SCATTERED} + 0.1 * x, y, np.array([[0.3, 0.7], [9.0, 9.0]]), 0.0)", (5, 2), (5,)),),
    note="Of `LinearNDInterpolator(points, values)(xi)`, and of `griddata` of method linear.",
)
def over_triangles_of(points, values, xi, fill_value=np.nan, rescale=False):
    require_handled(not rescale, "points that are rescaled")
    require_handled(isinstance(points, tuple) or np.ndim(points) == 2, "points on a line: use np.interp")
    sites = coordinates(points, 2)
    values = np.asarray(values)
    rows = coordinates(xi, np.shape(sites)[1])
    corners = triangles_of(sites, rows)
    inside = corners[..., 0] >= 0
    at = sites[np.where(corners < 0, triangles_of(sites, np.mean(sites, axis=0)), corners)]
    last = at[..., -1, :]
    sides = np.swapaxes(at[..., :-1, :] - np.expand_dims(last, -2), -1, -2)
    weights = np.linalg.solve(sides, np.expand_dims(rows - last, -1))[..., 0]
    rest = 1.0 - np.sum(weights, axis=-1, keepdims=True)
    whole = np.concatenate((weights, rest), axis=-1)
    axes = (1,) * (np.ndim(values) - 1)
    made = np.sum(np.reshape(whole, np.shape(whole) + axes) * values[corners], axis=np.ndim(rows) - 1)
    return np.where(np.reshape(inside, np.shape(inside) + axes), made, fill_value)


@adjoint.composed(
    interpolate.griddata,
    forms=((f"scipy.interpolate.griddata({SCATTERED}, x, np.array([[0.3, 0.7]]) + 0.1 * y)", (5,), (1, 2)),),
    note="Of method linear, or nearest by a literal.",
)
def griddata(points, values, xi, method="linear", fill_value=np.nan, rescale=False):
    require_handled(method == "linear", "a method of griddata other than linear and nearest")
    return over_triangles(points, values, xi, fill_value, rescale)


@declare_other_form(
    interpolate.griddata,
    ((f"scipy.interpolate.griddata({SCATTERED}, x, np.array([[0.3, 0.7]]), method='nearest')", (5,)),),
    {3: "method"},
    method=("nearest",),
)
def griddata_nearest(points, values, xi, method, fill_value=np.nan, rescale=False):
    require_handled(not rescale, "points that are rescaled")
    sites = coordinates(points, 2)
    return np.asarray(values)[nearest_points(sites, coordinates(xi, np.shape(sites)[1]))]


def held_by_interp1d(made):
    """How the parameters of an `interp1d` are read."""
    fill = "(self.fill_value[0], self.fill_value[1])" if isinstance(made.fill_value, tuple) else "self.fill_value"
    kind = made._spline.k if made._kind == "spline" else made._kind
    fill = "'extrapolate'" if made._extrapolate else fill
    known = {"bounds_error": repr(made.bounds_error), "fill_value": fill} if not made.bounds_error else {}
    known |= {"kind": repr(kind)} if kind != "linear" else {}
    return {"x": "self.x", "y": "self.y", **known, "assume_sorted": "True"}


def held_by_grid(made):
    """How the parameters of a `RegularGridInterpolator` are read."""
    known = {one: f"self.{one}" for one in ("method", "bounds_error", "fill_value")}
    return {"points": "self.grid", "values": "self.values", **known}


made_to_be_called(
    interpolate.interp1d,
    interpolated,
    made=("x", "y", "kind", "axis", "copy", "bounds_error", "fill_value", "assume_sorted"),
    required=2,
    held=held_by_interp1d,
    copies=True,
)
made_to_be_called(
    interpolate.Akima1DInterpolator,
    akima_at,
    made=("x", "y", "axis", "method", "extrapolate"),
    required=2,
    held=lambda made: None,
    copies=True,
)
made_to_be_called(
    interpolate.BSpline,
    bspline_at,
    made=("t", "c", "k", "extrapolate", "axis"),
    required=3,
    held=lambda made: None,
)
made_to_be_called(
    interpolate.RegularGridInterpolator,
    over_grid,
    made=("points", "values", "method", "bounds_error", "fill_value"),
    required=2,
    held=held_by_grid,
)
made_to_be_called(
    interpolate.LinearNDInterpolator,
    over_triangles,
    made=("points", "values", "fill_value", "rescale"),
    required=2,
    held=lambda made: {"points": "self.points", "values": "self.values[:, 0]", "fill_value": "self.fill_value"},
    together=True,
)


OBJECT = "it is an object that was made before"
SPLINE_KNOTS = np.array([0.0, 1.0, 2.5, 4.0, 5.0])
HEIGHTS = np.array([1.0, -1.0, 2.0, 0.5, 3.0])
CUBIC = interpolate.CubicSpline(SPLINE_KNOTS, HEIGHTS)
MONOTONE = interpolate.PchipInterpolator(SPLINE_KNOTS, HEIGHTS)
SUMMED = interpolate.make_interp_spline(SPLINE_KNOTS, HEIGHTS)
ROWS = interpolate.CubicSpline(SPLINE_KNOTS, np.stack([HEIGHTS, HEIGHTS**2, -HEIGHTS], axis=1))
COLUMNS = interpolate.make_interp_spline(SPLINE_KNOTS, np.stack([HEIGHTS, HEIGHTS**2]), axis=1)
WIDE = np.linspace(0.0, 5.0, 9)
SURFACE = interpolate.RectBivariateSpline(WIDE, WIDE, np.sin(np.outer(WIDE, WIDE)) + WIDE, kx=5, ky=5)
FITTED = interpolate.InterpolatedUnivariateSpline(SPLINE_KNOTS, HEIGHTS)


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


@adjoint.elementwise(
    interpolate.BivariateSpline.ev,
    name="scipy.interpolate.RectBivariateSpline.ev",
    domain=(0.1, 4.9),
    refuses={"self": OBJECT},
    forms=(
        ("scipy.interpolate.RectBivariateSpline.ev(SURFACE, x, y)", (2,), (2,)),
        ("scipy.interpolate.RectBivariateSpline.ev(SURFACE, x, y)", (2, 1), (3,)),
        ("scipy.interpolate.RectBivariateSpline.ev(SURFACE, x, y + 4.0)", (2,), (2,)),
        ("scipy.interpolate.RectBivariateSpline.ev(SURFACE, x, y, dx=1)", (2,), (2,)),
        ("scipy.interpolate.RectBivariateSpline.ev(SURFACE, x, 1.5)", ()),
    ),
    note="Of SmoothBivariateSpline and LSQBivariateSpline, too. Orders of a derivative lie below the degree: SciPy "
    "raises ValueError for others. Beyond the ends the spline does not change.",
)
def surface(z, self, xi, yi, dx=0, dy=0):
    d[xi] = d[z] * (between(xi, self, 0) * self.ev(xi, yi, dx + 1, dy))
    d[yi] = d[z] * (between(yi, self, 1) * self.ev(xi, yi, dx, dy + 1))


@adjoint.elementwise(
    interpolate.BivariateSpline.__call__,
    name="scipy.interpolate.RectBivariateSpline.__call__",
    domain=(0.1, 4.9),
    refuses={"self": OBJECT},
    forms=(
        ("SURFACE(x, y, grid=False)", (2,), (2,)),
        ("SURFACE(x, y, 0, 0, False)", (2, 1), (3,)),
    ),
    note="With `grid=False`, as `ev`; in place of a grid, `ev(x[:, None], y)`.",
)
def surface_called(z, self, x, y, dx=0, dy=0, grid=True):
    d[x] = d[z] * (between(x, self, 0, grid) * self.ev(x, y, dx + 1, dy))
    d[y] = d[z] * (between(y, self, 1, grid) * self.ev(x, y, dx, dy + 1))


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
    result="argument",
)
def for_values_adjoint(z, g, y, spline):
    d[g] = over_values(d[z], g, spline)


INTERPOLANTS = """interp1d interpn griddata make_.* spl(rep|prep|ev|int) sproot spalde .*Spline .*Poly Rbf
.*Interpolator .*_interpolate approximate_taylor_polynomial lagrange pade bispl.*"""

declare(
    interpolate,
    "scipy.interpolate",
    INTERPOLANTS,
    "it makes an object, or has no rule; use np.interp, or a CubicSpline that has one name and is only called",
)
