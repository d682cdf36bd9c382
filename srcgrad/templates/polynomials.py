"""Polynomials as vectors of coefficients, the highest power first.

Polynomials as objects (`np.poly1d`, `np.polynomial`) are not followed.
"""

import numpy as np

from srcgrad.core.rules import adjoint
from srcgrad.runtime.choices import require_handled


@adjoint.composed(
    np.polyval,
    forms=(
        ("np.polyval(x, y)", (4,), ()),
        ("np.polyval(x, y)", (3,), (2, 3)),
        ("np.polyval(np.array([1.0, x, 2.0]), y)", (), (3,)),
        ("np.polyval(x, y)", (1,), (2,)),
    ),
)
def polyval(p, x):
    y = np.zeros_like(1.0 * x)
    for k in range(len(p)):
        y = y * x + p[k]
    return y


@adjoint.composed(
    np.polyadd,
    forms=(("np.polyadd(x, y)", (4,), (2,)), ("np.polyadd(x, y)", (2,), (3,)), ("np.polyadd(x, y)", (3,), ())),
)
def polyadd(a1, a2):
    first = np.atleast_1d(a1)
    second = np.atleast_1d(a2)
    n = max(len(first), len(second))
    return np.pad(first, (n - len(first), 0)) + np.pad(second, (n - len(second), 0))


@adjoint.composed(
    np.polysub,
    forms=(("np.polysub(x, y)", (4,), (2,)), ("np.polysub(x, y)", (2,), (3,))),
)
def polysub(a1, a2):
    return np.polyadd(a1, np.negative(a2))


@adjoint.composed(
    np.polymul,
    forms=(("np.polymul(x, y)", (4,), (2,)), ("np.polymul(x, y)", (2,), (3,))),
    note="Leading zeros are cut off first, as NumPy does.",
)
def polymul(a1, a2):
    return np.convolve(np.trim_zeros(np.atleast_1d(a1), "f"), np.trim_zeros(np.atleast_1d(a2), "f"))


@adjoint.composed(
    np.polyder,
    forms=(("np.polyder(x)", (4,)), ("np.polyder(x, 2)", (4,)), ("np.polyder(x, m=0)", (3,))),
)
def polyder(p, m=1):
    y = np.asarray(p)
    for _ in range(m):
        y = y[:-1] * np.arange(len(y) - 1, 0, -1)
    return y


@adjoint.composed(
    np.polyint,
    forms=(
        ("np.polyint(x)", (3,)),
        ("np.polyint(x, 2)", (3,)),
        ("np.polyint(x, 1, y)", (3,), ()),
        ("np.polyint(x, 2, k=y)", (3,), (2,)),
    ),
)
def polyint(p, m=1, k=None):
    y = np.asarray(p)
    require_handled(np.size(y) > 0, "np.polyint of nothing")
    for step in range(m):
        last = np.zeros_like(y[:1]) if k is None else np.atleast_1d(k)[step : step + 1]
        y = np.concatenate((y / np.arange(len(y), 0, -1), last))
    return y


@adjoint.composed(
    np.poly,
    forms=(("np.poly(x)", (3,)), ("np.poly(x)", (1,))),
    note="Of roots; of a matrix it is refused.",
)
def poly(seq_of_zeros):
    require_handled(np.ndim(seq_of_zeros) == 1 and np.size(seq_of_zeros) > 0, "np.poly of a matrix, or of nothing")
    y = np.ones_like(seq_of_zeros[:1])
    for k in range(len(seq_of_zeros)):
        y = np.pad(y, (0, 1)) - np.pad(y * seq_of_zeros[k], (1, 0))
    return y


@adjoint.composed(
    np.polyfit,
    forms=(
        ("np.polyfit(np.arange(5.0), x, 2)", (5,)),
        ("np.polyfit(x, y, 1)", (5,), (5,)),
        ("np.polyfit([0, 1, 2, 3], x, 1)", (4, 2)),
        ("np.polyfit(np.arange(5.0), x, 2, w=np.exp(y))", (5,), (5,)),
        ("np.polyfit(np.arange(4.0), x, deg=0, w=np.exp(y))", (4, 2), (4,)),
    ),
    note="Of a given degree; the rank is taken to be full.",
)
def polyfit(x, y, deg, rcond=None, *, w=None):
    require_handled(np.ndim(deg) == 0, "np.polyfit with a list of degrees")
    columns = np.vander(np.asarray(x) + 0.0, deg + 1)
    values = np.asarray(y) + 0.0
    if w is not None:
        weights = np.asarray(w) + 0.0
        columns = np.expand_dims(weights, 1) * columns
        values = (weights * values.T).T
    scale = np.sqrt(np.sum(columns * columns, axis=0))
    found = np.linalg.lstsq(columns / scale, values, rcond)[0]
    return (found.T / scale).T
