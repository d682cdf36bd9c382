"""Solutions of ordinary differential equations, by the adjoint equation backwards and the variational one forwards."""

import numpy as np
from scipy import integrate

from srcgrad.core.rules import (
    Handed,
    adjoint,
    again,
    constants,
    d,
    in_parts,
    places,
    pull,
    push,
    refused,
    stand_in,
    tangent,
)
from srcgrad.runtime.flow import method_of
from srcgrad.runtime.flow_adjoint import (
    doubled,
    flow_adjoint,
    flow_adjoint_pullback,
    flow_adjoint_pushforward,
    tangent_size,
)
from srcgrad.runtime.odes import (
    odeint_pullback,
    odeint_pushforward,
    solution,
    solution_pullback,
    solution_pushforward,
    states,
)

NOTE = "Its right-hand side is differentiated through its source: see `docs/integrate.md`."
TIMES = "np.array([0.0, 0.2, 1.0])"
TIGHT = "rtol=1e-10, atol=1e-10"
SPAN = f"[-3.0, 3.5], x, 'DOP853', {TIMES} + y, {TIGHT}"


@adjoint(
    integrate.odeint,
    forms=(
        (f"scipy.integrate.odeint(lambda y, t, k: -k * y * t, x, {TIMES}, args=(y,), {TIGHT})", (2,), None),
        (
            f"scipy.integrate.odeint(lambda t, s: np.sin(s) - z * t, x, {TIMES} + y, {TIGHT}, tfirst=True)",
            None,
            (),
            None,
        ),
    ),
    note=NOTE,
    handed=Handed("func", 2, 0, swapped="tfirst"),
    literals={"tfirst": (True, False)},
)
def odeint(z, func, y0, t, args=(), tfirst=False, rtol=None, atol=None, mxstep=0):
    y0_bar, t_bar, args_bar = odeint_pullback(
        func, pull, z, y0, t, args, d[z], places=places, tfirst=tfirst, rtol=rtol, atol=atol
    )
    d[y0] = y0_bar
    d[t] = t_bar
    d[args] = args_bar


@tangent(integrate.odeint)
def odeint_tangent(z, func, y0, t, args=(), tfirst=False, rtol=None, atol=None, mxstep=0):
    d[z] = odeint_pushforward(
        func, push, z, y0, t, args, d[y0], d[t], d[args], places=places, tfirst=tfirst, rtol=rtol, atol=atol
    )


@adjoint(
    integrate.solve_ivp,
    forms=(
        (
            f"scipy.integrate.solve_ivp(lambda t, y, k: -k * y, (0.0, y), x, args=(y,), {TIGHT}).y[:, -1]",
            (2,),
            None,
        ),
        (
            f"scipy.integrate.solve_ivp(lambda t, y: np.sin(y), {SPAN}).y",
            (2,),
            (),
        ),
    ),
    note=f"{NOTE} Only `.t`, `.y`, `.success` and `.status` of the result are known.",
    handed=Handed("fun", 2, 1),
    results=(("t", None), ("y", None)),
    literals={"dense_output": (False,), "vectorized": (False,)},
)
def solve_ivp(z, fun, t_span, y0, method="RK45", t_eval=None, args=None, rtol=1e-3, atol=1e-6, first_step=None):
    span_bar, y0_bar, eval_bar, args_bar = solution_pullback(
        fun,
        pull,
        (z[0], z[1]),
        t_span,
        y0,
        t_eval,
        args,
        d[z][0],
        d[z][1],
        method=method,
        places=places,
        rtol=rtol,
        atol=atol,
    )
    d[t_span] = span_bar
    d[y0] = y0_bar
    d[t_eval] = eval_bar
    d[args] = args_bar


@tangent(integrate.solve_ivp)
def solve_ivp_tangent(z, fun, t_span, y0, method="RK45", t_eval=None, args=None, rtol=1e-3, atol=1e-6, first_step=None):
    t_dot, y_dot = solution_pushforward(
        fun,
        push,
        (z[0], z[1]),
        t_span,
        y0,
        t_eval,
        args,
        d[t_span],
        d[y0],
        d[t_eval],
        d[args],
        method=method,
        places=places,
        rtol=rtol,
        atol=atol,
    )
    d[z] = t_dot, y_dot


def rate(y, t, k):
    return np.sin(k * t) * np.cos(y)


def rate_pull(y, t, k, *, z_bar):
    return -z_bar * np.sin(k * t) * np.sin(y), np.sum(z_bar * t * np.cos(k * t) * np.cos(y))


@adjoint(
    flow_adjoint,
    forms=(
        (f"flow_adjoint(rate, rate_pull, y, x, y + np.array([0.0, 0.7]), (y,), z, (0,), {TIGHT})", (2,), None, (2, 2)),
    ),
    second=False,
    note="The adjoints of a solution, in a text that is differentiated again. Third derivatives are not known.",
    handed=Handed("func", 2, 0, swapped="tfirst", again="derivative"),
    literals={"tfirst": (True, False)},
)
def flow(z, func, derivative, start, y0, times, args, seeds, wrt, tfirst=False, method="LSODA", rtol=None, atol=None):
    start_bar, y0_bar, times_bar, args_bar, seeds_bar = flow_adjoint_pullback(
        func,
        derivative,
        pull,
        again,
        start,
        y0,
        times,
        args,
        seeds,
        d[z],
        wrt=wrt,
        places=places,
        tfirst=tfirst,
        method=method,
        rtol=rtol,
        atol=atol,
    )
    d[start] = start_bar
    d[y0] = y0_bar
    d[times] = times_bar
    d[args] = args_bar
    d[seeds] = seeds_bar


@tangent(flow_adjoint)
def flow_tangent(
    z, func, derivative, start, y0, times, args, seeds, wrt, tfirst=False, method="LSODA", rtol=None, atol=None
):
    d[z] = flow_adjoint_pushforward(
        func,
        derivative,
        push,
        again,
        start,
        y0,
        times,
        args,
        seeds,
        d[start],
        d[y0],
        d[times],
        d[args],
        d[seeds],
        wrt=wrt,
        places=places,
        tfirst=tfirst,
        method=method,
        rtol=rtol,
        atol=atol,
    )


in_parts(integrate.solve_ivp, solution, ("t", "y"), success=True, status=0)
stand_in(solution, integrate.solve_ivp)
stand_in(states, integrate.solve_ivp)
constants([doubled, method_of, tangent_size])
refused(
    "the third derivative of a solution is not known",
    {f.__name__: f for f in (flow_adjoint_pullback, flow_adjoint_pushforward)},
)
refused(
    "what its `args` hold is not written as a tuple",
    {f.__name__: f for f in (odeint_pullback, odeint_pushforward, solution_pullback, solution_pushforward)},
)
