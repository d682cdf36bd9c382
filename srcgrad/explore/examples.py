"""Functions to begin with, by their names in the explorer."""

from __future__ import annotations

EXAMPLES = {
    "A layer, applied n times": """\
import numpy as np


def energy(x, w, b, n):
    h = x
    for i in range(n):
        h = np.tanh(h * w + b)
    return np.sum(h * h)
""",
    "The heat equation": """\
import numpy as np


def misfit(start, conductivity, source, measured, dt, steps):
    u = start.copy()
    for step in range(steps):
        flux = conductivity[1:-1] * (u[1:] - u[:-1])
        heating = source * np.exp(-0.5 * step * dt)
        u[1:-1] += dt * (flux[1:] - flux[:-1])
        u += dt * heating
        u[0] = u[1]
        u[-1] = u[-2]
    return np.sum((u - measured) ** 2)
""",
    "A mixture of normal distributions": '''\
import numpy as np


def log_sum_exp(a):
    """log(sum(exp(a))) over the last axis, without overflow."""
    top = np.max(a, axis=-1)
    return top + np.log(np.sum(np.exp(a - top[..., None]), axis=-1))


def log_likelihood(logits, means, log_scales, points):
    n, d = points.shape
    distances = (points[:, None, :] - means) * np.exp(-log_scales)
    constants = logits - np.sum(log_scales, axis=1)
    scores = constants - 0.5 * np.sum(distances**2, axis=2)
    log_norm = 0.5 * d * np.log(2.0 * np.pi) + log_sum_exp(logits)
    return np.sum(log_sum_exp(scores)) - n * log_norm
''',
    "Newton's square root": """\
def newton_sqrt(a: float, tolerance=1e-12):
    x = a
    while abs(x * x - a) > tolerance * a:
        x = 0.5 * (x + a / x)
    return x
""",
    "Branches": """\
import numpy as np


def rate(temperature: float, a: float, b: float):
    if temperature > 300.0:
        k = a * np.exp(-b / temperature)
    elif temperature > 200.0:
        k = a * temperature**0.5
    else:
        k = 0.0
    return k * temperature
""",
    "An error": """\
import numpy as np


def alternating(x):
    odd = x.astype(int) & 1
    return np.sum(np.where(odd, x, -x))
""",
}
