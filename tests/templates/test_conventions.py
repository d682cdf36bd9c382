"""What is chosen at kinks and ties, where a derivative is not unique: a test for each row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.core.errors import DifferentiationError
from tests.templates.conventions import gradients, same

nan = math.nan

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # nan warns, as in the primal


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


@pytest.mark.parametrize(("x", "expected"), [(0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (-0.1, 0.0), (1.1, 0.0)])
def test_clip_passes_inside_and_on_its_edges(x: float, expected: float) -> None:
    def f(x: Any) -> Any:
        return np.clip(x, 0.0, 1.0)

    assert grad(f)(x) == expected


def test_clip_to_a_point() -> None:
    def f(x: Any) -> Any:
        return np.clip(x, 1.0, 1.0)

    assert grad(f)(1.0) == 1.0


@pytest.mark.parametrize(("x", "expected"), [(-1.0, (0.0, 1.0, 0.0)), (2.0, (0.0, 0.0, 1.0)), (0.0, (1.0, 0.0, 0.0))])
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
        grad(np.sum)(np.arange(3))


def test_repeated_indices_accumulate() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[[0, 0, 1]])

    assert same(grad(f)(np.array([1.0, 2.0])), [2.0, 1.0])


def test_an_argument_that_has_no_influence() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * x

    assert grad(f, wrt=1)(2.0, 3.0) == 0.0
