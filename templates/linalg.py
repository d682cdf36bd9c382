"""Linear algebra: norms, linear systems, determinants, factors, eigenvalues; batched over leading axes."""

import numpy as np

from srcgrad.rules import adjoint, d, tangent
from srcgrad.runtime.broadcast import spread, sum_to
from srcgrad.runtime.linalg import cofactor, columns
from srcgrad.runtime.norm import norm_gradient


@adjoint(
    np.linalg.norm,
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
    note="0 where the norm is 0; entries that attain a maximum or minimum share evenly.",
)
def norm(z, x, ord=None, axis=None, keepdims=False):
    length = np.where(z == 0.0, np.inf, z)
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
    d[z] = np.sum(norm_gradient(x, ord, axis) * d[x], axis=axis, keepdims=keepdims)


@adjoint(
    np.linalg.matrix_norm,
    forms=(
        ("np.linalg.matrix_norm(x)", (2, 3)),
        ("np.linalg.matrix_norm(x)", (4, 2, 3)),
        ("np.linalg.matrix_norm(x, ord=2, keepdims=True)", (4, 2, 3)),
    ),
    note="As np.linalg.norm over the last two axes.",
)
def matrix_norm(z, x, keepdims=False, ord="fro"):
    if np.ndim(x) == 2 and ord == "fro":
        d[x] = d[z] * x / np.where(z == 0.0, np.inf, z)
    else:
        d[x] = spread(d[z], x, (-2, -1), keepdims) * norm_gradient(x, ord, (-2, -1))


@tangent(np.linalg.matrix_norm)
def matrix_norm_tangent(z, x, keepdims=False, ord="fro"):
    d[z] = np.sum(norm_gradient(x, ord, (-2, -1)) * d[x], axis=(-2, -1), keepdims=keepdims)


@adjoint(
    np.linalg.inv,
    forms=(
        ("np.linalg.inv(x)", (2, 2)),
        ("np.linalg.inv(x + 3.0 * np.eye(3))", (3, 3)),
        ("np.linalg.inv(x + 3.0 * np.eye(2))", (4, 2, 2)),
    ),
)
def inv(z, a):
    if np.ndim(a) == 2:
        d[a] = -z.T @ d[z] @ z.T
    else:
        d[a] = -np.matrix_transpose(z) @ d[z] @ np.matrix_transpose(z)


@tangent(np.linalg.inv)
def inv_tangent(z, a):
    d[z] = -z @ d[a] @ z


@adjoint(
    np.linalg.solve,
    forms=(
        ("np.linalg.solve(x + 3.0 * np.eye(3), y)", (3, 3), (3,)),
        ("np.linalg.solve(x + 3.0 * np.eye(3), y)", (3, 3), (3, 2)),
        ("np.linalg.solve(x + 3.0 * np.eye(2), y)", (4, 2, 2), (2,)),
        ("np.linalg.solve(x + 3.0 * np.eye(2), y)", (4, 2, 2), (2, 3)),
        ("np.linalg.solve(x + 3.0 * np.eye(2), y)", (2, 2), (4, 2, 3)),
        ("np.linalg.solve(x + 3.0 * np.eye(2), y)", (4, 2, 2), (4, 2, 1)),
    ),
)
def solve(z, a, b):
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        solved = np.linalg.solve(a.T, d[z])
        d[a] = -np.outer(solved, z)
        d[b] = solved
    elif np.ndim(a) == 2 and np.ndim(b) == 2:
        solved = np.linalg.solve(a.T, d[z])
        d[a] = -solved @ z.T
        d[b] = solved
    else:
        turned = np.linalg.solve(np.matrix_transpose(a), columns(d[z], b))
        d[a] = sum_to(-turned @ np.matrix_transpose(columns(z, b)), a)
        d[b] = sum_to(np.reshape(turned, np.shape(z)), b)


@tangent(np.linalg.solve)
def solve_tangent(z, a, b):
    d[z] = np.reshape(np.linalg.solve(a, columns(d[b], b)) - np.linalg.solve(a, d[a] @ columns(z, b)), np.shape(z))


@adjoint(
    np.linalg.det,
    forms=(
        ("np.linalg.det(x)", (3, 3)),
        ("np.linalg.det(x)", (4, 2, 2)),
        ("np.linalg.det(x @ y + np.eye(3))", (3, 2), (2, 3)),
        ("np.linalg.det(x)", (1, 1)),
    ),
    note="Exact where the matrix is singular.",
)
def det(z, a):
    if np.ndim(a) == 2:
        d[a] = d[z] * cofactor(a)
    else:
        d[a] = np.expand_dims(d[z], (-2, -1)) * cofactor(a)


