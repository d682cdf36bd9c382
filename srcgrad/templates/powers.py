"""Powers of matrices and products of several."""

import numpy as np

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.linalg import no_further
from srcgrad.runtime.matrices import bordered, chain_adjoints, chain_bend, chain_second, chain_tangent, corner


@adjoint(
    np.linalg.matrix_power,
    forms=(
        ("np.linalg.matrix_power(x, 2)", (3, 3)),
        ("np.linalg.matrix_power(x, 5)", (3, 3)),
        ("np.linalg.matrix_power(x, 3)", (4, 2, 2)),
        ("np.linalg.matrix_power(x, 1)", (2, 2)),
        ("np.linalg.matrix_power(x, 0)", (2, 2)),
        ("np.linalg.matrix_power(x + 4.0 * np.eye(3), -1)", (3, 3)),
        ("np.linalg.matrix_power(x + 4.0 * np.eye(2), n=-3)", (4, 2, 2)),
        ("np.linalg.matrix_power(x, len(x))", (3, 3)),
    ),
)
def matrix_power(z, a, n):
    if n == 2:
        d[a] = d[z] @ a.mT + a.mT @ d[z]
    elif n == -1:
        d[a] = -z.mT @ d[z] @ z.mT
    else:
        d[a] = corner(np.linalg.matrix_power(bordered(a.mT, d[z]), n))


@tangent(np.linalg.matrix_power)
def matrix_power_tangent(z, a, n):
    if n == 2:
        d[z] = d[a] @ a + a @ d[a]
    elif n == -1:
        d[z] = -z @ d[a] @ z
    else:
        d[z] = corner(np.linalg.matrix_power(bordered(a, d[a]), n))


@adjoint.linear(bordered, forms=(("bordered(x, y)", (2, 2), (2, 2)), ("bordered(x, y)", (4, 2, 2), (4, 2, 2))))
def bordered_adjoint(z, a, x):
    half = a.shape[-1]
    d[a] = d[z][..., :half, :half] + d[z][..., half:, half:]
    d[x] = d[z][..., :half, half:]


@adjoint.linear(corner, forms=(("corner(x)", (4, 4)), ("corner(x)", (3, 2, 2))))
def corner_adjoint(z, m):
    d[m] = bordered(np.zeros_like(d[z]), d[z])


@adjoint(
    np.linalg.multi_dot,
    forms=(
        ("np.linalg.multi_dot([x, y, z])", (2, 3), (3, 4), (4, 2)),
        ("np.linalg.multi_dot([x, y])", (2, 3), (3, 2)),
        ("np.linalg.multi_dot((x, y, z))", (3,), (3, 4), (4,)),
        ("np.linalg.multi_dot([x, y, z, x])", (2, 3), (3, 4), (4, 2)),
        ("np.linalg.multi_dot([np.ones(2), x, y])", (2, 3), (3, 2)),
    ),
)
def multi_dot(z, arrays):
    d[arrays] = chain_adjoints(d[z], arrays)


@tangent(np.linalg.multi_dot)
def multi_dot_tangent(z, arrays):
    d[z] = chain_tangent(d[arrays], arrays)


@adjoint(
    chain_adjoints,
    forms=(("chain_adjoints(x, [y, z])[1]", (2, 2), (2, 3), (3, 2)),),
    second=False,
    note="Its second derivative is the third of np.linalg.multi_dot, which raises.",
)
def chain_adjoints_adjoint(z, g, arrays):
    d[g] = chain_tangent(d[z], arrays)
    d[arrays] = chain_bend(g, arrays, d[z])


@tangent(chain_adjoints)
def chain_adjoints_forward(z, g, arrays):
    d[z] = chain_adjoints(d[g], arrays)  # the lines add up; the results are lists
    d[z] = chain_bend(g, arrays, d[arrays])


@adjoint(
    chain_tangent,
    forms=(("chain_tangent([x, y], [z, u])", (2, 3), (3, 2), (2, 3), (3, 2)),),
    second=False,
    note="Its second derivative is the third of np.linalg.multi_dot, which raises.",
)
def chain_tangent_adjoint(z, u, arrays):
    d[u] = chain_adjoints(d[z], arrays)
    d[arrays] = chain_bend(d[z], arrays, u)


@tangent(chain_tangent)
def chain_tangent_forward(z, u, arrays):
    d[z] = chain_tangent(d[u], arrays)
    d[z] = chain_second(u, d[arrays], arrays)


@adjoint(
    chain_second,
    forms=(("chain_second([x, y], [z, u], [np.ones((2, 3)), np.ones((3, 2))])", (2, 3), (3, 2), (2, 3), (3, 2)),),
    second=False,
    note="Its derivative with respect to the arrays is the third of np.linalg.multi_dot, which raises.",
)
def chain_second_adjoint(z, u, v, arrays):
    d[u] = chain_bend(d[z], arrays, v)
    d[v] = chain_bend(d[z], arrays, u)
    d[arrays] = no_further(d[z])


@tangent(chain_second)
def chain_second_forward(z, u, v, arrays):
    d[z] = chain_second(d[u], v, arrays)
    d[z] = chain_second(u, d[v], arrays)
    d[z] = no_further(d[arrays])


@adjoint(
    chain_bend,
    forms=(("chain_bend(x, [np.ones((2, 3)), np.ones((3, 2))], [y, z])[0]", (2, 2), (2, 3), (3, 2)),),
    second=False,
    note="Its derivative with respect to the arrays is the third of np.linalg.multi_dot, which raises.",
)
def chain_bend_adjoint(z, g, arrays, u):
    d[g] = chain_second(u, d[z], arrays)
    d[arrays] = no_further(d[z])
    d[u] = chain_bend(g, arrays, d[z])


@tangent(chain_bend)
def chain_bend_forward(z, g, arrays, u):
    d[z] = chain_bend(d[g], arrays, u)
    d[z] = chain_bend(g, arrays, d[u])
    d[z] = no_further(d[arrays])
