"""Softmax regression: mean cross-entropy of a linear model."""

import numpy as np


def regression(w, b, x, y):
    """`y` has a one in each row, at the class."""
    z = np.matmul(x, w) + b
    top = np.max(z, axis=1, keepdims=True)
    logs = np.log(np.sum(np.exp(z - top), axis=1, keepdims=True)) + top
    return np.mean(np.sum(y * (logs - z), axis=1))


def regression_hand(w, b, x, y):
    """The adjoint of the scores is softmax less target."""
    z = np.matmul(x, w) + b
    top = np.max(z, axis=1, keepdims=True)
    e = np.exp(z - top)
    s = np.sum(e, axis=1, keepdims=True)
    logs = np.log(s) + top
    value = np.mean(np.sum(y * (logs - z), axis=1))

    z_bar = (e * (np.sum(y, axis=1, keepdims=True) / s) - y) / len(x)
    return value, (np.matmul(x.T, z_bar), np.sum(z_bar, axis=0))


def arguments(n, d, k):
    """Points and classes at random."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((n, d)), 0.1 * rng.standard_normal((d, k))
    return w, np.zeros(k), x, np.eye(k)[rng.integers(0, k, n)]
