"""Adjoints that take the memory of what they are the adjoints of: only where nothing reads that any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad, source, value_and_grad, vjp
from srcgrad.interface.dump import dump


def squares(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    return np.sum(np.sum(t**2, axis=1) * x)


def returned_too(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    return np.sum(t * t), t


def read_later(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    u = t * m
    w = np.sum(np.exp(u))
    return np.sum(t**2) * w


def shown(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    v = t.T
    return np.sum(t**2) * np.sum(v[0] * v[1])


def held(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    kept = [t]
    return np.sum(t**2) * np.sum(kept[0] ** 3)


def called(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    return np.sum(t**2) * cubes(t)


def cubes(t):
    return np.sum(t * t * t)


def rebound(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    for _ in range(2):
        t = (t - m) * 0.5
    return np.sum(t**2)


def in_a_loop(x, m):
    t = (x[:, None] - m) * np.exp(-m)
    s = 0.0
    for k in range(3):
        s = s + np.sum(t**2) * x[k]
    return s


def whole_numbers(x, m):
    t = x[:, None] * m
    return np.sum(t * t)


def entropy(z, y):
    e = np.exp(z)
    return np.sum(y * (np.log(np.sum(e, axis=1, keepdims=True)) - z))


def shares(z, y):
    e = np.exp(z)
    return np.sum(y * (np.log(np.sum(e, axis=1, keepdims=True)) - z)), e


def entropies(z, y):
    e = np.exp(z)
    return np.sum(np.sum(y, axis=0) * e - y * z)


def seen_as(z, y):
    e = np.exp(z)
    v = e.T
    return np.sum(y * (np.log(np.sum(e, axis=1, keepdims=True)) - z)) * np.sum(v[0])


def layer(x, w):
    t = np.matmul(x, w) + 0.3
    return np.sum(np.maximum(t, 0.0) ** 2)


def capped(x, w):
    t = x * 2.0 + w[0]
    return np.sum(np.minimum(t, 0.5) ** 2)


def compared_with_more(x, w):
    t = x - 0.15
    return np.sum(np.maximum(t, np.stack((w, -w))) ** 2)


def read_before(x, w):
    t = x * w[:2, :2]
    s = np.sum(np.sin(t))
    return s * np.sum(np.maximum(t, 0.1) ** 2)


def layer_and_what_it_was_given(x, w):
    t = np.matmul(x, w) + 0.3
    return np.sum(np.maximum(t, 0.0) ** 2), t


def times_itself(x, w):
    t = 1.0 * x
    t[...] *= t * x
    return np.sum(t**2) * w[0]


def times_its_half(x, w):
    t = np.zeros((2, 2)) + x
    t[...] = t * (x * (0.5 * t))
    return np.sum(np.sin(t)) + w[0]


X, M = np.array([0.4, -0.7, 1.2]), np.array([0.3, 0.9])


@pytest.mark.parametrize("function", [squares, read_later, shown, held, called, rebound, in_a_loop, whole_numbers])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_derivatives(function: Callable[..., Any], kind: Any) -> None:
    check_grads(function, (X.astype(kind), M.astype(kind)), order=1)


def test_the_text_reuses_and_the_result_does_not_change() -> None:
    text = dump(f"{__file__}:squares").text
    assert "    t_bar = t\n    t_bar *= " in text
    for function in (read_later, shown, held, called, rebound, in_a_loop, whole_numbers):
        assert "_bar *= " not in dump(f"{__file__}:{function.__name__}").text, function.__name__


def test_values_survive() -> None:
    y, pullback = vjp(returned_too, X, M)
    before = y[1].copy()
    pullback((1.0, np.zeros((3, 2))))
    np.testing.assert_array_equal(y[1], before)
    assert value_and_grad(squares)(X, M)[0] == squares(X, M)


def test_a_difference_takes_the_memory_of_its_first_term() -> None:
    z, y = np.array([[0.4, -0.7], [1.2, 0.1], [0.0, 2.0]]), np.array([[0.3, 0.7], [1.0, 0.0], [0.5, 0.5]])
    text = source(entropy, wrt="z", like=(z, y))
    assert "    z_bar = e\n    z_bar *= " in text and "    z_bar -= " in text
    for function, wide in ((entropy, y), (seen_as, y), (entropies, np.stack((y, -y)))):
        check_grads(function, (z, wide), order=1)
        if function is not entropy:
            assert "_bar *= " not in source(function, wrt="z", like=(z, wide)), function.__name__
    (_, e), _ = value_and_grad(shares, has_aux=True)(z, y)
    np.testing.assert_array_equal(e, np.exp(z))


def test_what_a_maximum_was_given_becomes_its_adjoint() -> None:
    x, w = np.array([[0.4, -0.7], [1.2, 0.1]]), np.array([[0.3, -0.9], [0.5, 0.2]])
    for function, reused in ((layer, True), (capped, True), (compared_with_more, False), (read_before, False)):
        check_grads(function, (x, w), order=1)
        assert ("out=t)" in source(function, like=(x, w))) == reused, function.__name__
    check_grads(layer, (x.astype(np.float32), w.astype(np.float32)), order=1)
    check_grads(layer, (np.zeros((0, 2)), w), order=1)
    (_, t), _ = value_and_grad(layer_and_what_it_was_given, has_aux=True)(x, w)
    np.testing.assert_array_equal(t, np.matmul(x, w) + 0.3)
    tied = value_and_grad(layer)(np.array([[0.0, -0.6], [1.0, 1.0]]), np.array([[0.5, 1.0], [0.5, 0.0]]))[1]
    np.testing.assert_allclose(tied, [[0.6, 0.0], [3.9, 1.3]], rtol=1e-13)


def test_what_is_given_away_is_read_by_no_line_that_is_put_together_later() -> None:
    """A value read once was written into a line behind `m_bar *= e`, which had overwritten what it reads."""

    def saturated(x):
        m = x * 1.0
        u = m * np.tanh(np.log1p(np.abs(m)))
        return np.sum(u * u)

    x = np.cos(np.arange(12.0)).reshape(4, 3)
    check_grads(saturated, (x,), order=1)
    by_pullback = vjp(saturated, x)[1](1.0)[0]  # which gives nothing away
    np.testing.assert_allclose(grad(saturated)(x), by_pullback, rtol=1e-12)
    np.testing.assert_allclose(grad(saturated, like=(x,))(x), by_pullback, rtol=1e-12)


@pytest.mark.parametrize("function", [times_itself, times_its_half, squares, layer, capped, in_a_loop, read_later])
def test_a_gradient_is_what_a_pullback_gives(function: Callable[..., Any]) -> None:
    """`t_bar = t_bar * h + e` was written `t_bar = h`, `t_bar *= t_bar`: what it read was overwritten by then."""
    x = np.array([[0.4, -0.7], [1.2, 0.1]]) if function in (times_itself, times_its_half, layer, capped) else X
    w = x[:, 0] if function in (times_itself, times_its_half) else x.T if x.ndim == 2 else M
    check_grads(function, (x, w), order=1)
    by_pullback = vjp(function, x, w)[1](1.0)
    for like in (None, (x, w)):
        for found, wanted in zip(grad(function, (0, 1), like=like)(x, w), by_pullback, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
