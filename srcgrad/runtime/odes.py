"""Ordinary differential equations: right-hand sides on vectors, and derivatives of solutions.

The adjoint equation goes backwards, the variational one forwards. What `odeint` and `solve_ivp` are given has their
names for it.
"""

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


Tolerances = tuple[float, Any]
USUAL = 1.49012e-8  # the tolerance of odeint


def tightened(rtol: Any, atol: Any) -> Tolerances:
    """Tolerances for a derivative: a hundredth of those of the solution, or of 1e-6 where these are wider.

    None stands for what `odeint` takes.

    >>> tightened(1e-3, 1e-8)
    (1e-08, np.float64(1e-10))
    """
    rtol, atol = USUAL if rtol is None else rtol, USUAL if atol is None else atol
    relative = max(1e-2 * min(float(np.min(rtol)), 1e-6), 1e-12)
    return relative, 1e-2 * np.minimum(np.asarray(atol, float), 1e-6)


def method_of(method: Any) -> str:
    """The method for a derivative: an explicit one for a solution by an explicit one.

    >>> method_of("RK45"), method_of("BDF")
    ('DOP853', 'LSODA')
    """
    return "DOP853" if str(getattr(method, "__name__", method)) in ("RK23", "RK45", "DOP853") else "LSODA"


def adjoint_flow(
    equation: Equation, start: tuple[float, Any], times: Any, rows: Any, seeds: Any, method: str, tolerances: Tolerances
) -> tuple[Any, float, Any, Any]:
    """Adjoints of the first state, the first time, the times of the rows, and the active arguments in one vector.

    `rows` are the states at these times, or None where the adjoints of the times are of no interest.

    >>> growth = Equation(lambda y, t, k: k * y, lambda y, t, k, seed: (k * seed, y @ seed), (1.0,))
    >>> end = np.exp(np.array([[1.0]]))
    >>> found = adjoint_flow(growth, (0.0, np.ones(1)), np.ones(1), end, np.ones((1, 1)), "DOP853", (1e-9, 1e-9))
    >>> [np.round(one, 6).tolist() for one in found]
    [[2.718282], -2.718282, [2.718282], [2.718282]]
    """
    t0, y0 = start
    adjoint, parts = np.zeros(len(y0)), np.zeros_like(equation.zeros)
    each = () if rows is None else zip(seeds, times, rows, strict=True)
    moved = np.array([np.sum(g * equation.rate(s, row)) for g, s, row in each])
    path, left, place = None, len(times), float(times[-1]) if len(times) else t0
    if place != t0:
        found = solved(equation.rate, t0, place, y0, method, tolerances, dense=True)
        check_smooth(equation, found, len(y0))
        path = found.sol
        left, place, adjoint, parts = collocated(equation, path, t0, times, seeds, 10.0 * tolerances[0])
    while True:
        before = float(times[left - 1]) if left else t0
        if before != place:
            adjoint, more = _interval(equation, path, place, before, adjoint, method, tolerances[0])
            parts, place = parts + more, before
        if not left:
            break
        left -= 1
        adjoint = adjoint + seeds[left]
    return adjoint, float(-np.sum(adjoint * equation.rate(t0, y0))), moved, parts


def _interval(
    equation: Equation, path: Any, end: float, start: float, adjoint: Any, method: str, rtol: float
) -> tuple[Any, Any]:
    """The adjoint at the start of an interval, from that at its end, and what the arguments get.

    All is linear in the adjoint: it is divided by its size, so that tolerances mean the same for every seed.
    """
    size, count, n = float(np.max(np.abs(adjoint), initial=0.0)), len(equation.zeros), len(adjoint)
    if size == 0.0 or not np.isfinite(size):
        return adjoint * (1.0 if size == 0.0 else np.nan), np.full(count, 0.0 if size == 0.0 else np.nan)

    def slope(time: Any, both: Any) -> Any:
        return -np.concatenate(equation.adjoints(time, path(time), both[:n]))

    first = np.concatenate((adjoint / size, np.zeros(count)))
    usual = np.abs((end - start) * np.maximum(np.abs(slope(start, first)), np.abs(slope(end, first)))[n:])
    least = 1e-6 * float(np.max(usual, initial=0.0)) or 1.0
    atol = 1e-3 * rtol * np.concatenate((np.ones(n), np.maximum(usual, least)))
    both = size * solved(slope, end, start, first, method, (rtol, atol)).y[:, -1]
    return both[:n], both[n:]


