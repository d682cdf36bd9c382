"""Parts of adjoints are cleared where something may read them again, and cleared once."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.templates.chains import calls, defined

X = np.array([0.4, -0.3, 0.8, 1.1])
AT = np.array([0, 2, 0])
M = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.4], [0.3, 0.1, 1.8]])


def chained(x, c):
    a = np.empty(len(x))
    a[0] = x[0]
    for t in range(1, len(x)):
        a[t] = np.sin(a[t - 1]) * x[t] + c
    return np.sum(a**2)


def downward(x, c):
    n = len(x)
    a = np.zeros(n)
    for t in range(n - 2, -1, -1):
        a[t] = np.sin(a[t + 1]) * x[t] + c
    return np.sum(a**2)


def over_table(x, c):
    a = np.empty((3, 4))
    for i in range(3):
        for j in range(4):
            a[i, j] = np.sin(x[j]) * x[i] + c
    return np.sum(a**2)


def ahead(x, c):
    a = x.copy()
    for t in range(len(x) - 1):
        a[t] = np.sin(a[t + 1]) * c
    return np.sum(a**2)


def around(x, c):
    a = x.copy()
    for t in range(len(x)):
        a[t] = np.sin(a[t - 1]) * c
    return np.sum(a**2)


def swept(x, c):
    a = x.copy()
    for _ in range(2):
        for t in range(1, len(x)):
            a[t] = np.sin(a[t - 1]) * x[t] + c
    return np.sum(a**2)


def twice(x, c):
    a = np.empty(len(x))
    for t in range(len(x)):
        a[t] = x[t] * c
        a[t] = np.sin(x[t]) + c
    return np.sum(a**2)


def begun(x, c):
    a = x * c
    for t in range(1, len(x)):
        a[t] = np.sin(a[t - 1]) * x[t]
    return np.sum(a**2)


def at_places(x, c):
    a = x * c
    for t in range(3):
        a[AT[t]] = np.sin(x[t]) * c
    return np.sum(a**2)


def looked_at(x, c):
    a = np.empty((3, 4))
    for t in range(3):
        a[t] = x * c
        row = a[t]
        a[t] = np.sin(x) * row[0]
    return np.sum(a**2)


@pytest.mark.parametrize("function", [chained, downward, over_table])
def test_spent(function) -> None:
    assert "a_bar[" in srcgrad.source(function, wrt=(0, 1))
    assert "] = 0.0" not in srcgrad.source(function, wrt=(0, 1))
    srcgrad.check_grads(function, (X, 0.7), 2, wrt=(0, 1))


@pytest.mark.parametrize("function", [ahead, around, swept, twice, begun, at_places])
def test_cleared(function) -> None:
    lines = srcgrad.source(function, wrt=(0, 1)).splitlines()
    assert any("a_bar[" in one and one.endswith("] = 0.0") for one in lines)
    srcgrad.check_grads(function, (X, 0.7), 2, wrt=(0, 1))


def test_views() -> None:
    srcgrad.check_grads(looked_at, (X, 0.7), 2, wrt=(0, 1))


def pinned(m, x):
    n = len(x) - 1
    a = m * x
    a[n, :] = 0.0
    a[n, n] = 1.0
    return np.linalg.det(a)


def masked(m, x):
    n = m[:, :] > 1.9
    a = np.stack([m * x, m, m * x**2])
    a[:, 0] = 0.0
    a[n, 0] = 1.0
    return np.sum(a**2)


@pytest.mark.parametrize(("function", "cleared"), [(pinned, 1), (masked, 2)])
def test_cleared_once(function, cleared: int) -> None:
    lines = srcgrad.source(function, wrt=(0, 1)).splitlines()
    assert sum("a_bar[" in one and one.endswith("] = 0.0") for one in lines) == cleared
    srcgrad.check_grads(function, (M, X[:3]), 2, wrt=(0, 1))


def written(n: int):
    """A function that writes n elements, each of which reads the one before."""
    lines = [f"a[{k}] = x * {k}.5 + a[{k - 1}]" for k in range(1, n)]
    body = "\n    ".join([f"a = np.zeros({n})", "a[0] = x", *lines, "return np.sum(a * a)"])
    return defined(f"def f(x):\n    {body}\n", {"np": np})


def test_the_work_for_writes_of_elements_grows_with_their_number() -> None:
    """Whether an element is read again was asked of each pair of them."""
    counts = [calls(written(n), (0.3,)) for n in (50, 100, 200)]
    assert counts[2] - counts[1] < 2.2 * (counts[1] - counts[0])
