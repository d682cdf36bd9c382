"""Masks through calls of functions with source, which are not written out."""

from __future__ import annotations

from typing import Any  # functions of several kinds

import numpy as np
import pytest

import srcgrad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of values, which are computed as they stand
X = np.array([0.0, 1.0, 2.0])


def power(v, n=2):
    y = v
    for _ in range(n):
        y = y * 1.0
    return np.sqrt(y)


def sided(v):
    if v > 0.2:
        return np.sqrt(v)
    return 3.0 * v


def norm_of(v):
    s = 0.0
    for k in range(2):
        s = s + v[k] ** 2
    return np.sqrt(s)


def two(v, w):
    y = v
    for _ in range(2):
        y = y * 1.0
    return np.sqrt(y) / w


def divide(a, b):
    return a / b


class Model:
    def __init__(self):
        self.k = 2.0

    def root(self, v):
        y = v
        for _ in range(2):
            y = y * 1.0
        return self.k * np.sqrt(y)


model = Model()


@srcgrad.checkpoint
def kept(v):
    return np.sqrt(v) * 2.0


def first_only(v):
    r = np.sqrt(v)
    s = 0.0
    for k in range(2):
        s = s + r[k + 1]
    return s


def fill(v):
    out = np.zeros(3)
    for k in range(3):
        out[k] = np.sqrt(v[k])
    return out


def outer(v):
    return power(power(v)) * 2.0


def many(v):
    y = v
    for _ in range(2):
        y = y * 1.0
    return (np.sqrt(y), y, y * 2.0)


def keyword(x):
    return np.sum(np.where(x > 0.2, power(x, n=3), 0.0))


def negated(x):
    return np.sum(np.where(x <= 0.2, 0.0, power(x)))


def tail(x):
    return np.sum(power(x)[1:] * power(x)[1:])


def twice(x):
    return np.sum(np.where(x > 0.2, power(x) * power(x), x))


def nested_call(x):
    return np.sum(np.where(x > 0.2, outer(x), 0.0))


def through(x):
    return np.sum(np.where(x > 0.2, power(np.log(1.0 / power(x)) + 3.0), 0.0))


def select(x):
    return np.sum(np.select([x > 0.2, x > 5.0], [power(x), power(x)], 1.0))


def in_branch(x):
    r = np.sqrt(x[0])
    q = power(x[0])
    if x[0] > 0.2:
        return r * q
    return x[1] * 2.0


def both_args(x):
    return np.sum(np.where(x > 0.2, two(x, x), 0.0))


def method(x):
    return np.sum(np.where(x > 0.2, model.root(x), 0.0))


def checkpointed(x):
    return np.sum(np.where(x > 0.2, kept(x), 0.0))


def checkpointed_loop(x):
    s = 0.0
    for _i in range(2):
        s = s + np.sum(np.where(x > 0.2, kept(x), 0.0))
    return s


def arithmetic_loop(x):
    s = 0.0
    for i in range(3):
        s = s + np.where(x[i] > 0.2, divide(1.0, x[i]), 0.0)
    return s


def first(x):
    return first_only(x)


def first_of_root(x):
    return first_only(np.sqrt(x))


def some_of_many(x):
    _a, b, c = many(x)
    return np.sum(b * c)


def some_of_many2(x):
    a, b, c = many(x)
    return np.sum(np.where(x > 0.2, a * b, c))


def lambdas(x):
    def g(v):
        return power(v) + 1.0

    return np.sum(np.where(x > 0.2, g(x), 0.0))


def helper_in_chain(x):
    r = np.sqrt(x)
    return np.sum(np.where(r > 0.2, power(1.0 / r), 0.0))


def recursive(v, n):
    if n == 0:
        return np.sqrt(v)
    return recursive(v, n - 1)


def recursion(x):
    return np.sum(np.where(x > 0.2, recursive(x, 2), 0.0))


