"""Derivatives of roots by the implicit function theorem: where f(x, p) = 0, df/dx dx = -df/dp dp.

The arguments are those of SciPy's functions. `pull` takes a seed of `func` to the adjoints of x and of the elements of
`args` at `places` (None: of all), `push` their tangents to that of `func`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.odes import Equation, joined

Function = Callable[..., Any]
Value = Any  # a number, an array, bounds in one of SciPy's forms
Found = tuple[Value, ...]


def root_pullback(
    func: Function, pull: Function, x: Any, args: Any, x_bar: Any, *, places: tuple[int, ...] | None = None
) -> list[Any]:
    """Adjoints of args for a seed of x, where `func(x, *args)` is zero.

    >>> def square(x, k):
    ...     return x * x - k
    >>> def square_pull(x, k, seed):
    ...     return 2.0 * x * seed, -seed
    >>> root_pullback(square, square_pull, 3.0, (9.0,), 1.0)
    [0.16666666666666666]
    """
    args = args if isinstance(args, tuple) else (args,)
    whole = Equation(func, pull, args, places)
    args = whole.args
    values = np.asarray(func(_own(x), *args), float)

    def adjoints(seed: Any) -> Any:
        seed = np.reshape(seed, values.shape) if values.ndim else float(seed[0])
        found = pull(_own(x), *args, **{whole.words[-1]: seed})
        return found if isinstance(found, tuple) else (found,)

    slopes = np.array([np.ravel(adjoints(unit)[0]) for unit in np.eye(values.size)])
    check_slopes(slopes, values, x)
    return whole.spread(joined(adjoints(np.linalg.solve(slopes.T, -np.ravel(x_bar)))[1:]))


def root_pushforward(
    func: Function, push: Function, x: Any, args: Any, args_dot: Any, *, places: tuple[int, ...] | None = None
) -> Any:
    """The tangent of x, where `func(x, *args)` is zero.

    >>> def square(x, k):
    ...     return x * x - k
    >>> def square_push(x, k, x_dot, k_dot):
    ...     return 2.0 * x * x_dot - k_dot
    >>> root_pushforward(square, square_push, 3.0, (9.0,), (1.0,))
    0.16666666666666666
    """
    args = args if isinstance(args, tuple) else (args,)
    whole, none = Equation(func, push, args, places), np.zeros(np.shape(x))
    args = whole.args
    values = np.asarray(func(_own(x), *args), float)
    names = whole.words[len(whole.words) - 1 - len(whole.places) :]
    zeros = whole.spread(np.zeros_like(whole.zeros))

    def tangent(x_dot: Any, others: Any) -> Any:
        return np.ravel(
            np.asarray(push(_own(x), *args, **dict(zip(names, [_own(x_dot), *others], strict=True))), float)
        )

    still = [zeros[k] for k in whole.places]
    slopes = np.array([tangent(np.reshape(unit, np.shape(x)), still) for unit in np.eye(np.size(x))]).T
    check_slopes(slopes, values, x)
    made = np.reshape(np.linalg.solve(slopes, -tangent(none, [args_dot[k] for k in whole.places])), np.shape(x))
    return made if isinstance(x, np.ndarray) else float(made)


def _own(x: Value) -> Value:
    """A copy of an array, a number as a float."""
    return np.array(x, float) if isinstance(x, np.ndarray) and x.ndim else float(x)


def check_slopes(slopes: Value, values: Value, x: Value) -> None:
    """Raise ArithmeticError where there are not as many equations as unknowns, and where x is no root.

    >>> check_slopes(np.eye(1), np.zeros(1), 0.0)
    """
    if values.size != np.size(x):
        raise ArithmeticError(f"E5001 operation not differentiable: {values.size} equations for {np.size(x)} unknowns")
    try:
        step = float(np.max(np.abs(np.linalg.solve(slopes, np.ravel(values))), initial=0.0))
    except np.linalg.LinAlgError:
        step = np.inf
    if not step <= 1e-3 * float(np.max(np.abs(x), initial=0.0)) + 1e-4:
        raise ArithmeticError(
            "E5001 operation not differentiable: what the solver found is no root, or several roots meet there"
        )


def root_found(
    fun: Function, x0: object, args: object = (), method: str = "hybr", jac: object = None, **options: object
) -> object:
    """The root that `scipy.optimize.root` finds; ArithmeticError where it finds none.

    >>> root_found(lambda x: x * x - 4.0, [1.0]).round(6)
    array([2.])
    """
    from scipy.optimize import root

    require_handled(jac is not True, "`jac=True`: give the derivative as a function of its own")
    found = root(fun, x0, args, method, jac, **options)
    if not found.success:
        raise ArithmeticError(f"root: {found.message}")
    return found.x


def scalar_root_found(
    f: Function, args: Any = (), method: str | None = None, bracket: Any = None, **options: Any
) -> Any:
    """The root that `scipy.optimize.root_scalar` finds; ArithmeticError where it finds none.

    >>> round(scalar_root_found(lambda x: x * x - 4.0, bracket=(0.0, 5.0)), 6)
    2.0
    """
    from scipy.optimize import root_scalar

    found = root_scalar(f, args, method, bracket, **options)
    if not found.converged:
        raise ArithmeticError(f"root_scalar: {found.flag}")
    return found.root


def root_at(func: Function, x: object, args: object = ()) -> object:
    """What a solver found, as the root of `func(x, *args)` that it is: its derivative is that of the root.

    >>> root_at(lambda x, k: x * x - k, 2.0, (4.0,))
    2.0
    """
    return np.array(x) if isinstance(x, np.ndarray | list | tuple) else x


def minimum_found(
    fun: Function,
    x0: object,
    args: object = (),
    method: object = None,
    jac: object = None,
    hess: object = None,
    hessp: object = None,
    bounds: object = None,
    constraints: object = (),
    tol: object = None,
    callback: object = None,
    options: object = None,
) -> Found:
    """The parts of what `scipy.optimize.minimize` finds; ArithmeticError (E5008) where a bound holds x back.

    >>> minimum_found(lambda x: np.sum((x - 2.0) ** 2), np.zeros(1))[0].round(4)
    array([2.])
    """
    from scipy.optimize import minimize

    found = minimize(fun, x0, args, method, jac, hess, hessp, bounds, constraints, tol, callback, options)
    check_inside(found.x, *_ends(bounds))
    return found.x, found.fun, found.success, found.message, found.get("nit", 0), found.nfev


def lowest(
    fun: Function,
    x0: object,
    args: object = (),
    *,
    jac: object = None,
    hess: object = None,
    differences: object = None,
    **options: object,
) -> Found:
    """What `minimum_found` gives, as numbers without a derivative; `differences` names those for a slope."""
    return minimum_found(fun, x0, args, jac=differences if jac is None else jac, hess=hess, **options)


def least_squares_found(
    fun: Function,
    x0: object,
    jac: object = "2-point",
    bounds: object = (-np.inf, np.inf),
    args: object = (),
    **options: object,
) -> Found:
    """The parts of what `scipy.optimize.least_squares` finds; ArithmeticError (E5008) where a bound holds x back.

    >>> least_squares_found(lambda x: x - 2.0, np.zeros(1))[0].round(4)
    array([2.])
    """
    from scipy.optimize import least_squares

    found = least_squares(fun, x0, jac, bounds, args=args, **options)
    if np.any(found.active_mask):
        raise ArithmeticError(HELD)
    return found.x, found.cost, found.fun, found.success, found.message, found.status, found.nfev


def nearest(
    fun: Function,
    x0: object,
    args: object = (),
    *,
    jac: object = None,
    differences: object = "2-point",
    **options: object,
) -> Found:
    """What `least_squares_found` gives, as numbers without a derivative; `differences` names those for slopes."""
    return least_squares_found(fun, x0, differences if jac is None else jac, args=args, **options)


def fitted(misfit: Function, p0: object, count: int, args: Found = (), **options: Value) -> Found:
    """The parameters, and their covariance, that `scipy.optimize.curve_fit` finds for `misfit(p, *args)`."""
    from scipy.optimize import curve_fit

    given = {word: value for word, value in options.items() if value is not None}
    found = curve_fit(lambda _, *p: np.ravel(misfit(np.array(p), *args)), None, np.zeros(count), p0, **given)
    bounds = options["bounds"]
    check_inside(found[0], *((bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds))
    return found[0], found[1]


def covariance_at(covariance: Value, p: object) -> Value:
    """The covariance that a fit gives beside its parameters p, with which it moves.

    >>> covariance_at(np.eye(1), np.ones(1))
    array([[1.]])
    """
    return covariance


def covariance_pullback(seed: Value, p: Value) -> Value:
    """Zeros like the parameters; ArithmeticError (E5001) where the covariance of a fit would have a derivative.

    >>> covariance_pullback(np.zeros((1, 1)), np.ones(1))
    array([0.])
    """
    if np.any(seed):
        raise ArithmeticError(
            "E5001 operation not differentiable: the covariance that curve_fit gives moves with the data; compute it"
            " from the parameters, or use srcgrad.stop_gradient on it"
        )
    return np.zeros(np.shape(p))


def scalar_minimum_found(
    fun: Function,
    bracket: object = None,
    bounds: Value = None,
    args: object = (),
    method: object = None,
    **options: object,
) -> Found:
    """The parts of what `scipy.optimize.minimize_scalar` finds; ArithmeticError (E5008) where a bound holds x back.

    >>> float(round(scalar_minimum_found(lambda x: (x - 2.0) ** 2)[0], 4))
    2.0
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(fun, bracket, bounds, args, method, **options)
    check_inside(found.x, *((-np.inf, np.inf) if bounds is None else bounds))
    return found.x, found.fun, found.success, found.nit, found.nfev


