"""A network of three layers in float32: mean cross-entropy over a batch."""

from itertools import pairwise

import numpy as np


def network(w1, b1, w2, b2, w3, b3, x, y):
    """`y` has a one in each row, at the class."""
    h1 = np.maximum(np.matmul(x, w1) + b1, 0.0)
    h2 = np.maximum(np.matmul(h1, w2) + b2, 0.0)
    z = np.matmul(h2, w3) + b3
    top = np.max(z, axis=1, keepdims=True)
    logs = np.log(np.sum(np.exp(z - top), axis=1, keepdims=True)) + top
    return np.mean(np.sum(y * (logs - z), axis=1))


def network_hand(w1, b1, w2, b2, w3, b3, x, y):
    """A layer's adjoint is masked where it was cut off."""
    h1 = np.maximum(np.matmul(x, w1) + b1, 0.0)
    h2 = np.maximum(np.matmul(h1, w2) + b2, 0.0)
    z = np.matmul(h2, w3) + b3
    top = np.max(z, axis=1, keepdims=True)
    e = np.exp(z - top)
    s = np.sum(e, axis=1, keepdims=True)
    logs = np.log(s) + top
    value = np.mean(np.sum(y * (logs - z), axis=1))

    z_bar = (e * (np.sum(y, axis=1, keepdims=True) / s) - y) / np.float32(len(x))
    w3_bar = np.matmul(h2.T, z_bar)
    h2_bar = np.matmul(z_bar, w3.T) * (h2 > 0.0)
    w2_bar = np.matmul(h1.T, h2_bar)
    h1_bar = np.matmul(h2_bar, w2.T) * (h1 > 0.0)
    w1_bar = np.matmul(x.T, h1_bar)
    b1_bar, b2_bar, b3_bar = (np.sum(a, axis=0) for a in (h1_bar, h2_bar, z_bar))
    return value, (w1_bar, b1_bar, w2_bar, b2_bar, w3_bar, b3_bar)


def arguments(n, *sizes):
    """Weights as one begins with, a batch of images and their classes."""
    rng = np.random.default_rng(0)
    weights = []
    for rows, columns in pairwise(sizes):
        weights.append((rng.standard_normal((rows, columns)) * (2.0 / rows) ** 0.5).astype(np.float32))
        weights.append((0.1 * rng.standard_normal(columns)).astype(np.float32))
    x = rng.random((n, sizes[0])).astype(np.float32)
    return *weights, x, np.eye(sizes[-1], dtype=np.float32)[rng.integers(0, sizes[-1], n)]
