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


def likelihood(x: Any, m: Any) -> Any:
    """Numbers between the halves, sums of which one axis is left, and along the middle one of three."""
    u = x[None, :, :] - m[:, None, :]
    logs = np.mean(m * m, axis=1)
    scores = logs[:, None] - 0.5 * np.sum(u * u, axis=2)
    total = 1.0 + np.sum(np.exp(logs))
    return np.sum(np.log(np.sum(np.exp(scores), axis=0))) - 2.0 * np.log(total)


def counted(x: Any, w: Any) -> Any:
    """An array grows by a number that is known behind the kernel; a number is made of it and of a sum."""
    t = np.tanh(x * w)
    n = np.log(1.0 + np.sum(t * t)) * 2.0
    t = t * w + n
    return np.sum(t * x) * n + n


def fed(x: Any, w: Any) -> Any:
    """Maps that are operands of products, in both halves."""
    return np.sum(np.tanh((x * x + 1.0) * w @ w) ** 2)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("f", [counted, entropy, fed, layers, likelihood, scaled], ids=lambda f: f.__name__)
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


def test_numbers_and_single_axes_do_not_part_a_kernel() -> None:
    text = srcgrad.source(likelihood, "value-and-grad", wrt=("x", "m"), target="opencl")
    assert text.count("def likelihood_kernel") == 2 and text.count("= ONLY(") == 2


def test_what_a_product_is_given_is_computed_by_a_kernel() -> None:
    text = srcgrad.source(lambda x, w, v: np.tanh(x @ w) @ v, "vjp", wrt="w", target="opencl")
    assert "REAL factor = matmul_left_part * (1.0 - t * t);" in text
    alone = srcgrad.source(lambda x, w: np.sum(2.0 * x @ w), "vjp", wrt="w", target="opencl")
    assert "np.sum(2.0 * x @ w)" in alone  # of one operation there is no kernel
