"""What is kept of a loop and what is computed again, counted; Griewank and Walther's formula against all schedules."""

from __future__ import annotations

import functools
import math
import tracemalloc

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime import Snapshots
from tests.programs.recomputed import program


def advances(trips: int, slots: int) -> int:
    """Steps that are advanced to walk back over a loop, the last one not counted: r n - C(s + r, s + 1)."""
    repeats = 0
    while math.comb(slots + repeats, slots) < trips:
        repeats += 1
    return repeats * trips - math.comb(slots + repeats, slots + 1)


@functools.cache
def fewest(trips: int, slots: int) -> int:
    """The same, as the best of all places for the next state to keep."""
    if trips <= 1:
        return 0
    if slots == 1:
        return trips * (trips - 1) // 2
    ahead = range(1, trips)
    return min(m + fewest(trips - m, slots - 1) + fewest(m, slots) for m in ahead)


def walked(trips: int, slots: int | None, known: bool) -> tuple[int, int]:
    """Steps made again, and the most states held, of a loop that counts; every state is right, last first."""
    states = Snapshots(trips if known else None, slots)
    made = held = 0

    def step(state):
        nonlocal made
        made += 1
        return state + 1

    for trip in range(trips):
        states.append(trip)
        held = max(held, len(states.kept))
    assert list(states.backwards(step)) == list(reversed(range(trips)))
    return made, held


def test_formula_is_the_optimum():
    for slots in range(1, 7):
        assert [advances(n, slots) for n in range(1, 41)] == [fewest(n, slots) for n in range(1, 41)]


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8])
def test_as_few_steps_as_can_be(slots):
    """The loop itself advances n - 1 steps before its last one; the rest is made again."""
    for trips in range(1, 60):
        made, held = walked(trips, slots, known=True)
        assert made + trips - 1 == advances(trips, slots)
        assert held <= slots


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8, 20])
def test_online(slots):
    """Where the number of trips is not known: no more than slots states, at most r + 1 advances a step."""
    for trips in [*range(1, 60), 200, 1000]:
        if slots == 1 and trips > 200:
            continue
        made, held = walked(trips, slots, known=False)
        repeats = next(r for r in range(trips + 1) if math.comb(slots + r, slots) >= trips)
        assert held <= slots
        assert made + trips - 1 <= (repeats + 1) * trips
        assert made + trips - 1 <= 1.5 * advances(trips, slots)


@pytest.mark.parametrize("known", [True, False])
def test_square_root(known):
    """Without slots: each step at most once more, kept states and those of one stretch at most 2.5 sqrt(n) + 2."""
    for trips in [*range(80), 1000, 10000]:
        states = Snapshots(trips if known else None)
        for trip in range(trips):
            states.append(trip)
        stretch = max((b[0] - a[0] for a, b in zip(states.kept, states.kept[1:], strict=False)), default=trips)
        made, held = walked(trips, None, known)
        assert made < max(trips, 1)
        assert max(held, len(states.kept) + stretch) <= 2.5 * math.sqrt(trips) + 2


SETTLE = """
def f(x, n):
    h = x
    for t in LOOP(range(n)SLOTS):
        h = np.sin(h) * tick(t)
    return np.sum(h)
"""


def counted(slots: str, trips: int) -> int:
    """Evaluations of the body in a gradient: forwards, again, and once for each pullback."""
    made = 0

    @srcgrad.nondifferentiable
    def tick(t):
        nonlocal made
        made += 1
        return 1.0

    function = program(SETTLE.replace("SLOTS", slots), True)
    function.__globals__["tick"] = tick
    srcgrad.grad(function)(np.ones(2), trips)
    return made


@pytest.mark.parametrize(("trips", "slots"), [(1, 1), (10, 3), (56, 5), (100, 4)])
def test_evaluations(trips, slots):
    """n in the loop, t(n, s) - (n - 1) again, n for the pullbacks."""
    again = advances(trips, slots) - (trips - 1)
    assert counted(f", slots={slots}", trips) == trips + again + trips


def test_evaluations_of_the_square_root():
    """Ten stretches, of each 9 steps again, but for the one whose last state is still there."""
    assert counted("", 100) == 100 + 89 + 100


def peak(slots: str, trips: int, size: int) -> float:
    """The most memory that a gradient takes, in states."""
    function = program(SETTLE.replace("SLOTS", slots).replace(" * tick(t)", " * 0.99"), True)
    grad, x = srcgrad.grad(function), np.linspace(0.1, 1.0, size)
    grad(x, 3)
    tracemalloc.start()
    grad(x, trips)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / x.nbytes


def test_memory():
    """A recurrence of 10,000 steps: 25 states with 20 slots, 2.5 sqrt(n) without."""
    assert peak(", slots=20", 10_000, 2_000) <= 25.0
    assert peak("", 10_000, 2_000) <= 2.5 * math.sqrt(10_000)


def written_before(x):
    a = x * 1.0
    t = np.sin(a)
    a[0] = a[1] * a[1] * a[0]
    for _ in srcgrad.checkpointed(range(6)):
        a[1] = np.sin(a[0]) * a[2]
        a[0] = a[0] * a[1] + 0.3
    return np.sum(a * a) + np.sum(t)


def inside_of_another(x):
    a = x * 1.0
    for _ in range(2):
        a[0] = a[1] * a[0]
        for _ in srcgrad.checkpointed(range(5), slots=2):
            a[1] = np.sin(a[0]) * a[2]
            a[0] = a[0] * a[1] + 0.3
    return np.sum(a * a)


@pytest.mark.parametrize("f", [written_before, inside_of_another])
def test_a_pullback_leaves_what_was_kept_as_it_was(f):
    """It is called twice: states that are kept are walked back over in copies, and written into in copies."""
    srcgrad.check_grads(f, (np.array([0.3, 0.7, 0.9]),), order=1)
