"""Tangents of new values keep their elements when the arrays that they were made from change."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

X = np.array([0.7, -0.4, 1.1])


def shifted(x):
    m = x * 2.0
    t = m - 3.0
    m[1] = x[0]
    return np.sum(t**3) + np.sum(np.sin(m))


def unchanged(x):
    m = x * 2.0
    t = +m
    m[1] = x[0]
    return np.sum(t**3 * m)


def widened(x):
    m = x * 2.0
    t = m + np.zeros((2, 3))
    m[1] = x[0]
    return np.sum(t**3) + np.sum(np.sin(m))


def appended(x):
    m = x * 2.0
    found = []
    found.append(m - 3.0)
    m[1] = x[0]
    return np.sum(found[0] ** 3) + np.sum(np.sin(m))


def paired(x):
    m = x * 2.0
    p = (m - 3.0, 2.0)
    m[1] = x[0]
    return np.sum(p[0] ** 3) + np.sum(np.sin(m))


def in_a_loop(x):
    m = x * 2.0
    s = 0.0
    for i in range(3):
        t = m - 1.0
        m[i] = np.sum(t**2)
        s = s + np.sum(t * m)
    return s


def returned(x):
    m = x * 2.0
    t = m - 3.0
    m[1] = x[0]
    return t, m


def part(x):
    m = x * 2.0
    t = m[1:] - 3.0
    m[1] = x[0]
    return np.sum(t**3) + np.sum(m**2)


def named_part(x):
    m = x * 2.0
    v = m[1:]
    t = v - 3.0
    m[1] = x[0]
    return np.sum(t**3) + np.sum(m**2)


def turned(x):
    m = np.outer(x, x)
    t = m.T - 1.0
    m[1] = x[0]
    return np.sum(t**3) + np.sum(m**2)


def real_part(x):
    m = x + 1j * x
    t = m.real - 3.0
    m[1] = x[0] * 2j
    return np.sum(t**3) + np.sum(np.abs(m) ** 2)


def norm_of_shifted(x):
    m = x * 2.0
    s = np.linalg.norm(m - 3.0)
    m[1] = x[0]
    return s + np.sum(np.sin(m))


PROGRAMS = [
    shifted, unchanged, widened, paired, in_a_loop, returned, part, named_part, turned, real_part, norm_of_shifted,
]  # fmt: skip


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program is not paired])
def test_both_orders(program):
    srcgrad.check_grads(program, (X,), order=2)


def test_a_pair():
    """The reverse derivative of its tangent is refused: a tangent changes that a tuple was given."""
    srcgrad.check_grads(paired, (X,), order=1)
    srcgrad.check_grads(srcgrad.grad(paired), (X,), order=1)
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.check_grads(paired, (X,), order=2)


def test_in_a_list():
    srcgrad.check_grads(appended, (X,), order=1)


def test_no_copy_where_nothing_changes_before_the_last_reader():
    def summed(x):
        m = x * 2.0
        s = np.sum((m - 3.0) * x)
        m[1] = x[0]
        return s * np.sum(m)

    srcgrad.check_grads(summed, (X,), order=2)
    assert "np.array" not in srcgrad.source(summed, mode="forward")
