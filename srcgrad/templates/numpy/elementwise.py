"""Arithmetic, exponentials, logarithms, roots, powers, trigonometric and hyperbolic functions, and their inverses."""

import math
import operator

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.singular import falling, sinc_derivative


@adjoint.elementwise(np.add, cl="x + y", aliases=(operator.add,), numba="x + y", complex="conjugated")
def add(z, x, y):
    d[x] = d[z]
    d[y] = d[z]


@adjoint.elementwise(np.subtract, cl="x - y", aliases=(operator.sub,), numba="x - y", complex="conjugated")
def subtract(z, x, y):
    d[x] = d[z]
    d[y] = -d[z]


@adjoint.elementwise(np.multiply, cl="x * y", aliases=(operator.mul,), numba="x * y", complex="conjugated")
def multiply(z, x, y):
    d[x] = d[z] * y
    d[y] = d[z] * x


@adjoint.elementwise(
    np.divide,
    cl="x / y",
    overflows=True,
    domain={"y": (0.5, 2.0)},
    aliases=(operator.truediv,),
    numba="x / y",
    complex="conjugated",
)
def divide(z, x, y):
    if x == 1.0:  # y is not kept
        d[y] = -d[z] * z * z
    else:
        share = d[z] / y
        d[x] = share
        d[y] = -share * z


@adjoint.elementwise(np.negative, cl="-x", aliases=(operator.neg,), numba="-x", complex="conjugated")
def negative(z, x):
    d[x] = -d[z]


@adjoint.elementwise(np.positive, cl="x", aliases=(operator.pos,), complex="conjugated")
def positive(z, x):
    d[x] = d[z]


@adjoint.linear(
    float,
    forms=(("float(x)", None), ("float(x)", ()), ("float(np.sum(x)) * x", (3,)), ("np.float64(x)", ())),
    aliases=(np.float64, np.float32, np.float16, np.longdouble),
    note="A conversion of a scalar; the gradient has the type of the argument.",
    result="argument",
    copying=(float,),
)
def convert(z, x):
    d[x] = d[z]


def _python_3_11(*names):
    """Functions of `math` that Python 3.10 lacks, where they exist."""
    return tuple(getattr(math, name) for name in names if hasattr(math, name))


@adjoint.elementwise(
    np.exp, cl="exp(x)", overflows=True, aliases=(math.exp,), numba="math.exp(x)", complex="conjugated"
)
def exp(z, x):
    d[x] = d[z] * z


@adjoint.elementwise(np.exp2, cl="exp2(x)", overflows=True, aliases=_python_3_11("exp2"), complex="conjugated")
def exp2(z, x):
    d[x] = d[z] * z * math.log(2.0)


@adjoint.elementwise(
    np.expm1, cl="expm1(x)", overflows=True, aliases=(math.expm1,), numba="math.expm1(x)", complex="conjugated"
)
def expm1(z, x):
    d[x] = d[z] * (z + 1.0)


@adjoint.elementwise(
    falling, cl="1.0 / (1.0 + exp(x))", at=(((-800.0,), (0.0,)), ((800.0,), (0.0,))), complex="conjugated"
)
def falling_adjoint(z, x):
    d[x] = -d[z] * z * (1.0 - z)


@adjoint.elementwise(
    np.log,
    cl="log(x)",
    domain=(0.3, 4.0),
    at=(((0.0,), (math.inf,)),),
    aliases=(math.log,),
    numba="math.log(x)",
    complex="conjugated",
)
def log(z, x):
    if np.ndim(x) == 0:
        d[x] = np.divide(d[z], x)
    else:
        d[x] = d[z] / x


@adjoint.elementwise(
    np.log2, cl="log2(x)", domain=(0.3, 4.0), at=(((0.0,), (math.inf,)),), aliases=(math.log2,), complex="conjugated"
)
def log2(z, x):
    if np.ndim(x) == 0:
        d[x] = np.divide(d[z], x * math.log(2.0))
    else:
        d[x] = d[z] / (x * math.log(2.0))


@adjoint.elementwise(
    np.log10, cl="log10(x)", domain=(0.3, 4.0), at=(((0.0,), (math.inf,)),), aliases=(math.log10,), complex="conjugated"
)
def log10(z, x):
    if np.ndim(x) == 0:
        d[x] = np.divide(d[z], x * math.log(10.0))
    else:
        d[x] = d[z] / (x * math.log(10.0))


@adjoint.elementwise(
    np.log1p,
    cl="log1p(x)",
    domain=(-0.7, 3.0),
    at=(((-1.0,), (math.inf,)),),
    aliases=(math.log1p,),
    numba="math.log1p(x)",
    complex="conjugated",
)
def log1p(z, x):
    if np.ndim(x) == 0:
        d[x] = np.divide(d[z], 1.0 + x)
    else:
        d[x] = d[z] / (1.0 + x)


