"""Rules of the helpers in `srcgrad.runtime`, so that generated code can be differentiated again."""

import numpy as np

from srcgrad.api import stop_gradient
from srcgrad.rules import adjoint, constants, d, tangent
from srcgrad.runtime.broadcast import spread, sum_to, summands, summed
from srcgrad.runtime.layout import (
    converted,
    diag_transpose,
    join_like,
    mesh,
    mesh_transpose,
    place_diagonal,
    repeat_transpose,
    split_like,
    tile_transpose,
    unpad,
)
from srcgrad.runtime.linalg import cofactor, cofactor_derivative, cofactor_second, columns, no_further
from srcgrad.runtime.norm import norm_curvature, norm_gradient
from srcgrad.runtime.scatter import add_at, scatter, stored
from srcgrad.runtime.seed import check_seed, check_shape
from srcgrad.runtime.structure import add, fields_of, owned, zeros_like

constants([zeros_like, check_seed, stop_gradient])


@adjoint.linear(
    sum_to,
    forms=(
        ("sum_to(x, y)", (2, 3), (3,)),
        ("sum_to(x, y)", (2, 3), (2, 1)),
        ("sum_to(x, y)", (2, 3), (2, 3)),
        ("sum_to(x, y)", (2, 3), ()),
        ("sum_to(x, y)", (), ()),
    ),
)
def sum_to_adjoint(z, g, x):
    d[g] = np.broadcast_to(d[z], np.shape(g))


@adjoint.linear(
    spread,
    forms=(
        ("spread(x, y, None, False)", (), (2, 3)),
        ("spread(x, y, 0, False)", (3,), (2, 3)),
        ("spread(x, y, -1, True)", (2, 1), (2, 3)),
        ("spread(x, y, (0, -1), False)", (3,), (2, 3, 4)),
    ),
)
def spread_adjoint(z, g, a, axis=None, keepdims=False):
    d[g] = np.sum(d[z], axis=axis, keepdims=keepdims)


@adjoint.linear(summands, forms=(("summands(x, y)", (3,), (2, 3)), ("summands(x, [y, z])[1]", (3,), (), (3,))))
def summands_adjoint(z, g, xs):
    d[g] = summed(d[z], g)


@adjoint.linear(summed, forms=(("summed(x, y)", (2, 3), (3,)), ("summed([x, y], y)", (), (3,))))
def summed_adjoint(z, parts, g):
    d[parts] = summands(d[z], parts)


@adjoint.linear(fields_of, forms=(("fields_of({'one': x, 'two': y})['two']", (3,), ()),))
def fields_of_adjoint(z, x):
    d[x] = d[z]


@adjoint.linear(owned, forms=(("owned(x, (y,))", (2, 3), (3,)),))
def owned_adjoint(z, x, others):
    d[x] = d[z]


@adjoint.linear(
    stored,
    forms=(
        ("stored(x, [0, 0, 2])", (4,)),
        ("stored(x, (slice(None), np.array([1, 1])))", (2, 3)),
        ("stored(x, np.array([True, False]))", (2,)),
    ),
)
def stored_adjoint(z, a_bar, index):
    d[a_bar] = scatter(d[z] * stored(np.ones_like(a_bar), index), a_bar, index)


@adjoint.linear(
    scatter,
    forms=(
        ("scatter(x, y, 1)", (), (3,)),
        ("scatter(x, y, [0, 0, 2])", (3,), (4,)),
        ("scatter(x, y, (slice(None), 1))", (2,), (2, 3)),
    ),
)
def scatter_adjoint(z, g, x, index):
    d[g] = sum_to(np.array(d[z][index]), g)


@adjoint.linear(
    add_at,
    forms=(
        ("add_at(np.copy(x), [0, 0, 2], y)", (4,), (3,)),
        ("add_at(np.copy(x), (1, slice(1, 3)), y)", (2, 4), (2,)),
    ),
    note="It adds in place and returns its first argument.",
)
def add_at_adjoint(z, x_bar, index, g):
    d[x_bar] = d[z]
    d[g] = sum_to(np.array(d[z][index]), g)


@adjoint.linear(add, forms=(("add(x, y)", (3,), (3,)), ("add(x, y)", (), ())))
def add_adjoint(z, a, b):
    d[a] = d[z]
    d[b] = d[z]


@adjoint.linear(converted, forms=(("converted(x, x, y)", (3,), (3,)), ("converted(x, np.arange(3), y)", (3,), (3,))))
def converted_adjoint(z, g, source, target):
    d[g] = converted(np.broadcast_to(d[z], np.shape(source)), target, source)


@adjoint.linear(split_like, forms=(("split_like(x, (y, z), 1)[1]", (2, 3), (2, 1), (2, 2)),))
def split_like_adjoint(z, g, arrays, axis=0):
    d[g] = join_like(d[z], g, axis)


@adjoint.linear(join_like, forms=(("join_like([x, y], z, 1)", (2, 1), (2, 2), (2, 3)),))
def join_like_adjoint(z, parts, g, axis=0):
    d[parts] = split_like(d[z], parts, axis)


@adjoint.linear(mesh, forms=(("mesh((x, y))[1]", (2,), (3,)), ("mesh((x, y), 'ij')[0]", (2,), (3,))))
def mesh_adjoint(z, parts, indexing="xy"):
    d[parts] = mesh_transpose(d[z], parts, indexing)


