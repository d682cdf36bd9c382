"""Where a beam of stiffness `k` comes to rest under loads: the rule knows what the iteration does not.

The balance k * x + x**3 = load holds at the end, whatever the steps were, so that dx / dload = 1 / (k + 3 x**2).
"""

import numpy as np

from srcgrad import register_jvp, register_vjp


def rest(load, k):
    x = load / k
    while np.max(np.abs(k * x + x**3 - load)) > 1e-11:
        x = x - (k * x + x**3 - load) / (k + 3.0 * x**2)
    return x


@register_vjp(rest)
def rest_vjp(primals, cotangent, output):
    _, k = primals
    load_bar = cotangent / (k + 3.0 * output**2)
    return load_bar, -load_bar * output


@register_jvp(rest)
def rest_jvp(primals, tangents, output):
    _, k = primals
    load_dot, k_dot = tangents
    return (load_dot - k_dot * output) / (k + 3.0 * output**2)


def sag(loads, k):
    return np.sum(rest(loads, k) ** 2)
