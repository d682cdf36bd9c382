"""What a loop keeps on one list for several values: the same numbers as with a list for each."""

from __future__ import annotations

from typing import Any  # functions and arguments of several kinds

import numpy as np
import pytest

import srcgrad
from srcgrad import pipeline
from srcgrad.interface.check.check import check_grads


def chained(x, w, n):
    y = x * 0.5
    for i in range(n):
        t = np.sin(x * w)
        if i % 2:
            t = t * t
            y = y * t
        u = np.exp(t * 0.1) * y
        x, y = y * u, x + u * t
    return np.sum(x * y)


def nested(x, w, n):
    y = x + 1.0
    for i in range(n):
        u = np.cos(x * y)
        for _ in range(i):
            v = u * x
            x, u = np.sin(v * w), v * u
        y = y * u + x
    return np.sum(x * y)


def leaves_early(x, w, kept):
    y = x * w
    for i in range(kept):
        u, v = np.sin(x), np.cos(y)
        if i == 2:
            break
        if i == 1:
            x = x * v
            continue
        x, y = x * v + u, y * u
    return np.sum(x * y)


def until(x, w, n):
    y = w * x
    while n > 0:
        u = np.tanh(x * y)
        x, y = u * y, u + x * x
        n = n - 1
    return np.sum(x + y)


def filled(x, w, n):
    a = np.zeros(4)
    b = x[0] * w
    for i in range(n):
        c = np.sin(b * a[i])
        a[i] = c * b
        b = b * c + a[i] * x[1] + a[0]
    return np.sum(a * a) * b


def held_twice(x, w, n):
    h = x
    g = x * 1.0
    for _ in range(n):
        h, g = g, h * g * w
        g = g * np.exp(h)
    return np.sum(h * g)


def inner(x, y, w, n):
    for _ in range(n):
        x, y = np.sin(x * y), y * w * x
    return x, y


def calls(x, w, n):
    y = x * w
    for _ in range(n):
        p, q = inner(x, y, w, n)
        x, y = y * p, q + x * p
    return np.sum(x * y)


PROGRAMS = [chained, nested, leaves_early, until, filled, held_twice, calls]
X = np.array([0.4, -0.3])


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = {m: tuple(p for p in each if p.name != "tape_layout") for m, each in pipeline.MODES.items()}
    monkeypatch.setattr(pipeline, "MODES", modes)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_the_numbers_are_those_of_one_stack_each(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {n: srcgrad.grad(function, (0, 1))(X, 0.9, n) for n in range(4)}
    pulled = {n: srcgrad.vjp(function, X, 0.9, n)[1] for n in range(4)}
    text = srcgrad.source(function, wrt=(0, 1))
    without(monkeypatch)
    for n in range(4):
        expected = srcgrad.grad(function, (0, 1))(X, 0.9, n)
        for a, b in zip(found[n], expected, strict=True):
            np.testing.assert_array_equal(a, b)
        for _ in range(2):  # a pullback may be called again
            for a, b in zip(pulled[n](1.0), expected, strict=False):
                np.testing.assert_allclose(a, b, rtol=1e-13)
    assert text != srcgrad.source(function, wrt=(0, 1)), "something is kept together"


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_derivatives(function: Any, n: int) -> None:
    check_grads(function, (X, 0.9, n), wrt=(0, 1), order=2 if n < 3 else 1)


def moved_past(x, y, n):
    for _ in range(n):
        x = x * y
        y = np.sin(x) * y
    return np.sum(x * y)


def test_what_is_bound_in_between_is_kept_apart() -> None:
    text = srcgrad.source(moved_past, wrt=(0, 1))
    assert text.index("x_stack.append(x)") < text.index("x = x * y") < text.index("kept.append((y, sin_x))")
    assert text.index("y, sin_x = kept.pop()") < text.index("np.cos(x)") < text.index("x = x_stack.pop()")
    assert "Recorded: y, sin_x, each trip of the loop in line" in text
    check_grads(moved_past, (X, 0.9 * X, 3), wrt=(0, 1), order=2)


def one_after_another(x, n):
    for _ in range(n):
        x = np.tanh(x) * x
    for _ in range(n):
        x = np.sin(x) * 1.5
    for _ in range(n):
        x = np.tanh(x) + x
    return np.sum(x)


def test_names_that_are_free_again_are_taken() -> None:
    text = srcgrad.source(one_after_another)
    assert text.count("for _ in range(n):") == text.count("for _ in reversed(range(n)):") == 3
    assert "stack_" not in text and "x_stack.pop()" in text, text
    check_grads(one_after_another, (X, 2), order=2)
