"""A trip keeps `a - b`, and neither a nor b, where nothing else reads these; what is kept and taken off is paired."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from benchmarks.texts import records

X = np.array([0.3, 1.4])


def in_branches(x, k, n):
    s = 0.0
    for i in range(n):
        a = np.sin(x)
        b = np.cos(x * k)
        if i % 2 == 0:
            s = s + k * (np.exp(a) - b)
            x = x + 0.1 * np.sum(s)
        else:
            x = x * (np.sin(a) - np.cos(x))
    return np.sum(s * x)


def until_it_is_small(x, k, n):
    for i in range(n):
        for _ in range(i):
            x = k * (np.sin(x) + np.sinh(0.1 * x)) - x
        while np.sum(x) > 3.0:
            x = x * (0.5 + 0.4 * (np.sin(x) - np.cos(k)))
    return np.sum(x * x)


def left_early(x, k, n):
    for _ in range(n):
        x = k * (np.sin(x) + np.cos(x)) - x
        if np.sum(x) > 2.0:
            break
        x = x * (np.cos(x) - np.sinh(0.1 * x))
    return np.sum(x * x)


def both_are_read(x, k, n):
    for _ in range(n):
        a = np.sin(x)
        b = np.cos(x)
        x = x + k * (a - b) * a * b
    return np.sum(x)


def of_other_shapes(x, k, n):
    for _ in range(n):
        x = x * k * (np.diff(x) - np.diff(x * x))
    return np.sum(x)


def on_a_grid(x, k, n):
    a = np.zeros(5)
    for _ in range(n):
        a[1:-1] += k * (np.diff(a[1:]) - np.diff(a[:-1]))
        a[0] += x[0] * x[1]
    return np.sum(a * a)


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (in_branches, 8),
        (until_it_is_small, 9),
        (left_early, 5),
        (both_are_read, 3),
        (of_other_shapes, 3),
        (on_a_grid, 1),
    ],
)
def test_derivatives_and_what_is_kept(function: Any, kept: int) -> None:
    srcgrad.check_grads(function, (X, 1.7, 4), wrt=(0, 1), order=1)
    assert records(srcgrad.source(function, wrt=("x", "k"))) == kept
