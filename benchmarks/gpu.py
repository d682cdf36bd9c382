"""Kernels on arrays that live on the device in use: how much of a copy's bandwidth they reach.

`python -m benchmarks.gpu` prints the table; SRCGRAD_DEVICE chooses the device. Useful bytes are those of arguments,
each read once, and of results, each written once. Calls and copies of 64 MB run in turns, the device waited for after
each; medians.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any  # arrays and results of arbitrary functions

import numpy as np

import srcgrad
import srcgrad.opencl as xp
from benchmarks.opencl import chain, layer, normal, softmax
from srcgrad.opencl.devices.device import Device
from srcgrad.opencl.devices.self_test import COPIED, copier, measure_device
from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.launch import launch

ROUNDS = 15
SIZE = 4096


def sum_of_all(x):  # type: ignore[no-untyped-def]
    """Of each element:

    REAL s = SUM(x);
    STORE(s);
    """
    return np.sum(x)


def sums_of_rows(x):  # type: ignore[no-untyped-def]
    """Of each element:

    REAL s = SUM(x; 1);
    STORE(s);
    """
    return np.sum(x, axis=1)


def sums_of_columns(x):  # type: ignore[no-untyped-def]
    """Of each element:

    REAL s = SUM(x; 0);
    STORE(s);
    """
    return np.sum(x, axis=0)


def row_added(x, b):  # type: ignore[no-untyped-def]
    """Of each element:

    REAL y = x + b_;
    STORE(y);
    """
    return x + b


def cases(real: Any) -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Title, what is called, its arguments."""

    def draw(*shape: int) -> Any:
        return np.random.default_rng(0).standard_normal(shape, real)

    def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: launch(function, *args)

    def derived(function: Callable[..., Any], *wrt: int) -> Callable[..., Any]:
        return srcgrad.value_and_grad(function, wrt=wrt, target="opencl")

    square, flat = draw(SIZE, SIZE), draw(10_000_000)
    return [
        ("sum of all, 4096 x 4096", kernel(sum_of_all), (square,)),
        ("sums of rows", kernel(sums_of_rows), (square,)),
        ("sums of columns", kernel(sums_of_columns), (square,)),
        ("a row added", kernel(row_added), (square, draw(SIZE))),
        ("chain and its gradient, 1e7", derived(chain, 0), (flat, 1.5, 0.3)),
        ("layer and its gradients, 1e7", derived(layer, 0, 1), (flat, flat[::-1].copy(), 0.3)),
        ("softmax of rows and its gradient", derived(softmax, 0), (square, square.T.copy())),
        ("rows made normal, gradients", derived(normal, 0, 1, 2), (square, draw(SIZE), draw(SIZE))),
    ]


def useful(values: Any) -> int:
    """The bytes of all arrays in nested tuples."""
    if isinstance(values, tuple):
        return sum(useful(value) for value in values)
    return int(getattr(values, "nbytes", 0))


def timed(call: Callable[..., Any], args: tuple[Any, ...], device: Device, copy: Any) -> tuple[float, float, float]:
    """Seconds of a call, its useful bytes a second, and what part that is of a copy's, both in turns."""
    size = useful(args) + useful(call(*args))
    times, parts = [], []
    for _ in range(ROUNDS):
        copied = 2 * COPIED / copy(COPIED)
        start = time.perf_counter()
        found = call(*args)
        device.queue.finish()
        times.append(time.perf_counter() - start)
        parts.append(size / times[-1] / copied)
        del found
    return median(times), size / median(times), median(parts)


def report() -> None:
    """Print the table."""
    device = current()
    bandwidth, launched = measure_device(device)
    print(f"{device.device.name.strip()} ({device.device.platform.name.strip()}): ", end="")
    print(f"copy {bandwidth:.1f} GB/s, launch {launched:.1f} us")
    print(f"{'':52}{'us':>10}{'GB/s':>8}{'of copy':>9}")
    copy = copier(device)
    for real in (np.float32, np.float64) if device.has_fp64 else (np.float32,):
        for title, call, args in cases(real):
            there = tuple(xp.asarray(value) if isinstance(value, np.ndarray) else value for value in args)
            seconds, speed, part = timed(call, there, device, copy)
            print(f"{f'{title}, {real.__name__}':52}{1e6 * seconds:10.0f}{1e-9 * speed:8.1f}{part:9.2f}")


if __name__ == "__main__":
    report()
