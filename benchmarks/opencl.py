"""Kernels against NumPy and against other compilers: value and gradient, arrays of NumPy in and out.

`python -m benchmarks.opencl` prints the tables of docs/opencl.md: least times of rounds in turns, in one process, then
bandwidths, launches and first calls. `--only WORD` measures what has that word in its title.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from benchmarks import bandwidths, launches, peers
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS

Call = Callable[[], Any]
SECONDS = 6.0  # of the rounds of one row
MOST = 100  # rounds
CHOSEN = ("Black-Scholes", "heat", "mixture d=32", "attention", "convolutions", "MLP")


def chain(x, a, b):  # type: ignore[no-untyped-def]
    """Elementwise functions and a sum."""
    return np.sum(np.tanh(a * x + b) * np.exp(-x * x) + np.where(x > 0.0, x, 0.1 * x))


def layer(x, w, b):  # type: ignore[no-untyped-def]
    """Two vectors of one length and a number."""
    t = np.tanh(x * w + b)
    return np.sum(t * t / (1.0 + np.exp(-t)))


def rows(x, b):  # type: ignore[no-untyped-def]
    """A matrix and a row that is added to each of its rows."""
    return np.sum(np.sin(x + b) * np.exp(-0.5 * x * x))


def softmax(x, w):  # type: ignore[no-untyped-def]
    """Softmax of rows, weighed and summed."""
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * w)


def normal(x, g, b):  # type: ignore[no-untyped-def]
    """Rows made normal, scaled and moved."""
    d = x - np.mean(x, axis=-1, keepdims=True)
    y = d / np.sqrt(np.mean(d * d, axis=-1, keepdims=True) + 1e-5) * g + b
    return np.sum(y * y)


def dense(x, w, b, t):  # type: ignore[no-untyped-def]
    """A layer against targets: products of matrices stay with the host's BLAS."""
    return np.sum((np.tanh(x @ w + b) - t) ** 2)


def symmetric(x):  # type: ignore[no-untyped-def]
    """A matrix and itself transposed."""
    return np.sum(np.tanh(x + x.T) * x)


def cases() -> list[tuple[str, Callable[..., Any], tuple[Any, ...], Any]]:
    """Title, function, arguments, with respect to what."""
    draw = np.random.default_rng(0).standard_normal
    found: list[tuple[str, Callable[..., Any], tuple[Any, ...], Any]] = []
    for real in (np.float32, np.float64):
        own = real.__name__

        def given(*shapes: Any, real: Any = real) -> tuple[Any, ...]:
            return tuple(draw(shape).astype(real) for shape in shapes)

        for size in (100, 1000, 100_000, 1_000_000, 10_000_000):
            found.append((f"chain, {size:.0e} {own}", chain, (*given(size), 1.5, 0.3), 0))
        found.append((f"layer, 1e+06 {own}", layer, (*given(1_000_000, 1_000_000), 0.3), (0, 1)))
        found.append((f"rows, 2000 x 500 {own}", rows, given((2000, 500), 500), 0))
        found.append((f"softmax, 4096 x 4096 {own}", softmax, given((4096, 4096), (4096, 4096)), 0))
        found.append((f"normal, 4096 x 1024 {own}", normal, given((4096, 1024), 1024, 1024), (0, 1, 2)))
        deep = given((4096, 512), (512, 512), 512, (4096, 512))
        found.append((f"tanh layer, 4096 x 512 {own}", dense, deep, (0, 1, 2)))
        found.append((f"transposed, 2048 x 2048 {own}", symmetric, given((2048, 2048)), 0))
    return found


def in_jax(function: Callable[..., Any], wrt: Any) -> Callable[..., Any] | None:
    """The same by JAX; None where it is not installed."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    space = {**function.__globals__, "np": jax.numpy}
    moved = type(function)(function.__code__, space)  # type: ignore[attr-defined]
    derived = jax.jit(jax.value_and_grad(moved, argnums=wrt))
    return lambda *args: jax.block_until_ready(derived(*args))


def blocked(workload: Workload, args: tuple[Any, ...], rows: int = 500) -> Call:
    """The mixture's gradient by hand, over blocks of points that stay in the cache."""

    def run() -> Any:
        alphas, means, icf, x, lower, gamma, m, constant = args
        value, found = workload.hand(alphas, means, icf, x[:rows], lower, gamma, m, constant)
        for start in range(rows, len(x), rows):
            more, parts = workload.hand(alphas, means, icf, x[start : start + rows], lower, 0.0, 0, 0.0)
            value += more
            for total, part in zip(found, parts, strict=True):
                total += part
        return value, found

    return run


