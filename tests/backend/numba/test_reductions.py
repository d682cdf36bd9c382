"""Reductions along axes, and what undoes them, in compiled code: the same numbers as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import srcgrad
from srcgrad import runtime

A = np.random.default_rng(0).standard_normal((2, 3, 4))
A[0, 1, 2] = np.nan
WHOLE = np.round(np.random.default_rng(1).standard_normal((3, 4)))  # with ties


CASES = [("max_along", A[:, ::2]), ("max_along", A[1, 1]), ("sum_along", A), ("sum_along", A[1, 1])]
CASES += [("min_along", A[0].T), ("mean_along", A[:, ::2].astype(np.float32))]


@pytest.mark.parametrize("op, a", CASES)
def test_reductions(op, a) -> None:
    function = getattr(runtime, op)
    one = njit(lambda a: (function(a, 0), function(a, -1), function(a, 0, True), function(a, -1, True)))
    every = njit(lambda a: (function(a), function(a, None, True)))
    tolerance = 1e-5 if a.dtype == np.float32 else 1e-13
    for found, due in zip([*one(a), *every(a)], [*one.py_func(a), *every.py_func(a)], strict=True):
        assert np.shape(found) == np.shape(due) and (not np.ndim(due) or found.dtype == due.dtype)
        assert np.allclose(found, due, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("op", ["max_along", "min_along"])
def test_nothing_has_no_largest_element(op) -> None:
    function = getattr(runtime, op)
    with pytest.raises(ValueError, match="zero-size"):
        njit(lambda a: function(a, 0))(np.ones((0, 2)))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_what_is_equal_shares(axis) -> None:
    y, kept = WHOLE.max(axis=axis), WHOLE.max(axis=axis, keepdims=True)
    g, wide = np.arange(1.0, y.size + 1.0), np.arange(1.0, y.size + 1.0).reshape(kept.shape)
    given = njit(lambda g, a, y: runtime.share(g, a, y, axis))
    assert np.array_equal(given(g, WHOLE, y), given.py_func(g, WHOLE, y))
    given = njit(lambda g, a, y: runtime.share(g, a, y, axis, True))
    assert np.array_equal(given(wide, WHOLE, kept), given.py_func(wide, WHOLE, kept))
    given = njit(lambda g, a, y: runtime.share(g, a, y))
    assert np.array_equal(given(2.0, WHOLE, WHOLE.max()), given.py_func(2.0, WHOLE, WHOLE.max()))


def test_nan_is_equal_to_nothing() -> None:
    given = njit(lambda g, a, y: runtime.share(g, a, y, 1))
    a = np.array([[np.nan, 1.0], [2.0, 3.0]])
    assert np.array_equal(given(np.ones(2), a, a.max(axis=1)), [[np.nan, np.nan], [0.0, 1.0]], equal_nan=True)


@pytest.mark.parametrize("index", [1, (1, 2), slice(1, None), (0, slice(2)), np.array([0, 2, 0]), np.array([-1, 2, 1])])
def test_what_is_stored(index) -> None:
    function = njit(lambda a, index: runtime.stored(a, index))
    found, due = function(WHOLE, index), runtime.stored(WHOLE, index)
    assert np.array_equal(found, due)
    assert not np.shares_memory(found, WHOLE)


def forward(start, steps, seen):
    alpha = start + seen[0]
    for t in range(1, seen.shape[0]):
        m = alpha[:, None] + steps
        top = m.max(axis=0)
        alpha = top + np.log(np.exp(m - top).sum(axis=0)) + seen[t]
    return np.max(alpha) + np.log(np.sum(np.exp(alpha - np.max(alpha))))


def viterbi(start, steps, seen):
    best = start + seen[0]
    for t in range(1, seen.shape[0]):
        best = np.max(best[:, None] + steps, axis=0) + seen[t]
    return np.max(best)


def standardised(start, steps, seen):
    total = 0.0
    for t in range(2):
        z = seen - seen.mean(axis=0, keepdims=True) * (1.0 + t)
        total += np.sum(z * z / np.sum(np.exp(seen), axis=1, keepdims=True)) + np.sum(start) + np.sum(steps[0])
    return total


@pytest.mark.parametrize("function", [forward, viterbi, standardised])
def test_loops(function) -> None:
    draw = np.random.default_rng(4).standard_normal
    args = draw(3), draw((3, 3)), draw((4, 3))
    names = ("start", "steps", "seen")
    due = srcgrad.grad(function, wrt=names)(*args)
    found = srcgrad.grad(function, wrt=names, target="numba")(*args)
    assert all(np.allclose(one, two, rtol=1e-12, atol=1e-13) for one, two in zip(found, due, strict=True))
    v = draw((4, 3))
    due, found = (srcgrad.hvp(function, wrt="seen", target=target)(*args, v) for target in ("numpy", "numba"))
    assert np.allclose(found, due, rtol=1e-12, atol=1e-13)
