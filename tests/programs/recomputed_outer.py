"""Programs with checkpointed loops: what happens around the loop. `LOOP(...)` is the marker, or nothing."""

from __future__ import annotations

from tests.programs.recomputed import MATRIX, X

PROGRAMS = {
    "a_constant_changes_around_it": (
        """
def f(x, w, n):
    h = x
    for e in range(3):
        w = w * 0.9
        for t in LOOP(range(n), slots=2):
            h = np.tanh(w @ h) * t
        h = h + x
    return np.sum(h * h)
""",
        (X, MATRIX, 4),
    ),
    "a_constant_is_written_around_it": (
        """
def f(x, w, n):
    h = x
    c = np.zeros(4)
    for e in range(3):
        c[e] = h[e]
        for t in LOOP(range(n), slots=2):
            h = np.tanh(w @ h) + c
        c[1] = c[0] * h[2]
    return np.sum(h * c)
""",
        (X, MATRIX, 4),
    ),
    "a_constant_is_written_behind_it": (
        """
def f(x, n):
    h = x
    c = x.copy()
    for t in LOOP(range(n), slots=2):
        h = np.tanh(h) * c
    c[0] = 5.0
    return np.sum(h * c)
""",
        (X, 4),
    ),
    "the_state_is_written_before_it": (
        """
def f(x, n):
    h = np.zeros(4)
    h[1:] = x[1:] * x[:-1]
    h[0] = x[2] * h[1]
    for t in LOOP(range(n), slots=2):
        h = np.tanh(h) + x
    return np.sum(h * h)
""",
        (X, 4),
    ),
    "the_state_is_written_behind_it": (
        """
def f(x, n):
    h = x.copy()
    for t in LOOP(range(n), slots=2):
        h = np.tanh(h) * x
    h[0] = 5.0 * h[1]
    h[1] = h[1] * h[2]
    return np.sum(h * h)
""",
        (X, 4),
    ),
    "the_state_is_written_on_both_sides": (
        """
def f(x, n):
    u = np.zeros(6)
    u[0] = x[0]
    u[5] = x[1]
    for t in LOOP(range(n), slots=2):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * x[2]
    u[2] = u[3] * u[2]
    return np.sum(u * u)
""",
        (X, 5),
    ),
    "the_state_is_written_around_it": (
        """
def f(x, n):
    u = np.zeros(6)
    s = 0.0
    for e in range(3):
        u[0] = x[0] * u[1] + e
        u[5] = x[1]
        for t in LOOP(range(n), slots=2):
            u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * x[2]
        u[2] = u[3] * u[2]
        s = s + u[1] * u[2]
    return np.sum(u * u) + s
""",
        (X, 5),
    ),
    "a_function_returns_two": (
        """
def g(x, n):
    h = x
    c = 0.0
    for t in LOOP(range(n), slots=2):
        h = np.sin(h)
        c = c + np.sum(h)
    return h, c
def f(x, n):
    h, c = g(x, n)
    return np.sum(h) * c
""",
        (X, 4),
    ),
    "three_in_each_other": (
        """
def f(x, n):
    for a in LOOP(range(n), slots=2):
        for b in LOOP(range(n)):
            for c in LOOP(range(n), slots=1):
                x = np.sin(x) + a * b * c
    return np.sum(x)
""",
        (X, 3),
    ),
    "a_while_that_breaks_inside": (
        """
def f(x, n):
    for a in LOOP(range(n), slots=2):
        k = 0
        while LOOP(k < 10, slots=2):
            x = np.sin(x) * 1.2
            k += 1
            if np.sum(x) > 3.0:
                break
        x = x + k
    return np.sum(x)
""",
        (X, 3),
    ),
}
