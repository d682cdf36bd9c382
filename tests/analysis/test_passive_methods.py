"""Methods of arrays that are not differentiated have shapes that are known where those of their arrays are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

Z, R = np.linspace(0.3, 1.4, 12).reshape(3, 4), np.linspace(-0.8, 0.9, 12).reshape(3, 4)
Function = Callable[..., np.ndarray]


def copied(z, r):
    q = r.copy()
    return np.sum(q * np.sin(z))


def cast(z, r):
    q = r.astype(float)
    return np.sum(q * z * z)


def centred(z, r):
    q = r - r.mean()
    return np.sum(q * z * z)


def normalised(z, r):
    q = r / (2.0 + r.sum(axis=0))
    return np.sum(q * z * z)


def below_the_largest(z, r):
    q = r - r.max(axis=1, keepdims=True)
    return np.sum(q * z * z)


def correlated(z, r):
    y = r.T.dot(r) @ z.T
    return np.sum(y * y)


def clipped(z, r):
    q = np.asarray(r).clip(-0.5, 0.5)
    return np.sum(q * z * z)


FUNCTIONS = [copied, cast, centred, normalised, below_the_largest, correlated, clipped]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_shape_is_looked_up(function: Function) -> None:
    text = srcgrad.source(function, wrt=("z",), like=(Z, R))
    assert not any(helper in text for helper in ("sum_to", "fit_to", "matmul_right")), text


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(function: Function) -> None:
    check_grads(function, (Z, R), order=2)
    expected = srcgrad.grad(function)(Z, R)
    np.testing.assert_allclose(srcgrad.grad(function, like=(Z, R))(Z, R), expected, rtol=1e-13)
    single = (Z.astype(np.float32), R.astype(np.float32))
    found = srcgrad.grad(function, like=single)(*single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def counted(z, r):
    return np.sum(np.sin(z) / (r > 0.0).sum())


def scaled_by_labels(z, labels):
    return np.sum(z * z * labels.astype(float))


def test_sums_of_masks_are_no_floats() -> None:
    """`float32 / int64` is float64: the text sees to the dtype, as it is run here without srcgrad's own last look."""
    text = srcgrad.source(counted, wrt=("z",), like=(Z, R))
    names: dict[str, Function] = {}
    exec(compile(text, "counted_grad", "exec"), names)  # the text that is tested
    found = names["counted_grad"](Z.astype(np.float32), R.astype(np.float32))
    assert found.dtype == np.float32


def test_integers_that_are_made_floats() -> None:
    labels = np.arange(12).reshape(3, 4) % 2
    text = srcgrad.source(scaled_by_labels, wrt=("z",), like=(Z, labels))
    assert "sum_to" not in text, text
    single = Z.astype(np.float32)
    found = srcgrad.grad(scaled_by_labels, like=(single, labels))(single, labels)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2.0 * single * labels, rtol=1e-6)


def begun_with_zeros(z):
    y = z + np.zeros(4)
    return np.sum(y * y)


def test_examples_of_float32_are_taken() -> None:
    """A text with `np.zeros(4)` refused the float32 examples that it was made for."""
    single = Z.astype(np.float32)
    found = srcgrad.grad(begun_with_zeros, like=(single,))(single)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, 2.0 * single)