@tangent(np.linalg.det)
def det_tangent(z, a):
    d[z] = np.sum(cofactor(a) * d[a], axis=(-2, -1))


@adjoint(
    np.linalg.slogdet,
    forms=(
        ("np.linalg.slogdet(x)[1]", (2, 2)),
        ("np.linalg.slogdet(x + 3.0 * np.eye(3))[1]", (3, 3)),
        ("np.linalg.slogdet(x + 3.0 * np.eye(2))[1]", (4, 2, 2)),
    ),
    note="A singular matrix raises LinAlgError, as np.linalg.inv does.",
)
def slogdet(z, a):
    if np.ndim(a) == 2:
        d[a] = d[z][1] * np.linalg.inv(a).T
    else:
        d[a] = np.expand_dims(d[z][1], (-2, -1)) * np.matrix_transpose(np.linalg.inv(a))


@tangent(np.linalg.slogdet)
def slogdet_tangent(z, a):
    d[z] = (np.zeros_like(z[0]), np.sum(np.matrix_transpose(np.linalg.inv(a)) * d[a], axis=(-2, -1)))


@adjoint(
    np.linalg.cholesky,
    forms=(
        ("np.linalg.cholesky(x @ x.T + 3.0 * np.eye(3))", (3, 3)),
        ("np.linalg.cholesky(x @ np.matrix_transpose(x) + 3.0 * np.eye(2))", (4, 2, 2)),
    ),
    note="The gradient is symmetric, as the matrix is taken to be.",
)
def cholesky(z, a):
    product = np.matrix_transpose(z) @ d[z]
    halved = 0.5 * (np.tril(product) + np.tril(product, -1))
    inverse = np.linalg.inv(z)
    turned = np.matrix_transpose(inverse) @ halved @ inverse
    d[a] = 0.5 * (turned + np.matrix_transpose(turned))


@tangent(np.linalg.cholesky)
def cholesky_tangent(z, a):
    inverse = np.linalg.inv(z)
    turned = inverse @ (0.5 * (d[a] + np.matrix_transpose(d[a]))) @ np.matrix_transpose(inverse)
    d[z] = z @ (0.5 * (np.tril(turned) + np.tril(turned, -1)))


@adjoint(
    np.linalg.eigvalsh,
    forms=(
        ("np.linalg.eigvalsh(x + x.T)", (3, 3)),
        ("np.linalg.eigvalsh(x + np.matrix_transpose(x))", (4, 2, 2)),
    ),
    note="The gradient is symmetric, as the matrix is taken to be.",
)
def eigvalsh(z, a):
    v = np.linalg.eigh(a)[1]
    d[a] = (v * np.expand_dims(d[z], -2)) @ np.matrix_transpose(v)


@tangent(np.linalg.eigvalsh)
def eigvalsh_tangent(z, a):
    v = np.linalg.eigh(a)[1]
    turned = np.matrix_transpose(v) @ (0.5 * (d[a] + np.matrix_transpose(d[a]))) @ v
    d[z] = np.diagonal(turned, 0, -2, -1)


@adjoint(
    np.linalg.eigh,
    forms=(
        ("np.linalg.eigh(x + x.T)[0]", (3, 3)),
        ("np.linalg.eigh(x + x.T)[1] ** 2", (3, 3)),
        ("np.linalg.eigh(x + np.matrix_transpose(x))[1] ** 2", (4, 2, 2)),
    ),
    note="The gradient is symmetric; for equal eigenvalues the part that would divide by 0 is left out.",
)
def eigh(z, a):
    w = z[0]
    v = z[1]
    gap = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    weight = (gap != 0.0) / (gap + (gap == 0.0))
    turned = v @ (weight * (np.matrix_transpose(v) @ d[z][1])) + v * np.expand_dims(d[z][0], -2)
    whole = turned @ np.matrix_transpose(v)
    d[a] = 0.5 * (whole + np.matrix_transpose(whole))


@tangent(np.linalg.eigh)
def eigh_tangent(z, a):
    w = z[0]
    v = z[1]
    gap = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    weight = (gap != 0.0) / (gap + (gap == 0.0))
    turned = np.matrix_transpose(v) @ (0.5 * (d[a] + np.matrix_transpose(d[a]))) @ v
    d[z] = (np.diagonal(turned, 0, -2, -1), v @ (weight * turned))
