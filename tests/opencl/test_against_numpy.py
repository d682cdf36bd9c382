"""Programs that kernels once got wrong, found by `tests.random.kernels`: types, what stacks hold, extremes, order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.finite_differences import tangent_like, vector
from srcgrad.opencl.kernels.lines import compared, parsed
from srcgrad.runtime import share, share_nearest
from tests.agree import differences
from tests.random.kernels import arguments, program
from tests.random.targets import compared as compared_targets

pytestmark = pytest.mark.filterwarnings("ignore")
RANDOM = np.random.default_rng(5)
X, Y = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((33, 1), (1,)))
WIDE, ROW = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((5, 7), (7,)))


def one_column(x: Any, y: Any) -> Any:
    r = np.max(np.tanh(x * np.cos(y)) * x, axis=0)
    return r * np.sum(np.sin(x) * y, axis=0)


def function_of_a_constant(x: Any) -> Any:
    return np.tanh(x + np.sin(0.5)) * x


def function_of_a_number(x: Any, a: Any) -> Any:
    s = 0.7 * a
    return np.tanh(x * np.sqrt(s + 1.0)) * x


def choice_of_numbers(x: Any, a: Any) -> Any:
    return np.tanh(x * np.where(a > 0.5, a, 1.0)) * x


def multiplied_in_a_loop(x: Any, y: Any, a: Any) -> Any:
    m = np.exp(-x * x)
    s = a
    for _ in range(2):
        m *= y
        s = np.tanh(np.sqrt(s * s + 1)) + np.mean(m)
    return m * s


def extreme_of_what_is_computed_again(x: Any, y: Any, a: Any) -> Any:
    m = x
    for _ in range(2):
        r = np.max(np.exp(-x * m) * (y + a) - (m + 0.3) * a * a, axis=0)
        m = m + np.float64(0.7) * r
    return np.sum(m * m)


def first_row_twice(x: Any, s: Any) -> Any:
    m = np.sin(x)
    m = np.exp(x * (m + s)) * m[0]
    return np.tanh(m) * x


def mixture(x: Any, means: Any, logs: Any) -> Any:
    z = (x[:, None, :] - means[None, :, :]) * np.exp(-logs)[None, :, :]
    q = 0.3 - 0.5 * np.sum(z * z, axis=2)
    m = np.max(q, axis=1, keepdims=True)
    return np.sum(m[:, 0] + np.log(np.sum(np.exp(q - m), axis=1)))


def largest_of_all(x: Any, y: Any) -> Any:
    return np.max(np.tanh(x) * y)


def largest_of_all_computed_again(x: Any, y: Any) -> Any:
    for _ in range(2):
        x = x + np.max(np.tanh(x) * y - x * x)
    return np.sum(x)


def wrapped(x: Any, y: Any, n: Any) -> Any:
    m = x % (np.abs(y) + 0.5)
    m %= 0.7
    q = np.remainder(x, -0.3) * (n % 1000) + np.mod(n, 7) * x
    return np.sum(m * np.fmod(x * 9.0, y) + (x // 0.3) * y * np.sin(q)) + np.sum(np.floor_divide(m, y) * x)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (wrapped, (WIDE, ROW, 20_000_003)),
    (wrapped, (WIDE.astype(np.float64), ROW.astype(np.float64), 2.5)),
    (largest_of_all, (WIDE, ROW)),
    (largest_of_all_computed_again, (WIDE, np.float32(0.4))),
    (mixture, (WIDE, WIDE[:3] + 0.5, 0.1 * WIDE[:3])),
    (function_of_a_constant, (WIDE,)),
    (first_row_twice, (WIDE, np.float32(0.3))),
    (function_of_a_number, (WIDE, 0.8)),
    (function_of_a_number, (WIDE, 1)),
    (function_of_a_number, (WIDE, np.float32(0.8))),
    (choice_of_numbers, (WIDE, 0.8)),
    (multiplied_in_a_loop, (WIDE, ROW, 1)),
    (extreme_of_what_is_computed_again, (WIDE, ROW, np.float32(0.8))),
]


@pytest.mark.parametrize("function, args", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_gives_what_numpy_gives(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    plain, found = (_pulled(function, args, target) for target in ("numpy", "opencl"))
    assert differences(found, plain, 1e-4) == []


def test_sums_of_one_column_have_their_dtype() -> None:
    assert compared_targets(one_column, (X, Y), 1e-4) == ""


def _pulled(function: Callable[..., Any], args: tuple[Any, ...], target: str) -> Any:
    value, pullback = srcgrad.vjp(function, *args, target=target)
    return value, pullback(tangent_like(value, np.linspace(0.5, 1.5, vector(value).size)))


def test_an_extreme_that_is_computed_again_is_looked_for_by_distance() -> None:
    text = srcgrad.source(extreme_of_what_is_computed_again, target="opencl")
    assert "share_nearest(" in text


def test_an_extreme_of_an_argument_is_looked_for_by_equality() -> None:
    def softmax(x: Any, w: Any) -> Any:
        largest = np.max(x, axis=1, keepdims=True)
        return np.sum(np.tanh(x - largest) * largest * w)

    text = srcgrad.source(softmax, target="opencl")
    assert "share(" in text and "share_nearest" not in text
    assert "is_nearest(" in srcgrad.source(largest_of_all_computed_again, target="opencl")
    text = srcgrad.source(largest_of_all, target="opencl")
    assert "count_nonzero(" in text and "is_nearest(" not in text


@pytest.mark.parametrize("axis, kept", [(None, False), (0, False), (1, True), (-1, False)])
def test_share_nearest_is_share_where_elements_are_equal(axis: int | None, kept: bool) -> None:
    a = np.array([[1.0, 3.0, 3.0], [np.inf, -np.inf, 2.0]])
    y = np.max(a, axis=axis, keepdims=kept)
    g = np.full_like(y, 1.5)
    np.testing.assert_array_equal(share_nearest(g, a, y, axis, kept), share(g, a, y, axis, kept))
    finite = np.where(np.isfinite(a), a, 7.0)
    y = np.max(finite, axis=axis, keepdims=kept)
    off = share_nearest(g, finite, y * (1.0 + 1e-15), axis, kept)
    np.testing.assert_array_equal(off, share(g, finite, y, axis, kept))
    assert np.isnan(share_nearest(1.0, np.array([1.0, np.nan]), np.nan)).all()


def test_values_that_are_compared_are_computed_once() -> None:
    text = parsed(
        "REAL t = x * w - c;\nREAL m = MAX(t; 0);\nREAL hit = t == m ? 1.0 : 0.0;\nSTORE(hit);", ["x", "w", "c"]
    )
    assert compared(text.lines) == {"t"}


def test_random_programs_can_be_drawn_again() -> None:
    assert program(3) == program(3)
    for one, other in zip(arguments(3), arguments(3), strict=True):
        np.testing.assert_array_equal(one, other)
