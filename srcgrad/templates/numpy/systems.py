"""Linear systems, inverses, least squares, determinants, powers of matrices; batched over leading axes."""

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, tangent
from srcgrad.runtime.broadcast import sum_to
from srcgrad.runtime.linalg import (
    bordered,
    chain_adjoints,
    chain_bend,
    chain_second,
    chain_tangent,
    cofactor,
    cofactor_derivative,
    cofactor_second,
    columns,
    corner,
    emptied,
    filled,
    half_read,
    last_axes,
    no_further,
    square,
)
from srcgrad.runtime.structure import zeros_like


@adjoint(
    np.linalg.inv,
    forms=(
        ("np.linalg.inv(x)", (2, 2)),
        ("np.linalg.inv(x + 3.0 * np.eye(3))", (3, 3)),
        ("np.linalg.inv(x + 3.0 * np.eye(2))", (4, 2, 2)),
    ),
    shape="a",
    complex="conjugated",
    gives="array",
)
def inv(z, a):
    d[a] = -z.mT @ d[z] @ z.mT


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
        ("np.linalg.solve(x, y)", (2, 2), (4, 2, 3)),
        ("np.linalg.solve(x + 3.0 * np.eye(2), y)", (4, 2, 2), (4, 2, 1)),
    ),
    shape="solve",
    complex="conjugated",
    linear=("b",),
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
        turned = np.linalg.solve(a.mT, columns(d[z], b))
        d[a] = sum_to(-turned @ columns(z, b).mT, a)
        d[b] = sum_to(np.reshape(turned, np.shape(z)), b)


@tangent(np.linalg.solve)
def solve_tangent(z, a, b):
    if np.ndim(a) == 2:
        d[z] = np.linalg.solve(a, d[b] - d[a] @ z)
    else:
        d[z] = np.reshape(np.linalg.solve(a, columns(d[b], b) - d[a] @ columns(z, b)), np.shape(z))


@adjoint(
    np.linalg.pinv,
    forms=(
        ("np.linalg.pinv(x)", (3, 2)),
        ("np.linalg.pinv(x)", (2, 3)),
        ("np.linalg.pinv(x + 3.0 * np.eye(2))", (4, 2, 2)),
        ("np.linalg.pinv(x, rcond=1e-12)", (4, 2)),
        ("np.linalg.pinv(x @ y, 1e-5)", (3, 2), (2, 3)),
        ("np.linalg.pinv(x + x.T + np.eye(3), hermitian=True)", (3, 3)),
        ("np.linalg.pinv(x + 4.0 * np.eye(3), hermitian=True)", (2, 3, 3)),
    ),
    literals={"hermitian": (False, True)},
    complex="written",
    note="The rank is taken to be constant. With hermitian=True the lower triangle is read, and nothing flows to the "
    "other one.",
)
def pinv(z, a, rcond=None, hermitian=False, *, rtol=None, atol=None):
    if np.iscomplexobj(a):
        z_h = np.conj(z.mT)
        d_h = np.conj(d[z].mT)
        read = 0.5 * (half_read(a) + np.conj(half_read(a).mT)) if hermitian else a
        whole = (d_h - read @ (z @ d_h)) @ z @ z_h + z_h @ z @ (d_h - (d_h @ z) @ read) - z_h @ d[z] @ z_h
    else:
        read = 0.5 * (half_read(a) + half_read(a).mT) if hermitian else a
        turned = d[z].mT - read @ (z @ d[z].mT)
        whole = turned @ z @ z.mT + z.mT @ z @ (d[z].mT - (d[z].mT @ z) @ read) - z.mT @ d[z] @ z.mT
    if hermitian and np.iscomplexobj(a):
        d[a] = half_read(0.5 * (whole + np.conj(whole.mT)))
    elif hermitian:
        d[a] = half_read(0.5 * (whole + whole.mT))
    else:
        d[a] = whole


@tangent(np.linalg.pinv)
def pinv_tangent(z, a, rcond=None, hermitian=False, *, rtol=None, atol=None):
    if np.iscomplexobj(a):
        z_h = np.conj(z.mT)
        read = 0.5 * (half_read(a) + np.conj(half_read(a).mT)) if hermitian else a
        half = half_read(d[a]) if hermitian else d[a]
        a_dot = 0.5 * (half + np.conj(half.mT)) if hermitian else d[a]
        a_h = np.conj(a_dot.mT)
        d[z] = z @ z_h @ (a_h - (a_h @ read) @ z) + (a_h - z @ (read @ a_h)) @ z_h @ z - z @ a_dot @ z
    elif hermitian:
        read = 0.5 * (half_read(a) + half_read(a).mT)
        half = half_read(d[a])
        a_dot = 0.5 * (half + half.mT)
        turned = a_dot - a_dot @ read @ z
        d[z] = z @ z.mT @ turned + (a_dot - z @ (read @ a_dot)) @ z.mT @ z - z @ a_dot @ z
    else:
        turned = d[a].mT - (d[a].mT @ a) @ z
        d[z] = z @ z.mT @ turned + (d[a].mT - z @ (a @ d[a].mT)) @ z.mT @ z - z @ d[a] @ z


