"""Trigonometric and hyperbolic functions and their inverses, angles, and sinc."""

import math

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.sinc import sinc_derivative


@adjoint.elementwise(np.sin, cl="sin(x)", aliases=(math.sin,))
def sin(z, x):
    d[x] = d[z] * np.cos(x)


@adjoint.elementwise(np.cos, cl="cos(x)", aliases=(math.cos,))
def cos(z, x):
    d[x] = -d[z] * np.sin(x)


@adjoint.elementwise(np.tan, cl="tan(x)", domain=(-1.2, 1.2), aliases=(math.tan,))
def tan(z, x):
    d[x] = d[z] * (1.0 + z * z)


@adjoint.elementwise(np.arcsin, cl="asin(x)", domain=(-0.9, 0.9), at=(((1.0,), (math.inf,)),), aliases=(math.asin,))
def arcsin(z, x):
    if np.iscomplexobj(x):  # the branch, and the side of each cut, on which NumPy's value lies
        d[x] = d[z] / (np.sqrt(-(x - 1.0)) * np.sqrt(x + 1.0))
    else:
        d[x] = d[z] / np.sqrt(1.0 - x * x)


@adjoint.elementwise(np.arccos, cl="acos(x)", domain=(-0.9, 0.9), at=(((1.0,), (-math.inf,)),), aliases=(math.acos,))
def arccos(z, x):
    if np.iscomplexobj(x):
        d[x] = -d[z] / (np.sqrt(-(x - 1.0)) * np.sqrt(x + 1.0))
    else:
        d[x] = -d[z] / np.sqrt(1.0 - x * x)


@adjoint.elementwise(np.arctan, cl="atan(x)", aliases=(math.atan,))
def arctan(z, x):
    d[x] = d[z] / (1.0 + x * x)


@adjoint.elementwise(
    np.arctan2,
    cl="atan2(y, x)",
    domain=(0.3, 2.0),
    at=(((0.0, 0.0), (0.0, 0.0)), ((0.0, 2.0), (0.5, 0.0))),
    aliases=(math.atan2,),
    note="The gradient at (0, 0) is 0.",
)
def arctan2(z, y, x):
    square = x * x + y * y
    r2 = np.where(0.0 == square, np.inf, square)  # noqa: SIM300
    d[y] = d[z] * x / r2
    d[x] = -d[z] * y / r2


@adjoint.elementwise(np.sinh, cl="sinh(x)", overflows=True, aliases=(math.sinh,))
def sinh(z, x):
    d[x] = d[z] * np.cosh(x)


@adjoint.elementwise(np.cosh, cl="cosh(x)", overflows=True, aliases=(math.cosh,))
def cosh(z, x):
    d[x] = d[z] * np.sinh(x)


@adjoint.elementwise(np.tanh, cl="tanh(x)", at=(((800.0,), (0.0,)),), aliases=(math.tanh,))
def tanh(z, x):
    d[x] = d[z] * (1.0 - z * z)


@adjoint.elementwise(np.arcsinh, cl="asinh(x)", aliases=(math.asinh,))
def arcsinh(z, x):
    d[x] = d[z] / np.sqrt(1.0 + x * x)


@adjoint.elementwise(np.arccosh, cl="acosh(x)", domain=(1.2, 4.0), at=(((1.0,), (math.inf,)),), aliases=(math.acosh,))
def arccosh(z, x):
    if np.iscomplexobj(x):
        d[x] = d[z] / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))
    else:
        d[x] = d[z] / np.sqrt(x * x - 1.0)


@adjoint.elementwise(np.arctanh, cl="atanh(x)", domain=(-0.9, 0.9), at=(((1.0,), (math.inf,)),), aliases=(math.atanh,))
def arctanh(z, x):
    d[x] = np.divide(d[z], 1.0 - x * x)  # with `/`, the Python float 1.0 raises ZeroDivisionError


@adjoint.elementwise(
    np.hypot,
    length=True,
    cl="hypot(x, y)",
    domain=(0.3, 2.0),
    at=(((0.0, 0.0), (0.0, 0.0)), ((3.0, 4.0), (0.6, 0.8)), ((0.0, -2.0), (0.0, -1.0))),
    aliases=(math.hypot,),
    note="The gradient at (0, 0) is 0.",
)
def hypot(z, x, y):
    length = np.where(0.0 == z, np.inf, z)  # noqa: SIM300
    d[x] = d[z] * x / length
    d[y] = d[z] * y / length


@adjoint.elementwise(np.deg2rad, cl="x * (3.141592653589793 / 180.0)", aliases=(np.radians, math.radians))
def deg2rad(z, x):
    d[x] = d[z] * (np.pi / 180.0)


@adjoint.elementwise(np.rad2deg, cl="x * (180.0 / 3.141592653589793)", aliases=(np.degrees, math.degrees))
def rad2deg(z, x):
    d[x] = d[z] * (180.0 / np.pi)


@adjoint.elementwise(
    np.sinc,
    cl="x == 0.0 ? 1.0 : sin(3.141592653589793 * x) / (3.141592653589793 * x)",
    at=(((0.0,), (0.0,)),),
    note="The second derivative at 0 is -pi**2 / 3.",
)
def sinc(z, x):
    d[x] = d[z] * sinc_derivative(x, 1)


@adjoint(sinc_derivative, forms=(("sinc_derivative(x, 1)", (4,)), ("sinc_derivative(x, 2)", (2, 3))))
def sinc_derivative_adjoint(z, x, order):
    d[x] = d[z] * sinc_derivative(x, order + 1)


@tangent(sinc_derivative)
def sinc_derivative_tangent(z, x, order):
    d[z] = d[x] * sinc_derivative(x, order + 1)
