"""No derivative warns of what is not taken: over a collection of small programs, and mode by mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from tests.programs.quiet import PROGRAMS, STILL_WARNED

X = np.array([0.0, 1.0, 2.0])


def warned(call: Callable[[], Any]) -> tuple[Any, set[str]]:
    """What a call gives, and the kinds of the floating-point warnings that it gives."""
    found: set[str] = set()
    seen: dict[str, Any] = {"call": lambda kind, _: found.add(kind)}
    with warnings.catch_warnings(), np.errstate(divide="call", over="call", invalid="call", **seen):
        warnings.simplefilter("error")  # those that are no floating-point errors: a mean of nothing
        return call(), found


STEP = 1e-6


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_derivatives_warn_of_no_more_than_the_function(function: Any) -> None:
    x = PROGRAMS[function]
    v = np.linspace(0.3, 1.1, x.size).reshape(x.shape)
    gradient, product = srcgrad.grad(function), srcgrad.hvp(function)
    _, own = warned(lambda: function(x))
    first, in_reverse = warned(lambda: gradient(x))
    along, forward = warned(lambda: srcgrad.jvp(function, (x,), (v,))[1])
    second, twice = warned(lambda: product(x, v))
    assert in_reverse <= own
    assert bool((forward | twice) - own) == (function in STILL_WARNED)
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    assert np.isclose(along, np.sum(first * v), rtol=1e-10)
    v = np.where(np.isin(x, [0.0, 1.0, -800.0, 800.0]), 0.0, v)  # what is singular stays where it is
    with np.errstate(all="ignore"):
        sides = [(function(one), gradient(one)) for one in (x + STEP * v, x - STEP * v)]
        second = product(x, v)
    assert np.isclose(np.sum(first * v), (sides[0][0] - sides[1][0]) / (2.0 * STEP), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(second, (sides[0][1] - sides[1][1]) / (2.0 * STEP), rtol=1e-5, atol=1e-5)


def chosen(x):
    return np.sum(np.where(x > 0.2, np.sqrt(x), 0.0))


def chosen_by_the_value(x):
    r = np.sqrt(x)
    return np.sum(np.where(r > 0.2, r * np.cos(r), x))


def condition_behind(x):
    r = np.sqrt(x)
    s = np.sin(x)
    m = x > 0.2
    return np.sum(np.where(m, r * s, s))


def in_two_places(x):
    r = np.sqrt(x)
    return np.sum(np.where(x > 0.2, r, 0.0)) + np.sum(np.where(x > 1.5, r * r, x))


def tail(x):
    return np.sum(np.sqrt(x)[1:] ** 2)


def two_elements(x):
    r = np.sqrt(x)
    return r[1] * r[2]


def picked(x):
    return np.sum((np.sqrt(x) * x)[x > 0.2])


def triangle(x):
    return np.sum(np.triu(np.sqrt(x[:, None] + x), 1))


def broadcast(x):
    return np.sum(np.where(x[:, None] * x > 0.2, np.sqrt(x) + np.ones((3, 3)), 0.0))


def clipped(x):
    return np.sum(np.clip(np.sqrt(x), 0.5, 3.0))


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        s = s + np.where(x[i] > 0.2, np.sqrt(x[i]), 0.0)
    return s


QUIET = [
    chosen, chosen_by_the_value, condition_behind, in_two_places, tail, two_elements, picked, triangle, broadcast,
    clipped, in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("function", QUIET)
def test_what_is_not_taken_gives_no_warning(function: Any) -> None:
    v = np.array([0.3, -0.5, 0.7])
    gradient = srcgrad.grad(function)
    h = 1e-6  # differences within the branch: x at 0 moves to where the root is a number
    differences = (gradient(X + h * np.abs(v)) - gradient(X)) / h
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(X)
        assert np.isclose(srcgrad.jvp(function, (X,), (v,))[1], np.sum(gradient(X) * v), rtol=1e-12)
        product = srcgrad.hvp(function)(X, np.abs(v))
    assert np.allclose(product, differences, rtol=1e-4, atol=1e-4)  # of first order in h


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 0 * inf is the point
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.sqrt(x) ** 2),
        lambda x: np.sum((x > 0.2) * np.sqrt(x) ** 2 + np.sqrt(x) ** 2),
        lambda x: np.sum(np.where(x < 5.0, np.sqrt(x) ** 2, 0.0)),
        lambda x: np.sum(np.sqrt(x)[1:]) + np.sum(np.sqrt(x)[:2] ** 2),
    ],
)
def test_what_is_taken_is_singular_as_it_was(function: Any) -> None:
    assert np.isnan(srcgrad.jvp(function, (X,), (np.ones(3),))[1])


def differences_of_neighbours(x):
    r = np.sqrt(x)
    return np.sum((r[1:] - r[:-1]) ** 2)


def test_all_that_is_read_has_no_mask() -> None:
    for function in (lambda x: np.sum(np.sqrt(x) * x), differences_of_neighbours):
        assert "where" not in srcgrad.source(function, mode="forward")


def test_the_text_has_the_mask_of_reverse_mode() -> None:
    text = srcgrad.source(chosen, mode="forward")
    assert "0.5 * x_dot / np.where(x > 0.2, sqrt_x, 1.0)" in text


def condition_that_changes(x, y):
    a = x
    b = a
    t = 0.0
    y = np.sum(y)
    if y > 0.0:
        t = np.sum(np.where((a < 0.4) & (y > -0.5), np.sqrt(y), 0.0))
        a = np.abs(b) * 2.0
    return np.sum(a) + t


def test_a_tangent_does_not_wait_behind_what_its_mask_reads_changes() -> None:
    srcgrad.check_grads(condition_that_changes, (np.array([0.3, 0.7]), np.array([0.4, 0.9])))


def chosen_or_a_number(u, q):
    return np.where(u > 0.2, u, q)


def test_where_a_number_is_needed_is_no_mask_of_what_it_was_made_of() -> None:
    def f(x):
        return np.sum(chosen_or_a_number(x, np.linalg.norm(np.sqrt(np.abs(x)))))

    srcgrad.check_grads(f, (np.array([0.3, -0.7, 0.9]),))


def root_of_what_is_positive(x: Any) -> Any:
    return np.sum(np.sqrt(np.maximum(x, 0.0)))


def test_a_mask_says_nothing_of_what_the_user_compares() -> None:
    """`np.where(x >= 0.0, ...)` is ours: what it compares does not show that x is no list."""
    text: dict[str, Any] = {}
    exec(srcgrad.source(root_of_what_is_positive), text)
    slope = text["root_of_what_is_positive_grad"](np.array([0.25, -1.0]))
    np.testing.assert_allclose(slope, [1.0, 0.0], rtol=1e-12)
    with pytest.raises(TypeError, match="E5005"):
        text["root_of_what_is_positive_grad"]([0.25, -1.0])


def bound_before_a_branch(x, y, s):
    y = chosen_or_a_number(np.abs(x * x) ** 1.5, np.max(x))
    if s > 0.0:
        s = np.sum(np.triu(np.outer(x, y)) @ y)
    return np.linalg.norm(x) + np.sum(y) * s


def test_a_tangent_that_a_branch_reads_does_not_wait_behind_it() -> None:
    x, y = np.array([0.3, -0.5, 0.7]), np.ones(3)
    gradient, step = srcgrad.grad(bound_before_a_branch), 1e-6 * y
    found = (gradient(x + step, y, 0.4) - gradient(x - step, y, 0.4)) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(bound_before_a_branch)(x, y, 0.4, y), found, rtol=1e-7)
