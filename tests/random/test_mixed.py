"""Programs of all that Python has together: right, or refused with a code; and what was wrong of them."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import check_grads
from srcgrad.interface.dump import dump
from tests.random.mixed import outcome, program

X = np.array([0.4, -0.7, 0.9])


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_drawn_programs(first: int) -> None:
    found = {seed: outcome(seed) for seed in range(first, first + 10)}
    for seed, one in found.items():
        assert one.startswith(("right", "refused", "skipped")), f"{one}\n{program(seed)}"
    assert sum(one == "right" for one in found.values()) > 4


def drawn_into_what_changes(x, rng):
    np.multiply(rng.normal(size=len(x)) * x, 2.0, out=x)
    return np.sum(x * x)


def test_a_pullback_draws_nothing() -> None:
    rng = np.random.default_rng(3)
    y, pullback = srcgrad.vjp(drawn_into_what_changes, X, rng, wrt="x")
    noise = np.random.default_rng(3).normal(size=3)
    assert y == np.sum((noise * X * 2.0) ** 2)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0), 8.0 * noise**2 * X, rtol=1e-12)


def scale(u, s):
    for _ in range(2):
        if s > 0.1:
            s = s * np.sin(s)
    u *= s
    return np.sum(u)


def call_of_which_nothing_is_read(x, y):
    a = x * y
    _scaled = scale(a, y)
    return np.sum(a)


def call_in_a_test(x, y):
    a = x * y
    if scale(a[1:], y) > 0.0:
        y = 2.0 * y
    return np.sum(a) * y


def call_with_an_array_of_its_own(x, y):
    if scale(x * y, y) > 0.0:
        y = 2.0 * y
    return np.sum(x) * y


@pytest.mark.parametrize("function", [call_of_which_nothing_is_read, call_in_a_test])
def test_what_a_called_function_changes_in_place(function) -> None:
    check_grads(function, (X, 0.7), order=1)
    check_grads(call_with_an_array_of_its_own, (X, 0.7), order=1)


def popped_in_an_expression(x, items):
    c = 0.5
    if len(items) > 2:
        c += items.pop()
    return np.sum(x)


def popped_in_a_product(x, items):
    c = np.sum(x) * items.pop()
    return c * items[0]


@pytest.mark.parametrize("function", [popped_in_an_expression, popped_in_a_product])
def test_the_callers_list_stays(function) -> None:
    items = [1.0, 2.0, 3.0]
    try:
        srcgrad.grad(function, wrt=("x", "items"))(X, items)
    except DifferentiationError as error:
        assert error.code == "E5003"
    assert items == [1.0, 2.0, 3.0]


def nested_function_that_writes(x, y):
    def first(s):
        x[0] = s
        return s

    return first(y) * np.sum(x)


def calls_it(x, y):
    a = x * 1.0
    t = nested_function_that_writes(a, y)
    return t * np.sum(a)


def test_a_nested_function_changes_an_argument() -> None:
    try:
        check_grads(calls_it, (X, 0.7), order=1)
    except DifferentiationError as error:
        assert error.code in ("E5005", "E5010")


def loop_over_a_second_name(x, y):
    a = x * 1.0
    b = a[1:]
    for u in b:
        y = y * u
    if y > 3.0:
        b[0] = y
    b[-1] = 2.0
    return y * np.sum(a)


def test_a_loop_over_a_view_that_changes_later() -> None:
    check_grads(loop_over_a_second_name, (X, 0.7), order=1)


TEXT = """
import numpy as np

def keyed(x, p):
    c = 0.0
    for key in p:
        c += 0.1 * np.sum(p[key])
    return np.sum(x) * c

def unread(x, p):
    return np.sum(x)
"""


@pytest.mark.parametrize("which", ["keyed", "unread"])
def test_dumped_gradients_of_dicts(which: str) -> None:
    names: dict = {}
    exec(compile(dump(f"-:{which}", wrt=("x", "p"), text=TEXT).text, "<dumped>", "exec"), names)
    p = {"w": X, "b": 0.4}
    x_bar, p_bar = names[f"{which}_grad"](X, p)
    share = 0.1 * np.sum(X) if which == "keyed" else 0.0
    np.testing.assert_allclose(x_bar, 0.1 * (np.sum(X) + 0.4) if which == "keyed" else 1.0)
    np.testing.assert_allclose(p_bar["w"], np.full(3, share))
    np.testing.assert_allclose(p_bar["b"], share)
