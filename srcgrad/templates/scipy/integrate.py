"""Solutions of ordinary differential equations, integrals, trapezoidal rules of `scipy.integrate`; on request."""

import numpy as np
from scipy import integrate

from srcgrad.core.rules import (
    FunctionArgument,
    adjoint,
    again,
    constants,
    d,
    declare,
    declare_other_form,
    declare_refused,
    in_parts,
    made_to_be_called,
    places,
    pull,
    push,
    stand_in,
    tangent,
)
from srcgrad.runtime.odes import (
    dense_solution,
    doubled,
    flow_adjoint,
    flow_adjoint_pullback,
    flow_adjoint_pushforward,
    method_of,
    odeint_pullback,
    odeint_pushforward,
    solution,
    solution_pullback,
    solution_pushforward,
    states,
    states_at,
    tangent_size,
)
from srcgrad.runtime.roots import (
    check_numbers,
    check_steady,
    gauss_points,
    limit_at,
    quad_pullback,
    quad_pushforward,
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
    handed=FunctionArgument("func", 2, 0, swapped="tfirst"),
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
    handed=FunctionArgument("fun", 2, 1),
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
    handed=FunctionArgument("func", 2, 0, swapped="tfirst", again="derivative"),
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


@adjoint.composed(
    states_at, forms=(), note="Of `solve_ivp(..., dense_output=True).sol(t)`, at a time or several of the span."
)
def states_of_at(fun, t_span, y0, places, method="RK45", args=(), rtol=1e-3, atol=1e-6):
    def rate(moment, state):
        return fun(moment, state, *args)

    times = np.atleast_1d(places)
    order = np.argsort(times)
    found = integrate.solve_ivp(rate, t_span, y0, method=method, t_eval=times[order], rtol=rtol, atol=atol)
    whole = found.y[:, np.argsort(order)]
    return whole if np.ndim(places) == 1 else whole[:, 0]


made_to_be_called(
    dense_solution,
    states_at,
    made=("fun", "t_span", "y0", "method", "args", "rtol", "atol"),
    required=3,
    held=lambda made: None,
)
declare_refused(
    "the dense solution of solve_ivp is more than called with times", {"scipy.integrate.OdeSolution": dense_solution}
)
in_parts(integrate.solve_ivp, solution, ("t", "y"), success=True, status=0)
stand_in(solution, integrate.solve_ivp)
stand_in(states, integrate.solve_ivp)
constants([doubled, method_of, tangent_size])
declare_refused(
    "the third derivative of a solution is not known",
    {f.__name__: f for f in (flow_adjoint_pullback, flow_adjoint_pushforward)},
)
declare_refused(
    "what its `args` hold is not written as a tuple",
    {f.__name__: f for f in (odeint_pullback, odeint_pushforward, solution_pullback, solution_pushforward)},
)


@adjoint(
    integrate.quad,
    forms=(
        ("scipy.integrate.quad(lambda s, k: np.sin(k * s), x, y, args=(z,))[0]", None, None, None),
        ("scipy.integrate.quad(lambda s: np.exp(-s * s * (2.5 + x[0])) * x[1], -np.inf, y)[0]", (2,), None),
    ),
    note="The integrand is differentiated through its source; the estimate of the error is taken to be constant.",
    results=(("integral", 0), ("error", 0)),
    handed=FunctionArgument("func", 1, None),
)
def quad(z, func, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    a_bar, b_bar, args_bar = quad_pullback(
        func, pull, a, b, args, d[z][0], places=places, epsabs=epsabs, epsrel=epsrel, limit=limit
    )
    d[a] = a_bar
    d[b] = b_bar
    d[args] = args_bar


@tangent(integrate.quad)
def quad_tangent(z, func, a, b, args=(), epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    integral_dot = quad_pushforward(
        func, push, a, b, args, d[a], d[b], d[args], places=places, epsabs=epsabs, epsrel=epsrel, limit=limit
    )
    d[z] = integral_dot, 0.0 * integral_dot


constants([check_numbers, check_steady])
declare_refused(
    "what its `args` hold is not written as a tuple",
    {f.__name__: f for f in (quad_pullback, quad_pushforward)},
)


@adjoint.composed(limit_at, forms=(("limit_at(x, 0.5)", None),), note="The end of an inner integral.")
def limit_at_place(limit, place):
    return limit


@declare_other_form(limit_at, (("limit_at(lambda s: s * x, 0.5)", None),), {0: "limit"}, ("limit",), limit=())
def limit_of_place(limit, place):
    return limit(place)


@adjoint.composed(
    integrate.dblquad,
    forms=(
        ("scipy.integrate.dblquad(lambda v, u: np.exp(-x * u * v), 0.0, y, 0.0, lambda u: 1.0 + x * u)[0]", None, None),
    ),
    second=False,
    note="By `quad` in `quad`; `hvp` and `hessian` are its second derivatives, not `grad` of `grad`.",
)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def along_line(abscissa):
        low, high = limit_at(gfun, abscissa), limit_at(hfun, abscissa)
        return integrate.quad(
            lambda ordinate: func(ordinate, abscissa, *args), low, high, epsabs=epsabs, epsrel=epsrel
        )[0]

    return integrate.quad(along_line, a, b, epsabs=epsabs, epsrel=epsrel)


constants([gauss_points])

SOLVERS = """solve_bvp ode complex_ode RK23 RK45 DOP853 Radau BDF LSODA OdeSolver"""
ADAPTIVE = """tplquad quad_vec cubature romb romberg qmc_quad tanhsinh nsum"""
TABLES = """cumulative_simpson newton_cotes"""


@adjoint.composed(
    integrate.trapezoid,
    forms=(
        ("scipy.integrate.trapezoid(x, dx=0.5)", (2, 4)),
        ("scipy.integrate.trapezoid(x, y)", (2, 4), (4,)),
    ),
)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x, dx, axis)


@adjoint.composed(
    integrate.cumulative_trapezoid,
    forms=(
        ("scipy.integrate.cumulative_trapezoid(x, dx=0.5)", (2, 4)),
        ("scipy.integrate.cumulative_trapezoid(x, y, axis=0, initial=0)", (4, 2), (4,)),
        ("scipy.integrate.cumulative_trapezoid(x, y, initial=0)", (2, 4), (2, 4)),
    ),
)
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    moved = np.moveaxis(y, axis, -1)
    if x is None:
        steps = dx
    elif np.ndim(x) == 1:
        steps = np.diff(x)
    else:
        steps = np.diff(np.moveaxis(x, axis, -1))
    areas = np.cumsum(steps * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)
    if initial is not None:
        areas = np.concatenate((np.zeros_like(moved[..., :1]), areas), -1)
    return np.moveaxis(areas, -1, axis)


@adjoint.composed(
    integrate.simpson,
    forms=(
        ("scipy.integrate.simpson(x)", (5,)),
        ("scipy.integrate.simpson(x, dx=0.5)", (2, 6)),
        ("scipy.integrate.simpson(x, x=np.cumsum(np.exp(y)))", (2, 5), (5,)),
        ("scipy.integrate.simpson(x, x=np.cumsum(np.exp(y)), axis=0)", (6, 2), (6,)),
        ("scipy.integrate.simpson(x, x=np.cumsum(np.exp(y), axis=1))", (2, 6), (2, 6)),
        ("scipy.integrate.simpson(x, dx=y)", (2,), ()),
        ("scipy.integrate.simpson(x, x=y)", (1,), (1,)),
    ),
)
def simpson(y, x=None, *, dx=1.0, axis=-1):
    heights = np.moveaxis(y, axis, -1)
    n = np.shape(heights)[-1]
    if x is None:
        steps = dx * np.ones(n - 1, heights.dtype)
    elif np.ndim(x) == 1:
        steps = np.diff(x)
    else:
        steps = np.diff(np.moveaxis(x, axis, -1))
    if n == 2:
        area = 0.5 * steps[..., 0] * (heights[..., 0] + heights[..., 1])
    else:
        pairs = (n - 1) // 2
        first, second = steps[..., 0 : 2 * pairs : 2], steps[..., 1 : 2 * pairs : 2]
        both = first + second
        left, middle, right = heights[..., 0 : 2 * pairs : 2], heights[..., 1 : 2 * pairs : 2], heights[..., 2::2]
        right = right[..., :pairs]
        area = np.sum(
            both
            / 6.0
            * (
                left * (2.0 - second / first) + middle * both * both / (first * second) + right * (2.0 - first / second)
            ),
            axis=-1,
        )
        if n % 2 == 0 and n > 1:
            one, last = steps[..., -2], steps[..., -1]
            area = area + heights[..., -1] * (2.0 * last**2 + 3.0 * one * last) / (6.0 * (one + last))
            area = area + heights[..., -2] * (last**2 + 3.0 * last * one) / (6.0 * one)
            area = area - heights[..., -3] * last**3 / (6.0 * one * (one + last))
    return area


@adjoint.composed(
    integrate.fixed_quad,
    forms=(
        ("scipy.integrate.fixed_quad(lambda t: np.exp(x * t), 0.0, 1.0)[0]", ()),
        ("scipy.integrate.fixed_quad(lambda t: np.sin(x * t), y, 2.0, n=4)[0]", (), ()),
    ),
    note="Without `args=`.",
)
def fixed_quad(func, a, b, *, n=5):
    nodes, weights = gauss_points(n)
    places = (b - a) * (nodes + 1.0) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(places), axis=-1), None


declare(
    integrate,
    "scipy.integrate",
    SOLVERS,
    "its steps depend on a tolerance; write the loop of a Runge-Kutta method, or a rule by the adjoint equation",
)
declare(
    integrate,
    "scipy.integrate",
    ADAPTIVE,
    "where it evaluates depends on a tolerance; use scipy.integrate.trapezoid",
)
declare(integrate, "scipy.integrate", TABLES, "it has no rule; use scipy.integrate.trapezoid, or a sum with weights")
