"""Loops that are left early and read their counter: compiled, they give what the NumPy text gives."""

import numpy as np
import pytest

import srcgrad

pytest.importorskip("numba")
OPTIONS = ({}, {"target": "numba"})
X = np.random.default_rng(0).random(7) + 0.3


def with_break(x, a, n):
    s = 0.0
    for i in range(n):
        s = s + a * x[i] * x[i] * i
        if s > 1.5:
            break
    return s


def with_return(x, a, n):
    s = 0.1
    for i in range(1, n):
        s = s + a * x[i] * s + x[i - 1] * i
        if s > 2.0:
            return s * s
    return s


def downwards(x, a, n):
    s = 0.0
    for i in range(n - 1, -1, -1):
        s = s * a + np.sin(x[i]) * x[i - 1]
        if s > 1.0:
            break
    return s * s


def in_steps(x, a, n):
    s = 0.0
    for i in range(1, n, 2):
        if s > 1.2:
            break
        s = s + a * x[i] ** 3
    return s


def bound_anew(x, a, n):
    """The names of the range are bound anew in the loop, and in the trips of the outer one."""
    s, first, step = 0.0, 0, 1
    for k in range(3):
        for i in range(first, n, step):
            first = k
            step = k + 1
            s = s + a * x[i] * x[k] + s * x[i]
            if s > 4.0 + k:
                break
    return s


def argument_anew(x, a, n):
    s = 0.0
    for i in range(n - 5, 7):
        n = n - 1
        s = s + a * x[i] * x[n % 7]
        if s > 1.0:
            return s * x[i]
    return s


def over_rows(x, a, n):
    s = 0.0
    u = x * a
    for i in range(n - 1):
        for j in range(i, n):
            if x[j] > 1.0:
                break
            s += u[i] * u[j]
    return s


PROGRAMS = (with_break, with_return, downwards, in_steps, bound_anew, argument_anew, over_rows)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("n", [7, 5, 1])
def test_counters_of_loops_that_are_left_early(function, n):
    args, wrt, tangents = (X, 0.9, n), ("x", "a"), (X[::-1].copy(), 0.7)
    plain, compiled = (srcgrad.grad(function, wrt=wrt, **options) for options in OPTIONS)
    for expected, actual in zip(plain(*args), compiled(*args), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)
    step = 1e-6
    ahead, behind = (function(X + h * tangents[0], 0.9 + h * tangents[1], n) for h in (step, -step))
    along = np.dot(compiled(*args)[0], tangents[0]) + compiled(*args)[1] * tangents[1]
    assert along == pytest.approx((ahead - behind) / (2.0 * step), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_their_tangents_and_second_derivatives(function):
    tangent = X[::-1].copy()
    along = [srcgrad.jvp(function, (X, 0.9, 7), (tangent, 0.7, None), **options)[1] for options in OPTIONS]
    assert along[1] == pytest.approx(along[0], rel=1e-12)
    second = [srcgrad.hvp(function, **options)(X, 0.9, 7, tangent) for options in OPTIONS]
    np.testing.assert_allclose(second[1], second[0], rtol=1e-11, atol=1e-13)


def test_a_counter_is_spelled_by_its_place():
    found = srcgrad.source(with_break, target="numba")
    assert "        i = place\n" in found
    assert "        i = 1 + place\n" in srcgrad.source(with_return, target="numba")
    assert "        i = n - 1 - place\n" in srcgrad.source(downwards, target="numba")
    assert "        i = 1 + place * 2\n" in srcgrad.source(in_steps, target="numba")
    assert "i = trips.start + place * trips.step\n" in srcgrad.source(bound_anew, target="numba")
    assert "i = trips[place]\n" in srcgrad.source(with_break)
