"""Splines made of pieces, and how they are called; polynomials, lines and densities that fit points."""

from __future__ import annotations

from typing import Any  # arrays of floats

import numpy as np

from srcgrad.runtime.layout import require_handled

Array = Any  # numbers and arrays of numbers


def cubic_pieces(x: Any, y: Any, bc_type: Any = "not-a-knot") -> tuple[Any, Any]:
    """Knots and coefficients of `scipy.interpolate.CubicSpline(x, y, bc_type=bc_type)`.

    >>> x, c = cubic_pieces([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> x.tolist(), c.shape, np.allclose(c[1], 1.0)
    ([0.0, 1.0, 2.0], (4, 2), True)
    """
    from scipy.interpolate import CubicSpline  # late: SciPy may be absent

    made = CubicSpline(x, y, bc_type=bc_type)
    return made.x, made.c


def monotone_pieces(x: Any, y: Any) -> tuple[Any, Any]:
    """Knots and coefficients of `scipy.interpolate.PchipInterpolator(x, y)`.

    >>> monotone_pieces([0.0, 1.0], [0.0, 2.0])[1].ravel().tolist()
    [0.0, 0.0, 2.0, 0.0]
    """
    from scipy.interpolate import PchipInterpolator  # late: SciPy may be absent

    made = PchipInterpolator(x, y)
    return made.x, made.c


def hermite_pieces(x: Any, y: Any, dydx: Any) -> tuple[Any, Any]:
    """Knots and coefficients of `scipy.interpolate.CubicHermiteSpline(x, y, dydx)`.

    >>> hermite_pieces([0.0, 1.0], [0.0, 1.0], [0.0, 0.0])[1].ravel().tolist()
    [-2.0, 3.0, 0.0, 0.0]
    """
    from scipy.interpolate import CubicHermiteSpline  # late: SciPy may be absent

    made = CubicHermiteSpline(x, y, dydx)
    return made.x, made.c


def pieces_at(x: Array, c: Array, places: Array) -> Array:
    """The values at places of a spline with knots `x` and coefficients `c`; the outer polynomials go on beyond them.

    >>> pieces_at([0.0, 1.0, 2.0], [[1.0, 1.0], [0.0, 1.0]], np.array([0.5, 1.5])).tolist()
    [0.5, 1.5]
    """
    from scipy.interpolate import PPoly  # late: SciPy may be absent

    return PPoly(c, x)(places, extrapolate=True)


def places_in_period(x: Array, places: Array) -> Array:
    """Places between the first knot and the last, by whole multiples of that distance.

    >>> places_in_period(np.array([0.0, 1.0, 2.0]), np.array([0.5, 2.5]))
    array([0.5, 0.5])
    """
    return x[0] + np.mod(places - x[0], x[-1] - x[0])


def derived_pieces(c: Any, nu: int) -> Any:
    """The coefficients of the derivative of order `nu` of a spline with coefficients `c`.

    >>> derived_pieces(np.array([[1.0], [2.0], [3.0]]), 1).tolist()
    [[2.0], [2.0]]
    """
    from scipy.interpolate import PPoly  # late: SciPy may be absent

    return PPoly(c, np.arange(np.shape(c)[1] + 1.0)).derivative(nu).c


def integrated_pieces(x: Any, c: Any, a: Any, b: Any) -> Any:
    """The integral from `a` to `b` of a spline with knots `x` and coefficients `c`.

    >>> float(integrated_pieces([0.0, 1.0, 2.0], [[1.0, 1.0], [0.0, 1.0]], 0.0, 2.0))
    2.0
    """
    from scipy.interpolate import PPoly  # late: SciPy may be absent

    return PPoly(c, x).integrate(a, b)