@adjoint(
    np.linalg.lstsq,
    results=(("x", None), ("residuals", None), ("rank", None), ("s", -1)),
    forms=(
        ("np.linalg.lstsq(x, y)[0]", (4, 2), (4,)),
        ("np.linalg.lstsq(x, y)[0]", (4, 2), (4, 3)),
        ("np.linalg.lstsq(x, y)[0]", (2, 4), (2,)),
        ("np.linalg.lstsq(x @ z, y, 1e-5)[0]", (4, 1), (4, 2), (1, 3)),
        ("np.linalg.lstsq(x, y)[1]", (4, 2), (4,)),
        ("np.linalg.lstsq(x, y)[1]", (4, 2), (4, 3)),
        ("np.linalg.lstsq(x, y)[1]", (2, 4), (2, 3)),
        ("np.linalg.lstsq(x, y)[3]", (4, 2), (4,)),
        ("np.linalg.lstsq(x, y)[:2]", (4, 2), (4, 2)),
    ),
    note="The rank is taken to be constant.",
)
def lstsq(z, a, b, rcond=None):
    x = columns(z[0], b)
    rest = columns(b, b) - a @ x
    inverse = np.linalg.pinv(1.0 * a, rtol=rcond)
    x_bar = columns(d[z][0], b)
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    whole = inverse.mT @ x_bar + 2.0 * (rest * filled(d[z][1], rest))
    turned = rest @ (inverse @ (inverse.mT @ x_bar)).mT + inverse.mT @ x @ (x_bar - inverse @ (a @ x_bar)).mT
    d[a] = turned - whole @ x.mT + (u * d[z][3]) @ vt
    d[b] = np.reshape(whole, np.shape(b))


@tangent(np.linalg.lstsq)
def lstsq_tangent(z, a, b, rcond=None):
    x = columns(z[0], b)
    rest = columns(b, b) - a @ x
    inverse = np.linalg.pinv(1.0 * a, rtol=rcond)
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    moved = columns(d[b], b) - d[a] @ x
    turned = inverse @ (inverse.mT @ (d[a].mT @ rest)) + (d[a].mT - inverse @ (a @ d[a].mT)) @ (inverse.mT @ x)
    d[z] = (
        np.reshape(inverse @ moved + turned, np.shape(z[0])),
        emptied(2.0 * np.sum(rest * moved, axis=0), z[1]),
        zeros_like(z[2]),
        np.diagonal(u.mT @ d[a] @ vt.mT),
    )


@adjoint(
    np.linalg.tensorsolve,
    forms=(
        ("np.linalg.tensorsolve(x + 3.0 * np.eye(6).reshape(2, 3, 6), y)", (2, 3, 6), (2, 3)),
        ("np.linalg.tensorsolve(x + 3.0 * np.eye(4).reshape(4, 2, 2), y)", (4, 2, 2), (4,)),
        ("np.linalg.tensorsolve(x + 3.0 * np.eye(4).reshape(2, 4, 2), y, axes=(0,))", (2, 4, 2), (4,)),
        ("np.linalg.tensorsolve(x + np.arange(16.0).reshape(2, 2, 2, 2) ** 2, y, (0, 2))", (2, 2, 2, 2), (2, 2)),
    ),
    complex="conjugated",
    linear=("b",),
)
def tensorsolve(z, a, b, axes=None):
    if axes is None:
        solved = np.linalg.solve(square(a).T, np.ravel(d[z]))
        d[a] = -np.reshape(np.outer(solved, z), np.shape(a))
        d[b] = np.reshape(solved, np.shape(b))
    else:
        order = last_axes(a, axes)
        moved = np.transpose(a, order)
        solved = np.linalg.solve(square(moved).T, np.ravel(d[z]))
        d[a] = -np.transpose(np.reshape(np.outer(solved, z), np.shape(moved)), np.argsort(order))
        d[b] = np.reshape(solved, np.shape(b))


@tangent(np.linalg.tensorsolve)
def tensorsolve_tangent(z, a, b, axes=None):
    if axes is None:
        rest = np.ravel(d[b]) - square(d[a]) @ np.ravel(z)
        d[z] = np.reshape(np.linalg.solve(square(a), rest), np.shape(z))
    else:
        order = last_axes(a, axes)
        rest = np.ravel(d[b]) - square(np.transpose(d[a], order)) @ np.ravel(z)
        d[z] = np.reshape(np.linalg.solve(square(np.transpose(a, order)), rest), np.shape(z))


@adjoint(
    np.linalg.tensorinv,
    forms=(
        ("np.linalg.tensorinv(x + 3.0 * np.eye(6).reshape(2, 3, 6))", (2, 3, 6)),
        ("np.linalg.tensorinv(x + 3.0 * np.eye(4).reshape(4, 2, 2), ind=1)", (4, 2, 2)),
    ),
    complex="conjugated",
)
def tensorinv(z, a, ind=2):
    d[a] = -np.reshape(square(z).T @ square(d[z]) @ square(z).T, np.shape(a))


