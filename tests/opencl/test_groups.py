"""What one kernel takes in: numbers that depend on how many elements there are, what stands behind a product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.agree import differences


def entropy(z: Any, y: Any) -> Any:
    """A mean over rows, whose adjoint is the same for all of them."""
    top = np.max(z, axis=1, keepdims=True)
    logs = np.log(np.sum(np.exp(z - top), axis=1, keepdims=True)) + top
    return np.mean(np.sum(y * (logs - z), axis=1))


def layers(x: Any, w: Any) -> Any:
    """A product stands between the adjoints of what is cut off and of what was added."""
    h = np.maximum(x @ w + w[0], 0.0)
    return np.sum(np.tanh(h @ w) * h)


def biased(x: Any, w: Any, b: Any) -> Any:
    """With an array of its own that is added to each row."""
    return np.mean(np.tanh(np.maximum(x @ w + b, 0.0) @ x))


def scaled(x: Any, w: Any) -> Any:
    """The adjoint of a mean is read outside of the kernel, too."""
    t = np.tanh(x * w)
    return np.mean(t * np.exp(-t)) * np.mean(x @ t) + np.mean(t)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("f", [entropy, layers, scaled], ids=lambda f: f.__name__)
def test_gives_what_numpy_gives(f: Any, real: Any) -> None:
    numbers = np.random.default_rng(0)
    args = [numbers.uniform(-0.9, 0.9, (6, 6)).astype(real) for _ in range(2)]
    found, wanted = (srcgrad.value_and_grad(f, wrt=(0, 1), target=target)(*args) for target in ("opencl", "numpy"))
    assert differences(found, wanted, 1e-4 if real is np.float32 else 1e-12) == []


def test_a_mean_does_not_part_the_halves() -> None:
    assert srcgrad.source(entropy, "value-and-grad", target="opencl").count("launch(") == 1


def test_sums_behind_a_product_are_part_of_the_kernel_before_it() -> None:
    text = srcgrad.source(biased, "value-and-grad", wrt=("w", "b"), target="opencl")
    assert text.count("launch(biased_kernel") == 3 and "REAL b_bar = SUM_TO(t1_bar; b_);" in text
