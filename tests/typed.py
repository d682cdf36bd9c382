"""What a type checker sees of srcgrad in a user's file: `mypy --strict` reads this one with the linters.

A line that must be wrong says so with `type: ignore`, which is itself an error where nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any  # gradients are numbers, arrays or containers

import numpy as np
from numpy.typing import NDArray

import srcgrad

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, kind):
        return value


Array = NDArray[np.float64]


def energy(x: Array, k: float = 2.0) -> float:
    return float(np.sum(k * x * x))


@srcgrad.differentiate
def norm(x: Array) -> float:
    return float(np.sum(x * x))


@srcgrad.differentiate(wrt="x")
def scaled(x: Array, k: float) -> float:
    return float(np.sum(k * x))


@srcgrad.checkpoint
def layer(h: Array) -> Array:
    return np.tanh(h)


def cube(x: float) -> float:
    return x * x * x


def gradients(x: Array, parts: list[Array]) -> None:
    """A gradient by a first argument that is a number or an array has its type; any other is told by no text."""
    assert_type(srcgrad.grad(cube)(2.0), float)
    assert_type(srcgrad.grad(cube)(x=2.0), float)
    assert_type(srcgrad.grad(srcgrad.grad(cube))(2.0), float)
    slope: Callable[[float], float] = srcgrad.grad(cube)
    assert_type(srcgrad.grad(energy)(x), Array)
    assert_type(srcgrad.grad(energy)(x, 3.0), Array)
    assert_type(srcgrad.grad(energy)(x, k=3.0), Array)
    assert_type(srcgrad.grad(energy)(x=x, k=3.0), Array)
    assert_type(srcgrad.value_and_grad(energy)(x), tuple[float, Array])
    assert_type(srcgrad.value_and_grad(cube)(2.0), tuple[float, float])
    assert_type(srcgrad.grad(energy, wrt="k")(x, k=3.0), Any)
    assert_type(srcgrad.grad(total)(parts), Any)
    assert_type(srcgrad.grad(lambda t: t * t)(slope(2.0)), Any)


def total(parts: list[Array]) -> float:
    return float(sum(np.sum(one) for one in parts))


def results(x: Array) -> None:
    value, _ = srcgrad.value_and_grad(energy)(x, k=3.0)
    assert_type(value, float)
    y, pullback = srcgrad.vjp(energy, x, 2.0)
    assert_type(y, float)
    assert_type(pullback, Callable[[Any], Any])
    assert_type(srcgrad.jvp(energy, (x,), (x,)), tuple[float, float])
    assert_type(srcgrad.linearize(energy, x)[0], float)
    assert_type(norm(x), float)
    assert_type(norm.value_and_grad(x)[0], float)
    assert_type(scaled(x, 2.0), float)
    assert_type(layer(x), Array)
    assert_type(srcgrad.stop_gradient(x), Array)
    assert_type(srcgrad.hook(x, np.negative), Array)
    text: str = srcgrad.grad(energy).source
    assert_type(srcgrad.source(energy), str)
    assert text == srcgrad.source(energy, wrt="x") or text


def mistakes(x: Array) -> None:
    srcgrad.grad(energy)("x")  # type: ignore[call-overload]
    srcgrad.grad(energy)(x, 2.0, 3.0)  # type: ignore[call-overload]
    srcgrad.jacobian(energy)(x, rate=1.0)  # type: ignore[call-arg]
    srcgrad.grad(3.0)  # type: ignore[call-overload]
    norm.grad(x, 2.0)  # type: ignore[call-arg]
    layer("x")  # type: ignore[arg-type]
    srcgrad.grad(energy, wrt=1.5)  # type: ignore[call-overload]
