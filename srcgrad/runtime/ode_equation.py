"""The right-hand side of an ordinary differential equation, its derivatives and adjoints, on vectors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
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


NODES = 16
MOST = 12  # components: an element calls `pull` NODES times for each of them
FEW = 30  # elements, and two for each time, before it is tried another way
STEPS = 40  # of the forward run at most in an element, so that nothing that happens on the way is overlooked


@cache
def gauss(count: int) -> tuple[Any, Any]:
    """Nodes in (0, 1), and the matrix that takes values there to coefficients of Legendre polynomials.

    >>> nodes, coefficients = gauss(3)
    >>> np.abs(coefficients @ (2.0 * nodes - 1.0)).round(12).tolist()
    [0.0, 1.0, 0.0]
    """
    places, weights = np.polynomial.legendre.leggauss(count)
    values = np.polynomial.legendre.legvander(places, count - 1)
    return 0.5 * (places + 1.0), (np.arange(count) + 0.5)[:, np.newaxis] * (values * weights[:, np.newaxis]).T


def integrals(x: Any, count: int) -> Any:
    """The integrals from 0 to each x of the first Legendre polynomials of 2 x - 1.

    >>> integrals(np.array([0.5, 1.0]), 2).tolist()
    [[0.5, -0.25], [1.0, 0.0]]
    """
    values = np.polynomial.legendre.legvander(2.0 * np.asarray(x) - 1.0, count)
    made = np.empty((len(values), count))
    made[:, 0] = x
    made[:, 1:] = (values[:, 2:] - values[:, :-2]) / (4.0 * np.arange(1, count) + 2.0)
    return made


class Element:
    """All solutions between two times, backwards: `grown` and `gained` are X and Q at the end.

    >>> growth = Equation(lambda y, t, k: k * y, lambda y, t, k, seed: (k * seed, y @ seed), (2.0,))
    >>> element = Element(growth, lambda t: np.exp(2.0 * t)[np.newaxis], 1.0, 0.0)
    >>> np.round([element.grown / np.exp(2.0), element.gained / np.exp(2.0)], 12).ravel().tolist()
    [1.0, 1.0]
    """

    def __init__(self, equation: Equation, path: Any, start: float, end: float) -> None:
        nodes, self.coefficients = gauss(NODES)
        times = start + (end - start) * nodes
        slopes = (start - end) * np.array([equation.slopes(s, y) for s, y in zip(times, path(times).T, strict=True)])
        n = slopes.shape[2]
        weights = integrals(nodes, NODES) @ self.coefficients
        system = np.eye(NODES * n) - (weights[:, np.newaxis, :, np.newaxis] * slopes[:, :n].swapaxes(0, 1)).reshape(
            NODES * n, NODES * n
        )
        states = np.linalg.solve(system, np.tile(np.eye(n), (NODES, 1))).reshape(NODES, n, n)
        rates = slopes @ states
        self.size = n
        self.largest = np.max(np.abs(rates), axis=(0, 2))
        self.series = np.tensordot(self.coefficients, rates, 1)
        whole = self.series[0]
        self.grown, self.gained = np.eye(n) + whole[:n], whole[n:]

    def at(self, x: Any) -> tuple[Any, Any]:
        """X and Q at some places."""
        whole = np.tensordot(integrals(x, NODES), self.series, 1)
        return np.eye(self.size) + whole[:, : self.size], whole[:, self.size :]

    def carried(self, adjoint: Any, x: Any, seeds: Any) -> tuple[Any, Any]:
        """The adjoint at the end and what the arguments get, with seeds that come in at some places."""
        grown, gained = self.at(x)
        started = np.linalg.solve(grown, seeds[:, :, np.newaxis])
        whole = adjoint + np.sum(started[:, :, 0], axis=0)
        return self.grown @ whole, self.gained @ whole - np.sum(gained @ started, axis=(0, 2))

    def error(self, usual: Any) -> float:
        """What the last coefficients add to X and Q, for each argument relative to what is usual for it."""
        last = np.max(np.abs(self.series[-2:]), axis=(0, 2)) / (2.0 * NODES)
        shrunk = np.linalg.svd(self.grown, compute_uv=False)[-1] if np.all(np.isfinite(last)) else 0.0
        return float(np.max(last / usual)) / min(1.0, float(shrunk)) if shrunk > 0.0 else np.inf


def collocated(
    equation: Equation, path: Any, first: float, times: Any, seeds: Any, tolerance: float
) -> tuple[int, float, Any, Any]:
    """Go back from the last time to `first`; stop on the way where that takes many elements, as of a stiff equation.

    How many seeds are left, the time that is reached, the adjoint there, and what the arguments have got so far.
    """
    left, place, adjoint = len(times) - 1, float(times[-1]), seeds[-1]
    n, parts, usual = len(adjoint), np.zeros_like(equation.zeros), np.zeros_like(equation.zeros)
    reached, most = np.abs(path.ts - first), abs(place - first)
    for _ in range(FEW + 2 * len(times)):
        if place == first or n > MOST:
            break
        far = abs(place - first)
        most = min(most, far - float(reached[max(int(np.searchsorted(reached, far)) - STEPS, 0)]))
        end = place + (first - place) * most / far if most < 0.95 * far else first
        element = Element(equation, path, place, end)
        usual = np.maximum(usual, element.largest[n:])
        least = 1e-6 * float(np.max(usual, initial=0.0)) or 1.0
        error = element.error(np.concatenate((np.ones(n), np.maximum(usual, least))))
        most = abs(end - place) * min(2.0, max(0.2, 0.9 * (tolerance / max(error, 1e-300)) ** (1.0 / NODES)))
        if error <= tolerance or abs(end - place) <= 1e-10 * float(reached[-1]):
            inside = left - int(np.count_nonzero(np.abs(times[:left] - place) < abs(end - place)))
            adjoint, more = element.carried(adjoint, (times[inside:left] - place) / (end - place), seeds[inside:left])
            parts, place, left = parts + more, end, inside
        elif not np.isfinite(error):
            break
    return left, place, adjoint, parts


def along_seed(equation: Equation, derived: Equation, again: Function, args: Any, way: Any) -> Equation:
    """The tangent goes along a seed of what `derived` gives for the arguments; `again` has adjoints of its seed, too.

    >>> pull = lambda y, t, k, seed: (k * seed, y @ seed)
    >>> again = lambda y, t, k, seed, way: (way[1] * seed, way[0] @ seed, k * way[0] + way[1] * y)
    >>> growth = Equation(lambda y, t, k: k * y, pull, (2.0,))
    >>> along_seed(growth, growth, again, (2.0,), np.array([1.0])).rate(0.0, np.array([3.0, 0.0])).tolist()
    [6.0, 3.0]
    """
    seeded, moved = list(inspect.signature(again).parameters)[-2:], []
    for k in derived.places:
        count = len(joined([derived.args[k]]))
        moved.append(like(way[:count], derived.args[k]))
        way = way[count:]

    def turned(time: Any, both: Any, args: tuple[Any, ...], seed: Any) -> tuple[Any, Any, Any]:
        """Adjoints of the state, of the active arguments, and of the seed of `derived`."""
        n = len(both) // 2
        ways = (both[n:], *moved) if moved else both[n:]
        words = dict(zip(seeded, (derived.shaped(seed), ways), strict=True))
        state, *others, last = again(*derived.given(time, both[:n]), *args, **words)
        return np.ravel(state), joined(others), joined([last])

    def rate(both: Any, time: Any, *args: Any) -> Any:
        n = len(both) // 2
        value = derived.rate(time, both[:n], args)
        return np.concatenate((value, turned(time, both, args, np.zeros(n))[2]))

    def pull(both: Any, time: Any, *args: Any, seed: Any) -> tuple[Any, Any]:
        n = len(both) // 2
        direct, parts = equation.adjoints(time, both[:n], seed[:n])
        state, others, _ = turned(time, both, args, seed[n:])
        return np.concatenate((direct + state, derived.adjoints(time, both[:n], seed[n:])[0])), parts + others

    return Equation(rate, pull, args, equation.places)


def along_tangent(ahead: Equation, derived: Equation, again: Function, args: Any, ways: list[Any]) -> Equation:
    """The tangent goes along those of the active arguments, of which `ahead` has the derivative.

    >>> push = lambda y, t, k, y_dot, k_dot: k * y_dot + k_dot * y
    >>> again = lambda y, t, k, seed, y_dot, k_dot: (k_dot * seed, y_dot @ seed)
    >>> ahead = Equation(lambda y, t, k: k * y, push, (2.0,))
    >>> derived = Equation(lambda y, t, k: k * y, lambda y, t, k, seed: (k * seed, y @ seed), (2.0,))
    >>> along_tangent(ahead, derived, again, (2.0,), [1.0]).rate(0.0, np.array([3.0, 0.0])).tolist()
    [6.0, 3.0]
    """
    words = list(inspect.signature(again).parameters)
    seeded, dotted = words[len(words) - 2 - len(ways)], words[len(words) - 1 - len(ways) :]

    def rate(both: Any, time: Any, *args: Any) -> Any:
        n = len(both) // 2
        return np.concatenate((derived.rate(time, both[:n], args), ahead.tangent(time, both[:n], both[n:], ways)))

    def pull(both: Any, time: Any, *args: Any, seed: Any) -> tuple[Any, Any]:
        n = len(both) // 2
        direct, parts = derived.adjoints(time, both[:n], seed[:n])
        dots = dict(zip(dotted, [np.array(both[n:]), *ways], strict=True))
        found = again(*derived.given(time, both[:n]), *args, **{seeded: derived.shaped(seed[n:])}, **dots)
        found = found if isinstance(found, tuple) else (found,)
        state = np.concatenate((direct + np.ravel(found[0]), derived.adjoints(time, both[:n], seed[n:])[0]))
        return state, parts + joined(found[1:])

    return Equation(rate, pull, args, derived.places, moving=(*derived.places, *ahead.places))
