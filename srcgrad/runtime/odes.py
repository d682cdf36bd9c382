"""What the derivatives of `odeint` and `solve_ivp` call; arguments that are the solver's have its names.

`pull` takes a seed of the right-hand side to the adjoints of its state and of the elements of `args` at `places`,
`push` their tangents to that of the right-hand side. All elements of `args` are meant where `places` is None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.equation import Equation, like
from srcgrad.runtime.flow import adjoint_flow, method_of, solved, tangent_flow, tightened

Function = Callable[..., Any]


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
