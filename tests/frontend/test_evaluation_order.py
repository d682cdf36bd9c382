"""What nothing reads stays where a later call would give something else without it: draws, items, counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hessian
from srcgrad.interface.dump import dump

COUNTS = {"n": 0}
TAKEN: list[float] = []


class Clock:
    """Counts how often it is asked."""

    ticks = 0

    def tick(self):
        self.ticks += 1
        return self.ticks

    def sum(self):
        """Named as what arrays have, which changes none."""
        self.ticks += 2
        return self.ticks


CLOCK = Clock()


def noise(rng):
    return rng.normal()


def twice(rng):
    return 2.0 * noise(rng)


def counted():
    COUNTS["n"] += 1
    return COUNTS["n"]


def taken():
    TAKEN.append(1.0)
    return len(TAKEN)


def of_a_function(x):
    rng = np.random.default_rng(0)
    _ = noise(rng)
    u = twice(rng)
    u = twice(rng) + 1.0
    return np.sum(x * x) * noise(rng) * u


def in_an_expression(x):
    rng = np.random.default_rng(0)
    _ = 2.0 * rng.normal()
    _ = x[0] * rng.normal()
    _, b = rng.normal(), rng.normal()
    return np.sum(x * x) * b * rng.normal()


def in_headers(x):
    rng = np.random.default_rng(0)
    _ = [rng.normal() for _ in range(2)]
    for _ in range(rng.integers(2, 4)):
        _ = rng.normal() * 2.0
    if noise(rng) > 0.0:
        _ = 1.0
    return np.sum(x * x) * rng.normal()


def in_a_closure(x):
    rng = np.random.default_rng(0)

    def draw():
        return rng.normal()

    _ = draw()
    return np.sum(x * x) * draw()


def overwritten(x):
    rng = np.random.default_rng(0)
    y = x * 1.0
    y[0] = rng.normal()
    y = x * rng.normal()
    return np.sum(y * y)


def of_an_iterator(x):
    items = iter([1.0, 2.0, 3.0])
    _ = next(items) * 2.0
    return np.sum(x * x) * next(items)


CASES = (of_a_function, in_an_expression, in_headers, in_a_closure, overwritten, of_an_iterator)


@pytest.mark.parametrize("f", CASES)
def test_it_is_drawn_all_the_same(f: Callable[..., Any]) -> None:
    x = np.array([1.0, -0.5])
    slope = 2.0 * x * f(np.array([1.0, 0.0]))  # f is quadratic
    assert np.allclose(grad(f)(x), slope, rtol=1e-12)
    assert np.allclose(hessian(f)(x), np.diag(slope / x), rtol=1e-12)


@pytest.mark.parametrize(
    "given", [counted, taken, lambda: CLOCK.tick(), lambda: CLOCK.sum(), lambda: np.random.normal()]
)
def test_of_what_is_outside(given: Callable[..., Any]) -> None:
    def weighted(x):
        _ = given() + 1.0
        _ = given()
        return np.sum(x * x) * given()

    def began(f, x):
        COUNTS["n"], CLOCK.ticks = 0, 0
        TAKEN.clear()
        np.random.seed(3)
        return f(x)

    x = np.array([1.0])
    assert began(grad(weighted), x) == 2.0 * began(weighted, x)


def test_in_a_dumped_module() -> None:
    text = "import random\n\ndef f(x):\n    u = random.random() + 1.0\n    return x * x * random.random()\n"
    lines = [line.partition("#")[0] for line in dump("-", text=text).text.split("\n")]
    assert sum("random.random()" in line for line in lines) == 2
