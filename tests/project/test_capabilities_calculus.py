"""Capabilities that must not be dropped, one test a row: derivatives of functions, their compositions and orders."""

from __future__ import annotations

import re

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hvp, jacobian, jvp, linearize, transpose, value_and_grad, vjp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.finite_differences import central_difference

A, X, T = np.array([2.0, -1.0]), np.array([1.0, 0.5]), np.array([0.3, -0.2])


def product(x, y):
    return x * y + x


def exponential(a, x):
    return np.exp(a * x)


def total(a, x):
    return np.sum(np.exp(a * x))


def test_0_1_positions():
    assert grad(product)(2.0, 3.0) == 4.0
    assert grad(product, argnums=1)(2.0, 3.0) == 2.0
    assert grad(product, argnums=(1, 0))(2.0, 3.0) == (2.0, 4.0)
    with pytest.raises(DifferentiationError, match="E5009"):
        grad(product, argnums=2)


def test_0_2_one_forward_pass():
    text = srcgrad.source(total, mode="value-and-grad", wrt="x")
    assert sum("np.exp" in line for line in text.splitlines() if "#" not in line) == 1
    value, x_bar = value_and_grad(total, 1)(A, X)
    assert value == total(A, X)
    np.testing.assert_allclose(x_bar, A * np.exp(A * X))


def test_0_3_structured_arguments():
    params = {"w": np.ones((2, 2)), "b": [np.zeros(2), 1.0]}
    found = grad(lambda p, x: np.sum((p["w"] @ x + p["b"][0]) * p["b"][1]))(params, X)
    assert list(found) == ["w", "b"]
    assert found["w"].shape == (2, 2)
    assert found["b"][0].shape == (2,)
    assert found["b"][1] == 3.0


def test_0_22_inputs_that_do_not_matter():
    np.testing.assert_array_equal(grad(lambda x, y: np.sum(y), 0)(X, A), np.zeros(2))


def test_2_1_and_2_2_linearize_and_transpose():
    _, push = linearize(exponential, A, X, wrt=("a", "x"))
    pull = transpose(push)
    matrix = np.array([push(np.zeros(2), e) for e in np.eye(2)]).T
    np.testing.assert_allclose([pull(e)[1] for e in np.eye(2)], matrix)
    assert transpose(pull) is push


def fourth(x):
    return x**4


def test_2_3_orders():
    derivative, found = fourth, []
    for _ in range(4):
        derivative = grad(derivative)
        found.append(derivative(2.0))
    assert found == [32.0, 48.0, 48.0, 24.0]


def test_2_9_text_does_not_square():
    sizes, derivative = [], lambda x: np.sin(x) * np.exp(x)
    for _ in range(3):
        derivative = grad(derivative)
        derivative(1.0)
        sizes.append(len(derivative.source))
    assert sizes[2] - sizes[1] < 3 * (sizes[1] - sizes[0])


def test_2_10_outputs_and_inputs_are_named():
    (one, two), push = linearize(lambda x, y: (x * y, x + y), 2.0, 3.0, wrt="y")
    assert (one, two) == (6.0, 5.0)
    assert push.tangent_inputs == ("y_dot",)
    assert push(1.0) == (2.0, 1.0)


def test_2_11_inactive_tangents():
    text = srcgrad.source(lambda x, y: np.exp(y), mode="forward", wrt="x")
    assert re.findall(r"^ +(\w+_dot) = ", text, re.MULTILINE) == []
    assert jvp(lambda x, y: np.exp(y), (1.0, 2.0), (1.0, 0.0))[1] == 0.0


def test_2_13_linear_in_tangents():
    push = linearize(exponential, A, X, wrt="x")[1]
    np.testing.assert_allclose(push(2.0 * T - 3.0 * X), 2.0 * push(T) - 3.0 * push(X))


def test_2_21_scalar_example():
    y, y_dot = jvp(exponential, (2.0, 1.0), (0.0, 1.0))
    assert y_dot == 2.0 * y
    assert vjp(exponential, 2.0, 1.0, wrt="x")[1](1.0) == 2.0 * y
    assert y == np.exp(2.0)


