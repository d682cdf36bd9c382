"""Kernels against NumPy (and JAX, where it is installed): value and gradient, arrays of NumPy in and out.

`python -m benchmarks.opencl` prints the table; medians of rounds in turns, in one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad


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


def heat(u, c, steps):  # type: ignore[no-untyped-def]
    """Explicit steps of the heat equation, in place."""
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u * u)


IN_PLACE = (heat,)  # what JAX does not take as it is


def cases() -> list[tuple[str, Callable[..., Any], tuple[Any, ...], Any]]:
    """Title, function, arguments, with respect to what."""
    draw = np.random.default_rng(0).standard_normal
    found: list[tuple[str, Callable[..., Any], tuple[Any, ...], Any]] = []
    for real in (np.float32, np.float64):
        for size in (100, 1000, 100_000, 10_000_000):
            found.append((f"chain, {size:.0e} {real.__name__}", chain, (draw(size).astype(real), 1.5, 0.3), 0))
        pair = tuple(draw(1_000_000).astype(real) for _ in range(2))
        found.append((f"layer, 1e+06 {real.__name__}", layer, (*pair, 0.3), (0, 1)))
        found.append(
            (f"rows, 2000 x 500 {real.__name__}", rows, (draw((2000, 500)).astype(real), draw(500).astype(real)), 0)
        )
        square = tuple(draw((2048, 2048)).astype(real) for _ in range(2))
        found.append((f"softmax, 2048 {real.__name__}", softmax, square, 0))
        narrow = tuple(draw(shape).astype(real) for shape in ((4096, 1024), 1024, 1024))
        found.append((f"normal, 4096 x 1024 {real.__name__}", normal, narrow, (0, 1, 2)))
        deep = tuple(draw(shape).astype(real) for shape in ((4096, 512), (512, 512), 512, (4096, 512)))
        found.append((f"dense, 4096 x 512 {real.__name__}", dense, deep, (0, 1, 2)))
        found.append((f"heat, 200 x 200 x 100 {real.__name__}", heat, (draw((200, 200)).astype(real), 0.1, 100), 0))
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


def report() -> None:
    """Print the table."""
    print(f"{'microseconds':28}{'NumPy':>11}{'kernels':>11}{'JAX':>11}{'NumPy/kernels':>15}{'JAX/kernels':>13}")
    for title, function, args, wrt in cases():
        calls: dict[str, Any] = {
            "NumPy": srcgrad.value_and_grad(function, wrt=wrt),
            "kernels": srcgrad.value_and_grad(function, wrt=wrt, target="opencl"),
            "JAX": None if function in IN_PLACE else in_jax(function, wrt),
        }
        calls = {key: call for key, call in calls.items() if call is not None}
        times: dict[str, list[float]] = {key: [] for key in calls}
        for call in calls.values():
            call(*args)
        for _ in range(5 if args[0].size > 1_000_000 else 30):
            for key, call in calls.items():
                start = time.perf_counter()
                call(*args)
                times[key].append(1e6 * (time.perf_counter() - start))
        found = {key: median(each) for key, each in times.items()}
        jax = f"{found['JAX']:11.1f}" if "JAX" in found else f"{'-':>11}"
        ratio = found["NumPy"] / found["kernels"]
        over = f"{found['JAX'] / found['kernels']:13.2f}" if "JAX" in found else f"{'-':>13}"
        print(f"{title:28}{found['NumPy']:11.1f}{found['kernels']:11.1f}{jax}{ratio:15.1f}{over}")


if __name__ == "__main__":
    report()
