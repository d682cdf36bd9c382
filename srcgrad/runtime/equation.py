"""The right-hand side of an ordinary differential equation, and its derivatives, as functions of vectors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any  # functions of the user, containers, and arrays of any floating type

import numpy as np

from srcgrad.runtime.structure import mapped, zeros_like

Function = Callable[..., Any]


class Equation:
    """y' = func(y, t, *args), and a derivative of `func`; `places` are the active ones among `args`, None for all.

    `moving` are those that may move a jump, if these are not the same.

    >>> equation = Equation(lambda y, t, k: [-k * y[0]], lambda y, t, k, seed: (-k * seed, -y @ seed), (2.0,))
    >>> equation.rate(0.0, np.array([3.0]))
    array([-6.])
    >>> equation.adjoints(0.0, np.array([3.0]), np.array([1.0]))
    (array([-2.]), array([-3.]))
    """

    def __init__(
        self,
        func: Function,
        derivative: Function,
        args: tuple[Any, ...] | None,
        places: tuple[int, ...] | None = None,
        tfirst: bool = False,
        moving: tuple[int, ...] | None = None,
    ) -> None:
        self.func, self.derivative, self.tfirst = func, derivative, tfirst
        self.primals = args or ()
        self.args = tuple(map(widened, self.primals))
        self.places = tuple(range(len(self.args))) if places is None else places
        self.moving = self.places if moving is None else moving
        self.words = list(inspect.signature(derivative).parameters)
        self.shape: tuple[int, ...] | None = None
        self.zeros = joined([zeros_like(self.args[k]) for k in self.places])

    def given(self, time: Any, state: Any) -> tuple[Any, ...]:
        """A state and a time in the order in which the right-hand side takes them."""
        return (float(time), np.array(state)) if self.tfirst else (np.array(state), float(time))

    def rate(self, time: Any, state: Any, args: tuple[Any, ...] | None = None) -> Any:
        """The right-hand side."""
        found = np.asarray(self.func(*self.given(time, state), *(self.args if args is None else args)), float)
        self.shape = found.shape
        return found if found.shape == state.shape else np.broadcast_to(np.ravel(found), np.shape(state))

    def adjoints(self, time: Any, state: Any, seed: Any) -> tuple[Any, Any]:
        """The adjoint of the state, and those of all active arguments in one vector."""
        if self.shape is None:
            self.rate(time, state)
        found = self.derivative(*self.given(time, state), *self.args, **{self.words[-1]: self.shaped(seed)})
        found = found if isinstance(found, tuple) else (found,)
        return np.ravel(found[0]), joined(found[1:])

    def shaped(self, seed: Any) -> Any:
        """A seed of the right-hand side in the shape that it has."""
        whole = np.size(seed) == np.prod(self.shape or ())
        return np.reshape(seed, self.shape or ()) if whole else np.sum(seed)

    def slopes(self, time: Any, state: Any) -> Any:
        """The transposed Jacobian by the state, and below it that by all active arguments."""
        if self.shape is None:
            self.rate(time, state)
        shape, given, word, columns = self.shape or (), self.given(time, state), self.words[-1], []
        for unit in np.eye(len(state)):
            seed = np.reshape(unit, shape) if int(np.prod(shape)) == len(state) else 1.0
            found = self.derivative(*given, *self.args, **{word: seed})
            columns.append(joined(found if isinstance(found, tuple) else (found,)))
        return np.array(columns).T

    def tangent(self, time: Any, state: Any, state_dot: Any, args_dot: Sequence[Any]) -> Any:
        """The tangent of the right-hand side; `args_dot` are those of the active arguments."""
        names = self.words[len(self.words) - 1 - len(self.places) :]
        dots = dict(zip(names, [np.array(state_dot), *args_dot], strict=True))
        found = np.asarray(self.derivative(*self.given(time, state), *self.args, **dots), float)
        return np.broadcast_to(np.ravel(found), np.shape(state))

    def spread(self, whole: Any) -> list[Any]:
        """One adjoint for each argument, from those of all active ones in one vector; None for the others."""
        made: list[Any] = [None] * len(self.args)
        for k in self.places:
            count = len(joined([zeros_like(self.args[k])]))
            made[k], whole = like(whole[:count], self.primals[k]), whole[count:]
        return made

    def moves(self, one: tuple[Any, Any, Any], two: tuple[Any, Any, Any]) -> bool:
        """Whether a jump between two times, each with its state and rate, depends on the state or an argument."""
        (before, low, rate), (after, high, other) = one, two
        half = 0.5 * float(np.max(np.abs(other - rate)))
        if (
            np.max(np.abs(self.rate(before, high) - rate)) > half
            or np.max(np.abs(self.rate(after, low) - other)) > half
        ):
            return True
        for moved in self._nearby():
            if np.max(np.abs(self.rate(before, low, moved) - rate)) > half:
                return True
            if np.max(np.abs(self.rate(after, high, moved) - other)) > half:
                return True
        return False

    def shifts(self, before: float, after: float) -> bool:
        """Whether a jump of a function of one number depends on an argument."""
        low, high = (float(np.sum(self.func(x, *self.args))) for x in (before, after))
        half = 0.5 * abs(high - low)
        pairs = [[float(np.sum(self.func(x, *args))) for x in (before, after)] for args in self._nearby()]
        return any(abs(one - low) > half or abs(two - high) > half for one, two in pairs)

    def _nearby(self) -> list[tuple[Any, ...]]:
        """The arguments with a little more, and a little less, in the active ones."""
        found = []
        for step in (1e-6, -1e-6):
            args = list(self.args)
            for k in dict.fromkeys(self.moving):
                args[k] = _moved(args[k], step * (1.0 + 0.6180339887 * k))
            found.append(tuple(args))
        return found


def widened(value: Any) -> Any:
    """A value with its floating numbers in float64: what has the noise of float32 cannot be integrated to 1e-10.

    >>> widened((np.float32(0.5), "linear", np.ones(2, np.float16)))
    (0.5, 'linear', array([1., 1.]))
    """
    if isinstance(value, np.ndarray | np.generic):
        narrow = value.dtype.kind == "f" and value.dtype.itemsize < 8
        return (value.astype(float) if isinstance(value, np.ndarray) else float(value)) if narrow else value
    return mapped(widened, value) if isinstance(value, list | tuple | dict) else value


def _moved(value: Any, step: float) -> Any:
    """A value whose numbers are changed a little, each in another proportion."""
    if not isinstance(value, np.ndarray | float | np.floating):
        return mapped(lambda part: _moved(part, step), value) if isinstance(value, list | tuple | dict) else value
    steps = step * (1.0 + 0.1 * np.modf(0.6180339887 * np.arange(np.size(value)))[0]).reshape(np.shape(value))
    return value + steps * np.where(np.asarray(value) == 0.0, 1.0, value)


def joined(parts: Sequence[Any]) -> Any:
    """All numbers of some arrays, and of containers of arrays, in one vector.

    >>> joined([1.0, (np.zeros(2), [3.0, None])])
    array([1., 0., 0., 3.])
    """
    if parts and all(isinstance(part, np.ndarray) and part.dtype == float for part in parts):
        return np.concatenate([part.ravel() for part in parts])
    found = [np.zeros(0)]

    def take(part: Any) -> None:
        if isinstance(part, np.ndarray | int | float | np.number):
            found.append(np.ravel(np.asarray(part, float)))
        else:
            mapped(take, part)

    for part in parts:
        take(part)
    return np.concatenate(found)


def like(whole: Any, primal: Any) -> Any:
    """The numbers of a vector in the shape, dtype and class of what they are adjoints of.

    >>> like(np.array([1.0, 2.0, 3.0]), {"a": np.zeros(2, np.float32), "b": 1.0})
    {'a': array([1., 2.], dtype=float32), 'b': 3.0}
    """
    place = 0

    def put(zero: Any) -> Any:
        nonlocal place
        if not isinstance(zero, np.ndarray | float | np.number):
            return mapped(put, zero)
        made = np.reshape(whole[place : place + np.size(zero)], np.shape(zero))
        place += np.size(zero)
        return made.astype(zero.dtype) if isinstance(zero, np.ndarray) else type(zero)(made)

    return put(zeros_like(primal))
