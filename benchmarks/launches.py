"""What kernels cost beside their work: launches, what is built in later calls, the first call cold and from disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any  # functions and arrays

import numpy as np

import srcgrad
from benchmarks.workloads import WORKLOADS

PROCESSES = 2
FIRST = ("mixture d=32", "chain", "softmax", "Black-Scholes", "heat")
MIXTURE = next(k for k, workload in enumerate(WORKLOADS) if workload.title.startswith("mixture"))


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """How many kernels are launched, programs built and large buffers asked for meanwhile."""
    from srcgrad.opencl.devices import device
    from srcgrad.opencl.devices.device import Device

    counts = {"launches": 0, "builds": 0, "buffers": 0}
    run, built, empty = Device.run, Device._built, device.np.empty

    def launching(self: Device, *args: Any) -> None:
        counts["launches"] += 1
        run(self, *args)

    def building(self: Device, *args: Any) -> Any:
        counts["builds"] += 1
        return built(self, *args)

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def empty(self, shape: Any, dtype: Any) -> Any:
            counts["buffers"] += isinstance(shape, int) and shape >= device.LARGE
            return empty(shape, dtype)

    patched: list[tuple[Any, str, Any]] = [(Device, "run", launching), (Device, "_built", building)]
    patched.append((device, "np", Counting()))
    kept = [getattr(owner, name) for owner, name, _ in patched]
    for owner, name, value in patched:
        setattr(owner, name, value)
    try:
        yield counts
    finally:
        for (owner, name, _), value in zip(patched, kept, strict=True):
            setattr(owner, name, value)


def backward() -> str:
    """Launches of the pullback of a layer."""

    def layer(x: Any, w: Any, b: Any) -> Any:
        return np.tanh(x * w + b)

    draw = np.random.default_rng(0).standard_normal
    found = []
    for shapes in (((500, 400), (400,), ()), ((500, 400), (400,), (500, 1)), ((500, 1), (400,), (500, 400))):
        y, back = srcgrad.vjp(layer, *map(draw, shapes), target="opencl")
        back(y)
        with counted() as counts:
            back(y)
        found.append(counts["launches"])
    return str(max(found))


def steady() -> str:
    """What 100 calls build and ask for when there were some before."""
    workload = WORKLOADS[MIXTURE]
    derivative, args = workload.derivative("opencl"), workload.full()
    held = [derivative(*args) for _ in range(3)]
    with counted() as counts:
        for _ in range(100):
            held[0] = derivative(*args)
    return f"{counts['builds']}, {counts['buffers']}"


def first(title: str) -> tuple[float, float]:
    """Seconds of the first call of a gradient, and of those on CPUs; the device is open."""
    from srcgrad.opencl.devices.trusted import current

    current()
    function, wrt, args = _case(title)
    srcgrad.value_and_grad(lambda x: np.sum(x * x))(np.ones(3))  # srcgrad is loaded, and its rules
    start, used = time.perf_counter(), time.process_time()
    derivative: Any = srcgrad.value_and_grad(function, wrt, target="opencl")
    derivative(*args)
    return time.perf_counter() - start, time.process_time() - used


def _case(title: str) -> tuple[Any, Any, tuple[Any, ...]]:
    """A function, with respect to what, and arguments: a workload in full, or a function of benchmarks.opencl."""
    from benchmarks import opencl

    draw = np.random.default_rng(0).standard_normal
    if title == "chain":
        return opencl.chain, 0, (draw(1_000_000), 1.5, 0.3)
    if title == "softmax":
        return opencl.softmax, 0, (draw((2000, 2000)), draw((2000, 2000)))
    workload = next(workload for workload in WORKLOADS if workload.title.startswith(title))
    return workload.function, workload.wrt, workload.full()


def firsts(title: str) -> list[str]:
    """Seconds of the first call, and of the whole process: with an empty cache, and with what that left on disk.

    The least of some processes; of the first call, in parentheses, the time that it computes.
    """
    found: dict[str, list[list[float]]] = {"cold": [], "disk": []}
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("cold", "disk", "disk"):
                command = [sys.executable, "-m", "benchmarks.launches", title]
                start = time.perf_counter()
                child = subprocess.run(
                    command, env={**os.environ, "POCL_CACHE_DIR": folder}, capture_output=True, text=True, check=True
                )
                whole = time.perf_counter() - start
                found[kind].append([*(float(part) for part in child.stdout.split()), whole])
    least = [[min(column) for column in zip(*rows, strict=True)] for rows in found.values()]
    return [f"{called:.2f} ({used:.2f})" for called, used, _ in least] + [f"{whole:.1f}" for _, _, whole in least]


def report() -> None:
    """Print the table."""
    print("| | |\n|---|---:|")
    print(f"| launches of the pullback of `tanh(x * w + b)` | {backward()} |")
    print(f"| programs built, buffers of 256 KiB or more asked for, in 100 further calls of the mixture | {steady()} |")
    print(
        "\n| first calls, seconds | cold | from disk | process, cold | process, from disk |\n|---|---:|---:|---:|---:|"
    )
    for title in FIRST:
        print(f"| {title} | {' | '.join(firsts(title))} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(*first(sys.argv[1]))
    else:
        report()
