"""Roots and minima of functions, by the implicit function theorem; on request."""

import numpy as np
from scipy import optimize

import srcgrad
from srcgrad.core.rules import (
    FunctionArgument,
    adjoint,
    constants,
    d,
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
from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.roots import (
    check_slopes,
    computed_by,
    covariance_at,
    covariance_pullback,
    fitted,
    least_squares_found,
    lowest,
    lowest_number,
    minimum_found,
    nearest,
    root_at,
    root_found,
    root_pullback,
    root_pushforward,
    scalar_minimum_found,
    scalar_root_found,
    settled_at,
    solved_for_one,
    solved_for_two,
    start_of,
)

TIMES = "np.array([0.0, 0.5, 1.0])"
TOL = "options={'gtol': 1e-10}"
NOTE = "The function is differentiated through its source; where the search starts has no influence on the root."


@adjoint(
    optimize.brentq,
    forms=(("scipy.optimize.brentq(lambda s, k: s ** 3 + s - k * x, -9.0, 9.0, args=(y,))", None, None),),
    aliases=(optimize.bisect, optimize.brenth, optimize.ridder),
    note=NOTE,
    handed=FunctionArgument("f", 1, 0, ndim=0),
)
def brentq(z, f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100):
    d[args] = root_pullback(f, pull, z, args, d[z], places=places)


@tangent(optimize.brentq)
def brentq_tangent(z, f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100):
    d[z] = root_pushforward(f, push, z, args, d[args], places=places)


@adjoint(
    optimize.newton,
    forms=(
        ("scipy.optimize.newton(lambda s, k: s ** 3 + s - k, 0.5, args=(x,))", None),
        ("scipy.optimize.newton(lambda s: s ** 3 + s - x, np.ones(3))", (3,)),
    ),
    note=NOTE,
    handed=FunctionArgument("func", 1, 0, ndim=None, beside=("fprime", "fprime2")),
)
def newton(z, func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None):
    d[args] = root_pullback(func, pull, z, args, d[z], places=places)


@tangent(optimize.newton)
def newton_tangent(z, func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None):
    d[z] = root_pushforward(func, push, z, args, d[args], places=places)


@adjoint(
    optimize.fsolve,
    forms=(
        ("scipy.optimize.fsolve(lambda s: [s[0] ** 3 + s[1] - x[0], s[1] + x[1] * s[0]], np.ones(2))", (2,)),
        ("scipy.optimize.fsolve(lambda s, k: s ** 3 + s - k, 0.5, (x,))", None),
    ),
    note=NOTE,
    handed=FunctionArgument("func", 1, 0, beside=("fprime",)),
)
def fsolve(z, func, x0, args=(), fprime=None, xtol=1.49012e-08, maxfev=0):
    d[args] = root_pullback(func, pull, z, args, d[z], places=places)


@tangent(optimize.fsolve)
def fsolve_tangent(z, func, x0, args=(), fprime=None, xtol=1.49012e-08, maxfev=0):
    d[z] = root_pushforward(func, push, z, args, d[args], places=places)


@adjoint(
    optimize.root,
    forms=(("scipy.optimize.root(lambda s, k: k @ s + s ** 3 - x, np.ones(2), (y,)).x", (2,), (2, 2)),),
    note=f"{NOTE} Only `.x` and `.success` of the result are known.",
    handed=FunctionArgument("fun", 1, 0, ndim=None, beside=("jac",)),
)
def root(z, fun, x0, args=(), method="hybr", jac=None, tol=None):
    d[args] = root_pullback(fun, pull, z, args, d[z], places=places)


@tangent(optimize.root)
def root_tangent(z, fun, x0, args=(), method="hybr", jac=None, tol=None):
    d[z] = root_pushforward(fun, push, z, args, d[args], places=places)


@adjoint(
    optimize.root_scalar,
    forms=(("scipy.optimize.root_scalar(lambda s: s ** 3 + s - x, bracket=(-9.0, 9.0)).root", None),),
    note=f"{NOTE} Only `.root` and `.converged` of the result are known.",
    handed=FunctionArgument("f", 1, 0, ndim=0),
)
def root_scalar(z, f, args=(), method=None, bracket=None, x0=None, x1=None, xtol=None, rtol=None, maxiter=None):
    d[args] = root_pullback(f, pull, z, args, d[z], places=places)


@tangent(optimize.root_scalar)
def root_scalar_tangent(z, f, args=(), method=None, bracket=None, x0=None, x1=None, xtol=None, rtol=None, maxiter=None):
    d[z] = root_pushforward(f, push, z, args, d[args], places=places)


@adjoint(
    root_at,
    forms=(
        ("root_at(lambda s, k: s ** 3 + s - k, scipy.optimize.brentq(lambda s: s ** 3 + s - x, -9, 9), (x,))", None),
    ),
    note="What a solver found, as a root of an equation.",
    handed=FunctionArgument("func", 1, 0, ndim=None),
)
def known_root(z, func, x, args=()):
    d[args] = root_pullback(func, pull, z, args, d[z], places=places)


@tangent(root_at)
def known_root_tangent(z, func, x, args=()):
    d[z] = root_pushforward(func, push, z, args, d[args], places=places)


@adjoint(covariance_at, forms=(), note="No derivative: E5001 where one arrives in reverse, nan forwards.")
def covariance(z, covariance, p):
    d[p] = covariance_pullback(d[z], p)


@tangent(covariance_at)
def covariance_tangent(z, covariance, p):
    d[z] = np.full_like(covariance, np.nan)


constants([lowest], handed=FunctionArgument("fun", 1, None, beside=("jac", "hess")))
constants([lowest_number], handed=FunctionArgument("fun", 1, None, ndim=0))
constants([settled_at], handed=FunctionArgument("func", 1, None, ndim=None))
constants([nearest], handed=FunctionArgument("fun", 1, None, beside=("jac",)))
constants([fitted], handed=FunctionArgument("misfit", 1, None))
constants([start_of], handed=FunctionArgument("f", None, None))
SQUARES = "scipy.optimize.minimize(lambda p: np.sum((p - x) ** 2 + p ** 4), np.zeros(2)"
LEAST = "The minimum is where the gradient is zero, and its derivative that of this root."


def lowest_of(value, found):
    def cost(p):
        return np.sum(value(p))  # SciPy takes an array of one element for a number

    def slope(p):
        return srcgrad.grad(cost)(p)

    return root_at(slope, found[0])


def nearest_of(errors, found):
    def cost(p):
        r = errors(p)
        return 0.5 * np.sum(r * r)

    def slope(p):
        return srcgrad.grad(cost)(p)

    return root_at(slope, found[0])


@adjoint.composed(
    optimize.minimize,
    forms=(
        (f"scipy.optimize.minimize(lambda p, k: np.sum((p - k) ** 2 + p ** 4), np.zeros(2), args=(x,), {TOL}).x", (2,)),
        (f"{SQUARES}, {TOL}).fun", (2,)),
        (f"{SQUARES}, jac='3-point', {TOL}).x", (2,)),
    ),
    note=f"{LEAST} Derivatives that are given are for the search alone. Without `hessp=` and `constraints=`; no bound"
    " may hold a value back.",
)
def minimize(
    fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, constraints=(), tol=None, options=None
):
    named = jac is None or isinstance(jac, str)
    require_handled(named and hess is None and hessp is None, "a derivative that is given to minimize")
    require_handled(np.size(constraints) == 0, "minimize with constraints, for which there is srcgrad.implicit")
    require_handled(isinstance(args, tuple), "`args=` that is no tuple")

    def value(p):
        return fun(p, *args)

    found = lowest(value, x0, method=method, differences=jac, bounds=bounds, tol=tol, options=options)
    x = lowest_of(value, found)
    return x, np.sum(value(x)), found[2], found[3], found[4], found[5]


declare_other_form(optimize.minimize, (), {4: "jac"}, jac=("2-point", "3-point", "cs"))(minimize)


@declare_other_form(
    optimize.minimize,
    (
        (
            "scipy.optimize.minimize(lambda p: (np.sum((p - x) ** 2 + p ** 4), 2.0 * (p - x) + 4.0 * p ** 3), "
            f"np.zeros(2), jac=True, {TOL}).x",
            (2,),
        ),
    ),
    {4: "jac"},
    jac=(True,),
)
def minimize_both(fun, x0, args=(), method=None, *, jac, bounds=None, constraints=(), tol=None, options=None):
    require_handled(np.size(constraints) == 0, "minimize with constraints, for which there is srcgrad.implicit")
    require_handled(isinstance(args, tuple), "`args=` that is no tuple")

    def both(p):
        return fun(p, *args)

    def value(p):
        return fun(p, *args)[0]

    found = lowest(both, x0, method=method, jac=True, bounds=bounds, tol=tol, options=options)
    x = lowest_of(value, found)
    return x, np.sum(value(x)), found[2], found[3], found[4], found[5]


@declare_other_form(
    optimize.minimize,
    (
        (
            f"{SQUARES}, jac=lambda p: 2.0 * (p - x) + 4.0 * p ** 3, hess=lambda p: np.diag(2.0 + 12.0 * p ** 2), "
            "method='trust-exact', tol=1e-12).x",
            (2,),
        ),
    ),
    {5: "hess"},
    ("hess",),
    hess=(),
)
def minimize_with_curvature(
    fun, x0, args=(), method=None, jac=None, hess=None, *, bounds=None, constraints=(), tol=None, options=None
):
    require_handled(np.size(constraints) == 0, "minimize with constraints, for which there is srcgrad.implicit")
    require_handled(isinstance(args, tuple), "`args=` that is no tuple")

    def value(p):
        return fun(p, *args)

    def steps(p):
        return jac(p, *args)

    def bends(p):
        return hess(p, *args)

    found = lowest(value, x0, method=method, jac=steps, hess=bends, bounds=bounds, tol=tol, options=options)
    x = lowest_of(value, found)
    return x, np.sum(value(x)), found[2], found[3], found[4], found[5]


@declare_other_form(
    optimize.minimize,
    ((f"{SQUARES}, jac=lambda p: 2.0 * (p - x) + 4.0 * p ** 3, {TOL}).fun", (2,)),),
    {4: "jac"},
    ("jac",),
    jac=(),
)
def minimize_with_slope(
    fun, x0, args=(), method=None, jac=None, *, bounds=None, constraints=(), tol=None, options=None
):
    require_handled(np.size(constraints) == 0, "minimize with constraints, for which there is srcgrad.implicit")
    require_handled(isinstance(args, tuple), "`args=` that is no tuple")

    def value(p):
        return fun(p, *args)

    def steps(p):
        return jac(p, *args)

    found = lowest(value, x0, method=method, jac=steps, bounds=bounds, tol=tol, options=options)
    x = lowest_of(value, found)
    return x, np.sum(value(x)), found[2], found[3], found[4], found[5]


@adjoint.composed(
    optimize.least_squares,
    forms=(
        (f"scipy.optimize.least_squares(lambda p, k: np.exp(p) + k * p - {TIMES}, np.zeros(3), args=(x,)).x", (3,)),
    ),
    note=f"{LEAST} A function for `jac=` is for the search alone. Without other `loss=`; no bound may hold a value"
    " back.",
)
def least_squares(
    fun,
    x0,
    jac="2-point",
    bounds=(-np.inf, np.inf),
    method="trf",
    ftol=1e-8,
    xtol=1e-8,
    gtol=1e-8,
    x_scale=1.0,
    loss="linear",
    max_nfev=None,
    args=(),
):
    require_handled(isinstance(jac, str), "a derivative of another kind for least_squares")
    require_handled(loss == "linear", "another loss than a sum of squares")

    def errors(p):
        return np.asarray(fun(p, *args))

    found = nearest(
        errors,
        x0,
        differences=jac,
        bounds=bounds,
        method=method,
        ftol=ftol,
        xtol=xtol,
        gtol=gtol,
        x_scale=x_scale,
        max_nfev=max_nfev,
    )
    x = nearest_of(errors, found)
    rest = errors(x)
    return x, 0.5 * np.sum(rest * rest), rest, found[3], found[4], found[5], found[6]


declare_other_form(optimize.least_squares, (), {2: "jac"}, jac=("2-point", "3-point", "cs"))(least_squares)


@declare_other_form(
    optimize.least_squares,
    (
        (
            f"scipy.optimize.least_squares(lambda p: np.exp(p) + x * p - {TIMES}, np.zeros(3), "
            "jac=lambda p: np.diag(np.exp(p) + x)).x",
            (3,),
        ),
    ),
    {2: "jac"},
    ("jac",),
    jac=(),
)
def least_squares_with_slopes(
    fun,
    x0,
    jac,
    bounds=(-np.inf, np.inf),
    method="trf",
    ftol=1e-8,
    xtol=1e-8,
    gtol=1e-8,
    x_scale=1.0,
    loss="linear",
    max_nfev=None,
    args=(),
):
    require_handled(loss == "linear", "another loss than a sum of squares")

    def errors(p):
        return np.asarray(fun(p, *args))

    def slopes(p):
        return jac(p, *args)

    found = nearest(
        errors,
        x0,
        jac=slopes,
        bounds=bounds,
        method=method,
        ftol=ftol,
        xtol=xtol,
        gtol=gtol,
        x_scale=x_scale,
        max_nfev=max_nfev,
    )
    x = nearest_of(errors, found)
    rest = errors(x)
    return x, 0.5 * np.sum(rest * rest), rest, found[3], found[4], found[5], found[6]


@adjoint.composed(
    optimize.curve_fit,
    forms=(
        (
            f"scipy.optimize.curve_fit(lambda t, a, b: a * np.exp(b * t), {TIMES}, {TIMES} + 1.0 + x, (1.0, 0.5))[0]",
            (3,),
        ),
    ),
    note=f"{LEAST} The covariance has no derivative: E5001 in reverse, nan forwards."
    " Without `jac=`; no bound may hold a value back.",
    results=(("popt", 1), ("pcov", 2)),
)
def curve_fit(
    f,
    xdata,
    ydata,
    p0=None,
    sigma=None,
    absolute_sigma=False,
    check_finite=None,
    bounds=(-np.inf, np.inf),
    method=None,
    *,
    maxfev=None,
    ftol=None,
    xtol=None,
    gtol=None,
):
    weights = 1.0 if sigma is None else 1.0 / np.asarray(sigma)
    require_handled(np.ndim(weights) < 2, "a covariance as `sigma=`")

    def misfit(p):
        return weights * (f(xdata, *p) - ydata)

    start = start_of(f) if p0 is None else p0
    found = fitted(
        misfit,
        start,
        np.size(ydata),
        bounds=bounds,
        method=method,
        absolute_sigma=absolute_sigma,
        maxfev=maxfev,
        ftol=ftol,
        xtol=xtol,
        gtol=gtol,
    )
    p = nearest_of(misfit, found)
    return p, covariance_at(found[1], p)


@adjoint.composed(
    optimize.minimize_scalar,
    forms=(("scipy.optimize.minimize_scalar(lambda p, k: (p - k) ** 2 + p ** 4, args=(x,)).x", ()),),
    note=f"{LEAST} No bound may hold the value back.",
)
def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    require_handled(isinstance(args, tuple), "`args=` that is no tuple")

    def cost(p):
        return fun(p, *args)

    def slope(p):
        return srcgrad.grad(cost)(p)

    found = lowest_number(cost, bracket, bounds=bounds, method=method, tol=tol, options=options)
    x = root_at(slope, found[0])
    return x, cost(x), found[2], found[3], found[4]


@adjoint.composed(
    optimize.fixed_point,
    forms=(
        ("scipy.optimize.fixed_point(lambda s: np.cos(x * s), 0.5, xtol=1e-12)", ()),
        ("scipy.optimize.fixed_point(lambda s, k: np.tanh(k * s) + 0.2, np.ones(2), args=(x,), xtol=1e-12)", (2,)),
    ),
    note=NOTE,
)
def fixed_point(func, x0, args=(), xtol=1e-08, maxiter=500, method="del2"):
    require_handled(isinstance(args, tuple), "`args=` that is no tuple")

    def step(x):
        return func(x, *args)

    def rest(x):
        return step(x) - x

    return root_at(rest, settled_at(step, x0, xtol=xtol, maxiter=maxiter, method=method))


@adjoint.composed(solved_for_one, forms=(), note="Of `srcgrad.implicit(solver, residual)(p)` in a function.")
def solved_for_one_of(solver, residual, p):
    return root_at(residual, computed_by(solver, (p,)), (p,))


@adjoint.composed(solved_for_two, forms=(), note="Of `srcgrad.implicit(solver, residual)(p, q)` in a function.")
def solved_for_two_of(solver, residual, p, q):
    return root_at(residual, computed_by(solver, (p, q)), (p, q))


constants([computed_by], handed=FunctionArgument("solver", 0, None, ndim=None))
made_to_be_called(
    srcgrad.implicit,
    solved_for_one,
    solved_for_two,
    made=("solver", "residual"),
    required=2,
    held=lambda made: None,
)
in_parts(optimize.minimize_scalar, scalar_minimum_found, ("x", "fun", "success", "nit", "nfev"))
in_parts(optimize.minimize, minimum_found, ("x", "fun", "success", "message", "nit", "nfev"))
in_parts(optimize.least_squares, least_squares_found, ("x", "cost", "fun", "success", "message", "status", "nfev"))
stand_in(scalar_minimum_found, optimize.minimize_scalar)
stand_in(minimum_found, optimize.minimize)
stand_in(least_squares_found, optimize.least_squares)
in_parts(optimize.root, root_found, ("x",), success=True)
in_parts(optimize.root_scalar, scalar_root_found, ("root",), converged=True)
stand_in(root_found, optimize.root)
stand_in(scalar_root_found, optimize.root_scalar)
constants([check_slopes, covariance_pullback])
declare_refused(
    "what its `args` hold is not written as a tuple",
    {f.__name__: f for f in (root_pullback, root_pushforward)},
)
