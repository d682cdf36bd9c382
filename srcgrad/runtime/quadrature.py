"""Integrals of functions of one number, and the points at which they are taken."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.odes import Equation, joined, like, widened

Function = Callable[..., Any]


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
