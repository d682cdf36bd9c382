"""Called functions that treat each row by itself: their derivatives by columns come first, with fewer tangents."""

import numpy as np
import pytest

from benchmarks.workloads import tracking
from tests.backend.batched.agree import check

rng = np.random.default_rng(3)
X = rng.standard_normal(15)
W = rng.standard_normal((5, 3))


def rotated(x, w):
    """Matrices of rotation from rows of angles."""
    return np.matmul(tracking.rotations(x.reshape(5, 3)), w[:, :, None])


def _each(p):
    a, b, c = p[:, 0], p[:, 1], p[:, 2]
    r = np.sqrt(1.0 + a * a + b * b)
    if p.shape[1] == 3:
        r = r * np.exp(-c * c)
    for k in range(2):
        r = r * np.sin(a + k) + np.cos(r * b) / (1.0 + r * r)
    return np.stack((r, r * a * b), axis=1) * np.tanh(p[:, :2])


def with_branch_and_loop(x, w):
    """A loop and a branch that tell nothing of the rows."""
    return np.sin(_each(x.reshape(5, 3))) @ np.ones((2, 2))


def _numbers(a):
    if len(a) > 3:
        a = np.sin(a) * np.cos(a * a) + np.exp(-a) / (1.0 + a * a)
    return np.tanh(a * np.cos(a) + a / (2.0 + np.sin(a))) + np.log(3.0 + np.cos(a)) * np.exp(np.sin(a * a))


def elementwise(x, w):
    """Each number of its own: one derivative for all tangents."""
    return np.sum(w) * _numbers(x.reshape(15) * 2.0)


def _deep(p):
    q = p.reshape(5, 1, 3) * np.ones((1, 2, 1))
    return np.sin(q) * np.cos(q) * np.exp(-q * q) * np.tanh(q) / (1.0 + q * q) + np.sum(q)


def of_all(x, w):
    """Reshaped, and with a sum over all rows."""
    return _deep(x.reshape(5, 3))


def _mixing(p):
    q = np.cumsum(np.sin(p) * np.cos(p) * np.exp(p) * np.tanh(p), axis=0)
    return q * np.sin(q) * np.cos(q) * np.exp(-q * q) / (1.0 + q * q)


def mixed(x, w):
    """Rows are added up."""
    return _mixing(x.reshape(5, 3))


def _turned(p):
    q = p[::-1] * np.sin(p) * np.cos(p) * np.exp(-p * p) * np.tanh(p)
    return q * np.sin(q) * np.cos(q) / (1.0 + q * q)


def turned(x, w):
    """Rows meet other rows."""
    return _turned(x.reshape(5, 3))


def _pairs(p):
    q = np.sqrt(1.0 + np.sum((p[:, None, :] - p[None, :, :]) ** 2, axis=2))
    return q * np.sin(q) * np.cos(q) * np.tanh(q) / (1.0 + q * q) * np.exp(-q)


def pairs(x, w):
    """Each row with each other."""
    return _pairs(x.reshape(5, 3))


def _square(p):
    q = p @ p * np.sin(p) * np.cos(p) * np.exp(-p * p) * np.tanh(p)
    return q * np.sin(q) * np.cos(q) / (1.0 + q * q)


def square(x, w):
    """As many rows as columns."""
    return _square(x[:9].reshape(3, 3))


def _writing(p):
    q = np.sin(p) * np.cos(p) * np.exp(-p * p) * np.tanh(p)
    q[1] = q[0] * q[2]
    return q * np.sin(q) * np.cos(q) / (1.0 + q * q)


def writing(x, w):
    """A row is written."""
    return _writing(x.reshape(5, 3))


def _weighted(p, w):
    q = np.sin(p * w) * np.cos(p) * np.exp(-p * p) * np.tanh(p)
    return q * np.sin(q) * np.cos(q) / (1.0 + q * q)


def weighted(x, w):
    """An array beside the rows, of which it is not known whether it has as many."""
    return _weighted(x.reshape(5, 3), w) + _weighted(x[:3], w)


def named(x, w):
    """Arguments by name, one of which varies nothing."""
    return _shifted(p=x.reshape(5, 3), by=0.5)


def _shifted(p, by):
    q = np.sin(p + by) * np.cos(p) * np.exp(-p * p) * np.tanh(p)
    if by > 0.0:
        q = q * np.sin(q) * np.cos(q) / (1.0 + q * q)
    return q


def beside(x, w):
    """The same, in their places."""
    return _shifted(x.reshape(5, 3), 0.5)


def found_again(x, w):
    """One text for two calls, the second of what the first gives."""
    p = _shifted(x.reshape(5, 3), 0.5)
    return p + _shifted(np.stack((p[:, 0], p[:, 1]), axis=1) @ w[:2], 0.5)


@pytest.mark.parametrize("function", [rotated, with_branch_and_loop, elementwise, beside, found_again])
def test_derivatives_by_columns_come_first(function) -> None:
    assert " by_rows(" in check(function, (X, W), "forward", (0,)).source


@pytest.mark.parametrize("function", [of_all, mixed, turned, pairs, square, writing, weighted, named])
def test_rows_that_depend_on_others(function) -> None:
    assert "by_rows(" not in check(function, (X, W), "forward", (0,)).source


def test_few_directions_and_no_rows() -> None:
    def few(x):
        return tracking.rotations(np.stack((x, x * x)))

    def none(x):
        return tracking.rotations(np.stack((x, x))[:0])

    for function in (few, none):
        assert " by_rows(" in check(function, (X[:3],), "forward", (0,)).source


def test_dtypes_are_those_of_each_direction() -> None:
    assert " by_rows(" in check(rotated, (X.astype(np.float32), W.astype(np.float32)), "forward", (0,)).source


def _huge(p):
    a, b = p[:, 0], p[:, 1]
    r = np.sin(a) * np.cos(a) * np.exp(-a * a) * np.tanh(a) / (1.0 + a * a) * np.sin(a * a) * np.cos(a + 1.0)
    return r + b * 1e200 * 1e200


def test_a_derivative_by_a_column_that_is_infinite() -> None:
    """1e400 times 1e-300 is not 1e100, and the text is made anew."""

    def huge(x):
        return _huge(np.stack((x, x * 1e-300), axis=1))

    assert "by_rows(" not in check(huge, (X,), "forward", (0,)).source
