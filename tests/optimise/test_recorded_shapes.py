"""What loops keep for its shape alone: not kept where the shape is one for all trips, and kept where it is not."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import templates
from srcgrad.core.rules import rules

A = np.array([0.4, -0.3, 0.8, 1.1])


def diffused(c, n):
    a = np.zeros(4)
    for _ in range(n):
        a[1:] += 0.5 * np.diff(a)
        a[0] += c
    return np.sum(a * a)


def shrunk(x, n):
    a = x.copy()
    for k in range(n):
        a[k + 1 :] += 0.5 * np.diff(a[k:])
    return np.sum(a * a)


def ragged(c, items):
    a = np.zeros(4)
    s = 0.0
    for item in items:
        e = np.diff(item)
        s = s + np.sum(c * (a[0] + e))
        a[0] += c
    return s


def swapped(x, w, n):
    a, b = x.copy(), w.copy()
    s = 0.0
    for _ in range(n):
        s = s + np.sum(x[0] * (1.0 + np.diff(a)))
        a, b = b, a
    return s


def grown(x, n):
    a = x.copy()
    s = 0.0
    for _ in range(n):
        s = s + np.sum(x[0] * (1.0 + np.diff(a)))
        a = np.append(a, x)
    return s


def masked(x, n):
    b, m = np.ones(4), np.array([True, True, True, False])
    s = 0.0
    for k in range(n):
        s = s + (np.sum(x[0] + b[m]) + np.sum(x[0] + np.compress(m, b))) * x[1]
        m[k] = not m[k]
    return s


def placed(x, n):
    b, at = np.ones(4), np.array([0, 1])
    s = 0.0
    for _ in range(n):
        b[at[0] :] *= 2.0
        s = s + np.sum(x[0] + b[at[0] :]) * x[1]
        at[0] += 1
    return s


def appended(x, n):
    items, s = [], 0.0
    for _ in range(n):
        items.append(x[2])
        s = s + np.sum(x[0] + np.cumsum(items)) * x[1]
    return s


def sometimes(x, n):
    a = np.zeros(3)
    for k in range(n):
        if k > 1:
            a += x[1] * (1.0 + np.diff(x))
        for _ in range(k):
            a[0] += np.sum(0.5 * np.diff(a))
    return np.sum(a * a)


PROGRAMS = [
    (diffused, (0.7, 4), 0, 0),
    (diffused, (0.7, 0), 0, 0),
    (shrunk, (A, 3), 0, None),
    (ragged, (0.7, [A, A[:2], A[:3]]), 0, None),
    (swapped, (A, A[:3], 3), 0, None),
    (grown, (A, 3), 0, None),
    (masked, (A, 3), 0, None),
    (placed, (A, 3), 0, None),
    (appended, (A, 3), 0, None),
    (sometimes, (A, 4), 0, None),
]


@pytest.mark.parametrize(("function", "args", "wrt", "records"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
def test_gradients(function, args, wrt, records) -> None:
    srcgrad.check_grads(function, args, 1, wrt=wrt)
    if records is not None:
        assert srcgrad.source(function, wrt=wrt).count(".append(") == records


MEASURES = {  # arguments of operations that look at one of them for its outline alone
    **dict.fromkeys(("count", "diagonal_index"), (np.ones((2, 3)),)),
    "full_like": (np.ones((2, 3)), 2.0),
    **dict.fromkeys(("shape", "ndim", "size", "zeros_like", "ones_like"), (np.ones((2, 3)),)),
    "sum_to": (np.ones((2, 3)), np.ones(3)),
    "fit_to": (np.ones(3), np.ones((2, 1))),
    "matmul_left": (np.ones((2, 4)), np.ones((2, 3)), np.arange(12.0).reshape(3, 4)),
    "dot_left": (np.ones((2, 4)), np.ones((2, 3)), np.arange(12.0).reshape(3, 4)),
    "matmul_right": (np.ones((2, 4)), np.arange(6.0).reshape(2, 3), np.ones((3, 4))),
    "dot_right": (np.ones((2, 4)), np.arange(6.0).reshape(2, 3), np.ones((3, 4))),
    "diff_transpose": (np.arange(3.0), np.ones(4)),
    "diag_transpose": (np.arange(4.0).reshape(2, 2), np.ones(2)),
    "repeat_transpose": (np.arange(3.0), np.ones(2), [1, 2]),
    "tile_transpose": (np.arange(4.0), np.ones(2), 2),
    "scatter": (np.arange(2.0), np.ones(4), slice(1, 3)),
}


templates.load()
OUTLINES = {rule.name: rule for rule in rules() if rule.outline and rule.op is not np.empty_like}


@pytest.mark.parametrize("name", OUTLINES)
def test_elements_do_not_matter(name: str) -> None:
    rule = OUTLINES[name]
    args = MEASURES[rule.op.__name__]
    place = (rule.parameters or ("a",)).index(rule.outline)
    emptied = [np.full_like(one, np.nan) if k == place else one for k, one in enumerate(args)]
    np.testing.assert_array_equal(rule.op(*emptied), rule.op(*args))
    assert np.all(np.isfinite(rule.op(*emptied)))


def filtered(x, gain, n):
    """A row of the array, or one number of it, is wider than what is written into it, or as wide."""
    mean = x.copy()
    for t in range(1, n):
        mean[t] = gain * mean[t - 1] - gain * gain
    return np.sum(mean**3)


def interior(u, c):
    now = u.copy()
    now[1:-1] = 2.0 * u[1:-1] + c * c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(now * now)


def rebound(x, w):
    z, y = np.zeros(len(x)), x
    for i in range(1, len(x)):
        z[i] = y[i] * w + y[i - 1] * w
        y = y * z[i]
    return np.sum(z * z)


WRITTEN = [
    (filtered, (A, 0.3, 4)),
    (filtered, (np.stack([A, 2.0 - A], axis=1), 0.3, 4)),
    (filtered, (np.stack([A, 2.0 - A], axis=1), np.array([0.3, 0.2]), 4)),
    (interior, (A, 0.4)),
    (interior, (np.stack([A, 2.0 - A], axis=1), np.array([0.4]))),
    (rebound, (A, 0.4)),
]


def test_what_is_written_into_an_array_is_not_computed_again_for_its_shape():
    for function, args in WRITTEN:
        srcgrad.check_grads(function, args, order=2, wrt=(0, 1))
    for function, array in ((filtered, "mean_bar["), (interior, "now_bar[")):
        assert f"sum_to({array}" not in srcgrad.source(function, wrt=(0, 1))


@pytest.mark.parametrize("args", [(A, 2.0), (2.0, A), (np.array([2.0]), 1.0), (1j, 2.0)])
def test_an_output_that_is_not_computed_is_looked_at(args):
    derivative = srcgrad.grad(lambda x, y: 2.0 * np.exp(x - y) * x)
    with pytest.raises(srcgrad.DifferentiationError, match="E5007"):
        derivative(*args)
    assert "check_seed(result_bar, " in derivative.source and "result = " not in derivative.source


def test_a_complex_factor_is_not_forgotten():
    with pytest.raises(srcgrad.DifferentiationError, match="E5007"):
        srcgrad.grad(lambda x: 1j * x + x)(2.0)
