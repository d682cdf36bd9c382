"""Compiled gradients against those written by hand for Numba: `python -m benchmarks.numba`.

All contenders of a workload take turns in one process; a row has medians, and the ratio of the medians. *compiled* is
what Numba made of srcgrad's text (`.njit`), *call* the same through srcgrad's function, which looks at its arguments.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any  # functions and arguments are arbitrary objects

import numpy as np

import srcgrad
from benchmarks import numba_bundle, numba_hand
from benchmarks.workloads import bundle, heat, scalars

Row = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], tuple[Any, ...], int]


def heat_in_loops(u0: Any, alpha: float, n: int) -> float:
    """The steps of `heat`, with a loop for each sum over the square."""
    u = u0.copy()
    for _ in range(n):
        around = np.zeros((u.shape[0] - 2, u.shape[1] - 2))
        for i in range(u.shape[0] - 2):
            for j in range(u.shape[1] - 2):
                around[i, j] = u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - 4.0 * u[i + 1, j + 1]
        for i in range(u.shape[0] - 2):
            for j in range(u.shape[1] - 2):
                u[i + 1, j + 1] += alpha * around[i, j]
    return float(np.sum(u * u))


def of_gradient(f: Callable[..., Any], hand: Callable[..., Any], wrt: Any, args: tuple[Any, ...], repeat: int) -> Row:
    """A workload whose gradient is a number or some: hand-written, compiled, called."""
    call = srcgrad.value_and_grad(f, wrt, target="numba")
    found, expected = call(*args), hand(*args)
    for one, other in zip(_flat(found), _flat(expected), strict=True):
        assert np.allclose(one, other, rtol=1e-8), f.__name__
    return hand, call.njit, call, args, repeat


def of_items(observations: int) -> Row:
    """Bundle adjustment: blocks of the Jacobian, one item for each observation."""
    random = np.random.default_rng(0)
    cameras = random.normal(size=(observations, 11)) * 0.1 + np.array([0, 0, 0, 0, 0, 5.0, 1, 0, 0, 0, 0])
    shape = (observations, 3)
    args = (cameras, random.normal(size=shape), random.random(observations), random.normal(size=(observations, 2)))
    call = srcgrad.each(bundle.residual, wrt=("cam", "point", "w"), target="numba")
    for one, other in zip(_flat(call(*args)), _flat(numba_bundle.residuals(*args)), strict=True):
        assert np.allclose(one, other, rtol=1e-8)
    return numba_bundle.residuals, call.njit, call, args, 1


def _flat(found: Any) -> list[Any]:
    return [part for one in found for part in _flat(one)] if isinstance(found, tuple) else [found]


def workloads() -> dict[str, Callable[[], Row]]:
    """Name -> what makes the contenders."""
    orbit, cycle = (0.4, 3.2, 1000), (10.0, 5.0, 1.1, 0.4, 0.4, 0.1, 10_000, 0.005)
    return {
        "Newton's square root": lambda: of_gradient(scalars.newton, numba_hand.newton, 0, (2.7e5,), 1000),
        "logistic map, 1,000 steps": lambda: of_gradient(scalars.logistic, numba_hand.logistic, (0, 1), orbit, 50),
        "Lotka-Volterra, 10,000 steps": lambda: of_gradient(
            scalars.predators, numba_hand.predators, (0, 1, 2, 3, 4, 5), cycle, 1
        ),
        "bundle adjustment, 31,843 observations": lambda: of_items(31_843),
        "heat equation 200x200x500": lambda: of_gradient(
            heat.heat, numba_hand.heat, (0, 1), heat.arguments(200, 500), 1
        ),
        "heat equation in loops": lambda: of_gradient(
            heat_in_loops, numba_hand.heat, (0, 1), heat.arguments(200, 500), 1
        ),
    }


def measured(row: Row, rounds: int) -> list[float]:
    """Median times in seconds of the three contenders, which take turns."""
    *contenders, args, repeat = row
    times: list[list[float]] = [[] for _ in contenders]
    for _ in range(rounds):
        for kept, contender in zip(times, contenders, strict=True):
            start = time.perf_counter()
            for _ in range(repeat):
                contender(*args)
            kept.append((time.perf_counter() - start) / repeat)
    return [statistics.median(kept) for kept in times]


def main() -> None:
    """Print a table as the page has it."""
    print("| workload | hand-written, ms | compiled | ratio | call | first call, s |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, make in workloads().items():
        start = time.perf_counter()
        row = make()
        first = time.perf_counter() - start
        hand, compiled, call = (1e3 * t for t in measured(row, 7 if "heat" in name else 31))
        print(
            f"| {name} | {hand:.4g} | {compiled:.4g} | {compiled / hand:.2f} | {call:.4g} | {first:.1f} |", flush=True
        )


if __name__ == "__main__":
    main()