@tangent(np.linalg.tensorinv)
def tensorinv_tangent(z, a, ind=2):
    d[z] = -np.reshape(square(z) @ square(d[a]) @ square(z), np.shape(z))


@adjoint.linear(
    square, forms=(("square(x)", (2, 3, 6)), ("square(x)", (3, 3))), result="argument", complex="conjugated"
)
def square_adjoint(z, a):
    d[a] = np.reshape(d[z], np.shape(a))


@adjoint.linear(
    columns,
    forms=(("columns(x, y)", (3,), (3,)), ("columns(x, y)", (2, 3), (2, 3))),
    result="argument",
    complex="conjugated",
)
def columns_adjoint(z, x, b):
    d[x] = np.reshape(d[z], np.shape(x))


@adjoint.linear(filled, forms=(("filled(x, y)", (3,), (2, 3)), ("filled(x, y)", (0,), (2, 3))), result="argument")
def filled_adjoint(z, g, x):
    d[g] = emptied(d[z], g)


@adjoint.linear(emptied, forms=(("emptied(x, y)", (3,), (3,)), ("emptied(x, y)", (3,), (0,))), result="argument")
def emptied_adjoint(z, x, g):
    d[x] = filled(d[z], x)


constants((last_axes,))


@adjoint(
    np.linalg.det,
    forms=(
        ("np.linalg.det(x)", (3, 3)),
        ("np.linalg.det(x)", (4, 2, 2)),
        ("np.linalg.det(x @ y + np.eye(3))", (3, 2), (2, 3)),
        ("np.linalg.det(x)", (1, 1)),
    ),
    note="Exact where the matrix is singular.",
    complex="conjugated",
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
    results=(("sign", -2), ("logabsdet", -2)),
    forms=(
        ("np.linalg.slogdet(x)[1]", (2, 2)),
        ("np.linalg.slogdet(x + 3.0 * np.eye(3))[1]", (3, 3)),
        ("np.linalg.slogdet(x + 3.0 * np.eye(2))[1]", (4, 2, 2)),
    ),
    complex="written",
    note="A singular matrix raises LinAlgError, as np.linalg.inv does.",
)
def slogdet(z, a):
    if np.iscomplexobj(a):
        turned = np.real(d[z][1]) + 1j * np.imag(d[z][0] * np.conj(z[0]))
        d[a] = np.expand_dims(turned, (-2, -1)) * np.conj(np.matrix_transpose(np.linalg.inv(a)))
    elif np.ndim(a) == 2:
        d[a] = d[z][1] * np.linalg.inv(a).T
    else:
        d[a] = np.expand_dims(d[z][1], (-2, -1)) * np.matrix_transpose(np.linalg.inv(a))


@tangent(np.linalg.slogdet)
def slogdet_tangent(z, a):
    if np.iscomplexobj(a):
        grown = np.sum(np.matrix_transpose(np.linalg.inv(a)) * d[a], axis=(-2, -1))
        d[z] = (1j * z[0] * np.imag(grown), np.real(grown))
    else:
        d[z] = (np.zeros_like(z[0]), np.sum(np.matrix_transpose(np.linalg.inv(a)) * d[a], axis=(-2, -1)))


@adjoint(
    cofactor,
    forms=(("cofactor(x)", (3, 3)), ("cofactor(x)", (4, 2, 2)), ("cofactor(x + 2.0 * np.eye(3))", (3, 3))),
    complex="conjugated",
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
    complex="conjugated",
    linear=("x",),
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
    complex="conjugated",
)
def cofactor_second_adjoint(z, x, y, a):
    d[x] = cofactor_second(d[z], y, a)
    d[y] = cofactor_second(x, d[z], a)
    d[a] = no_further(d[z])


@tangent(cofactor_second)
def cofactor_second_forward(z, x, y, a):
    d[z] = cofactor_second(d[x], y, a) + cofactor_second(x, d[y], a) + no_further(d[a])


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
    showing={"n": (1,)},
    complex="conjugated",
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


@adjoint.linear(
    bordered, forms=(("bordered(x, y)", (2, 2), (2, 2)), ("bordered(x, y)", (4, 2, 2), (4, 2, 2))), complex="conjugated"
)
def bordered_adjoint(z, a, x):
    half = a.shape[-1]
    d[a] = d[z][..., :half, :half] + d[z][..., half:, half:]
    d[x] = d[z][..., :half, half:]


@adjoint.linear(corner, forms=(("corner(x)", (4, 4)), ("corner(x)", (3, 2, 2))), result="view", complex="conjugated")
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
    complex="conjugated",
    factors=("arrays",),
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
    complex="conjugated",
    gives="arrays",
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
    complex="conjugated",
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
    complex="conjugated",
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
    complex="conjugated",
    gives="arrays",
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
