"""Rules of products of a value with itself, and of their adjoints."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.contract import dot_both, fitted, matmul_both, self_dot, self_product


@adjoint(
    self_product,
    forms=(
        ("self_product(x)", (3,)),
        ("self_product(x)", (3, 3)),
        ("self_product(x)", (4, 3, 3)),
        ("self_product(x)", (0,)),
    ),
    wide=True,
)
def self_product_adjoint(z, x):
    if np.ndim(x) == 1:
        d[x] = d[z] * 2.0 * x
    elif np.ndim(x) == 2:
        d[x] = d[z] @ x.T + x.T @ d[z]
    else:
        d[x] = matmul_both(d[z], x)


@tangent(self_product)
def self_product_tangent(z, x):
    if np.ndim(x) == 1:
        d[z] = 2.0 * (x @ d[x])
    else:
        d[z] = d[x] @ x + x @ d[x]


@adjoint(
    self_dot,
    forms=(
        ("self_dot(x)", (3,)),
        ("self_dot(x)", (3, 3)),
        ("self_dot(x)", (3, 3, 3)),
        ("self_dot(x)", ()),
    ),
    wide=True,
)
def self_dot_adjoint(z, x):
    if np.ndim(x) == 1:
        d[x] = d[z] * 2.0 * x
    elif np.ndim(x) == 2:
        d[x] = d[z] @ x.T + x.T @ d[z]
    else:
        d[x] = dot_both(d[z], x)


@tangent(self_dot)
def self_dot_tangent(z, x):
    if np.ndim(x) == 1:
        d[z] = 2.0 * np.dot(x, d[x])
    else:
        d[z] = np.dot(d[x], x) + np.dot(x, d[x])


@adjoint.multilinear(
    matmul_both,
    forms=(
        ("matmul_both(x, y)", (), (3,)),
        ("matmul_both(x, y)", (3, 3), (3, 3)),
        ("matmul_both(x, y)", (3, 3), (4, 3, 3)),
        ("matmul_both(x, y)", (4, 3, 3), (4, 3, 3)),
    ),
)
def matmul_both_adjoint(z, g, a):
    d[g] = fitted(np.matmul(d[z], a) + np.matmul(a, d[z]), np.shape(g))
    d[a] = matmul_both(g, d[z])


@adjoint.multilinear(
    dot_both,
    forms=(
        ("dot_both(x, y)", (), (3,)),
        ("dot_both(x, y)", (3, 3), (3, 3)),
        ("dot_both(x, y)", (3, 3, 3, 3), (3, 3, 3)),
        ("dot_both(x, y)", (), ()),
    ),
)
def dot_both_adjoint(z, g, a):
    d[g] = fitted(np.dot(d[z], a) + np.dot(a, d[z]), np.shape(g))
    d[a] = dot_both(g, d[z])
