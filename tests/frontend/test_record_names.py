"""Parameters that hold objects and are bound to something else: each meaning is told from the other."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad


@dataclasses.dataclass
class Spring:
    w: float
    b: float


class Pair(typing.NamedTuple):
    w: float
    b: float


def stored_within_a_context(x, s):
    with np.errstate(all="ignore"):
        s.b = 2.0 * x
    return s.b * s.w


def a_function_in_its_place(x, s):
    s = lambda t: t * 2.0  # noqa: E731
    return s(x)


def another_object(x, s):
    s = Spring(x, 2.0 * x)
    return s.w * s.b


def a_list(x, s):
    s = [x, s.b]
    return s[0] * s[1]


def a_list_by_branch(x, s):
    if x > 0.0:  # noqa: SIM108
        s = [x, s.b]
    else:
        s = [s.b, x]
    return s[0] * s[1]


def a_number_after_a_change(x, s):
    s.b += 1.0
    y = s.b
    s = x * 2.0
    s *= y
    return y * s


def a_changed_copy(x, s):
    s = dataclasses.replace(s, w=x)
    return s.w * s.b


def deleted_first(x, s):
    del s
    s = x * x
    return s * 1.0


def changed_and_bound_at_once(x, s):
    s.w, s = x, s.b * x
    return s * x


def a_loop_that_ends_with_it(x, s):
    y = s.b * x
    for s in (1.0, 2.0):
        y = y * s
    return y


def left_by_a_break(x, s):
    y = s.b * x
    for i in range(4):
        s = x * y
        if i == 2:
            break
        s = 0.5
    else:
        s = 0.0
    return s * x


def kept_by_a_continue(x, s):
    y = s.b * x
    s = y
    for i in range(3):
        s = s * y + i
        if i > 0:
            continue
        s = 0.5
    return s * y


def in_the_else_of_a_loop(x, s):
    y = x * s.w
    for i in range(2):
        y = y * i + x
        if y > 100.0:
            break
    else:
        y = y * s.b
        s = y
    s = x * y
    return s * y


FUNCTIONS = [
    left_by_a_break,
    kept_by_a_continue,
    in_the_else_of_a_loop,
    stored_within_a_context,
    a_function_in_its_place,
    another_object,
    a_list,
    a_list_by_branch,
    a_number_after_a_change,
    a_changed_copy,
    deleted_first,
    changed_and_bound_at_once,
    a_loop_that_ends_with_it,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_derivative_is_that_of_differences(function: Callable[..., Any]) -> None:
    h = 1e-6
    numeric = (function(0.7 + h, Spring(0.6, 0.5)) - function(0.7 - h, Spring(0.6, 0.5))) / (2 * h)
    given = Spring(0.6, 0.5)
    value, gradient = srcgrad.value_and_grad(function)(0.7, given)
    assert given == Spring(0.6, 0.5)
    assert value == pytest.approx(function(0.7, Spring(0.6, 0.5)))
    assert gradient == pytest.approx(numeric, rel=1e-7)  # of differences
    tangent = srcgrad.jvp(function, (0.7, given), (1.0, Spring(0.0, 0.0)))[1]
    assert tangent == pytest.approx(gradient, rel=1e-12)


@pytest.mark.parametrize("function", [a_function_in_its_place, a_list, a_list_by_branch], ids=lambda f: f.__name__)
def test_a_named_tuple_is_told_from_what_takes_its_name(function: Callable[..., Any]) -> None:
    ours = srcgrad.grad(function)(0.7, Pair(0.6, 0.5))
    assert ours == pytest.approx(srcgrad.grad(function)(0.7, Spring(0.6, 0.5)))


def test_the_object_has_its_own_gradient() -> None:
    gradient = srcgrad.grad(a_number_after_a_change, wrt=1)(0.7, Spring(0.6, 0.5))
    assert gradient == Spring(0.0, pytest.approx(4.0 * 0.7 * 1.5))


def another_name(x, s):
    p = s
    q = p
    q.b += x
    return s.b * x + p.w * q.b


def its_own_name(x, s):
    s = s
    s.b = x * s.w
    return s.b * x


@pytest.mark.parametrize("function", [another_name, its_own_name], ids=lambda f: f.__name__)
def test_an_object_of_two_names_is_one(function: Callable[..., Any]) -> None:
    h, given = 1e-6, Spring(0.6, 0.5)
    numeric = (function(0.7 + h, Spring(0.6, 0.5)) - function(0.7 - h, Spring(0.6, 0.5))) / (2 * h)
    assert srcgrad.grad(function)(0.7, given) == pytest.approx(numeric, rel=1e-7)  # of differences
    assert given == Spring(0.6, 0.5)


def items_in_a_branch(x, s):
    if x > 100.0:
        pass
    else:
        s = np.array([x, x * x])
    return s[0] * s[1]


def items_behind_a_branch(x, s):
    if x > 100.0:
        x = x * 2.0
    else:
        s = x
    s = (x, 2.0 * x)
    return s[0] * s[1]


@pytest.mark.parametrize("function", [items_in_a_branch, items_behind_a_branch], ids=lambda f: f.__name__)
@pytest.mark.parametrize("given", [Spring(0.6, 0.5), Pair(0.6, 0.5)], ids=lambda one: type(one).__name__)
def test_items_are_of_what_the_name_holds_then(function: Callable[..., Any], given: Any) -> None:
    numeric = (function(0.7 + 1e-6, given) - function(0.7 - 1e-6, given)) / 2e-6
    assert srcgrad.grad(function)(0.7, given) == pytest.approx(numeric, rel=1e-7)  # of differences
