"""Splines made of pieces, and how they are called."""

from __future__ import annotations

from typing import Any  # arrays of floats

import numpy as np

from srcgrad.runtime.layout import require_handled


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


def pieces_at(x: Any, c: Any, places: Any) -> Any:
    """The values at places of a spline with knots `x` and coefficients `c`; the outer polynomials go on beyond them.

    >>> pieces_at([0.0, 1.0, 2.0], [[1.0, 1.0], [0.0, 1.0]], np.array([0.5, 1.5])).tolist()
    [0.5, 1.5]
    """
    from scipy.interpolate import PPoly  # late: SciPy may be absent

    return PPoly(c, x)(places, extrapolate=True)


def places_in_period(x: Any, places: Any) -> Any:
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
