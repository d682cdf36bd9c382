"""Functions under `functools.cache` and `lru_cache`, methods among them, are those inside of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad


@functools.lru_cache
def square(x: float) -> float:
    return x * x


@functools.cache
def scaled(x: float, k: float = 2.0) -> float:
    return x * x * k


@functools.lru_cache(maxsize=4)
def both(x: float) -> float:
    return square(x) * scaled(x)


class Model:
    @functools.lru_cache  # noqa: B019
    def loss(self, x: float) -> float:
        return x * x * 3

    @staticmethod
    @functools.cache
    def cube(x: float) -> float:
        return x**3


MODEL = Model()


def whole(x: float) -> float:
    return both(x) * MODEL.loss(x) + Model.cube(x) + MODEL.cube(x)


@pytest.mark.parametrize("f", [square, scaled, both, MODEL.loss, Model.cube, whole])
def test_the_function_inside_is_differentiated(f: Callable[..., Any]) -> None:
    right = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    value, slope = srcgrad.value_and_grad(f)(1.5)
    assert np.isclose(value, f(1.5))
    assert np.isclose(slope, right, rtol=1e-6)
    assert np.isclose(srcgrad.jvp(f, (1.5,), (1.0,))[1], right, rtol=1e-6)
    assert np.isclose(srcgrad.differentiate(f).grad(1.5), right, rtol=1e-6)


@functools.lru_cache
def grid(n: int) -> Any:
    return np.linspace(0.5, 1.0, n) * 2.0


@functools.cache
def pair(n: int) -> tuple[float, int]:
    return 0.5, n


def weighted(x: Any) -> Any:
    low, count = pair(3)
    total = 0.0
    for k in range(count):
        total = total + np.sum(np.sin(x) * grid(5) * k + low * float(square(k)) * x)
    return total


@pytest.mark.parametrize("target", ["numpy", "numba", "opencl"])
def test_what_is_kept_of_constants_is_as_real_as_the_function_inside(target: str) -> None:
    x = np.linspace(0.1, 0.9, 5)
    right = [(weighted(x + step) - weighted(x - step)) / 2e-6 for step in 1e-6 * np.eye(5)]
    assert np.allclose(srcgrad.grad(weighted, target=target)(x), right, rtol=1e-7)
    assert "conj" not in srcgrad.source(weighted)


@functools.cache
def row(k: float) -> Any:
    return np.ones(2) * k


def written(x: float) -> Any:
    kept = row(2.0)
    kept[0] = x * x
    return np.sum(row(2.0) ** 2)


def written_of_what_varies(x: float) -> Any:
    kept = row(x)
    kept[0] = 3.0
    return np.sum(row(x) * x)


def written_through_a_view(x: float) -> Any:
    kept = row(x).T
    kept[0] = 3.0
    return np.sum(row(x) * x)


def added_to(x: float) -> Any:
    kept = row(x)
    kept *= 2.0
    return np.sum(row(x) * x)


def put(a: Any, e: float) -> None:
    a[0] = e


def filled_by_another(x: float) -> Any:
    kept = row(2.0)
    put(kept, x * x)
    return np.sum(row(2.0) ** 2)


WRITES = [written, written_of_what_varies, written_through_a_view, added_to, filled_by_another]


@pytest.mark.parametrize("f", WRITES)
@pytest.mark.parametrize("mode", ["grad", "jvp", "hvp"])
def test_an_array_that_a_cache_keeps_is_not_written_into(f: Callable[..., Any], mode: str) -> None:
    """The next call gives the array as it is then; the function written out would make another."""
    row.cache_clear()
    made = {
        "grad": lambda: srcgrad.grad(f)(2.0),
        "jvp": lambda: srcgrad.jvp(f, (2.0,), (1.0,)),
        "hvp": lambda: srcgrad.hvp(f)(2.0, 1.0),
    }
    with pytest.raises((srcgrad.DifferentiationError, TypeError), match="E5010"):
        made[mode]()


def test_numbers_that_a_cache_keeps_change_by_name_alone() -> None:
    def f(x: float) -> float:
        kept = square(x)
        kept += 2.0 * x
        return kept * square(x)

    srcgrad.check_grads(f, (1.5,), order=2)