def spline_ends(bc_type: Any, knots: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """What holds at both ends of a cubic spline: the order of a derivative and its value; 0 stands for no knot.

    Few knots leave nothing free: a parabola (-3) through three of them, a line (-2) through two.

    >>> spline_ends("natural", 5)
    ((2, 0.0), (2, 0.0))
    >>> spline_ends(("not-a-knot", (1, 0.5)), 3)
    ((0, 0.0), (1, 0.5))
    """
    named = {"not-a-knot": (0, 0.0), "clamped": (1, 0.0), "natural": (2, 0.0)}
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    first, last = (named[end] if isinstance(end, str) else end for end in both)
    if knots == 2:
        first, last = ((-2, 0.0) if end[0] == 0 else end for end in (first, last))
    if knots == 3 and first[0] == last[0] == 0:
        first = last = (-3, 0.0)
    return first, last


def interpolated(
    x: Array,
    y: Array,
    places: Array,
    kind: str | int = "linear",
    axis: int = -1,
    copy: bool = True,
    bounds_error: bool | None = None,
    fill_value: Array = np.nan,
    assume_sorted: bool = False,
) -> Array:
    """What `scipy.interpolate.interp1d(x, y, kind, ...)` gives at places.

    >>> interpolated([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], [0.5, 1.5]).tolist()
    [0.5, 2.5]
    """
    from scipy.interpolate import interp1d  # late: SciPy may be absent

    return interp1d(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)(places)


def akima_at(
    x: Array, y: Array, places: Array, axis: int = 0, method: str = "akima", extrapolate: bool | None = None
) -> Array:
    """What `scipy.interpolate.Akima1DInterpolator(x, y, ...)` gives at places.

    >>> akima_at([0.0, 1.0, 2.0], [0.0, 2.0, 4.0], np.array([0.5, 9.0])).tolist()
    [1.0, nan]
    """
    from scipy.interpolate import Akima1DInterpolator  # late: SciPy may be absent

    return Akima1DInterpolator(x, y, axis, method=method, extrapolate=extrapolate)(places)


def bspline_at(t: Array, c: Array, k: int, places: Array, extrapolate: bool | str = True, axis: int = 0) -> Array:
    """What `scipy.interpolate.BSpline(t, c, k, extrapolate)` gives at places.

    >>> bspline_at([0.0, 0.0, 1.0, 1.0], [1.0, 3.0], 1, 0.25).tolist()
    1.5
    """
    from scipy.interpolate import BSpline  # late: SciPy may be absent

    return BSpline(t, c, k, extrapolate, axis)(places)


def basis_weights(t: Array, k: int, places: Array, nu: int = 0) -> Array:
    """What each coefficient of a B-spline adds to its values, or to a derivative, at places: a row for each place.

    >>> basis_weights(np.array([0.0, 0.0, 1.0, 1.0]), 1, 0.25).tolist()
    [0.75, 0.25]
    """
    from scipy.interpolate import BSpline  # late: SciPy may be absent

    return BSpline(t, np.eye(len(t) - k - 1), k)(places, nu)


def density_at(dataset: Array, points: Array, bw_method: Array = None) -> Array:
    """What `scipy.stats.gaussian_kde(dataset, bw_method)` gives at points.

    >>> density_at([-1.0, 1.0], [0.0]).round(6).tolist()
    [0.23299]
    """
    from scipy.stats import gaussian_kde  # late: SciPy may be absent

    return gaussian_kde(dataset, bw_method)(points)


def line_found(x: Array, y: Array, alternative: str = "two-sided") -> tuple[Array, ...]:
    """The parts of what `scipy.stats.linregress(x, y)` gives.

    >>> [float(part) for part in line_found([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])[:3]]
    [2.0, 1.0, 1.0]
    """
    from scipy.stats import linregress  # late: SciPy may be absent

    found = linregress(x, y, alternative)
    return (*found, found.intercept_stderr)


def powers_at(c: Array, places: Array) -> Array:
    """What `np.poly1d(c)` gives at places.

    >>> float(powers_at([1.0, 2.0], 3.0))
    5.0
    """
    return np.poly1d(c)(places)


def series_at(coef: Array, places: Array) -> Array:
    """What `np.polynomial.Polynomial(coef)` gives at places.

    >>> float(series_at([1.0, 2.0], 3.0))
    7.0
    """
    return np.polynomial.Polynomial(coef)(places)


def chebyshev_at(coef: Array, places: Array) -> Array:
    """What `np.polynomial.Chebyshev(coef)` gives at places.

    >>> float(chebyshev_at([1.0, 0.0, 2.0], 3.0))
    35.0
    """
    return np.polynomial.Chebyshev(coef)(places)


def legendre_at(coef: Array, places: Array) -> Array:
    """What `np.polynomial.Legendre(coef)` gives at places.

    >>> float(legendre_at([1.0, 0.0, 2.0], 3.0))
    27.0
    """
    return np.polynomial.Legendre(coef)(places)


def fitted_at(x: Array, y: Array, deg: int, places: Array, w: Array = None) -> Array:
    """What `np.polynomial.Polynomial.fit(x, y, deg, w=w)` gives at places.

    >>> round(float(fitted_at([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1, 1.5)), 12)
    4.0
    """
    return np.polynomial.Polynomial.fit(x, y, deg, w=w)(places)


def step_places(x: Array, places: Array, kind: str) -> Array:
    """Which of the values at x a step function takes: that of the nearest, of the previous or of the next.

    >>> step_places(np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 2.0]), "nearest").tolist()
    [0, 1, 2]
    """
    from scipy.interpolate import interp1d  # late: SciPy may be absent

    return interp1d(x, np.arange(len(x)), kind, fill_value="extrapolate")(places).astype(int)


def spline_weights(x: Array, places: Array, degree: int, nu: int = 0) -> Array:
    """What each value at x adds to a spline through all of them, or to a derivative, at places: a row for each.

    >>> spline_weights(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.5]), 2).tolist()
    [[0.0, 1.0, 0.0], [-0.125, 0.75, 0.375]]
    """
    from scipy.interpolate import make_interp_spline  # late: SciPy may be absent

    return make_interp_spline(x, np.eye(len(x)), degree)(places, nu)


def between_ends(x: Array, places: Array, bounds_error: bool | None) -> Array:
    """Where places lie between the first of x and the last; ValueError for others, but if `bounds_error` is False.

    >>> between_ends(np.array([0.0, 1.0]), np.array([0.5, 2.0]), False).tolist()
    [True, False]
    """
    if bounds_error is not False and np.any(places < x[0]):
        raise ValueError("A value in x_new is below the interpolation range.")
    if bounds_error is not False and np.any(places > x[-1]):
        raise ValueError("A value in x_new is above the interpolation range.")
    return (places >= x[0]) & (places <= x[-1])


def within_ends(x: Array, places: Array) -> Array:
    """Places, if none lies before the first of x or behind the last; else ValueError.

    >>> within_ends(np.array([0.0, 1.0]), 0.5)
    0.5
    """
    between_ends(x, places, True)
    return places


def over_grid(
    points: Array,
    values: Array,
    xi: Array,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Array = np.nan,
) -> Array:
    """What `scipy.interpolate.RegularGridInterpolator(points, values, ...)` gives at places.

    >>> over_grid(([0.0, 1.0], [0.0, 2.0]), [[0.0, 2.0], [1.0, 3.0]], [[0.5, 1.0]]).tolist()
    [1.5]
    """
    from scipy.interpolate import RegularGridInterpolator  # late: SciPy may be absent

    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


def cells_of(points: Array, xi: Array) -> Array:
    """The cell of a grid in which each place lies: the number of its lower end along each axis.

    >>> cells_of(([0.0, 1.0, 2.0], [0.0, 2.0]), np.array([[1.5, 1.0], [9.0, -1.0]])).tolist()
    [[1, 0], [1, 0]]
    """
    ends = zip(points, np.moveaxis(xi, -1, 0), strict=True)
    return np.stack([np.clip(np.searchsorted(x, t, "right") - 1, 0, len(x) - 2) for x, t in ends], axis=-1)


def common_shape(values: Array) -> tuple[int, ...]:
    """The shape to which several values broadcast together.

    >>> common_shape((np.zeros((2, 1)), 0.0, np.zeros(3)))
    (2, 3)
    """
    return np.broadcast_shapes(*map(np.shape, values))


def corners_of_cell(n: int) -> Array:
    """The corners of a cell of n axes, a row for each: 0 stands for the lower end of an axis, 1 for the upper one.

    >>> corners_of_cell(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.indices((2,) * n).reshape(n, -1).T


def within_grid(points: Array, xi: Array, bounds_error: bool, fill_value: Array) -> Array:
    """Where the value of a grid is taken: everywhere without `fill_value`; ValueError beyond it with `bounds_error`.

    >>> within_grid(([0.0, 1.0],), np.array([[0.5], [2.0]]), False, 0.0).tolist()
    [True, False]
    """
    ends = list(zip(points, np.moveaxis(xi, -1, 0), strict=True))
    for k, (x, t) in enumerate(ends):
        if bounds_error and not np.all((t >= x[0]) & (t <= x[-1])):
            raise ValueError(f"One of the requested xi is out of bounds in dimension {k}")
    if fill_value is None:
        return np.ones(np.shape(xi)[:-1], bool)
    return np.all([(t >= x[0]) & (t <= x[-1]) for x, t in ends], axis=0)


def over_triangles(points: Array, values: Array, xi: Array, fill_value: Array = np.nan, rescale: bool = False) -> Array:
    """What `scipy.interpolate.LinearNDInterpolator(points, values)` gives at places.

    >>> over_triangles([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0, 1.0, 2.0], [[0.25, 0.5]]).tolist()
    [1.25]
    """
    from scipy.interpolate import LinearNDInterpolator  # late: SciPy may be absent

    return LinearNDInterpolator(points, values, fill_value, rescale)(xi)


def triangles_of(points: Array, xi: Array) -> Array:
    """The corners of the simplex in which each place lies, as numbers of points; -1 in a row for those in none.

    >>> sites = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> triangles_of(sites, np.array([[0.2, 0.2], [2.0, 2.0]])).min(-1).tolist()
    [0, -1]
    """
    from scipy.spatial import Delaunay  # late: SciPy may be absent

    whole = Delaunay(points)
    found = whole.find_simplex(xi)
    return np.where(np.expand_dims(found, -1) < 0, -1, whole.simplices[found])


def nearest_points(points: Array, xi: Array) -> Array:
    """The number of the point that is nearest to each place.

    >>> nearest_points(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.2, 0.2], [2.0, 2.0]])).tolist()
    [0, 1]
    """
    from scipy.spatial import cKDTree  # late: SciPy may be absent

    return cKDTree(points).query(xi)[1]


def over_values(g: Any, x: Any, spline: Any) -> Any:
    """`g`, of the shape of `spline(x)`, summed over the axes that are not those of `x`.

    >>> from types import SimpleNamespace
    >>> over_values(np.ones((2, 3)), np.zeros(2), SimpleNamespace(axis=0))
    array([3., 3.])
    """
    first, rank = spline.axis, np.ndim(x)
    others = tuple(k for k in range(np.ndim(g)) if not first <= k < first + rank)
    return np.sum(g, axis=others) if others else g


def for_values(g: Any, z: Any, spline: Any) -> Any:
    """`g`, of the shape of x, with axes of length 1 for those that `z = spline(x)` has besides.

    >>> from types import SimpleNamespace
    >>> for_values(np.ones(2), np.ones((2, 3)), SimpleNamespace(axis=0)).shape
    (2, 1)
    """
    first, rank = spline.axis, np.ndim(g)
    return np.reshape(g, (1,) * first + np.shape(g) + (1,) * (np.ndim(z) - first - rank))


def between(places: Any, surface: Any, axis: int, grid: bool = False) -> Any:
    """1.0 where a place lies between the ends of a bivariate spline along an axis, else 0.0; E5006 for a grid.

    >>> from types import SimpleNamespace
    >>> between(np.array([0.5, 2.5]), SimpleNamespace(get_knots=lambda: ([0.0, 2.0], [0.0, 1.0])), 0)
    array([1., 0.])
    """
    require_handled(not grid, "the grid of a bivariate spline: write `surface.ev(x[:, None], y)`")
    knots = surface.get_knots()[axis]
    return np.where((places >= knots[0]) & (places <= knots[-1]), 1.0, 0.0)
