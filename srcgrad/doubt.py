"""What differences cannot decide: how far they are from each other, at several steps and on both sides of a point.

A right derivative need not agree with differences at a kink, of a function that is noisy, or of one that an adaptive
solver computes, whose steps depend on the arguments. A wrong one differs by more than the differences among themselves.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any  # functions of arbitrary nested Python values

import numpy as np

from srcgrad.differences import Vector

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


def calls_solver(function: Callable[..., Any], args: Sequence[Any]) -> bool:
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
def tight() -> Iterator[None]:
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
