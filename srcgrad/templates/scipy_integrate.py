"""The trapezoidal rules of `scipy.integrate`; solvers and adaptive rules are refused, with the reason; on request."""

import numpy as np
from scipy import integrate

from srcgrad.core.rules import adjoint, constants
from srcgrad.runtime.points import gauss_points
from srcgrad.templates.refused import declare

constants([gauss_points])

SOLVERS = """solve_bvp ode complex_ode RK23 RK45 DOP853 Radau BDF LSODA OdeSolver"""
ADAPTIVE = """dblquad tplquad nquad quad_vec cubature romb romberg qmc_quad tanhsinh nsum"""
TABLES = """cumulative_simpson newton_cotes"""


@adjoint.composed(
    integrate.trapezoid,
    forms=(
        ("scipy.integrate.trapezoid(x, dx=0.5)", (2, 4)),
        ("scipy.integrate.trapezoid(x, y)", (2, 4), (4,)),
    ),
)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x, dx, axis)


@adjoint.composed(
    integrate.cumulative_trapezoid,
    forms=(
        ("scipy.integrate.cumulative_trapezoid(x, dx=0.5)", (2, 4)),
        ("scipy.integrate.cumulative_trapezoid(x, y, axis=0, initial=0)", (4, 2), (4,)),
        ("scipy.integrate.cumulative_trapezoid(x, y, initial=0)", (2, 4), (2, 4)),
    ),
)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    moved = np.moveaxis(y, axis, -1)
    if x is None:
        steps = dx
    elif np.ndim(x) == 1:
        steps = np.diff(x)
    else:
        steps = np.diff(np.moveaxis(x, axis, -1))
    areas = np.cumsum(steps * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)
    if initial is not None:
        areas = np.concatenate((np.zeros_like(moved[..., :1]), areas), -1)
    return np.moveaxis(areas, -1, axis)


@adjoint.composed(
    integrate.simpson,
    forms=(
        ("scipy.integrate.simpson(x)", (5,)),
        ("scipy.integrate.simpson(x, dx=0.5)", (2, 6)),
        ("scipy.integrate.simpson(x, x=np.cumsum(np.exp(y)))", (2, 5), (5,)),
        ("scipy.integrate.simpson(x, x=np.cumsum(np.exp(y)), axis=0)", (6, 2), (6,)),
        ("scipy.integrate.simpson(x, x=np.cumsum(np.exp(y), axis=1))", (2, 6), (2, 6)),
        ("scipy.integrate.simpson(x, dx=y)", (2,), ()),
        ("scipy.integrate.simpson(x, x=y)", (1,), (1,)),
    ),
)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    heights = np.moveaxis(y, axis, -1)
    n = np.shape(heights)[-1]
    if x is None:
        steps = dx * np.ones(n - 1, heights.dtype)
    elif np.ndim(x) == 1:
        steps = np.diff(x)
    else:
        steps = np.diff(np.moveaxis(x, axis, -1))
    if n == 2:
        area = 0.5 * steps[..., 0] * (heights[..., 0] + heights[..., 1])
    else:
        pairs = (n - 1) // 2
        first, second = steps[..., 0 : 2 * pairs : 2], steps[..., 1 : 2 * pairs : 2]
        both = first + second
        left, middle, right = heights[..., 0 : 2 * pairs : 2], heights[..., 1 : 2 * pairs : 2], heights[..., 2::2]
        right = right[..., :pairs]
        area = np.sum(
            both
            / 6.0
            * (
                left * (2.0 - second / first) + middle * both * both / (first * second) + right * (2.0 - first / second)
            ),
            axis=-1,
        )
        if n % 2 == 0 and n > 1:
            one, last = steps[..., -2], steps[..., -1]
            area = area + heights[..., -1] * (2.0 * last**2 + 3.0 * one * last) / (6.0 * (one + last))
            area = area + heights[..., -2] * (last**2 + 3.0 * last * one) / (6.0 * one)
            area = area - heights[..., -3] * last**3 / (6.0 * one * (one + last))
    return area


@adjoint.composed(
    integrate.fixed_quad,
    forms=(
        ("scipy.integrate.fixed_quad(lambda t: np.exp(x * t), 0.0, 1.0)[0]", ()),
        ("scipy.integrate.fixed_quad(lambda t: np.sin(x * t), y, 2.0, n=4)[0]", (), ()),
    ),
    note="Without `args=`.",
)
def fixed_quad(func, a, b, *, n=5):
    nodes, weights = gauss_points(n)
    places = (b - a) * (nodes + 1.0) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(places), axis=-1), None


declare(
    integrate,
    "scipy.integrate",
    SOLVERS,
    "its steps depend on a tolerance; write the loop of a Runge-Kutta method, or a rule by the adjoint equation",
)
declare(
    integrate,
    "scipy.integrate",
    ADAPTIVE,
    "where it evaluates depends on a tolerance; use scipy.integrate.trapezoid",
)
declare(integrate, "scipy.integrate", TABLES, "it has no rule; use scipy.integrate.trapezoid, or a sum with weights")