def tangent_flow(
    equation: Equation,
    start: tuple[float, Any],
    first: Any,
    args_dot: Sequence[Any],
    times: Any,
    method: str,
    tolerances: Tolerances,
) -> Any:
    """The tangents of the states at some times, one per row, from that of the first state and of all arguments.

    >>> growth = Equation(lambda y, t, k: k * y, lambda y, t, k, y_dot, k_dot: k * y_dot + k_dot * y, (1.0,))
    >>> tangent_flow(growth, (0.0, np.ones(1)), np.zeros(1), [1.0], [1.0], "DOP853", (1e-9, 1e-9)).round(6)
    array([[2.718282]])
    """
    t0, y0 = start
    kept = [args_dot[k] for k in equation.places]
    size, n = float(np.max(np.abs(joined([first, *kept])), initial=0.0)), len(y0)
    if size == 0.0 or not len(times) or times[-1] == t0:
        return np.broadcast_to(first, (len(times), n))
    scaled = [_divided(one, size) for one in kept]

    def slope(time: Any, both: Any) -> Any:
        return np.concatenate((equation.rate(time, both[:n]), equation.tangent(time, both[:n], both[n:], scaled)))

    rtol, atol = tolerances
    both, atol = np.concatenate((y0, first / size)), np.concatenate((np.broadcast_to(atol, n), np.full(n, 1e-3 * rtol)))
    found = solved(slope, t0, float(times[-1]), both, method, (rtol, atol), dense=True)
    check_smooth(equation, found, n)
    return size * found.sol(np.asarray(times))[n:].T


def _divided(value: Any, size: float) -> Any:
    return (
        value / size
        if isinstance(value, np.ndarray | float | np.number)
        else mapped(lambda v: _divided(v, size), value)
    )


def solved(
    slope: Callable[..., Any],
    start: float,
    end: float,
    first: Any,
    method: str,
    tolerances: Tolerances,
    dense: bool = False,
) -> Any:
    """What `scipy.integrate.solve_ivp` gives; ArithmeticError where it does not reach the end.

    >>> solved(lambda t, y: -y, 0.0, 1.0, np.ones(1), "LSODA", (1e-9, 1e-9)).y[:, -1].round(6)
    array([0.367879])
    """
    from scipy.integrate import solve_ivp

    rtol, atol = tolerances
    least, place, calls = 1e-12 * max(abs(start), abs(end)), start, 0

    def watched(time: Any, state: Any) -> Any:
        nonlocal place, calls
        calls = calls + 1 if abs(time - place) <= least else 0
        if calls > 1000:
            raise ArithmeticError(
                f"E5001 operation not differentiable: the right-hand side jumps back and forth at {place}"
            )
        place = place if calls else time
        return slope(time, state)

    found = solve_ivp(watched, (start, end), first, method, dense_output=dense, rtol=rtol, atol=atol)
    if found.status != 0:
        raise ArithmeticError(f"the derivative of a solution, between {start} and {end}: {found.message}")
    return found


