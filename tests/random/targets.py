"""Programs drawn at random, with kernels and without: the same values, tangents and adjoints, of the same types.

`python -m tests.random.targets FIRST COUNT` draws that many programs of each kind. Arrays are small: the runtime's
single-thread device takes them; odd seeds run the form that GPUs are given, and every third one float32.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import linecache
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.finite_differences import tangent_like, vector
from srcgrad.opencl.devices.trusted import current
from srcgrad.opencl.launch import Kernel
from tests.agree import differences
from tests.random import functions as random_programs
from tests.random import sweeps as random_sweeps
from tests.random import writes as random_writes
from tests.random.judge import amiss

Drawn = tuple[Callable[..., Any], tuple[Any, ...]]


def drawn_program(seed: int) -> Drawn:
    """A program of `tests.random.functions`."""
    numbers = random.Random(seed)
    text, kinds = random_programs.program(numbers.choice)
    return random_programs.define(text, seed), random_programs.arguments(kinds, seed % 4, seed)


def drawn_writes(seed: int) -> Drawn:
    """A program of `tests.random.writes`."""
    return random_programs.define(random_writes.program(seed), seed), random_writes.arguments(seed)


def drawn_sweeps(seed: int) -> Drawn:
    """A program of `tests.random.sweeps`."""
    return random_programs.define(random_sweeps.program(seed), seed), random_writes.arguments(seed)


DRAWS: dict[str, Callable[[int], Drawn]] = {"programs": drawn_program, "writes": drawn_writes, "sweeps": drawn_sweeps}


def outcome(draw: Callable[[int], Drawn], seed: int) -> str:
    """`right N kernels`, `refused CODE`, `skipped` (the program itself fails), or `wrong: why`."""
    f, args = draw(seed)
    real = np.float32 if seed % 3 == 0 else np.float64
    args = tuple(a.astype(real) if isinstance(a, np.ndarray) else a for a in args)
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            value = vector(f(*copy.deepcopy(args)))
    except Exception:
        return "skipped"
    if not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0.0) > 1e4:
        return "skipped"
    with form(seed % 2 == 1), counted() as names, np.errstate(all="ignore"):
        wrong = compared(f, args, 1e-9 if real is np.float64 else 2e-3)
    linecache.cache.pop(f.__code__.co_filename, None)
    return wrong or f"right {len(names)} kernels"


def compared(f: Callable[..., Any], args: tuple[Any, ...], rtol: float = 1e-9) -> str:
    """What differs between the targets: `refused CODE`, `wrong: why`, or nothing."""
    before = copy.deepcopy(args)
    plain = _derived(f, args, "numpy")
    found = _derived(f, args, "opencl")
    if isinstance(plain, str) and isinstance(found, str) and found == plain:
        return f"refused {found}" if found.startswith("E5") else f"wrong: both raise {found}"
    if found == "E5031":  # kernels cannot look a derivative up when they run: docs/limits.md
        return "refused E5031"
    if plain == "E5010" and not isinstance(found, str):  # kernels are made for these arguments, which proves more
        numbers = vector(f(*copy.deepcopy(args)))
        wrong = differences(vector(found[0]), numbers, rtol) + differences(vector(found[1][0]), numbers, rtol)
    else:
        wrong = differences(found, plain, rtol)
    wrong += differences(args, before, 0.0, "arguments")
    return f"wrong: {'; '.join(wrong)[:300]} | {str(found)[:200]}" if wrong else ""


def _derived(f: Callable[..., Any], args: tuple[Any, ...], target: str) -> Any:
    """Value and adjoints, value and tangent, and the gradient of a number; or the error's code, or text."""
    numbers = np.random.default_rng(1)
    try:
        value, pull = srcgrad.vjp(f, *args, target=target)
        tangents = tuple(tangent_like(args, numbers.standard_normal(vector(args).size)))
        found = [value, srcgrad.jvp(f, args, tangents, target=target)]
        if not vector(value).size:
            return found
        found.append(pull(tangent_like(value, numbers.standard_normal(vector(value).size))))
        if isinstance(value, float):
            found.append(srcgrad.value_and_grad(f, wrt=_floats(args), target=target)(*args))
    except DifferentiationError as error:
        return refused(error, f)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return found


def refused(error: DifferentiationError, f: Callable[..., Any]) -> str:
    """The code of a refusal; or why it is a fault."""
    why = amiss(error, "".join(linecache.getlines(f.__code__.co_filename)))
    return f"{why}: {error}" if why else error.code


def _floats(args: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(k for k, a in enumerate(args) if vector((a,)).size)


@contextlib.contextmanager
def form(gpu: bool) -> Iterator[None]:
    """Kernels in the form that GPUs are given, or in that for CPUs."""
    device = current()
    held = device.is_gpu, device.memory, device.small
    device.is_gpu, device.memory = gpu, "copied" if gpu else device.memory
    device.small = None if gpu else device.small  # a GPU has one queue
    try:
        yield
    finally:
        device.is_gpu, device.memory, device.small = held


@contextlib.contextmanager
def counted() -> Iterator[list[str]]:
    """The names of the kernels that are launched."""
    names: list[str] = []
    run = Kernel.launched

    def launched(self: Kernel, *args: Any) -> Any:
        names.append(self.function.__name__)
        return run(self, *args)

    Kernel.launched = launched  # type: ignore[method-assign]
    try:
        yield names
    finally:
        Kernel.launched = run  # type: ignore[method-assign]


def main(first: int, count: int, *kinds: str) -> int:
    """Draw programs of each kind, print the counts; the number that were wrong."""
    wrong = 0
    for kind in kinds or DRAWS:
        counts: collections.Counter[str] = collections.Counter()
        for seed in range(first, first + count):
            found = outcome(DRAWS[kind], seed)
            counts[found.split()[0].rstrip(":")] += 1
            if found.startswith("right"):
                launches = int(found.split()[1])
                counts["launches"] += launches
                counts["with kernels"] += launches > 0
            elif found.startswith("refused"):
                counts[found] += 1
            elif found.startswith("wrong"):
                print(f"{kind} {seed}: {found[:500]}".replace("\n", " | "), flush=True)
        wrong += counts["wrong"]
        print(f"{kind}: {dict(counts)}", flush=True)
    return wrong


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    first, count, *kinds = sys.argv[1:]
    sys.exit(min(main(int(first), int(count), *kinds), 1))
