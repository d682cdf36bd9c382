"""Numbers taken apart: quotient and remainder, whole and fractional part, mantissa and exponent; ranges of numbers."""

import builtins

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.bessel import i0_derivative
from srcgrad.runtime.broadcast import sum_to


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
    refuses={"stop": "it decides on the number of elements, which is an integer"},
    forms=(
        ("np.arange(x, 3.3)", ()),
        ("np.arange(x, 3.5, y)", (), ()),
        ("np.arange(3.0) * x", ()),
        ("np.arange(1, 4) * x", ()),
    ),
    domain={"x": (0.0, 0.2), "y": (1.0, 1.1)},
    note="Steps are counted from the start; of `np.arange(stop)` nothing flows.",
)
def arange(z, start, stop=None, step=1, dtype=None):
    if stop is None:
        d[start] = 0.0 * np.sum(d[z])
    else:
        d[start] = np.sum(d[z])
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
