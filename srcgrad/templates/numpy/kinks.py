"""Operations with kinks, ties and steps: absolute value, maximum, clip, where, remainders, parts of numbers."""

import builtins
import math
import operator

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.singular import i0_derivative, if_larger


@adjoint.elementwise(
    np.absolute,
    cl="fabs(x)",
    domain=(0.3, 2.0),
    at=(((0.0,), (0.0,)), ((-2.0,), (-1.0,))),
    aliases=(np.fabs, abs, operator.abs, math.fabs),
    note="The gradient at 0 is 0.",
    numba="abs(x)",
    complex="gradient",
    values="real",
    real_lines=True,
)
def absolute(z, x):
    if np.iscomplexobj(x):
        d[x] = d[z] * x / np.where(0.0 == z, np.inf, z)  # noqa: SIM300
    else:
        d[x] = d[z] * np.sign(x)


@adjoint.elementwise(
    np.maximum,
    cl="maximum(x, y)",
    at=(
        ((1.0, 1.0), (0.5, 0.5)),
        ((0.0, 0.0), (0.5, 0.5)),
        ((2.0, 1.0), (1.0, 0.0)),
        ((math.nan, 1.0), (0.0, 0.0)),
    ),
    aliases=(builtins.max,),
    note="A tie shares the gradient equally; `np.where(x > 0, x, 0)` has 0 at 0.",
    numba="same",
)
def maximum(z, x, y):
    d[x] = if_larger(d[z], x, y)
    d[y] = if_larger(d[z], y, x)


@adjoint.elementwise(
    if_larger,
    selects={"seed": "x >= y"},
    cl="(x > y) ? seed : 0.5 * ((x >= y) ? seed : 0.0)",  # of x == y behind x > y compilers make a branch
    at=(((3.0, 2.0, 1.0), (1.0, 0.0, 0.0)), ((3.0, 1.0, 1.0), (0.5, 0.0, 0.0)), ((3.0, 1.0, 2.0), (0.0, 0.0, 0.0))),
    numba="same",
)
def if_larger_adjoint(z, seed, x, y):
    d[seed] = if_larger(d[z], x, y)


@adjoint.elementwise(
    np.minimum,
    cl="minimum(x, y)",
    at=(
        ((1.0, 1.0), (0.5, 0.5)),
        ((2.0, 1.0), (0.0, 1.0)),
        ((math.nan, 1.0), (0.0, 0.0)),
    ),
    aliases=(builtins.min,),
    note="A tie shares the gradient equally.",
    numba="same",
)
def minimum(z, x, y):
    d[x] = if_larger(d[z], y, x)
    d[y] = if_larger(d[z], x, y)


@adjoint.elementwise(
    np.fmax,
    asks=(np.fmax,),
    cl="fmax(x, y)",
    at=(((1.0, 1.0), (0.5, 0.5)), ((math.nan, 1.0), (0.0, 1.0)), ((1.0, math.nan), (1.0, 0.0))),
    note="A tie shares the gradient equally; a nan gets none.",
)
def fmax(z, x, y):
    d[x] = np.where((x > y) | np.isnan(y), d[z], np.where(x == y, 0.5 * d[z], 0.0))
    d[y] = np.where((y > x) | np.isnan(x), d[z], np.where(x == y, 0.5 * d[z], 0.0))


@adjoint.elementwise(
    np.fmin,
    asks=(np.fmin,),
    cl="fmin(x, y)",
    at=(((1.0, 1.0), (0.5, 0.5)), ((math.nan, 1.0), (0.0, 1.0)), ((1.0, math.nan), (1.0, 0.0))),
    note="A tie shares the gradient equally; a nan gets none.",
)
def fmin(z, x, y):
    d[x] = np.where((x < y) | np.isnan(y), d[z], np.where(x == y, 0.5 * d[z], 0.0))
    d[y] = np.where((y < x) | np.isnan(x), d[z], np.where(x == y, 0.5 * d[z], 0.0))


