"""Adjoints that are narrower than the result of an operation get their operand's shape without reading the result."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads
from srcgrad.runtime import empty_like, fit_to, sum_to

SHAPES = [
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (3,)),
    ((3,), (2, 1)),
    ((1,), (3,)),
    ((1, 3), (2, 1)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((0, 3), (3,)),
    ((3,), (0, 3)),
    ((4, 2, 3), (2, 1)),
]


def product(x, y):
    return np.sum(x * y)


def differences(x, y):
    return np.mean(y * (np.sin(x) - y))


def repeated(x, y):
    total = 0.0
    for _ in range(2):
        total = total + np.sum(y * np.cos(x))
        x = x * 0.5
    return total


FUNCTIONS = [product, differences, repeated]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize(("one", "two"), SHAPES, ids=str)
def test_broadcast_operands(function: Any, one: tuple[int, ...], two: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(one), rng.standard_normal(two)
    if not x.size * y.size and function is differences:
        return  # the mean of nothing
    check_grads(function, (x, y), wrt=(0, 1), order=1)
    gradient = srcgrad.grad(function, (0, 1))
    for dtype in (np.float32, np.float64):
        given = np.asarray(x, dtype), np.asarray(y, dtype)
        for array, found in zip(given, gradient(*given), strict=True):
            assert np.shape(found) == array.shape
            assert np.asarray(found).dtype == dtype
            assert found.flags.writeable


@pytest.mark.parametrize("function", [product, repeated], ids=lambda one: one.__name__)
def test_the_result_is_not_read_for_its_shape(function: Any) -> None:
    text = srcgrad.source(function, wrt=(0, 1))
    assert "fit_to(" in text
    assert "np.broadcast_to(" not in text


def test_a_text_that_fits_is_differentiated_again() -> None:
    x, y = np.array([[0.3], [0.7]]), np.array([0.2, -0.4, 0.9])

    def slope(x, y):
        return np.sum(srcgrad.grad(product, (0, 1))(x, y)[0] ** 2)

    check_grads(slope, (x, y), wrt=(0, 1), order=1)
    namespace: dict[str, Any] = {}
    exec(srcgrad.source(product, wrt=(0, 1)), namespace)
    for a, b in zip(namespace["product_grad"](x, y), srcgrad.grad(product, (0, 1))(x, y), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("one", "two"), SHAPES, ids=str)
def test_it_is_the_sum_of_what_broadcasting_gives(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    g, x = rng.standard_normal(one), rng.standard_normal(two)
    found = fit_to(g, x)
    whole = np.broadcast_to(g, np.broadcast_shapes(one, two))
    np.testing.assert_array_equal(found, sum_to(whole, x))
    assert type(found) is type(sum_to(whole, x))


def layer(w, x, b):
    return np.sum(np.sin(x @ w + b))


def vector_layer(w, x, b):
    return np.sum(np.cos(np.dot(x, w) + b))


@pytest.mark.parametrize(
    ("function", "columns", "bias"),
    [
        (layer, (1,), (4,)),
        (layer, (4,), (4,)),
        (layer, (4,), (2, 1)),
        (vector_layer, (), (3, 1)),
        (vector_layer, (), ()),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_product_is_not_kept_for_its_shape(function: Any, columns: tuple[int, ...], bias: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    given = rng.standard_normal((3, *columns)), rng.standard_normal((2, 3)), rng.standard_normal(bias)
    check_grads(function, given, wrt=(0, 1, 2), order=1)
    gradient = srcgrad.grad(function, (0, 1, 2))
    for array, found in zip(given, gradient(*given), strict=True):
        assert np.shape(found) == array.shape
    assert not any(line.strip() in ("t1 = x @ w", "t1 = np.dot(x, w)") for line in gradient.source.splitlines())


def weighted_sum(w, x):
    return np.sum(x @ w)


def test_a_number_takes_the_dtype_of_a_product_before_it_is_multiplied() -> None:
    gradient = srcgrad.grad(weighted_sum)
    found = gradient(np.ones((3, 2), np.float32), np.ones((4, 3), np.float32))
    assert found.dtype == np.float32
    assert "x.T @ np.full_like(x @ w, y_bar)" in gradient.source


def read_late(x: Any, y: Any) -> Any:
    a = np.zeros((3, 2))
    s = 0.0
    for i in range(3):
        a[i] = x * y
        t = sum_to(a[i], y)
        u = t * x
        a[i] = 0.0
        s = s + np.sum(u * t)
    return s


def test_what_fits_is_handed_on_so_that_it_changes_with_its_array() -> None:
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(read_late)(np.array([0.3, 0.4]), np.array([0.5, 0.7]))


def spread_grad(x: Any, gamma: Any, y_bar: Any = 1.0) -> Any:
    """A dumped gradient; in its own one, a line has room for an operand that is computed before a write."""
    logs = x[:, :1]
    below = x[:, 1:]
    padded = np.concatenate((below, np.ones((2, 1))), axis=1)
    t1 = np.exp(logs)
    t2 = np.sin(padded)
    x_bar = empty_like(x)
    padded_bar = fit_to(y_bar * t1, t2) * np.cos(padded)
    x_bar[:, 1:] = y_bar * gamma * 2.0 * below + padded_bar[:, : below.shape[1]]
    x_bar[:, :1] = fit_to(y_bar * t2, t1) * t1
    return x_bar


def undone(x: Any, gamma: Any) -> Any:
    x_bar = spread_grad(x, gamma)
    return np.sum(x_bar * x_bar)


def in_place(x: Any, y: Any) -> Any:
    t = sum_to(x * y, y)
    t += sum_to(y * y, y)
    a = y * t
    u = sum_to(t * x, a)
    a[0] = 0.0
    return np.sum(t * u * x)


def test_fitted_values_are_read_and_changed() -> None:
    check_grads(undone, (np.array([[0.3, -0.4], [0.7, 1.2]]), 0.6), wrt=0, order=1)
    check_grads(in_place, (np.array([0.3, 0.4]), np.array([0.5, 0.7])), order=2)


def of_logarithms(w, x, y):
    p = 1.0 / (1.0 + np.exp(-x @ w))
    return np.sum(y * np.log(p)) + np.sum(y * np.log(w))


def test_a_value_of_the_function_and_no_argument_gives_a_shape_for_another() -> None:
    arguments = np.array([0.3, 1.4]), np.array([[2, 3], [1, 4]]), np.array([0.2, 0.7])
    check_grads(of_logarithms, arguments, wrt=0, order=2)
    text = srcgrad.source(of_logarithms, wrt=("w",))
    assert ", np.log(w))" in text and ", p) / p" in text
