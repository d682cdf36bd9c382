"""Operations on names and literals: what is read from a display has a name first."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

X = np.array([0.5, 1.5])


def by_key(x, key):
    return {"square": np.sum(x * x), "cube": np.sum(x**3)}[key]


def by_place(x, place):
    return [x * x, x**3][place] * x


def of_a_tuple(x, place):
    return (x * x, x**3)[place]


def in_a_loop(x, times):
    s = 0.0
    for k in range(times):
        s = s + np.sum([x, x * x, s * x][k] * x)
    return s


def of_a_display_in_a_dict(x, place):
    return {"a": [x, 2.0 * x], "b": [x, x]}["a"][place]


@pytest.mark.parametrize(
    ("function", "chosen"),
    [(by_key, "cube"), (by_place, 1), (of_a_tuple, 0), (in_a_loop, 3), (of_a_display_in_a_dict, 1)],
)
def test_a_part_of_a_display_is_chosen_where_it_stands(function, chosen):
    """An internal error once: a display was an operand of its own."""
    srcgrad.check_grads(function, (X, chosen), order=2)


def written_through(x, place):
    a, b = x * 1.0, x * 2.0
    v = [a, b][place]
    v[0] = 0.0
    return np.sum(a * b)


def changed_behind(x, key):
    a = x * 1.0
    v = {"a": a, "x": x}[key]
    a[0] = 5.0
    return np.sum(v * x)


@pytest.mark.parametrize(("function", "chosen"), [(written_through, 0), (changed_behind, "a")])
def test_a_part_may_be_what_changes(function, chosen):
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(function)(X, chosen)


def mean_of_a_part(x, s):
    return -np.sum(np.log(x)) / (s.shape[1] * (s.shape[0] - 1))


def short(x, s):
    return np.sum(np.log(x)) / (s.shape[0] - 1)


def of_arrays(x, a):
    return np.sum(np.sin(x) * (1.0 + a * a - a / 3.0))


def changed_later(x, a):
    a = a + 0.0
    y = np.sin(x) * (1.0 + a * a - a / 3.0)
    a[0] = 5.0
    return np.sum(y * (1.0 + a * a - a / 3.0))


def each_trip(x, a):
    y = x
    for k in range(3):
        y = np.sin(y) * (a[k] * a[k] - a[0] * k)
    return np.sum(y)


LONG = np.array([[0.5, 1.5, 2.5], [1.0, 2.0, 4.0]])


def test_long_arithmetic_has_a_name_where_both_halves_need_it():
    text = srcgrad.source(mean_of_a_part, mode="vjp", wrt="x")
    assert "t = s.shape[1] * (s.shape[0] - 1)\n" in text
    assert "return -np.sum(np.log(x)) / t, " in text
    assert "x_bar = -y_bar / t / x\n" in text
    assert "1.0 + a * a - a / 3.0\n" in srcgrad.source(of_arrays, mode="vjp", wrt="x")


def test_short_arithmetic_and_what_one_half_needs_stand_where_they_are():
    assert srcgrad.source(short, mode="vjp", wrt="x").count("/ (s.shape[0] - 1)") == 3  # and a comment
    assert "-y_bar / (s.shape[1] * (s.shape[0] - 1)) / x\n" in srcgrad.source(mean_of_a_part, wrt="x")
    assert "Recorded: y, each trip" in srcgrad.source(each_trip, mode="vjp", wrt="x")


@pytest.mark.parametrize(
    ("function", "other"),
    [(mean_of_a_part, LONG), (short, LONG), (of_arrays, LONG[0]), (changed_later, LONG[0]), (each_trip, LONG[0])],
)
def test_long_arithmetic(function, other):
    check_grads(lambda x: function(x, other), (np.array([0.3, 0.7, 1.9]),), order=2)
    check_grads(function, (np.array([0.3, 0.7, 1.9]), other), wrt="x", order=2)
