"""Products with a constant sparse matrix, which are linear in the other factor."""

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime import sparse_left, sparse_right

DATA = "a derivative with respect to a sparse matrix is not taken; make it from arrays in the function, or leave it out"
MATRIX = "scipy.sparse.csr_array(np.arange(12.0).reshape(4, 3))"


@adjoint.linear(
    sparse_left,
    forms=((f"sparse_left({MATRIX}, x)", (3,)), (f"sparse_left({MATRIX}, x)", (3, 2))),
    refuses={"a": DATA},
)
def left(z, a, x):
    d[x] = a.T @ d[z]


@adjoint.linear(
    sparse_right,
    forms=((f"sparse_right(x, {MATRIX})", (4,)), (f"sparse_right(x, {MATRIX})", (2, 4))),
    refuses={"a": DATA},
)
def right(z, x, a):
    d[x] = d[z] @ a.T
