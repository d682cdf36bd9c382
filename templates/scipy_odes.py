"""Solutions of ordinary differential equations, by the adjoint equation backwards and the variational one forwards."""

from scipy import integrate

from srcgrad.handed import Handed, in_parts
from srcgrad.rules import adjoint, d, places, pull, push, refused, stand_in, tangent
from srcgrad.runtime.odes import (
    odeint_pullback,
    odeint_pushforward,
    solution,
    solution_pullback,
    solution_pushforward,
)

NOTE = "Its right-hand side is differentiated through its source: see `docs/integrate.md`."
TIMES = "np.array([0.0, 0.2, 1.0])"
TIGHT = "rtol=1e-11, atol=1e-11"
SPAN = f"[-3.0, 3.5], x, 'DOP853', {TIMES} + y, {TIGHT}"


@adjoint(
    integrate.odeint,
    forms=(
        (f"scipy.integrate.odeint(lambda y, t, k: -k * y * t, x, {TIMES}, args=(y,), {TIGHT})", (2,), None),
        (f"scipy.integrate.odeint(lambda t, y: np.sin(y) - z, x, y + {TIMES}, {TIGHT}, tfirst=True)", None, (), None),
    ),
    second=False,
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
        func, push, z, t, args, d[y0], d[t], d[args], places=places, tfirst=tfirst, rtol=rtol, atol=atol
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
    second=False,
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


in_parts(integrate.solve_ivp, solution, ("t", "y"), success=True, status=0)
stand_in(solution, integrate.solve_ivp)
refused(
    "the second derivative of a solution is not known",
    {f.__name__: f for f in (odeint_pullback, odeint_pushforward, solution_pullback, solution_pushforward)},
)
