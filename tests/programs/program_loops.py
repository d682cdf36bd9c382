"""Programs of the corpus with loops."""

from __future__ import annotations

import numpy as np


def loop_carried_value(x, r, n):
    """The logistic map, of which every state counts."""
    s = 0.0
    for _ in range(n):
        x = r * x * (1.0 - x)
        s = s + x
    return s


def last_value_of_a_loop(x, w, n):
    """Only the last state counts."""
    h = x
    for _ in range(n):
        h = np.tanh(h * w + 0.1)
    return np.sum(h * h)


def trip_value_used_after(x):
    """A value of the last trip, and the counter, are read after the loop."""
    t = x
    for i in range(1, 4):
        t = np.sin(x * i) + t
        u = t * t
    return np.sum(u * x) * i


def ranges(x):
    """Steps, negative steps, reversed."""
    s = 1.0
    for i in range(0, 6, 2):
        s = s * np.sin(x[i % 3] + i)
    for i in range(2, -1, -1):
        s = s + x[i] * s
    for i in reversed(range(3)):
        s = s * x[i] + x[i]
    return s


def broadcast_products(w, h, b):
    """Products that are broadcast with b before anything else happens to them: once in a loop, once after it."""
    y = 0.0
    for _ in range(2):
        y = y + np.tanh(w @ h + b)
        w = w * 1.1
    return y + np.exp(0.1 * b + np.dot(w, h))


def triangular_loops(x, n):
    """The bound of the inner loop is the outer counter; the first has no trips."""
    t = 0.0
    for i in range(n):
        s = x
        for j in range(i):
            s = s * np.sin(s + j)
        t = t + np.sum(s)
    return t


def branch_in_loop(x):
    """A recurrence that takes another branch in each trip."""
    s = x[0]
    for i in range(1, x.shape[0]):
        if s > 0.0:
            s = s * x[i]
        elif x[i] > 1.0:
            s = s + x[i] ** 2
        else:
            s = np.sin(s)
    return s


def loop_over_rows(a, v):
    """An array is walked by its first axis."""
    s = 0.0
    for row in a:
        s += np.sum(row * v) ** 2
    return s


def loop_over_elements(x):
    """Numbers of a vector, two loops deep."""
    s = 0.0
    for a in x:
        for b in x:
            s = s + a * np.sin(b + s)
    return s


def rebound_parameter_in_loop(a, x):
    """A parameter is carried, through a matrix that is bound anew too."""
    for _ in range(3):
        x = np.tanh(a @ x)
        a = a * 0.9 + x[:, None] * 0.1
    return np.sum(x)


def swap_in_loop(x, y):
    """Two carried values trade places."""
    for _ in range(4):
        x, y = y, 0.5 * x * y + x
    return np.sum(y)


def while_on_data(a, x):
    """The data decides how many trips there are."""
    while np.tanh(x) > 0.1:
        x = x * (x + a)
    return x * x


def while_in_while(x):
    """Trips of an inner loop differ from trip to trip."""
    y = x
    n = 0
    while np.sum(y * y) < 10.0 and n < 20:
        y = y * 1.5 + x
        n = n + 1
        k = 0
        while k < n % 3:
            y = np.sin(y) + y
            k += 1
    return np.sum(y)


def newton_square_root(a):
    """Iterates to a tolerance."""
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def recurrent_network(w, u, xs, h):
    """Backpropagation through time."""
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum(h**2)


def four_levels(x):
    """Loops and branches, one inside the other."""
    s = x[0]
    for i in range(2):
        k = 0
        while k < 2:
            if s > 0.2:
                for j in range(i + 1):
                    s = s * x[j] + np.cos(s) * x[k]
            else:
                s = s + x[i]
            k += 1
    return s
