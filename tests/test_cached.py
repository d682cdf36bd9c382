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