def in_blocks(workload: Workload, args: tuple[Any, ...], rows: int = 200) -> Call:
    """Kernels over blocks of rows."""
    function = srcgrad.blocked(workload.function, over=workload.over, rows=rows)
    derivative: Any = srcgrad.value_and_grad(function, workload.wrt, target="opencl")
    return lambda: derivative(*args)


def _in_loops(args: tuple[Any, ...]) -> Call:
    from benchmarks import numba_hand

    return lambda: numba_hand.prices(*args)


def others(workload: Workload, args: tuple[Any, ...]) -> dict[str, Call]:
    """Those that are installed."""
    found: dict[str, Call] = {}
    makers: dict[str, Callable[[], Call]] = {"JAX": lambda: peers.with_jax(workload, args)}
    if workload.function.__name__ == "prices":
        makers["PyTorch"] = lambda: peers.with_torch(workload, args)
        makers["Numba, by hand"] = lambda: _in_loops(args)
    if workload.function.__name__ == "mixture":
        found["NumPy in blocks"] = blocked(workload, args)
        found["kernels in blocks"] = in_blocks(workload, args)
    for name, make in makers.items():
        try:
            found[name] = make()
        except ImportError:
            continue
    return found


def least(calls: dict[str, Call], seconds: float = SECONDS) -> dict[str, float]:
    """Microseconds of the quickest call of each; they take turns, so that a slow spell meets all of them."""
    for call in calls.values():
        call()
        call()
    times = dict.fromkeys(calls, float("inf"))
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 3 or (rounds < MOST and time.perf_counter() < end):
        for key, call in calls.items():
            start = time.perf_counter()
            call()
            times[key] = min(times[key], 1e6 * (time.perf_counter() - start))
        rounds += 1
    return times


def report(word: str, seconds: float) -> None:
    """Print the first two tables."""
    print("| microseconds, the least | NumPy | kernels | JAX jit | NumPy / kernels | JAX / kernels |")
    print("|---|---:|---:|---:|---:|---:|")
    for title, function, args, wrt in cases():
        if word in title:
            jax = in_jax(function, wrt)
            derived = {key: srcgrad.value_and_grad(function, wrt=wrt, target=key) for key in ("numpy", "opencl")}
            calls = {key: _of(call, args) for key, call in [*derived.items(), ("jax", jax)] if call is not None}
            found = least(calls, seconds)
            cells = [f"{found[key]:,.0f}" if key in found else "" for key in ("numpy", "opencl", "jax")]
            over = [f"{found[key] / found['opencl']:.2f}" if key in found else "" for key in ("numpy", "jax")]
            print(f"| {title} | {' | '.join([*cells, *over])} |", flush=True)
    print("\n| | NumPy by hand, ms | kernels / by hand | others / by hand |\n|---|---:|---:|---|")
    for workload in WORKLOADS:
        if workload.title.startswith(CHOSEN) and word in workload.title:
            args = workload.full()
            kernels = _of(workload.derivative("opencl"), args)
            found = least({"hand": _of(workload.hand, args), "kernels": kernels, **others(workload, args)}, seconds)
            rest = [f"{key} {found[key] / found['hand']:.2f}" for key in found if key not in ("hand", "kernels")]
            hand, ratio = found["hand"] / 1e3, found["kernels"] / found["hand"]
            print(f"| {workload.title} | {hand:.1f} | {ratio:.2f} | {', '.join(rest)} |", flush=True)


def _of(call: Callable[..., Any], args: tuple[Any, ...]) -> Call:
    return lambda: call(*args)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Kernels, NumPy, and other compilers.")
    parser.add_argument("--only", default="", help="only rows that have this word, and no further tables")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the rounds of each row")
    given = parser.parse_args()
    report(given.require_arguments, given.seconds)
    if not given.require_arguments:
        for more in (bandwidths, launches):
            print()
            more.report()
