"""Numbers stand first in products, but where a dtype would change or a product leave its range."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

X, Y = np.array([0.3, -1.2, 0.8]), np.array([1.1, 0.4, -0.7])


def scaled(x, y):
    return np.sum(x * (0.3 * np.sin(y)))


def scaled_twice(x, y):
    return np.sum(x * (0.5641895835477563 * np.exp(-y * y)) * 0.7071067811865476)


def divided(x, y):
    return np.sum(x / y * (0.3 * np.sin(y)))


def subtracted(x, y):
    return np.sum(y - x * (0.3 * np.tanh(y)))


@pytest.mark.parametrize("function", [scaled, scaled_twice, divided, subtracted], ids=lambda f: f.__name__)
def test_gradients(function: Any) -> None:
    check_grads(function, (X, Y), order=2)
    check_grads(function, (X[:, None], Y), order=2)
    for dtype in (np.float32, np.float16):
        found = srcgrad.grad(function, wrt=("x", "y"))(X.astype(dtype), Y.astype(dtype))
        assert [one.dtype for one in found] == [dtype, dtype]


def test_the_number_is_multiplied_first() -> None:
    text = srcgrad.source(scaled, wrt=("y",), like=(X, Y))
    assert "result_bar * 0.3 * x * np.cos(y)" in text, text


def test_numbers_stand_in_their_order() -> None:
    text = srcgrad.source(lambda x: np.sum(0.2 * np.sin(0.3 * x)), like=(X,))
    assert "x_bar = y_bar * 0.2 * 0.3 * np.cos(0.3 * x)" in text, text


def test_extreme_constants_stay() -> None:
    """In another order, the products of these would be infinite or zero."""

    def far(x, y):
        return np.sum(1e-200 * (1e200 * (x * 1e200)) * y)

    check = srcgrad.grad(far)(X * 1e-30, Y * 1e-30)
    np.testing.assert_allclose(check, 1e200 * (Y * 1e-30), rtol=1e-12)