def check_smooth(equation: Equation, found: Any, n: int) -> None:
    """Raise ArithmeticError where a right-hand side jumps at a state, or at a time that an argument moves.

    The derivative of the time of such a jump is not in the adjoint equation. A change of the right-hand side that does
    not shrink with the step around it is a jump.
    """
    middles = 0.5 * (found.t[1:] + found.t[:-1])
    between = found.sol(middles)[:n].T if len(middles) else np.zeros((0, n))
    sides = [(s, state[:n], equation.rate(s, state[:n])) for s, state in zip(found.t, found.y.T, strict=True)]
    inner = [(s, state, equation.rate(s, state)) for s, state in zip(middles, between, strict=True)]
    rates, halves = (np.array([rate for _, _, rate in part]).reshape(len(part), n) for part in (sides, inner))
    before, after = (np.max(np.abs(halves - part), axis=1, initial=0.0) for part in (rates[:-1], rates[1:]))
    least = 1e-6 * float(np.max(np.abs(rates), initial=0.0))
    for k in np.flatnonzero(np.maximum(before, after) >= np.maximum(0.9 * (before + after), 0.4 * least)):
        jump = _jump(equation, found.sol, sides[k], sides[k + 1], least)
        if jump is not None and equation.moves(*jump):
            raise ArithmeticError(
                f"E5001 operation not differentiable: the right-hand side jumps at {float(jump[0][0])!r}, "
                "which depends on the state or an argument; make it continuous"
            )


def _jump(equation: Equation, path: Any, one: Any, two: Any, least: float) -> Any:
    """The two sides of a jump between two times, each with its state and rate; None if there is none."""
    whole = float(np.max(np.abs(two[2] - one[2]), initial=0.0))
    while True:
        time = 0.5 * (one[0] + two[0])
        change = float(np.max(np.abs(two[2] - one[2]), initial=0.0))
        if change <= max(least, 0.4 * whole):
            return None
        if time in (one[0], two[0]) or abs(two[0] - one[0]) <= 1e-13 * abs(path.ts[-1] - path.ts[0]):
            return one, two
        state = path(time)[: len(one[1])]
        middle = time, state, equation.rate(time, state)
        before, after = (float(np.max(np.abs(side[2] - middle[2]))) for side in (one, two))
        if max(before, after) < 0.9 * (before + after):
            return None
        one, two = (one, middle) if before > after else (middle, two)


def odeint_pullback(
    func: Function,
    pull: Function,
    y: Any,
    y0: Any,
    t: Any,
    args: tuple[Any, ...],
    y_bar: Any,
    *,
    places: tuple[int, ...] | None = None,
    tfirst: bool = False,
    rtol: Any = None,
    atol: Any = None,
) -> tuple[Any, Any, list[Any]]:
    """Adjoints of y0, t and args for a seed of `y = odeint(func, y0, t, args)`.

    >>> def decay(y, t, k):
    ...     return -k * y
    >>> def decay_pull(y, t, k, seed):
    ...     return -k * seed, -float(np.sum(y * seed))
    >>> t = np.array([0.0, 1.0])
    >>> y = 2.0 * np.exp(-t)[:, np.newaxis]
    >>> y0_bar, t_bar, (k_bar,) = odeint_pullback(decay, decay_pull, y, 2.0, t, (1.0,), np.array([[0.0], [1.0]]))
    >>> round(y0_bar, 6), t_bar.round(6), round(k_bar, 6)
    (0.367879, array([ 0.735759, -0.735759]), -0.735759)
    """
    equation, times = Equation(func, pull, args, places, tfirst), np.asarray(t, float)
    tolerances = tightened(rtol, atol)
    rows, seeds = np.asarray(y, float), np.asarray(y_bar, float)
    first, first_time, moved, parts = adjoint_flow(
        equation, (float(times[0]), rows[0]), times, rows, seeds, "LSODA", tolerances
    )
    moved[0] += first_time
    return like(first, y0), like(moved, t), equation.spread(parts)


