"""A trip keeps the shares of exponentials in their sum, and neither of the two, where nothing else reads these."""

from __future__ import annotations

import re
from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from benchmarks.texts import records

X = np.array([0.3, -1.4, 0.8])
W = np.array([[0.5, 0.1, -0.3], [1.5, -0.2, 0.4]])


def plain(x, w):
    for v in w:
        x = x * v - np.log(np.sum(np.exp(x)))
    return np.sum(x)


def beside_a_number(x, w):
    s = 0.0
    for v in w:
        u = x * v
        s += np.sum(v * (u - np.log(2.0 + np.exp(u).sum())))
        x = np.sin(u) + x
    return s


def in_lines(x, w):
    s = 0.0
    for k in range(2):
        u = x * w[k]
        e = np.exp(u)
        below = np.sum(e) + 1
        s = s + np.log(below) * np.sum(u)
        x = u * x
    return s


def nested(x, w):
    for v in w:
        for k in range(3):
            x = x * v[k] + np.log(np.sum(np.exp(x)))
    return np.sum(x)


def left_early(x, w):
    for v in w:
        x = x * v - np.log(np.sum(np.exp(x)))
        if x[0] > 3.0:
            break
        x = np.sin(x) * v
    return np.sum(x)


def in_a_branch(x, w):
    for v in w:
        y = np.sin(x)
        if v[0] > 1.0:
            y = np.log(np.sum(np.exp(x)))
        x = x * v + y
    return np.sum(x)


SHARED = (plain, beside_a_number, in_lines, nested, left_early)
QUOTIENT = re.compile(r"(\w+) = \w+ / \w+\n")


def share(function: Any) -> str:
    """The name of the shares in a gradient; an empty string if none are kept."""
    text = srcgrad.source(function, wrt=("x", "w"))
    found = QUOTIENT.search(text.partition("_bar = ")[0])
    return found[1] if found is not None and f"{found[1]}, " in text.replace(")", ", ") else ""


@pytest.mark.parametrize("function", SHARED, ids=lambda f: f.__name__)
def test_shares_are_kept(function: Any) -> None:
    assert share(function)
    srcgrad.check_grads(function, (X, W), wrt=("x", "w"), order=2)


def test_what_is_kept() -> None:
    """Of numbers whose rank is not known, the logarithm is kept for its shape; what begins as an array needs none."""
    assert records(srcgrad.source(plain, wrt="x")) == 2
    slope = srcgrad.grad(beside_a_number, wrt="x")
    slope(X, W)
    assert records(slope.source) == 3


def beside_a_negative_number(x, w):
    for v in w:
        x = x * v - np.log(np.sum(np.exp(x)) - 0.1)
    return np.sum(x)


def no_exponentials(x, w):
    for v in w:
        x = x * v - np.log(np.sum(np.cosh(x)))
    return np.sum(x)


def the_sum_is_read(x, w):
    for v in w:
        s = np.sum(np.exp(x))
        x = x * v * s - np.log(s)
    return np.sum(x)


def the_exponentials_are_read(x, w):
    for v in w:
        e = np.exp(x)
        x = x * v * e - np.log(np.sum(e))
    return np.sum(x)


def of_rows(x, w):
    for _ in range(2):
        w = w * x - np.log(np.sum(np.exp(w), axis=1))[:, None]
    return np.sum(w * w)


def of_the_trip_before(x, w):
    s = np.sum(np.exp(x))
    for v in w:
        x = x * v - np.log(s)
        s = np.sum(np.exp(x))
    return np.sum(x)


def no_loop(x, w):
    return np.log(np.sum(np.exp(x * w[0])))


def quietly(x, w):
    for v in w:
        with np.errstate(all="ignore"):
            y = np.log(np.sum(np.exp(x)))
        x = x * v - y
    return np.sum(x)


def changed_between(x, w):
    for v in w:
        e = np.exp(x * v)
        e[0] = v[1]
        x = x * v - np.log(np.sum(e))
    return np.sum(x)


LEFT = (
    beside_a_negative_number, no_exponentials, the_sum_is_read, the_exponentials_are_read, of_rows,
    of_the_trip_before, no_loop, quietly, changed_between,
)  # fmt: skip


@pytest.mark.parametrize("function", LEFT, ids=lambda f: f.__name__)
def test_both_are_kept(function: Any) -> None:
    assert not share(function)
    srcgrad.check_grads(function, (X, W), wrt=("x", "w"), order=1)


def test_a_branch() -> None:
    srcgrad.check_grads(in_a_branch, (X, W), wrt=("x", "w"), order=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_are_those_of_the_two(dtype: type) -> None:
    """What is inf, nan or 0 is so without the pass, whose text is that of a gradient to be differentiated again."""

    def step(x, w):
        for v in w:
            x = x * v - np.log(np.sum(np.exp(x)))
        return x[0] + x[1]

    w = np.ones((1, 3), dtype)
    with np.errstate(all="ignore"):
        for first in (-2000.0, 0.0, 80.0, 2000.0):
            x = np.array([first, first + 1.0, 0.0 if first > 0.0 else first], dtype)
            found = srcgrad.grad(step)(x, w)
            e = np.exp(x)
            seed = dtype(2.0)
            by_both = np.array([1.0, 1.0, 0.0], dtype) - seed / np.sum(e) * e
            assert found.dtype == dtype
            np.testing.assert_allclose(found, by_both, rtol=4.0 * float(np.finfo(dtype).eps))


def test_no_trips_and_numbers() -> None:
    assert srcgrad.grad(plain)(X, W[:0]).tolist() == [1.0, 1.0, 1.0]

    def numbers(x, w):
        for v in w:
            x = x * v - np.log(np.sum(np.exp(x)) + 1.0)
        return x

    srcgrad.check_grads(numbers, (0.3, np.array([0.2, 0.7])), wrt=("x", "w"), order=2)
