"""Generated gradients against hand-written ones and HIPS autograd: `python -m benchmarks.run`.

All contenders of a workload take turns in one process, so that a slow spell of the machine meets all of
them; a time is the median over the rounds, and a ratio is a quotient of two such medians. Reported are the
gradient that `srcgrad dump` writes, `srcgrad.grad` (which looks at the arguments and runs a text made for
their kinds), and `autograd.grad` on the same model. First calls, which prepare the latter two, are not timed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.metadata
import platform
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any  # arguments and results of arbitrary functions

import autograd
import numpy as np

import srcgrad
from benchmarks import hand
from examples import generate

LIMIT = 1.3  # times the hand-written gradient
ROUND = 0.02  # seconds that one contender runs before the next has its turn


@dataclass(frozen=True)
class Workload:
    """A function of the examples, where it is called, and with respect to what it is differentiated."""

    title: str
    folder: str
    name: str
    arguments: tuple[Any, ...]
    wrt: tuple[int, ...]


def layer(trips: int, side: int) -> Workload:
    """The golden of the design: `trips` layers on an array of `side` by `side`."""
    draw = np.random.default_rng(0).standard_normal
    arguments = (draw((side, side)), draw(side), draw((side, 1)), trips)
    return Workload(f"layer, n = {trips}, {side} x {side}", "layer", "energy", arguments, (0, 1, 2))


def mixture(title: str, points: np.ndarray) -> Workload:
    """25 components, started near the points."""
    draw = np.random.default_rng(0).standard_normal
    arguments = (0.1 * draw(25), points[:25] + 0.1, 0.1 * draw((25, points.shape[1])), points)
    return Workload(title, "mixture", "log_likelihood", arguments, (0, 1, 2))


def workloads() -> list[Workload]:
    """Everything that is measured, in the order of the table."""
    data = np.loadtxt(Path(generate.HERE) / "mixture" / "data.txt")
    wide = np.random.default_rng(1).standard_normal((1000, 10))
    return [
        layer(4, 4),
        layer(512, 4),
        layer(4, 64),
        layer(512, 64),
        layer(4, 512),
        mixture("mixture, 25 components, 200 x 2", data),
        mixture("mixture, 25 components, 1000 x 10", wide),
        Workload("logistic map, n = 4", "logistic_map", "orbit_sum", (0.4, 3.2, 4), (0, 1)),
        Workload("logistic map, n = 512", "logistic_map", "orbit_sum", (0.4, 3.2, 512), (0, 1)),
    ]


def contenders(workload: Workload) -> dict[str, Callable[[], Any]]:
    """What takes turns, by the name of its column; each gives the gradient at the workload's arguments."""
    model = importlib.import_module(f"examples.{workload.folder}.model")
    made = importlib.import_module(f"examples.{workload.folder}.model_grad")
    gradient = f"{workload.name}_grad"
    functions = {
        "hand": getattr(hand, gradient),
        "generated": getattr(made, gradient),
        "grad()": srcgrad.grad(getattr(model, workload.name), wrt=workload.wrt),
        "autograd": autograd.grad(_with_autograd(model, workload.name), workload.wrt),
    }
    return {"primal": _call(getattr(model, workload.name), workload)} | {
        column: _call(function, workload) for column, function in functions.items()
    }


def _call(function: Callable[..., Any], workload: Workload) -> Callable[[], Any]:
    return lambda: function(*workload.arguments)


def _with_autograd(model: types.ModuleType, name: str) -> Callable[..., Any]:
    """The same function, with autograd's NumPy for NumPy."""
    assert model.__file__ is not None, "an example is a file"
    text = Path(model.__file__).read_text(encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(text.replace("import numpy as np", "import autograd.numpy as np"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


def agree(calls: dict[str, Callable[[], Any]]) -> None:
    """Stop unless all gradients are the same to rounding: a wrong gradient has no speed."""
    expected = calls["hand"]()
    for column, call in calls.items():
        if column != "primal":
            for found, right in zip(call(), expected, strict=True):
                np.testing.assert_allclose(
                    found, right, rtol=1e-7, atol=1e-9 * max(1.0, np.abs(right).max()), err_msg=column
                )


def measure(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds per call of each contender."""
    repeats = {column: max(1, int(ROUND / _time(call, 1))) for column, call in calls.items()}
    times: dict[str, list[float]] = {column: [] for column in calls}
    for _ in range(rounds):
        for column, call in calls.items():
            times[column].append(_time(call, repeats[column]))
    return {column: median(found) for column, found in times.items()}


def _time(call: Callable[[], Any], repeats: int) -> float:
    """Seconds per call; the garbage of others is collected before, that of the call itself may be in it."""
    gc.collect()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def report(rounds: int) -> bool:
    """Print the table; whether every generated gradient is within the limit."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "autograd"))
    print(f"Python {platform.python_version()}, {versions}")
    print(f"medians of {rounds} rounds in turns; microseconds, and ratios to the hand-written gradient\n")
    print(f"{'':36}{'primal':>11}{'hand':>11}{'generated':>11}{'ratio':>8}{'grad()':>8}{'autograd':>10}")
    within = True
    for workload in workloads():
        calls = contenders(workload)
        agree(calls)
        times = measure(calls, rounds)
        ratios = {column: seconds / times["hand"] for column, seconds in times.items()}
        mark = "" if ratios["generated"] <= LIMIT else "  over the limit"
        within = within and not mark
        print(
            f"{workload.title:36}{1e6 * times['primal']:11.1f}{1e6 * times['hand']:11.1f}"
            f"{1e6 * times['generated']:11.1f}{ratios['generated']:8.2f}{ratios['grad()']:8.2f}"
            f"{ratios['autograd']:10.1f}{mark}",
            flush=True,
        )
    print(f"\nlimit {LIMIT}: {'all within' if within else 'not met'}")
    return within


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Generated gradients against hand-written ones.")
    parser.add_argument("--rounds", type=int, default=25, help="turns of each contender (default: 25)")
    return 0 if report(parser.parse_args().rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
