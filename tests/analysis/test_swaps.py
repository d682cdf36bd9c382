"""Arrays that change places: their adjoints do, and what is known of these."""

from __future__ import annotations

from typing import Any  # functions of several kinds

import numpy as np
import pytest

from srcgrad.interface.check.check import check_grads

X = np.array([0.3, -0.2, 0.5, 0.4])


def one(s):
    if s is None:
        return 0.0
    return 1.0


def elements_read_in_a_loop_of_no_trips(x):
    a = np.tanh(x)
    a += one(a)
    b = a * x
    a, b = (b, a)
    k = 0
    while k:
        _p, _q = b[0]
    return np.sum(a)


def two_in_a_loop(x):
    a = np.tanh(x)
    b = a * x
    a[0] = 2.0 * x[1]
    b[1] += 1.0
    for i in range(3):
        a, b = b, a
        a[i] = b[i] * a[0]
    return np.sum(a)


def three_in_a_circle(x):
    a = np.tanh(x)
    b, c = a * x, np.sqrt(np.abs(x))
    a[0] = 2.0 * x[1]
    b[1] += 1.0
    c[0] *= 2.0
    a, b, c = b, c, a
    for i in range(3):
        a[i] = b[i] * c[0]
        a, c = c, a
    return np.sum(a * b)


def in_a_branch_under_a_mask(x):
    a = np.tanh(x)
    b = a * x
    a[0] += 1.0
    b[0] += 1.0
    if x[0] > 0:
        a, b = b, a
        a[1] = b[0]
    r = np.sqrt(b * b)
    return np.sum(a) + np.sum(np.where(x > 0.35, r, 0.0))


def roots_of_elements(x):
    a = np.tanh(x)
    b = np.ones(4) * 0.3
    a[0] += 1.0
    for i in range(4):
        if x[i] > 0.35:
            b[i] = np.sqrt(a[i] ** 2) * x[i]
            a, b = b, a
        else:
            a[i] *= 2.0
    return np.sum(np.where(x > 0.0, a, 0.0))


def there_and_back(x):
    u = x * 1.0
    v = x * x
    u[1:] += 1.0
    v[1:] *= 2.0
    u, v = v, u
    w = np.where(x > 0.35, 1.0 / u, 0.0)
    u, v = v, u
    z = np.where(x < 0.45, np.log(v), 0.0)
    return np.sum(w) + np.sum(z) * np.sum(u)


def test_derivatives_beside_a_loop_of_no_trips() -> None:
    check_grads(elements_read_in_a_loop_of_no_trips, (X,))


@pytest.mark.parametrize(
    "function", [two_in_a_loop, three_in_a_circle, in_a_branch_under_a_mask, roots_of_elements, there_and_back]
)
def test_derivatives(function: Any) -> None:
    check_grads(function, (X,), order=2)
