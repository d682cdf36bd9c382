"""Arrays of literals that each trip of a loop makes alike: not recorded; recorded where trips make or change them."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

X = np.array([0.4, -0.3])
LEVELS = [0.5, 1.5]


def turned(x, w, n):
    for _ in range(n):
        x = x + w * (np.array([[0.0, 2.0], [-1.0, 0.0]]) @ x) ** 2
    return np.sum(x)


def of_argument(x, w, n):
    for _ in range(n):
        x = np.tanh(np.array([1.0, -n]) * x * w) + np.eye(2)[0]
    return np.sum(x)


def of_counter(x, w, n):
    for k in range(n):
        x = np.tanh(np.array([1.0, k]) * x * w)
    return np.sum(x)


def of_changed(x, w, n):
    c = 1.0
    for _ in range(n):
        x = np.tanh(np.array([1.0, c]) * x * w)
        c = 2.0 * c
    return np.sum(x)


def written_into(x, w, n):
    for k in range(n):
        m = np.array([1.0, 2.0])
        m[0] = k + 1.0
        x = np.tanh(m * x * w)
    return np.sum(x)


def written_in_place(x, w, n):
    for k in range(n):
        m = np.ones(2)
        m *= k + 1.0
        x = np.tanh(m * x * w)
    return np.sum(x)


def of_module(x, w, n):
    for _ in range(n):
        x = np.tanh(np.array(LEVELS) * x * w)
    return np.sum(x)


@pytest.mark.parametrize(("function", "kept"), [(turned, "(x, t2, t3)"), (of_argument, "(x, t2)")])
def test_not_recorded(function, kept: str) -> None:
    assert f".append({kept})" in srcgrad.source(function, wrt=(0, 1))
    srcgrad.check_grads(function, (X, 0.7, 3), 2, wrt=(0, 1))
    srcgrad.check_grads(function, (X, 0.7, 0), 1, wrt=(0, 1))


MADE = [(of_counter, "t1"), (of_changed, "t1"), (of_module, "t1"), (written_into, "m"), (written_in_place, "m_1")]


@pytest.mark.parametrize(("function", "made"), MADE)
def test_recorded(function, made: str) -> None:
    assert f".append((x, {made}))" in srcgrad.source(function, wrt=(0, 1))
    srcgrad.check_grads(function, (X, 0.7, 3), 2, wrt=(0, 1))
