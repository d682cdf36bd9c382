"""The adjoint and the variational equation of an ordinary differential equation, solved by SciPy.

With y' = f(y, t, p) and seeds g_k for the values y(t_k), the adjoint u solves u' = -(df/dy)^T u backwards in time, and
grows by g_k as it passes t_k; p gets the integral of (df/dp)^T u. What y is on the way is interpolated from a forward
run, since a dissipative equation has no stable solution backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.collocated import collocated
from srcgrad.runtime.equation import Equation, joined
from srcgrad.runtime.structure import mapped

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
