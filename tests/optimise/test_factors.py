"""What the terms of a sum share is multiplied once, with the right signs, and never where integers would be added."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

X, Y, Z = np.array([0.3, -1.2, 0.8]), np.array([1.1, 0.4, -0.7]), np.array([0.6, 0.9, -0.5])


def plus(x, y, z):
    return np.sum(np.exp(z) + x * y + x * np.sin(z))


def first_minus(x, y, z):
    return np.sum(np.exp(x * z) - x * y + x * np.sin(z))


def second_minus(x, y, z):
    return np.sum(np.exp(x * z) + x * y - x * np.sin(z))


def both_minus(x, y, z):
    return np.sum(np.exp(x * z) - x * y - x * np.sin(z))


def density(x, y, z):
    u = x - y
    return np.sum(u * u * np.exp(-u * u) / z)


def divided(x, y, z):
    return np.sum(x / z * np.exp(x) / y)


def one_is_the_factor(x, y, z):
    return np.sum(y * z * np.exp(-y * x))


def divisors(x, y, z):
    return np.sum(-np.sin(x) / z - y * np.exp(x) / z + x / y - np.exp(-z) / y)


FUNCTIONS = [divisors, plus, first_minus, second_minus, both_minus, density, divided, one_is_the_factor]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shapes", [(3, 3, 3), ((3, 1), 3, (1, 1)), ((), 3, ())], ids=str)
def test_gradients(function: Any, shapes: tuple[Any, ...]) -> None:
    draw = np.random.default_rng(3)
    check_grads(function, tuple(draw.uniform(0.4, 1.5, shape) for shape in shapes), order=2)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (plus, "x_bar = result_bar * (np.sin(z) + y)"),
        (first_minus, "x_bar = result_bar * (np.sin(z) - y) + xz_bar * z"),
        (second_minus, "x_bar = result_bar * (y - np.sin(z)) + xz_bar * z"),
        (both_minus, "x_bar = -result_bar * (y + np.sin(z)) + xz_bar * z"),
        (density, "u_bar = t2 * t1 * u * (1.0 - u_squared) * 2.0"),
    ],
)
def test_texts(function: Any, line: str) -> None:
    text = srcgrad.source(function, wrt=("x", "y", "z"), like=(X, Y, Z))
    assert f"    {line}\n" in text, text


def counted(x, n, m):
    return np.sum(x * n) + np.sum(x * m)


def counted_in_turn(x, n, m):
    return np.sum(x * x * n - x * m)


def test_small_integers_are_not_added() -> None:
    n, m = np.array([200, 100, 3], dtype=np.uint8), np.array([100, 200, 250], dtype=np.uint8)
    np.testing.assert_allclose(srcgrad.grad(counted)(X, n, m), n.astype(float) + m)
    np.testing.assert_allclose(srcgrad.grad(counted, like=(X, n, m))(X, n, m), n.astype(float) + m)
    np.testing.assert_allclose(srcgrad.grad(counted_in_turn)(X, n, m), 2.0 * X * n - m)
    np.testing.assert_allclose(srcgrad.grad(counted_in_turn, like=(X, n, m))(X, n, m), 2.0 * X * n - m)


def test_dtypes() -> None:
    for dtype in (np.float16, np.float32):
        for function in FUNCTIONS:
            found = srcgrad.grad(function, wrt=(0, 1, 2))(*(np.abs(one).astype(dtype) for one in (X, Y, Z)))
            due = srcgrad.grad(function, wrt=(0, 1, 2))(*(np.abs(one).astype(dtype).astype(float) for one in (X, Y, Z)))
            for one, other in zip(found, due, strict=True):
                assert one.dtype == dtype
                np.testing.assert_allclose(one, other, rtol=30 * float(np.finfo(dtype).eps), atol=0.01)
