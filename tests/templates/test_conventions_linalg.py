"""Linear algebra where factors are not unique: equal eigenvalues and singular values, singular matrices, zeros."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

from srcgrad import DifferentiationError, check_grads, grad, hvp, jvp, vjp

RNG = np.random.default_rng(7)
Q = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
V = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
W = RNG.normal(size=(4, 4))
DOUBLE = Q @ np.diag([1.0, 1.0, 3.0, 5.0]) @ Q.T  # two equal eigenvalues, equal to rounding only
PLAIN = RNG.normal(size=(3, 3))


def trace_of_the_pair(a):
    return np.sum(np.linalg.eigvalsh(0.5 * (a + a.T))[:2])


def projector_onto_the_pair(a):
    _, v = np.linalg.eigh(0.5 * (a + a.T))
    return np.sum(v[:, :2] @ v[:, :2].T * W)


def projector_of_scipy(a):
    _, v = scipy.linalg.eigh(0.5 * (a + a.T))
    return np.sum(v[:, :2] @ v[:, :2].T * W)


@pytest.mark.parametrize("f", [trace_of_the_pair, projector_onto_the_pair, projector_of_scipy])
def test_functions_of_the_space_of_equal_eigenvalues(f):
    """They do not depend on which vectors span the space; only the gap to the other eigenvalues is divided by."""
    check_grads(f, (DOUBLE,), order=1)


def test_all_eigenvalues_equal():
    def squares(a):
        w, v = np.linalg.eigh(a)
        return np.sum(w**2) + np.sum(v @ v.T)

    np.testing.assert_allclose(grad(squares)(2.0 * np.eye(3)), 4.0 * np.eye(3), atol=1e-12)


def test_equal_eigenvalues_of_a_general_matrix():
    def total(a):
        return np.sum(np.real(np.linalg.eig(a).eigenvalues))  # NumPy 2.5 gives complex numbers

    np.testing.assert_allclose(grad(total)(3.0 * np.eye(3)), np.eye(3), atol=1e-12)


def of_eigenvalues(a):
    return np.sum(np.abs((1 + 2j) * np.linalg.eigvals(a) - 1j) ** 2)


def of_eigenvectors(a):
    w, v = np.linalg.eig(np.sin(a) + a)
    kept = np.zeros(3)
    kept[:] = np.real(w)
    return np.sum(np.real(v) ** 4) + np.sum(kept**1.5) + np.max(np.abs(w))


@pytest.mark.parametrize("f", [of_eigenvalues, of_eigenvectors], ids=lambda f: f.__name__)
def test_real_eigenvalues_of_a_general_matrix(f):
    """They may come as complex numbers without imaginary parts: the derivatives are real, of both orders."""
    a = np.diag([1.0, 8.0, 16.0]) + 0.2 * W[:3, :3]
    check_grads(f, (a,), order=2)
    assert grad(f)(a).dtype == float == jvp(f, (a,), (V,))[1].dtype


def test_eigenvectors_of_a_complex_matrix_are_refused():
    with pytest.raises(DifferentiationError, match="does not hold for complex numbers"):
        grad(of_eigenvectors)(np.diag([1.0, 8.0, 16.0]) + 0.0j)


def orthogonal_factor(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return u @ vh


@pytest.mark.parametrize("scales", [[2.0, 2.0, 2.0], [2.0, 2.0, 1.0], [2.0, 1.0, 1e-3]])
def test_functions_of_the_spaces_of_equal_singular_values(scales):
    """U @ Vh is smooth where singular values are equal: sums of them are divided by, not gaps."""
    check_grads(orthogonal_factor, (V @ np.diag(scales) @ PLAIN_TURN,), order=1)
    check_grads(polar_factor, (V @ np.diag(scales) @ PLAIN_TURN,), order=1)


PLAIN_TURN = np.linalg.qr(PLAIN)[0]


def polar_factor(a):
    return scipy.linalg.polar(a)[0]


def test_columns_that_complete_a_basis():
    """A function of the space that they span; U[:, 2:] itself is any basis of it."""

    def complement(a):
        u = np.linalg.svd(a).U[:, 2:]
        q = np.linalg.qr(a, "complete").Q[:, 2:]
        return u @ u.T * W + (q @ q.T) ** 2

    check_grads(complement, (RNG.normal(size=(4, 2)),), order=2, directions=1)


def test_singular_values_that_vanish_leave_a_finite_gradient():
    def factors(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(s) + np.sum(u[0] * vh[:, 0])

    for matrix in (np.zeros((3, 3)), np.outer([1.0, 2.0, 3.0], [1.0, 0.5]), np.outer([1.0, 0.5], [1.0, 0.0, 1.0])):
        assert np.abs(grad(factors)(matrix)).max() < 100.0


@pytest.mark.parametrize("rank", [2, 1, 0])
def test_determinant_of_a_singular_matrix_to_second_order(rank):
    singular = V[:, :rank] @ PLAIN[:rank]
    turn = RNG.normal(size=(3, 3))

    def volume(a):
        return np.linalg.det(a)

    step, cofactors = 1e-4, grad(volume)
    expected = (cofactors(singular + step * turn) - cofactors(singular - step * turn)) / (2.0 * step)
    np.testing.assert_allclose(hvp(volume)(singular, turn), expected, atol=1e-7)


def filled(t):
    """The matrix of which the lower triangle is filled; what is above is not read."""
    k = np.zeros((3, 3))
    k[np.tril_indices(3)] = t
    return k


READ = {  # each reads one triangle: the lower one, or the other where UPLO=, upper= or lower= say so
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a), True),
    "eigvalsh U": (lambda a: np.linalg.eigvalsh(a, UPLO="U"), False),
    "eigh": (lambda a: np.linalg.eigh(a)[1] ** 2 * np.linalg.eigh(a)[0], True),
    "eigh u": (lambda a: np.linalg.eigh(a, "u").eigenvectors ** 2, False),
    "cholesky": (lambda a: np.linalg.cholesky(a), True),
    "cholesky upper": (lambda a: np.linalg.cholesky(a, upper=True), False),
    "pinv": (lambda a: np.linalg.pinv(a, hermitian=True), True),
    "svd": (lambda a: np.linalg.svd(a, hermitian=True)[1], True),
    "scipy eigvalsh": (lambda a: scipy.linalg.eigvalsh(a, lower=False), False),
    "scipy eigh": (lambda a: scipy.linalg.eigh(a)[1] ** 2, True),
    "scipy cholesky": (lambda a: scipy.linalg.cholesky(a), False),
    "scipy cholesky lower": (lambda a: scipy.linalg.cholesky(a, lower=True), True),
    "cho_factor": (lambda a: scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, lower=True), np.arange(3.0)), True),
    "solve": (lambda a: scipy.linalg.solve(a, np.arange(3.0), assume_a="pos"), False),
    "solve lower": (lambda a: scipy.linalg.solve(a, np.arange(3.0), lower=True, assume_a="sym"), True),
    "solve_triangular": (lambda a: scipy.linalg.solve_triangular(a, np.arange(3.0), lower=True), True),
    "pinvh": (lambda a: scipy.linalg.pinvh(a), True),
    "normal": (lambda a: scipy.stats.multivariate_normal.logpdf(np.arange(3.0), np.ones(3), a), True),
}
ASYMMETRIC = PLAIN + 8.0 * np.eye(3)


@pytest.mark.parametrize("f, lower", READ.values(), ids=READ.keys())
def test_functions_of_one_triangle(f, lower):
    """Each entry has the derivative with respect to itself alone: none, if it is not read.

    So one moved entry agrees with differences, and a direction that is not symmetric pairs to rounding.
    """
    y, back = vjp(f, ASYMMETRIC)
    seed = RNG.normal(size=np.shape(y))
    found = back(seed)[0]
    other = np.triu(found, 1) if lower else np.tril(found, -1)
    assert not other.any()
    for place in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[place] = 1e-5
        moved = np.sum(seed * (f(ASYMMETRIC + step) - f(ASYMMETRIC - step))) / 2e-5
        np.testing.assert_allclose(found[place], moved, rtol=1e-6, atol=1e-8)
    y_dot = jvp(f, (ASYMMETRIC,), (W[:3, :3],))[1]
    np.testing.assert_allclose(np.sum(seed * y_dot), np.sum(found * W[:3, :3]), rtol=1e-9)
    check_grads(f, (ASYMMETRIC,), order=2, directions=1)


@pytest.mark.parametrize("f", [f for f, lower in READ.values() if lower], ids=[k for k, v in READ.items() if v[1]])
def test_a_matrix_of_which_one_triangle_is_filled(f):
    def of_numbers(t):
        return f(filled(t))

    check_grads(of_numbers, (np.array([4.0, 0.5, 3.0, 0.3, -0.4, 2.0]),), order=2, directions=1)


@pytest.mark.parametrize("f", [f for f, _ in READ.values()], ids=READ.keys())
def test_a_mean_with_the_transpose_makes_the_gradient_symmetric(f):
    matrix = PLAIN @ PLAIN.T + np.eye(3)
    y, back = vjp(lambda a: f(0.5 * (a + a.T)), matrix)
    found = back(RNG.normal(size=np.shape(y)))[0]
    np.testing.assert_allclose(found, found.T, atol=1e-12)


def test_rank_is_taken_to_be_constant():
    """The pseudo-inverse jumps where the rank does; along a change of the entries that keeps it, it is smooth."""

    def inverse(x, y):
        return np.linalg.pinv(np.outer(x, y))

    check_grads(inverse, (np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0])), order=2, directions=1)


def test_slogdet_of_a_singular_matrix_raises():
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        grad(lambda a: np.linalg.slogdet(a)[1])(np.ones((2, 2)))


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 2, 1, np.inf])
def test_norms_of_a_zero_matrix(ord):
    def length(a):
        return np.linalg.norm(a, ord)

    assert not grad(length)(np.zeros((2, 3))).any()


@pytest.mark.parametrize("complex_too", [False, True])
def test_singular_values_of_what_is_taken_to_be_hermitian(complex_too):
    """`compute_uv=False` beside `hermitian=True`: the derivative was that of the whole matrix."""
    a = np.array([[0.4, 1.3, -0.7], [1.1, 0.2, 0.9], [-2.0, 0.3, 1.7]])
    a = a + 1j * a.T[::-1] if complex_too else a
    check_grads(lambda x: np.linalg.svd(x, compute_uv=False, hermitian=True), (a,), order=1)
    check_grads(lambda x: np.linalg.svd(x, False, False, True) ** 2, (np.stack([a, 2.0 * a.T]),), order=1)


@pytest.mark.parametrize("lower", [True, False])
def test_tangents_of_scipys_cholesky_in_directions_that_are_not_symmetric(lower: bool) -> None:
    def factor(a):
        return scipy.linalg.cholesky(a, lower=lower)

    a, h = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), 1e-6
    direction = np.array([[0.3, -0.7, 1.1], [0.4, 0.2, -0.5], [0.9, 0.6, -0.1]])
    due = (factor(a + h * direction) - factor(a - h * direction)) / (2.0 * h)
    np.testing.assert_allclose(jvp(factor, (a,), (direction,))[1], due, rtol=1e-7, atol=1e-8)
