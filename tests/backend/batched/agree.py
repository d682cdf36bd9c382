"""Jacobians from one run with a leading axis against those from one run for each direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.interface.api.calculus import Jacobian


class OneByOne(Jacobian):
    """A Jacobian that never takes the leading axis."""

    def _alone(self, which: str, given: Any) -> bool:
        return True


def floats(args: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions of the arguments that are numbers or arrays of floats."""
    return tuple(
        k
        for k, a in enumerate(args)
        if isinstance(a, float | np.floating) or getattr(a, "dtype", np.dtype(int)).kind == "f"
    )


def same(found: Any, wanted: Any) -> bool:
    """Equal structure, classes, dtypes and shapes; numbers up to sums in another order."""
    if isinstance(wanted, tuple | list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if wanted is None or found is None:
        return wanted is found
    if type(found) is not type(wanted) or np.shape(found) != np.shape(wanted):
        return False
    if np.asarray(found).dtype != np.asarray(wanted).dtype:
        return False
    close = 1e-9 if np.asarray(wanted).dtype == np.float64 else 1e-4
    return bool(np.allclose(found, wanted, rtol=close, atol=1e-2 * close, equal_nan=True))


def check(
    function: Callable[..., Any], args: tuple[Any, ...], mode: str | None, wrt: Any = None, *, second: bool = False
) -> Jacobian:
    """Assert that both ways agree; the Jacobian, of which `source` says which way was taken."""
    wrt = floats(args) if wrt is None else wrt
    made = Jacobian(function, wrt, mode, "numpy", second=second)
    with np.errstate(all="ignore"):
        found = made(*args)
        wanted = OneByOne(function, wrt, mode, "numpy", second=second)(*args)
    assert same(found, wanted), made.source
    return made


def is_batched(made: Jacobian) -> bool:
    """Whether all directions, or seeds, went in one run."""
    return " at a time: " not in made.source and "s(" in made.source
