"""What `srcgrad.keep_memory()` gains: `python -m benchmarks.kept`.

A row is one derivative: the time without it over the time with it, and page faults per call of both. Each number comes
from processes of its own, which take turns; the median of three is shown with the spread.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any  # derivatives of several functions

import numpy as np

import srcgrad


def attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    """The mean square of the output of one head."""
    scores = (x @ wq) @ np.swapaxes(x @ wk, 1, 2) * 0.0625
    e = np.exp(scores - np.max(scores, axis=2, keepdims=True))
    p = e / np.sum(e, axis=2, keepdims=True)
    o = p @ (x @ wv) @ wo
    return np.mean(o * o)


def network(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Softmax cross-entropy of one hidden layer."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    m = np.max(z, axis=1, keepdims=True)
    lse = np.log(np.sum(np.exp(z - m), axis=1, keepdims=True)) + m
    return np.mean(np.sum(y * (lse - z), axis=1))


def mixture(means: Any, log_scales: Any, points: Any) -> Any:
    """The log-likelihood of a mixture with diagonal covariances, up to a constant."""
    distances = (points[:, None, :] - means) * np.exp(-log_scales)
    scores = -0.5 * np.sum(distances * distances, axis=2) - np.sum(log_scales, axis=1)
    m = np.max(scores, axis=1)
    return np.sum(np.log(np.sum(np.exp(scores - m[:, None]), axis=1)) + m)


def rosenbrock(x: Any) -> Any:
    """The sum over neighbours."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


DRAW = np.random.default_rng(0).standard_normal


def _attention() -> Callable[[], Any]:
    tokens, square = DRAW((8, 256, 256)), [0.05 * DRAW((256, 256)) for _ in range(4)]
    gradient = srcgrad.grad(attention, wrt=(1, 2, 3, 4))
    return lambda: gradient(tokens, *square)


def _network() -> Callable[[], Any]:
    weights = 0.05 * DRAW((784, 256)), np.zeros(256), 0.05 * DRAW((256, 10)), np.zeros(10)
    images, classes = DRAW((1024, 784)), np.eye(10)[np.arange(1024) % 10]
    gradient = srcgrad.grad(network, wrt=(0, 1, 2, 3))
    return lambda: gradient(*weights, images, classes)


def _mixture() -> Callable[[], Any]:
    means, scales, points = DRAW((25, 10)), 0.1 * DRAW((25, 10)), DRAW((2000, 10))
    gradient = srcgrad.grad(mixture, wrt=(0, 1))
    return lambda: gradient(means, scales, points)


def _rosenbrock() -> Callable[[], Any]:
    line, along = DRAW(100_000), DRAW(100_000)
    product = srcgrad.hvp(rosenbrock)
    return lambda: product(line, along)


CASES = {  # each makes its own arguments alone: what is freed before changes what glibc does
    "attention 8 x 256 x 256": _attention,
    "network 784-256-10, 1,024 rows": _network,
    "mixture d=10 K=25 n=2,000": _mixture,
    "Rosenbrock HVP, n=100,000": _rosenbrock,
}


def measured(name: str, keeps: bool) -> tuple[float, float]:
    """Seconds and page faults of a call, in this process."""
    if keeps and not srcgrad.keep_memory().done:
        raise SystemExit(srcgrad.keep_memory().reason)
    call = CASES[name]()
    for _ in range(3):
        call()
    seconds, before = [], resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(15):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    return statistics.median(seconds), faults / len(seconds)


def _in_child(name: str, keeps: bool) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.kept", name, str(int(keeps))]
    seconds, faults = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return seconds, faults


def main() -> None:
    """Print a row for each derivative, or, in a child, one measurement."""
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], sys.argv[2] == "1")))
        return
    print(f"{'':34}{'given back, ms':>15}{'kept, ms':>10}{'ratio':>7}{'spread':>13}{'faults':>16}")
    for name in CASES:
        pairs = [(_in_child(name, False), _in_child(name, True)) for _ in range(3)]
        ratios = sorted(given[0] / kept[0] for given, kept in pairs)
        given, kept = (statistics.median(pair[k][0] for pair in pairs) * 1e3 for k in (0, 1))
        faults = " to ".join(f"{statistics.median(pair[k][1] for pair in pairs):.0f}" for k in (0, 1))
        spread = f"{ratios[0]:.1f} to {ratios[-1]:.1f}"
        print(f"{name:34}{given:15.2f}{kept:10.2f}{ratios[1]:7.1f}{spread:>13}{faults:>16}")


if __name__ == "__main__":
    main()
