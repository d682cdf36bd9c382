"""The adjoint of a solution as a function of all that it is made from, and the derivatives of that function.

With y' = f(y, t, p), z = J^T g are the adjoints of y(t_0) and p for seeds g_k of y(t_k). The derivative of z along a
tangent x', and the gradient of w^T z, are both the gradient of the sum of g_k c(t_k), where c = J x' or J w is the
tangent of y: derivatives may be taken in any order. So the equation of y and c together is solved, and its adjoint one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.along import along_seed, along_tangent
from srcgrad.runtime.equation import Equation, joined, like, widened
from srcgrad.runtime.flow import adjoint_flow, check_smooth, method_of, solved, tightened

Function = Callable[..., Any]


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
