"""Gradients as a careful person writes them for Numba: explicit loops, tapes made before them."""

from __future__ import annotations

from math import erf
from typing import Any  # compiled functions take numbers and arrays

import numpy as np
from numba import njit, prange

from benchmarks.workloads.scalars import rates, rates_back


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def newton(a: float) -> Any:
    """Keeps what each trip began with."""
    kept = []
    x = a
    while abs(x * x - a) > 1e-12 * a:
        kept.append(x)
        x = 0.5 * (x + a / x)
    value, a_bar, x_bar = x, 0.0, 1.0
    for k in range(len(kept) - 1, -1, -1):
        x = kept[k]
        x_bar *= 0.5
        a_bar += x_bar / x
        x_bar -= x_bar * a / (x * x)
    return value, a_bar + x_bar


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def logistic(x: float, r: float, n: int) -> Any:
    """Keeps what each trip began with."""
    kept = np.empty(n)
    s = 0.0
    for k in range(n):
        kept[k] = x
        x = r * x * (1.0 - x)
        s += x
    x_bar = r_bar = 0.0
    for k in range(n - 1, -1, -1):
        x = kept[k]
        x_bar += 1.0
        r_bar += x_bar * x * (1.0 - x)
        x_bar *= r * (1.0 - 2.0 * x)
    return s, (x_bar, r_bar)


_rates = njit(error_model="numpy")(rates)
_back = njit(error_model="numpy")(rates_back)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def predators(x: float, y: float, a: float, b: float, g: float, d: float, n: int, h: float) -> Any:
    """Keeps where each of the four slopes of a step was taken."""
    kept = np.empty((n, 8))
    for k in range(n):
        k1x, k1y = _rates(x, y, a, b, g, d)
        x2, y2 = x + 0.5 * h * k1x, y + 0.5 * h * k1y
        k2x, k2y = _rates(x2, y2, a, b, g, d)
        x3, y3 = x + 0.5 * h * k2x, y + 0.5 * h * k2y
        k3x, k3y = _rates(x3, y3, a, b, g, d)
        x4, y4 = x + h * k3x, y + h * k3y
        k4x, k4y = _rates(x4, y4, a, b, g, d)
        t = kept[k]
        t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7] = x, y, x2, y2, x3, y3, x4, y4
        x = x + h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y = y + h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
    value = x + y
    x_bar = y_bar = 1.0
    a_bar = b_bar = g_bar = d_bar = 0.0
    for k in range(n - 1, -1, -1):
        t = kept[k]
        u, v = h / 6.0 * x_bar, h / 6.0 * y_bar
        p4, q4, a4, b4, g4, d4 = _back(t[6], t[7], a, b, g, d, u, v)
        p3, q3, a3, b3, g3, d3 = _back(t[4], t[5], a, b, g, d, 2.0 * u + h * p4, 2.0 * v + h * q4)
        p2, q2, a2, b2, g2, d2 = _back(t[2], t[3], a, b, g, d, 2.0 * u + 0.5 * h * p3, 2.0 * v + 0.5 * h * q3)
        p1, q1, a1, b1, g1, d1 = _back(t[0], t[1], a, b, g, d, u + 0.5 * h * p2, v + 0.5 * h * q2)
        x_bar += p1 + p2 + p3 + p4
        y_bar += q1 + q2 + q3 + q4
        a_bar += a1 + a2 + a3 + a4
        b_bar += b1 + b2 + b3 + b4
        g_bar += g1 + g2 + g3 + g4
        d_bar += d1 + d2 + d3 + d4
    return value, (x_bar, y_bar, a_bar, b_bar, g_bar, d_bar)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def heat(u0: Any, alpha: float, n: int) -> Any:
    """Keeps what a step adds; the three sweeps of a step backwards are one after the other."""
    rows, columns = u0.shape[0] - 2, u0.shape[1] - 2
    u = u0.copy()
    kept = np.empty((n, rows, columns))
    for k in range(n):
        around = kept[k]
        for i in range(rows):
            for j in range(columns):
                around[i, j] = u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - 4.0 * u[i + 1, j + 1]
        for i in range(rows):
            for j in range(columns):
                u[i + 1, j + 1] += alpha * around[i, j]
    value = np.sum(u * u)
    u_bar = 2.0 * u
    alpha_bar = 0.0
    around_bar = np.empty((rows, columns))
    for k in range(n - 1, -1, -1):
        around = kept[k]
        for i in range(rows):
            for j in range(columns):
                alpha_bar += u_bar[i + 1, j + 1] * around[i, j]
                around_bar[i, j] = alpha * u_bar[i + 1, j + 1]
        for i in range(rows):
            for j in range(columns):
                e = around_bar[i, j]
                u_bar[i + 1, j + 1] -= 4.0 * e
                u_bar[i + 1, j + 2] += e
                u_bar[i + 1, j] += e
                u_bar[i + 2, j + 1] += e
                u_bar[i, j + 1] += e
    return value, (u_bar, alpha_bar)


@njit(parallel=True, error_model="numpy")  # type: ignore[untyped-decorator]
def prices(spot: Any, sigma: Any, time: Any, rate: Any, strike: Any) -> Any:
    """Prices of options and five Greeks of each, in one loop on all cores."""
    n = len(spot)
    delta, vega, theta, rho, dual = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    value = 0.0
    for k in prange(n):
        root = np.sqrt(time[k])
        spread = sigma[k] * root
        d1 = (np.log(spot[k] / strike[k]) + (rate[k] + 0.5 * sigma[k] * sigma[k]) * time[k]) / spread
        inside = 0.5 * (1.0 + erf((d1 - spread) * 0.7071067811865476))
        delta[k] = 0.5 * (1.0 + erf(d1 * 0.7071067811865476))
        paid = np.exp(-rate[k] * time[k]) * inside
        owed = strike[k] * paid
        value += spot[k] * delta[k] - owed
        vega[k] = spot[k] * root * np.exp(-0.5 * d1 * d1) * 0.3989422804014327
        theta[k] = 0.5 * vega[k] * sigma[k] / time[k] + rate[k] * owed
        rho[k] = time[k] * owed
        dual[k] = -paid
    return value, (delta, vega, theta, rho, dual)
