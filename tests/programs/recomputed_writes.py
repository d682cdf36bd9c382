"""Programs with checkpointed loops: arrays that change, names left behind. `LOOP(...)` is the marker, or nothing."""

from __future__ import annotations

import numpy as np

from tests.programs.recomputed import ROWS, X

PROGRAMS = {
    "writes_into_its_state": (
        """
def f(x, n):
    u = x.copy()
    for t in LOOP(range(n), slots=2):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return np.sum(u * u)
""",
        (X, 6),
    ),
    "writes_into_an_argument": (
        """
def f(x, n):
    for t in LOOP(range(n), slots=2):
        x[1:-1] = x[1:-1] * x[2:]
    return np.sum(x * x)
""",
        (X, 4),
    ),
    "writes_through_a_view": (
        """
def f(x, n):
    u = x.copy()
    for t in LOOP(range(n), slots=2):
        v = u[1:]
        v[:] = v * 0.5
    return np.sum(u * u)
""",
        (X, 4),
    ),
    "adds_to_an_array": (
        """
def f(x, n):
    h = x * 1.0
    for t in LOOP(range(n), slots=2):
        h += np.sin(h)
    return np.sum(h * h)
""",
        (X, 4),
    ),
    "calls_a_procedure": (
        """
def update(u, t):
    u[1:] = u[1:] * u[:-1] + t
def f(x, n):
    u = x.copy()
    for t in LOOP(range(n), slots=2):
        update(u, t)
    return np.sum(u * u)
""",
        (X, 4),
    ),
    "fills_an_array": (
        """
def f(x, n):
    h = x
    out = np.zeros((n, 4))
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * h
        out[t] = h
    return np.sum(out * out)
""",
        (X, 4),
    ),
    "swaps_buffers": (
        """
def f(x, n):
    a = x * 1.0
    b = np.zeros(4)
    for t in LOOP(range(n), slots=2):
        b[1:] = a[1:] * a[:-1] + b[:-1]
        b[0] = a[0]
        a, b = b, a
    return np.sum(a * b)
""",
        (X, 5),
    ),
    "fills_and_reads": (
        """
def f(x, n):
    b = np.zeros(4)
    h = x
    for t in LOOP(range(n), slots=2):
        b.fill(0.5)
        b[0] = h[1]
        h = h * b + 0.1
    return np.sum(h * b)
""",
        (X, 5),
    ),
    "copies_into": (
        """
def f(x, n):
    b = np.zeros(4)
    h = x
    for t in LOOP(range(n), slots=2):
        np.copyto(b, h * h)
        h = h * b + 0.1
    return np.sum(h * b)
""",
        (X, 5),
    ),
    "computes_into": (
        """
def f(x, n):
    b = np.zeros(4)
    h = x
    for t in LOOP(range(n), slots=2):
        np.multiply(h, h, out=b)
        h = h * b + 0.1
    return np.sum(h * b)
""",
        (X, 5),
    ),
    "writes_beside_an_argument": (
        """
def f(x, y, n):
    for t in LOOP(range(n), slots=2):
        x[0] = x[0] * y[0]
    return np.sum(x * y)
""",
        (X, ROWS[0], 3),
    ),
    "leaves_a_name": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        g = np.sin(h)
        h = g * h
    return np.sum(g * h) + t
""",
        (X, 5),
    ),
    "binds_a_name_anew": (
        """
def f(x, n):
    h = x
    y = x * 2.0
    z = y * y
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * z
        y = h * 3.0
    return np.sum(y * z * h)
""",
        (X, 5),
    ),
    "binds_its_counter": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        t = t + 1
        h = np.sin(h) * t
    return np.sum(h) * t
""",
        (X, 5),
    ),
    "comes_twice": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        a = np.sin(h)
        h = a * h
    for t in LOOP(range(n)):
        a = np.cos(h)
        h = a + h
    return np.sum(h)
""",
        (X, 4),
    ),
    "grows_from_a_float": (
        """
def f(x, n):
    h = 0.0
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * x + x
    return np.sum(h * h)
""",
        (X, 5),
    ),
    "is_of_float32": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * x
    return np.sum(h)
""",
        (X.astype(np.float32), 4),
    ),
    "is_of_rank_0": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * x
    return h
""",
        (np.array(0.3), 4),
    ),
    "is_of_size_0": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * x
    return np.sum(h)
""",
        (np.zeros(0), 4),
    ),
}
