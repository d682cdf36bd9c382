"""Helpers that change a dict or a list which they are given: the value follows, and the caller's stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad


def put(d, x):
    d.update(b=2.0 * x)
    return d["b"] * d["w"]


def update(x, d):
    return put(d, x)


def update_of_ones_own(x, d):
    own = {"w": 0.3 * x, "b": 0.2}
    y = put(own, x)
    return y * own["b"]


def update_for_its_effect(x, d):
    put(d, x)
    return d["b"] * x


def _appended(values, x):
    values.append(x)
    return values[-1] * values[0]


def append(x, values):
    return _appended(values, x)


def _reversed(values, x):
    values.reverse()
    return values[-1] * values[0] * x


def reverse(x, values):
    return _reversed(values, x)


def _inserted(values, x):
    values.insert(0, x)
    return values[-1] * values[0] * x


def insert(x, values):
    return 2.0 * _inserted(values, x) * x


def _longer(values, x):
    values += [x]
    return values[-1] * values[0] * x


def longer(x, values):
    return _longer(values, x)


def _extended(values, x):
    values.extend([x, x * x])
    return values[-1] * x


def extend(x, values):
    return _extended(values, x)


PROGRAMS = (update, update_of_ones_own, update_for_its_effect, append, reverse, insert, longer, extend)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_callers_is_never_changed(f: Callable[..., Any]) -> None:
    def given() -> Any:
        return {"w": 0.3, "b": 0.2} if f.__code__.co_varnames[1] == "d" else [0.3, 0.2]

    right = (f(0.4 + 1e-6, given()) - f(0.4 - 1e-6, given())) / 2e-6
    held = given()
    value, slope = srcgrad.value_and_grad(f)(0.4, held)
    assert held == given()
    assert np.isclose(value, f(0.4, given()))
    assert np.isclose(slope, right, rtol=1e-6)
    assert np.isclose(srcgrad.grad(f)(0.4, held), right, rtol=1e-6)
    assert held == given()


def _joined(values, more):
    values = values + more
    return values[:]


def join_two_lists(x):
    values, more = [x], [x * x]
    both = _joined(values, more)
    return sum(values) * len(values) + sum(both) * x


def _total_with_one(values):
    values = values + [1.0]  # noqa: RUF005
    return sum(values)


def join_in_an_expression(x):
    values = [x]
    total = _total_with_one(values)
    return total * len(values) * sum(values)


def _longer_by(values, n):
    for k in range(n):
        values = values + [1.0 * k]  # noqa: RUF005
    return values


def join_in_a_loop(x):
    values = [x]
    longer_ = _longer_by(values, 2)
    return sum(longer_) * len(values) * sum(values)


def join_in_a_nested_function(x):
    values = [x]

    def inner(given):
        given = given + [x]  # noqa: RUF005
        return sum(given)

    return inner(values) * len(values) * sum(values)


class Joiner:
    def total(self, values):
        values = values + [2.0]  # noqa: RUF005
        return sum(values)


JOINER = Joiner()


def join_in_a_method(x):
    values = [x]
    total = JOINER.total(values)
    return total * len(values) * sum(values)


def _grown(values, more):
    values += more
    return len(values)


def grow_by_a_list_with_a_name(x):
    values, more = [x], [x * x, 2.0 * x]
    n = _grown(values, more)
    return values[1] * values[2] * n


JOINS = (
    join_two_lists,
    join_in_an_expression,
    join_in_a_loop,
    join_in_a_nested_function,
    join_in_a_method,
    grow_by_a_list_with_a_name,
)


@pytest.mark.parametrize("f", JOINS, ids=lambda f: f.__name__)
def test_a_sum_of_lists_is_another_list_and_an_augmented_one_the_same(f: Callable[..., Any]) -> None:
    """`values = values + more` in a helper changed the caller's list; `values += more` of a name was not seen."""
    right = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    value, slope = srcgrad.value_and_grad(f)(0.7)
    assert np.isclose(value, f(0.7), rtol=1e-12)
    assert np.isclose(slope, right, rtol=1e-6)
    assert np.isclose(srcgrad.jvp(f, (0.7,), (1.0,))[1], slope, rtol=1e-12)
    srcgrad.check_grads(f, (0.7,), order=2)


def drawn(rng, x, y):
    a = x.copy()
    a[-1] *= 1.0 + rng.random() * y
    return a * 2.0, y * 3.0


