"""Jacobians, Hessians and their products with `target="opencl"`: the numbers and the kinds of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import elementwise_grad, grad, hessian, hvp, jacobian, linearize
from srcgrad.opencl.arrays.array import Array
from srcgrad.opencl.arrays.creation import asarray

X = np.linspace(0.1, 1.0, 4)


def number(x: Any) -> Any:
    return np.sum(np.exp(x) * x * x)


def array(x: Any) -> Any:
    return np.exp(x) * x


def inner(x: Any) -> Any:
    return np.sum(grad(number)(x) ** 2)


@pytest.mark.parametrize(
    ("made", "function"),
    [
        (jacobian, array),
        (lambda f, target="numpy": jacobian(f, mode="forward", target=target), array),
        (hessian, number),
        (elementwise_grad, array),
        (grad, inner),
    ],
)
def test_targets_agree(made: Any, function: Any) -> None:
    expected = made(function)(X)
    np.testing.assert_allclose(made(function, target="opencl")(X), expected, rtol=1e-12)
    found = made(function, target="opencl")(asarray(X))
    assert type(found) is Array
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


def test_products_and_linear_maps() -> None:
    np.testing.assert_allclose(hvp(number, target="opencl")(X, X), hvp(number)(X, X), rtol=1e-12)
    push, other = linearize(array, X, target="opencl")[1], linearize(array, X)[1]
    np.testing.assert_allclose(push(X), other(X), rtol=1e-12)
    with pytest.raises(srcgrad.DifferentiationError, match="E5019"):
        srcgrad.source(array, mode="jacobian", target="opencl")
