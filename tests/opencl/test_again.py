"""Sums of two arrays that a later kernel computes again: where they are, and where something may have changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad

DRAW = np.random.default_rng(4).standard_normal
X, B, W = DRAW((40, 30)), DRAW(30), DRAW((30, 30))


def layers(x: Any, b: Any, w: Any) -> Any:
    h = np.maximum(np.matmul(x, w) + b, 0.0)
    g = np.maximum(np.matmul(h, w) - b, 0.1)
    return np.sum(np.matmul(g, w) ** 2)


def read_by_a_product(x: Any, b: Any, w: Any) -> Any:
    t = np.matmul(x, w) + b
    return np.sum(np.matmul(np.maximum(t, 0.0), w) * np.matmul(t, w))


def changed_through_a_view(x: Any, b: Any, w: Any) -> Any:
    u = x * 2.0
    v = u[:, :]
    t = v + b
    z = np.matmul(np.maximum(t, 0.0), w)
    u += 1.0
    return np.sum(z * z) + np.sum(u * v)


def bound_anew(x: Any, b: Any, w: Any) -> Any:
    u = np.matmul(x, w)
    t = u + b
    z = np.matmul(np.maximum(t, 0.0), w)
    u = np.matmul(z, w)
    return np.sum(u * u)


def in_a_loop(x: Any, b: Any, w: Any) -> Any:
    for _ in range(3):
        x = 0.2 * np.matmul(np.maximum(np.tanh(x) + b, 0.0), w)
    return np.sum(x * x)


def of_numbers(x: Any, b: Any, w: Any) -> Any:
    s = np.sum(x) + np.sum(w)
    return np.sum(np.matmul(np.maximum(x * s, b), w) * s)


CASES = [
    (layers, 2),
    (read_by_a_product, 0),
    (changed_through_a_view, 0),
    (bound_anew, 1),
    (in_a_loop, 0),
    (of_numbers, 0),
]


@pytest.mark.parametrize("function, again", CASES, ids=[function.__name__ for function, _ in CASES])
def test_gradients(function: Callable[..., Any], again: int) -> None:
    fast = srcgrad.value_and_grad(function, wrt=(0, 1, 2), target="opencl")
    value, found = fast(X, B, W)
    wanted_value, wanted = srcgrad.value_and_grad(function, wrt=(0, 1, 2))(X, B, W)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)
    sums = [line.strip() for line in fast.source.splitlines() if line.startswith("        REAL t") and " = " in line]
    twice = {line for line in sums if sums.count(line) > 1}
    assert len(twice) == again, fast.source
