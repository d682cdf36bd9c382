"""Programs with checkpointed loops: what is carried. `LOOP(...)` is the marker, or nothing."""

from __future__ import annotations

from tests.programs.recomputed import ROWS, X

PROGRAMS = {
    "starts_from_an_integer": (
        """
def f(x, n):
    s = 0
    for t in LOOP(range(n), slots=2):
        s = s + np.sum(x) * t
    return s * s
""",
        (X, 4),
    ),
    "starts_from_none": (
        """
def f(x, n):
    prev = None
    for t in LOOP(range(n), slots=2):
        y = np.sin(x)
        if prev is not None:
            y = y + prev
        prev = x
        x = y
    return np.sum(x)
""",
        (X, 5),
    ),
    "carries_a_word": (
        """
def f(x, n):
    mode = "a"
    for t in LOOP(range(n), slots=2):
        if mode == "a":
            x = np.sin(x)
            mode = "b"
        else:
            x = x * x
            mode = "a"
    return np.sum(x)
""",
        (X, 5),
    ),
    "carries_a_boolean": (
        """
def f(x, n):
    seen = False
    for t in LOOP(range(n), slots=2):
        if seen:
            x = x * 2.0
        seen = not seen
        x = np.sin(x)
    return np.sum(x)
""",
        (X, 5),
    ),
    "carries_places": (
        """
def f(x, n):
    idx = np.arange(4)
    for t in LOOP(range(n), slots=2):
        x = np.sin(x)[idx] * x
        idx = np.roll(idx, 1)
    return np.sum(x * idx)
""",
        (X, 5),
    ),
    "carries_names_like_ours": (
        """
def f(x, n):
    h_bar = x
    h = x * 2.0
    states_ = 1.0
    for states in LOOP(range(n), slots=2):
        h, h_bar = np.sin(h_bar), h * states_
    return np.sum(h * h_bar)
""",
        (X, 5),
    ),
    "adds_to_all_and_parts": (
        """
def f(x, n):
    u = np.zeros_like(x)
    for t in LOOP(range(n), slots=3):
        u += x
        u[0] -= 0.5 * u[1]
        u *= 1.1
    return np.sum(u * u)
""",
        (X, 6),
    ),
    "writes_columns": (
        """
def f(A, n):
    U = A.copy()
    for t in LOOP(range(1, n), slots=2):
        U[:, t % 4] = U[:, t % 4 - 1] * 0.5 + U[:, t % 4]
    return np.sum(U * U)
""",
        (ROWS, 6),
    ),
    "ends_by_itself": (
        """
def f(x):
    k = 0
    while LOOP(True):
        x = np.sin(x)
        k += 1
        if k == 17: break
    return np.sum(x)
""",
        (X,),
    ),
    "chooses": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) if t % 2 else h * x
    return np.sum(h)
""",
        (X, 4),
    ),
    "may_raise": (
        """
def f(x, n):
    for t in LOOP(range(n), slots=2):
        if t > 100:
            raise ValueError("no")
        x = np.sin(x)
    return np.sum(x)
""",
        (X, 5),
    ),
    "follows_a_return": (
        """
def f(x, n):
    if n < 2:
        return np.sum(x)
    for t in LOOP(range(n), slots=2):
        x = np.sin(x)
    return np.sum(x)
""",
        (X, 5),
    ),
    "calls_what_is_named_time": (
        """
def g(time, random):
    return time * random
def f(x, n):
    for t in LOOP(range(n), slots=2):
        x = np.sin(g(x, 2.0))
    return np.sum(x)
""",
        (X, 6),
    ),
}
