"""Rules of the transposes of products: a product of three factors keeps its form whichever is left out."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.contract import (
    dot_left,
    dot_right,
    fitted,
    inner_left,
    inner_right,
    kron_left,
    kron_right,
    matmul_left,
    matmul_right,
    tensordot_left,
    tensordot_right,
)
from srcgrad.runtime.einsum import einsum_adjoints, einsum_tangent
from srcgrad.runtime.linalg import no_further


@adjoint.multilinear(
    matmul_left,
    forms=(
        ("matmul_left(x, y, z)", (4, 2, 2), (2, 3), (4, 3, 2)),
        ("matmul_left(x, y, z)", (5, 4), (3,), (3, 4)),
        ("matmul_left(x, y, z)", (4,), (3,), (3,)),
        ("matmul_left(x, y, z)", (1, 4), (2, 3), (3, 1)),
    ),
)
def matmul_left_adjoint(z, g, a, b):
    d[g] = fitted(np.matmul(d[z], b), np.shape(g))
    d[b] = matmul_right(g, d[z], b)


@adjoint.multilinear(
    matmul_right,
    forms=(
        ("matmul_right(x, y, z)", (4, 2), (3,), (4, 3, 2)),
        ("matmul_right(x, y, z)", (5, 2), (2, 3), (3,)),
        ("matmul_right(x, y, z)", (4,), (3,), (3,)),
        ("matmul_right(x, y, z)", (1, 4), (2, 3), (3, 1)),
    ),
)
def matmul_right_adjoint(z, g, a, b):
    d[g] = fitted(np.matmul(a, d[z]), np.shape(g))
    d[a] = matmul_left(g, a, d[z])


@adjoint.multilinear(
    dot_left,
    forms=(("dot_left(x, y, z)", (4, 2, 5), (4, 2, 3), (3, 5)), ("dot_left(x, y, z)", (4,), (3,), (3,))),
)
def dot_left_adjoint(z, g, a, b):
    d[g] = fitted(np.dot(d[z], b), np.shape(g))
    d[b] = dot_right(g, d[z], b)


@adjoint.multilinear(
    dot_right,
    forms=(("dot_right(x, y, z)", (4, 5, 2), (4, 3), (5, 3, 2)), ("dot_right(x, y, z)", (2, 4), (3,), (3, 1))),
)
def dot_right_adjoint(z, g, a, b):
    d[g] = fitted(np.dot(a, d[z]), np.shape(g))
    d[a] = dot_left(g, a, d[z])


@adjoint.linear(fitted, forms=(("fitted(x, (2, 1))", (4, 1, 3)), ("fitted(x, (2, 3))", (2, 1))))
def fitted_adjoint(z, g, shape):
    d[g] = fitted(d[z], np.shape(g))


@adjoint.multilinear(inner_left, forms=(("inner_left(x, y, z)", (2, 4), (2, 3), (4, 3)),))
def inner_left_adjoint(z, g, a, b):
    d[g] = np.inner(d[z], b)
    d[b] = inner_right(g, d[z], b)


@adjoint.multilinear(inner_right, forms=(("inner_right(x, y, z)", (2, 4), (2, 3), (4, 3)),))
def inner_right_adjoint(z, g, a, b):
    d[g] = np.inner(a, d[z])
    d[a] = inner_left(g, a, d[z])


@adjoint.multilinear(
    tensordot_left,
    forms=(("tensordot_left(x, y, z, ((0, 2), (-1, 0)))", (3, 5), (2, 3, 4), (4, 5, 2)),),
)
def tensordot_left_adjoint(z, g, a, b, axes=2):
    d[g] = np.tensordot(d[z], b, axes)
    d[b] = tensordot_right(g, d[z], b, axes)


@adjoint.multilinear(
    tensordot_right,
    forms=(("tensordot_right(x, y, z, ((0, 2), (-1, 0)))", (3, 5), (2, 3, 4), (4, 5, 2)),),
)
def tensordot_right_adjoint(z, g, a, b, axes=2):
    d[g] = np.tensordot(a, d[z], axes)
    d[a] = tensordot_left(g, a, d[z], axes)


@adjoint.multilinear(kron_left, forms=(("kron_left(x, y, z)", (6, 6), (2, 3), (3, 2)),))
def kron_left_adjoint(z, g, a, b):
    d[g] = np.kron(d[z], b)
    d[b] = kron_right(g, d[z], b)


@adjoint.multilinear(kron_right, forms=(("kron_right(x, y, z)", (6, 6), (2, 3), (3, 2)),))
def kron_right_adjoint(z, g, a, b):
    d[g] = np.kron(a, d[z])
    d[a] = kron_left(g, a, d[z])


@adjoint(
    einsum_adjoints,
    forms=(
        ("einsum_adjoints(x, ('ij,jk->ik', y, z))[2]", (2, 4), (2, 3), (3, 4)),
        ("einsum_adjoints(x, ('i,i,i->i', y, y, y), (None, z, None, z))[2]", (2,), (2,), (2,)),
        (
            "einsum_adjoints(x, ('i,i,i->i', np.ones(2), np.ones(2), np.ones(2)), (None, y, y, y), (None, z, z, z))[2]",
            (2,),
            (2,),
            (2,),
        ),
    ),
    second=False,
    note="Its second derivative is the third of np.einsum, which raises where an operand stands three times.",
)
def einsum_adjoints_adjoint(z, g, operands, u=None, v=None):
    if u is None and v is None:
        d[g] = einsum_tangent(operands, d[z])
        d[operands] = einsum_adjoints(g, operands, d[z])
    elif v is None:
        d[g] = einsum_tangent(operands, u, d[z])
        d[operands] = einsum_adjoints(g, operands, u, d[z])
        d[u] = einsum_adjoints(g, operands, d[z])
    else:
        d[g] = einsum_tangent(operands, u, v, d[z])
        d[operands] = no_further(d[z])
        d[u] = einsum_adjoints(g, operands, v, d[z])
        d[v] = einsum_adjoints(g, operands, u, d[z])


@tangent(einsum_adjoints)
def einsum_adjoints_forward(z, g, operands, u=None, v=None):
    if u is None and v is None:
        d[z] = einsum_adjoints(d[g], operands)  # the lines add up; the results are lists
        d[z] = einsum_adjoints(g, operands, d[operands])
    elif v is None:
        d[z] = einsum_adjoints(d[g], operands, u)
        d[z] = einsum_adjoints(g, operands, d[u])
        d[z] = einsum_adjoints(g, operands, u, d[operands])
    else:
        d[z] = einsum_adjoints(d[g], operands, u, v)
        d[z] = einsum_adjoints(g, operands, d[u], v)
        d[z] = einsum_adjoints(g, operands, u, d[v])
        d[z] = no_further(d[operands])


@adjoint(
    einsum_tangent,
    forms=(
        ("einsum_tangent(('ij,jk->ik', x, y), (None, z, None))", (2, 3), (3, 4), (2, 3)),
        ("einsum_tangent(('i,i->i', np.ones(2), np.ones(2)), (None, x, None), (None, None, y))", (2,), (2,)),
        ("einsum_tangent(('i,i,i->i', x, x, x), (None, y, y, y), (None, z, z, z))", (2,), (2,), (2,)),
        (
            "einsum_tangent(('i,i,i->i', np.ones(2), np.ones(2), np.ones(2)), "
            "(None, x, x, x), (None, y, y, y), (None, z, z, z))",
            (2,),
            (2,),
            (2,),
        ),
    ),
    second=False,
    note="To third order of np.einsum; the fourth raises where an operand stands that often.",
)
def einsum_tangent_adjoint(z, operands, u, v=None, w=None):
    if v is None:
        d[operands] = einsum_adjoints(d[z], operands, u)
        d[u] = einsum_adjoints(d[z], operands)
    elif w is None:
        d[operands] = einsum_adjoints(d[z], operands, u, v)
        d[u] = einsum_adjoints(d[z], operands, v)
        d[v] = einsum_adjoints(d[z], operands, u)
    else:
        d[operands] = no_further(d[z])
        d[u] = einsum_adjoints(d[z], operands, v, w)
        d[v] = einsum_adjoints(d[z], operands, u, w)
        d[w] = einsum_adjoints(d[z], operands, u, v)


@tangent(einsum_tangent)
def einsum_tangent_forward(z, operands, u, v=None, w=None):
    if v is None:
        d[z] = einsum_tangent(operands, d[u]) + einsum_tangent(operands, u, d[operands])
    elif w is None:
        first = einsum_tangent(operands, d[u], v) + einsum_tangent(operands, u, d[v])
        d[z] = first + einsum_tangent(operands, u, v, d[operands])
    else:
        first = einsum_tangent(operands, d[u], v, w) + einsum_tangent(operands, u, d[v], w)
        d[z] = first + einsum_tangent(operands, u, v, d[w]) + no_further(d[operands])
