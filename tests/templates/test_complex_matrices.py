"""Functions of complex matrices, Hermitian ones where NumPy takes them for such: first and second derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

GENERATOR = np.random.default_rng(7)


def drawn(*shape):
    return GENERATOR.normal(size=shape) + 1j * GENERATOR.normal(size=shape)


def positive(x):
    return x @ np.conj(x.mT) + 3.0 * np.eye(3)


def lower_factor(x):
    return np.linalg.cholesky(positive(x))


def upper_factor(x):
    return np.linalg.cholesky(positive(x), upper=True)


def eigenvalues(x):
    return np.linalg.eigvalsh(x + np.conj(x.mT))


def eigenvalues_of_upper(x):
    return np.linalg.eigvalsh(x + np.conj(x.mT), UPLO="U")


def decomposition(x):
    return np.linalg.eigh(x + np.conj(x.mT))


def vectors_of_upper(x):
    return np.linalg.eigh(x + np.conj(x.mT), "U")[1]


def projection(x):
    v = np.linalg.eigh(x + np.conj(x.mT)).eigenvectors[..., :1]
    return v @ np.conj(v.mT)


def weighted_values(x):
    w = np.linalg.eigh(x + np.conj(x.mT))[0]
    return np.sum((w * (1.0 + 2.0j)).real ** 2)


def sign_and_logarithm(x):
    return np.linalg.slogdet(x)


def hermitian_inverse(x):
    return np.linalg.pinv(x + np.conj(x.mT), hermitian=True)


def factors(x):
    return np.linalg.qr(x)


def triangle(x):
    return np.linalg.qr(x, "r")


def complement(x):
    q = np.linalg.qr(x, "complete")[0][..., x.shape[-1] :]
    return q @ np.conj(q.mT)


def singular_values(x):
    return np.linalg.svdvals(x)


def lengths(x):
    return (
        np.linalg.norm(x),
        np.linalg.norm(x, axis=-1),
        np.linalg.vector_norm(x),
        np.linalg.norm(x, axis=0, keepdims=True),
    )


SQUARE, BATCH = drawn(3, 3), drawn(2, 3, 3)
TALL, WIDE = drawn(4, 2), drawn(2, 4)
CASES = [
    *((f, x) for f in (lower_factor, upper_factor, eigenvalues, decomposition, projection) for x in (SQUARE, BATCH)),
    (eigenvalues_of_upper, SQUARE),
    (vectors_of_upper, BATCH),
    (weighted_values, SQUARE),
    (sign_and_logarithm, BATCH),
    (hermitian_inverse, BATCH),
    *((f, x) for f in (factors, triangle) for x in (SQUARE, TALL, WIDE)),
    (factors, BATCH),
    (complement, TALL),
    (lengths, WIDE),
]


@pytest.mark.parametrize("function, x", CASES)
def test_both_orders(function, x):
    srcgrad.check_grads(function, (x,), order=2, directions=1)


@pytest.mark.parametrize("x", [SQUARE, BATCH, TALL, WIDE])
def test_singular_values(x):
    srcgrad.check_grads(singular_values, (x,), order=1)
    assert np.iscomplexobj(srcgrad.vjp(singular_values, x)[1](np.ones((*x.shape[:-2], min(x.shape[-2:]))))[0])


ORDERS = [(1, None), (np.inf, None), (2, None), ("nuc", None), (-2, None), (3, 0), (0.5, 1), (np.inf, 1), (1, 0)]


@pytest.mark.parametrize("ord, axis", ORDERS)
def test_norms(ord, axis):
    def length(x):
        return np.linalg.norm(x, ord, axis)

    srcgrad.check_grads(length, (WIDE,), order=1)


def test_second_derivatives_of_singular_values_are_refused():
    def total(t):
        return np.sum(np.linalg.svdvals(t * SQUARE))

    with pytest.raises(srcgrad.DifferentiationError, match=r"E5017.*np\.linalg\.svd"):
        srcgrad.check_grads(total, (0.5,), order=2)


def test_second_derivatives_of_other_norms_are_refused():
    def length(t):
        return np.linalg.norm(t * WIDE, 3, axis=0)

    with pytest.raises(srcgrad.DifferentiationError, match="second derivatives of this norm at complex values"):
        srcgrad.check_grads(length, (0.5,), order=2)


def test_eigenvalues_that_are_real_have_real_adjoints():
    def linear(x):
        return np.sum((np.linalg.eigh(x + np.conj(x.mT))[0] * 1j).real)

    assert np.all(srcgrad.grad(linear)(SQUARE) == 0.0)


def test_eigenvectors_of_an_unknown_phase_are_refused():
    from srcgrad.runtime.linalg import phase_slopes

    with pytest.raises(TypeError, match="E5017"):
        phase_slopes(np.array([[1j, 1.0], [1.0, 1j]]))
