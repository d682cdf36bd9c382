"""Functions that solve differential equations, in the ways in which users write that; each with its arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.integrate
from scipy.integrate import odeint, solve_ivp

TIMES = np.array([0.0, 0.1, 0.4, 1.0, 1.5])
START = np.array([1.0, 2.0])
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def given(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((f, args))
        return f

    return note


def lotka(y, t, a, b):
    prey, predator = y
    return a * prey - b * prey * predator, -predator + 0.5 * prey * predator


def decay(t, y, k, c=0.5):
    return -k * y + c


class Pendulum:
    def __init__(self, friction):
        self.friction = friction

    def rate(self, y, t, length):
        return np.array([y[1], -np.sin(y[0]) / length - self.friction * y[1]])


PENDULUM = Pendulum(0.3)


@given(1.5, 1.0, START, TIMES)
def parameters_in_args(a, b, y0, t):
    return np.sum(odeint(lotka, y0, t, args=(a, b), rtol=1e-11, atol=1e-11) ** 2)


@given(np.array([1.5, 1.0, 3.0, 0.7]), START)
def a_closure_with_a_loop_and_a_branch_of_time(theta, y0):
    def rhs(y, t):
        change = np.zeros(2)
        for i in range(2):
            change[i] = theta[i] * y[i] - theta[2 + i] * y[0] * y[1]
        if t > 0.4:
            change = change * 0.5
        return change

    return np.sum(odeint(rhs, y0, TIMES, rtol=1e-11, atol=1e-11)[1:] ** 2)


@given(0.7, 1.5)
def a_lambda_with_time_first_and_a_number_as_state(k, y0):
    return odeint(lambda t, y: -k * y * t, y0, TIMES, tfirst=True, rtol=1e-11, atol=1e-11)[-1, 0]


@given(0.7)
def a_partial_application_backwards_in_time(mu):
    return odeint(partial(lotka, b=mu), START, TIMES[::-1] * mu, (mu,), rtol=1e-11, atol=1e-11)[-1, 1]


@given(0.7, START)
def a_method_and_a_second_name(length, y0):
    solve = odeint
    return np.sum(solve(PENDULUM.rate, y0, TIMES, args=(length,), rtol=1e-11, atol=1e-11))


@given({"rate": 0.7, "source": np.array([0.2, 0.1])})
def parameters_in_a_dict(p):
    def rhs(y, t):
        return p["source"] - p["rate"] * y

    return np.sum(odeint(rhs, START, TIMES, rtol=1e-11, atol=1e-11))


def simulated(k, y0, d):
    def rhs(t, y):
        return -k * y * d

    return solve_ivp(rhs, (0.0, 1.0), y0, rtol=1e-11, atol=1e-11).y


@given(0.7, START)
def in_a_callee_in_a_loop(k, y0):
    total = 0.0
    for i in range(3):
        y_bar = simulated(k, y0, float(i))
        y0 = y_bar[:, -1]
        total = total + k * np.sum(y0)
    return total


@given(0.7, 0.2, 1.3)
def ends_of_the_span(k, first, last):
    sol = solve_ivp(decay, (first, last), [1.0], args=(k,), rtol=1e-11, atol=1e-11)
    assert sol.success
    return sol.y[0, -1] + sol.t[-1] ** 2 - sol.t[0] if sol.status == 0 else 0.0


@given(1.2, START, TIMES[1:])
def times_asked_for(a, y0, t):
    sol = scipy.integrate.solve_ivp(
        lambda s, y: lotka(y, s, a, a * a), [0.0, 2.0], y0, "LSODA", t, rtol=1e-11, atol=1e-11
    )
    return np.sum(sol.y**2) + np.sum(sol.t * sol.t)


@given(0.7, START)
def backwards_in_time_and_one_index(k, y0):
    return solve_ivp(lambda t, y: -k * y * t, (1.0, 0.0), y0, t_eval=[0.5, 0.0], rtol=1e-11, atol=1e-11).y[1, 1]


@given(0.7)
def a_name_that_is_bound_anew(x):
    def rhs(y, t):
        return -x * y

    first = odeint(rhs, 1.0, TIMES, rtol=1e-11, atol=1e-11)
    x = 3.0 * x
    return first[-1, 0] + odeint(rhs, 1.0, TIMES, rtol=1e-11, atol=1e-11)[-1, 0]


@given(0.7, START)
def one_time_and_two_times(k, y0):
    one = odeint(lambda y, t: -k * y, k * y0, TIMES[:1])
    return np.sum(one) + np.sum(odeint(lambda y, t: -k * y, y0, TIMES[:2], rtol=1e-11, atol=1e-11))


@given(np.array([[0.5, -1.0], [0.3, 0.2]]))
def a_network(w):
    def layer(y):
        return np.tanh(w @ y)

    def rhs(y, t):
        return layer(y) - y

    return np.sum(odeint(rhs, START, TIMES, rtol=1e-11, atol=1e-11) ** 2)