def odeint_pushforward(
    func: Function,
    push: Function,
    y: Any,
    y0: Any,
    t: Any,
    args: tuple[Any, ...],
    y0_dot: Any,
    t_dot: Any,
    args_dot: tuple[Any, ...],
    *,
    places: tuple[int, ...] | None = None,
    tfirst: bool = False,
    rtol: Any = None,
    atol: Any = None,
) -> Any:
    """The tangent of `y = odeint(func, y0, t, args)`.

    >>> def decay(y, t, k):
    ...     return -k * y
    >>> def decay_push(y, t, k, y_dot, k_dot):
    ...     return -k * y_dot - k_dot * y
    >>> t = np.array([0.0, 1.0])
    >>> y = 2.0 * np.exp(-t)[:, np.newaxis]
    >>> odeint_pushforward(decay, decay_push, y, 2.0, t, (1.0,), 0.0, 0.0 * t, (1.0,)).round(6)
    array([[ 0.      ],
           [-0.735759]])
    """
    equation, times, rows = Equation(func, push, args, places, tfirst), np.asarray(t, float), np.asarray(y, float)
    tolerances = tightened(rtol, atol)
    moved = np.broadcast_to(np.asarray(t_dot, float), times.shape)
    rates = np.array([equation.rate(s, row) for s, row in zip(times, rows, strict=True)])
    start = np.ravel(np.asarray(y0, float))
    first = np.broadcast_to(np.ravel(np.asarray(y0_dot, float)), start.shape) - rates[0] * moved[0]
    made = tangent_flow(equation, (float(times[0]), start), first, args_dot, times, "LSODA", tolerances)
    return made + rates * moved[:, np.newaxis]


def solution(
    fun: Function,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    **options: Any,
) -> tuple[Any, Any]:
    """The times and the states of `scipy.integrate.solve_ivp`; ArithmeticError where it does not reach the end.

    >>> t, y = solution(lambda t, y: -y, (0.0, 1.0), [1.0], rtol=1e-8, t_eval=[1.0])
    >>> y.round(4)
    array([[0.3679]])
    """
    from scipy.integrate import solve_ivp

    found = solve_ivp(fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options)
    if found.status == -1:
        raise ArithmeticError(f"solve_ivp: {found.message}")
    return found.t, found.y


def dense_solution(fun: Function, t_span: object, y0: object, method: str = "RK45", **options: object) -> Function:
    """The function of time that `scipy.integrate.solve_ivp(..., dense_output=True).sol` is.

    >>> dense_solution(lambda t, y: -y, (0.0, 1.0), [1.0])(0.0)
    array([1.])
    """
    from scipy.integrate import solve_ivp

    made: Function = solve_ivp(fun, t_span, y0, method, dense_output=True, **options).sol
    return made


def states_at(
    fun: Function, t_span: object, y0: object, places: object, method: str = "RK45", **options: object
) -> object:
    """The states of a dense solution at places.

    >>> states_at(lambda t, y: -y, (0.0, 1.0), [1.0], 0.0)
    array([1.])
    """
    return dense_solution(fun, t_span, y0, method, **options)(places)


def states(
    fun: Function, t_span: Any, y0: Any, method: Any, t_eval: Any, *, args: Any, rtol: Any, atol: Any
) -> tuple[Any, Any]:
    """As `solution`, with the steps that derivatives have; times may be the first one, or equal.

    >>> states(lambda t, y: -y, (0.0, 0.0), [1.0], "LSODA", [0.0, 0.0], args=(), rtol=1e-8, atol=1e-8)[1]
    array([[1., 1.]])
    """
    (start, end), times, first = map(float, t_span), np.asarray(t_eval, float), np.asarray(y0, float)
    if start == end:
        return times, np.tile(first[:, np.newaxis], len(times))
    found = solved(lambda time, y: fun(float(time), np.array(y), *args), start, end, first, method, (rtol, atol), True)
    return times, found.sol(times)


