"""Loops whose number of trips is not known before: which record counts them, and which cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # arguments of arbitrary functions

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads


def root(a, limit):
    x = a
    while abs(x * x - a) > limit:
        x = 0.5 * (x + a / x)
    return x


def twice(a, limit):
    x = a
    while x > limit:
        x = x * np.cos(x) * 0.5
    while x < 2.0 * limit:
        x = x * x + limit
    return x


def nested(a, limit):
    x = a
    while x > limit:
        y = x
        while y > 0.5:
            y = y * y * 0.5
        x = x * 0.5 + 0.1 * y * x
    return x


def sometimes(a, limit):
    x = a
    while x > limit:
        if x > 1.0:
            x = np.sin(x) * x
        x = 0.7 * x
    return x


def left(a, limit):
    x = a
    while True:
        if x < limit:
            break
        x = x * x * 0.4
        if x > 3.0:
            continue
        x = x * np.sin(x)
    return x


def kept_by_the_user(a, limit):
    x = a
    seen = []
    while x > limit:
        seen.append(x)
        x = x * x * 0.3
    while seen:
        x = x + seen.pop() ** 2
    return x


def nothing(a, limit):
    x = a
    n = 0
    while n < limit:
        x = 0.5 * x
        n += 1
    return x


def written(a, limit):
    x = np.array([1.0, 0.5]) * a
    while np.sum(x) > limit:
        x[0] = x[0] * x[1]
        x[1] *= 0.8
    return np.sum(x * x)


def counted_twice(a, limit):
    x = np.array([1.0, 0.5]) * a
    s = 0.0
    n = 0
    while np.sum(x) > limit:
        x *= 0.7
        x[0] -= 0.1 * x[1] * x[0]
        n += 1
        s = s + x[1] * x[0]
    return np.sum(x * x) + s * n


LOOPS = [root, twice, nested, sometimes, left, kept_by_the_user, written, counted_twice]


@pytest.mark.parametrize("limit", [1e-9, 0.3, 50.0])
@pytest.mark.parametrize("function", LOOPS, ids=lambda one: one.__name__)
def test_gradients_of_loops(function: Callable[..., Any], limit: float) -> None:
    if function is left and limit == 1e-9:
        limit = 1e-3
    if function is kept_by_the_user:
        limit = max(limit, 0.01)
    check_grads(function, (1.8, limit), wrt="a", order=1 if function is kept_by_the_user else 2)  # lists: once
    value, back = srcgrad.vjp(function, 1.8, limit)
    assert value == function(1.8, limit)
    assert back(1.0)[0] == back(1.0)[0] == srcgrad.grad(function)(1.8, limit)


@pytest.mark.parametrize(
    ("function", "counters"),
    [(root, 0), (twice, 0), (nested, 1), (sometimes, 0), (nothing, 1)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_counter_stands_only_where_no_record_counts(function: Callable[..., Any], counters: int) -> None:
    for mode in ("reverse", "value-and-grad", "vjp"):
        text = srcgrad.source(function, mode=mode, wrt="a")
        assert text.count("trips += 1") + text.count("trips_ += 1") == counters, text


def test_a_stack_in_a_branch_does_not_count() -> None:
    def some(a, limit):
        x = a
        s = 0.0
        while x > limit:
            if x > 1.0:
                s = s + x * np.exp(s)
            x = 0.7 * x
        return s + x

    check_grads(some, (2.9, 0.1), wrt="a", order=2)
    assert srcgrad.grad(some)(0.5, 0.1) > 0.0
