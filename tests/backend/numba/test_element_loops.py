"""Statements of arrays as loops over elements: the numbers of NumPy's text, and loops where they belong."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad
from benchmarks.workloads import mixture
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.api.derivatives import recent_derivative

pytest.importorskip("numba")
X, V = np.random.default_rng(0).random((4, 3)), np.random.default_rng(1).random(3)


def much(x, v):
    """Maps, broadcasting, reductions along axes, updates in place, and names that have other values later."""
    n, m = x.shape
    y = x * v
    y += v
    top = np.max(x, axis=1, keepdims=True)
    shares = np.exp(x - top) / np.sum(np.exp(x - top), axis=1, keepdims=True)
    y = np.where(y > 0.6, y * y, np.sqrt(y + 1.0)) - shares
    joined = np.concatenate((y, np.zeros((n, 1))), axis=1)
    turned = np.reshape(joined.T, (n, m + 1))
    return np.sum(turned[1:] * turned[:-1]) * np.mean(x) + np.sum(np.mean(y, axis=0) * v)


def stacked(x, v):
    a = x[:, :, None] * v
    b = np.matmul(a, np.transpose(a, (0, 2, 1)))
    return np.sum(np.matmul(b, x.T)) + np.sum(np.abs(np.swapaxes(b, 0, 1)) * x[0])


def extremes(x, v):
    return np.sum(np.max(x * v, axis=1) ** 2) + np.sum(np.min(x, axis=0) * v)


def code(text):
    """The lines of a text that are no comments."""
    return "\n".join(line for line in text.splitlines() if not line.strip().startswith("#"))


def pair(f):
    return srcgrad.value_and_grad(f, (0, 1), target="numba"), srcgrad.value_and_grad(f, (0, 1))


def agree(one, two, args):
    """Values and gradients, their shapes and dtypes, and arguments that are as they were."""
    before = [arg.copy() for arg in args]
    with np.errstate(all="ignore"):
        (y, found), (expected, wanted) = one(*args), two(*args)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    for got, want, arg, was in zip(found, wanted, args, before, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(arg, was)


def test_much_is_right_whatever_the_arguments():
    compiled, plain = pair(much)
    bad = np.where(X > 0.8, np.nan, np.where(X < 0.1, np.inf, X))
    for args in [(X, V), (bad, V), (np.asfortranarray(X), np.repeat(V, 2)[::2]), (X - 0.5, np.zeros(3))]:
        agree(compiled, plain, args)
    assert "for i in range(n):" in compiled.source and "np.exp(" not in code(compiled.source)


def test_products_of_stacks_of_matrices():
    compiled, plain = pair(stacked)
    agree(compiled, plain, (X, V[:2]))


def test_elements_that_are_equally_large_share():
    compiled, plain = pair(extremes)
    for args in [(X, V), (np.ones((4, 3)), np.ones(3)), (np.where(X > 0.8, np.nan, X), V)]:
        agree(compiled, plain, args)


def bowl(x, v):
    return np.sum(np.tanh(x * v) + v)


def test_axes_that_broadcast_when_it_runs_have_a_text_without_loops():
    compiled, plain = pair(bowl)
    for args in [(X, V), (X, V[:1]), (X[:, :1], V), (X[:0], V), (X, np.outer(X[:, 0], V))]:
        agree(compiled, plain, args)
    compiled(X, V)
    with pytest.raises(ValueError, match="E5026 loops need axes of equal lengths"):
        compiled.njit(X, V[:1])
    with pytest.raises(ValueError):  # Numba's own, of the text without loops
        compiled(X, V[:2])


def test_the_largest_of_nothing_is_no_number():
    with pytest.raises((ValueError, DifferentiationError)):
        srcgrad.grad(lambda x: np.sum(np.max(x * x, axis=0)), target="numba")(np.empty((0, 3)))


def test_what_one_trip_makes_is_a_number():
    compiled, _ = pair(bowl)
    compiled(X, V)
    text = code(compiled.source)
    assert text.count("np.empty") == 1 and "t1[" not in text, text


def layer(x, v, scale):
    z = np.maximum(x @ x.T, 0.5) * scale
    top = np.max(z, axis=1, keepdims=True)
    shares = np.exp(z - top) / np.sum(np.exp(z - top), axis=1, keepdims=True)
    return np.mean((shares + np.where(z > 0.9, z, 0.25)) ** 2) * (scale / 3) + np.sum(np.tanh(v))


def test_float32_meets_numbers_as_in_numpy():
    x, v = X.astype(np.float32), V.astype(np.float32)
    compiled, plain = pair(layer)
    (y, found), (expected, wanted) = compiled(x, v, 0.8), plain(x, v, 0.8)
    for got, want in zip((y, *found), (expected, *wanted), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert all(got.dtype == np.float32 for got in found)
    text = code(compiled.source)
    assert text.count("np.empty(") == text.count(", np.float32)") and "boundscheck" not in text, text
    text = code(compiled.executed_text(compiled.arguments((x, v, np.float64(0.8)), {})[1]).text)  # does not give way
    assert "z = np.empty((x.shape[0], x.shape[0]))" in text and "t1_bar @ x.astype(np.float64)" in text, text


def test_long_sums_lose_as_little_as_pairwise_ones():
    x = np.random.default_rng(2).random(1_000_000)
    added = srcgrad.value_and_grad(lambda x: np.sum(x * 0.1), target="numba")
    assert abs(added(x)[0] - math.fsum(x * 0.1)) <= 1e-13 * 1e5
    narrow = x.astype(np.float32)
    assert abs(added(narrow)[0] - math.fsum(narrow * 0.1)) <= 2.0**-24 * 1e5


def test_the_mixture_has_no_arithmetic_of_arrays():
    made = srcgrad.value_and_grad(mixture.mixture, (0, 1, 2), target="numba")
    text = code(made.executed_text(made.arguments(mixture.arguments(3, 4, 20), {})[1]).text)
    assert "np.exp(" not in text and "np.sum(" not in text and "scaled_bar = scaled\n" in text, text


def test_vjp_compiles_once():
    _, back = srcgrad.vjp(bowl, X, V, target="numba")
    one = recent_derivative(bowl, "primal", (0, 1), False, "numba").njit
    srcgrad.vjp(bowl, X, V, target="numba")
    assert recent_derivative(bowl, "primal", (0, 1), False, "numba").njit is one
    for got, want in zip(back(1.0), srcgrad.grad(bowl, (0, 1))(X, V), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_masks_of_float32_beside_products() -> None:
    """A mask with a name is made anew for each element: NumPy's own would make float64 of the adjoint."""
    draw = np.random.default_rng(4)
    x, w, v = (draw.normal(size=shape).astype(np.float32) for shape in ((5, 3), (3, 4), (4, 2)))

    def layer(x, w, v):
        a = x @ w
        h = np.where(a > 0.0, a, np.exp(a) - 1.0)
        return np.sum((h @ v) ** 2)

    found = srcgrad.grad(layer, (0, 1, 2), target="numba")(x, w, v)
    for one, other in zip(found, srcgrad.grad(layer, (0, 1, 2))(x, w, v), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)  # sums of float32 in another order
