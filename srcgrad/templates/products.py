"""Products along axes, exact where elements are 0, and the helpers from which their derivatives are made."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime import spread
from srcgrad.runtime.reduce import merge_axes, prod_without, prod_without_tangent, split_axes

from .forms import reduction_forms


@adjoint(
    np.prod,
    forms=(*reduction_forms("np.prod"), ("np.prod(x * np.array([1.0, 0.0, 2.0]), axis=1)", (2, 3))),
    note="Exact where elements are 0.",
)
def prod(y, a, axis=None, keepdims=False):
    if axis is None:
        d[a] = d[y] * prod_without(a)
    else:
        d[a] = spread(d[y], a, axis, keepdims) * prod_without(a, axis)


@tangent(np.prod)
def prod_tangent(y, a, axis=None, keepdims=False):
    d[y] = np.sum(prod_without(a, axis) * d[a], axis=axis, keepdims=keepdims)


@adjoint(prod_without, forms=(("prod_without(x, 0)", (3, 2)), ("prod_without(x)", (2, 2))))
def prod_without_adjoint(z, a, axis=None):
    d[a] = prod_without_tangent(d[z], a, axis)


@tangent(prod_without)
def prod_without_forward(z, a, axis=None):
    d[z] = prod_without_tangent(d[a], a, axis)


@adjoint(
    prod_without_tangent,
    forms=(("prod_without_tangent(x, y, (0, 2))", (2, 3, 2), (2, 3, 2)),),
    note="Its derivative with respect to a takes memory of the square of the number of factors.",
)
def prod_without_tangent_adjoint(z, a_dot, a, axis=None):
    lines = merge_axes(a, axis)[..., None, :]
    dots = merge_axes(a_dot, axis)[..., None, :]
    apart = np.eye(np.shape(lines)[-1]) == 0.0
    rest = prod_without_tangent(np.where(apart, dots, 0.0), np.where(apart, lines, 1.0), -1)
    pairs = np.where(apart, rest, 0.0)  # row k, column m: the products without the factors k and m
    d[a_dot] = prod_without_tangent(d[z], a, axis)
    d[a] = split_axes(np.sum(merge_axes(d[z], axis)[..., :, None] * pairs, axis=-2), a, axis)


@tangent(prod_without_tangent)
def prod_without_tangent_forward(z, a_dot, a, axis=None):
    lines = merge_axes(a, axis)[..., None, :]
    dots = merge_axes(a_dot, axis)[..., None, :]
    apart = np.eye(np.shape(lines)[-1]) == 0.0
    rest = prod_without_tangent(np.where(apart, dots, 0.0), np.where(apart, lines, 1.0), -1)
    pairs = np.where(apart, rest, 0.0)
    d[z] = prod_without_tangent(d[a_dot], a, axis) + split_axes(
        np.sum(merge_axes(d[a], axis)[..., :, None] * pairs, axis=-2), a, axis
    )


@adjoint.linear(merge_axes, forms=(("merge_axes(x, (2, 0))", (2, 3, 4)), ("merge_axes(x)", (2, 3))))
def merge_axes_adjoint(z, a, axis=None):
    d[a] = split_axes(d[z], a, axis)


@adjoint.linear(split_axes, forms=(("split_axes(x, y, (2, 0))", (3, 8), (2, 3, 4)),))
def split_axes_adjoint(z, g, a, axis=None):
    d[g] = merge_axes(d[z], axis)
