"""A name that is bound to a new array: what held the one before does not change, and need not be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.random import anew as random_anew
from tests.random.writes import outcome


@pytest.mark.parametrize("seed", range(12))
def test_programs(seed: int) -> None:
    found = outcome(seed, text=random_anew.program(seed))
    assert found in ("right", "skipped"), f"{found}\n{random_anew.program(seed)}"


@pytest.mark.parametrize("seed", [1007, 1015, 1038])
def test_second_derivatives_of_what_lists_hold(seed: int) -> None:
    assert outcome(seed, 2, random_anew.program(seed)) == "right"


def steps(u: Any, c: Any) -> Any:
    states = []
    for _ in range(3):
        u = u.copy()
        u[1:-1] += c * (u[2:] * u[:-2] - u[1:-1] ** 2)
        states.append(u)
    return np.sum(states[0] * states[1] * states[2])


def old_and_new(u: Any, c: Any) -> Any:
    for k in range(3):
        old = u
        u = u.copy()
        u[k] = c * old[k] * old[k + 1] ** 2
    return np.sum(u * old)


def rows_of_the_first(u: Any, c: Any) -> Any:
    first = u[1:]
    for k in range(3):
        u = np.sin(u)
        u[k] *= first[k] * c
    return np.sum(u[1:] * first)


def displays(u: Any, c: Any) -> Any:
    a = u * c
    a[1:] *= a[-1] * c
    states, named = [a], {"last": a}
    return np.sum(a * states[0] * named["last"])


def begun_with_an_argument(u: Any, c: Any) -> Any:
    w = u
    for k in range(3):
        w[k] = c * w[k + 1] ** 2
        w = w.copy()
    return np.sum(w**2)


@pytest.mark.parametrize("function", [steps, old_and_new, rows_of_the_first, displays, begun_with_an_argument])
def test_arguments_under_their_own_name(function: Callable[..., Any]) -> None:
    u = np.random.default_rng(0).standard_normal(5)
    given = u.copy()
    srcgrad.check_grads(function, (u, 0.3), order=2)
    y, back = srcgrad.vjp(function, u, 0.3)
    once, again = back(1.0), back(1.0)
    assert np.array_equal(once[0], again[0])
    assert np.array_equal(u, given)
    assert y == function(u, 0.3)


def test_states_are_not_copied() -> None:
    def stepped(u: Any, c: Any) -> Any:
        for _ in range(3):
            v = u.copy()
            v[1:-1] *= c * v[2:] + u[:-2]
            u = v
        return np.sum(u * u)

    assert "u = v\n" in srcgrad.grad(stepped).source


def test_pullbacks_leave_results_alone() -> None:
    def stepped(u: Any) -> Any:
        best = u
        for k in range(3):
            u = u.copy()
            u[k] = u[k + 1] ** 2 * u[k]
            if k == 1:
                best = u
        return best, u

    u = np.linspace(0.5, 1.5, 4)
    (best, last), back = srcgrad.vjp(stepped, u)
    kept = best.copy(), last.copy()
    back((np.ones(4), np.ones(4)))
    assert np.array_equal(best, kept[0])
    assert np.array_equal(last, kept[1])


def test_pullbacks_leave_their_seed_alone() -> None:
    def drifted(x: Any, c: Any) -> Any:
        a = x * c
        b = a * 1.1
        a[1:] -= x[1:] * sum(b[k] * 0.5 for k in range(3))
        return b

    seed = np.ones(4)
    seed.setflags(write=False)
    _, back = srcgrad.vjp(drifted, np.ones(4), 0.5)
    assert np.allclose(back(seed)[0], 0.55)


def in_the_first_trip(u: Any, c: Any) -> Any:
    w = u
    for k in range(3):
        w[k] = c
        w = w.copy()
    return np.sum(w) + np.sum(u)


def through_a_part(u: Any, c: Any) -> Any:
    for k in range(3):
        u = u[:]
        u[k] = c
    return np.sum(u)


def held_and_changed(u: Any, c: Any) -> Any:
    states = []
    for k in range(3):
        u = u * c
        states.append(u)
        u[k] = c
    return np.sum(states[0] * states[1])


def held_before_an_exchange(u: Any, c: Any) -> Any:
    a, b = u * c, u + c
    states = []
    states.append(a)
    a, b = b, a
    a = np.sin(a)
    b[0] = c
    return np.sum(states[0] * a)


def _given_on(v: Any) -> Any:
    v[0] = v[1] ** 2
    return np.sum(v)


def changed_through_a_call(u: Any, c: Any) -> Any:
    a = u * c
    s = _given_on(np.asarray(a))
    return s + np.sum(a * a)


TABLE = np.ones(4)


def of_a_table(u: Any, c: Any) -> Any:
    a = np.nan_to_num(TABLE, copy=False)
    a += u * c
    return np.sum(a * u)


REFUSED = [
    of_a_table,
    in_the_first_trip,
    through_a_part,
    held_and_changed,
    held_before_an_exchange,
    changed_through_a_call,
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_may_be_someone_elses_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(function)(np.ones(4), 0.5)
    assert np.array_equal(TABLE, np.ones(4))
