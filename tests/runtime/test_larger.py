"""`if_larger` selects as `np.where` does, bit for bit, without a branch for each element."""

from __future__ import annotations

from typing import Any  # dtypes by name

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime import if_larger

NUMBERS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 2.0, -3.0])
SHAPES = [(), (3,), (0,), (2, 3), (1,), (64, 5)]
OTHERS: list[Any] = [0.0, np.float64(1.0), np.ones(1), None]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", ">f8", ">f4"])
@pytest.mark.parametrize("other", range(len(OTHERS)))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_selects_as_where_does(shape: tuple[int, ...], other: int, dtype: str) -> None:
    draw = np.random.default_rng(len(shape) + other)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1] if a.ndim else a):
        seed, x = (view(draw.choice(NUMBERS, shape).astype(dtype)) for _ in range(2))
        y = view(draw.choice(NUMBERS, shape).astype(dtype)) if OTHERS[other] is None else OTHERS[other]
        kept = seed.copy()
        expected = np.where(x > y, seed, np.where(x == y, 0.5 * seed, 0.0))
        found = if_larger(seed, x, y)
        assert found.tobytes() == expected.tobytes() or np.array_equal(found, expected, equal_nan=True)
        assert found.shape == expected.shape and found.dtype == expected.dtype and found.flags.writeable
        assert not np.shares_memory(found, seed)
        np.testing.assert_array_equal(seed, kept)
        np.testing.assert_array_equal(if_larger(seed, x, y, out=x), expected)  # in what x was, where there is room


@pytest.mark.parametrize("shape", [(2, 1), (3,), (1, 3), (), (4, 2, 3)], ids=str)
def test_a_seed_that_broadcasting_spreads_or_that_is_larger(shape: tuple[int, ...]) -> None:
    draw = np.random.default_rng(0)
    seed, x = draw.choice(NUMBERS, shape), draw.choice(NUMBERS, (2, 3))
    expected = np.where(x > 0.0, seed, np.where(x == 0.0, 0.5 * seed, 0.0))
    np.testing.assert_array_equal(if_larger(seed, x, 0.0), expected)
    np.testing.assert_array_equal(if_larger(np.broadcast_to(seed, expected.shape), x, 0.0), expected)


def test_a_seed_without_axes_goes_to_all_that_is_larger() -> None:
    np.testing.assert_array_equal(if_larger(2.0, np.array([1.0, 2.0, 3.0]), 2.0), [0.0, 1.0, 2.0])


def test_numbers_stay_numbers() -> None:
    assert [if_larger(2.0, x, 1) for x in (2.0, 1.0, 0.0, float("nan"))] == [2.0, 1.0, 0.0, 0.0]
    assert type(if_larger(2.0, 2.0, 1)) is float


def capped(x, a):
    return np.minimum(x, 0.7 * a)


def test_the_tangent_of_a_number_has_the_dtype_of_the_array_beside_it() -> None:
    x = np.array([0.5, 0.9], np.float32)
    y, y_dot = srcgrad.jvp(capped, (x, 1.0), (np.ones_like(x), 2.0))
    assert y.dtype == y_dot.dtype == np.float32
    np.testing.assert_allclose(y_dot, [1.0, 1.4], rtol=1e-6)
