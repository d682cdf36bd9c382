"""What is chosen at singular points, where a derivative is not finite: a test for each row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from srcgrad import grad, hvp, vjp
from tests.templates.conventions import close, gradients, same

inf, nan = math.inf, math.nan

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # singular points warn, as in the primal


@pytest.mark.parametrize("wrap", [float, np.float64, np.array])
@pytest.mark.parametrize("op", [np.sqrt, np.log, np.log2, np.log10, np.cbrt])
def test_infinite_slope_at_zero(op: Any, wrap: Any) -> None:
    def f(x: Any) -> Any:
        return op(x)

    assert grad(f)(wrap(0.0)) == inf


def test_a_local_number_that_is_zero() -> None:
    def f(x: Any) -> Any:
        y = x * x
        return np.log(y)

    assert math.isnan(grad(f)(0.0))  # inf * 0, and no ZeroDivisionError


@pytest.mark.parametrize("op", [np.arcsin, np.arctanh])
def test_infinite_slope_at_one(op: Any) -> None:
    def f(x: Any) -> Any:
        return op(x)

    assert grad(f)(1.0) == inf


def test_powers_at_zero() -> None:
    def root(x: Any) -> Any:
        return x**0.5

    def inverse(x: Any) -> Any:
        return x**-1

    assert grad(root)(0.0) == inf
    assert same(grad(lambda x: np.sum(x**0.5))(np.zeros(2)), [inf, inf])
    assert grad(inverse)(np.float64(0.0)) == -inf


def test_honest_nan() -> None:
    def f(x: Any) -> Any:
        return np.sqrt(x**2)

    def g(x: Any) -> Any:
        return x * np.log(x)

    assert math.isnan(grad(f)(0.0)) and math.isnan(grad(g)(0.0))


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_norm_at_zero(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(np.ravel(x))

    assert same(grad(f)(np.zeros(shape)), np.zeros(shape))


def test_norm_at_zero_to_second_order() -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x)

    _, pullback = vjp(grad(f), np.zeros(3))
    assert np.isnan(pullback(np.ones(3))[0]).all()  # it was 0, which is no limit: near 0 it grows beyond all bounds


def test_norm_of_a_zero_row() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.linalg.norm(x, axis=1))

    assert close(grad(f)(np.array([[0.0, 0.0], [3.0, 4.0]])), [[0.0, 0.0], [0.6, 0.8]])


def test_moments_of_equal_elements() -> None:
    assert same(grad(np.std)(np.ones(3)), np.zeros(3))
    assert same(grad(np.std)(np.ones(1)), np.zeros(1))
    assert same(grad(np.var)(np.ones(3)), np.zeros(3))
    assert same(grad(lambda x: np.sum(np.std(x, axis=0)))(np.ones((3, 2))), np.zeros((3, 2)))


@pytest.mark.parametrize("op", [np.hypot, math.hypot, np.arctan2, math.atan2])
def test_plane_at_the_origin(op: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return op(x, y)

    assert gradients(f, 0.0, 0.0) == (0.0, 0.0)


def test_sinc_at_zero() -> None:
    def f(x: Any) -> Any:
        return np.sinc(x)

    assert grad(f)(0.0) == 0.0
    assert close(grad(grad(f))(0.0), -(np.pi**2) / 3.0)


def test_where_keeps_out_an_infinity_of_the_other_side() -> None:
    def by_where(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.log(x), 0.0))

    def masked(x: Any) -> Any:
        return np.sum(np.log(x[x > 0.0]))

    x = np.array([0.0, 2.0])
    assert same(grad(by_where)(x), [0.0, 0.5])
    assert same(grad(masked)(x), [0.0, 0.5])


def test_where_stops_a_seed_at_the_side_not_taken() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.where(x > 0.0, x, y))

    assert gradients(f, [1.0, -1.0], [inf, nan]) == ([1.0, 0.0], [0.0, 1.0])


def cleaned(x):
    y = np.nan_to_num(x, nan=1.0)
    y[0] *= 3.0
    return np.sum(y**2)


def test_what_nan_to_num_gives_is_an_array_of_its_own() -> None:
    assert grad(cleaned)(np.array([1.0, 2.0, np.nan])).tolist() == [18.0, 4.0, 0.0]


def test_nan_to_num() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.nan_to_num(x))

    assert same(grad(f)(np.array([nan, inf, -inf, 1.0])), [0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize("wrap", [float, np.array])
def test_power_zero(wrap: Any) -> None:
    def whole(x: Any) -> Any:
        return x**0

    def real(x: Any) -> Any:
        return x**0.0

    def general(x: Any) -> Any:
        return np.power(x, np.array(0.0))

    x = wrap(0.0)
    assert (grad(whole)(x), grad(real)(x), grad(general)(x)) == (0.0, 0.0, 0.0)
    assert (grad(grad(whole))(x), grad(grad(real))(x), grad(grad(general))(x)) == (0.0, 0.0, 0.0)


def test_literal_powers_at_zero() -> None:
    def one(x: Any) -> Any:
        return x**1

    def two(x: Any) -> Any:
        return x**2

    def real(x: Any) -> Any:
        return x**2.0

    assert (grad(one)(0.0), grad(two)(0.0)) == (1.0, 0.0)
    assert grad(grad(grad(real)))(0.0) == 0.0


@pytest.mark.parametrize(("y", "expected"), [(2.0, 0.0), (0.0, 0.0), (-1.0, nan)])
def test_zero_to_a_power(y: float, expected: float) -> None:
    def f(y: Any) -> Any:
        return np.power(np.array(0.0), y)

    assert same(grad(f)(y), expected)


def test_negative_base() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.power(x, y)

    def square(x: Any) -> Any:
        return x**2

    assert math.isnan(grad(f, wrt=1)(-2.0, 2.0))
    assert (grad(f)(-2.0, 2.0), grad(square)(-2.0)) == (-4.0, -4.0)  # no logarithm is taken


def test_second_derivative_of_a_fractional_power_at_zero() -> None:
    def f(x: Any) -> Any:
        return x**1.5

    assert grad(grad(f))(0.0) == inf


@pytest.mark.parametrize(
    ("x", "expected"),
    [([2.0, 0.0, 3.0], [0.0, 6.0, 0.0]), ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0]), ([2.0, 3.0], [3.0, 2.0])],
)
def test_product_with_zeros(x: list[float], expected: list[float]) -> None:
    assert same(grad(np.prod)(np.array(x)), expected)


def test_logaddexp_of_infinities() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.logaddexp(x, y)

    assert gradients(f, -inf, -inf) == (0.0, 0.0)
    assert gradients(f, -inf, 0.0) == (0.0, 1.0)


def test_logsumexp_of_infinities() -> None:
    def f(x: Any) -> Any:
        return logsumexp(x)

    assert same(grad(f)(np.array([-inf, -inf])), [0.0, 0.0])


def test_saturated_tanh() -> None:
    assert grad(np.tanh)(800.0) == 0.0


def test_naive_text_stays_naive() -> None:
    def softplus(x: Any) -> Any:
        return np.log1p(np.exp(x))

    def stable(x: Any) -> Any:
        return np.logaddexp(0.0, x)

    assert math.isnan(grad(softplus)(1000.0))
    assert grad(stable)(1000.0) == 1.0


def test_determinant_of_a_singular_matrix() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert close(grad(np.linalg.det)(singular), [[4.0, -2.0], [-2.0, 1.0]])
    assert same(grad(np.linalg.det)(np.zeros((2, 2))), np.zeros((2, 2)))
    rank_two = np.diag([1.0, 2.0, 0.0])
    assert close(grad(np.linalg.det)(rank_two), np.diag([0.0, 0.0, 2.0]))


def test_second_derivative_of_the_determinant_of_a_singular_matrix() -> None:
    def f(a: Any) -> Any:
        return np.linalg.det(a)

    _, pullback = vjp(grad(f), np.zeros((2, 2)))
    assert close(np.reshape(pullback(np.eye(2)), (2, 2)), np.eye(2))


def test_equal_eigenvalues() -> None:
    def values(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[0] * np.array([1.0, 2.0]))

    def vectors(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[1] ** 2)

    assert close(np.trace(grad(values)(np.eye(2))), 3.0)
    assert same(grad(vectors)(np.eye(2)), np.zeros((2, 2)))


def test_exponent_of_zero_to_second_order() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x**y)

    x, y = np.array([2.0, 0.0]), np.zeros(2)  # y * x**(y - 1) by y is 1 / x; where x is 0, that of y * 1
    by_x, by_y = hvp(f, wrt=(0, 1))(x, y, (np.zeros(2), np.ones(2)))
    assert close(by_x, [0.5, 1.0]) and close(by_y, [np.log(2.0) ** 2, 0.0])
    assert grad(lambda y: grad(lambda x: x**y)(4.0))(0.0) == 0.25
