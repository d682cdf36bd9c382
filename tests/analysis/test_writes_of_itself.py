"""An array that is written into itself is read as it was before: `a[::-1] = a`."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

X = np.array([0.7, -0.4, 1.1, 0.3, 1.9])
WEIGHTS = np.arange(5.0)


def turned(x):
    y = x * 2.0
    y[::-1] = y
    return y * x * WEIGHTS


def stored_again(x):
    y = x * 2.0
    y[:] = y
    return y * x * WEIGHTS


def permuted(x):
    y = x * 2.0
    y[[4, 2, 3, 1, 0]] = y
    return y * x * WEIGHTS


def put(x):
    y = x * 2.0
    np.put(y, [4, 2, 3, 1, 0], y)
    return y * x * WEIGHTS


def moved(x):
    y = x * 2.0
    y[1:] = y[:-1]
    return y * x * WEIGHTS


def transposed(x):
    y = np.outer(x, x * x)
    y[:] = y.T
    return y * x * WEIGHTS


def in_a_loop(x):
    y = x * 2.0
    for _ in range(2):
        y[::-1] = y
        y[0] = y[1] * y[2]
    return y * x * WEIGHTS


def added(x):
    y = x * 2.0
    y[::-1] += y
    return y * x * WEIGHTS


def in_rows(x):
    y = x.copy()
    rows = np.zeros((3, 5))
    for k in range(1):
        rows[k] = x * y
        rows[k, 2] = y[1] * y[0]
    return np.sum(rows * rows)


PROGRAMS = [turned, stored_again, permuted, put, moved, transposed, in_a_loop, added, in_rows]


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_orders(program):
    srcgrad.check_grads(program, (X,), order=2)
