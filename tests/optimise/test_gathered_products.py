"""Products that a loop adds up, gathered in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, vjp
from srcgrad.interface.dump import dump
from srcgrad.runtime import dot_left, dot_right, matmul_left, matmul_right, sum_products
from tests.programs import recurrent
from tests.programs.recurrent import RECURRENT, W, X

ONCE = (recurrent.a_state_in_a_dict,)  # the second derivative writes into a dict, which is refused


@pytest.mark.parametrize(("function", "arguments"), RECURRENT, ids=lambda item: getattr(item, "__name__", ""))
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives(function: Callable[..., Any], arguments: tuple[Any, ...], order: int) -> None:
    check_grads(function, arguments, order=order if function not in ONCE else 1)


def test_one_product_behind_the_loop() -> None:
    text = dump(f"{recurrent.__file__}:steps").text
    assert "    w_bar = sum_products(matmul_left, " in text
    assert "+= matmul_left" not in text
    text = dump(f"{recurrent.__file__}:matrix_changes").text
    assert "sum_products" not in text


def test_a_pullback_gathers_anew_each_time() -> None:
    _, back = vjp(recurrent.steps, W, X, wrt=(0, 1))
    for one, two in zip(back(1.0), back(1.0), strict=True):
        np.testing.assert_array_equal(one, two)


DRAW = np.random.default_rng(3).standard_normal


@pytest.mark.parametrize("rule", [matmul_left, dot_left])
@pytest.mark.parametrize(
    ("seeds", "factors"),
    [
        ([(4,)] * 5, [(3,)] * 5),
        ([(4, 2)] * 5, [(3, 2)] * 5),
        ([(4, 2), (4, 1)], [(3, 2), (3, 1)]),
        ([(1,)] * 5, [(3,)] * 5),
        ([()] * 2, [(3,)] * 2),
        ([(1, 2)] * 2, [(3, 2)] * 2),
        ([(4,), (4, 2)], [(3,), (3, 2)]),
    ],
)
def test_sums_on_the_left(rule: Any, seeds: Any, factors: Any) -> None:
    gs, bs = [DRAW(shape) for shape in seeds], [DRAW(shape) for shape in factors]
    fixed = np.zeros((4, 3))
    found = sum_products(rule, gs, fixed, bs)
    np.testing.assert_allclose(found, sum(rule(g, fixed, b) for g, b in zip(gs, bs, strict=True)))
    assert found.shape == fixed.shape


@pytest.mark.parametrize("rule", [matmul_right, dot_right])
@pytest.mark.parametrize(
    ("seeds", "factors"),
    [
        ([(3,)] * 5, [(4,)] * 5),
        ([(2, 3)] * 5, [(2, 4)] * 5),
        ([(2, 3), (1, 3)], [(2, 4), (1, 4)]),
        ([(1,)] * 5, [(4,)] * 5),
        ([(3,), (2, 3)], [(4,), (2, 4)]),
    ],
)
def test_sums_on_the_right(rule: Any, seeds: Any, factors: Any) -> None:
    gs, lefts = [DRAW(shape) for shape in seeds], [DRAW(shape) for shape in factors]
    fixed = np.zeros((4, 3))
    found = sum_products(rule, gs, lefts, fixed)
    np.testing.assert_allclose(found, sum(rule(g, a, fixed) for g, a in zip(gs, lefts, strict=True)))
    assert found.shape == fixed.shape


def test_no_trips_and_vectors() -> None:
    np.testing.assert_array_equal(sum_products(matmul_left, [], W, []), np.zeros((3, 3)))
    gs, bs = [2.0, 3.0], [X[0], X[1]]
    np.testing.assert_allclose(sum_products(matmul_left, gs, np.zeros(3), bs), 2.0 * X[0] + 3.0 * X[1])


def test_the_dtype_is_that_of_the_fixed_factor() -> None:
    fixed = np.zeros((3, 2), np.float32)
    gs, bs = [np.ones(3), np.ones(3)], [np.ones(2), np.full(2, 4.0)]
    found = sum_products(matmul_left, gs, fixed, bs)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.full((3, 2), 5.0))
    assert sum_products(matmul_right, bs, gs, np.zeros((3, 2), np.float32)).dtype == np.float32
