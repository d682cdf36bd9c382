"""Which records a loop keeps for their shapes alone, where shapes differ from trip to trip and where they do not."""

from __future__ import annotations

from typing import Any  # functions of arbitrary arguments

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads


def momentum(w, x, y, rate, n):
    v = np.zeros_like(w)
    for _ in range(n):
        v = 0.9 * v - rate * (x.T @ (np.tanh(x @ w) - y))
        w = w + v
    return np.sum(w * w)


def adam(w, x, y, rate: float, n):
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for _ in range(n):
        g = x.T @ (x @ w - y)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        w = w - rate * m / (np.sqrt(v) + 0.1)
    return np.sum(w * w)


def two_rates(w, c, d, n):
    """Both begin with the shape of w; c makes u larger than v."""
    u = 1.0 * w
    v = 1.0 * w
    for _ in range(n):
        u = np.tanh(u + c)
        v = np.tanh(v * d) + 0.1 * np.sum(u)
    return np.sum(u * u) + np.sum(v * v)


def one_behind(w, c, n):
    """Old has the shape that w had a trip before."""
    old = 1.0 * w
    for _ in range(n):
        new = 0.5 * w + 0.1 * old + c
        old = w
        w = new
    return np.sum(np.sin(w)) + np.sum(old * old)


def in_turn(u, v, c, n):
    for _ in range(n):
        u, v = v + c, u * 0.5
    return np.sum(u * u) + np.sum(np.sin(v))


def two_shapes(a, b, c, n):
    """Of b and v, whose shapes alone are kept, one is enough; neither stands in for the other in turn."""
    v = np.ones_like(c)
    for _ in range(n):
        b = v
        v = 0.7 * v + 0.15 * a
        a = 0.7 * a + 0.3 * (b / 1.7 + a - v * b)
        v = 0.7 * v + 0.3 * np.sin(b)
    return np.sum(np.sin(a)) + np.sum(np.sin(b)) + np.sum(np.sin(v))


NORMAL = np.random.default_rng(3).standard_normal
X = NORMAL((5, 3))
CASES = [
    (momentum, (NORMAL(3), X, NORMAL(5), 0.1), 4),
    (momentum, (NORMAL(3), X, NORMAL((1,)), 0.1), 4),
    (adam, (NORMAL(3), X, NORMAL(5), 0.1), 4),
    (adam, (NORMAL(3), X, NORMAL((1,)), 0.1), 4),
    (two_rates, (NORMAL(3), NORMAL((2, 1)), NORMAL(3)), 3),
    (two_rates, (NORMAL(3), NORMAL(3), NORMAL((2, 1))), 3),
    (one_behind, (NORMAL(3), NORMAL((2, 1))), 3),
    (two_shapes, (NORMAL(3), NORMAL((2, 1)), NORMAL(3)), 3),
    (in_turn, (NORMAL(3), NORMAL((2, 1)), NORMAL((4, 1, 1))), 3),
]


@pytest.mark.parametrize(("function", "arguments", "n"), CASES)
@pytest.mark.parametrize("trips", [0, 1, None])
def test_gradients(function: Any, arguments: tuple[Any, ...], n: int, trips: int | None) -> None:
    wrt = tuple(range(len(arguments)))
    check_grads(function, (*arguments, n if trips is None else trips), order=2, wrt=wrt, modes=("reverse",))


@pytest.mark.parametrize(
    ("function", "wrt", "kept"),
    [(momentum, ("w", "x", "y", "rate"), "(w, t1, t2)"), (adam, ("w", "x", "y"), "(w, xw, g, sqrt_v)")],
)
def test_records(function: Any, wrt: tuple[str, ...], kept: str) -> None:
    assert f"kept.append({kept})" in srcgrad.source(function, wrt=wrt)


def narrower(a, b, w, c):
    return np.sum((a[:, None] + w * b) * c)


def narrower_twice(a, b, w, c):
    t = a[:, None] + w * b
    return np.sum(t[:, :1] * c) + np.sum(t * c * w)


@pytest.mark.parametrize("function", [narrower, narrower_twice])
@pytest.mark.parametrize("wrt", [("a",), ("b",), ("a", "b", "w"), ("a", "b", "w", "c")])
def test_adjoints_that_are_narrower_than_sums(function: Any, wrt: tuple[str, ...]) -> None:
    """`(y_bar * c)` has one column, and the sum that it belongs to four: it is stretched before it is added up."""
    arguments = (
        np.array([0.7, 1.3, 0.4, 0.9]),
        np.array([0.3, -0.5, 0.8, 1.1]),
        0.6,
        np.array([[0.5], [1.5], [-0.7], [0.2]]),
    )
    one = wrt if len(wrt) > 1 else wrt[0]
    check_grads(function, arguments, wrt=one, order=1)
    scope: dict[str, Any] = {}
    exec(srcgrad.source(function, wrt=one), scope)
    found, right = scope[f"{function.__name__}_grad"](*arguments), srcgrad.grad(function, wrt=one)(*arguments)
    pairs = zip(found, right, strict=True) if len(wrt) > 1 else [(found, right)]
    assert all(np.allclose(x, y) for x, y in pairs)
