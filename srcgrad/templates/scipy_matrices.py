"""Functions of matrices and equations for matrices in `scipy.linalg`.

N. J. Higham, "Functions of Matrices", 2008: the derivative of f at A along E stands in the corner of
f([[A, E], [0, A]]), and its adjoint is the derivative at the transpose of A.
"""

import numpy as np
from scipy import linalg

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.matrices import bordered, corner
from srcgrad.runtime.spectra import as_real


@adjoint(
    linalg.expm,
    forms=(
        ("scipy.linalg.expm(x)", (3, 3)),
        ("scipy.linalg.expm(0.1 * x)", (4, 2, 2)),
        ("scipy.linalg.expm(x - x.T)", (2, 2)),
    ),
)
def expm(z, A):
    d[A] = corner(linalg.expm(bordered(A.mT, d[z])))


@tangent(linalg.expm)
def expm_tangent(z, A):
    d[z] = corner(linalg.expm(bordered(A, d[A])))


@adjoint(
    linalg.expm_frechet,
    forms=(("scipy.linalg.expm_frechet(x, y, compute_expm=False)", (2, 2), (2, 2)),),
    literals={"check_finite": (True, False), "compute_expm": (False,), "method": (None, "SPS", "blockEnlarge")},
    note="With compute_expm=False.",
)
def expm_frechet(z, A, E, compute_expm=False):
    half = A.shape[-1]
    whole = corner(linalg.expm(bordered(bordered(A, E).mT, bordered(np.zeros_like(d[z]), d[z]))))
    d[A] = whole[:half, :half] + whole[half:, half:]
    d[E] = whole[:half, half:]


@tangent(linalg.expm_frechet)
def expm_frechet_tangent(z, A, E, compute_expm=False):
    d[z] = corner(corner(linalg.expm(bordered(bordered(A, E), bordered(d[A], d[E])))))


@adjoint(
    linalg.sqrtm,
    forms=(("scipy.linalg.sqrtm(x @ x.T + np.eye(3))", (3, 3)), ("scipy.linalg.sqrtm(x + 9.0 * np.eye(3))", (3, 3))),
    note="Of real matrices with a real square root; a complex one raises TypeError (E5001).",
)
def sqrtm(z, A):
    d[A] = linalg.solve_sylvester(as_real(z).mT, as_real(z).mT, d[z])


@tangent(linalg.sqrtm)
def sqrtm_tangent(z, A):
    d[z] = linalg.solve_sylvester(as_real(z), as_real(z), d[A])


@adjoint(
    linalg.logm,
    forms=(("scipy.linalg.logm(x @ x.T + np.eye(3))", (3, 3)), ("scipy.linalg.logm(x + 9.0 * np.eye(2))", (2, 2))),
    note="Of real matrices with a real logarithm; a complex one raises TypeError (E5001).",
)
def logm(z, A):
    d[A] = as_real(corner(linalg.logm(bordered(A.mT, d[z]))))


@tangent(linalg.logm)
def logm_tangent(z, A):
    d[z] = as_real(corner(linalg.logm(bordered(A, d[A]))))


@adjoint.composed(
    linalg.fractional_matrix_power,
    forms=(
        ("scipy.linalg.fractional_matrix_power(x @ x.T + np.eye(3), 0.5)", (3, 3)),
        ("scipy.linalg.fractional_matrix_power(x @ x.T + np.eye(2), -y)", (2, 2), None),
    ),
    note="Of real matrices with a real logarithm; a complex one raises TypeError (E5001).",
)
def fractional_matrix_power(A, t):
    return linalg.expm(t * linalg.logm(A))


@adjoint(linalg.cosm, forms=(("scipy.linalg.cosm(x)", (3, 3)),))
def cosm(z, A):
    d[A] = corner(linalg.cosm(bordered(A.mT, d[z])))


@tangent(linalg.cosm)
def cosm_tangent(z, A):
    d[z] = corner(linalg.cosm(bordered(A, d[A])))


