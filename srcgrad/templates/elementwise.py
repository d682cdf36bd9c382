"""Arithmetic: the operators of Python and the functions of NumPy that mean the same."""

import operator

import numpy as np

from srcgrad.core.rules import adjoint, d


@adjoint.elementwise(np.add, cl="x + y", aliases=(operator.add,))
def add(z, x, y):
    d[x] = d[z]
    d[y] = d[z]


@adjoint.elementwise(np.subtract, cl="x - y", aliases=(operator.sub,))
def subtract(z, x, y):
    d[x] = d[z]
    d[y] = -d[z]


@adjoint.elementwise(np.multiply, cl="x * y", aliases=(operator.mul,))
def multiply(z, x, y):
    d[x] = d[z] * y
    d[y] = d[z] * x


@adjoint.elementwise(np.divide, cl="x / y", overflows=True, domain={"y": (0.5, 2.0)}, aliases=(operator.truediv,))
def divide(z, x, y):
    if x == 1.0:  # y is not kept
        d[y] = -d[z] * z * z
    else:
        share = d[z] / y
        d[x] = share
        d[y] = -share * z


@adjoint.elementwise(np.negative, cl="-x", aliases=(operator.neg,))
def negative(z, x):
    d[x] = -d[z]


@adjoint.elementwise(np.positive, cl="x", aliases=(operator.pos,))
def positive(z, x):
    d[x] = d[z]


@adjoint.linear(
    float,
    forms=(("float(x)", None), ("float(x)", ()), ("float(np.sum(x)) * x", (3,)), ("np.float64(x)", ())),
    aliases=(np.float64, np.float32, np.float16, np.longdouble),
    note="A conversion of a scalar; the gradient has the type of the argument.",
)
def convert(z, x):
    d[x] = d[z]
