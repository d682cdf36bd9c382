"""Linear algebra where factors are not unique: equal eigenvalues and singular values, singular matrices, zeros."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from srcgrad import check_grads, grad, hvp, vjp

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
        return np.sum(np.linalg.eig(a).eigenvalues)

    np.testing.assert_allclose(grad(total)(3.0 * np.eye(3)), np.eye(3), atol=1e-12)


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


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.cholesky(a),
        lambda a: np.linalg.eigh(a).eigenvectors ** 2,
        lambda a: np.linalg.pinv(a, hermitian=True),
        lambda a: scipy.linalg.cholesky(a, lower=True),
        lambda a: scipy.linalg.solve(a, np.arange(3.0), assume_a="pos"),
    ],
)
def test_symmetric_matrices_get_symmetric_gradients(f):
    matrix = PLAIN @ PLAIN.T + np.eye(3)
    y, back = vjp(f, matrix)
    found = back(np.arange(y.size, dtype=float).reshape(y.shape))[0]
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
