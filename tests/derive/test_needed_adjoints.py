"""No warning that the function itself does not give, where what would warn is left out further up."""

from __future__ import annotations

import itertools
import linecache
from typing import Any  # functions made of text

import numpy as np
import pytest
from scipy import special

import srcgrad

# Values that do not depend on p somewhere, and are 0 there.
CLAMPED = {
    "maximum": "np.maximum(p, 0.0)",
    "minimum": "-np.minimum(p, 0.0)",
    "clip": "np.clip(p, 0.0, 0.2)",
    "clip-from": "p.clip(0.0)",
    "clip-to": "-np.clip(p, None, 0.0)",
    "clip-arrays": "np.clip(p, np.zeros(4), np.ones(4))",
    "fmax": "np.fmax(p, 0.0)",
    "fmin": "-np.fmin(p, 0.0)",
    "maximum-of-arrays": "np.maximum(p, np.array([0.0, 0.0, 0.1, 0.0]))",
    "maximum-of-two": "np.maximum(p, np.maximum(-1.0 - p * p, 0.0))",
    "where": "np.where(p > 0.0, p, 0.0)",
    "where-else": "np.where(p < 0.0, 0.0, p)",
    "sum": "np.maximum(p, 0.0) + np.clip(p, 0.0, 1.0)",
    "multiple": "0.5 * np.maximum(p, 0.0)[::-1]",
    "helper": "relu(p)",
    "named": "named(p)",
    "far": "np.maximum(np.abs(p) - 0.15, 0.0)",
}
SINGULAR = {
    "sqrt": "np.sqrt(t)",
    "power": "t**0.5",
    "powers": "t ** np.array([0.5, 0.3, 2.0, 0.7])",
    "arccos": "np.arccos(1.0 - t)",
    "arccosh": "np.arccosh(1.0 + t)",
    "cbrt": "np.cbrt(t)",
    "inverse": "np.where(t > 0.0, 1.0 / np.where(t > 0.0, t, 1.0), 0.0)",
    "logarithm": "np.where(t > 0.0, np.log(np.where(t > 0.0, t, 1.0)), 0.0)",
    "hypot": "np.hypot(t, 0.0)",
    "angle": "np.arctan2(t, t)",
    "norm": "np.linalg.norm(np.stack([t, t]), axis=0)",
    "root-of-a-square": "np.sqrt(t**2)",
    "root-of-a-root": "np.sqrt(2.0 * np.sqrt(t))",
}
READ = {
    "sum": "np.sum(s * Q)",
    "mean": "np.mean(s)",
    "broadcast": "np.sum(s[:, None] * Q)",
    "elements": "s[1] + s[0] * 2.0",
    "some": "np.sum(s[M])",
    "product": "s @ Q",
    "where": "np.sum(np.where(M, s, 0.0))",
    "reshape": "np.sum(s.reshape(2, 2) * Q.reshape(2, 2))",
    "some-alone": "np.sum(s, where=M)",
}
Q, M = np.array([1.0, 2.0, 3.0, -1.0]), np.array([True, False, True, True])
DIRECTION = np.array([0.3, -0.5, 0.7, 0.2])
POINTS = np.array([[-0.3, 0.1, -0.21, 0.4], [-0.3, -0.1, -0.2, -0.4], [0.05, 0.1, 0.02, 0.14]])


def relu(z):
    return np.maximum(z, 0.0)


def named(p):
    m = p > 0.0
    return np.where(m, p, 0.0)


def made(body: str) -> Any:
    """A function of p from the lines of its body."""
    text = "def f(p):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    file = f"<needed {body}>"
    names = {"np": np, "special": special, "relu": relu, "named": named, "Q": Q, "M": M}
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    return names["f"]


def held_to_differences(function: Any, gradient: Any, product: Any, p: np.ndarray) -> bool:
    """Compare the derivatives with differences, with warnings as errors; whether the function itself gives none."""
    h = 1e-6 * DIRECTION
    with np.errstate(all="raise"):
        try:
            near = [function(one) for one in (p, p + h, p - h)]
        except FloatingPointError:
            return False
        found = gradient(p)
        due = (near[1] - near[2]) / 2e-6
        assert abs(found @ DIRECTION - due) < 1e-6 * (1.0 + abs(due))  # of second order in h
        second = product(p, DIRECTION)
        sides = [gradient(one) for one in (p + h, p - h)]
    np.testing.assert_allclose(second, (sides[0] - sides[1]) / 2e-6, rtol=1e-5, atol=1e-5)
    return True


PROGRAMS = list(itertools.product(CLAMPED, SINGULAR, READ))


@pytest.mark.parametrize("part", range(8))
def test_no_warning_that_the_function_itself_does_not_give(part: int) -> None:
    quiet = 0
    for clamped, singular, read in PROGRAMS[part :: 8 * 31]:  # one in 31: every row of each table, most pairs of rows
        function = made(f"t = {CLAMPED[clamped]}\ns = {SINGULAR[singular]}\nreturn {READ[read]}")
        gradient, product = srcgrad.grad(function), srcgrad.hvp(function)
        for p in POINTS:
            quiet += held_to_differences(function, gradient, product, p)
    assert quiet > len(PROGRAMS) // (8 * 31)
