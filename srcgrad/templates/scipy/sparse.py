"""Linear systems of `scipy.sparse.linalg`; loaded on request."""

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from srcgrad.core.rules import adjoint, d, declare, declare_refused, tangent

DATA = "a derivative with respect to a sparse matrix is not taken"
MATRIX = "scipy.sparse.csc_array(np.arange(9.0).reshape(3, 3) + 10.0 * np.eye(3))"


@adjoint(
    linalg.spsolve,
    forms=(
        (f"scipy.sparse.linalg.spsolve({MATRIX}, x)", (3,)),
        (f"scipy.sparse.linalg.spsolve({MATRIX}, x)", (3, 2)),
        (f"scipy.sparse.linalg.spsolve({MATRIX}, x)", (3, 1)),
    ),
    note="A matrix that is differentiated is no sparse one.",
)
def spsolve(z, A, b):
    d[b] = np.reshape(linalg.spsolve(A.T, d[z]), np.shape(b))
    columns = linalg.spsolve(A.T, d[z])
    d[A] = -columns @ z.T if np.ndim(z) > 1 else -np.outer(columns, z)


@tangent(linalg.spsolve)
def spsolve_tangent(z, A, b):
    d[z] = linalg.spsolve(A, d[b] - np.reshape(d[A] @ z, np.shape(b)))


declare_refused(
    "the solution depends on a tolerance; use scipy.sparse.linalg.spsolve",
    {f"scipy.sparse.linalg.{name}": getattr(linalg, name) for name in ("cg", "gmres", "bicgstab", "minres", "lsqr")},
)
declare_refused(
    "it gives a function that has no rule; use scipy.sparse.linalg.spsolve",
    {f"scipy.sparse.linalg.{name}": getattr(linalg, name) for name in ("factorized", "splu", "spilu")},
)

MADE = """diags diags_array spdiags eye eye_array identity kron kronsum block_array block_diag bmat hstack vstack tril
triu csr_matrix csc_matrix coo_matrix dia_matrix bsr_matrix lil_matrix dok_matrix csr_array csc_array coo_array
dia_array bsr_array lil_array dok_array"""

declare(
    sparse,
    "scipy.sparse",
    MADE,
    f"{DATA}; use scipy.linalg.solve_banded of its bands, or an array",
)
