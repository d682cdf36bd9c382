"""Gradients of the measured examples as a careful person writes them: NumPy, nothing computed twice."""

import numpy as np


def energy_grad(x, w, b, n):
    """Gradient of examples/layer/model.py with respect to x (m, k), w (k,) and b (m, 1)."""
    h = x
    recorded = []
    for _ in range(n):
        recorded.append(h)
        h = np.tanh(h * w + b)
    h_bar = 2.0 * h
    w_bar = np.zeros_like(w)
    b_bar = np.zeros_like(b)
    while recorded:
        t_bar = h_bar * (1.0 - h * h)
        h = recorded.pop()
        h_bar = t_bar * w
        w_bar += np.sum(t_bar * h, axis=0)
        b_bar += np.sum(t_bar, axis=1, keepdims=True)
    return h_bar, w_bar, b_bar


def log_likelihood_grad(logits, means, log_scales, points):
    """Gradient of examples/mixture/model.py with respect to logits, means and log_scales.

    The derivative of log-sum-exp is softmax: the responsibilities of the components for the points.
    """
    inverse_scales = np.exp(-log_scales)
    distances = (points[:, None, :] - means) * inverse_scales
    squares = distances**2
    scores = (logits - np.sum(log_scales, axis=1)) - 0.5 * np.sum(squares, axis=2)
    responsibilities = _softmax(scores)
    totals = np.sum(responsibilities, axis=0)
    weighted = responsibilities[:, :, None]
    logits_bar = totals - len(points) * _softmax(logits)
    means_bar = np.sum(weighted * distances, axis=0) * inverse_scales
    log_scales_bar = np.sum(weighted * squares, axis=0) - totals[:, None]
    return logits_bar, means_bar, log_scales_bar


def _softmax(a):
    shifted = np.exp(a - np.max(a, axis=-1)[..., None])
    return shifted / np.sum(shifted, axis=-1)[..., None]


def orbit_sum_grad(x, r, n):
    """Gradient of examples/logistic_map/model.py with respect to x and r."""
    recorded = []
    for _ in range(n):
        recorded.append(x)
        x = r * x * (1.0 - x)
    x_bar = 0.0
    r_bar = 0.0
    while recorded:
        x = recorded.pop()
        x_bar += 1.0
        r_bar += x_bar * x * (1.0 - x)
        x_bar *= r * (1.0 - 2.0 * x)
    return x_bar, r_bar