@adjoint(linalg.sinm, forms=(("scipy.linalg.sinm(x)", (3, 3)),))
def sinm(z, A):
    d[A] = corner(linalg.sinm(bordered(A.mT, d[z])))


@tangent(linalg.sinm)
def sinm_tangent(z, A):
    d[z] = corner(linalg.sinm(bordered(A, d[A])))


@adjoint(linalg.tanm, forms=(("scipy.linalg.tanm(0.2 * x)", (2, 2)),))
def tanm(z, A):
    d[A] = corner(linalg.tanm(bordered(A.mT, d[z])))


@tangent(linalg.tanm)
def tanm_tangent(z, A):
    d[z] = corner(linalg.tanm(bordered(A, d[A])))


@adjoint(linalg.coshm, forms=(("scipy.linalg.coshm(x)", (3, 3)),))
def coshm(z, A):
    d[A] = corner(linalg.coshm(bordered(A.mT, d[z])))


@tangent(linalg.coshm)
def coshm_tangent(z, A):
    d[z] = corner(linalg.coshm(bordered(A, d[A])))


@adjoint(linalg.sinhm, forms=(("scipy.linalg.sinhm(x)", (3, 3)),))
def sinhm(z, A):
    d[A] = corner(linalg.sinhm(bordered(A.mT, d[z])))


@tangent(linalg.sinhm)
def sinhm_tangent(z, A):
    d[z] = corner(linalg.sinhm(bordered(A, d[A])))


@adjoint(linalg.tanhm, forms=(("scipy.linalg.tanhm(0.5 * x)", (2, 2)),))
def tanhm(z, A):
    d[A] = corner(linalg.tanhm(bordered(A.mT, d[z])))


@tangent(linalg.tanhm)
def tanhm_tangent(z, A):
    d[z] = corner(linalg.tanhm(bordered(A, d[A])))


@adjoint(
    linalg.solve_sylvester,
    forms=(("scipy.linalg.solve_sylvester(x + 5.0 * np.eye(3), y, z)", (3, 3), (2, 2), (3, 2)),),
)
def solve_sylvester(z, a, b, q):
    solved = linalg.solve_sylvester(a.T, b.T, d[z])
    d[a] = -solved @ z.T
    d[b] = -z.T @ solved
    d[q] = solved


@tangent(linalg.solve_sylvester)
def solve_sylvester_tangent(z, a, b, q):
    d[z] = linalg.solve_sylvester(a, b, d[q] - d[a] @ z - z @ d[b])


@adjoint(
    linalg.solve_continuous_lyapunov,
    forms=(("scipy.linalg.solve_continuous_lyapunov(x + 5.0 * np.eye(3), y)", (3, 3), (3, 3)),),
    aliases=(linalg.solve_lyapunov,) if linalg.solve_lyapunov is not linalg.solve_continuous_lyapunov else (),
)
def solve_continuous_lyapunov(z, a, q):
    solved = linalg.solve_continuous_lyapunov(a.T, d[z])
    d[a] = -solved @ z.T - solved.T @ z
    d[q] = solved


@tangent(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov_tangent(z, a, q):
    d[z] = linalg.solve_continuous_lyapunov(a, d[q] - d[a] @ z - z @ d[a].T)


@adjoint(
    linalg.solve_discrete_lyapunov,
    forms=(
        ("scipy.linalg.solve_discrete_lyapunov(0.3 * x, y)", (3, 3), (3, 3)),
        ("scipy.linalg.solve_discrete_lyapunov(0.3 * x, y, 'bilinear')", (2, 2), (2, 2)),
    ),
    literals={"method": (None, "direct", "bilinear")},
)
def solve_discrete_lyapunov(z, a, q, method=None):
    solved = linalg.solve_discrete_lyapunov(a.T, d[z], method)
    d[a] = solved @ a @ z.T + solved.T @ a @ z
    d[q] = solved


@tangent(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov_tangent(z, a, q, method=None):
    moved = d[a] @ z @ a.T + a @ z @ d[a].T
    d[z] = linalg.solve_discrete_lyapunov(a, moved + d[q], method)
