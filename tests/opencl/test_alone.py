"""Numbers of Python's in kernels of float32: NumPy computes with them in float64 until they meet an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.launch import launch
from tests.opencl.test_kernels import kernel


def out_of_range(x: Any, a: Any, b: Any, c: Any) -> Any:
    k = a / c
    return np.sum(np.exp(x) * (k * k * k * k * k * c * c * c * c * c))


def near(x: Any, a: Any, b: Any, c: Any) -> Any:
    return np.sum((np.exp(x) + 1.0 / x) * (a + b - a) / (a + c - a)) * 1e4


def written(x: Any, a: Any, b: Any, c: Any) -> Any:
    for _ in range(2):
        x[1:-1] = x[1:-1] * ((a + b - a) * 1e9) + x[:-2] * (b / c / c / c / c / c * c * c * c * c)
        x[:3] += (a + b - a) * 1e9 - c * 1e9
    return np.sum(x * x)


@pytest.mark.parametrize("function", [out_of_range, near, written])
def test_as_precise_as_numpy(function: Any, launched: list[str]) -> None:
    x, numbers = np.linspace(-1.0, 1.0, 12, dtype=np.float32), (1.0, 1.1e-9, 2.3e-9)
    wanted = srcgrad.value_and_grad(function)(x, *numbers)
    found = srcgrad.value_and_grad(function, target="opencl")(x, *numbers)
    assert launched and type(found[0]) is type(wanted[0])
    for one, two in zip(found, wanted, strict=True):
        assert one.dtype == two.dtype and np.all(np.isfinite(two))
        np.testing.assert_allclose(one, two, rtol=2e-5, atol=1e-5 * np.max(np.abs(two)))


def test_a_number_that_is_a_result_is_what_python_gives() -> None:
    lines = ["REAL s = k * k - m;", "REAL r = s - 0.3;", "REAL y = x * (m + -8.75);", *(f"STORE({n});" for n in "sry")]
    both, x = kernel(["x", "k", "m"], lines), np.ones(3, np.float32)
    assert launch(both, x, np.float32(3.0), np.float32(8.7))[0].dtype == np.float32
    s, r, y = launch(both, x, 3, 8.75 + 2.0**-40)
    assert s == 0.25 - 2.0**-40 and r == s - 0.3 and type(r) is float
    assert y.dtype == np.float32 and y.tolist() == [2.0**-40] * 3


def test_what_is_written_may_be_numbers_alone() -> None:
    x = np.zeros(5, np.float32)
    launch(kernel(["x", "k", "m"], ["ADD(x; k * m - 1.0);"], "np.add(x, k * m - 1.0, out=x)"), x, 1.5, 3.0)
    assert x.tolist() == [3.5] * 5
