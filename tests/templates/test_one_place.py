"""One rule gives an operation all its forms: both modes, complex numbers, OpenCL and compiled loops."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

special = pytest.importorskip("scipy.special")
X = np.linspace(0.1, 2.0, 6).reshape(2, 3)


def logarithm(x):
    return np.sum(np.abs(special.log1p(x) * x))


def growth(x):
    return np.sum(np.abs(special.expm1(0.5 * x) * x))


def inverse_hyperbolic_sine(x):
    return np.sum(np.abs(np.arcsinh(x) * x))


FUNCTIONS = {"log1p": logarithm, "expm1": growth, "asinh": inverse_hyperbolic_sine}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_of_real_and_complex_numbers(name: str) -> None:
    srcgrad.check_grads(FUNCTIONS[name], (X,), order=2)
    srcgrad.check_grads(FUNCTIONS[name], (X + 0.3j * X[::-1],), order=1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_kernel(name: str) -> None:
    assert f"{name}(" in srcgrad.source(FUNCTIONS[name], target="opencl").split("def ")[1]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_compiled_loop(name: str) -> None:
    pytest.importorskip("numba")
    compiled = srcgrad.grad(FUNCTIONS[name], target="numba")
    np.testing.assert_allclose(compiled(X), srcgrad.grad(FUNCTIONS[name])(X), rtol=1e-14)
    assert f"math.{name}(" in compiled.source and "special." not in compiled.source.partition("return")[0].split("#")[0]
