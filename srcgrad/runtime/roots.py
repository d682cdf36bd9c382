"""Derivatives of roots by the implicit function theorem, and of integrals of functions of one number.

Where f(x, p) = 0, df/dx dx = -df/dp dp. The arguments are those of SciPy's functions. `pull` takes a seed of `func` to
the adjoints of x and of the elements of `args` at `places` (None: of all), `push` their tangents to that of `func`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.layout import require_handled
from srcgrad.runtime.odes import Equation, joined, like, widened

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


def quad_pullback(
    func: Function,
    pull: Function | None,
    a: Any,
    b: Any,
    args: Any,
    y_bar: Any,
    *,
    places: tuple[int, ...] | None = None,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
) -> tuple[Any, Any, list[Any]]:
    """Adjoints of a, b and args for a seed of `y, _ = quad(func, a, b, args)`.

    >>> def power(x, k):
    ...     return k * x * x
    >>> a_bar, b_bar, (k_bar,) = quad_pullback(power, lambda x, k, seed: seed * x * x, 0.0, 3.0, (2.0,), 1.0)
    >>> a_bar, b_bar, round(k_bar, 6)
    (-0.0, 18.0, 9.0)
    """
    given = args if isinstance(args, tuple) else (args,)
    args = widened(given)
    ends = [np.array([sign * float(y_bar) * _at_end(func, end, args)]) for sign, end in ((-1.0, a), (1.0, b))]
    if pull is None:
        return like(ends[0], a), like(ends[1], b), [None] * len(args)
    whole = Equation(func, pull, given, places)
    check_steady(func, a, b, given, places=places, epsabs=epsabs, epsrel=epsrel, limit=limit)

    def slopes(x: float) -> Any:
        shape = np.shape(func(x, *args))
        found = pull(x, *args, **{whole.words[-1]: np.ones(shape) if shape else 1.0})
        return joined(found if isinstance(found, tuple) else (found,))

    return (
        like(ends[0], a),
        like(ends[1], b),
        whole.spread(float(y_bar) * _integral(slopes, float(a), float(b), epsabs, epsrel)),
    )


def quad_pushforward(
    func: Function,
    push: Function | None,
    a: Any,
    b: Any,
    args: Any,
    a_dot: Any,
    b_dot: Any,
    args_dot: Any,
    *,
    places: tuple[int, ...] | None = None,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
) -> float:
    """The tangent of `y, _ = quad(func, a, b, args)`.

    >>> def power(x, k):
    ...     return k * x * x
    >>> round(quad_pushforward(power, lambda x, k, k_dot: k_dot * x * x, 0.0, 3.0, (2.0,), 0.0, 1.0, (1.0,)), 6)
    27.0
    """
    args = widened(args if isinstance(args, tuple) else (args,))
    made = _at_end(func, b, args) * float(b_dot) - _at_end(func, a, args) * float(a_dot)
    if push is None:
        return made
    whole = Equation(func, push, args, places)
    check_steady(func, a, b, args, places=places, epsabs=epsabs, epsrel=epsrel, limit=limit)
    names = whole.words[len(whole.words) - len(whole.places) :]
    dots = dict(zip(names, [args_dot[k] for k in whole.places], strict=True))

    def slope(x: float) -> Any:
        return np.ravel(np.asarray(push(x, *args, **dots), float))

    return made + float(_integral(slope, float(a), float(b), epsabs, epsrel)[0])


def check_numbers(value: Any) -> None:
    """Raise TypeError where an argument is a container, whose numbers have no integrals one by one.

    >>> check_numbers({"a": 1.0})
    Traceback (most recent call last):
    ...
    TypeError: E5001 the second derivative of an integral or a solution by a dict is not known; pass numbers or arrays
    """
    if not isinstance(value, np.ndarray | int | float | np.number):
        raise TypeError(
            f"E5001 the second derivative of an integral or a solution by a {type(value).__name__} is not known; "
            "pass numbers or arrays"
        )


def _at_end(func: Function, end: Any, args: tuple[Any, ...]) -> float:
    """The integrand at an end; an infinite one does not move."""
    return float(np.sum(func(float(end), *args))) if np.isfinite(end) else 0.0


def _integral(slopes: Function, a: float, b: float, epsabs: float, epsrel: float) -> Any:
    """The integral of a vector; ArithmeticError where it is not found to the tolerances."""
    from scipy.integrate import quad_vec

    if a == b:
        return 0.0 * slopes(a)
    low, high = min(a, b), max(a, b)
    made, error, report = quad_vec(slopes, low, high, epsabs, epsrel, norm="max", full_output=True)
    if not report.success:
        raise ArithmeticError(
            f"the derivative of an integral from {a} to {b} has an error of {error}: {report.message}"
        )
    return made if a <= b else -made


def check_steady(
    func: Function,
    a: Any,
    b: Any,
    args: tuple[Any, ...],
    *,
    places: tuple[int, ...] | None = None,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
) -> None:
    """Raise ArithmeticError where the integrand jumps at a place that an argument moves.

    The derivative of that place is not in the integral of the derivative. The places at which `quad` looks are dense
    around a jump; a change that does not shrink between two of them is one.

    >>> check_steady(lambda x, k: 1.0 if x > k else 0.0, 0.0, 1.0, (0.3,))
    Traceback (most recent call last):
    ...
    ArithmeticError: E5001 operation not differentiable: the integrand jumps at 0.3, a place that depends on an \
argument; split the integral there
    """
    from scipy.integrate import quad

    whole = Equation(func, func, args, places)
    seen: dict[float, float] = {}

    def noted(x: float) -> float:
        seen[x] = float(np.sum(whole.func(x, *whole.args)))
        return seen[x]

    quad(noted, float(a), float(b), epsabs=epsabs, epsrel=epsrel, limit=limit)
    large = max([abs(value) for value in seen.values()], default=0.0)
    for one, two in pairwise(sorted(seen.items())):
        while abs(two[1] - one[1]) > 1e-6 * large:
            x = 0.5 * (one[0] + two[0])
            if x in (one[0], two[0]):
                break
            middle = x, noted(x)
            before, after = abs(middle[1] - one[1]), abs(two[1] - middle[1])
            if max(before, after) < 0.9 * (before + after):
                break
            one, two = (one, middle) if before > after else (middle, two)
        else:
            continue
        near = two[0] - one[0] <= 1e-12 * max(abs(one[0]), abs(two[0]))
        if near and whole.shifts(one[0], two[0]):
            raise ArithmeticError(
                f"E5001 operation not differentiable: the integrand jumps at {one[0]!r}, "
                "a place that depends on an argument; split the integral there"
            )


def gauss_points(n: int) -> tuple[Any, Any]:
    """Nodes and weights of the Gauss-Legendre formula of n nodes, on the interval from -1 to 1.

    >>> gauss_points(1)
    (array([0.]), array([2.]))
    """
    return np.polynomial.legendre.leggauss(n)


def limit_at(limit: object, place: float) -> object:
    """The end of an inner integral, which may be a function of the outer variable.

    >>> limit_at(lambda s: 2.0 * s, 0.5), limit_at(3.0, 0.5)
    (1.0, 3.0)
    """
    return limit(place) if callable(limit) else limit