@adjoint.elementwise(
    np.logaddexp,
    cl="logaddexp(x, y)",
    at=(
        ((-math.inf, -math.inf), (0.0, 0.0)),
        ((-math.inf, 0.0), (0.0, 1.0)),
        ((800.0, 0.0), (1.0, 0.0)),
    ),
    note="The gradient at (-inf, -inf) is 0.",
)
def logaddexp(z, x, y):
    peak = np.where(z == -np.inf, 0.0, z)
    d[x] = d[z] * np.exp(x - peak)
    d[y] = d[z] * np.exp(y - peak)


@adjoint.elementwise(
    np.logaddexp2,
    cl="x == y ? x + 1.0 : fmax(x, y) + 1.4426950408889634 * log1p(exp2(-fabs(x - y)))",
    at=(((-math.inf, -math.inf), (0.0, 0.0)), ((-math.inf, 0.0), (0.0, 1.0))),
    note="The gradient at (-inf, -inf) is 0.",
)
def logaddexp2(z, x, y):
    peak = np.where(z == -np.inf, 0.0, z)
    d[x] = d[z] * np.exp2(x - peak)
    d[y] = d[z] * np.exp2(y - peak)


@adjoint.elementwise(
    np.sqrt, cl="sqrt(x)", domain=(0.3, 4.0), at=(((0.0,), (math.inf,)),), numba="math.sqrt(x)", complex="conjugated"
)
def sqrt(z, x):
    d[x] = 0.5 * d[z] / z


@adjoint.elementwise(math.sqrt, cl="sqrt(x)", domain=(0.3, 4.0), at=(((0.0,), (math.inf,)),))
def scalar_sqrt(z, x):
    d[x] = np.divide(0.5 * d[z], z)


@adjoint.elementwise(
    np.cbrt,
    cl="cbrt(x)",
    domain=(0.3, 4.0),
    at=(((0.0,), (math.inf,)),),
    aliases=_python_3_11("cbrt"),
)
def cbrt(z, x):
    if np.ndim(z) == 0:
        d[x] = np.divide(d[z], 3.0 * z * z)
    else:
        d[x] = d[z] / (3.0 * z * z)


@adjoint.elementwise(np.square, cl="x * x", numba="x * x", complex="conjugated")
def square(z, x):
    d[x] = d[z] * 2.0 * x


@adjoint.elementwise(np.reciprocal, cl="1.0 / x", overflows=True, domain=(0.5, 2.0), complex="conjugated")
def reciprocal(z, x):
    d[x] = -d[z] * z * z


