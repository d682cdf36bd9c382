"""One workload in one process: `python -m benchmarks.child PLACE` prints what it found as a line of JSON."""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any  # results of several libraries

import numpy as np

import srcgrad
from benchmarks.contenders import contenders, derivatives
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS

TURN = 0.02  # seconds that one contender runs before the next has its turn
SLOW = 1.0  # seconds per call from which on a contender has few turns
ALL = ("value", "hand", "text", "declared", "call", "blocks", "numba", "kernels", "autograd", "jax", "torch")
WITH_NUMPY = ("hand", "text", "declared", "call", "blocks", "autograd")  # whose memory tracemalloc sees

Call = Callable[[], Any]


def agree(workload: Workload, calls: dict[str, Call]) -> None:
    """Stop unless all derivatives are the same to rounding: a wrong gradient has no speed."""
    expected = derivatives(workload, calls["hand"]())
    single = any(array.dtype == np.float32 for array in expected)
    tolerance = 2e-3 if single else 1e-6
    for column, call in calls.items():
        if column not in ("value", "hand"):
            for found, right in zip(derivatives(workload, call()), expected, strict=True):
                scale = tolerance * max(1e-30, float(np.abs(right).max()))
                np.testing.assert_allclose(found, right, rtol=tolerance, atol=scale, err_msg=column)


def seconds(call: Call, repeats: int = 1) -> float:
    """Seconds per call."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def timed(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """Median seconds per call of each contender; they take turns, so that a slow spell meets all of them."""
    first = {column: seconds(call) for column, call in calls.items()}
    repeats = {column: max(1, int(TURN / once)) for column, once in first.items()}
    times: dict[str, list[float]] = {column: [] for column in calls}
    for turn in range(rounds):
        for column, call in calls.items():
            if turn == 0 or first[column] < SLOW:
                gc.collect()
                times[column].append(seconds(call, repeats[column]))
    return {column: median(found) for column, found in times.items()}


def peak(call: Call) -> int:
    """Bytes at most, of those that Python and NumPy ask for while a call runs."""
    gc.collect()
    tracemalloc.start()
    call()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def first_calls(workload: Workload, wanted: tuple[str, ...]) -> dict[str, float]:
    """Seconds that a first call takes more than a second one, at the small size."""
    found = {}
    for column in wanted:
        if column in ("text", "numba", "jax"):
            start = time.perf_counter()
            calls = contenders(workload, workload.small(), (column,))
            if calls:
                calls[column]()
                found[column] = time.perf_counter() - start - seconds(calls[column])
    return found


def measured(workload: Workload, wanted: tuple[str, ...], rounds: int, memory: bool) -> dict[str, Any]:
    """Times, first calls and memory of a workload."""
    contenders(WORKLOADS[-1], WORKLOADS[-1].small(), ("text",))  # srcgrad is loaded, and its rules
    first = first_calls(workload, wanted)
    calls = contenders(workload, workload.full(), wanted)
    agree(workload, calls)
    times = timed(calls, rounds)
    peaks = {column: peak(calls[column]) for column in WITH_NUMPY if memory and column in calls}
    return {"times": times, "first": first, "peaks": peaks}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("place", type=int)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(ALL))
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--kept", action="store_true", help="freed memory stays with the process")
    given = parser.parse_args()
    if given.kept:
        srcgrad.keep_memory()
    found = measured(WORKLOADS[given.place], tuple(given.require_arguments.split(",")), given.rounds, given.memory)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
