"""Explicit steps of the heat equation on a square, in place."""

import numpy as np


def heat(u0, alpha, n):
    """The sum of squares after `n` steps."""
    u = u0.copy()
    for _ in range(n):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += alpha * around
    return np.sum(u * u)


def heat_hand(u0, alpha, n):
    """The step is linear: only the derivative by `alpha` needs what is kept."""
    u = u0.copy()
    kept = []
    for _ in range(n):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += alpha * around
        kept.append(around)
    value = np.sum(u * u)

    u_bar = 2.0 * u
    alpha_bar = 0.0
    for _ in range(n):
        inner = u_bar[1:-1, 1:-1]
        alpha_bar += np.sum(inner * kept.pop())
        around_bar = alpha * inner
        inner -= 4.0 * around_bar
        u_bar[:-2, 1:-1] += around_bar
        u_bar[2:, 1:-1] += around_bar
        u_bar[1:-1, :-2] += around_bar
        u_bar[1:-1, 2:] += around_bar
    return value, (u_bar, alpha_bar)


def arguments(side, n):
    """Temperatures at random."""
    return np.random.default_rng(0).random((side, side)), 0.2, n
