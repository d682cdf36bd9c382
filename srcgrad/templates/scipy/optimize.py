"""Roots of functions, by the implicit function theorem; on request."""

from scipy import optimize

from srcgrad.core.rules import (
    FunctionArgument,
    adjoint,
    constants,
    d,
    declare_refused,
    in_parts,
    places,
    pull,
    push,
    stand_in,
    tangent,
)
from srcgrad.runtime.roots import check_slopes, root_found, root_pullback, root_pushforward, scalar_root_found

NOTE = "The function is differentiated through its source; where the search starts has no influence on the root."


@adjoint(
    optimize.brentq,
    forms=(("scipy.optimize.brentq(lambda s, k: s ** 3 + s - k * x, -9.0, 9.0, args=(y,))", None, None),),
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
    handed=FunctionArgument("func", 1, 0, ndim=None),
)
def newton(z, func, x0, args=(), tol=1.48e-8, maxiter=50):
    d[args] = root_pullback(func, pull, z, args, d[z], places=places)


@tangent(optimize.newton)
def newton_tangent(z, func, x0, args=(), tol=1.48e-8, maxiter=50):
    d[z] = root_pushforward(func, push, z, args, d[args], places=places)


@adjoint(
    optimize.fsolve,
    forms=(
        ("scipy.optimize.fsolve(lambda s: [s[0] ** 3 + s[1] - x[0], s[1] + x[1] * s[0]], np.ones(2))", (2,)),
        ("scipy.optimize.fsolve(lambda s, k: s ** 3 + s - k, 0.5, (x,))", None),
    ),
    note=NOTE,
    handed=FunctionArgument("func", 1, 0),
)
def fsolve(z, func, x0, args=(), xtol=1.49012e-08, maxfev=0):
    d[args] = root_pullback(func, pull, z, args, d[z], places=places)


@tangent(optimize.fsolve)
def fsolve_tangent(z, func, x0, args=(), xtol=1.49012e-08, maxfev=0):
    d[z] = root_pushforward(func, push, z, args, d[args], places=places)


@adjoint(
    optimize.root,
    forms=(("scipy.optimize.root(lambda s, k: k @ s + s ** 3 - x, np.ones(2), (y,)).x", (2,), (2, 2)),),
    note=f"{NOTE} Only `.x` and `.success` of the result are known.",
    handed=FunctionArgument("fun", 1, 0, ndim=None),
)
def root(z, fun, x0, args=(), method="hybr", tol=None):
    d[args] = root_pullback(fun, pull, z, args, d[z], places=places)


@tangent(optimize.root)
def root_tangent(z, fun, x0, args=(), method="hybr", tol=None):
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


in_parts(optimize.root, root_found, ("x",), success=True)
in_parts(optimize.root_scalar, scalar_root_found, ("root",), converged=True)
stand_in(root_found, optimize.root)
stand_in(scalar_root_found, optimize.root_scalar)
constants([check_slopes])
declare_refused(
    "what its `args` hold is not written as a tuple",
    {f.__name__: f for f in (root_pullback, root_pushforward)},
)