def drawn_dict(x, y, rng):
    a = rng.random() + y
    return {"a": a * x, "b": [y * y, a]}


def of_a_tuple(x, y, rng):
    return np.sum(x) * drawn(rng, x, y)[1]


def of_a_tuple_with_a_name(x, y, rng):
    t = drawn(rng, x, y)
    return np.sum(t[0] * x) * t[1]


def of_a_tuple_taken_apart(x, y, rng):
    a, b = drawn(rng, x, y)
    return np.sum(a) + b * y


def of_a_dict(x, y, rng):
    made = drawn_dict(x, y, rng)
    return np.sum(made["a"]) * made["b"][0] * made["b"][1]


def of_a_nested_function(x, y, rng):
    def g(t):
        return t * drawn(rng, x, y)[1]

    return np.sum(x) * g(y)


DRAWN = (of_a_tuple, of_a_tuple_with_a_name, of_a_tuple_taken_apart, of_a_dict, of_a_nested_function)


@pytest.mark.parametrize("f", DRAWN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("text", [False, True])
def test_what_a_helper_returns_that_is_given_a_generator(f: Callable[..., Any], text: bool) -> None:
    """Nothing was known of the result, since the helper cannot be differentiated by its generator."""
    x, y = np.array([0.3, 0.5]), 0.4

    def value(x, y):
        return f(x, y, np.random.default_rng(1))

    names: dict[str, Any] = {}
    if text:
        exec(srcgrad.source(f, wrt=("x", "y")), names)
        found = names[f"{f.__name__}_grad"](x, y, np.random.default_rng(1))
    else:
        found = srcgrad.grad(f, (0, 1))(x, y, np.random.default_rng(1))
        dot = srcgrad.jvp(f, (x, y, np.random.default_rng(1)), (np.ones(2), 1.0, None))[1]
        assert np.isclose(dot, np.sum(found[0]) + found[1], rtol=1e-12)
    steps = 1e-6 * np.eye(2)
    near = [(value(x + step, y) - value(x - step, y)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found[0], near, rtol=1e-6)
    np.testing.assert_allclose(found[1], (value(x, y + 1e-6) - value(x, y - 1e-6)) / 2e-6, rtol=1e-6)


def total(p):
    s = 0.0
    for _ in range(2):
        s = s * 0.5 + sum(p)
    return s


def summed_twice(x, p):
    return x * sum(p) * sum(p)


def summed_in_a_branch(x, p):
    c = sum(p) * x if x > 0.2 else x
    return c * sum(p)


def summed_in_a_helper(x, p):
    return x * total(p) * total(p)


def summed_here_and_there(x, p):
    return total(p) * sum(p) * x


@pytest.mark.parametrize("p", [[0.3, 0.5, 0.2], np.array([0.3, 0.5, 0.2])])
@pytest.mark.parametrize(
    "f", [summed_twice, summed_in_a_branch, summed_in_a_helper, summed_here_and_there], ids=lambda f: f.__name__
)
def test_sums_of_what_may_be_a_list_are_added(f: Callable[..., Any], p: Any) -> None:
    """In a text that knows nothing of p: the adjoints of two sums of a list were joined."""
    names: dict[str, Any] = {}
    exec(srcgrad.source(f, wrt=("x", "p")), names)
    x_bar, p_bar = names[f"{f.__name__}_grad"](0.4, p)
    wanted = srcgrad.grad(f, (0, 1))(0.4, p)
    steps = 1e-6 * np.eye(3)
    near = [(f(0.4, list(p + step)) - f(0.4, list(p - step))) / 2e-6 for step in steps]
    assert type(p_bar) is type(p)
    np.testing.assert_allclose(p_bar, near, rtol=1e-6)
    np.testing.assert_allclose(p_bar, wanted[1], rtol=1e-12)
    np.testing.assert_allclose(x_bar, wanted[0], rtol=1e-12)


KNOTS = [0.0, 0.5, 1.0]


def interpolated(x, knots):
    if x[0] > 9.0:
        return x[0]
    return np.sum(np.power(x, knots) * knots) * np.interp(x[0], knots, (1.0, 3.0, 2.0), left=-1.0)


@pytest.mark.parametrize("f", [lambda x: interpolated(x, [0.0, 0.5, 1.0]), lambda x: interpolated(x, KNOTS)])
def test_a_list_that_a_helper_reads_as_an_array(f):
    srcgrad.check_grads(f, (np.array([0.2, 0.7, 1.2]),), order=1)
