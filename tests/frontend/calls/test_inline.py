"""Short functions become part of the text around their calls; all others keep a derivative of their own."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad.frontend.calls.side_effects import is_straight
from tests.agree import differences

RATE = 0.7


def short(x: Any, scale: Any = 2.0) -> Any:
    """Names, and a result that reads a global."""
    spread = x * RATE
    return np.tanh(spread) + scale * spread


def twice(x: Any) -> Any:
    """Calls another short one."""
    return short(short(x), scale=0.5) * x


def repeated(x: Any) -> Any:
    for _ in range(2):
        x = np.tanh(x) * x
    return x


@srcgrad.checkpoint
def kept(x: Any) -> Any:
    return np.tanh(x) * np.exp(-x * x)


def of_short(x: Any, spread: Any) -> Any:
    """Its names are those of the short ones, too."""
    scale = twice(x) * spread
    return np.sum(np.exp(-scale * scale) + short(spread))


def of_repeated(x: Any, spread: Any) -> Any:
    return np.sum(repeated(x) * np.exp(spread))


def of_kept(x: Any, spread: Any) -> Any:
    return np.sum(kept(x) * np.exp(spread))


def in_loop(x: Any, spread: Any) -> Any:
    """Its values are recorded in each trip."""
    for _ in range(3):
        x = short(x) * spread
    return np.sum(x * x)


@pytest.mark.parametrize("f", [of_short, of_repeated, of_kept, in_loop], ids=lambda f: f.__name__)
def test_gives_what_numpy_gives(f: Any) -> None:
    args = np.linspace(-1.0, 1.0, 7), np.linspace(0.2, 0.9, 7)
    found, wanted = (srcgrad.value_and_grad(f, wrt=(0, 1), target=target)(*args) for target in ("opencl", "numpy"))
    assert differences(found, wanted, 1e-12) == []


def crossed(x: Any, spread: Any) -> Any:
    """Each argument stands where the parameter is read, whatever names both functions have."""
    return np.sum(short(spread - 2.0 * x, x) * weighed(spread * spread, x))


def weighed(x: Any, spread: Any) -> Any:
    return np.exp(-spread) * x


def of_constants(x: Any, spread: Any) -> Any:
    """No derivative goes through the call, if none is asked for by `spread`."""
    return np.sum(short(spread) * x)


def long(x: Any) -> Any:
    return np.tanh(x * x) + np.exp(-x) * x


def often(x: Any, spread: Any) -> Any:
    return np.sum(long(x) * long(spread) * long(x * spread))


def test_an_argument_that_the_function_changes_is_read_before() -> None:
    def doubled(x: float) -> float:
        k = x

        def product(a: float) -> float:
            nonlocal k
            k = 2.0 * k
            return a * k

        y = product(k)
        return y + k

    assert srcgrad.grad(doubled)(3.0) == 14.0  # of 2 x x + 2 x


def test_short_ones_are_written_out() -> None:
    text = srcgrad.source(of_short, "value-and-grad", target="opencl")
    assert text.count("launch(") == 1 and "_vjp" not in text
    assert "_vjp" not in srcgrad.source(of_short) + srcgrad.source(crossed)
    srcgrad.check_grads(crossed, (np.linspace(-1.0, 1.0, 7), np.linspace(0.2, 0.9, 7)), order=2)


def test_all_others_are_called() -> None:
    """Those with a loop, those that are checkpointed, those with much to write twice; and what has no derivative."""
    assert "repeated_vjp(" in srcgrad.source(of_repeated, "value-and-grad", target="opencl")
    assert "kept_pull(" in srcgrad.source(of_kept, "value-and-grad", target="opencl")
    assert srcgrad.source(often).count("long_vjp(") == 4
    assert "short(spread)" in srcgrad.source(of_constants, wrt="x")


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    x[0] = 1.0\n    return x",
        "def f(x):\n    if x > 0:\n        return x\n    return -x",
        "def f(x):\n    return x, x",
        "def f(x):\n    y = [x]\n    return y[0]",
        "def f(x):\n    print(x)\n    return x",
        "def f(x):\n    x += 1.0\n    return x",
        "def f(x):\n    'Nothing.'",
        "def f(x):\n    return " + " + ".join("x" * 30),
    ],
)
def test_what_is_not_short(text: str) -> None:
    assert not is_straight(gast.parse(text).body[0])
