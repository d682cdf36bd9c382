"""Programs with checkpointed loops: rows, closures, names like ours. `LOOP(...)` is the marker, or nothing."""

from __future__ import annotations

from tests.programs.recomputed import MATRIX, ROWS, WEIGHTS, X

PROGRAMS = {
    "walks_rows": (
        """
def f(x, A):
    h = x
    for row in LOOP(A, slots=2):
        h = np.sin(h) * row + h
    return np.sum(h * h)
""",
        (X, ROWS),
    ),
    "walks_computed_rows": (
        """
def f(x, A):
    h = x
    for row in LOOP(A * 2.0, slots=2):
        h = np.sin(h) * row + h
    return np.sum(h * h)
""",
        (X, ROWS),
    ),
    "enumerates": (
        """
def f(x, A):
    h = x
    for k, row in LOOP(enumerate(A), slots=2):
        h = np.sin(h) * row * k + h
    return np.sum(h * h) + k
""",
        (X, ROWS),
    ),
    "walks_two_arrays": (
        """
def f(x, A, b):
    h = x
    for row, c in LOOP(zip(A, b), slots=3):
        h = np.sin(h) * row * c + h
    return np.sum(h * h) * c
""",
        (X, ROWS, WEIGHTS),
    ),
    "reads_by_index": (
        """
def f(x, A, b, n):
    h = x
    s = 0.0
    for t in LOOP(range(1, n), slots=3):
        h = np.sin(h) * A[t] + h * b[t - 1]
        s = s + b[t] * np.sum(h)
    return np.sum(h * h) + s
""",
        (X, ROWS, WEIGHTS, 7),
    ),
    "carries_two": (
        """
def f(x, n):
    a, b = x, x * 2.0
    for _ in LOOP(range(n), slots=2):
        a, b = np.sin(b), a * b
    return np.sum(a * b)
""",
        (X, 5),
    ),
    "carries_a_tuple": (
        """
def f(x, n):
    s = (x, x * 2.0)
    for _ in LOOP(range(n), slots=2):
        s = (np.sin(s[1]), s[0] * s[1])
    return np.sum(s[0] * s[1])
""",
        (X, 5),
    ),
    "carries_flags": (
        """
def f(x, n):
    a = 1.0
    b = 0
    flag = False
    for t in LOOP(range(n), slots=2):
        if b > 2:
            flag = True
        if flag:
            a = a * x
        else:
            a = a + x
        b += 1
    return a * b
""",
        (0.7, 6),
    ),
    "calls_a_closure": (
        """
def f(x, n):
    c = x * x
    def g(a):
        return a * c
    for t in LOOP(range(n), slots=2):
        x = np.sin(g(x))
    return np.sum(x)
""",
        (X, 5),
    ),
    "calls_a_lambda": (
        """
def f(x, n):
    g = lambda a: a * x
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(g(h))
    return np.sum(h)
""",
        (X, 5),
    ),
    "stands_in_a_function": (
        """
def helper(h, w):
    for t in LOOP(range(4), slots=2):
        h = np.tanh(w @ h)
    return h
def f(x, w):
    a = helper(x, w)
    b = helper(a, w)
    return np.sum(a * b)
""",
        (X, MATRIX),
    ),
    "meets_its_names": (
        """
def f(d, np_, states, f_step, n):
    h = d
    for x_bar in LOOP(range(n), slots=2):
        h = np.sin(h) * states + f_step * np_ * x_bar
    return np.sum(h)
""",
        (X, 2.0, X, X, 4),
    ),
    "stands_in_a_context": (
        """
def f(x, n):
    h = x
    with np.errstate(all="ignore"):
        for t in LOOP(range(n), slots=2):
            h = np.sin(h) * h
    return np.sum(h)
""",
        (X, 4),
    ),
    "holds_comprehensions": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * sum([k * 0.1 for k in range(t)]) + np.sum([h * k for k in range(3)])
    return np.sum(h)
""",
        (X, 4),
    ),
    "reads_a_global": (
        """
K = 3.0
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) * K
    return np.sum(h)
""",
        (X, 3),
    ),
    "asserts": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        assert t >= 0
        h = np.sin(h)
    return np.sum(h)
""",
        (X, 3),
    ),
}
