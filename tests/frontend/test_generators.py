"""Generators written out where they are consumed: in turn with their consumer, ended and left early."""

# ruff: noqa: B007, B905, RET503
from __future__ import annotations

import contextlib

import numpy as np
import pytest

from srcgrad import DifferentiationError, check_grads, grad


def powers(x, n=4):
    p = 1.0
    for _ in range(n):
        yield p
        p = p * x


def two(x):
    yield x
    x = x * x
    yield x + 1.0
    if x > 0.1:
        yield x * x


def early(x, n):
    for k in range(10):
        if k == n:
            return
        yield x**k
        x = x * 1.1


def forever(x):
    while True:
        yield x
        x = x * 0.5


@contextlib.contextmanager
def scaled(d, s):
    old = d["w"]
    d["w"] = old * s
    try:
        yield s * s
    finally:
        d["w"] = old


def two_yields(x):
    t = 0.0
    for v in two(x):
        t = t * x + v
    return t


def left_with_else(x):
    t = 0.0
    for v in two(x):
        if v > 1.0:
            break
        t = t + v
    else:
        t = t * 10.0
    return t * x


def continued_while_arguments_change(x):
    t = 0.0
    for v in powers(x):
        if v == 1.0:
            continue
        t = t + v
        x = x * 2.0
    return t * x


def ended_early(x):
    return sum(v * v for v in early(x, 3)) + len(list(early(x, 4)))


def returned_out_of(x):
    for v in forever(x):
        if v < 0.1:
            return v * x


def zip_asks_the_range_first(x):
    t = 0.0
    for k, v in zip(range(3), forever(x)):
        t = t + v * k
    return t


def zip_asks_the_generator_first(x):
    t = 0.0
    for v, k in zip(powers(x, 5), [1.0, 2.0]):
        t = t + v * k
    return t


def nested_generator(x):
    def inner(n):
        for k in range(n):
            yield x * k

    return sum(inner(3)) * x


def restored_context(x):
    d = {"w": x}
    with scaled(d, x) as q:
        y = d["w"] * q
    return y + d["w"]


def one_in_another(x):
    t = 0.0
    for v in powers(x):
        for w in powers(v, 2):
            if w > 0.9 and v < 0.5:
                break
            t += v * w
        else:
            t += 3.0 * v
    return t


def yields_nothing(x):
    v = 5.0
    for v in powers(x, 0):
        pass
    return v * x


def largest(x):
    return max(powers(x)) + np.sum(np.array([v for v in powers(x, 3) if v < 0.9]))


def made_before(x):
    g = powers(x, 3)
    x = x * 2
    return sum(g) * x


def counted(x):
    t = 1.0
    for k, v in enumerate(powers(x), start=2):
        if k == 3:
            continue
        t = t + v * k
        if k == 4:
            break
    return t


def first_of_several(x):
    v = 3.0 * x
    near = next((v * x for v in (x, 2.0 * x, 4.0 * x) if v > 0.75), v)
    far = next((k for k in range(3, 0, -1) if x * k < 0.1), None)
    if far is None:
        far = x
    return next(v * w for w in powers(x, 3)) * near * far


def rows_that_change(xs):
    def rows(a):
        for i in range(2):
            yield a[i]

    t = 0.0
    for r in rows(xs):
        r[0] = r[0] * 2.0
        t = t + np.sum(r * r)
    return t


@pytest.mark.parametrize("x", [0.7, 0.19])
@pytest.mark.parametrize(
    "function",
    [two_yields, left_with_else, continued_while_arguments_change, ended_early, returned_out_of,
     zip_asks_the_range_first, zip_asks_the_generator_first, nested_generator, one_in_another, yields_nothing, largest,
     made_before, counted, first_of_several],
)  # fmt: skip
def test_derivatives(function, x) -> None:
    check_grads(function, (x,), order=2)


def test_rows_that_change() -> None:
    check_grads(rows_that_change, (np.full((2, 2), 0.3),), order=2)


def resumed(x):
    values = powers(x)
    return next(values) + next(values)


def recursive(x, n):
    yield x
    yield from recursive(x * 2.0, n - 1)


def summed(x):
    return sum(recursive(x, 3))


def received(x):
    y = yield x
    yield y


def sends(x):
    return sum(received(x))


def consumed_in_each_trip(x):
    values = powers(x)
    total = 0.0
    for _ in range(2):
        total += sum(values)
    return total


@pytest.mark.parametrize("function", [resumed, summed, sends, consumed_in_each_trip])
def test_refusals(function) -> None:
    with pytest.raises(DifferentiationError) as found:
        grad(function)(0.7)
    assert found.value.code == "E5005"
