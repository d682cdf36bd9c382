"""Programs that Numba compiles have NumPy's derivatives; what it computes otherwise is refused."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, prange, vectorize

import srcgrad
from srcgrad.core.errors import DifferentiationError

RATE = 0.5
TABLE = np.ones(3)
Pair = namedtuple("Pair", ["x", "y"])


@njit
def field(x, a):
    return a * math.sin(x) - RATE * x


@njit
def euler(x, a, n, h):
    for _ in range(n):
        x = x + h * field(x, a)
        if x > 1.5:
            break
    return x


@njit(parallel=True)
def total(x):
    s = 0.0
    for i in prange(x.shape[0]):
        s += x[i] * x[i]
    return s


def climbed(x, limit):
    trips = 0
    while True:
        x = x * 1.5
        trips += 1
        if x > limit:
            return x * trips
        if trips > 7:
            break
    return x * x


def written(x, w):
    x[1:] += x[:-1]
    x[0] = w[1, 0] * x[2]
    h = np.zeros(w.shape[0])
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            h[i] += w[i, j] * x[j]
    return np.sum(np.tanh(h)) * h[0]


def several(x, y, kind):
    s = 0.0
    for i, v in enumerate(x):
        s = s + v * v * i
    for a, b in zip(x, y):  # noqa: B905 (Numba's knows no strict)
        s = s * 0.5 + a * b * s
    for v in reversed(y):
        s = s * v
    for k in range(9, 1, -3):
        s = s + x[k % 2] * k
    for k in range(x.size, 0, -x.size):
        s = s * y[k - 1]
    return s if kind == "plain" else np.max(x) * s


def branches(x, r, n):
    s = 0.0
    for k in range(n):
        p, q = x * r, x + 0.01
        if x > 0.5:
            x = p * (1.0 - x)
            s = s + q
        else:
            x = x * x + 0.6 * q
        s += np.sin(x) * k
    for _ in range(3):
        s = s * x
        x = x * 1.01
    return s + x


def rates(x, y):
    return x - 0.4 * x * y, 0.1 * x * y - y


def stepped(x, y, n):
    for _ in range(n):
        one, other = rates(x, y)
        x = x + 0.01 * one
        y = y + 0.01 * other
    return x + y


def mapped(x, r, n):
    """Sums of multiples of what a trip hands to the next, through names and without."""
    for k in range(n):
        x = r * x * (1.0 - x / r) - x
        if k == 2:
            r = r * 0.5 - r * r * 0.1
    return x


def halves(pair, k=2.0):
    return pair.x**k * pair[1]


CASES = {
    "njit, callee njit, global number, break": (euler, (0.7, 2.0, 90, 0.01), ("x", "a", "h")),
    "prange": (total, (np.linspace(0.5, 2.0, 5),), 0),
    "while, return in it": (climbed, (0.3, 4.0), 0),
    "while, break": (climbed, (0.01, 4.0), 0),
    "writes into arguments, overlapping": (
        written,
        (np.linspace(0.1, 0.7, 3), np.linspace(0.2, 1.0, 6).reshape(2, 3)),
        (0, 1),
    ),
    "enumerate, zip, reversed, a step": (several, (np.array([1.5, 0.5]), np.array([2.0, 3.0]), "plain"), (0, 1)),
    "a part of an array": (total, (np.arange(1.0, 5.0)[::2],), 0),
    "named tuple, default": (halves, (Pair(1.5, 2.0),), 0),
    "a tuple in a loop": (stepped, (1.0, 0.5, 4), (0, 1)),
    "one product for a trip": (mapped, (0.3, 3.2, 6), (0, 1)),
    "tapes": (branches, (0.3, 3.2, 6), (0, 1)),
    "tapes, no trip": (branches, (0.3, 3.2, -1), (0, 1)),
    "float32": (total, (np.ones(3, np.float32),), 0),
    "no elements": (total, (np.zeros(0),), 0),
    "no axes": (climbed, (np.array(0.3), 4.0), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_gradient_is_that_of_numpy(case):
    f, args, wrt = CASES[case]
    before = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    value, found = srcgrad.value_and_grad(f, wrt, target="numba")(*args)
    known, expected = srcgrad.value_and_grad(f, wrt)(*args)
    assert np.allclose(value, known, rtol=1e-12)
    if not isinstance(wrt, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other) and getattr(one, "dtype", 0) == getattr(other, "dtype", 0)
        assert np.allclose(one, other, rtol=1e-12, atol=1e-14)
    for a, b in zip(args, before, strict=True):
        assert not isinstance(a, np.ndarray) or np.array_equal(a, b)


def test_modes_agree():
    @srcgrad.differentiate(target="numba", wrt=("x", "a"))
    @njit
    def square(x, a):
        return field(x, a) ** 2

    plain = srcgrad.differentiate(lambda x, a: field(x, a) ** 2, wrt=("x", "a"))
    at = (1.0, 2.0)
    assert square(*at) == pytest.approx(plain(*at), rel=1e-14)
    assert square.grad(*at) == pytest.approx(plain.grad(*at), rel=1e-12)
    assert np.allclose(square.hessian(*at), plain.hessian(*at), rtol=1e-12)
    y, pullback = square.vjp(*at)
    assert y == pytest.approx(plain(*at), rel=1e-14)
    assert pullback(2.0) == pytest.approx([2.0 * g for g in plain.grad(*at)], rel=1e-12)
    assert square.jvp(at, (0.3, 0.1)) == pytest.approx(plain.jvp(at, (0.3, 0.1)), rel=1e-12)


def test_compiled_code_calls_a_gradient():
    slope = srcgrad.grad(climbed, target="numba")
    with pytest.raises(DifferentiationError, match="E5019"):
        _ = srcgrad.grad(climbed).njit
    expected = slope(0.3, 4.0)
    compiled = slope.njit

    @njit
    def step(x):
        return x - 0.1 * compiled(x, 4.0)

    assert step(0.3) == 0.3 - 0.1 * expected


def test_arguments_that_share_elements_are_not_written_into():
    x = np.ones(3)
    with pytest.raises(DifferentiationError, match="E5010"):
        srcgrad.grad(lambda x, y: shared(x, y), target="numba")(x, x[1:])
    assert srcgrad.grad(shared, target="numba")(x, np.ones(2)).tolist() == srcgrad.grad(shared)(x, np.ones(2)).tolist()


def shared(x, y):
    x[0] = 2.0 * y[1]
    return x[0] * x[1] * y[0]


def from_outside(x):
    return TABLE[0] * x


def power(x, n):
    return x * 2**n


def listed(x, n):
    kept = {"a": x}
    return kept["a"] * n


def recursive(x, n):
    return x if n == 0 else x * recursive(x, n - 1)


@vectorize
def ufunc(x):
    return x * x


REFUSED = {
    "a global array": (from_outside, (2.0,), "`TABLE` is an array or a list"),
    "an integer to an integer": (power, (2.0, 3), "an integer to the power of an integer"),
    "a list": (lambda x: x[0] * x[1], ([1.0, 2.0],), "an argument is of type list"),
    "recursion": (recursive, (2.0, 3), "capture"),
    "keywords that Numba lacks": (lambda x: np.sum(np.cumsum(x, axis=0) ** 2), (np.ones((2, 2)),), "flip"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_has_a_code_and_a_place(case):
    f, args, said = REFUSED[case]
    with pytest.raises(DifferentiationError) as caught:
        srcgrad.grad(f, target="numba")(*args)
    assert caught.value.code == "E5026" and said in caught.value.message and len(caught.value.message) <= 200


def test_what_is_no_function_of_python_is_refused():
    with pytest.raises(DifferentiationError, match="E5008"):
        srcgrad.grad(ufunc, target="numba")(2.0)


def test_an_integer_to_a_whole_number_is_compiled():
    assert srcgrad.grad(lambda x, n: x * n**2, target="numba")(2.0, 3) == 9.0


def test_trips_that_are_counted_are_kept_in_arrays():
    slope = srcgrad.grad(branches, wrt=("x", "r"), target="numba")
    slope(0.3, 3.2, 6)
    assert slope.source.count("np.empty(max(n, 0))") == 3 and slope.source.count("np.empty(3)") == 2
    assert "sum_to" not in slope.source and "x_stack.append" not in slope.source and "math.cos(x)" in slope.source
    assert "Recorded: x, each trip of the loop in line" in slope.source

    def bound_anew(x, n):
        for k in range(n):
            x = x * x
            k = 2 * k
            n = 3
        return x

    assert ".append(x)" in srcgrad.source(bound_anew, wrt="x", target="numba")
    assert srcgrad.grad(bound_anew, target="numba")(1.1, 3) == srcgrad.grad(bound_anew)(1.1, 3)


def test_array_output_has_no_gradient():
    with pytest.raises(DifferentiationError, match="E5007"):
        srcgrad.grad(lambda x: x * 2.0, target="numba")(np.ones(2))


def test_without_numba(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DifferentiationError, match="which is not installed"):
        srcgrad.grad(lambda x: x * x, target="numba")(2.0)
