"""What stands in an array needs no record; what is overwritten, or may be, does: both with right gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad, value_and_grad


def recurrence(x, w):
    h = np.zeros(x.shape[0] + 1)
    for t in range(x.shape[0]):
        h[t + 1] = np.tanh(w * h[t] + x[t])
    return np.sum(h)


def backwards(x, w):
    n = x.shape[0]
    h = np.zeros(n + 1)
    for t in range(n - 1, -1, -1):
        h[t] = np.tanh(w * h[t + 1] + x[t])
    return np.sum(h * h)


def cholesky(x, w):
    a = np.outer(x, x) + 4.0 * w * np.eye(len(x))
    for j in range(a.shape[0]):
        a[j, j] = np.sqrt(a[j, j] - np.dot(a[j, :j], a[j, :j]))
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    return np.sum(np.log(np.diag(a)))


def right_looking(x, w):
    a = np.outer(x, x) + 4.0 * w * np.eye(5)
    for j in range(5):
        a[j, j] = np.sqrt(a[j, j])
        a[j + 1 :, j] /= a[j, j]
        for k in range(j + 1, 5):
            a[k:, k] -= a[k:, j] * a[k, j]
    return np.sum(np.log(np.diag(a)))


def table(x, w):
    d = np.zeros((6, 6))
    for i in range(5):
        for j in range(5):
            d[i + 1, j + 1] = np.sin(w * d[i, j]) + x[i] * d[i + 1, j] + x[j]
    return d[5, 5]


def substitution(x, w):
    y = np.zeros(5)
    for i in range(5):
        y[i] = (x[i] - np.dot(y[:i], x[:i])) / (w + x[i] * x[i])
    return np.sum(y * y)


FREE = [recurrence, backwards, cholesky, right_looking, table, substitution]


def in_turns(x, w):
    h = np.zeros(2)
    for t in range(5):
        h[t % 2] = np.tanh(w * h[(t + 1) % 2] + x[t])
    return np.sum(h)


def same_place(x, w):
    h = np.ones(5)
    for t in range(4):
        h[t] = np.tanh(h[t + 1] * x[t])
        h[t + 1] = np.sin(h[t] * w)
    return np.sum(h)


def read_ahead(x, w):
    h = x * 1.0
    for t in range(4):
        h[t] = np.tanh(h[t + 1] * h[t + 1] * w)
        h[t + 1] = h[t] * h[t]
    return np.sum(h)


def from_the_end(x, w):
    h = x * 1.0
    for t in range(4):
        h[t - 1] = np.tanh(h[t] * w + h[t - 1])
    return np.sum(h * h)


def descending(x, w):
    h = x * 1.0
    for t in range(3, -1, -1):
        h[t + 1] = np.tanh(h[t] * w)
    return np.sum(h * h)


def twice(x, w):
    h = x * 1.0
    for k in range(2):
        for t in range(4):
            h[t + 1] = np.tanh(h[t] * w + k)
    return np.sum(h)


def later_loop(x, w):
    h = np.zeros(6)
    for t in range(5):
        h[t + 1] = np.tanh(w * h[t] + x[t])
    for t in range(5):
        h[t] = np.sin(h[t + 1] * x[t])
    return np.sum(h * h)


def left_early(x, w):
    h = x * 1.0
    for t in range(4):
        s = np.tanh(h[t] * w)
        if s > 0.45:
            break
        h[t + 1] = s
    return np.sum(h * h)


def step_of_a_slice(x, w):
    h = x * 1.0
    for t in range(1, 4):
        h[t:] = np.tanh(h[t - 1 : -1] * w)
        h[t - 1] = h[t] * h[4]
    return np.sum(h * h)


def stretched(x, w):
    a = np.outer(x, x)
    for t in range(5):
        u = np.tanh(a[0, :1] * w)
        a[t, :] = u
    return np.sum(a * a) + np.sum(a[3])


def other_name_of_the_counter(x, w):
    h = x * 1.0
    for t in range(4):
        h[t] = np.tanh(h[t] * w)
        for k in range(t, 4):
            h[k] = h[k] * h[t] * w
    return np.sum(h * h)


def last_one(x, w):
    h = x * 1.0
    s = 0.0
    for t in range(5):
        s = s + h[4] * h[4] * w
        h[t] = np.tanh(h[t] * w)
    return np.sum(h * h) + s


def round_the_end(x, w):
    h = x * 1.0
    s = 0.0
    for t in range(4):
        s = s + h[4] * h[4] * w
        h[t - 1] = np.tanh(h[t] * w)
    return np.sum(h * h) + s


def rewritten(x, w):
    a = np.zeros(5)
    s = 0.0
    for i in range(5):
        for j in range(2):
            u = np.tanh(x[i] * w + j * s)
            a[i] = u
            s = s + u * u
    return np.sum(a * a) + s


KEPT = [
    last_one,
    round_the_end,
    rewritten,
    in_turns,
    same_place,
    read_ahead,
    from_the_end,
    descending,
    twice,
    later_loop,
    left_early,
    step_of_a_slice,
    stretched,
    other_name_of_the_counter,
]
X, W = np.array([0.3, -0.5, 0.8, 0.6, -0.4]), 0.7


@pytest.mark.parametrize("function", FREE, ids=lambda f: f.__name__)
def test_nothing_is_recorded(function: Callable[..., Any]) -> None:
    derived = value_and_grad(function, wrt=(0, 1))
    derived(X, W)
    assert "Recorded: nothing." in derived.source
    check_grads(function, (X, W), 2)


@pytest.mark.parametrize("function", KEPT, ids=lambda f: f.__name__)
def test_what_is_overwritten_is_kept(function: Callable[..., Any]) -> None:
    derived = value_and_grad(function, wrt=(0, 1))
    derived(X, W)
    assert "_stack" in derived.source
    check_grads(function, (X, W), 2)


def test_two_equal_updates_are_one() -> None:
    derived = value_and_grad(cholesky)
    derived(X, W)
    assert "2.0 * " in derived.source and ".copy() /" not in derived.source


def test_a_sum_of_products_of_vectors_is_a_dot_product() -> None:
    derived = value_and_grad(lambda x, w: np.sum(np.sin(x * w)), wrt=1)
    derived(X, W)
    assert "np.cos(xw) @ x" in derived.source and "sum_to" not in derived.source
    assert isinstance(derived(X[::-2].astype("float32"), W)[1], float)


def test_an_adjoint_that_add_at_changes_is_derived_again() -> None:
    def f(x, i):
        m = np.zeros((3, 3))
        g = np.ones(3)
        g[0] = x[i]
        return np.sum(m * x) + np.sum(g * x)

    check_grads(f, (np.arange(3.0) + 0.5, 1), 2)


def diffusion(u, a):
    for _ in range(3):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + a * (u[:-2, 1:-1] + u[2:, 1:-1] - 2.0 * u[1:-1, 1:-1])
    return np.sum(u * u)


def test_an_argument_that_is_written_into_keeps_its_shape() -> None:
    u = np.random.default_rng(5).standard_normal((5, 4))
    check_grads(diffusion, (u, 0.1))
    derivative = grad(diffusion)
    derivative(u, 0.1)  # a number scales the parts, which have one shape: the step is linear in u
    assert "Recorded: nothing." in derivative.source and "sum_to" not in derivative.source
    found = derivative(u, np.full((3, 2), 0.1))
    np.testing.assert_allclose(found, derivative(u, 0.1))
