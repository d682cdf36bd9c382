"""Central differences of any function of nested arguments, and what they cannot decide.

They are the oracle that knows nothing of rules. Arguments and results are one vector of real numbers, in the order of
their parts; a complex number counts as two. Integers, booleans, strings and None have no place in the vector.

A right derivative need not agree with differences at a kink, of a function that is noisy, or of one that an adaptive
solver computes, whose steps depend on the arguments. A wrong one differs by more than the differences among themselves,
at several steps and on both sides of a point.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any  # arguments are arbitrary nested Python values

import numpy as np
from numpy.typing import NDArray

from srcgrad.core.errors import DifferentiationError
from srcgrad.runtime import zeros_like

Vector = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Precision:
    """What can be asked of a floating type.

    A central difference with step h is off by h**2 times the third derivative (truncation) and by u / h
    (rounding, u the unit roundoff). No single h suits every function, so `steps` spans the range, the
    likeliest first. `difference` is the relative error that at least one step must reach. `pairing` is
    for the two sides of the pairing identity, which no step enters: rounding, with room for
    ill-conditioned functions. Derivatives smaller than `floor` times the value are compared as if they
    were that large: below it, what a difference shows is rounding.
    """

    steps: tuple[float, ...]
    difference: float
    pairing: float
    floor: float


PRECISIONS = {
    "float64": Precision((1e-5, 1e-6, 1e-4, 1e-7, 1e-3, 1e-8, 1e-2, 1e-9, 1e-10), 1e-6, 1e-9, 1e-3),
    "float32": Precision((1e-2, 3e-2, 3e-3, 1e-1, 1e-3, 1e-4), 1e-2, 1e-4, 1e-2),
    "float16": Precision((1e-1, 3e-1, 3e-2, 1e-2), 5e-2, 2e-2, 1e-1),
}


def is_float(value: object) -> bool:
    """Whether a part holds real or complex floating numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex | np.inexact)