def solution_pullback(
    fun: Function,
    pull: Function,
    found: tuple[Any, Any],
    t_span: Any,
    y0: Any,
    t_eval: Any,
    args: Any,
    t_bar: Any,
    y_bar: Any,
    *,
    method: Any = "RK45",
    places: tuple[int, ...] | None = None,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
) -> tuple[Any, Any, Any, list[Any]]:
    """Adjoints of t_span, y0, t_eval and args for seeds of `t, y = found = solution(fun, t_span, y0, t_eval=t_eval)`.

    Without `t_eval` the times between the first and the last are taken to be constants.

    >>> def decay(t, y, k):
    ...     return -k * y
    >>> def decay_pull(t, y, k, seed):
    ...     return -k * seed, -float(np.sum(y * seed))
    >>> t, y = np.array([0.0, 1.0]), np.array([[1.0, np.exp(-1.0)]])
    >>> seeds = np.zeros(2), np.array([[0.0, 1.0]])
    >>> span, start, _, (k,) = solution_pullback(decay, decay_pull, (t, y), (0.0, 1.0), y[:, 0], None, (1.0,), *seeds)
    >>> np.round(span, 6).tolist(), start.round(6), round(k, 6)
    ([0.367879, -0.367879], array([0.367879]), -0.367879)
    """
    equation, (t, y) = Equation(fun, pull, args, places, tfirst=True), found
    first, first_time, moved, parts = adjoint_flow(
        equation,
        (float(t_span[0]), np.asarray(y0, float)),
        np.asarray(t, float),
        np.asarray(y, float).T,
        np.asarray(y_bar, float).T,
        method_of(method),
        tightened(rtol, atol),
    )
    moved, span, times = moved + np.asarray(t_bar, float), np.array([first_time, 0.0]), None
    if t_eval is None:
        span += moved[[0, -1]]
    else:
        times = like(moved, t_eval)
    return like(span, t_span), like(first, y0), times, equation.spread(parts)


def solution_pushforward(
    fun: Function,
    push: Function,
    found: tuple[Any, Any],
    t_span: Any,
    y0: Any,
    t_eval: Any,
    args: Any,
    span_dot: Any,
    y0_dot: Any,
    eval_dot: Any,
    args_dot: Any,
    *,
    method: Any = "RK45",
    places: tuple[int, ...] | None = None,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
) -> tuple[Any, Any]:
    """The tangents of `t, y = found = solution(fun, t_span, y0, t_eval=t_eval)`.

    >>> def decay(t, y, k):
    ...     return -k * y
    >>> def decay_push(t, y, k, y_dot, k_dot):
    ...     return -k * y_dot - k_dot * y
    >>> t, y = np.array([0.0, 1.0]), np.array([[1.0, np.exp(-1.0)]])
    >>> given = decay, decay_push, (t, y), (0.0, 1.0), y[:, 0], None, (1.0,)
    >>> solution_pushforward(*given, (0.0, 0.0), 0.0, None, (1.0,))[1].round(6)
    array([[ 0.      , -0.367879]])
    """
    equation, times, rows = Equation(fun, push, args, places, tfirst=True), np.asarray(found[0], float), found[1].T
    moved, span = np.zeros(len(times)), np.broadcast_to(np.asarray(span_dot, float), 2)
    if t_eval is None:
        moved[[0, -1]] = span
    else:
        moved = np.broadcast_to(np.asarray(eval_dot, float), times.shape)
    start, state = float(t_span[0]), np.asarray(y0, float)
    first = np.broadcast_to(np.asarray(y0_dot, float), state.shape) - equation.rate(start, state) * span[0]
    made = tangent_flow(equation, (start, state), first, args_dot, times, method_of(method), tightened(rtol, atol))
    rates = np.array([equation.rate(s, row) for s, row in zip(times, rows, strict=True)])
    return moved, (made + rates * moved[:, np.newaxis]).T


def doubled(rtol: Any, atol: Any, count: int) -> tuple[float, Any]:
    """Tolerances for `count` components, and as many of their tangents, which are at most about one.

    >>> doubled(1e-6, 1e-6, 1)
    (1e-08, array([1.e-08, 1.e-11]))
    """
    relative, least = tightened(rtol, atol)
    return relative, np.concatenate((np.broadcast_to(least, count), np.full(count, 1e-3 * relative)))


def tangent_size(*tangents: Any) -> float:
    """What tangents are divided by, so that tolerances mean the same for all of them.

    >>> tangent_size(2.0, np.array([-3.0, 1.0]))
    3.0
    """
    size = float(np.max(np.abs(joined(tangents)), initial=0.0))
    return size if 0.0 < size < np.inf else 1.0


