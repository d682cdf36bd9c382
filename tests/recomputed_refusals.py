"""Checkpointed loops that are refused, with the code of the refusal."""

from __future__ import annotations

from tests.recomputed import X

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
}
