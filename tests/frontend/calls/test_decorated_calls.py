"""Derivatives of a function under `@differentiate` that another function asks for: `f.grad(x)`."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad


@srcgrad.differentiate
def wave(x):
    return np.sum(np.sin(x) * x)


def descended(x):
    for _ in range(2):
        x = x - 0.1 * wave.grad(x)
    return np.sum(x * x)


def both(x):
    value, slope = wave.value_and_grad(x)
    return value * np.sum(slope)


def curved(x):
    return np.sum(wave.hvp(x, x) * x) + np.sum(wave.hessian(x) @ x) + np.sum(wave.jacobian(x))


def central(f, x):
    """Central differences."""
    return np.array([(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(x.size)])


X = np.array([0.3, -0.7, 1.2])


@pytest.mark.parametrize("function", [descended, both, curved])
def test_attributes_are_differentiated(function):
    found = srcgrad.grad(function)(X)
    np.testing.assert_allclose(found, central(function, X), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcgrad.jvp(function, (X,), (X,))[1], found @ X, rtol=1e-12)


def test_a_new_function_under_the_name_is_read(monkeypatch):
    gradient = srcgrad.grad(descended)
    before = gradient(X)
    monkeypatch.setitem(globals(), "wave", srcgrad.differentiate(lambda x: np.sum(x * x * x)))
    after = gradient(X)
    np.testing.assert_allclose(after, central(descended, X), rtol=1e-6, atol=1e-8)
    assert not np.allclose(after, before)


def test_what_is_no_derivative_is_what_python_says():
    """Only a run knows what an attribute holds."""
    with pytest.raises(AttributeError, match="unknown"):
        srcgrad.grad(lambda x: np.sum(wave.unknown(x)))(X)