def lowest_number(fun: Function, bracket: object, args: object = (), **options: object) -> Found:
    """What `scalar_minimum_found` gives, as numbers without a derivative."""
    return scalar_minimum_found(fun, bracket, args=args, **options)


def settled_at(func: Function, x0: object, args: object = (), **options: object) -> object:
    """What `scipy.optimize.fixed_point` finds, as numbers without a derivative."""
    from scipy.optimize import fixed_point

    return fixed_point(func, x0, args, **options)


def computed_by(solver: Function, args: Found = ()) -> object:
    """What a solver gives, as numbers without a derivative.

    >>> computed_by(lambda k: k**0.5, (4.0,))
    2.0
    """
    return solver(*args)


def solved_for_one(solver: Function, residual: Function, p: object) -> object:
    """What `srcgrad.implicit(solver, residual)` gives of one argument.

    >>> solved_for_one(lambda k: k**0.5, lambda x, k: x * x - k, 4.0)
    2.0
    """
    return solver(p)


def solved_for_two(solver: Function, residual: Function, p: object, q: object) -> object:
    """What `srcgrad.implicit(solver, residual)` gives of two arguments.

    >>> solved_for_two(lambda k, m: k**0.5 * m, lambda x, k, m: x * x - k * m * m, 4.0, 3.0)
    6.0
    """
    return solver(p, q)


def start_of(f: Function, args: Found = ()) -> object:
    """Where `scipy.optimize.curve_fit` starts without `p0`: at a one for each parameter of f but the first.

    >>> start_of(lambda x, a, b: a * x + b)
    array([1., 1.])
    """
    return np.ones(len(inspect.signature(f).parameters) - 1 - len(args))


HELD = "E5008 what was found is at one of its bounds, where it does not move freely"


def check_inside(x: Value, low: Value, high: Value) -> None:
    """Raise ArithmeticError (E5008) where a value is at one of its bounds: it does not move freely there.

    >>> check_inside(np.ones(2), (0.0, -np.inf), (np.inf, 2.0))
    """
    near = 1e-5 * (1.0 + np.abs(x))
    if np.any(x - np.asarray(low) <= near) or np.any(np.asarray(high) - x <= near):
        raise ArithmeticError(HELD)


def _ends(bounds: Value) -> Found:
    """The lower and the upper ends, from a pair for each value; None is no end."""
    if hasattr(bounds, "lb"):
        return bounds.lb, bounds.ub
    pairs = [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds or ()]
    return tuple(np.array(pairs, float).T) if pairs else (-np.inf, np.inf)
