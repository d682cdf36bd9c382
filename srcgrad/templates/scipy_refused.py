"""Functions of `scipy.linalg` through which no derivative is taken, each with its reason."""

from scipy import linalg

from srcgrad.core.rules import constants, rule_of

from .refused import declare

COMPLEX = """eig eigvals schur rsf2csf cdf2rdf qz ordqz eig_banded eigvals_banded"""
BASES = """orth null_space subspace_angles hessenberg matrix_balance ldl rq cossin qr_multiply"""
UPDATES = """qr_delete qr_insert qr_update clarkson_woodruff_transform"""
BANDED = """cholesky_banded cho_solve_banded eigh_tridiagonal eigvalsh_tridiagonal"""
RICCATI = """solve_continuous_are solve_discrete_are"""
NUMBERS = """get_blas_funcs get_lapack_funcs find_best_blas_type test"""
FIXED = """bandwidth ishermitian issymmetric dft hadamard helmert hilbert invhilbert pascal invpascal"""

REASONS = (
    (COMPLEX, "its value may be complex; use np.linalg.eig, or scipy.linalg.eigh of a symmetric matrix"),
    (BASES, "its result depends on a choice of basis; use scipy.linalg.svd or qr"),
    (UPDATES, "it updates a decomposition; decompose the new matrix"),
    (BANDED, "its bands have no rule; use scipy.linalg.solveh_banded, or eigh of the whole matrix"),
    (RICCATI, "its equation has no rule"),
    (NUMBERS, "it is no function of numbers"),
    ("funm", "it calls a function that it is given; use scipy.linalg.expm, logm, sqrtm or fractional_matrix_power"),
    ("signm", "it is constant where it is smooth; use scipy.linalg.sqrtm"),
    ("orthogonal_procrustes", "use scipy.linalg.polar of A.T @ B"),
    ("diagsvd convolution_matrix fiedler_companion", "it places numbers; use np.concatenate or np.diag"),
    ("expm_cond", "it is an estimate"),
)

constants(
    op for op in (getattr(linalg, name, None) for name in FIXED.split()) if op is not None and rule_of(op) is None
)
for names, reason in REASONS:
    declare(linalg, "scipy.linalg", names, reason)
