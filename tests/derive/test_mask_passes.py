"""What each step of masks is there for: a program that is nan, or another text, without it."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.core.rules import adjoint, d

X = np.array([0.0, 0.3, 2.0])


def root(x):
    return np.sqrt(x)


@adjoint.elementwise(root)
def root_adjoint(z, x):
    d[x] = (0.5 / z) * d[z]


def factor_on_the_left(x):
    return np.sum(np.where(x > 0.0, root(x), 0.0))


def axis_added(x):
    r = np.sqrt(x)
    return np.sum(np.where(x[:, None] > 0.0, r[:, None] * np.array([1.0, 2.0]), 0.0))


def two_conditions(x):
    r = np.sqrt(np.where(x > 1.0, x, 0.0))
    return np.sum(np.where(x < 5.0, r, 0.0)) + np.sum(x)


def known_elsewhere(x):
    return np.sum(np.where(x > 0.0, np.log(1.0 + np.where(x > 0.0, x, 1.0)) ** 0.5, 0.0))


@pytest.mark.parametrize("function", [factor_on_the_left, axis_added, two_conditions, known_elsewhere])
def test_gradients_are_finite_and_give_no_warning(function: Any) -> None:
    with np.errstate(all="raise"):
        found = srcgrad.grad(function)(X)
    steps = 1e-6 * np.eye(3)[1:]
    due = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found[1:], due, rtol=1e-8)
    assert np.isfinite(found[0])


def opposite_conditions(p):
    m = p > 0.0
    y = np.where(m, p, 0.0)
    z = np.where(m, y, 0.0)
    w = np.where(m, 0.0, y * 1.0)
    return np.sum(np.sqrt(z)) + np.sum(np.sqrt(w)) + np.sum(p)


def test_a_condition_and_its_opposite_are_two_masks() -> None:
    x, direction = np.array([-0.1, 0.3]), np.array([0.5, -0.4])
    h = 1e-6 * direction
    due = (opposite_conditions(x + h) - opposite_conditions(x - h)) / 2e-6
    with np.errstate(all="raise"):
        np.testing.assert_allclose(srcgrad.jvp(opposite_conditions, (x,), (direction,))[1], due, rtol=1e-8)
        np.testing.assert_allclose(srcgrad.grad(opposite_conditions)(x) @ direction, due, rtol=1e-8)


def test_one_condition_twice_is_one_mask() -> None:
    def f(p):
        m = p > 0.0
        return np.sum(np.sqrt(np.where(m, np.where(m, p, 0.0), 0.0)))

    assert "&" not in srcgrad.source(f, mode="forward") + srcgrad.source(f)
    assert "np.where(m, 1.0" not in srcgrad.source(f)


def test_a_number_that_the_text_sets_elsewhere_has_no_mask() -> None:
    def f(p):
        m = p > 0.0
        return np.sum(np.where(m, np.sqrt(np.where(m, p, 4.0) - 1.0), 0.0))

    assert ", 1.0)" not in srcgrad.source(f), srcgrad.source(f)


def clamped_root(u):
    return np.sqrt(np.maximum(u, 0.0))


def each_trip_by_a_helper(x):
    total = 0.0
    for _ in range(3):
        x = clamped_root(np.maximum(x, 0.2)) + 0.1 * x
        total = total + np.sum(x)
    return total


def last_trip_by_a_helper(x):
    for k in range(3):
        a = clamped_root(np.minimum(np.abs(x), k - 0.5))
    return np.sum(a)


@pytest.mark.parametrize("function", [each_trip_by_a_helper, last_trip_by_a_helper])
def test_a_mask_that_another_statement_reads_is_that_of_its_trip(function: Any) -> None:
    """Going back, that statement comes first: the mask was made behind it, or was that of the trip before."""
    srcgrad.check_grads(function, (np.array([0.7, -1.3, 2.0]),), order=1)


def test_what_both_sides_of_a_condition_read_has_no_mask() -> None:
    def f(x):
        m = x > 0.5
        r = np.sqrt(x)
        return np.sum(np.where(m, r, 0.0)) + np.sum(np.where(m, 0.0, 3.0 * r))

    x = np.array([0.3, 2.0])
    np.testing.assert_allclose(srcgrad.grad(f)(x), np.array([1.5, 0.5]) / np.sqrt(x), rtol=1e-12)


def selected_and_largest(x, y):
    r = np.sqrt(np.select([y > 0.0, y > 0.1], [np.sqrt(np.abs(x)), y], max(x[0], 0.1)))
    return np.max(np.log(r))


def stacked_with_what_has_no_mask(x, y):
    r = np.sqrt(np.stack([np.maximum(x, 0.2), np.abs(y)]))
    return np.sum(np.where(r > 0.5, np.log(r), 0.0))


@pytest.mark.parametrize("function", [selected_and_largest, stacked_with_what_has_no_mask])
def test_items_of_a_display_count_in_a_mask(function: Any) -> None:
    x, y = np.array([1.98, -0.54, -0.09]), np.array([0.99, 0.81, 0.83])
    srcgrad.check_grads(function, (x, y), order=1)
