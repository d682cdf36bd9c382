"""Products of a value with itself, `x @ x`: one term, as of `x * x`, whatever the rank."""

import numpy as np
import pytest

import srcgrad

SHAPES = ((3,), (3, 3), (2, 3, 3), (0,), (1,), (1, 1))


def of_vector(x: "n"):  # noqa: F821
    return np.sum(np.tanh(x @ x))


def product(x):
    return np.sum(np.tanh(x @ x))


def dotted(x):
    return np.sum(np.tanh(np.dot(x, x)))


def inner(x):
    return np.sum(np.tanh(np.inner(x, x)))


def vdot(x):
    return np.sum(np.tanh(np.vdot(x, x)))


def in_loop(x, a):
    total = 0.0
    for _ in range(3):
        x = np.tanh(a @ x)
        total = total + np.sqrt(x @ x) * np.dot(x, x)
    return total


def _draw(*shape):
    return 0.5 * np.random.default_rng(7).standard_normal(shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("f", [product, dotted, inner, vdot])
def test_derivatives_of_all_ranks(f, shape):
    shape = (3, 3, 3) if f is dotted and len(shape) == 3 else shape
    srcgrad.check_grads(f, (_draw(*shape),), order=2, modes=("reverse", "forward"))


def test_of_numbers():
    srcgrad.check_grads(dotted, (0.7,), order=2, modes=("reverse", "forward"))


def test_in_loops():
    srcgrad.check_grads(in_loop, (_draw(3), _draw(3, 3)), order=2, modes=("reverse", "forward"))


@pytest.mark.parametrize("f", [product, dotted, inner, vdot])
def test_vectors_that_are_declared(f):
    text = srcgrad.grad(f, like=(_draw(3),)).source
    factors = ("2.0 * (1.0 - t * t)", "(1.0 - t * t) * 2.0")  # in either order, where t is known to be a number
    assert any(f"x_bar = y_bar * {one} * x\n" in text for one in factors), text


def test_vectors_that_are_declared_forward():
    text = srcgrad.source(of_vector, "forward")
    assert "2.0 * (x @ x_dot)" in text


def test_unknown_ranks_have_one_helper():
    assert "matmul_both(y_bar * (1.0 - t * t), x)" in srcgrad.grad(product).source
    assert "dot_both(y_bar * (1.0 - t * t), x)" in srcgrad.grad(dotted).source


def test_dtype_stays():
    for f in (product, dotted):
        assert srcgrad.grad(f)(_draw(3).astype(np.float32)).dtype == np.float32


def test_complex_values():
    def f(x, y):
        z = x + 1j * y
        return np.real(z @ z) + np.real(np.vdot(z, z)) * np.imag(np.dot(z, z))

    srcgrad.check_grads(f, (_draw(3), _draw(4)[1:]), order=2, modes=("reverse", "forward"))


def test_hessian_by_columns():
    x = _draw(3)
    expected = np.eye(3) * 2.0
    np.testing.assert_allclose(srcgrad.hessian(lambda x: x @ x)(x), expected, rtol=1e-14)


@pytest.mark.parametrize("target", ["numba", "opencl"])
def test_other_targets(target):
    x, a = _draw(3), _draw(3, 3)
    expected = srcgrad.grad(in_loop)(x, a)
    np.testing.assert_allclose(srcgrad.grad(in_loop, target=target)(x, a), expected, rtol=1e-13)
