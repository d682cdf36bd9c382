"""A method of an object's own class named as one that changes an array, `fill`, `sort`, `put`, is never an array's."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any  # objects of the tests' own

import numpy as np
import pytest

import srcgrad


@dataclasses.dataclass
class Held:
    v: Any
    w: Any = None

    def fill(self, x: Any) -> None:
        self.v = self.v * x

    def sort(self) -> None:
        self.v = self.v * 2.0

    def put(self, i: Any, x: Any) -> None:
        self.v = self.v * x + i

    def partition(self, k: Any) -> None:
        self.v += k


def filled(s: Any, a: Any) -> Any:
    s.fill(a)
    return s.v * a


def ordered(s: Any, a: Any) -> Any:
    s.sort()
    return s.v * a


def placed(s: Any, a: Any) -> Any:
    s.put(2, a)
    return s.v * a


def parted(s: Any, a: Any) -> Any:
    s.partition(a)
    return s.v * a


def by_another_name(s: Any, a: Any) -> Any:
    t = s
    t.fill(a)
    return s.v * a


def made_here(s: Any, a: Any) -> Any:
    u = Held(a)
    u.fill(a)
    return u.v * a + s.v


def of_a_field(s: Any, a: Any) -> Any:
    s.w.fill(a)
    return s.w.v * a


OWN = (filled, ordered, placed, parted, by_another_name, made_here, of_a_field)


@pytest.mark.parametrize("wrt", [1, (0, 1)])
@pytest.mark.parametrize("function", OWN)
def test_own_methods_are_run_or_refused(function: Callable[..., Any], wrt: Any) -> None:
    held = Held(0.5, Held(0.7))
    value = function(copy.deepcopy(held), 0.3)
    try:
        got, _ = srcgrad.value_and_grad(function, wrt=wrt)(held, 0.3)
    except srcgrad.DifferentiationError as error:
        assert error.code in ("E5003", "E5005", "E5010")
        return
    assert got == pytest.approx(value, rel=1e-15)


def test_arrays_are_filled() -> None:
    def total(x: Any) -> Any:
        y = 2.0 * x
        y[1:].fill(x[0])
        return np.sum(y * x)

    assert srcgrad.grad(total)(np.array([0.5, 0.3])).tolist() == [2.3, 0.5]


class Backed:
    """A module that all objects of a class hold, and a method that is named like an array's."""

    xp = np

    def sum(self, v):
        return self.xp.sum(v * v) * 2.0


BACKED = Backed()


@pytest.mark.parametrize("f", [lambda x: BACKED.sum(x), lambda x: BACKED.xp.sum(x * x)])
def test_modules_that_a_class_holds(f):
    srcgrad.check_grads(f, (np.array([0.3, 0.9]),), order=2)
