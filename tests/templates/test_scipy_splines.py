"""Splines that are made before and called, as globals and as arguments; those that the function makes itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import (
    CubicHermiteSpline,
    CubicSpline,
    InterpolatedUnivariateSpline,
    PchipInterpolator,
    RectBivariateSpline,
    RegularGridInterpolator,
    griddata,
    interp1d,
    make_interp_spline,
)

from srcgrad import check_grads, grad, hvp, jvp, source
from srcgrad.core.errors import DifferentiationError

T = np.linspace(0.0, 4.0, 6)
TABLE = CubicSpline(T, np.sin(T))
PATH = make_interp_spline(T, np.stack([np.sin(T), np.cos(T)], axis=1))
WAVE = CubicSpline(T, np.exp(1j * T))
X = np.array([0.3, 1.7])


def looked_up(x):
    return np.sum(TABLE(x) ** 2)


def speed(t):
    return np.sum(PATH(t, 1) ** 2)


def given(x, table):
    return np.sum(table(x) * x)


def intensity(x):
    return np.sum(np.abs(WAVE(x)) ** 2)


def test_splines_of_the_module():
    check_grads(looked_up, (X,), order=2)
    check_grads(speed, (X,), order=2)
    check_grads(speed, (1.3,), order=2)


def test_the_text_calls_the_spline_for_its_slope():
    assert "* TABLE(x) * TABLE(x, 1)" in source(looked_up)


def test_a_spline_as_an_argument():
    assert np.allclose(grad(given)(X, TABLE), TABLE(X) + X * TABLE(X, 1), rtol=1e-14)


def test_complex_values_of_a_spline_are_refused():
    with pytest.raises(DifferentiationError, match="E5017"):
        grad(intensity)(X)


HILLS = RectBivariateSpline(T, T, np.sin(np.outer(T, T)) + T)


def height(x):
    return np.sum(HILLS.ev(x[:2], x[2:]) ** 2)


def heights_beside(x):
    return np.sum(HILLS(x[:2, None], x[2:], grid=False) ** 2)


def of_a_surface_made(x, y):
    hills = RectBivariateSpline(T, T, np.sin(np.outer(T, T)) + T)
    return hills.ev(1.3 * x, y)


def over_a_grid(x):
    return np.sum(HILLS(np.sort(x[:2]), np.sort(x[2:])) ** 2)


def test_surfaces_by_their_places():
    places = np.array([0.5, 1.7, 3.3, 2.1])
    for function in (height, heights_beside):
        check_grads(function, (places,), order=2)
        check_grads(function, (places + 2.5,), order=2)  # beyond the end the surface is level
    check_grads(of_a_surface_made, (1.2, 0.7), order=1)
    assert grad(height)(np.array([9.0, 9.0, -1.0, 2.0])).tolist()[:3] == [0.0, 0.0, 0.0]
    with pytest.raises(DifferentiationError, match=r"E5006.*ev\(x\[:, None\], y\)"):
        grad(over_a_grid)(places)


def made_of_rows(x, y, t):
    """Values, a slope, a curvature and an integral of a spline that is called where it is made, and in a nested one."""
    curve = CubicSpline(x, np.stack([y, y**2], axis=1), bc_type="natural")

    def slope(u):
        return curve(u, nu=1)[0]

    rise = sum(slope(u) for u in t) + curve.derivative(2)(t[1])[1]
    return rise + np.sum(curve.integrate(t[0], 3.0)) + np.sum(curve.c[0] * curve.x[1:, None])


def made_of_each(x, y, t):
    closed = CubicSpline(x, np.append(y[:-1], y[0]), bc_type="periodic")
    tied = PchipInterpolator(x, y)
    through = InterpolatedUnivariateSpline(x, y)
    led = CubicHermiteSpline(x, y, np.cos(y))
    return (
        np.sum(closed(t + 4.0) * tied(t)) + through.integral(0.5, t[0]) + np.sum(led(t) * make_interp_spline(x, y)(t))
    )


def kept(y):
    curve = CubicSpline(T, y)
    return sum(f(1.3) for f in [curve])


@pytest.mark.parametrize("made", [made_of_rows, made_of_each])
def test_a_spline_that_is_made_of_what_is_differentiated(made):
    check_grads(made, (T + 0.1 * np.sin(T), np.sin(T) + 0.2 * T, np.array([0.3, 1.7, 3.1])), order=1, directions=1)


def at_whole_numbers(y):
    return CubicSpline(np.arange(5), y)(2.5) ** 2 + PchipInterpolator(range(5), y)(1.2)


def test_knots_may_be_integers():
    y, v = np.array([0.1, 0.7, 0.4, 1.2, 0.9]), np.array([0.3, -0.2, 0.5, 0.1, -0.4])
    check_grads(at_whole_numbers, (y,), order=1, directions=1)
    gradient, step = grad(at_whole_numbers), 1e-5 * v
    found = (gradient(y + step) - gradient(y - step)) / 2e-5
    assert np.allclose(hvp(at_whole_numbers)(y, v), found, rtol=1e-7)


def test_the_second_derivative_of_a_spline_by_its_values():
    def square(y):
        return CubicSpline(T, y)(1.3) ** 2

    weights = CubicSpline(T, np.eye(6))(1.3)
    assert np.allclose(hvp(square)(np.sin(T), np.cos(T)), 2.0 * weights * (weights @ np.cos(T)), rtol=1e-12)


def test_a_spline_that_is_kept_as_an_object_is_refused():
    with pytest.raises(DifferentiationError, match=r"E500[135]"):
        grad(kept)(np.sin(T))


def led_in(v):
    return CubicSpline(T, np.sin(T), bc_type=((1, v), (2, 0.0)))(1.3)


def test_a_slope_at_the_end_that_is_differentiated_is_refused():
    with pytest.raises(DifferentiationError, match="E5031"):
        grad(led_in)(1.0)


HEIGHTS = np.sin(np.add.outer(T, 2.0 * T))
SITES = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [4.0, 5.0], [1.0, 1.5]])
HELD = RegularGridInterpolator((T, T), HEIGHTS, bounds_error=False, fill_value=None)


def by_kinds(x):
    y = x * np.sin(T)
    line = interp1d(T, y, bounds_error=False, fill_value=(y[1], 0.0))
    y[0] = 9.0
    parabola = interp1d(T, np.sin(x * T), "quadratic")
    step = interp1d(T, x * np.sin(T), kind="next")
    return np.sum(line(np.array([-1.0, 0.3, 1.3]) * x)) + step(1.3) * parabola(x)


def over_tables(x):
    own = RegularGridInterpolator((T, T), HEIGHTS * x)
    return own((0.3 * x, 0.7)) * HELD(np.array([[7.0, 0.2]]) * x)[0]


def over_points(x):
    return griddata(SITES, SITES[:, 0] ** 2 * x, (0.5 * x, 0.7))


@pytest.mark.parametrize("f", [by_kinds, over_tables, over_points])
def test_interpolants_that_are_made_and_called(f):
    known = (f(1.1001) - f(1.0999)) / 2e-4
    found = jvp(f, (1.1,), (1.0,))[1] if f is by_kinds else grad(f)(1.1)
    assert np.allclose(found, known, rtol=1e-6)
