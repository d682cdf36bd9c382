"""Rosenbrock's function: its gradient for few variables, products with its Hessian for many."""

import numpy as np


def rosenbrock(x):
    """Any number of variables."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hand(x):
    """Each variable is the first of one pair and the second of another."""
    t = x[1:] - x[:-1] ** 2
    u = 1.0 - x[:-1]
    value = np.sum(100.0 * t**2 + u**2)

    x_bar = np.zeros_like(x)
    x_bar[1:] = 200.0 * t
    x_bar[:-1] -= 400.0 * t * x[:-1] + 2.0 * u
    return value, x_bar


def rosenbrock_hvp_hand(x, x_dot):
    """The tangent of the gradient."""
    t = x[1:] - x[:-1] ** 2
    t_dot = x_dot[1:] - 2.0 * x[:-1] * x_dot[:-1]
    found = np.zeros_like(x)
    found[1:] = 200.0 * t_dot
    found[:-1] -= 400.0 * (t_dot * x[:-1] + t * x_dot[:-1]) - 2.0 * x_dot[:-1]
    return found


def arguments(n):
    """A point."""
    return (np.random.default_rng(0).standard_normal(n),)
