"""Names that hold an integer: what is indexed by them is one element, whatever the function is called with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError

X = np.arange(5.0) + 1.0


def length(x):
    n = len(x)
    y = np.zeros(n)
    y[n - 1] = x[0] * x[1]
    return np.sum(y * x)


def of_shape(x):
    n, half = x.shape[0], x.size // 2
    y = x * 2.0
    y[half] = x[0] * x[n - 1]
    return np.sum(y * y)


def counting(x):
    k = 0
    y = x * 1.0
    while k < len(x) - 1:
        y[k] = y[k + 1] * x[k]
        k += 2
    return np.sum(y * y)


def largest(x):
    best = np.argmax(x)
    y = x * x
    y[best] = x[best - 1] * 3.0
    return np.sum(y * x)


@pytest.mark.parametrize("function", [length, of_shape, largest])
def test_known(function) -> None:
    gradient = srcgrad.grad(function)
    srcgrad.check_grads(function, (X,))
    gradient(X)
    assert "stored" not in gradient.source and "add_at" not in gradient.source
    srcgrad.check_grads(srcgrad.grad(function), (X,))


def of_rows(x):
    a = np.zeros((4, 3))
    k = 0
    while k < 3:
        row = a[k]
        k = k + 1
        row[:] = x[k] * x[:3]
    return np.sum(a * a)


def read_before(x):
    a = x * 2.0
    k = 0
    while k < 3:
        t = a[k].copy()
        k = k + 1
        a[k] = a[k] * t + x[k - 1]
    return np.sum(a * a)


def taken_before(x):
    k = 1
    t = x[k]
    k = k + 1
    return t * x[k] * x[0] ** k


@pytest.mark.parametrize("function", [counting, read_before, taken_before])
def test_what_changes_on_the_way(function) -> None:
    srcgrad.check_grads(function, (X,), order=2)


def test_a_view_by_a_name_that_changes_is_no_part() -> None:
    with pytest.raises(DifferentiationError, match="E5010"):
        srcgrad.grad(of_rows)(X)


TABLE = np.array([1, 1, 2])


def of_module(x):
    n = TABLE
    y = x * 2.0
    y[n] = x[:3] * x[0]
    return np.sum(y * y)


def argument(x, n):
    y = x * 2.0
    k = n + 0
    y[k] = x[:3] * x[0]
    return np.sum(y * y)


def sometimes(x, n):
    k = 1
    if len(n) > 1:
        k = n
    y = x * 2.0
    y[k] = x[:3] * x[0]
    return np.sum(y * y)


def divided(x, n):
    k = 1
    for j in range(2):
        k = n + (j + k) * 0
    y = x * 2.0
    y[k] = x[:3] * x[0]
    return np.sum(y * y)


def own_int(x, n):
    def int(_):
        return n

    k = int(x[0])
    y = x * 2.0
    y[k] = x[:3] * x[0]
    return np.sum(y * y)


class Record(NamedTuple):
    shape: object
    size: object


def field(x, record):
    k = record.shape[0]
    y = x * 2.0
    y[k] = x[:3] * x[0]
    return np.sum(y * y)


def whole_field(x, record):
    k = record.size
    y = x * 2.0
    y[k] = x[:3] * x[0]
    return np.sum(y * y)


@pytest.mark.parametrize(
    ("function", "rest"),
    [
        (of_module, ()),
        (argument, (TABLE,)),
        (sometimes, (TABLE,)),
        (divided, (TABLE,)),
        (own_int, (TABLE,)),
        (field, (Record(TABLE[None], 0),)),
        (whole_field, (Record((), TABLE),)),
    ],
)
def test_arrays_of_integers_that_name_an_element_twice(function, rest) -> None:
    found = srcgrad.grad(function)(X, *rest)
    h = 1e-6
    steps = h * np.eye(len(X))
    slopes = [(function(X + step, *rest) - function(X - step, *rest)) / (2.0 * h) for step in steps]
    assert np.allclose(found, slopes, rtol=1e-6)


def mapped_beside_an_integer(s, t, n=0):
    s, t, n = list(map(np.asanyarray, (s, t, n)))
    n = n * 1.5
    return np.sum(s * t + n * s)


def mapped_into_names(s, t, n=0):
    n, s, t = map(np.atleast_1d, (n, s, t))
    return np.sum(s * t * s + n * s)


@pytest.mark.parametrize("function", [mapped_beside_an_integer, mapped_into_names])
def test_an_integer_beside_what_is_mapped(function) -> None:
    given = np.array([1.0, 2.0]), np.array([0.5, 3.0])
    srcgrad.check_grads(function, (*given, 2.0), order=2)
    expected = srcgrad.vjp(function, *given, 2.0, wrt=(0, 1))[1](1.0)
    for n in (2, np.array([2, 2])):
        assert np.array_equal(srcgrad.vjp(function, *given, n, wrt=(0, 1))[1](1.0), expected)
