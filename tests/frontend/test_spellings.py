"""Spellings of lists, dicts, generators and nested functions that come to the same as plainer ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad


def repeated(x):
    y = [x[0], x[1] ** 2] * 2
    return y[0] * y[3] + y[2]


def repeated_and_added(x):
    y = [0.0] * 2
    y += [x[0]] * 2
    return sum(y) * len(y)


def repeated_in_a_call(x):
    return np.sum(np.array([x[0], x[1] * 2.0] * 2) * np.arange(4.0))


def repeated_by_name(x):
    return np.sum(np.stack(arrays=[x[0], x[1] * x[2]] * 2) * np.arange(4.0))


def repeated_array_that_changes(x):
    a = x * 2.0
    y = 3 * [a]
    a *= x
    return np.sum(y[0] * y[2])


def gone_through_repeated(x):
    for z in [x[0], x[1]] * 2:
        x = x * z
    return np.sum(x)


def generators_in_zip(x):
    s = 0.0
    for a, b in zip((z * z for z in x), (z + 1.0 for z in x if z > 0.0), strict=False):
        s += a * b
    return s


def a_generator_counted(x):
    s = 0.0
    for k, a in enumerate(z * z for z in x):
        s += a * k
    return s


def put_by_default(x):
    d = {"b": x[2]}
    v = d.setdefault("a", x[0] * x[1])
    w = d.setdefault("a", x[2])
    d.setdefault("b", x[0])
    return v * w * d["a"] * d["b"]


def _by_default(d, x):
    v = d.setdefault("a", x[0])
    return v * x[1]


def put_by_default_in_a_helper(x):
    d = {}
    r = _by_default(d, x)
    return r * d["a"]


def in_order(x):
    y = [x[0], x[1], x[2]]
    y.sort()
    return y[0] + y[1] * y[2]


def in_order_backwards(x):
    y = [x[0], x[1], x[2]]
    y.sort(reverse=True)
    return y[0] + y[1] * y[2] ** 2


def _least(y):
    y.sort()
    return y[0]


def in_order_by_a_helper(x):
    y = [x[0], x[1], x[2]]
    m = _least(y)
    return m * y[2] + y[1]


def functions_of_two_loops(x):
    s = 0.0
    for i in range(3):

        def g(t):
            return t * i  # noqa: B023

        s += g(x[0])
    for i in range(3):

        def g(t):
            return t * t * i  # noqa: B023

        s += g(x[1])
    return s


def functions_of_two_branches(x):
    if x[0] > 0.0:

        def g(t):
            return t * x[1]

        y = g(x[0])
    else:

        def g(t):
            return t * t

        y = g(x[2])
    return y


def a_function_bound_anew(x):
    def g(t):
        return t * x[0]

    a = g(x[1])

    def g(t):
        return t * t * x[2]

    return g(a) + g(x[0])


def a_list_in_place_of_none(x, w=None):
    if w is None:
        w = [1.0, 0.5, 2.0]
    return np.sum(w * x * x)


def a_list_where_none_was(x):
    w = None
    if w is not None:  # noqa: SIM108
        w = 2.0
    else:
        w = [1.0, 0.5, 2.0]
    return np.sum(w * x * x)


def generators_behind_and_or(x):
    s = 0.0
    for i in range(3):
        steep = i and any(v > s for v in x) and all(v < 9.0 for v in x)
        z = x[i] > 9.0 or sum(v * v for v in x)
        if steep:
            s = s + z * x[i]
    return x[1] and s + sum(v * x[2] for v in x)


def several_made_arrays(x):
    a, b = np.atleast_1d(x[0] * 2.0, x)
    a[0] = a[0] * x[1]
    return np.sum(a * b * np.atleast_2d(x, 2.0)[0])


def made_where_none_is_given(x, out=None, work=None):
    if out is None:
        out = [0.0] * 3
    if work is None:
        work = x  # the argument itself: what is written into it is seen below, and not by the caller
    for i in range(3):
        work[i] = x[i] ** 2
        out[i] = work[i] * x[0]
    return sum(out) + x[1]


PROGRAMS = [one for one in list(globals().values()) if getattr(one, "__module__", "") == __name__]
PROGRAMS = [one for one in PROGRAMS if not one.__name__.startswith("_")]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_derivative_is_that_of_differences(f: Callable[..., Any]) -> None:
    x = np.array([0.3, -0.2, 0.5])
    wanted = np.array([(f(x + one) - f(x - one)) / 2e-6 for one in np.eye(3) * 1e-6])
    value, slope = srcgrad.value_and_grad(f)(x.copy())
    assert np.isclose(value, f(x.copy()), rtol=1e-12)
    assert np.allclose(slope, wanted, rtol=1e-6, atol=1e-8)  # rounding of differences
    slopes = [srcgrad.jvp(f, (x,), (one,))[1] for one in np.eye(3)]
    assert np.allclose(slopes, slope, rtol=1e-12, atol=1e-14)


def may_be_either_function(x):
    def g(t):
        return t * x[0]

    for _ in range(2):

        def g(t):  # noqa: F811
            return t * t * x[0]

    return g(x[1])


@pytest.mark.parametrize("f", [may_be_either_function], ids=lambda f: f.__name__)
def test_which_function_is_meant_must_be_known(f: Callable[..., Any]) -> None:
    with pytest.raises(srcgrad.DifferentiationError, match="E5005"):
        srcgrad.grad(f)(np.array([0.3, -0.2, 0.5]))