@adjoint.elementwise(
    np.clip,
    cl="minimum(maximum(a, a_min), a_max)",
    domain={"a": (-2.0, 2.0), "a_min": (-1.5, -0.5), "a_max": (0.5, 1.5)},
    at=(
        ((0.5, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ((1.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ((-1.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
        ((2.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
        ((0.5, 2.0, 1.0), (0.0, 0.0, 1.0)),
    ),
    forms=(
        ("np.clip(x, -0.5, 0.5)", (3, 4)),
        ("np.clip(x, None, None)", (3, 4)),
        ("np.clip(x, None, 0.5)", (3, 4)),
        ("np.clip(x, -0.5, None)", (3, 4)),
        ("np.clip(x, y, 0.9)", (3, 4), (4,)),
        ("np.clip(x, a_min=-0.9, a_max=y)", (3, 4), (3, 1)),
        ("np.clip(x, min=-0.5, max=0.5)", (3, 4)),
        ("np.clip(x, max=y)", (3, 4), (3, 1)),
        ("np.clip(x, min=y)", (3, 4), ()),
    ),
    note="The gradient passes inside and on the edges; outside, the bound that holds gets it.",
)
def clip(z, a, a_min=None, a_max=None):
    if a_min is None and a_max is None:
        d[a] = d[z]
    elif a_min is None:
        d[a] = np.where(a <= a_max, d[z], 0.0)
    elif a_max is None:
        d[a] = np.where(a_min <= a, d[z], 0.0)
    elif a_min <= a_max:
        d[a] = np.where((a_min <= a) & (a <= a_max), d[z], 0.0)
    else:
        d[a] = np.where(z == a, d[z], 0.0)
    d[a_min] = np.where((a < a_min) & (z == a_min), d[z], 0.0)
    d[a_max] = np.where((z == a_max) & (z != a), d[z], 0.0)


@adjoint.elementwise(
    np.where,
    selects={"x": "condition", "y": "not condition"},
    cl="condition ? x : y",
    domain={"x": (-2.0, 2.0), "y": (-2.0, 2.0)},
    forms=(
        ("np.where(x > 0.1, x * x, 3.0 * x)", (3, 4)),
        ("np.where(x > y, x, 0.0)", (3, 4), (4,)),
        ("np.where(x > y, 1.0, y)", (3, 1), (4,)),
        ("np.where(x[:, None] > 0.0, x[:, None], y)", (3,), (1, 4)),
    ),
    note="The side that is not taken contributes nothing, nan and inf included.",
    complex="conjugated",
)
def where(z, condition, x=None, y=None):
    d[x] = np.where(condition, d[z], 0.0)
    d[y] = np.where(condition, 0.0, d[z])


@adjoint.elementwise(
    np.remainder,
    cl="remainder(x, y)",
    domain={"x": (2.1, 2.9), "y": (0.95, 1.02)},
    at=(((5.5, 2.0), (1.0, -2.0)), ((-5.5, 2.0), (1.0, 3.0))),
    aliases=(operator.mod,),
)
def remainder(z, x, y):
    d[x] = d[z]
    d[y] = -d[z] * (x // y)


@adjoint.elementwise(
    np.fmod,
    cl="fmod(x, y)",
    domain={"x": (2.1, 2.9), "y": (0.95, 1.02)},
    at=(((5.5, 2.0), (1.0, -2.0)), ((-5.5, 2.0), (1.0, 2.0))),
    aliases=(math.fmod,),
)
def fmod(z, x, y):
    d[x] = d[z]
    d[y] = -d[z] * np.trunc(x / y)


@adjoint.elementwise(
    np.copysign,
    cl="copysign(x, y)",
    domain=(0.3, 2.0),
    at=(((0.0, -1.0), (0.0, 0.0)), ((2.0, -1.0), (-1.0, 0.0)), ((-2.0, 1.0), (-1.0, 0.0))),
    aliases=(math.copysign,),
    note="The gradient at x = 0 is 0.",
)
def copysign(z, x, y):
    d[x] = d[z] * np.sign(x) * np.copysign(1.0, y)
    d[y] = 0.0 * d[z]


@adjoint.elementwise(
    np.heaviside,
    cl="x == 0.0 ? y : (x > 0.0 ? 1.0 : (x < 0.0 ? 0.0 : x))",
    domain=(0.3, 2.0),
    at=(((0.0, 0.5), (0.0, 1.0)), ((2.0, 0.5), (0.0, 0.0))),
)
def heaviside(z, x, y):
    d[x] = 0.0 * d[z]
    d[y] = np.where(x == 0.0, d[z], 0.0)


@adjoint.elementwise(
    np.nan_to_num,
    asks=(np.nan_to_num,),
    at=(((math.nan,), (0.0,)), ((math.inf,), (0.0,)), ((2.0,), (1.0,))),
    forms=(
        ("np.nan_to_num(x)", (3, 4)),
        ("np.nan_to_num(np.where(x > 0.0, x, np.nan), nan=y)", (3, 4), ()),
        ("np.nan_to_num(np.where(x > 0.0, x, np.inf), posinf=y)", (3, 4), ()),
        ("np.nan_to_num(np.where(x > 0.0, x, -np.inf), nan=2.0, neginf=y)", (3, 4), ()),
    ),
    showing={"copy": (False,)},
)
def nan_to_num(z, x, nan=0.0, posinf=None, neginf=None):
    d[x] = np.where(np.isfinite(x), d[z], 0.0)
    d[nan] = np.where(np.isnan(x), d[z], 0.0)
    d[posinf] = np.where(x == np.inf, d[z], 0.0)
    d[neginf] = np.where(x == -np.inf, d[z], 0.0)


@adjoint(
    np.divmod,
    domain={"x": (2.1, 2.9), "y": (0.95, 1.02)},
    forms=(
        ("np.divmod(x, y)[1]", (3,), (3,)),
        ("np.divmod(x, y)[1]", (2, 1), (3,)),
        ("divmod(x, y)[1]", None, None),
        ("np.divmod(x, y)[0] * x", (3,), ()),
    ),
    aliases=(builtins.divmod,),
    note="The quotient is a step, with derivative 0; the remainder is as np.remainder.",
    gives="arrays",
)
def quotient_and_remainder(z, x1, x2):
    d[x1] = sum_to(d[z][1], x1)
    d[x2] = sum_to(-d[z][1] * z[0], x2)


@tangent(np.divmod)
def quotient_and_remainder_tangent(z, x1, x2):
    d[z] = (np.zeros_like(z[0]), d[x1] - z[0] * d[x2])


@adjoint(
    np.modf,
    forms=(("np.modf(x)[0]", (2, 3)), ("np.modf(x)[0]", None), ("np.modf(x)[1] * x", (3,))),
    note="The whole part is a step, with derivative 0.",
    gives="arrays",
)
def modf(z, x):
    d[x] = d[z][0]


@tangent(np.modf)
def modf_tangent(z, x):
    d[z] = (d[x], np.zeros_like(z[1]))


@adjoint(
    np.frexp,
    forms=(("np.frexp(x)[0]", (2, 3)), ("np.frexp(x)[0]", None)),
    note="The exponent is an integer: a derivative that would flow through it raises E5002.",
)
def frexp(z, x):
    d[x] = np.ldexp(d[z][0], -z[1])


@tangent(np.frexp)
def frexp_tangent(z, x):
    d[z] = (np.ldexp(d[x], -z[1]), np.zeros_like(z[1]))


@adjoint.linear(
    np.ldexp,
    forms=(
        ("np.ldexp(x, 3)", (2, 3)),
        ("np.ldexp(x, np.array([-1, 0, 2]))", (2, 1)),
        ("np.ldexp(x, -2)", None),
    ),
)
def ldexp(z, x1, x2):
    d[x1] = sum_to(np.ldexp(d[z], x2), x1)


@adjoint(
    np.arange,
    forms=(
        ("np.arange(x, 3.3)", ()),
        ("np.arange(0.0, 3.0 + x)", ()),
        ("np.arange(x, 3.5, y)", (), ()),
        ("np.arange(3.0) * x", ()),
        ("np.arange(1, 4) * x", ()),
    ),
    domain={"x": (0.0, 0.2), "y": (1.0, 1.1)},
    note="Steps are counted from the start; of the stop nothing flows.",
    shape="row",
    gives="array",
)
def arange(z, start, stop=None, step=1, dtype=None):
    if stop is None:
        d[start] = 0.0 * np.sum(d[z])
    else:
        d[start] = np.sum(d[z])
        d[stop] = 0.0 * np.sum(d[z])
        d[step] = np.sum(d[z] * np.arange(np.size(z)))


@tangent(np.arange)
def arange_tangent(z, start, stop=None, step=1, dtype=None):
    if stop is None:
        d[z] = 0.0 * d[start] + np.zeros_like(z)
    else:
        d[z] = d[start] + d[step] * np.arange(np.size(z)) + np.zeros_like(z)


@adjoint.composed(
    np.logspace,
    forms=(
        ("np.logspace(x, y, 5)", (), ()),
        ("np.logspace(x, y, num=4, endpoint=False, base=2.0)", (), ()),
        ("np.logspace(x, 1.0, 3, base=np.exp(y))", (), ()),
        ("np.logspace(x, y, 3, axis=-1)", (2,), (2,)),
    ),
)
def logspace(start, stop, num=50, endpoint=True, base=10.0, *, axis=0):
    powers = np.linspace(start, stop, num, endpoint)
    y = np.power(base, powers)
    if axis != 0:
        y = np.moveaxis(y, 0, axis)
    return y


@adjoint.composed(
    np.geomspace,
    domain=(0.5, 3.0),
    forms=(
        ("np.geomspace(x, y, 5)", (), ()),
        ("np.geomspace(x, y, num=4, endpoint=False)", (), ()),
        ("np.geomspace(-x, -y, 3)", (), ()),
        ("np.geomspace(x, y, 3, axis=-1)", (2,), (2,)),
    ),
)
def geomspace(start, stop, num=50, endpoint=True, *, axis=0):
    t = np.linspace(np.zeros(np.shape(start)), np.ones(np.shape(stop)), num, endpoint)
    first = start * np.ones(np.shape(start))
    y = first * np.power(stop / first, t)
    if axis != 0:
        y = np.moveaxis(y, 0, axis)
    return y


@adjoint.elementwise(np.i0, forms=(("np.i0(9.0 * x)", (3,)),))
def i0(z, x):
    d[x] = d[z] * i0_derivative(x, 1)


@adjoint(i0_derivative, forms=(("i0_derivative(x, 1)", (4,)), ("i0_derivative(9.0 * x, 2)", (2, 3))))
def i0_derivative_adjoint(z, x, order):
    d[x] = d[z] * i0_derivative(x, order + 1)


@tangent(i0_derivative)
def i0_derivative_tangent(z, x, order):
    d[z] = d[x] * i0_derivative(x, order + 1)


@adjoint.composed(
    np.kaiser,
    domain=(1.0, 9.0),
    forms=(("np.kaiser(5, x)", ()), ("np.kaiser(4, x)", None), ("np.kaiser(1, x)", ())),
)
def kaiser(M, beta):  # NumPy's own name
    places = np.arange(M) - (M - 1) / 2
    height = np.sqrt(1.0 - (2.0 * places / max(M - 1, 1)) ** 2)
    return np.i0(beta * height) / np.i0(beta * np.ones(1))