@adjoint.elementwise(
    np.power,
    cl="pow(x, y)",
    overflows=True,
    domain={"x": (0.3, 2.0), "y": (-2.0, 2.0)},
    at=(
        ((0.0, 0.0), (0.0, 0.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        ((0.0, 2.0), (0.0, 0.0)),
        ((0.0, 0.5), (math.inf, 0.0)),
        ((0.0, -1.0), (-math.inf, math.nan)),
        ((-2.0, 2.0), (-4.0, math.nan)),
    ),
    forms=(
        ("np.power(x, 0)", (3,)),
        ("np.power(x, 1)", (3,)),
        ("np.power(x, 2)", (3, 4)),
        ("np.power(x, 3)", (3, 4)),
        ("np.power(np.exp(x), 2.5)", (3,)),
        ("np.power(np.exp(x), 0.5)", (3,)),
        ("np.power(np.exp(x), -2)", (3,)),
        ("np.power(np.exp(x), -1)", (3,)),
        ("np.power(np.exp(x), -1.5)", None),
        ("np.power(x, 0)", None),
        ("np.power(np.exp(x), np.array([-1.0, 0.0, 2.0]))", (3,)),
        ("np.power(np.exp(x), y)", (3, 1), (4,)),
        ("np.power(x, np.arange(4))", (3, 4)),
        ("np.power(2.5, x)", (3, 4)),
    ),
    aliases=(np.float_power, math.pow, pow, operator.pow),
    note="x**0 has derivative 0, 0**y with y >= 0 has derivative 0 with respect to y.",
    complex="conjugated",
)
def power(z, x, y):
    if y == 0:
        d[x] = 0.0 * d[z]
    elif y == 1:
        d[x] = d[z]
    elif y == 2:
        d[x] = d[z] * 2.0 * x
    elif y > 1:
        d[x] = d[z] * y * x ** (y - 1)
    elif y < 1 and np.ndim(x) == 0:
        d[x] = d[z] * y * np.power(x, y - 1)
    elif y == 0.5:
        d[x] = 0.5 * d[z] / z
    elif y == -1:
        d[x] = -d[z] * z * z
    elif y < 1:
        d[x] = d[z] * y * x ** (y - 1)
    else:
        d[x] = d[z] * y * np.power(x, 1.0 * y - ((x != 0) | (y != 0)))  # where both are 0 this is 0 * 1, not 0 * inf
    if x > 0:
        d[y] = d[z] * z * math.log(x)
    else:
        d[y] = d[z] * z * np.log(1.0 * x + (x == 0))  # where x is 0 this is 0 * log(1), not 0 * -inf


@adjoint.elementwise(math.erf, cl="erf(x)")
def erf(z, x):
    d[x] = d[z] * 1.1283791670955126 * np.exp(-x * x)  # 2 / sqrt(pi)


@adjoint.elementwise(math.erfc, cl="erfc(x)")
def erfc(z, x):
    d[x] = -d[z] * 1.1283791670955126 * np.exp(-x * x)  # 2 / sqrt(pi)


@adjoint.elementwise(np.sin, cl="sin(x)", aliases=(math.sin,), numba="math.sin(x)", complex="conjugated")
def sin(z, x):
    d[x] = d[z] * np.cos(x)


@adjoint.elementwise(np.cos, cl="cos(x)", aliases=(math.cos,), numba="math.cos(x)", complex="conjugated")
def cos(z, x):
    d[x] = -d[z] * np.sin(x)


@adjoint.elementwise(
    np.tan, cl="tan(x)", domain=(-1.2, 1.2), aliases=(math.tan,), numba="math.tan(x)", complex="conjugated"
)
def tan(z, x):
    d[x] = d[z] * (1.0 + z * z)


@adjoint.elementwise(
    np.arcsin,
    cl="asin(x)",
    domain=(-0.9, 0.9),
    at=(((1.0,), (math.inf,)),),
    aliases=(math.asin,),
    numba="math.asin(x)",
    complex="conjugated",
)
def arcsin(z, x):
    if np.iscomplexobj(x):  # the branch, and the side of each cut, on which NumPy's value lies
        d[x] = d[z] / (np.sqrt(-(x - 1.0)) * np.sqrt(x + 1.0))
    else:
        d[x] = d[z] / np.sqrt(1.0 - x * x)


@adjoint.elementwise(
    np.arccos,
    cl="acos(x)",
    domain=(-0.9, 0.9),
    at=(((1.0,), (-math.inf,)),),
    aliases=(math.acos,),
    numba="math.acos(x)",
    complex="conjugated",
)
def arccos(z, x):
    if np.iscomplexobj(x):
        d[x] = -d[z] / (np.sqrt(-(x - 1.0)) * np.sqrt(x + 1.0))
    else:
        d[x] = -d[z] / np.sqrt(1.0 - x * x)


@adjoint.elementwise(np.arctan, cl="atan(x)", aliases=(math.atan,), numba="math.atan(x)", complex="conjugated")
def arctan(z, x):
    d[x] = d[z] / (1.0 + x * x)


@adjoint.elementwise(
    np.arctan2,
    cl="atan2(y, x)",
    domain=(0.3, 2.0),
    at=(((0.0, 0.0), (0.0, 0.0)), ((0.0, 2.0), (0.5, 0.0))),
    aliases=(math.atan2,),
    note="The gradient at (0, 0) is 0.",
    numba="same",
)
def arctan2(z, y, x):
    square = x * x + y * y
    r2 = np.where(0.0 == square, np.inf, square)  # noqa: SIM300
    d[y] = d[z] * x / r2
    d[x] = -d[z] * y / r2


@adjoint.elementwise(
    np.sinh, cl="sinh(x)", overflows=True, aliases=(math.sinh,), numba="math.sinh(x)", complex="conjugated"
)
def sinh(z, x):
    d[x] = d[z] * np.cosh(x)


@adjoint.elementwise(
    np.cosh, cl="cosh(x)", overflows=True, aliases=(math.cosh,), numba="math.cosh(x)", complex="conjugated"
)
def cosh(z, x):
    d[x] = d[z] * np.sinh(x)


@adjoint.elementwise(
    np.tanh, cl="tanh(x)", at=(((800.0,), (0.0,)),), aliases=(math.tanh,), numba="math.tanh(x)", complex="conjugated"
)
def tanh(z, x):
    d[x] = d[z] * (1.0 - z * z)


@adjoint.elementwise(np.arcsinh, cl="asinh(x)", numba="math.asinh(x)", complex="conjugated", aliases=(math.asinh,))
def arcsinh(z, x):
    d[x] = d[z] / np.sqrt(1.0 + x * x)


@adjoint.elementwise(
    np.arccosh,
    cl="acosh(x)",
    domain=(1.2, 4.0),
    at=(((1.0,), (math.inf,)),),
    aliases=(math.acosh,),
    complex="conjugated",
)
def arccosh(z, x):
    if np.iscomplexobj(x):
        d[x] = d[z] / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))
    else:
        d[x] = d[z] / np.sqrt(x * x - 1.0)


@adjoint.elementwise(
    np.arctanh,
    cl="atanh(x)",
    domain=(-0.9, 0.9),
    at=(((1.0,), (math.inf,)),),
    aliases=(math.atanh,),
    complex="conjugated",
)
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
    numba="same",
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
