"""The trapezoidal rules of `scipy.integrate`; solvers and adaptive rules are refused, with the reason; on request."""

import numpy as np
from scipy import integrate

from srcgrad.rules import adjoint
from srcgrad.templates.refused import declare

SOLVERS = """solve_bvp ode complex_ode RK23 RK45 DOP853 Radau BDF LSODA OdeSolver"""
ADAPTIVE = """dblquad tplquad nquad quad_vec fixed_quad cubature romb romberg qmc_quad tanhsinh nsum"""
TABLES = """simpson cumulative_simpson newton_cotes"""


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
