"""Calls that are made for what they do: none is dropped, made twice, or made at another place in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad


def tally() -> Callable[[Any], Any]:
    total = 0.0

    def add(t: Any) -> Any:
        nonlocal total
        total = total + t
        return total

    return add


class Counter:
    def __init__(self) -> None:
        self.count = 0.0

    def __call__(self, t: float) -> float:
        self.count += t
        return self.count

    def step(self, t: float) -> float:
        self.count += t
        return self.count


def unused_first(x):
    add = tally()
    first = add(0.5)  # noqa: F841
    last = add(0.2)
    return x * last


def both_in_one(x):
    add = tally()
    return x * add(0.5) + x * x * add(0.2)


def swapped(x):
    add = tally()
    first = add(0.5)
    last = add(0.2)
    return x * last - x * x * first


def in_a_loop(x):
    add = tally()
    for k in range(3):
        unread = add(0.5 * k)  # noqa: F841
    return x * add(0.1)


def in_a_branch(x):
    add = tally()
    if x > 0.0:
        unread = add(0.5)  # noqa: F841
    return x * x * add(0.2)


def in_a_comprehension(x):
    add = tally()
    parts = [add(0.5) for _ in range(3)]
    return x * parts[2] + x * x * parts[0]


def two_of_them(x):
    one, two = tally(), tally()
    a = one(0.5)  # noqa: F841
    b = two(0.1)  # noqa: F841
    return x * one(0.2) + x * x * two(0.3)


def nested_here(x):
    total = 0.0

    def add(t):
        nonlocal total
        total = total + t
        return total

    add(0.5)
    unread = add(0.25)  # noqa: F841
    last = add(0.2 * x)
    return x * last


def of_an_object(x):
    counter = Counter()
    first = counter.step(0.5)  # noqa: F841
    return x * counter.step(0.2)


def of_an_object_that_is_called(x):
    counter = Counter()
    first = counter(0.5)  # noqa: F841
    return x * counter(0.2)


def read_in_a_test(x):
    add = tally()
    first = add(0.5)  # noqa: F841
    if add(0.2) > 0.6:
        return x * x
    return x


def nested_with_a_list(x):
    seen = []

    def note(t):
        seen.append(t)
        return t

    a = note(x * 2.0)  # noqa: F841
    note(x * x)
    return seen[0] * seen[1]


def two_in_one_expression(x):
    n = 0

    def tick():
        nonlocal n
        n += 1
        return n

    return tick() * x + tick() * x * x


def beside_a_value_of_one_before(x):
    n = 0

    def tick(v):
        nonlocal n
        n += 1
        return v * n

    a = tick(x)
    tick(x)
    return a + tick(x)


def one_within_another(x):
    n = x

    def tick(v):
        nonlocal n
        n = n * v
        return v + n

    return tick(tick(x)) * tick(2.0) - tick(1.0)


def in_each_trip_and_in_a_test(x):
    n = x

    def tick(v):
        nonlocal n
        n = n * v
        return n

    s = 0.0
    for _ in range(2):
        s += tick(x) * tick(2.0)
    return s * ((tick(x) > tick(1.5) and x) or 2.0 * x)


PROGRAMS = [one for name, one in list(globals().items()) if getattr(one, "__module__", "") == __name__]
PROGRAMS = [one for one in PROGRAMS if one not in (tally, Counter)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_call_is_dropped(f: Callable[..., Any]) -> None:
    right = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    try:
        value, slope = srcgrad.value_and_grad(f)(0.7)
    except srcgrad.DifferentiationError as error:
        assert f in (of_an_object, of_an_object_that_is_called), error  # a method that writes into its object
        return
    assert np.isclose(value, f(0.7))
    assert np.isclose(slope, right, rtol=1e-6)
    assert np.isclose(srcgrad.grad(f)(0.7), right, rtol=1e-6)
    assert np.allclose(srcgrad.jvp(f, (0.7,), (1.0,)), (f(0.7), right), rtol=1e-6)
