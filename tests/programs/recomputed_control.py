"""Programs with checkpointed loops: ways out, headers, loops in loops. `LOOP(...)` is the marker, or nothing."""

from __future__ import annotations

from tests.programs.recomputed import MATRIX, ROWS, X

PROGRAMS = {
    "breaks": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = h * 1.5
        if np.sum(h * h) > 20.0:
            break
        h = np.sin(h) + h
    return np.sum(h * h) * t
""",
        (X, 9),
    ),
    "continues": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        if t % 2 == 0:
            continue
        h = np.sin(h) + h
    return np.sum(h * h)
""",
        (X, 9),
    ),
    "breaks_out_of_a_while": (
        """
def f(x):
    h = x
    k = 0
    while LOOP(True, slots=2):
        h = np.sin(h) + h
        k += 1
        if k > 6:
            break
    else:
        h = h * 2.0
    return np.sum(h * h)
""",
        (X,),
    ),
    "has_an_else": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) + h
        if np.sum(h) > 100.0:
            break
    else:
        h = h * 2.0
    return np.sum(h * h)
""",
        (X, 5),
    ),
    "makes_no_trip": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        h = np.sin(h) + h
    return np.sum(h * h)
""",
        (X, 0),
    ),
    "counts_down": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n, 1, -2), slots=2):
        h = np.sin(h) * t + h
    return np.sum(h * h)
""",
        (X, 9),
    ),
    "is_reversed": (
        """
def f(x, n):
    h = x
    for t in LOOP(reversed(range(n)), slots=2):
        h = np.sin(h) * t + h
    return np.sum(h * h)
""",
        (X, 5),
    ),
    "has_a_loop_inside": (
        """
def f(x, w, n, m):
    h = x
    for t in LOOP(range(n), slots=2):
        c = h
        for k in LOOP(range(m), slots=2):
            c = np.tanh(w @ c) + h * k
        h = c * 0.5
    return np.sum(h * h)
""",
        (X, MATRIX, 4, 5),
    ),
    "stands_in_a_loop": (
        """
def f(x, w, n, m):
    h = x
    s = 0.0
    for e in range(n):
        h = h * h
        for k in LOOP(range(m), slots=2):
            h = np.tanh(w @ h) + h * k
        s = s + np.sum(h * h * h)
    return s + np.sum(h * h)
""",
        (X, MATRIX, 3, 5),
    ),
    "starts_anew_in_a_loop": (
        """
def f(x, A, n, m):
    s = 0.0
    for e in range(n):
        h = A[e]
        for k in LOOP(range(m)):
            g = h * x
            h = np.tanh(g) + h * k
        s = s + np.sum(h * h * g)
    return s
""",
        (X, ROWS, 3, 5),
    ),
    "stands_in_a_branch": (
        """
def f(x, w, n):
    h = x
    j = 0
    while j < n:
        if j % 2 == 0:
            k = 0
            while LOOP(k < j + 1, slots=1):
                h = np.tanh(w @ h) + h * k
                k = k + 1
        else:
            h = h * h
        j = j + 1
    return np.sum(h * h)
""",
        (X, MATRIX, 4),
    ),
    "stands_in_an_if": (
        """
def f(x, n):
    h = x
    if n > 2:
        for t in LOOP(range(n), slots=2):
            h = np.sin(h) * h
    else:
        h = h * h
    return np.sum(h)
""",
        (X, 4),
    ),
    "breaks_inside": (
        """
def f(x, n):
    h = x
    for t in LOOP(range(n), slots=2):
        for k in range(5):
            h = h * 1.1
            if np.sum(h * h) > 30.0:
                break
        else:
            h = np.sin(h)
        if t == 3:
            continue
        h = h + 0.1
    return np.sum(h)
""",
        (X, 6),
    ),
    "converges": (
        """
def f(x, tol):
    h = x
    while LOOP(np.sum(h * h) > tol, slots=3):
        h = h * 0.7 + 0.01 * np.sin(h)
    return np.sum(h)
""",
        (X, 0.05),
    ),
    "takes_slots": (
        """
def f(x, n, s):
    h = x
    for t in LOOP(range(n), slots=s):
        h = np.sin(h) * h
    return np.sum(h)
""",
        (X, 9, 3),
    ),
    "carries_a_constant": (
        """
def f(x, n):
    k = 1.0
    for t in LOOP(range(n), slots=2):
        k = k * 2.0
    return np.sum(x * k)
""",
        (X, 3),
    ),
    "carries_nothing": (
        """
def f(x, n):
    for t in LOOP(range(n), slots=2):
        y = x * t
    return np.sum(x * y)
""",
        (X, 3),
    ),
}
