"""Adjoints of arrays that are read in parts: stored where the parts make up the whole, added where they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # arguments of arbitrary functions

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads


def halves(x, k):
    n = len(x)
    z = np.sin(x)
    m = n // 2
    return np.sum(z[:m]) * np.sum(z[m:] ** 2)


def thirds(x, k):
    n = x.shape[0]
    z = np.concatenate((x, x * x, np.sin(x)))
    return np.sum(z[:n] * z[n : 2 * n] * z[2 * n :])


def columns(x, k):
    a = np.outer(x, x) * 0.5
    _, m = a.shape
    return np.sum(a[:, : 2 * m]) + np.sum(a[:, 2 * m :]) + np.sum(np.exp(a[:, :1])) * np.sum(a[:, 1:] ** 2)


def overlapping(x, k):
    n = x.shape[0]
    z = np.concatenate((x, np.exp(x)))
    return np.sum(z[: 2 * n] ** 2) * np.sum(z[n:])


def with_a_gap(x, k):
    z = x * x
    return np.sum(np.sin(z[:1])) + np.sum(z[2:] ** 3)


def from_the_end(x, k):
    z = x * x
    return np.sum(np.sin(z[:-1])) * np.sum(z[-1:])


def by_a_parameter(x, k):
    z = x * x
    return np.sum(np.sin(z[:k])) * np.sum(z[k : 2 * k] ** 3) + np.sum(np.exp(z[2 * k :]))


def crossed(x, k):
    n = x.shape[0]
    z = np.concatenate((x, x * x))
    return np.sum(np.sin(z[:n])) + np.sum(z[n:2] ** 3) + np.sum(np.exp(z[2:]))


def along_two_axes(x, k):
    a = np.outer(x, x) * 0.5
    return np.sum(np.sin(a[:2])) * np.sum(np.exp(a[:, 2:]))


def longer_each_trip(x, k):
    h = x * x
    for _ in range(k):
        n = h.shape[0]
        g = np.concatenate((h, np.sin(h)))
        h = np.concatenate((g[n:] * g[:n], np.cos(g[:n])))
    return np.sum(h * h)


def nothing_first(x, k):
    z = x * x
    return np.sum(np.sin(z[:0])) + np.sum(np.exp(z[0:]))


def twice(x, k):
    z = x * x
    return np.sum(z[:2]) * np.sum(z[2:]) * np.sum(np.sin(z[:2])) * np.sum(z[2:] ** 2)


def in_a_loop(x, k):
    n = x.shape[0]
    h = np.concatenate((x, x))
    for _ in range(k):
        h = np.concatenate((np.tanh(h[n:]) * h[:n], np.cos(h[:n])))
    return np.sum(h * h)


def in_a_branch(x, k):
    n = x.shape[0]
    h = np.concatenate((x, x))
    if k > 0:  # noqa: SIM108
        s = np.sum(h[:n] ** 2)
    else:
        s = np.sum(h[:1])
    return s * np.sum(np.exp(h[n:]))


def bound_again(x, k):
    n = x.shape[0]
    z = np.concatenate((x, x * x))
    s = np.sum(np.sin(z[:n]))
    n = n - 1
    return s * np.sum(np.exp(z[n:]))


def read_by_a_view(x, k):
    n = x.shape[0]
    z = np.concatenate((x, x * x))
    v = z[:n]
    v[0] = x[0] ** 3
    return np.sum(z[:n] ** 2) + np.sum(np.exp(z[n:]))


def mean_of_parts(x, k):
    z = x * 2.0
    return np.mean(z[:2]) - np.mean(z[2:]) * 3.0


def gates(x, k):
    n = x.shape[0]
    z = np.concatenate((x, x * x, np.cos(x))) * 0.5
    return np.sum(np.exp(z[:n]) * np.tanh(z[n : 2 * n]) + np.exp(z[2 * n :]))


def gates_of_columns(x, k):
    z = np.outer(np.sin(x), x)
    return np.sum(np.exp(z[:, :2])) * np.sum(np.tanh(z[:, 2:]))


def gates_of_two_shapes(x, k):
    n = x.shape[0]
    z = np.concatenate((x, np.cos(x)))
    return np.sum(np.exp(z[:n]) * x[:, None]) + np.sum(np.tanh(z[n:])) ** 2


def gates_handed_on(x, k):
    n = x.shape[0]
    z = np.concatenate((x, np.cos(x)))
    a = z[:n] + x
    return np.sum(np.exp(a) * x + np.tanh(z[n:]) * a)


PROGRAMS = [
    gates,
    gates_of_columns,
    gates_of_two_shapes,
    gates_handed_on,
    halves,
    thirds,
    columns,
    overlapping,
    with_a_gap,
    from_the_end,
    by_a_parameter,
    crossed,
    along_two_axes,
    longer_each_trip,
    nothing_first,
    twice,
    in_a_loop,
    in_a_branch,
    bound_again,
    read_by_a_view,
    mean_of_parts,
]
TOGETHER = ("gates", "gates_of_columns", "gates_of_two_shapes")  # in a pullback, which need not keep z
STORED = (
    *TOGETHER,
    "gates_handed_on",
    "thirds",
    "columns",
    "nothing_first",
    "twice",
    "in_a_loop",
    "read_by_a_view",
    "mean_of_parts",
)


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_gradients_of_parts(function: Callable[..., Any], k: int) -> None:
    x = np.array([0.4, -0.7, 0.9, 0.2, 0.6])
    check_grads(function, (x, k), wrt="x", order=1)
    once = srcgrad.grad(function)(x, k)
    _, back = srcgrad.vjp(function, x, k)
    for _ in range(2):
        np.testing.assert_array_equal(back(1.0)[0], once)
    assert srcgrad.grad(function)(x.astype(np.float32), k).dtype == np.float32
    np.testing.assert_allclose(srcgrad.grad(function)(np.repeat(x, 2)[::2], k), once, rtol=1e-13)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_stored_is_what_makes_up_the_whole(function: Callable[..., Any]) -> None:
    assert ("empty_like(" in srcgrad.source(function)) == (function.__name__ in STORED), srcgrad.source(function)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_what_a_pullback_would_keep_for_its_shape_is_put_together(function: Callable[..., Any]) -> None:
    text = srcgrad.source(function, mode="vjp")
    assert ("_bar = np.concatenate(" in text) == (function.__name__ in TOGETHER), text


def test_second_derivatives() -> None:
    x = np.array([0.4, -0.7, 0.9])
    for function in (thirds, columns, in_a_loop):
        check_grads(function, (x, 2), wrt="x", order=2)


def test_a_text_called_with_integers_does_not_cut_its_gradient_off() -> None:
    def parts(x):
        z = x.copy()
        return np.sum(np.sin(z[:1])) + np.sum(z[1:] ** 2)

    scope: dict[str, Any] = {}
    exec(srcgrad.source(parts), scope)
    text = scope["parts_grad"]
    whole = np.array([1, 2, 3])
    np.testing.assert_allclose(text(whole), [np.cos(1.0), 4.0, 6.0])