@adjoint.linear(mesh_transpose, forms=(("mesh_transpose((x, y), (z, u))[0]", (3, 2), (3, 2), (2,), (3,)),))
def mesh_transpose_adjoint(z, g, parts, indexing="xy"):
    d[g] = mesh(d[z], indexing)


@adjoint.linear(repeat_transpose, forms=(("repeat_transpose(x, y, [1, 2], 0)", (3, 2), (2, 2)),))
def repeat_transpose_adjoint(z, g, a, repeats, axis=None):
    d[g] = np.repeat(d[z], repeats, axis)


@adjoint.linear(tile_transpose, forms=(("tile_transpose(x, y, (2, 1))", (2, 3), (3,)),))
def tile_transpose_adjoint(z, g, a, reps):
    d[g] = np.tile(d[z], reps)


@adjoint.linear(unpad, forms=(("unpad(x, y, 1)", (5,), (3,)), ("unpad(x, y, 1, 'edge')", (5,), (3,))))
def unpad_adjoint(z, g, array, pad_width, mode="constant"):
    d[g] = np.pad(d[z], pad_width, mode)


@adjoint.linear(
    place_diagonal,
    forms=(
        ("place_diagonal(x, y, 1)", (2,), (2, 3)),
        ("place_diagonal(x, y, 0, 0, -1)", (3, 2), (2, 3, 2)),
        ("place_diagonal(x, y, 0, -2, -1)", (4, 1), (4, 2, 2)),
    ),
)
def place_diagonal_adjoint(z, g, a, offset=0, axis1=0, axis2=1):
    d[g] = sum_to(np.diagonal(d[z], offset, axis1, axis2), g)


@adjoint.linear(
    diag_transpose,
    forms=(("diag_transpose(x, y, 1)", (3, 3), (2,)), ("diag_transpose(x, y)", (2,), (2, 3))),
)
def diag_transpose_adjoint(z, g, v, k=0):
    d[g] = np.diag(d[z], k)


@adjoint.linear(columns, forms=(("columns(x, y)", (3,), (3,)), ("columns(x, y)", (2, 3), (2, 3))))
def columns_adjoint(z, x, b):
    d[x] = np.reshape(d[z], np.shape(x))


@adjoint(
    cofactor,
    forms=(("cofactor(x)", (3, 3)), ("cofactor(x)", (4, 2, 2)), ("cofactor(x + 2.0 * np.eye(3))", (3, 3))),
)
def cofactor_adjoint(z, a):
    d[a] = cofactor_derivative(d[z], a)


@tangent(cofactor)
def cofactor_forward(z, a):
    d[z] = cofactor_derivative(d[a], a)


@adjoint(
    cofactor_derivative,
    forms=(
        ("cofactor_derivative(x, y)", (2, 2), (2, 2)),
        ("cofactor_derivative(x, y + 4.0 * np.eye(3))", (3, 3), (3, 3)),
        ("cofactor_derivative(x, y + 4.0 * np.eye(2))", (4, 2, 2), (4, 2, 2)),
    ),
    second=False,
    note="Its second derivative is the fourth of a determinant, which raises.",
)
def cofactor_derivative_adjoint(z, x, a):
    d[x] = cofactor_derivative(d[z], a)
    d[a] = cofactor_second(x, d[z], a)


@tangent(cofactor_derivative)
def cofactor_derivative_forward(z, x, a):
    d[z] = cofactor_derivative(d[x], a) + cofactor_second(x, d[a], a)


@adjoint(
    cofactor_second,
    forms=(
        (
            "cofactor_second(x, y, np.array([[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [0.0, 1.0, 2.0]]))",
            (3, 3),
            (3, 3),
        ),
    ),
    note="The fourth derivative of a determinant raises.",
)
def cofactor_second_adjoint(z, x, y, a):
    d[x] = cofactor_second(d[z], y, a)
    d[y] = cofactor_second(x, d[z], a)
    d[a] = no_further(d[z])


@tangent(cofactor_second)
def cofactor_second_forward(z, x, y, a):
    d[z] = cofactor_second(d[x], y, a) + cofactor_second(x, d[y], a) + no_further(d[a])


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
    note="Once more is a third derivative of the norm, which raises.",
)
def norm_gradient_adjoint(z, x, ord, axis=None):
    d[x] = norm_curvature(d[z], x, ord, axis)


@tangent(norm_gradient)
def norm_gradient_forward(z, x, ord, axis=None):
    d[z] = norm_curvature(d[x], x, ord, axis)


@adjoint(
    norm_curvature,
    forms=(("norm_curvature(x, np.array([1.0, 2.0]), 3)", (2,)),),
    note="A third derivative of a norm of general order raises; the Euclidean norm has all orders.",
)
def norm_curvature_adjoint(z, v, x, ord, axis=None):
    d[v] = norm_curvature(d[z], x, ord, axis)
    d[x] = no_further(d[z])


@tangent(norm_curvature)
def norm_curvature_forward(z, v, x, ord, axis=None):
    d[z] = norm_curvature(d[v], x, ord, axis) + no_further(d[x])


@adjoint.linear(no_further, forms=(("no_further(x)", (0,)),), second=False, note="It raises, unless empty.")
def no_further_adjoint(z, g):
    d[g] = no_further(d[z])


@adjoint.linear(check_shape, forms=(("check_shape(x, y)", (2, 3), (2, 3)),))
def check_shape_adjoint(z, gradient, x):
    d[gradient] = d[z]
