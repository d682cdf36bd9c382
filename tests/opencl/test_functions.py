"""Our own functions in OpenCL C against 40 digits, and at the ends of the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from srcgrad.opencl.launch import launch

REALS = [np.float32, np.float64]
# what is computed, by what in many digits, where, and by how many units in the last place it may be off
FUNCTIONS = {
    "exp": (mpmath.exp, (-87.0, 88.0), 2.0),
    "exp2": (lambda x: mpmath.mpf(2) ** x, (-120.0, 120.0), 2.0),
    "expm1": (mpmath.expm1, (-20.0, 80.0), 2.0),
    "log": (mpmath.log, (1e-30, 1e30), 2.0),
    "log1p": (mpmath.log1p, (-0.999, 1e6), 2.0),
    "sin": (mpmath.sin, (-300.0, 300.0), 2.0),
    "cos": (mpmath.cos, (-300.0, 300.0), 2.0),
    "tan": (mpmath.tan, (-300.0, 300.0), 4.0),
    "tanh": (mpmath.tanh, (-20.0, 20.0), 4.0),
    "erf": (mpmath.erf, (-6.0, 6.0), 4.0),
    "erfc": (mpmath.erfc, (-6.0, 9.0), 4.0),
    "sqrt": (mpmath.sqrt, (0.0, 1e20), 0.5),
}


def kernel(formula: str) -> Callable[..., Any]:
    """A kernel of one argument."""
    text = f'def k(x):\n    """Of each element:\n\n        REAL y = {formula};\n        STORE(y);\n    """\n'
    space: dict[str, Any] = {}
    exec(text, space)
    found: Callable[..., Any] = space["k"]
    return found


def points(low: float, high: float, real: Any) -> Any:
    """Even steps, and ever smaller numbers of both signs."""
    small = np.exp2(-np.arange(0.0, 100.0, 0.7))
    every = np.concatenate([np.linspace(low, high, 1500), small, -small])
    kept = every[(every >= low) & (every <= high)]
    return kept.astype(real)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_units_in_the_last_place(name: str, real: Any) -> None:
    exact, (low, high), allowed = FUNCTIONS[name]
    x = points(low, high, real)
    found = launch(kernel(f"{name}(x)"), x)
    with mpmath.workdps(40):
        for value, argument in zip(found, x, strict=True):
            wanted = exact(mpmath.mpf(float(argument)))
            unit = float(np.spacing(real(abs(float(wanted)))))
            assert abs(mpmath.mpf(float(value)) - wanted) <= (allowed + 0.001) * unit, (argument, value)


ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-310, 1e-40, 1e308, -1e308, -1.0, 1.0, 5e-324, 710.0, -746.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "log", "log1p", "tanh", "sqrt", "sin", "cos", "sign"])
def test_ends(name: str, real: Any) -> None:
    x = np.array([*ENDS, 89.0, -104.0, -90.0, 3e4, 1e9], real)
    found, wanted = launch(kernel(f"{name}(x)"), x), getattr(np, name)(x)
    near = np.abs(found - wanted) <= 4 * np.spacing(np.abs(wanted))
    assert np.all((found == wanted) | near | (np.isnan(found) & np.isnan(wanted))), (x, found, wanted)
    zero = found == 0.0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


@pytest.mark.parametrize("real", REALS)
def test_a_block_with_one_large_argument_is_right_everywhere(real: Any) -> None:
    x = np.linspace(-4.0, 4.0, 5000).astype(real)
    x[1234], x[4999] = 1e7, -3e8
    for name in ("sin", "cos", "tan"):
        allowed = 8 * np.spacing(np.maximum(np.abs(getattr(np, name)(x)), real(0.1)))
        assert np.all(np.abs(launch(kernel(f"{name}(x)"), x) - getattr(np, name)(x)) <= allowed)


@pytest.mark.parametrize("real", REALS)
def test_maximum_and_minimum_hand_nan_on(real: Any) -> None:
    x = np.array([np.nan, 1.0, -1.0, np.inf, 0.0], real)
    for name in ("maximum", "minimum"):
        found = launch(kernel(f"{name}(x, 0.5)"), x)
        assert np.array_equal(found, getattr(np, name)(x, real(0.5)), equal_nan=True)
