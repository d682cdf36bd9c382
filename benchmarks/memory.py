"""Memory, steps and time of a recurrence by what is kept of it: `python -m benchmarks.memory`.

A row is one gradient of 10,000 steps of a state of `SIZE` floats: peak memory in states (tracemalloc), and time as a
ratio to the loop without a marker, in one run.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any  # gradients of several functions

import numpy as np

import srcgrad

SIZE = 2_000


def recorded(x: Any, trips: int) -> Any:
    """Every state is kept."""
    for _ in range(trips):
        x = np.sin(x) * 0.99
    return np.sum(x)


def roots(x: Any, trips: int) -> Any:
    """Every hundredth state of 10,000."""
    for _ in srcgrad.checkpointed(range(trips)):
        x = np.sin(x) * 0.99
    return np.sum(x)


def slots(x: Any, trips: int) -> Any:
    """Twenty states, as few steps as can be."""
    for _ in srcgrad.checkpointed(range(trips), slots=20):
        x = np.sin(x) * 0.99
    return np.sum(x)


def online(x: Any, trips: int) -> Any:
    """Twenty states, the number of trips not known."""
    k = 0
    while srcgrad.checkpointed(k < trips, slots=20):
        x = np.sin(x) * 0.99
        k += 1
    return np.sum(x)


def measured(function: Callable[..., Any], trips: int) -> tuple[float, float]:
    """Seconds, and peak memory in states."""
    grad, x = srcgrad.grad(function), np.linspace(0.1, 1.0, SIZE)
    grad(x, 3)
    start = time.perf_counter()
    grad(x, trips)
    seconds = time.perf_counter() - start
    tracemalloc.start()
    grad(x, trips)
    peak = tracemalloc.get_traced_memory()[1] / x.nbytes
    tracemalloc.stop()
    return seconds, peak


def main(trips: int = 10_000) -> None:
    """Print a row for each way to keep states."""
    base, _ = measured(recorded, trips)
    print(f"{trips} steps of {SIZE} floats\n{'':10}{'states':>10}{'time':>8}")
    for function in (recorded, roots, slots, online):
        seconds, peak = measured(function, trips)
        print(f"{function.__name__:10}{peak:10.1f}{seconds / base:8.2f}")


if __name__ == "__main__":
    main()
