"""Gradients of the functions drawn, against differences, each in a process of its own.

`python -m tests.wild.run --judge` calls each function and takes differences, without srcgrad, and writes `corpus.txt`:
at most eight functions of a package, in the order of the draw, a third of them held back by seed.
`python -m tests.wild.run [--held] [PART]` differentiates those that are not held back (those that are), or whose name
has PART in it, prints a line for each and the counts, and writes `verdicts.json` (`held.json`; nothing for a PART).
"""

from __future__ import annotations

import collections
import copy
import importlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.wild.arguments import CALLS

HERE = Path(__file__).parent
SECONDS = 60
EIGHT = 8
ENTRIES = 60  # of all arguments together that differences are taken in; a seed chooses them
STEPS = [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6]
Numbers = np.ndarray[Any, np.dtype[np.float64]]


def function_of(name: str) -> Callable[..., Any]:
    """The function of `module:function`."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def leaves(value: Any) -> Iterator[Any]:
    """The numbers and arrays of floats in tuples, lists and dicts."""
    if isinstance(value, dict):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one)
    elif isinstance(value, float | complex | np.inexact) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    ):
        yield value


def flat(value: Any) -> Numbers:
    """The real parts of all numbers in a value, in order."""
    parts = [np.real(np.asarray(one)).ravel().astype(float) for one in leaves(value)]
    return np.concatenate(parts) if parts else np.zeros(0)


def filled(value: Any, numbers: Iterator[float]) -> Any:
    """A value of the same structure with other numbers; an imaginary part is zero."""
    if isinstance(value, dict):
        return {key: filled(one, numbers) for key, one in value.items()}
    if isinstance(value, list | tuple):
        parts = [filled(one, numbers) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return np.array([next(numbers) for _ in range(value.size)], value.dtype).reshape(value.shape)
    if isinstance(value, float | complex | np.inexact):
        return type(value)(next(numbers))
    return copy.deepcopy(value)


def asked(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Places of the arguments that are differentiated."""
    return tuple(
        k
        for k, one in enumerate(args)
        if not isinstance(one, dict) and flat(one).size and not any(np.iscomplexobj(leaf) for leaf in leaves(one))
    )


def total(function: Callable[..., Any], args: tuple[Any, ...], count: int) -> float:
    """The sum of the outputs; nan where there are more or fewer of them than at the arguments themselves."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = flat(function(*copy.deepcopy(args)))
        return float(np.sum(found)) if found.size == count else np.nan


def moved(args: tuple[Any, ...], places: tuple[int, ...], numbers: Numbers) -> tuple[Any, ...]:
    """The arguments with other numbers at the places asked for."""
    rest = iter(numbers.tolist())
    return tuple(filled(one, rest) if k in places else one for k, one in enumerate(args))


def differences(function: Callable[..., Any], args: tuple[Any, ...], name: str) -> tuple[Numbers, Numbers, list[int]]:
    """Central differences of the sum of the outputs, how far two steps agree, and the entries that were chosen."""
    places = asked(args)
    start = flat([args[k] for k in places])
    chosen = list(range(start.size))
    if start.size > ENTRIES:
        chosen = sorted(random.Random(f"entries {name}").sample(chosen, ENTRIES))
    count = flat(function(*copy.deepcopy(args))).size
    slopes, errors = np.zeros(len(chosen)), np.full(len(chosen), np.inf)
    for row, entry in enumerate(chosen):
        found = []
        for step in STEPS:
            h = step * max(abs(start[entry]), 1e-2 if abs(start[entry]) == 0 else 0.0)
            sums = []
            for sign in (1.0, -1.0):
                there = start.copy()
                there[entry] += sign * h
                try:
                    sums.append(total(function, moved(args, places, there), count))
                except Exception:  # of the function itself: no slope there
                    sums.append(np.nan)
            found.append((sums[0] - sums[1]) / (2.0 * h))
        gaps = [abs(a - b) for a, b in itertools.pairwise(found)]
        best = int(np.nanargmin(gaps)) if np.isfinite(gaps).any() else 0
        slopes[row], errors[row] = found[best], gaps[best] if np.isfinite(gaps[best]) else np.inf
    return slopes, errors, chosen


def sure(slopes: Numbers, errors: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of the differences are known to four digits of the largest."""
    scale = np.max(np.abs(slopes[np.isfinite(errors)]), initial=0.0)
    return np.isfinite(errors) & (errors <= 1e-4 * np.maximum(np.abs(slopes), 1e-2 * scale) + 1e-14)


