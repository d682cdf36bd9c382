"""Second derivatives where a branch binds what is read in the branch only: its adjoint has its shape there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # programs of any shape

import numpy as np
import pytest
import scipy.linalg

from srcgrad import check_grads
from srcgrad.interface.check.check import MODES

BASE = np.diag([1.0, 2.0, 4.0])
X = np.array([0.3, 0.5, 0.9])


def read_in_one_branch_more(a, c):
    if c > 1.0:
        b = a * c
        s = 0.0
        if c > 1.2:
            s = np.sum(b**3)
        s = s + a[0] ** 2
    else:
        s = np.sum(a**2)
    return s


def written_in_a_loop_in_a_branch(a, c):
    s = 0.0
    if c > 1.0:
        b = a * c
        for i in range(3):
            b[i] = b[i - 1] * a[i] + c
            if c > 1.2:
                s = s + b[i] ** 2
        s = s + np.sum(b**3)
    return s + np.sum(a)


def bound_in_trips(a, c):
    s = 0.0
    for i in range(3):
        if i > 0:
            b = a * c * i
            b[i] = b[i - 1] ** 2
            s = s + np.sum(b**2) + b[0] * b[1]
        s = s * 1.1
    return s


def bound_on_both_sides_in_trips(a, c):
    s = 0.0
    for i in range(3):
        if a[i] > 0.4:
            b = a * c
            q = b.copy()
            for j in range(2):
                q[j] = q[j + 1] * b[j]
            if c > 1:
                s = s + q[0] * b[1] * b[2]
            else:
                s = np.sum(q) * b[0]
                s = s + q[1] ** 3
        else:
            b = a + c
            s = s * b[1] + b[0] ** 3
    return s


def containers_in_branches(a, c):
    if c > 1.0:
        p = (a * c, a**2)
        s = np.sum(p[0] * p[1])
    else:
        p = {"u": a**3, "v": np.sum(a) * c}
        s = np.sum(p["u"] * p["v"])
    return s


def bound_in_trips_of_a_while(a, c):
    k = 0
    s = 0.0
    while k < 3:
        if k == 1:
            u = np.zeros(3)
            u[1:] = a[:2] * c
            u[0] = s
            m = u * u
        else:
            m = a * s + 1.0
        s = s + m[0] * m[1]
        k += 1
    return s


def cumulated(a, c):
    return np.sum(np.cumprod(a * c)) if c > 1 else np.cumprod(a)[2] ** 2


def results_of_operations(a, c):
    if c > 1.0:
        u, s, _ = np.linalg.svd(BASE + np.outer(a, a))
        r = s[0] * u[0, 0] ** 2
    else:
        q, t = np.linalg.qr(BASE + np.outer(a, a))
        r = t[0, 1] * q[0, 0]
    return r


def results_of_both_branches(a, c):
    m = BASE + np.outer(a, a)
    return np.linalg.svd(m).S[0] if c > 1.0 else np.linalg.svd(m).U[0, 0] ** 2


def written_in_both_branches(a, c):
    if c > 1.0:
        b = a * c
        b[0] = b[1] * c
        s = np.sum(b**3)
    else:
        b = a * c
        b[1] = b[0] * c
        s = np.sum(b**2)
    return s


def parts_change_on_one_side(a, c):
    if c > 1.0:
        y = a * c
    else:
        h = np.tanh(a * c)
        h[0] = h[1] * c
        y = np.sin(h + a)
    return np.sum(y**2)


def factor_in_trips(a, c):
    m = np.outer(a, a)
    for _ in range(2):
        h = scipy.linalg.cho_factor(BASE + 0.1 * (m + m.T))
        a = scipy.linalg.cho_solve(h, a)
    return np.sum(a) * c


PROGRAMS = [
    parts_change_on_one_side,
    factor_in_trips,
    read_in_one_branch_more,
    written_in_a_loop_in_a_branch,
    bound_in_trips,
    bound_on_both_sides_in_trips,
    containers_in_branches,
    bound_in_trips_of_a_while,
    cumulated,
    results_of_operations,
    results_of_both_branches,
    written_in_both_branches,
]


@pytest.mark.parametrize("c", [0.8, 1.1, 1.3])
@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives_of_what_a_branch_binds(program: Callable[..., Any], c: float) -> None:
    check_grads(program, (X, c), order=2, directions=1, modes=MODES if c == 0.8 else ("reverse",))


def returned_in_a_loop(x, c, n):
    idx = np.array([0, 2, 1])
    a = np.zeros_like(x)
    for _ in [c, x[0]]:
        if n > 1:
            return a + x
    for k in range(n - 1):
        c = np.tanh(c and a[k]) + 0.2
        a = np.sort(a * 1.1)
    a[1:3] = (x[1], x[0] * c + (x[1] + a[-1]))
    a[idx] = np.sin(a[-1] + c)
    return a


@pytest.mark.parametrize("n", [0, 2])
def test_what_is_returned_late_is_a_number_until_then(n: int) -> None:
    check_grads(returned_in_a_loop, (np.array([0.9, -0.5, -0.6, 0.3]), 1.1, n), order=2, directions=1)
