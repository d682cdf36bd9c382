"""Section 1 of the capabilities, second part: in-place work, memory, caches, traces, intermediates."""

from __future__ import annotations

import ast
import tracemalloc
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, check_grads, grad

DRAW = np.random.default_rng(9).standard_normal


def test_1_17_products() -> None:
    check_grads(product_sum, (DRAW((3, 4)), DRAW((4, 2))))


def test_1_18_sums_of_different_ranks() -> None:
    _, y_bar = grad(lambda x, y: np.sum(x + y), (0, 1))(np.ones((3, 4)), np.ones(4))
    np.testing.assert_array_equal(y_bar, [3.0, 3.0, 3.0, 3.0])


def test_1_19_nothing_is_parsed_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast, "parse", lambda *_, **__: pytest.fail("parsed"))
    decorated = srcgrad.differentiate(chained)
    assert decorated(1.0) == 6.0 and grad(chained).__name__


def through_a_view(x):
    y = x * 1.0
    v = y[0]
    v[:] = 0.0
    return np.sum(y * y)


def test_1_20_views() -> None:
    x = DRAW((2, 3))
    np.testing.assert_array_equal(grad(through_a_view)(x), np.stack([np.zeros(3), 2.0 * x[1]]))


def in_place(x, y):
    x *= y
    y *= x
    return np.sum(x * y)


def test_1_21_in_place() -> None:
    x, y = DRAW(3), DRAW(3)
    kept = x.copy(), y.copy()
    found = grad(in_place, (0, 1))(x, y)
    np.testing.assert_array_equal((x, y), kept)
    for k, (one, part) in enumerate(zip(kept, found, strict=True)):
        step = 1e-6 * np.eye(3)
        other = kept[1 - k]
        slopes = [(in_place(*put(k, one + d, other)) - in_place(*put(k, one - d, other))) / 2e-6 for d in step]
        np.testing.assert_allclose(part, slopes, rtol=1e-6)


def put(k: int, one: Any, other: Any) -> tuple[Any, Any]:
    return (one.copy(), other.copy()) if k == 0 else (other.copy(), one.copy())


def hundred_uses(x):
    s = x * 0.5
    for _ in range(100):
        s = s + x * 0.5
    return np.sum(s)


def hundred_steps(x):
    for _ in range(100):
        x = x + 1.0
    return np.sum(x)


@pytest.mark.parametrize("function", [hundred_uses, hundred_steps])
def test_1_22_and_1_23_memory(function: Any) -> None:
    x = DRAW(100_000)
    derivative = grad(function)
    derivative(x)
    tracemalloc.start()
    derivative(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4.1 * x.nbytes


def test_1_24_texts_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = grad(chained)
    derivative(1.0)
    monkeypatch.setattr(ast, "parse", lambda *_, **__: pytest.fail("parsed"))
    assert derivative(2.0) == 6.0


def product_sum(x, y):
    z = x @ y
    return np.sum(z)


def chained(x):
    return 2.0 * (3.0 * x)


def test_1_28_product_and_sum() -> None:
    x, y = DRAW((3, 4)), DRAW((4, 2))
    x_bar, y_bar = grad(product_sum, (0, 1))(x, y)
    np.testing.assert_allclose(x_bar, np.ones((3, 2)) @ y.T)
    np.testing.assert_allclose(y_bar, x.T @ np.ones((3, 2)))


class Square(srcgrad.Function):
    """x^2 + 2 x + 1."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.name = "square"
        return x * x + 2.0 * x + 1.0

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        assert ctx.name == "square"
        return g * (2.0 * x + 2.0)


def test_1_29_a_class_and_a_hook_together() -> None:
    assert grad(lambda x: srcgrad.hook(Square.apply(x), lambda g: g * 10.0))(3.0) == 80.0


def test_1_31_traces_name_operations_and_operands() -> None:
    rows = srcgrad.trace(lambda x, y: x * y + np.sin(x))(0.6791, 0.8284).rows
    assert [row.operation for row in rows[2:]] == ["np.multiply", "np.sin", "np.add"]


def middle(x):
    h = np.sin(x) * x
    return np.sum(h**3)


def test_1_32_gradients_of_intermediates() -> None:
    x = DRAW(3)
    np.testing.assert_allclose(grad(middle, wrt="h")(x), 3.0 * (np.sin(x) * x) ** 2)


class Half(srcgrad.Function):
    """No backward half."""

    @staticmethod
    def forward(ctx, x):
        return x * 0.5


def test_1_33_a_class_without_a_backward_half() -> None:
    with pytest.raises(DifferentiationError, match=r"E5003.*Half"):
        grad(lambda x: Half.apply(x))(1.0)
