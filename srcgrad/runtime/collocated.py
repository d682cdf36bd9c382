"""The adjoint equation of a small system, by Gauss's collocation on elements that do not heed where seeds come in.

The equation u' = -(df/dy)^T u is linear, and y is known: so an element asks for df/dy at its nodes, and finds all of
its solutions X(x), of which X(0) = 1, as polynomials of x, with the integrals Q(x) of (df/dp)^T X. A seed g that comes
in at x grows to X(1) X(x)^-1 g. The number of calls of `pull` so belongs to the equation, not to how often it is
observed.

From: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, section II.7.
"""

from __future__ import annotations

from functools import cache
from typing import Any  # arrays of any floating type, and paths of SciPy

import numpy as np

from srcgrad.runtime.equation import Equation

NODES = 16
MOST = 12  # components: an element calls `pull` NODES times for each of them
FEW = 30  # elements, and two for each time, before it is tried another way
STEPS = 40  # of the forward run at most in an element, so that nothing that happens on the way is overlooked


@cache
def gauss(count: int) -> tuple[Any, Any]:
    """Nodes in (0, 1), and the matrix that takes values there to coefficients of Legendre polynomials.

    >>> nodes, coefficients = gauss(3)
    >>> np.abs(coefficients @ (2.0 * nodes - 1.0)).round(12).tolist()
    [0.0, 1.0, 0.0]
    """
    places, weights = np.polynomial.legendre.leggauss(count)
    values = np.polynomial.legendre.legvander(places, count - 1)
    return 0.5 * (places + 1.0), (np.arange(count) + 0.5)[:, np.newaxis] * (values * weights[:, np.newaxis]).T


def integrals(x: Any, count: int) -> Any:
    """The integrals from 0 to each x of the first Legendre polynomials of 2 x - 1.

    >>> integrals(np.array([0.5, 1.0]), 2).tolist()
    [[0.5, -0.25], [1.0, 0.0]]
    """
    values = np.polynomial.legendre.legvander(2.0 * np.asarray(x) - 1.0, count)
    made = np.empty((len(values), count))
    made[:, 0] = x
    made[:, 1:] = (values[:, 2:] - values[:, :-2]) / (4.0 * np.arange(1, count) + 2.0)
    return made


class Element:
    """All solutions between two times, backwards: `grown` and `gained` are X and Q at the end.

    >>> growth = Equation(lambda y, t, k: k * y, lambda y, t, k, seed: (k * seed, y @ seed), (2.0,))
    >>> element = Element(growth, lambda t: np.exp(2.0 * t)[np.newaxis], 1.0, 0.0)
    >>> np.round([element.grown / np.exp(2.0), element.gained / np.exp(2.0)], 12).ravel().tolist()
    [1.0, 1.0]
    """

    def __init__(self, equation: Equation, path: Any, start: float, end: float) -> None:
        nodes, self.coefficients = gauss(NODES)
        times = start + (end - start) * nodes
        slopes = (start - end) * np.array([equation.slopes(s, y) for s, y in zip(times, path(times).T, strict=True)])
        n = slopes.shape[2]
        weights = integrals(nodes, NODES) @ self.coefficients
        system = np.eye(NODES * n) - (weights[:, np.newaxis, :, np.newaxis] * slopes[:, :n].swapaxes(0, 1)).reshape(
            NODES * n, NODES * n
        )
        states = np.linalg.solve(system, np.tile(np.eye(n), (NODES, 1))).reshape(NODES, n, n)
        rates = slopes @ states
        self.size = n
        self.largest = np.max(np.abs(rates), axis=(0, 2))
        self.series = np.tensordot(self.coefficients, rates, 1)
        whole = self.series[0]
        self.grown, self.gained = np.eye(n) + whole[:n], whole[n:]

    def at(self, x: Any) -> tuple[Any, Any]:
        """X and Q at some places."""
        whole = np.tensordot(integrals(x, NODES), self.series, 1)
        return np.eye(self.size) + whole[:, : self.size], whole[:, self.size :]

    def carried(self, adjoint: Any, x: Any, seeds: Any) -> tuple[Any, Any]:
        """The adjoint at the end and what the arguments get, with seeds that come in at some places."""
        grown, gained = self.at(x)
        started = np.linalg.solve(grown, seeds[:, :, np.newaxis])
        whole = adjoint + np.sum(started[:, :, 0], axis=0)
        return self.grown @ whole, self.gained @ whole - np.sum(gained @ started, axis=(0, 2))

    def error(self, usual: Any) -> float:
        """What the last coefficients add to X and Q, for each argument relative to what is usual for it."""
        last = np.max(np.abs(self.series[-2:]), axis=(0, 2)) / (2.0 * NODES)
        shrunk = np.linalg.svd(self.grown, compute_uv=False)[-1] if np.all(np.isfinite(last)) else 0.0
        return float(np.max(last / usual)) / min(1.0, float(shrunk)) if shrunk > 0.0 else np.inf


def collocated(
    equation: Equation, path: Any, first: float, times: Any, seeds: Any, tolerance: float
) -> tuple[int, float, Any, Any]:
    """Go back from the last time to `first`; stop on the way where that takes many elements, as of a stiff equation.

    How many seeds are left, the time that is reached, the adjoint there, and what the arguments have got so far.
    """
    left, place, adjoint = len(times) - 1, float(times[-1]), seeds[-1]
    n, parts, usual = len(adjoint), np.zeros_like(equation.zeros), np.zeros_like(equation.zeros)
    reached, most = np.abs(path.ts - first), abs(place - first)
    for _ in range(FEW + 2 * len(times)):
        if place == first or n > MOST:
            break
        far = abs(place - first)
        most = min(most, far - float(reached[max(int(np.searchsorted(reached, far)) - STEPS, 0)]))
        end = place + (first - place) * most / far if most < 0.95 * far else first
        element = Element(equation, path, place, end)
        usual = np.maximum(usual, element.largest[n:])
        least = 1e-6 * float(np.max(usual, initial=0.0)) or 1.0
        error = element.error(np.concatenate((np.ones(n), np.maximum(usual, least))))
        most = abs(end - place) * min(2.0, max(0.2, 0.9 * (tolerance / max(error, 1e-300)) ** (1.0 / NODES)))
        if error <= tolerance or abs(end - place) <= 1e-10 * float(reached[-1]):
            inside = left - int(np.count_nonzero(np.abs(times[:left] - place) < abs(end - place)))
            adjoint, more = element.carried(adjoint, (times[inside:left] - place) / (end - place), seeds[inside:left])
            parts, place, left = parts + more, end, inside
        elif not np.isfinite(error):
            break
    return left, place, adjoint, parts
