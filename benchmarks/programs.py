"""Programs that write into arrays: time and memory of value and gradient, over those of the value alone.

`python -m benchmarks.programs` prints the table; medians of rounds in turns, in one process.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad

ROUNDS = 7


def implicit(u, alpha, steps):  # type: ignore[no-untyped-def]
    """Alternating directions: tridiagonal sweeps along both axes."""
    n = u.shape[0]
    u, v, p, q = u.copy(), np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    b, d = 1.0 + 2.0 * alpha, 1.0 - 2.0 * alpha
    for _ in range(steps):
        v[0, :] = 1.0
        p[:, 0] = 0.0
        q[:, 0] = v[0, :]
        for j in range(1, n - 1):
            p[1:-1, j] = alpha / (b - alpha * p[1:-1, j - 1])
            right = alpha * u[j, :-2] + d * u[j, 1:-1] + alpha * u[j, 2:]
            q[1:-1, j] = (right + alpha * q[1:-1, j - 1]) / (b - alpha * p[1:-1, j - 1])
        v[-1, :] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[:, 0] = 1.0
        q[:, 0] = u[:, 0]
        for j in range(1, n - 1):
            right = alpha * v[:-2, j] + d * v[1:-1, j] + alpha * v[2:, j]
            q[1:-1, j] = (right + alpha * q[1:-1, j - 1]) / (b - alpha * p[1:-1, j - 1])
        u[:, -1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return np.sum(u * u)


def cholesky(a):  # type: ignore[no-untyped-def]
    """The logarithm of the determinant, by a factor that is computed in place, column by column."""
    n = a.shape[0]
    a = a.copy()
    for j in range(n):
        a[j, j] = np.sqrt(a[j, j] - np.dot(a[j, :j], a[j, :j]))
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
    return np.sum(np.log(np.diag(a)))


def right_looking(a):  # type: ignore[no-untyped-def]
    """The same, with each column taken off those on its right, one by one: short vectors only."""
    n = a.shape[0]
    a = a.copy()
    for j in range(n):
        a[j, j] = np.sqrt(a[j, j])
        a[j + 1 :, j] /= a[j, j]
        for k in range(j + 1, n):
            a[k:, k] -= a[k:, j] * a[k, j]
    return np.sum(np.log(np.diag(a)))


def programs() -> list[tuple[str, Callable[..., Any], tuple[Any, ...], Any, float]]:
    """Title, function, arguments, with respect to what, and the most that the ratio may be."""
    draw = np.random.default_rng(0).standard_normal
    square = draw((120, 120))
    spd = square @ square.T + 120.0 * np.eye(120)
    return [
        ("ADI, 100 x 100, 20 steps", implicit, (draw((100, 100)), 0.3, 20), 0, 4.0),
        ("Cholesky in place, 120 x 120", cholesky, (spd,), 0, 5.0),
        ("Cholesky, right-looking", right_looking, (spd,), 0, 5.0),
    ]


def report() -> bool:
    """Print the table; whether every ratio is within its limit."""
    print(f"{'':32}{'value ms':>10}{'gradient ms':>13}{'ratio':>8}{'limit':>7}{'peak MB':>9}")
    within = True
    for title, function, arguments, wrt, limit in programs():
        derived = srcgrad.value_and_grad(function, wrt=wrt)
        derived(*arguments)
        times: dict[Any, list[float]] = {function: [], derived: []}
        for _ in range(ROUNDS):
            for call, found in times.items():
                start = time.perf_counter()
                call(*arguments)
                found.append(time.perf_counter() - start)
        tracemalloc.start()
        derived(*arguments)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        value, gradient = median(times[function]), median(times[derived])
        ratio = gradient / value
        within = within and ratio <= limit
        print(f"{title:32}{1e3 * value:10.1f}{1e3 * gradient:13.1f}{ratio:8.2f}{limit:7.1f}{peak:9.1f}")
    return within


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