def plain(name: str) -> dict[str, Any]:
    """What the call itself and differences say, without srcgrad: fit, or why not."""
    try:
        function, args = function_of(name), CALLS[name]
    except Exception as error:
        return {"fit": f"does not import: {type(error).__name__}"}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*copy.deepcopy(args))
            again = function(*copy.deepcopy(args))
    except Exception as error:
        return {"fit": f"raises {type(error).__name__}"}
    if not flat(value).size:
        return {"fit": "gives no float"}
    if not np.isfinite(flat(value)).all():
        return {"fit": "gives what is not finite"}
    if not np.array_equal(flat(value), flat(again)):
        return {"fit": "draws random numbers"}
    slopes, errors, _ = differences(function, args, name)
    known = sure(slopes, errors)
    if known.sum() < 0.5 * known.size or not np.any(np.abs(slopes[known]) > 1e-12 * np.max(np.abs(flat(value)))):
        return {"fit": "does not depend smoothly on an argument"}
    return {"fit": "fit"}


def seed_like(value: Any) -> Any:
    """Ones for the numbers of a value, zeros for whole numbers, nothing for the rest."""
    if isinstance(value, dict):
        return {key: seed_like(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        parts = [seed_like(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, np.ndarray):
        return np.ones_like(value) if value.dtype.kind in "fc" else np.zeros(value.shape)
    if isinstance(value, float | complex | np.inexact):
        return type(value)(1.0)
    return 0.0 if isinstance(value, int | np.integer) else None


def told(error: BaseException) -> dict[str, Any]:
    """What an exception says: a code and its text, or a kind that has no code."""
    code = getattr(error, "code", None)
    if code is None and str(error)[:2] == "E5":
        code = str(error)[:5]
    return {"verdict": "refused" if code else "uncoded", "code": code or type(error).__name__, "text": str(error)}


def reverse(name: str, args: tuple[Any, ...]) -> tuple[dict[str, Any], Numbers | None]:
    """The verdict on the gradient, and the gradient."""
    import srcgrad

    function, places = function_of(name), asked(args)
    slopes, errors, chosen = differences(function, args, name)
    value = function(*copy.deepcopy(args))
    try:
        output, pullback = srcgrad.vjp(function, *copy.deepcopy(args), wrt=places)
        adjoints = pullback(seed_like(output))
    except Exception as error:
        return told(error), None
    gradient = flat(list(adjoints))
    if gradient.size != flat([args[k] for k in places]).size:
        return {"verdict": "wrong", "text": f"the gradient has {gradient.size} numbers"}, None
    if not np.allclose(flat(output), flat(value), rtol=1e-12, atol=0.0):
        return {"verdict": "wrong", "text": f"the value is {output}, not {value}"}, None
    return compared(gradient[chosen], slopes, errors), gradient


def compared(gradient: Numbers, slopes: Numbers, errors: Numbers) -> dict[str, Any]:
    """right, nan, or wrong, where differences are known."""
    known = sure(slopes, errors)
    if np.isnan(gradient[known]).any():
        return {"verdict": "nan", "text": f"{gradient} against {slopes}"}
    room = 1e-3 * np.maximum(np.abs(slopes), 1e-2 * np.max(np.abs(slopes[known]))) + 10.0 * errors
    off = known & (np.abs(gradient - slopes) > room)
    if off.any():
        first = int(np.argmax(off))
        text = f"entry {first}: {gradient[first]} against {slopes[first]} ({off.sum()} of {known.sum()})"
        return {"verdict": "wrong", "text": text}
    return {"verdict": "right"}


def forward(name: str, args: tuple[Any, ...], gradient: Numbers) -> dict[str, Any]:
    """The verdict on the derivative along random tangents, against the gradient."""
    import srcgrad

    function, places = function_of(name), asked(args)
    numbers = flat([args[k] for k in places])
    along = np.random.default_rng(33).normal(size=numbers.size) * np.maximum(np.abs(numbers), 1e-3)
    rest = iter(along.tolist())
    zeros = iter(lambda: 0.0, None)
    tangents = tuple(filled(one, rest if k in places else zeros) for k, one in enumerate(args))
    try:
        _, y_dot = srcgrad.jvp(function, copy.deepcopy(args), tangents)
    except Exception as error:
        return told(error)
    expected, found = float(gradient @ along), float(np.sum(flat(y_dot)))
    scale = float(np.abs(gradient) @ np.abs(along))
    right = abs(found - expected) <= 1e-8 * scale + 1e-300
    return {"verdict": "right" if right else "wrong", "text": f"{found} against {expected}"}


def differentiated(name: str) -> dict[str, Any]:
    """The verdicts on a function in both modes."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    args, began = CALLS[name], time.perf_counter()
    found, gradient = reverse(name, args)
    if found["verdict"] == "right" and gradient is not None:
        found["forward"] = forward(name, args, gradient)
    found["seconds"] = round(time.perf_counter() - began, 1)
    return found


def apart(work: Callable[[str], dict[str, Any]], name: str) -> dict[str, Any]:
    """What work gives in a process of its own; `timeout` after a minute."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        theirs.send(work(name))
        os._exit(0)
    theirs.close()
    try:
        found = ours.recv()
    except EOFError:
        found = {"verdict": "timeout", "fit": "takes over a minute", "text": "no answer"}
    os.waitpid(child, 0)
    return dict(found)


def is_held(name: str) -> bool:
    """Whether a function is held back."""
    return random.Random(f"held {name}").random() < 1.0 / 3.0


def judge() -> None:
    """Write the corpus: the functions that are fit, and a count of the others by reason."""
    elsewhere()
    lines, reasons = [], collections.Counter[str]()
    taken = collections.Counter[str]()
    for line in (HERE / "drawn.txt").read_text().splitlines():
        package, name = line.split()
        if taken[package] >= EIGHT:
            continue
        fit = apart(plain if name in CALLS else importing, name)["fit"]
        if fit == "fit":
            taken[package] += 1
            lines.append(f"{package} {name}{' held' if is_held(name) else ''}")
        else:
            reasons[fit] += 1
            lines.append(f"# {package} {name}: {fit}")
    (HERE / "corpus.txt").write_text("\n".join(lines) + "\n")
    print(f"{sum(taken.values())} functions of {len(taken)} packages; left out: {dict(reasons)}")


def importing(name: str) -> dict[str, Any]:
    """Why a function is not called at all."""
    try:
        function_of(name)
    except Exception as error:
        return {"fit": f"does not import: {type(error).__name__}"}
    return {"fit": "asks for or gives what is no float or array"}


def warm(x: Any) -> Any:
    """A function of which the gradient is made before the processes part, so that srcgrad is loaded once."""
    return np.sum(np.sin(x) * x)


def elsewhere() -> None:
    """Work in an empty folder, without windows: packages write logs and ask for displays when they are imported."""
    os.environ.setdefault("MPLBACKEND", "agg")
    os.chdir(tempfile.mkdtemp())


def loaded() -> None:
    """Load srcgrad once, before the processes part."""
    import srcgrad

    elsewhere()
    srcgrad.vjp(warm, np.ones(2))[1](1.0)
    srcgrad.jvp(warm, (np.ones(2),), (np.ones(2),))


def main(part: str = "", held: bool = False) -> None:
    """Differentiate, print and write."""
    rows = [line.split() for line in (HERE / "corpus.txt").read_text().splitlines() if line[0] != "#"]
    names = [row[1] for row in rows if (len(row) == 3) == held and part in row[1]]
    loaded()
    found, counts = {}, collections.Counter[str]()
    for name in names:
        one = found[name] = apart(differentiated, name)
        ahead = one.get("forward", {})
        said = [one["verdict"], str(one.get("code", "")), ahead.get("verdict", ""), str(ahead.get("code", ""))]
        counts[one["verdict"]] += 1
        print(f"{name}: {' '.join(filter(None, said))} {one.get('seconds', '')}", flush=True)
    print(dict(counts))
    if not part:
        (HERE / ("held.json" if held else "verdicts.json")).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--judge" in sys.argv:
        judge()
    else:
        main(words[0] if words else "", "--held" in sys.argv)
