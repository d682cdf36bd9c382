"""What is made outside of a loop keeps its shape going back, whatever it is broadcast to inside."""

from __future__ import annotations

from typing import Any  # arrays and functions of them

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

R = np.random.default_rng(0)
A, X = 0.5 * R.standard_normal((3, 3)), 0.5 * R.standard_normal((5, 4, 3))


def matrix(a: Any, x: Any) -> Any:
    m, y = 2.0 * a, x[:, 0]
    for _ in range(3):
        y = np.sum(np.tanh(y[:, :, None] + m), axis=1)
    return np.sum(y)


def of_an_outer_trip(a: Any, x: Any) -> Any:
    m, s = np.sin(a), 0.0
    for k in range(2):
        b = m * x[0, k]
        for j in range(3):
            s = s + np.sum(np.cos(x[:, j, :, None] - b))
    return s


def product(a: Any, x: Any) -> Any:
    m, s = a @ a[0], 0.0
    for k in range(3):
        s = s + np.sum(np.sin(x[:, k] * m))
    return s


def summed(a: Any, x: Any) -> Any:
    m, s = np.sum(x, axis=2), 0.0
    for k in range(3):
        s = s + np.sum(m) * a[0, k]
    return s


def written(a: Any, x: Any) -> Any:
    m, z = a[0] * a[1], np.zeros((5, 4, 3))
    for k in range(4):
        z[:, k] = m
        z[:, k] *= x[:, k]
    return np.sum(z**2)


def power(a: Any, x: Any) -> Any:
    m, z = 1.0 + a[0] ** 2, x * x + 0.1
    for _ in range(3):
        z = z**m
    return np.sum(z)


def by_items(a: Any, x: Any) -> Any:
    m, s = -a[0], 0.0
    for row in x:
        s = s + np.sum((row - m) ** 2)
    return s


def in_a_function(a: Any, x: Any) -> Any:
    m, s = np.exp(a[0]), 0.0

    def root(row: Any) -> Any:
        return np.sum(np.sqrt(row**2 + m))

    for row in x:
        s = s + root(row)
    return s


def two(a: Any, x: Any) -> Any:
    m, b, y, k = 2.0 * a, np.sin(a[0]), x[:, 0], 0
    while k < 3:
        y = np.tanh(y * b + np.sum(y[:, :, None] / (3.0 + m), axis=2))
        k += 1
    return np.sum(np.where(y > 0.0, y * b, y))


@pytest.mark.parametrize(
    "function", [matrix, of_an_outer_trip, product, summed, written, power, by_items, in_a_function, two]
)
def test_a_value_that_a_loop_widens(function: Any) -> None:
    check_grads(function, (A, X), wrt=(0, 1), order=2)


def two_of_columns(alpha: Any, c: Any, x: Any) -> Any:
    u, v = np.sin(alpha), np.mean(c, axis=0) * alpha
    return np.sum(np.tanh(u * x) * np.exp(v - x))


def negative(alpha: Any, c: Any, x: Any) -> Any:
    v = alpha - np.sum(c, axis=0) - x
    return np.mean(np.exp(v)) + np.sum((x - -alpha) ** 2)


@pytest.mark.parametrize("rows, target", [(None, "numpy"), (1, "numpy"), (4, "numpy"), (4, "numba")])
@pytest.mark.parametrize("function", [two_of_columns, negative])
def test_a_value_that_reads_no_row(function: Any, rows: int | None, target: str) -> None:
    args, wrt = (A[0], A[1:], X[:, 0].repeat(2, axis=0)), ("alpha", "c", "x")
    value, found = srcgrad.value_and_grad(srcgrad.blocked(function, over="x", rows=rows), wrt=wrt, target=target)(*args)
    right, parts = srcgrad.value_and_grad(function, wrt=wrt)(*args)
    assert np.allclose(value, right)
    for one, part in zip(found, parts, strict=True):
        assert np.shape(one) == np.shape(part)
        np.testing.assert_allclose(one, part, rtol=1e-12, atol=1e-12)  # sums are taken in another order
