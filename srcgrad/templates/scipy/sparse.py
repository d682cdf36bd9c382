"""Linear systems of `scipy.sparse.linalg`; loaded on request."""

from scipy.sparse import linalg

from srcgrad.core.rules import adjoint, d, declare_refused

DATA = "a derivative with respect to a sparse matrix is not taken"
MATRIX = "scipy.sparse.csc_array(np.arange(9.0).reshape(3, 3) + 10.0 * np.eye(3))"


@adjoint.linear(
    linalg.spsolve,
    forms=(
        (f"scipy.sparse.linalg.spsolve({MATRIX}, x)", (3,)),
        (f"scipy.sparse.linalg.spsolve({MATRIX}, x)", (3, 2)),
    ),
    refuses={"A": DATA},
)
def spsolve(z, A, b):
    d[b] = linalg.spsolve(A.T, d[z])


declare_refused(
    "the solution depends on a tolerance; use scipy.sparse.linalg.spsolve",
    {f"scipy.sparse.linalg.{name}": getattr(linalg, name) for name in ("cg", "gmres", "bicgstab", "minres", "lsqr")},
)
declare_refused(
    "it gives a function that has no rule; use scipy.sparse.linalg.spsolve",
    {f"scipy.sparse.linalg.{name}": getattr(linalg, name) for name in ("factorized", "splu", "spilu")},
)
