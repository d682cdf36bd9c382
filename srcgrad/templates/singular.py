"""Lengths in texts that are differentiated once more: at 0, where the first derivative is a convention, nan."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import spread
from srcgrad.runtime.norm import norm_curvature
from srcgrad.runtime.singular import (
    denominator,
    divisor,
    length_dot,
    magnitude,
    one_norm,
    one_norm_gradient,
    quotient,
    root,
    share,
    shared,
    signed,
)


@adjoint.elementwise(divisor, domain=(0.3, 2.0), cl="x == 0.0 ? INFINITY : x", complex="conjugated")
def divisor_adjoint(z, x):
    d[x] = np.where(x == 0.0, np.nan, d[z])


@adjoint.elementwise(denominator, domain=(0.3, 2.0), cl="z == 0.0 ? INFINITY : z", complex="conjugated")
def denominator_adjoint(y, z):
    d[z] = d[y]


@adjoint.elementwise(
    length_dot, domain={"z": (0.3, 2.0)}, cl="z == 0.0 && away != 0.0 ? NAN : z_dot", complex="conjugated"
)
def length_dot_adjoint(y, z, z_dot, away):
    d[z_dot] = length_dot(z, d[y], away)


@adjoint.elementwise(share, domain={"r": (0.3, 2.0)}, cl="q * x", complex="conjugated")
def share_adjoint(z, q, x, r):
    d[q] = d[z] * x
    d[x] = shared(d[z], q, r)
    d[r] = shared(d[z], 0.0, r)


@adjoint.elementwise(shared, domain={"r": (0.3, 2.0)}, cl="isinf(r) && g != 0.0 ? NAN : g * q", complex="conjugated")
def shared_adjoint(z, g, q, r):
    d[g] = shared(d[z], q, r)
    d[q] = d[z] * g


@adjoint.elementwise(signed, domain={"x": (0.3, 2.0)}, cl="q * sign(x)")
def signed_adjoint(z, q, x):
    d[q] = quotient(d[z], np.where(x == 0.0, np.inf, np.sign(x)))


@adjoint.elementwise(magnitude, domain=(0.3, 2.0), cl="fabs(x)", complex="gradient", values="real")
def magnitude_adjoint(z, x):
    if np.iscomplexobj(x):
        d[x] = quotient(d[z], np.where(z == 0.0, np.inf, z)) * x
    else:
        d[x] = quotient(d[z], np.where(x == 0.0, np.inf, np.sign(x)))


@adjoint.elementwise(
    quotient, domain={"x": (-2.0, 2.0), "y": (0.3, 2.0)}, cl="isinf(y) && x != 0.0 ? NAN : x / y", complex="conjugated"
)
def quotient_adjoint(z, x, y):
    d[x] = quotient(d[z], y)
    d[y] = -d[z] * z / y


@adjoint.elementwise(root, domain=(0.3, 2.0), cl="sqrt(x)", at=(((0.0,), (0.0,)),))
def root_adjoint(z, x):
    d[x] = 0.5 * d[z] / np.where(0.0 == z, np.inf, z)  # noqa: SIM300


@adjoint(
    one_norm,
    forms=(("one_norm(x, 1)", (3,)), ("one_norm(x, 1, axis=1)", (2, 3)), ("one_norm(x, 1, keepdims=True)", (2, 3))),
)
def one_norm_adjoint(z, x, ord=None, axis=None, keepdims=False):
    d[x] = spread(d[z], x, axis, keepdims) * one_norm_gradient(x, ord, axis)


@tangent(one_norm)
def one_norm_tangent(z, x, ord=None, axis=None, keepdims=False):
    d[z] = np.sum(one_norm_gradient(x, ord, axis) * d[x], axis=axis, keepdims=keepdims)


@adjoint(
    one_norm_gradient,
    forms=(("one_norm_gradient(x, 1)", (3,)), ("one_norm_gradient(x, 1, 0)", (2, 3))),
    second=False,
    note="Once more is a third derivative of the norm, which raises.",
)
def one_norm_gradient_adjoint(z, x, ord, axis=None):
    d[x] = norm_curvature(d[z], x, ord, axis)


@tangent(one_norm_gradient)
def one_norm_gradient_tangent(z, x, ord, axis=None):
    d[z] = norm_curvature(d[x], x, ord, axis)