def inverse(v):
    if v == 0.0:
        return 0.0
    return 1.0 / v


def branch_in_a_helper(x):
    return sum(inverse(v) for v in np.sqrt(x)[:2]) + np.sum(x)


def filled_by_hand(x):
    y = np.zeros(3)
    y[0] = np.sqrt(x[0])
    y[1] = np.sqrt(x[1])
    y[2] = x[2]
    return np.sum(np.where(x > 0.5, y, 0.0))


def filled_in_a_loop(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.sqrt(x[k])
    return np.sum(np.where(x > 0.5, y, 0.0))


def a_slice_of_what_a_loop_filled(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.sqrt(x[k])
    return np.sum(y[1:])


def a_triangle_of_what_two_loops_filled(x):
    y = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            y[i, j] = np.sqrt(x[i] * x[j])
    return np.sum(np.triu(y, 1)[1:])


def rows_filled(x):
    y = np.zeros((3, 2))
    for k in range(3):
        y[k, :] = np.sqrt(x[k]) * np.ones(2)
    return np.sum(y[1:, 0] * y[1:, 1])


def filled_and_overwritten(x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = np.sqrt(x[k])
    y[x < 0.5] = 0.0
    return np.sum(y * y)


def filled(v):
    out = np.zeros(3)
    for k in range(3):
        out[k] = np.sqrt(v[k])
    return out


def filled_by_a_call(x):
    return np.sum(filled(x)[1:])


def filled_by_a_call_and_masked(x):
    return np.sum(np.where(x > 0.2, filled(x), 0.0))


def length(v):
    s = 0.0
    for k in range(2):
        s = s + v[k] ** 2
    return np.sqrt(s)


def not_with_itself(x):
    s = 0.0
    for i in range(3):
        for j in range(3):
            s = s + np.where(i == j, 0.0, length(np.stack([x[i], x[i] * x[i]]) - np.stack([x[j], x[j] * x[j]])))
    return s


def filled_and_two_read(x):
    r = np.zeros(3)
    for i in range(3):
        r[i] = np.sqrt(x[i])
    return r[1] * r[2]


def filled_and_read_under_a_condition(x):
    r = np.zeros(3)
    for i in range(3):
        r[i] = np.sqrt(x[i])
    s = 0.0
    for i in range(3):
        if x[i] > 0.1:
            s += r[i] ** 3
    return s


def pairs_filled_and_read_below(x):
    d = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            d[i, j] = np.sqrt((x[i] - x[j]) ** 2)
    e = 0.0
    for i in range(3):
        for j in range(i):
            e += 1.0 / (1.0 + d[i, j])
    return e


def root_and_logarithm(v):
    s = np.sqrt(v)
    for _ in range(2):
        s = s * 1.5
    return s, np.log(v)


def both_of_a_call(x):
    a, b = root_and_logarithm(x)
    return np.sum(np.where(x > 0.2, a * b, 0.0))


def quantile_that_reads_others(x):
    return np.quantile(np.sqrt(np.abs(x)), 0.8) * np.sum(x)


def percentiles_of_rows(x):
    rows = np.sqrt(np.abs(np.stack([x, 3.0 - x])))
    return np.sum(np.percentile(rows, 75.0, axis=1))


def both_rows_under_a_mask(x):
    r = np.empty((2, 3))
    r[0] = np.sqrt(x)
    r[1] = np.log(x)
    return np.sum(np.where(x > 0.2, r[0] * r[1], 0.0))


def both_rows_of_which_one_is_read_in_part(x):
    s = np.stack([np.sqrt(x), x * 2.0])
    return np.sum(s[1]) + np.sum(s[0][1:] ** 3)


def the_whole_row_comes_first(x):
    s = np.stack([np.sqrt(x), x * 2.0])
    part = s[1] * np.cos(s[1])
    return np.sum(np.where(x > 0.2, s[0], 0.0)) + np.sum(part)


def all_elements_in_an_array(x):
    r = np.sqrt(x)
    a = np.array([r[0], r[1], r[2]])
    return np.sum(a[1:] ** 3)


def rows_and_the_whole(x):
    s = np.sqrt(np.stack([x, 1.0 + x]))
    return np.sum(np.where(x > 0.2, s[0] * s[1], 0.0)) + np.sum(np.where(x > 0.2, s, 0.0) ** 2)


FUNCTIONS = [
    both_of_a_call,
    quantile_that_reads_others,
    percentiles_of_rows,
    both_rows_under_a_mask,
    both_rows_of_which_one_is_read_in_part,
    the_whole_row_comes_first,
    all_elements_in_an_array,
    rows_and_the_whole,
    filled_and_two_read,
    filled_and_read_under_a_condition,
    pairs_filled_and_read_below,
    keyword,
    negated,
    tail,
    twice,
    nested_call,
    through,
    select,
    in_branch,
    both_args,
    method,
    checkpointed,
    checkpointed_loop,
    arithmetic_loop,
    first,
    first_of_root,
    some_of_many,
    some_of_many2,
    lambdas,
    helper_in_chain,
    recursion,
    filled_by_hand,
    filled_in_a_loop,
    a_slice_of_what_a_loop_filled,
    a_triangle_of_what_two_loops_filled,
    rows_filled,
    filled_and_overwritten,
    filled_by_a_call,
    filled_by_a_call_and_masked,
    not_with_itself,
]


def differences(function: Any, x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(x.size)
    return np.array([(function(x + h) - function(x - h)) / 2e-6 for h in steps])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_the_pullback_of_a_call_knows_what_is_not_taken(function: Any) -> None:
    expected = differences(function, X)
    assert np.all(np.isfinite(expected))
    np.testing.assert_allclose(srcgrad.grad(function)(X), expected, rtol=1e-6, atol=1e-8)
    pull = srcgrad.vjp(function, X)[1]
    np.testing.assert_allclose(np.asarray(pull(2.0)).ravel(), 2.0 * expected, rtol=1e-6, atol=1e-8)


def test_it_says_what_it_leaves_out_itself() -> None:
    np.testing.assert_allclose(srcgrad.grad(branch_in_a_helper)(X), [1.0, 0.5, 1.0])


def test_zeros_that_are_numbers_are_no_masks() -> None:
    assert np.isnan(srcgrad.grad(lambda x: np.sum(power(x) ** 2))(X)[0])


def test_a_call_of_which_all_is_taken_has_no_mask() -> None:
    derivative = srcgrad.grad(lambda x: np.sum(power(x) * 2.0))
    derivative(X[1:])
    assert "y_mask" not in derivative.source


def first_row_is_read_as_a_whole(x):
    s = np.sqrt(np.stack([x, 1.0 + x]))
    return np.sum(s) + np.sum(np.where(x > 0.2, s[0], 0.0)) + np.sum(s[1])


def first_row_is_taken(x):
    s = np.sqrt(np.stack([x, 1.0 + x]))
    return np.sum(np.where(x > 0.2, s[1], 0.0)) + np.sum(s[0] ** 2)


def test_a_piece_that_is_taken_is_not_masked() -> None:
    """Another piece, or the whole, has a mask or comes first."""
    assert np.isinf(srcgrad.grad(first_row_is_read_as_a_whole)(X)[0])
    assert np.isnan(srcgrad.grad(first_row_is_taken)(X)[0])


def test_a_whole_array_that_is_read_behind_its_pieces_has_no_mask() -> None:
    def function(x):
        s = np.sqrt(np.stack([x, 1.0 + x]))
        first = np.sum(np.where(x > 0.2, s[0], 0.0))
        second = np.sum(s[1])
        third = np.sum(s)
        return first + second * third

    assert np.isinf(srcgrad.grad(function)(X)[0])
