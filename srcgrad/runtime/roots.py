"""Derivatives of roots by the implicit function theorem: where f(x, p) = 0, df/dx dx = -df/dp dp.

The arguments are those of SciPy's functions. `pull` takes a seed of `func` to the adjoints of x and of the elements of
`args` at `places` (None: of all), `push` their tangents to that of `func`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.odes import Equation, joined

Function = Callable[..., Any]


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


def _own(x: Any) -> Any:
    """A copy of an array, a number as a float."""
    return np.array(x, float) if isinstance(x, np.ndarray) and x.ndim else float(x)


def check_slopes(slopes: Any, values: Any, x: Any) -> None:
    """Raise ArithmeticError where there are not as many equations as unknowns, and where x is no root.

    >>> check_slopes(np.eye(1), np.zeros(1), 0.0)
    """
    if values.size != np.size(x):
        raise ArithmeticError(f"E5001 operation not differentiable: {values.size} equations for {np.size(x)} unknowns")
    try:
        step = float(np.max(np.abs(np.linalg.solve(slopes, np.ravel(values))), initial=0.0))
    except np.linalg.LinAlgError:
        step = np.inf
    if not step <= 1e-3 * float(np.max(np.abs(x), initial=0.0)) + 1e-6:
        raise ArithmeticError(
            "E5001 operation not differentiable: what the solver found is no root, or several roots meet there"
        )


def root_found(fun: Function, x0: Any, args: Any = (), method: str = "hybr", **options: Any) -> Any:
    """The root that `scipy.optimize.root` finds; ArithmeticError where it finds none.

    >>> root_found(lambda x: x * x - 4.0, [1.0]).round(6)
    array([2.])
    """
    from scipy.optimize import root

    found = root(fun, x0, args, method, **options)
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
