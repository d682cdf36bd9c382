"""The Rosenbrock function: a curved valley whose minimum, 0, is at (1, ..., 1)."""

import numpy as np


def rosenbrock(x):
    """x (n,), n at least 2; a number."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