def parts(tree: object, label: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of a nested value that are no containers, each with the text that reaches it.

    >>> list(parts({"w": (1.0, 2), "b": [3.0]}, "p"))
    [("p['w'][0]", 1.0), ("p['w'][1]", 2), ("p['b'][0]", 3.0)]
    """
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from parts(item, f"{label}[{key!r}]")
    elif isinstance(tree, list | tuple):
        for position, item in enumerate(tree):
            yield from parts(item, f"{label}[{position}]")
    elif dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        for field in dataclasses.fields(tree):
            yield from parts(getattr(tree, field.name), f"{label}.{field.name}")
    else:
        yield label, tree


def rebuild(tree: object, change: Callable[[object], object]) -> Any:
    """The same structure, with `change` applied to each part in the order of `parts`."""
    if isinstance(tree, dict):
        return type(tree)((key, rebuild(item, change)) for key, item in tree.items())
    if isinstance(tree, list | tuple):
        items = [rebuild(item, change) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = [field.name for field in dataclasses.fields(tree)]
        return dataclasses.replace(tree, **{n: rebuild(getattr(tree, n), change) for n in names})
    return change(tree)


def precision(*trees: object) -> Precision:
    """The precision of the least precise floating part: what is computed from it is no better."""
    bits = [np.finfo(np.asarray(part).dtype).bits for _, part in parts(trees) if is_float(part)]
    return PRECISIONS[f"float{min([64, *bits])}"]


def real_vector(part: object) -> Vector:
    """A floating part as a vector of real numbers; a complex number counts as real, imaginary."""
    array = np.ravel(np.asarray(part))
    if np.issubdtype(array.dtype, np.complexfloating):
        return np.ascontiguousarray(array, dtype=np.complex128).view(np.float64)
    return np.array(array, dtype=np.float64)


def vector(tree: object) -> Vector:
    """All floating parts of a nested value, end to end.

    >>> vector((1.0, 2, np.array([3.0 + 4.0j])))
    array([1., 3., 4.])
    """
    return np.concatenate([np.zeros(0), *(real_vector(part) for _, part in parts(tree) if is_float(part))])


def vector_along(tree: object, mirror: object) -> Vector:
    """The parts of `mirror`, a gradient or tangent of `tree`, that stand where `tree` has floating parts."""
    found = dict(parts(mirror))
    wanted = [real_vector(found[label]) for label, part in parts(tree) if is_float(part)]
    return np.concatenate([np.zeros(0), *wanted])


def spans(tree: object, label: str = "") -> list[tuple[str, slice]]:
    """Where in the vector each floating part lies."""
    found, start = [], 0
    for name, part in parts(tree, label):
        if is_float(part):
            stop = start + real_vector(part).size
            found.append((name, slice(start, stop)))
            start = stop
    return found


def shape_like(tree: object, numbers: Vector) -> Any:
    """The nested value like `tree` that holds `numbers`: class, shape and dtype of each part are kept.

    >>> shape_like({"x": 1.0, "n": 3}, np.array([5.0]))
    {'x': 5.0, 'n': 3}
    """
    start = 0

    def change(part: object) -> Any:
        nonlocal start
        if not is_float(part):
            return part.copy() if isinstance(part, np.ndarray) else part
        stop = start + real_vector(part).size
        taken, start = numbers[start:stop].copy(), stop
        return _part_like(part, taken)

    return rebuild(tree, change)


def tangent_like(tree: object, numbers: Vector) -> Any:
    """A tangent or a seed for `tree`: `numbers` in the floating parts, zero in integers, None in all else.

    >>> tangent_like({"x": 1.0, "n": 3, "name": "a"}, np.array([5.0]))
    {'x': 5.0, 'n': 0.0, 'name': None}
    """
    moved = iter([part for _, part in parts(shape_like(tree, numbers))])

    def change(part: object) -> Any:
        following = next(moved)
        return following if is_float(part) else zeros_like(part)

    return rebuild(tree, change)


def _part_like(part: Any, numbers: Vector) -> object:
    dtype = np.asarray(part).dtype
    flat = numbers.view(np.complex128) if np.issubdtype(dtype, np.complexfloating) else numbers
    if isinstance(part, np.ndarray):
        return flat.astype(dtype).reshape(part.shape)
    return type(part)(flat[0])


def central_difference(
    function: Callable[..., object], args: Sequence[object], direction: Vector, step: float
) -> Vector:
    """(f(x + h v) - f(x - h v)) / (2 h), the derivative of `function` along `direction`, off by O(h**2).

    A point outside the function's domain counts as NaN: functions of Python and of the user raise there.

    >>> central_difference(lambda x: x * x, (np.array([3.0]),), np.array([1.0]), 1e-5).round(6)
    array([6.])
    """
    at = vector(args)
    sides = [_value(function, shape_like(args, at + sign * step * direction)) for sign in (1.0, -1.0)]
    if sides[0].shape != sides[1].shape:  # the point lies where the shape of the result changes
        return np.full(sides[0].shape, np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        difference: Vector = (sides[0] - sides[1]) / (2.0 * step)
    return difference


def forward(function: Callable[..., object], args: Sequence[object], direction: Vector, step: float) -> Vector:
    """(f(x + h v) - f(x)) / h, which sees one side of the point alone.

    >>> forward(abs, (0.0,), np.array([1.0]), 1e-5)
    array([1.])
    """
    at = vector(args)
    ahead, here = (_value(function, shape_like(args, at + move * direction)) for move in (step, 0.0))
    if ahead.shape != here.shape:
        return np.full(here.shape, np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        difference: Vector = (ahead - here) / step
    return difference


def draw_direction(chosen: tuple[object, ...], generator: np.random.Generator) -> Vector:
    """A random direction in which large and small arguments move alike."""
    size = np.abs(vector(chosen))
    v: Vector = generator.standard_normal(size.size) * np.maximum(1.0, np.where(np.isfinite(size), size, 1.0))
    return v


def draw_seed(value: object, generator: np.random.Generator) -> Vector:
    """A random seed in which large and small outputs weigh alike."""
    size = np.abs(vector(value))
    return generator.standard_normal(size.size) / np.maximum(1.0, np.where(np.isfinite(size), size, 1.0))


def _value(function: Callable[..., object], args: Sequence[object]) -> Vector:
    try:
        with np.errstate(all="ignore"):
            return vector(function(*args))
    except DifferentiationError:
        raise
    except Exception:  # whatever a function of the user's raises where it is not defined
        return np.full(1, np.nan)


def relative_error(actual: Vector, expected: Vector, scale: float) -> float:
    """|actual - expected| over the larger of the two, or over `scale` where both are smaller.

    Infinity where the two disagree on which entries are finite, or on the others: NaN is never skipped.

    >>> relative_error(np.array([np.nan]), np.array([1.0]), 0.0)
    inf
    """
    finite = np.isfinite(expected)
    if actual.shape != expected.shape or not np.array_equal(np.isfinite(actual), finite):
        return float("inf")
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return float("inf")
    actual, expected = actual[finite], expected[finite]
    difference = float(np.linalg.norm(actual - expected))
    larger = max(float(np.linalg.norm(actual)), float(np.linalg.norm(expected)), scale)
    return 0.0 if difference == 0.0 else difference / larger


Distance = Callable[[Vector, Vector], float]  # the relative error between two quotients

# How many times as far as differences are from each other a right derivative may be from them.
ROOM = 3.0
_SOLVERS = "scipy.integrate._ivp"  # where SciPy has the methods of `solve_ivp`
_METHODS = ("rk", "radau", "bdf", "lsoda")
TIGHT = (1e-11, 1e-13)  # relative and absolute: what is left of a solver's error is below what differences resolve


@dataclass(frozen=True)
class Doubt:
    """By how much a right derivative may differ from differences, relatively, and why."""

    size: float = 0.0
    why: str = ""


NONE = Doubt()


def doubt(
    distance: Distance,
    steps: Sequence[float],
    central: Callable[[float], Vector],
    forward: Callable[[float], Vector],
) -> Doubt:
    """The larger of the doubts that central differences at several steps, and the two sides of the point, raise."""
    ordered = sorted(steps, reverse=True)
    quotients = [central(step) for step in ordered]
    if not any(np.all(np.isfinite(quotient)) for quotient in quotients):
        return Doubt(float("inf"), "undefined beside this point")
    noise = min((distance(one, other) for one, other in itertools.pairwise(quotients)), default=0.0)
    sides = ((forward(step), 2.0 * central(step) - forward(step)) for step in ordered)
    kink = min(distance(one, other) for one, other in sides)
    if kink > noise:
        return Doubt(kink, "a kink, where the two sides differ")
    return Doubt(noise, "differences at several steps do not agree")


def calls_solver(function: Callable[..., object], args: Sequence[object]) -> bool:
    """Whether a call runs a method of SciPy's that chooses its steps by a tolerance.

    >>> calls_solver(np.sum, [np.ones(3)])
    False
    """
    found = False

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal found
        found = found or str(frame.f_globals.get("__name__", "")).startswith(_SOLVERS)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        function(*args)
    finally:
        sys.setprofile(before)
    return found


@contextlib.contextmanager
def tight_tolerances() -> Iterator[None]:
    """SciPy's solvers with tolerances next to rounding, whatever is asked for, in the function and its derivative.

    Where the two agree then, it was the tolerance that kept them apart: a wrong derivative stays wrong.
    """
    modules: list[Any] = [importlib.import_module(f"{_SOLVERS}.{name}") for name in _METHODS]
    before = [module.validate_tol for module in modules]
    try:
        for module in modules:
            module.validate_tol = lambda *asked: TIGHT
        yield
    finally:
        for module, own in zip(modules, before, strict=True):
            module.validate_tol = own
