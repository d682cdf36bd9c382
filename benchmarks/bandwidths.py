"""How much of the bandwidth of a copy kernels have that do next to nothing: sums, running ones too, a transpose."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any  # kernels take arrays of any kind

import numpy as np

SIDE = 4096
ROUNDS = 5
IN_A_ROW = 5  # the first ones wait until what the one before left in the caches has gone to memory


def kernel(lines: str, names: str) -> Callable[..., Any]:
    """A kernel of some lines, as generated text has them."""
    space: dict[str, Any] = {}
    exec(f"def f({names}): raise TypeError('not the arguments of the kernel')", space)
    function: Callable[..., Any] = space["f"]
    function.__doc__ = f"Of each element:\n\n{lines}"
    return function


def cases(x: Any, w: Any) -> list[tuple[str, Callable[..., Any], tuple[Any, ...], int]]:
    """Title, kernel, arguments, and how often an array of the size of `x` is read or written."""
    products = "REAL s = CUMPROD(x * 0.01 + 1.0; 1);\nSTORE(s);"  # of x itself they would soon be too small for numbers
    return [
        ("sum of all", kernel("REAL s = SUM(x);\nSTORE(s);", "x"), (x,), 1),
        ("sums of rows", kernel("REAL s = SUM(x; 1);\nSTORE(s);", "x"), (x,), 1),
        ("sums of columns", kernel("REAL s = SUM(x; 0);\nSTORE(s);", "x"), (x,), 1),
        ("a row added to each", kernel("REAL y = x + w;\nSTORE(y);", "x, w"), (x, w), 2),
        ("running sum of all", kernel("REAL s = CUMSUM(x);\nSTORE(s);", "x"), (x.reshape(-1),), 2),
        ("running sums of rows", kernel("REAL s = CUMSUM(x; 1);\nSTORE(s);", "x"), (x,), 2),
        ("running sums of columns", kernel("REAL s = CUMSUM(x; 0);\nSTORE(s);", "x"), (x,), 2),
        ("running products of rows", kernel(products, "x"), (x,), 2),
        ("transposed", kernel("REAL y = x + 1.0;\nSTORE(y);", "x"), (x.T,), 2),
    ]


def report() -> None:
    """Print the table."""
    from srcgrad.opencl.launch import launch

    print("| of the bandwidth of a copy kernel, 4096 x 4096 | float32 | float64 |\n|---|---:|---:|")
    found: dict[str, list[str]] = {}
    for real in (np.float32, np.float64):
        x = np.random.default_rng(0).standard_normal((SIDE, SIDE)).astype(real)
        copy = kernel("REAL y = x + 0.0;\nSTORE(y);", "x")
        every = [("copy", copy, (x,), 2), *cases(x, x[0].copy())]
        times = dict.fromkeys((title for title, *_ in every), float("inf"))
        for _ in range(ROUNDS):
            for title, function, args, _ in every:
                for _ in range(IN_A_ROW):
                    start = time.perf_counter()
                    launch(function, *args)
                    times[title] = min(times[title], time.perf_counter() - start)
        speed = {title: arrays * x.nbytes / times[title] for title, _, _, arrays in every}
        found.setdefault("copy, GB/s", []).append(f"{speed['copy'] / 1e9:.1f}")
        for title in list(speed)[1:]:
            found.setdefault(title, []).append(f"{speed[title] / speed['copy']:.2f}")
    for title, cells in found.items():
        print(f"| {title} | {' | '.join(cells)} |")


if __name__ == "__main__":
    report()
