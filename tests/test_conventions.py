"""What is chosen where a derivative is not unique or not finite: one assertion for each row of the conventions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, vjp
from srcgrad.errors import DifferentiationError

inf, nan = math.inf, math.nan

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # singular points warn, as in the primal


def total(x: Any) -> Any:
    return np.sum(x)


def gradients(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """Gradients with respect to all arguments, each as a nested list or a float."""
    places = tuple(range(len(args)))
    given = tuple(np.array(a, dtype=float) if isinstance(a, list) else a for a in args)
    return tuple(np.asarray(g).tolist() for g in grad(f, wrt=places)(*given))


def same(actual: Any, expected: Any) -> bool:
    return np.array_equal(np.asarray(actual, float), np.asarray(expected, float), equal_nan=True)


def close(actual: Any, expected: Any) -> bool:
    """Equal up to the roundings of a few operations."""
    return bool(np.allclose(actual, expected, rtol=1e-12, atol=1e-12))


# Kinks and ties


@pytest.mark.parametrize("op", [np.abs, np.fabs, abs, math.fabs])
def test_absolute_value_at_zero(op: Any) -> None:
    assert grad(op)(0.0) == 0.0


@pytest.mark.parametrize("op", [np.maximum, np.minimum, np.fmax, np.fmin, max, min])
def test_tie_of_two(op: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return op(x, y)

    assert gradients(f, 1.0, 1.0) == (0.5, 0.5)


def test_relu() -> None:
    def by_maximum(x: Any) -> Any:
        return np.maximum(x, 0.0)

    def by_where(x: Any) -> Any:
        return np.where(x > 0.0, x, 0.0)

    assert (grad(by_maximum)(0.0), grad(by_where)(0.0)) == (0.5, 0.0)


@pytest.mark.parametrize(("op", "expected"), [(np.maximum, (0.0, 0.0)), (np.fmax, (0.0, 1.0))])
def test_maximum_with_nan(op: Any, expected: tuple[float, float]) -> None:
    def f(x: Any, y: Any) -> Any:
        return op(x, y)

    assert gradients(f, nan, 1.0) == expected


@pytest.mark.parametrize("op", [np.max, np.amax, np.min, np.amin])
def test_ties_of_a_reduction(op: Any) -> None:
    def f(x: Any) -> Any:
        return op(x)

    assert same(grad(f)(np.array([2.0, 2.0])), [0.5, 0.5])


def test_ties_along_an_axis() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.max(x, axis=1))

    assert same(grad(f)(np.array([[2.0, 2.0], [1.0, 3.0]])), [[0.5, 0.5], [0.0, 1.0]])


def test_max_with_nan() -> None:
    assert same(grad(np.max)(np.array([1.0, nan])), [nan, nan])


@pytest.mark.parametrize(
    ("x", "expected"), [(0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (-0.1, 0.0), (1.1, 0.0)]
)
def test_clip_passes_inside_and_on_its_edges(x: float, expected: float) -> None:
    def f(x: Any) -> Any:
        return np.clip(x, 0.0, 1.0)

    assert grad(f)(x) == expected


def test_clip_to_a_point() -> None:
    def f(x: Any) -> Any:
        return np.clip(x, 1.0, 1.0)

    assert grad(f)(1.0) == 1.0


@pytest.mark.parametrize(
    ("x", "expected"), [(-1.0, (0.0, 1.0, 0.0)), (2.0, (0.0, 0.0, 1.0)), (0.0, (1.0, 0.0, 0.0))]
)
def test_bounds_of_clip(x: float, expected: tuple[float, ...]) -> None:
    def f(x: Any, low: Any, high: Any) -> Any:
        return np.clip(x, low, high)

    assert gradients(f, x, 0.0, 1.0) == expected


def test_clip_without_bounds() -> None:
    def below(x: Any) -> Any:
        return np.clip(x, None, 1.0)

    def above(x: Any) -> Any:
        return np.clip(x, 0.0, None)

    assert (grad(below)(1.0), grad(below)(2.0), grad(above)(0.0), grad(above)(-1.0)) == (1.0, 0.0, 1.0, 0.0)


def test_sort_keeps_the_order_of_equals() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sort(x) * np.array([1.0, 2.0, 3.0]))

    assert same(grad(f)(np.array([2.0, 1.0, 1.0])), [3.0, 1.0, 2.0])


def test_median_of_an_even_number() -> None:
    assert same(grad(np.median)(np.array([4.0, 1.0, 2.0, 9.0])), [0.5, 0.0, 0.5, 0.0])


def test_median_ties() -> None:
    assert same(grad(np.median)(np.array([2.0, 2.0, 1.0, 3.0])), [0.5, 0.5, 0.0, 0.0])


def test_ptp_of_equal_elements() -> None:
    assert same(grad(np.ptp)(np.array([2.0, 2.0])), [0.0, 0.0])


def test_infinity_norm_ties() -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x, np.inf)

    assert same(grad(f)(np.array([2.0, -2.0])), [0.5, -0.5])


def test_sum_norm_at_a_zero_entry() -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x, 1)

    assert same(grad(f)(np.array([0.0, -2.0])), [0.0, -1.0])


@pytest.mark.parametrize(("op", "expected"), [(np.mod, (1.0, 3.0)), (np.fmod, (1.0, 2.0))])
def test_remainder(op: Any, expected: tuple[float, float]) -> None:
    def f(x: Any, y: Any) -> Any:
        return op(x, y)

    assert gradients(f, -5.5, 2.0) == expected


@pytest.mark.parametrize("op", [np.floor, np.ceil, np.round, np.rint, np.trunc, np.sign])
def test_steps(op: Any) -> None:
    def f(x: Any) -> Any:
        return op(x) + 0.0 * x

    assert grad(f)(1.3) == 0.0


def test_floor_division() -> None:
    def f(x: Any, y: Any) -> Any:
        return x // y + 0.0 * x * y

    assert gradients(f, 7.5, 2.0) == (0.0, 0.0)


def test_heaviside_and_copysign() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.copysign(x, y)

    def g(x: Any, y: Any) -> Any:
        return np.heaviside(x, y)

    assert gradients(f, 0.0, -1.0) == (0.0, 0.0)
    assert gradients(f, 2.0, -1.0) == (-1.0, 0.0)
    assert gradients(g, 0.0, 0.5) == (0.0, 1.0)


@pytest.mark.parametrize(("x", "slope"), [(1.0, 3.0), (0.5, 1.0), (-1.0, 0.0), (3.0, 0.0)])
def test_interpolation_at_a_knot_and_outside(x: float, slope: float) -> None:
    def f(x: Any) -> Any:
        return np.interp(x, np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]))

    assert grad(f)(x) == slope


# Singular points


@pytest.mark.parametrize("wrap", [float, np.float64, np.array])
@pytest.mark.parametrize("op", [np.sqrt, np.log, np.log2, np.log10, np.cbrt])
def test_infinite_slope_at_zero(op: Any, wrap: Any) -> None:
    def f(x: Any) -> Any:
        return op(x)

    assert grad(f)(wrap(0.0)) == inf


def test_infinite_slope_of_a_product_of_floats() -> None:
    def f(x: Any) -> Any:
        y = x * x
        return np.log(y) * 0.0 + np.sqrt(x)

    assert math.isnan(grad(f)(0.0)) or grad(f)(0.0) == inf  # and no ZeroDivisionError


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

    def g(x: Any) -> Any:
        return np.sum(grad(f)(x))

    assert same(grad(f)(np.zeros(shape)), np.zeros(shape))


def test_norm_at_zero_to_second_order() -> None:
    def f(x: Any) -> Any:
        return np.linalg.norm(x)

    _, pullback = vjp(grad(f), np.zeros(3))
    assert same(pullback(np.ones(3)), np.zeros((1, 3)))


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


def test_where_keeps_an_infinity_of_the_other_side_unless_masked_first() -> None:
    def by_where(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.log(x), 0.0))

    def masked(x: Any) -> Any:
        return np.sum(np.log(x[x > 0.0]))

    x = np.array([0.0, 2.0])
    assert same(grad(by_where)(x), [nan, 0.5])
    assert same(grad(masked)(x), [0.0, 0.5])


def test_where_stops_a_seed_at_the_side_not_taken() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(np.where(x > 0.0, x, y))

    assert gradients(f, [1.0, -1.0], [inf, nan]) == ([1.0, 0.0], [0.0, 1.0])


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
    from scipy.special import logsumexp

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


def test_symmetric_gradient_of_a_symmetric_matrix() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.linalg.cholesky(a))

    def g(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[0] * np.array([1.0, 2.0]))

    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    for h in (f, g):
        assert close(grad(h)(a), grad(h)(a).T)


def test_equal_eigenvalues() -> None:
    def values(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[0] * np.array([1.0, 2.0]))

    def vectors(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[1] ** 2)

    assert close(np.trace(grad(values)(np.eye(2))), 3.0)
    assert same(grad(vectors)(np.eye(2)), np.zeros((2, 2)))


# Shapes and types


def test_empty_arrays() -> None:
    assert grad(np.sum)(np.zeros(0)).shape == (0,)
    assert grad(np.prod)(np.zeros(0)).shape == (0,)
    assert grad(np.mean)(np.zeros(0)).shape == (0,)
    with pytest.raises(ValueError, match="zero-size"):
        grad(np.max)(np.zeros(0))


@pytest.mark.parametrize("x", [0.5, np.float32(0.5), np.array(0.5), np.array(0.5, np.float32)])
def test_gradient_has_the_class_of_its_argument(x: Any) -> None:
    found = grad(np.tanh)(x)
    assert type(found) is type(x)
    assert np.asarray(found).dtype == np.asarray(x).dtype


@pytest.mark.parametrize("op", [np.mean, np.max, np.std, np.var, np.median, np.linalg.norm, np.prod])
def test_reductions_keep_float32(op: Any) -> None:
    assert grad(op)(np.array([1.0, 2.0, 4.0], np.float32)).dtype == np.float32


def test_integers_are_refused() -> None:
    with pytest.raises(DifferentiationError, match="E5002"):
        grad(total)(np.arange(3))


def test_repeated_indices_accumulate() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[[0, 0, 1]])

    assert same(grad(f)(np.array([1.0, 2.0])), [2.0, 1.0])


def test_an_argument_that_has_no_influence() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * x

    assert grad(f, wrt=1)(2.0, 3.0) == 0.0
