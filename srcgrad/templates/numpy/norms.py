"""Norms of vectors and matrices in all orders, condition numbers; lengths of 0, differentiated once more."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import spread
from srcgrad.runtime.linalg import no_further, norm_curvature, norm_gradient
from srcgrad.runtime.reductions import merge_axes, split_axes
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


@adjoint(
    np.linalg.norm,
    length=True,
    forms=(
        ("np.linalg.norm(x)", (3,)),
        ("np.linalg.norm(x)", (2, 3)),
        ("np.linalg.norm(x)", (2, 3, 2)),
        ("np.linalg.norm(x, keepdims=True)", (2, 3)),
        ("np.linalg.norm(x, axis=1)", (2, 3)),
        ("np.linalg.norm(x, axis=-1, keepdims=True)", (2, 3)),
        ("np.linalg.norm(x, None, 0)", (2, 3)),
        ("np.linalg.norm(x, axis=(0, 2))", (2, 3, 2)),
        ("np.linalg.norm(x, 2)", (3,)),
        ("np.linalg.norm(x, 2, axis=0)", (2, 3)),
        ("np.linalg.norm(x, 1)", (3,)),
        ("np.linalg.norm(x, 1, axis=1, keepdims=True)", (2, 3)),
        ("np.linalg.norm(x, 3)", (3,)),
        ("np.linalg.norm(x, ord=2.5, axis=-1)", (2, 3)),
        ("np.linalg.norm(x, 0.5)", (3,)),
        ("np.linalg.norm(x, -1)", (3,)),
        ("np.linalg.norm(x, 0)", (3,)),
        ("np.linalg.norm(x, np.inf)", (3,)),
        ("np.linalg.norm(x, -np.inf, axis=0)", (2, 3)),
        ("np.linalg.norm(x, 'fro')", (2, 3)),
        ("np.linalg.norm(x, 'fro', axis=(1, 2))", (2, 3, 2)),
        ("np.linalg.norm(x, 2)", (2, 3)),
        ("np.linalg.norm(x, -2)", (3, 2)),
        ("np.linalg.norm(x, 'nuc')", (2, 3)),
        ("np.linalg.norm(x, 'nuc', axis=(0, -1))", (3, 2, 3)),
        ("np.linalg.norm(x, 1)", (2, 3)),
        ("np.linalg.norm(x, -1)", (2, 3)),
        ("np.linalg.norm(x, np.inf)", (2, 3)),
        ("np.linalg.norm(x, -np.inf, axis=(2, 0), keepdims=True)", (2, 3, 2)),
    ),
    complex="written",
    values="real",
    note="0 where the norm is 0; entries that attain a maximum or minimum share evenly. Second derivatives at complex "
    "values: those of the Euclidean norm.",
    shape="reduce",
    real_lines=True,
)
def norm(z, x, ord=None, axis=None, keepdims=False):
    length = np.where(0.0 == z, np.inf, z)  # noqa: SIM300
    if (ord is None or ord == "fro") and (axis is None or keepdims):
        d[x] = d[z] * x / length
    elif ord is None and axis in (0, 1, 2, -1, -2):
        d[x] = np.expand_dims(d[z] / length, axis) * x
    elif ord is None:
        d[x] = spread(d[z] / length, x, axis, keepdims) * x
    elif ord == 2 and np.ndim(x) == 1:
        d[x] = d[z] * x / length
    elif ord == 1 and np.ndim(x) == 1:
        d[x] = d[z] * np.sign(x)
    else:
        d[x] = spread(d[z], x, axis, keepdims) * norm_gradient(x, ord, axis)


@tangent(np.linalg.norm)
def norm_tangent(z, x, ord=None, axis=None, keepdims=False):
    if np.iscomplexobj(x):
        d[z] = np.sum(np.real(np.conj(norm_gradient(x, ord, axis)) * d[x]), axis=axis, keepdims=keepdims)
    else:
        d[z] = np.sum(norm_gradient(x, ord, axis) * d[x], axis=axis, keepdims=keepdims)


@adjoint(
    np.linalg.matrix_norm,
    length=True,
    forms=(
        ("np.linalg.matrix_norm(x)", (2, 3)),
        ("np.linalg.matrix_norm(x)", (4, 2, 3)),
        ("np.linalg.matrix_norm(x, ord=2, keepdims=True)", (4, 2, 3)),
    ),
    complex="written",
    values="real",
    note="As np.linalg.norm over the last two axes.",
)
def matrix_norm(z, x, keepdims=False, ord="fro"):
    if np.ndim(x) == 2 and ord == "fro":
        d[x] = d[z] * x / np.where(0.0 == z, np.inf, z)  # noqa: SIM300
    else:
        d[x] = spread(d[z], x, (-2, -1), keepdims) * norm_gradient(x, ord, (-2, -1))


@tangent(np.linalg.matrix_norm)
def matrix_norm_tangent(z, x, keepdims=False, ord="fro"):
    if np.iscomplexobj(x):
        turned = np.conj(norm_gradient(x, ord, (-2, -1)))
        d[z] = np.sum(np.real(turned * d[x]), axis=(-2, -1), keepdims=keepdims)
    else:
        d[z] = np.sum(norm_gradient(x, ord, (-2, -1)) * d[x], axis=(-2, -1), keepdims=keepdims)


@adjoint(
    np.linalg.vector_norm,
    length=True,
    forms=(
        ("np.linalg.vector_norm(x)", (3,)),
        ("np.linalg.vector_norm(x)", (2, 3)),
        ("np.linalg.vector_norm(x, axis=1, keepdims=True)", (2, 3)),
        ("np.linalg.vector_norm(x, axis=(0, 2), ord=3)", (2, 3, 2)),
        ("np.linalg.vector_norm(x, ord=1)", (2, 3)),
        ("np.linalg.vector_norm(x, ord=np.inf, keepdims=True)", (2, 3)),
        ("np.linalg.vector_norm(x, ord=-np.inf, axis=-1)", (2, 3)),
        ("np.linalg.vector_norm(x, ord=0.5, axis=0)", (2, 3)),
        ("np.linalg.vector_norm(x, ord=0)", (2, 3)),
    ),
    complex="written",
    values="real",
    note="0 where the norm is 0; entries that attain a maximum or minimum share evenly.",
)
def vector_norm(z, x, axis=None, keepdims=False, ord=2):
    if ord == 2 and (axis is None or keepdims):
        d[x] = d[z] * x / np.where(0.0 == z, np.inf, z)  # noqa: SIM300
    else:
        slope = split_axes(norm_gradient(merge_axes(x, axis), ord, -1), x, axis)
        d[x] = spread(d[z], x, axis, keepdims) * slope


@tangent(np.linalg.vector_norm)
def vector_norm_tangent(z, x, axis=None, keepdims=False, ord=2):
    slope = split_axes(norm_gradient(merge_axes(x, axis), ord, -1), x, axis)
    if np.iscomplexobj(x):
        d[z] = np.sum(np.real(np.conj(slope) * d[x]), axis=axis, keepdims=keepdims)
    else:
        d[z] = np.sum(slope * d[x], axis=axis, keepdims=keepdims)


@adjoint(
    np.linalg.cond,
    forms=(
        ("np.linalg.cond(x + 3.0 * np.eye(3))", (3, 3)),
        ("np.linalg.cond(x, 2)", (2, 3)),
        ("np.linalg.cond(x + 3.0 * np.eye(2))", (4, 2, 2)),
        ("np.linalg.cond(x, -2)", (3, 2)),
        ("np.linalg.cond(x + 3.0 * np.eye(3), 'fro')", (3, 3)),
        ("np.linalg.cond(x + 3.0 * np.eye(3), 'nuc')", (3, 3)),
        ("np.linalg.cond(x + 3.0 * np.eye(3), 1)", (3, 3)),
        ("np.linalg.cond(x + 3.0 * np.eye(3), -1)", (3, 3)),
        ("np.linalg.cond(x + 3.0 * np.eye(2), np.inf)", (4, 2, 2)),
        ("np.linalg.cond(x + 3.0 * np.eye(3), -np.inf)", (3, 3)),
        ("np.linalg.cond(x, -2)", (4, 3, 2)),
        ("np.linalg.cond(x + 3.0 * np.eye(2), len(x) - 3)", (4, 2, 2)),
    ),
    note="A singular matrix has an infinite condition number, and raises LinAlgError in orders other than 2.",
)
def cond(z, x, p=None):
    if p is None or p == 2:
        least = np.linalg.norm(x, -2, (-2, -1), keepdims=True)
        steep = norm_gradient(x, 2, (-2, -1)) - np.expand_dims(z, (-2, -1)) * norm_gradient(x, -2, (-2, -1))
        d[x] = np.expand_dims(d[z], (-2, -1)) * steep / least
    elif p == -2:
        most = np.linalg.norm(x, 2, (-2, -1), keepdims=True)
        steep = norm_gradient(x, -2, (-2, -1)) - np.expand_dims(z, (-2, -1)) * norm_gradient(x, 2, (-2, -1))
        d[x] = np.expand_dims(d[z], (-2, -1)) * steep / most
    elif p is not None:
        inverse = np.linalg.inv(x)
        outer = np.linalg.norm(inverse, p, (-2, -1), keepdims=True) * norm_gradient(x, p, (-2, -1))
        inner = inverse.mT @ norm_gradient(inverse, p, (-2, -1)) @ inverse.mT
        steep = outer - np.linalg.norm(x, p, (-2, -1), keepdims=True) * inner
        d[x] = np.expand_dims(d[z], (-2, -1)) * steep
    else:
        order = 2 if p is None else p  # known when it runs
        inverse = np.linalg.inv(x)
        outer = np.linalg.norm(inverse, order, (-2, -1), keepdims=True) * norm_gradient(x, order, (-2, -1))
        inner = inverse.mT @ norm_gradient(inverse, order, (-2, -1)) @ inverse.mT
        steep = outer - np.linalg.norm(x, order, (-2, -1), keepdims=True) * inner
        d[x] = np.expand_dims(d[z], (-2, -1)) * steep


@tangent(np.linalg.cond)
def cond_tangent(z, x, p=None):
    if p is None or p == 2:
        least = np.linalg.norm(x, -2, (-2, -1), keepdims=True)
        steep = norm_gradient(x, 2, (-2, -1)) - np.expand_dims(z, (-2, -1)) * norm_gradient(x, -2, (-2, -1))
        d[z] = np.sum(steep / least * d[x], axis=(-2, -1))
    elif p == -2:
        most = np.linalg.norm(x, 2, (-2, -1), keepdims=True)
        steep = norm_gradient(x, -2, (-2, -1)) - np.expand_dims(z, (-2, -1)) * norm_gradient(x, 2, (-2, -1))
        d[z] = np.sum(steep / most * d[x], axis=(-2, -1))
    elif p is not None:
        inverse = np.linalg.inv(x)
        outer = np.linalg.norm(inverse, p, (-2, -1), keepdims=True) * norm_gradient(x, p, (-2, -1))
        inner = inverse.mT @ norm_gradient(inverse, p, (-2, -1)) @ inverse.mT
        steep = outer - np.linalg.norm(x, p, (-2, -1), keepdims=True) * inner
        d[z] = np.sum(steep * d[x], axis=(-2, -1))
    else:
        order = 2 if p is None else p  # known when it runs
        inverse = np.linalg.inv(x)
        outer = np.linalg.norm(inverse, order, (-2, -1), keepdims=True) * norm_gradient(x, order, (-2, -1))
        inner = inverse.mT @ norm_gradient(inverse, order, (-2, -1)) @ inverse.mT
        steep = outer - np.linalg.norm(x, order, (-2, -1), keepdims=True) * inner
        d[z] = np.sum(steep * d[x], axis=(-2, -1))


@adjoint(
    norm_gradient,
    forms=(
        ("norm_gradient(x, 3)", (3,)),
        ("norm_gradient(x, None)", (2, 3)),
        ("norm_gradient(x, 2.5, -1)", (2, 3)),
        ("norm_gradient(x, 2, -1)", (2, 3)),
        ("norm_gradient(x, 1, 0)", (2, 3)),
        ("norm_gradient(x, np.inf, 0)", (2, 3)),
        ("norm_gradient(x, 2)", (2, 3)),
        ("norm_gradient(x, 2)", (3, 2)),
        ("norm_gradient(x, -2, (0, 2))", (3, 2, 3)),
        ("norm_gradient(x, 'nuc')", (2, 3)),
        ("norm_gradient(x, 'nuc', (2, 0))", (3, 2, 2)),
    ),
    second=False,
    complex="written",
    note="Once more is a third derivative of the norm, which raises.",
)
def norm_gradient_adjoint(z, x, ord, axis=None):
    d[x] = norm_curvature(d[z], x, ord, axis)


@tangent(norm_gradient)
def norm_gradient_forward(z, x, ord, axis=None):
    d[z] = norm_curvature(d[x], x, ord, axis, True)


@adjoint(
    norm_curvature,
    complex="written",
    forms=(("norm_curvature(x, np.array([1.0, 2.0]), 3)", (2,)),),
    note="A third derivative of a norm of general order raises; the Euclidean norm has all orders.",
)
def norm_curvature_adjoint(z, v, x, ord, axis=None, still=False):
    d[v] = norm_curvature(d[z], x, ord, axis)
    d[x] = no_further(d[z])


@tangent(norm_curvature)
def norm_curvature_forward(z, v, x, ord, axis=None, still=False):
    d[z] = norm_curvature(d[v], x, ord, axis, still) + no_further(d[x])


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
