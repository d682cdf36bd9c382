"""Short functions become part of the kernels around their calls; all others keep a derivative of their own."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

import srcgrad
from srcgrad.front.straight import is_straight
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


def test_only_short_ones_are_written_out_and_only_for_kernels() -> None:
    text = srcgrad.source(of_short, "value-and-grad", target="opencl")
    assert text.count("launch(") == 1 and "_vjp" not in text
    assert "twice_vjp(" in srcgrad.source(of_short, "value-and-grad")
    assert "repeated_vjp(" in srcgrad.source(of_repeated, "value-and-grad", target="opencl")
    assert "kept_pull(" in srcgrad.source(of_kept, "value-and-grad", target="opencl")


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
