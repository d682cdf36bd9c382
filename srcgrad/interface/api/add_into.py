"""Gradients that are added to arrays of the caller: micro-batches add up to the whole batch."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,  # gradients and accumulators are arbitrary nested values
)

import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.opencl.arrays.array import Array
from srcgrad.opencl.arrays.boundary import on_host

if TYPE_CHECKING:
    from srcgrad.interface.api.derivative import Derivative


Pair = tuple[str, Any, Any]  # where it is, the accumulator, what is added to it


def adding_derivative(derivative: Derivative[..., Any], accumulators: Any) -> Callable[..., Any]:
    """The derivative as a function that adds its gradient to `accumulators`; see `Derivative.into`."""
    if derivative.mode not in ("reverse", "value-and-grad"):
        raise DifferentiationError(
            "E5024", f"a derivative of mode {derivative.mode} has no gradient to add", "use grad or value_and_grad"
        )

    return AddingDerivative(derivative, accumulators)


class AddingDerivative:
    """A derivative that adds what it gives to accumulators; in a copy or a pickle, to copies of them."""

    def __init__(self, derivative: Derivative[..., Any], accumulators: Any) -> None:
        self.derivative, self.accumulators = derivative, accumulators
        self.__name__ = f"{derivative.__name__}_into"
        self.__doc__ = f"Add to the accumulators the result of {derivative!r}."

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        derivative, accumulators = self.derivative, self.accumulators
        found = derivative(*args, **kwargs)
        whole = derivative.mode == "reverse" and not derivative.auxiliary
        place = 1 if derivative.mode == "value-and-grad" else 0
        gradient = found if whole else found[place]
        for _, accumulator, part in list(pairs(accumulators, gradient)):  # all are looked at before one is changed
            _add(accumulator, part)
        if whole:
            return accumulators
        return (found[0], accumulators) if place else (accumulators, found[1])

    @property
    def __signature__(self) -> inspect.Signature:
        return self.derivative.__signature__

    @property
    def source(self) -> str:
        """The text of the gradient."""
        return self.derivative.source


def pairs(accumulator: Any, gradient: Any, name: str = "the accumulator") -> Iterator[Pair]:
    """Each array that is added to, with what is added; E5024 where the two do not match.

    >>> import numpy as np
    >>> [(name, part) for name, _, part in pairs({"w": np.zeros(2)}, {"w": np.ones(2)}, "g")]
    [("g['w']", array([1., 1.]))]
    """
    if gradient is None:
        return
    if isinstance(gradient, dict):
        same = isinstance(accumulator, dict) and accumulator.keys() == gradient.keys()
        keys = [(repr(key), key) for key in gradient]
        _check(same, name, f"a dict with the keys {', '.join(map(repr, gradient))}", accumulator)
    elif isinstance(gradient, tuple | list):
        kind = "list" if isinstance(gradient, list) else "tuple"
        same = isinstance(accumulator, tuple | list) and len(accumulator) == len(gradient)
        keys = [(str(key), key) for key in range(len(gradient))]
        _check(same, name, f"a {kind} of {len(gradient)}", accumulator)
    elif dataclasses.is_dataclass(gradient) and not isinstance(gradient, type):
        _check(type(accumulator) is type(gradient), name, f"a {type(gradient).__name__}", accumulator)
        for field in dataclasses.fields(gradient):
            part = getattr(accumulator, field.name)
            yield from pairs(part, getattr(gradient, field.name), f"{name}.{field.name}")
        return
    else:
        _check_array(accumulator, gradient, name)
        yield name, accumulator, gradient
        return
    for shown, key in keys:
        yield from pairs(accumulator[key], gradient[key], f"{name}[{shown}]")


def _check(fits: bool, name: str, wanted: str, accumulator: Any) -> None:
    if not fits:
        described = f"of type {type(accumulator).__name__}"
        if isinstance(accumulator, dict | list | tuple):
            described += f" with {len(accumulator)} parts"
        raise DifferentiationError("E5024", f"{name} is {described}, the gradient is {wanted}", "give it that form")


def _check_array(accumulator: Any, gradient: Any, name: str) -> None:
    """An array of the gradient's shape, of its dtype or one that holds all its values, which can be written."""
    dtype = gradient.dtype if hasattr(gradient, "dtype") else np.dtype(float)
    if not isinstance(accumulator, np.ndarray | Array):
        raise DifferentiationError(
            "E5024",
            f"{name} is of type {type(accumulator).__name__}, which nothing can be added to in place",
            f"give an array: np.zeros({np.shape(gradient)!r})",
        )
    if tuple(accumulator.shape) != tuple(np.shape(gradient)):
        raise DifferentiationError(
            "E5024",
            f"{name} has shape {tuple(accumulator.shape)}, the gradient has shape {tuple(np.shape(gradient))}",
            "make it with np.zeros_like of the argument",
        )
    if accumulator.dtype.kind != "f" or not np.can_cast(dtype, accumulator.dtype, "safe"):
        raise DifferentiationError(
            "E5024",
            f"{name} is of dtype {accumulator.dtype}, the gradient of dtype {dtype}",
            f"make it an array of {dtype}, or of a wider dtype",
        )
    if isinstance(accumulator, np.ndarray) and not accumulator.flags.writeable:
        raise DifferentiationError("E5024", f"{name} is read-only", "give a copy of it")


def _add(accumulator: Any, part: Any) -> None:
    if isinstance(accumulator, Array):
        accumulator[...] = accumulator + part
    else:
        np.add(accumulator, on_host(part), out=accumulator)
