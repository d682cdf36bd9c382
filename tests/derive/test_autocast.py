"""`grad(f, autocast=dtype)`: computed in lower precision, with visible casts."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import DifferentiationError, grad, jvp, value_and_grad

RNG = np.random.default_rng(0)
X, W, B = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)
PLACES = np.array([0, 2, 2, 4, 1])
TABLE = RNG.normal(size=(3, 3))


def layer(x, w, b, n, places):
    h = np.tanh(x @ w + b) @ TABLE
    for _ in range(n):
        h = h * 0.5 + x[places]
    return np.sum(h * h) + np.mean(h)


ARGS = (X, W, B, 2, PLACES)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-2), (np.float32, 1e-5)])
@pytest.mark.parametrize("target", ["numpy", "opencl"])
def test_capability_1_11_gradients_are_near_and_of_the_dtype_of_their_primals(dtype, tolerance, target):
    """A few roundings of 2**-11 or 2**-24, relative to the largest element."""
    if target == "opencl":
        pytest.importorskip("pyopencl")
    value, gradients = value_and_grad(layer, (0, 1, 2))(*ARGS)
    low, found = value_and_grad(layer, (0, 1, 2), autocast=dtype, target=target)(*ARGS)
    assert np.isclose(low, value, rtol=tolerance)
    assert low != value
    for expected, actual in zip(gradients, found, strict=True):
        assert actual.dtype == np.float64
        assert np.max(np.abs(actual - expected)) < tolerance * np.max(np.abs(expected))
        assert not np.array_equal(actual, expected)


def test_capability_1_11_casts_are_visible_pairs():
    slope = grad(layer, (0, 1, 2), autocast=np.float16)
    slope(*ARGS)
    for name in ("x", "w", "b"):
        assert f"    {name}_1 = {name}.astype(np.float16)\n" in slope.source
        assert f".astype({name}.dtype)\n" in slope.source
    assert "TABLE_float16 = TABLE.astype(np.float16)" in slope.source
    assert "n.astype" not in slope.source
    assert "places.astype" not in slope.source


def test_integers_stay_integers_and_numbers_stay_numbers():
    def f(x, k, counts):
        return np.sum(x[counts]) * k + np.sum(counts)

    found = grad(f, (0, 1), autocast=np.float16)(np.ones(3), 2.0, np.array([0, 2000, 2])[[0, 0, 2]])
    assert found[0].tolist() == [4.0, 0.0, 2.0]
    assert (found[1], type(found[1])) == (3.0, float)


def test_capability_1_11_sums_are_in_float32():
    def f(x, b):
        return np.sum((x + b) * 0.1, axis=0)[0]

    slope = value_and_grad(f, "b", autocast=np.float16)
    value, found = slope(np.ones((4096, 2)), np.zeros(2))
    assert ".astype(np.float32)" in slope.source
    assert np.isclose(value, 4096 * float(np.float16(0.1)), rtol=1e-6)  # a few roundings of float32
    assert np.allclose(found, [4096 * float(np.float16(0.1)), 0.0], rtol=1e-6)


def test_contributions_of_a_loop_add_up_in_float32():
    def f(w, x, n):
        s = 0.0
        for k in range(n):
            s = s + np.sum(w * x[k])
        return s

    found = grad(f, autocast=np.float16)(np.ones(2), np.full((4096, 2), 0.1), 4096)
    assert np.allclose(found, 4096 * float(np.float16(0.1)), rtol=1e-6)


y = t1 = np.ones(2)  # names that the text gives to intermediate values


def test_names_of_intermediate_values_are_no_names_of_the_module():
    slope = grad(squares, autocast=np.float16)
    assert slope(np.ones(3)).tolist() == [2.0] * 3
    assert "float16_" not in slope.source
    assert "y_float16" not in slope.source


def test_float32_arguments_have_float32_gradients():
    found = grad(layer, "w", autocast=np.float16)(X.astype(np.float32), W.astype(np.float32), B, 1, PLACES)
    assert found.dtype == np.float32


def test_a_called_function_computes_in_the_same_precision():
    def f(x):
        return squares(x) + np.sum(x)

    expected = 2.0 * np.float16(0.1) + 1.0
    assert np.allclose(grad(f, autocast="float16")(np.full(3, 0.1)), expected, rtol=1e-3)


def squares(z):
    return np.sum(z * z)


def test_an_argument_that_is_bound_anew_or_written_into():
    def bound(x, n):
        for _ in range(n):
            x = x * x
        return np.sum(x)

    def written(x):
        x[0] = 2.0 * x[1]
        return np.sum(x * x)

    x = np.array([0.5, 0.25])
    assert grad(bound, autocast=np.float16)(x, 2).tolist() == [0.5, 0.0625]
    assert grad(written, autocast=np.float16)(x).tolist() == [0.0, 2.5]
    assert x.tolist() == [0.5, 0.25]


def test_a_second_derivative():
    slope = grad(squares, autocast=np.float16)
    _, found = jvp(slope, (np.ones(2),), (np.array([1.0, 0.0]),))
    assert found.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.int8, "half", complex])
def test_refused_what_is_no_lower_precision(dtype):
    with pytest.raises(DifferentiationError, match=r"E5017 .*autocast="):
        grad(squares, autocast=dtype)
