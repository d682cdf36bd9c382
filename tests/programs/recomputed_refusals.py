"""Checkpointed loops that are refused, with the code of the refusal."""

from __future__ import annotations

from tests.programs.recomputed import ROWS, X

REFUSED = {
    "a_second_name": (
        """
def f(x, n):
    u = x.copy()
    v = u
    for t in LOOP(range(n), slots=2):
        u[1:-1] = u[1:-1] * u[2:]
    return np.sum(v * v)
""",
        (X, 4),
        "E5010",
    ),
    "a_view": (
        """
def f(x, n):
    u = x.copy()
    v = u[1:]
    for t in LOOP(range(n), slots=2):
        u[1:-1] = u[1:-1] * u[2:]
    return np.sum(v * v)
""",
        (X, 4),
        "E5010",
    ),
    "a_second_name_of_a_sum": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h += np.sin(h)
    return np.sum(h * x)
""",
        (X, 4),
        "E5010",
    ),
    "a_list": (
        """
def f(x, n):
    h = x
    out = []
    for t in LOOP(range(n), slots=2):
        h = np.sin(h)
        out.append(h)
    return np.sum(out[0] * out[2])
""",
        (X, 4),
        "E5025",
    ),
    "a_return": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) + h
        if t > 3:
            return np.sum(h)
    return np.sum(h * h)
""",
        (X, 9),
        "E5025",
    ),
    "a_dict": (
        """
def f(x, n):
    d = {"a": x, "b": x * 2.0}
    for t in LOOP(range(n), slots=2):
        d["a"] = np.sin(d["a"]) * d["b"]
    return np.sum(d["a"])
""",
        (X, 4),
        "E5025",
    ),
    "an_unbound_name": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        if t == 0:
            a = h * 2.0
        else:
            a = a * h
        h = np.sin(a)
    return np.sum(h)
""",
        (X, 4),
        "E5025",
    ),
    "a_kept_name": (
        """
def f(x, n):
    u = x.copy()
    prev = x * 0.0
    for t in LOOP(range(n), slots=2):
        prev = u
        u[0] = u[0] * u[1]
    return np.sum(u * prev)
""",
        (X, 3),
        "E5010",
    ),
    "a_nonlocal": (
        """
def f(x, n):
    h = x
    def g():
        nonlocal h
        h = np.sin(h)
    for t in LOOP(range(n), slots=2):
        g()
    return np.sum(h)
""",
        (X, 5),
        "E5025",
    ),
    "a_walrus_in_the_test": (
        """
def f(x):
    h = x
    while LOOP((m := np.sum(h * h)) > 0.1, slots=2):
        h = h * 0.5 * m
    return np.sum(h)
""",
        (0.5 * X,),
        "E5025",
    ),
    "random_numbers": (
        """
def f(x, n):
    for t in LOOP(range(n), slots=1):
        x = np.sin(x) * np.random.normal(size=4)
    return np.sum(x)
""",
        (X, 6),
        "E5025",
    ),
    "a_generator": (
        """
rng = np.random.default_rng(0)
def f(x, n):
    for t in LOOP(range(n), slots=1):
        mask = rng.random(4) > 0.5
        x = np.sin(x) * mask
    return np.sum(x)
""",
        (X, 6),
        "E5025",
    ),
    "a_function_that_draws": (
        """
def drop(h):
    return h * (np.random.rand(4) > 0.5)
def f(x, n):
    for t in LOOP(range(n), slots=1):
        x = drop(np.sin(x))
    return np.sum(x)
""",
        (X, 6),
        "E5025",
    ),
    "a_checkpointed_function_that_draws": (
        """
@srcgrad.checkpoint
def drop(h):
    return h * (np.random.rand(4) > 0.5)
def f(x, n):
    x = drop(np.sin(x))
    return np.sum(x)
""",
        (X, 6),
        "E5025",
    ),
    "the_clock": (
        """
import time
def f(x, n):
    for t in LOOP(range(n), slots=2):
        x = np.sin(x) * time.time()
    return np.sum(x)
""",
        (X, 6),
        "E5025",
    ),
    "what_a_function_gives_back": (
        """
def prep(x):
    return x
def f(x, n):
    u = prep(x)
    for t in LOOP(range(n), slots=3):
        u[1:] = u[1:] * u[:-1]
    return np.sum(u * x)
""",
        (X, 6),
        "E5010",
    ),
    "an_array_in_a_tuple": (
        """
def f(x, n):
    u = x.copy()
    p = (u, x)
    for t in LOOP(range(n), slots=3):
        u[1:] = u[1:] * u[:-1]
    return np.sum(u * p[0])
""",
        (X, 6),
        "E5010",
    ),
    "a_transpose": (
        """
def f(A, n):
    u = A.copy()
    v = u.T
    for t in LOOP(range(n), slots=3):
        u[1:] = u[1:] * u[:-1]
    return np.sum(v * v)
""",
        (ROWS, 3),
        "E5010",
    ),
    "a_view_that_is_carried": (
        """
def f(x, n):
    u = x.copy()
    v = x
    for t in LOOP(range(n), slots=3):
        v = u[1:]
        u[1:] = u[1:] * u[:-1]
    return np.sum(v * v) + np.sum(u)
""",
        (X, 3),
        "E5010",
    ),
    "a_state_that_may_be_the_argument": (
        """
def f(x, n):
    h = x.copy()
    for t in LOOP(range(n), slots=2):
        if t == 0:
            h = np.tanh(h) * x
    h[0] = 5.0 * h[1] * h[0]
    h[1] = h[1] * h[2]
    return np.sum(h * h)
""",
        (X, 4),
        "E5010",
    ),
    "a_state_that_may_be_a_constant": (
        """
def f(x, n):
    c = x.copy()
    h = x * 2.0
    for t in LOOP(range(n), slots=2):
        h = h * c
        if t == 2:
            h = c
    c[0] = 3.0 * c[1]
    return np.sum(h * c)
""",
        (X, 4),
        "E5010",
    ),
    "a_name_that_a_trip_skips": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h)
        if t == n - 1:
            continue
        y = h * 2.0
    return np.sum(h * y)
""",
        (X, 4),
        "E5025",
    ),
    "a_row_of_what_changes": (
        """
def f(x, n):
    m = np.outer(x, x)
    a = x
    for _, row in enumerate(m):
        a = np.tanh(a + row)
        for t in LOOP(range(n), slots=2):
            m[1] = a
    return np.sum(a)
""",
        (X, 4),
        "E5010",
    ),
}