def flow_adjoint(
    func: Function,
    derivative: Function,
    start: Any,
    y0: Any,
    times: Any,
    args: tuple[Any, ...],
    seeds: Any,
    wrt: tuple[int, ...],
    tfirst: bool = False,
    method: Any = "LSODA",
    rtol: Any = None,
    atol: Any = None,
) -> Any:
    """Adjoints of y0, and of the elements of `args` at `wrt`, in one vector; a row of `seeds` for each of the times.

    `derivative` takes a seed of `func` to the adjoints of its state and of these elements.

    >>> def decay(y, t, k):
    ...     return -k * y
    >>> def decay_pull(y, t, k, seed):
    ...     return -k * seed, -float(np.sum(y * seed))
    >>> times, seeds = np.array([0.0, 1.0]), np.array([[0.0], [1.0]])
    >>> flow_adjoint(decay, decay_pull, 0.0, np.array([2.0]), times, (1.0,), seeds, (0,)).round(6)
    array([ 0.367879, -0.735759])
    """
    equation, tolerances = Equation(func, derivative, args, wrt, tfirst), tightened(rtol, atol)
    whole = (float(start), np.asarray(y0, float)), np.asarray(times, float), None, np.asarray(seeds, float)
    first, _, _, parts = adjoint_flow(equation, *whole, method_of(method), tolerances)
    return np.concatenate((first, parts)).astype(np.result_type(y0, seeds))


def flow_adjoint_pullback(
    func: Function,
    derivative: Function,
    pull: Function,
    again: Function,
    start: Any,
    y0: Any,
    times: Any,
    args: tuple[Any, ...],
    seeds: Any,
    z_bar: Any,
    *,
    wrt: tuple[int, ...],
    places: tuple[int, ...] | None = None,
    tfirst: bool = False,
    method: Any = "LSODA",
    rtol: Any = None,
    atol: Any = None,
) -> tuple[Any, Any, Any, list[Any], Any]:
    """Adjoints of start, y0, times, args and seeds for a seed of `z = flow_adjoint(func, derivative, start, ...)`.

    `pull` and `again` are what `func` and `derivative` are differentiated to: `again` by its seed as well.

    >>> def decay(y, t, k):
    ...     return -k * y
    >>> def decay_pull(y, t, k, seed):
    ...     return -k * seed, -float(np.sum(y * seed))
    >>> def decay_again(y, t, k, seed, z_bar):
    ...     y_bar_bar, k_bar_bar = z_bar
    ...     return -k_bar_bar * seed, -float(np.sum(y_bar_bar * seed)), -k * y_bar_bar - k_bar_bar * y
    >>> functions = decay, decay_pull, decay_pull, decay_again
    >>> given = 0.0, np.array([2.0]), np.array([1.0]), (1.0,), np.array([[1.0]])
    >>> found = flow_adjoint_pullback(*functions, *given, np.array([0.0, 1.0]), wrt=(0,))
    >>> [np.round(one, 6).tolist() for one in found]
    [0.0, [-0.367879], [0.0], [0.735759], [[-0.735759]]]
    """
    equation, derived = Equation(func, pull, args, places, tfirst), Equation(func, derivative, args, wrt, tfirst)
    n, size = len(y0), tangent_size(z_bar)
    primals = start, y0, times, seeds
    way = np.asarray(z_bar, float) / size
    start, both, times_ = float(start), np.concatenate((np.asarray(y0, float), way[:n])), np.asarray(times, float)
    whole = along_seed(equation, derived, again, args, way[n:])
    how = method_of(method), doubled(rtol, atol, n)
    rows = _rows(whole, start, both, times_, *how)
    every = np.concatenate((np.zeros((len(times_), n)), np.asarray(seeds, float)), axis=1)
    first, departed, arrived, parts = adjoint_flow(whole, (start, both), times_, rows, every, *how)
    made = [size * np.ravel(part) for part in (departed, first[:n], arrived, rows[:, n:])]
    start_bar, y0_bar, times_bar, seeds_bar = map(like, made, primals)
    return start_bar, y0_bar, times_bar, whole.spread(size * parts), seeds_bar