def test_2_22_vector_example():
    _, pullback = vjp(exponential, A, X, wrt="x")
    seed = np.array([0.7, -1.3])
    y_dot = jvp(exponential, (A, X), (np.zeros(2), T))[1]
    np.testing.assert_allclose(seed @ y_dot, pullback(seed) @ T, rtol=1e-14)
    np.testing.assert_allclose(
        y_dot, central_difference(exponential, (A, X), np.concatenate([np.zeros(2), T]), 1e-6), rtol=1e-8
    )


def test_2_23_and_2_33_sum_example():
    value, x_bar = value_and_grad(total, 1)(A, X)
    np.testing.assert_allclose(value, 7.995586758643284, rtol=1e-15)
    np.testing.assert_allclose(x_bar, [14.7781122, -0.60653066], rtol=1e-8)
    tangent = jvp(total, (A, X), (np.zeros(2), T))[1]
    np.testing.assert_allclose(tangent, 4.554739791300917, rtol=1e-15)


def test_2_28_fan_out():
    double = lambda x: x + x  # noqa: E731
    assert jvp(double, (3.0,), (1.0,)) == (6.0, 2.0)
    assert vjp(double, 3.0)[1](1.0) == (2.0,)


def test_2_29_distinct_factors():
    assert vjp(lambda x, y: x * y, 2.0, 3.0)[1](1.0) == (3.0, 2.0)


def ahead(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("outer", [ahead, grad])
@pytest.mark.parametrize("inner", [ahead, grad])
def test_2_31_and_2_32_second_order(outer, inner):
    assert outer(inner(lambda x: x * x))(3.0) == 2.0
    np.testing.assert_allclose(outer(inner(lambda x: np.exp(2.0 * x)))(1.0), 29.5562243957226, rtol=1e-14)


def test_2_34_third_order():
    third = grad(grad(grad(lambda x: np.exp(2.0 * x))))
    np.testing.assert_allclose(third(1.0), 59.1124487914452, rtol=1e-14)


def test_2_42_tangents_stay_apart():
    assert jvp(lambda x: jvp(lambda x: x * x * x, (x,), (1.0,))[1], (2.0,), (1.0,)) == (12.0, 12.0)
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(2.0) == 1.0


def test_3_7_pullbacks_compose():
    def outer(u):
        return np.sin(u) * u[0]

    u, inner_back = vjp(lambda x: exponential(A, x), X)
    _, outer_back = vjp(outer, u)
    _, both_back = vjp(lambda x: outer(exponential(A, x)), X)
    np.testing.assert_allclose(inner_back(outer_back(T)[0])[0], both_back(T)[0], rtol=1e-14)


def test_3_25_columns_of_the_jacobian():
    push = linearize(exponential, A, X, wrt="x")[1]
    found = jacobian(exponential, 1, mode="forward")(A, X)
    for column, direction in zip(found.T, np.eye(2), strict=True):
        np.testing.assert_allclose(column, push(direction))


def test_3_26_products_of_the_hessian():
    dense = srcgrad.hessian(total, 1)(A, X)
    np.testing.assert_allclose(hvp(total, 1)(A, X, T), dense @ T)
    np.testing.assert_array_equal(dense, dense.T)


def test_4_1_all_arguments():
    found = grad(lambda x, y: x * y + np.sin(x), argnums="all")(0.6791074260357777, 0.8284)
    np.testing.assert_allclose(found, (0.8284 + np.cos(0.6791074260357777), 0.6791074260357777))


@pytest.mark.parametrize("wrt", [(0,), (1,), (0, 1), (1, 0)])
def test_4_15_any_subset(wrt):
    expected = {0: 4.0, 1: 2.0}
    assert grad(product, wrt)(2.0, 3.0) == tuple(expected[k] for k in wrt)


def test_4_19_a_seed_of_the_user():
    _, pullback = vjp(product, 2.0, 3.0)
    assert pullback(2.0) == tuple(2.0 * adjoint for adjoint in pullback(1.0))
