"""Linear systems of `scipy.sparse.linalg`; loaded on request."""

from scipy import sparse
from scipy.sparse import linalg

from srcgrad.core.rules import adjoint, d, declare, declare_refused

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

MADE = """diags diags_array spdiags eye eye_array identity kron kronsum block_array block_diag bmat hstack vstack tril
triu csr_matrix csc_matrix coo_matrix dia_matrix bsr_matrix lil_matrix dok_matrix csr_array csc_array coo_array
dia_array bsr_array lil_array dok_array"""

declare(
    sparse,
    "scipy.sparse",
    MADE,
    f"{DATA}; use scipy.linalg.solve_banded of its bands, or an array",
)