def flow_adjoint_pushforward(
    func: Function,
    derivative: Function,
    push: Function,
    again: Function,
    start: Any,
    y0: Any,
    times: Any,
    args: tuple[Any, ...],
    seeds: Any,
    start_dot: Any,
    y0_dot: Any,
    times_dot: Any,
    args_dot: Any,
    seeds_dot: Any,
    *,
    wrt: tuple[int, ...],
    places: tuple[int, ...] | None = None,
    tfirst: bool = False,
    method: Any = "LSODA",
    rtol: Any = None,
    atol: Any = None,
) -> Any:
    """The tangent of `z = flow_adjoint(func, derivative, start, ...)`.

    `push` and `again` are what `func` and `derivative` are differentiated to, by their states and `args` at `places`.

    >>> def decay(y, t, k):
    ...     return -k * y
    >>> def decay_pull(y, t, k, seed):
    ...     return -k * seed, -float(np.sum(y * seed))
    >>> def decay_push(y, t, k, y_dot, k_dot):
    ...     return -k * y_dot - k_dot * y
    >>> def decay_again(y, t, k, seed, y_dot, k_dot):
    ...     return -k_dot * seed, -float(np.sum(y_dot * seed))
    >>> given = 0.0, np.array([2.0]), np.array([1.0]), (1.0,), np.array([[1.0]])
    >>> dots = 0.0, np.zeros(1), np.zeros(1), (1.0,), np.zeros((1, 1))
    >>> flow_adjoint_pushforward(decay, decay_pull, decay_push, decay_again, *given, *dots, wrt=(0,)).round(6)
    array([-0.367879,  0.735759])
    """
    ahead, derived = Equation(func, push, args, places, tfirst), Equation(func, derivative, args, wrt, tfirst)
    n, start, start_dot, dtype = len(y0), float(start), float(start_dot), np.result_type(y0, seeds)
    y0, times, times_dot, seeds = (np.asarray(one, float) for one in (y0, times, times_dot, seeds))
    ways = [widened(args_dot[k]) for k in ahead.places]
    size = tangent_size(y0_dot, start_dot, times_dot, ways)
    scaled = [like(joined([one]) / size, one) for one in ways]
    whole = along_tangent(ahead, derived, again, args, scaled)
    both = np.concatenate((y0, (np.asarray(y0_dot, float) - derived.rate(start, y0) * start_dot) / size))
    how = method_of(method), doubled(rtol, atol, n)
    rows = _rows(whole, start, both, times, *how)[:, :n] if np.any(times_dot) else None
    direct, more = _arriving(derived, times, rows, seeds, times_dot / size)
    every = np.concatenate((direct, seeds), axis=1)
    first, _, _, parts = adjoint_flow(whole, (start, both), times, None, every, *how)
    state, last = derived.adjoints(start, y0, -start_dot / size * first[n:])
    made = size * np.concatenate((first[:n] + state, parts + more + last))
    if np.any(seeds_dot):
        options = {"tfirst": tfirst, "method": method, "rtol": rtol, "atol": atol}
        made = made + flow_adjoint(func, derivative, start, y0, times, args, seeds_dot, wrt, **options)
    return made.astype(dtype)


def _arriving(derived: Equation, times: Any, rows: Any, seeds: Any, times_dot: Any) -> tuple[Any, Any]:
    """Adjoints of the states at some times, and of the arguments, of the sum of g f(y, t, p) t'."""
    states, parts = np.zeros_like(seeds), np.zeros_like(derived.zeros)
    for k in np.flatnonzero(times_dot):
        states[k], more = derived.adjoints(times[k], rows[k], seeds[k] * times_dot[k])
        parts = parts + more
    return states, parts


def _rows(equation: Equation, start: float, first: Any, times: Any, method: str, tolerances: tuple[float, Any]) -> Any:
    """The solution at some times, one per row."""
    if not len(times) or times[-1] == start:
        return np.broadcast_to(first, (len(times), len(first)))
    found = solved(equation.rate, start, float(times[-1]), first, method, tolerances, dense=True)
    check_smooth(equation, found, len(first))
    return found.sol(times).T
