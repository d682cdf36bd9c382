"""The equation of a state and its tangent together, and its adjoints: what second derivatives of a solution solve.

`derived` has the derivative in reverse of a right-hand side, `again` is what that is differentiated to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any  # functions of the user, and arrays of any floating type

import numpy as np

from srcgrad.runtime.equation import Equation, joined, like

Function = Callable[..., Any]


def along_seed(equation: Equation, derived: Equation, again: Function, args: Any, way: Any) -> Equation:
    """The tangent goes along a seed of what `derived` gives for the arguments; `again` has adjoints of its seed, too.

    >>> pull = lambda y, t, k, seed: (k * seed, y @ seed)
    >>> again = lambda y, t, k, seed, way: (way[1] * seed, way[0] @ seed, k * way[0] + way[1] * y)
    >>> growth = Equation(lambda y, t, k: k * y, pull, (2.0,))
    >>> along_seed(growth, growth, again, (2.0,), np.array([1.0])).rate(0.0, np.array([3.0, 0.0])).tolist()
    [6.0, 3.0]
    """
    seeded, moved = list(inspect.signature(again).parameters)[-2:], []
    for k in derived.places:
        count = len(joined([derived.args[k]]))
        moved.append(like(way[:count], derived.args[k]))
        way = way[count:]

    def turned(time: Any, both: Any, args: tuple[Any, ...], seed: Any) -> tuple[Any, Any, Any]:
        """Adjoints of the state, of the active arguments, and of the seed of `derived`."""
        n = len(both) // 2
        ways = (both[n:], *moved) if moved else both[n:]
        words = dict(zip(seeded, (derived.shaped(seed), ways), strict=True))
        state, *others, last = again(*derived.given(time, both[:n]), *args, **words)
        return np.ravel(state), joined(others), joined([last])

    def rate(both: Any, time: Any, *args: Any) -> Any:
        n = len(both) // 2
        value = derived.rate(time, both[:n], args)
        return np.concatenate((value, turned(time, both, args, np.zeros(n))[2]))

    def pull(both: Any, time: Any, *args: Any, seed: Any) -> tuple[Any, Any]:
        n = len(both) // 2
        direct, parts = equation.adjoints(time, both[:n], seed[:n])
        state, others, _ = turned(time, both, args, seed[n:])
        return np.concatenate((direct + state, derived.adjoints(time, both[:n], seed[n:])[0])), parts + others

    return Equation(rate, pull, args, equation.places)


def along_tangent(ahead: Equation, derived: Equation, again: Function, args: Any, ways: list[Any]) -> Equation:
    """The tangent goes along those of the active arguments, of which `ahead` has the derivative.

    >>> push = lambda y, t, k, y_dot, k_dot: k * y_dot + k_dot * y
    >>> again = lambda y, t, k, seed, y_dot, k_dot: (k_dot * seed, y_dot @ seed)
    >>> ahead = Equation(lambda y, t, k: k * y, push, (2.0,))
    >>> derived = Equation(lambda y, t, k: k * y, lambda y, t, k, seed: (k * seed, y @ seed), (2.0,))
    >>> along_tangent(ahead, derived, again, (2.0,), [1.0]).rate(0.0, np.array([3.0, 0.0])).tolist()
    [6.0, 3.0]
    """
    words = list(inspect.signature(again).parameters)
    seeded, dotted = words[len(words) - 2 - len(ways)], words[len(words) - 1 - len(ways) :]

    def rate(both: Any, time: Any, *args: Any) -> Any:
        n = len(both) // 2
        return np.concatenate((derived.rate(time, both[:n], args), ahead.tangent(time, both[:n], both[n:], ways)))

    def pull(both: Any, time: Any, *args: Any, seed: Any) -> tuple[Any, Any]:
        n = len(both) // 2
        direct, parts = derived.adjoints(time, both[:n], seed[:n])
        dots = dict(zip(dotted, [np.array(both[n:]), *ways], strict=True))
        found = again(*derived.given(time, both[:n]), *args, **{seeded: derived.shaped(seed[n:])}, **dots)
        found = found if isinstance(found, tuple) else (found,)
        state = np.concatenate((direct + np.ravel(found[0]), derived.adjoints(time, both[:n], seed[n:])[0]))
        return state, parts + joined(found[1:])

    return Equation(rate, pull, args, derived.places, moving=(*derived.places, *ahead.places))
