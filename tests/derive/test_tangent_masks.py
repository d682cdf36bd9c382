"""Forward mode where a tangent is zero by structure, and is multiplied by inf then."""

from __future__ import annotations

from typing import Any  # functions of numbers and of arrays

import numpy as np
import pytest

import srcgrad

A = np.array([-0.1, 0.3])
OUTSIDE = np.array([-0.1, -0.2])


def clamped_number(p):
    return np.sqrt(max(p, 0.0)) + p


def clamped(p):
    return np.sum(np.maximum(p, 0.0) ** 0.5) + np.sum(p)


def distance(p):
    q = np.abs(p) - 1.5
    return np.sqrt(np.sum(np.maximum(q, 0.0) ** 2)) + np.sum(p)


def clipped(p):
    return np.sqrt(np.sum(np.clip(p, 0.0, 1.0))) + np.sum(p)


def chosen(p):
    return np.sqrt(np.sum(np.where(p > 0.0, p, 0.0) ** 2)) + np.sum(p)


def chosen_by_a_name(p):
    m = p > 0.0
    y = np.where(m, p, 0.0)
    return np.sum(np.sqrt(y)) + np.sum((2.0 * y) ** 0.5) + np.sum(p)


def turned(p):
    w = 2.0 * np.maximum(p, 0.0) + 3.0 * np.clip(p, 0.0, 1.0)
    return np.sum(np.sqrt(w[::-1])) + np.sum(p)


def rows(p):
    w = np.maximum(p, 0.0).reshape(2, 1)
    return np.sum(np.sqrt(w.mean(axis=1, keepdims=True))) + np.sum(p)


def in_a_loop(p):
    s = 0.0
    for i in range(2):
        s += np.sqrt(max(p[i], 0.0))
    return s + np.sum(p)


def relu(z):
    return np.maximum(z, 0.0)


def through_a_helper(p):
    return np.sum(relu(p) ** 0.5 / 3.0) + np.sum(p)


CASES = [(clamped_number, -0.1)] + [
    (f, x)
    for f in (clamped, distance, clipped, chosen, chosen_by_a_name, turned, rows, in_a_loop, through_a_helper)
    for x in (A, OUTSIDE)
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of sums that no element reaches in reverse mode
@pytest.mark.parametrize("function, x", CASES)
def test_forward_mode_is_finite_where_reverse_mode_is(function: Any, x: Any) -> None:
    for direction in (np.ones_like(x), np.cos(np.arange(1.0, 1.0 + np.size(x))).reshape(np.shape(x))):
        tangent = srcgrad.jvp(function, (x,), (direction,))[1]
        h = 1e-6
        differences = (function(x + h * direction) - function(x - h * direction)) / (2.0 * h)
        assert abs(tangent - differences) < 1e-6 * (1.0 + abs(differences))  # of second order in h, and smooth there
        assert np.isclose(tangent, np.sum(srcgrad.grad(function)(x) * direction), rtol=1e-12)


@pytest.mark.parametrize("function, x", [(clamped_number, -0.1), (clamped, A), (distance, A), (clipped, OUTSIDE)])
def test_forward_mode_gives_no_warning(function: Any, x: Any) -> None:
    with np.errstate(all="raise"):
        assert np.isfinite(srcgrad.jvp(function, (x,), (np.ones_like(x),))[1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 0 * inf is the point
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.sqrt(x) ** 2),
        lambda x: np.sum(np.sqrt(np.triu(np.outer(x, x)))),
        lambda x: np.sum(np.sqrt(np.sqrt(x) ** 2 + np.maximum(x - 1.0, 0.0))),
        lambda x: np.sum(np.sqrt(np.maximum(x, 0.0) ** 2)),
    ],
)
def test_zeros_that_are_numbers_hide_no_singular_point(function: Any) -> None:
    assert np.isnan(srcgrad.jvp(function, (np.array([0.0, 0.3]),), (np.ones(2),))[1])


def condition_changed(p):
    m = p > 0.25
    y = np.where(m, p, 0.0)
    m[0] = True
    return np.sum(np.exp(y)) + np.sum(np.where(m, p, 0.0))


def condition_changed_through_a_view(p):
    m = p > 0.25
    v = m[:1]
    y = np.where(m, p, 0.0)
    v[0] = True
    return np.sum(np.exp(y)) + np.sum(np.where(m, p, 0.0))


def condition_changed_in_a_loop(p):
    s, m = 0.0, p > 0.25
    for i in range(2):
        y = np.where(m, p, 0.0)
        m[i] = not m[i]
        s = s + np.sum(np.exp(y))
    return s


def condition_changed_where_it_was_false(p):
    m = p > 0.25
    y = np.where(m, 0.0, p)
    m[0] = True
    return np.sum(np.exp(y)) + np.sum(np.where(m, p, 0.0))


def set_first(m):
    m[0] = True


def condition_changed_by_a_helper(p):
    m = p > 0.25
    y = np.where(m, p, 0.0)
    set_first(m)
    return np.sum(np.exp(y)) + np.sum(np.where(m, p, 0.0))


def condition_turned(p):
    m = p > 0.25
    y = np.where(m, p, 0.0)
    np.logical_not(m, out=m)
    return np.sum(np.exp(y)) + np.sum(np.where(m, p, 0.0))


@pytest.mark.parametrize(
    "function",
    [
        condition_changed,
        condition_changed_through_a_view,
        condition_changed_in_a_loop,
        condition_changed_where_it_was_false,
        condition_changed_by_a_helper,
        condition_turned,
    ],
)
def test_a_mask_is_what_its_condition_was(function: Any) -> None:
    x, direction, h = np.array([0.2, 0.3]), np.array([0.5, -0.4]), 1e-6
    tangent = srcgrad.jvp(function, (x,), (direction,))[1]
    differences = (function(x + h * direction) - function(x - h * direction)) / (2.0 * h)
    assert abs(tangent - differences) < 1e-6 * (1.0 + abs(differences))  # of second order in h, and smooth there
    assert np.isclose(tangent, np.sum(srcgrad.grad(function)(x) * direction), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 0 * inf is the point
@pytest.mark.parametrize(
    "function",
    [
        lambda p: np.sum(np.sqrt(np.maximum(p - 1.0, 0.0) + p)),
        lambda p: np.sum(np.sqrt(p + np.maximum(p - 1.0, 0.0))),
        lambda p: np.sum(np.sqrt(np.where(p > 1.0, p, 0.0) + np.where(p < 1.0, p, 0.0))),
        lambda p: np.sum(np.sqrt(np.maximum(p - 1.0, 0.0)[:, None] + np.minimum(p[None, :], 5.0))),
        lambda p: np.sum(np.sqrt(np.maximum(p[0] - 1.0, 0.0) + p)),
    ],
)
def test_a_term_without_a_mask_ends_that_of_a_sum(function: Any) -> None:
    assert not np.isfinite(srcgrad.jvp(function, (np.array([0.0, 0.3]),), (np.ones(2),))[1])


def bound_anew_in_a_loop(p):
    y = np.maximum(p - 1.0, 0.0)
    for i in range(2):
        z = np.sqrt(y)
        y = np.maximum(p + i, 0.0)
    return np.sum(z)


def bound_anew_in_a_branch(p):
    y = np.maximum(p - 1.0, 0.0)
    if p[1] > 0.2:
        y = p * 1.0
    return np.sum(np.sqrt(y))


def written_into(p):
    y = np.maximum(p - 1.0, 0.0)
    y[0] = p[0]
    return np.sum(np.sqrt(y))


def written_into_through_a_view(p):
    y = np.maximum(p - 1.0, 0.0)
    v = y[:1]
    v += p[:1]
    return np.sum(np.sqrt(y))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 0 * inf is the point
@pytest.mark.parametrize(
    "function", [bound_anew_in_a_loop, bound_anew_in_a_branch, written_into, written_into_through_a_view]
)
def test_a_mask_of_what_changes_hides_no_singular_point(function: Any) -> None:
    assert not np.isfinite(srcgrad.jvp(function, (np.array([0.0, 0.3]),), (np.ones(2),))[1])


def bound_in_a_branch(c, b, s):
    if b < 0.31:
        s = np.clip(c, -0.4, 0.6)
    r = np.hypot(c + 3.0, s)
    return s[-1] + np.sum(r * r)


def bound_in_a_trip(x, b, s):
    for k in range(3):
        if k == 1:
            s = np.clip(x, -0.4, 0.6) * b
        x = x + np.hypot(x, s)
    return np.sum(x)


def bound_in_a_loop(x, b, s):
    while b < 3.0:
        b = b + 1.0
        x = np.sqrt(s * s + x * x)
        s = np.where(x > 0.6, s - x, 0.3)
    return np.sum(x) + np.sum(s)


def bound_in_both_branches(x, b, s):
    if b > 0.31:
        s = np.maximum(x, 0.1)
    else:
        x = np.minimum(s, 0.95)
    return np.sum(np.sqrt(s * s + x * x) * x)


BOUND_LATER = [bound_in_a_branch, bound_in_a_trip, bound_in_a_loop, bound_in_both_branches]


@pytest.mark.parametrize("b", [0.2, 0.7])
@pytest.mark.parametrize("function", BOUND_LATER)
def test_a_parameter_that_a_branch_or_loop_binds_has_no_mask_before(function: Any, b: float) -> None:
    """Where a mask was made there it was unbound, or that of another trip."""
    x, s = np.array([0.71, -1.05, 0.73, 0.99]), np.array([-0.27, 1.17, 0.52, 0.9])
    srcgrad.check_grads(function, (x, b, s), order=2)


def dict_that_a_branch_changes(c, p):
    if c > 0.2:
        p["w"] = np.clip(p["w"], -0.4, 0.6)
    return np.sum(np.hypot(p["w"], c)) + p["b"][0]


def list_that_a_trip_binds(c, p):
    for k in range(2):
        if k == 1:
            p = [np.maximum(p[0], 0.1), p[1]]
        c = c + np.sum(np.hypot(p[0], c))
    return c + p[1]


@pytest.mark.parametrize("c", [0.1, 0.5])
def test_the_support_of_a_container_has_its_nesting(c: float) -> None:
    w = np.array([0.3, -0.7])
    srcgrad.check_grads(dict_that_a_branch_changes, (c, {"w": w, "b": [0.3]}), order=1)
    srcgrad.check_grads(list_that_a_trip_binds, (c, [w, 0.3]), order=1)


def size_of_what_is_clipped(x, s):
    return np.sum(np.sqrt(np.abs(np.clip(x, 0.0, 2.0))) * x) * s


def argument_bound_anew(x, s):
    a = x
    for _ in range(2):
        a = np.sqrt(np.maximum(a, 0.0) + 0.0 * s)
    for _ in range(2):
        a, s = np.minimum(a, 3.0), np.sum(np.tanh(a)) * s
    return np.sum(a**3) + s


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of loops that no element reaches
@pytest.mark.parametrize("function", [size_of_what_is_clipped, argument_bound_anew])
def test_zeros_reach_the_second_derivative(function: Any) -> None:
    """Through the derivative of a size, and from arguments that have no tangent though their names are bound anew."""
    x, v = np.array([-0.3, 0.4]), np.array([0.3, 0.7])
    sides = [srcgrad.grad(function)(x + h * v, 0.7) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(srcgrad.hvp(function)(x, 0.7, v), (sides[0] - sides[1]) / 2e-6, rtol=1e-6, atol=1e-9)


def root_behind_a_loop(v):
    for _ in range(2):
        v = v * 2.0
    return np.sqrt(v)


def clamped_in_a_call(v):
    for _ in range(2):
        v = v * 1.5
    return np.maximum(v, 0.0)


def both_in_a_call(v):
    for _ in range(2):
        v = v * 1.5
    return np.where(v > 0.2, v, 0.0), v * v


def root_behind_calls(v, n):
    if n == 0:
        return np.sqrt(v)
    return root_behind_calls(v * 1.5, n - 1)


def into_a_call(p):
    return np.sum(root_behind_a_loop(np.maximum(p, 0.0))) + np.sum(p)


def out_of_a_call(p):
    return np.sum(np.sqrt(clamped_in_a_call(p))) + np.sum(p)


def through_two_calls(p):
    return np.sum(root_behind_a_loop(clamped_in_a_call(p))) + np.sum(p)


def one_of_two_results(p):
    a, b = both_in_a_call(p)
    return np.sum(a**0.5) + np.sum(b)


def through_calls_of_itself(p):
    return np.sum(root_behind_calls(np.maximum(p, 0.0), 2)) + np.sum(p)


def inserted(p):
    return np.sum(np.sqrt(np.insert(np.maximum(p, 0.0), 1, 0.0))) + np.sum(np.sqrt(np.insert(p[1:], 0, max(p[0], 0.0))))


def trapezoid(p):
    return np.sqrt(np.trapezoid(np.maximum(p, 0.0)[:1] * np.ones(2), dx=0.5)) + np.sum(p)


def powers(p):
    return np.sum(np.sqrt(np.vander(np.maximum(p, 0.0), 3)))


def covariance(p):
    c = np.cov(np.stack([np.maximum(p, 0.0)[:1] * np.ones(3), np.arange(3.0) * p[1]]))
    return np.sqrt(c[0, 0]) + c[1, 1]


def median_of_what_is_clamped(p):
    return np.sqrt(np.quantile(np.array([max(p[0], 0.0), max(p[0], 0.0), p[1]]), 0.25)) + p[1]


CALLS = [
    into_a_call,
    out_of_a_call,
    through_two_calls,
    one_of_two_results,
    through_calls_of_itself,
    inserted,
    trapezoid,
    powers,
    covariance,
    median_of_what_is_clamped,
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of sums that no element reaches in reverse mode
@pytest.mark.parametrize("function", CALLS, ids=lambda one: one.__name__)
def test_calls_hand_on_where_tangents_are_zero(function: Any) -> None:
    direction = np.array([0.7, 0.4])
    tangent = srcgrad.jvp(function, (A,), (direction,))[1]
    differences = (function(A + 1e-6 * direction) - function(A - 1e-6 * direction)) / 2e-6
    assert abs(tangent - differences) < 1e-6 * (1.0 + abs(differences))


def test_calls_hide_no_singular_point() -> None:
    def taken(p):
        return np.sum(root_behind_a_loop(p**2))

    def taken_behind(p):
        return np.sum(np.sqrt(both_in_a_call(p)[1]))

    with np.errstate(all="ignore"):
        for function in (taken, taken_behind):
            assert np.isnan(srcgrad.jvp(function, (np.array([0.0, 0.3]),), (np.ones(2),))[1])


def test_a_call_whose_tangents_are_zero_nowhere_is_the_plain_one() -> None:
    assert "support" not in srcgrad.source(lambda p: np.sum(root_behind_a_loop(p * p + 1.0)), "forward")


def scaled_by_its_own_length(u, q):
    r = u
    return r * q


def length_of_what_is_nonzero(u):
    return np.sqrt(np.sum(np.where(u, u, 0.0)))


def limited_by_a_length(x):
    """What a mask asks stands once, though a tangent that waits reads it again: its name was that of another."""
    t = 0.3
    t = length_of_what_is_nonzero(np.abs(x))
    a = scaled_by_its_own_length(np.sqrt(np.maximum(np.abs(x), 0.0)), max(t, 0.1))
    return np.sum(a)


def test_a_statement_that_a_waiting_tangent_reads_stands_once() -> None:
    x, along = np.array([0.3, -0.5, 0.7]), np.array([0.2, 0.4, -0.1])
    slope = [srcgrad.grad(limited_by_a_length)(x + step * along) for step in (1e-5, -1e-5)]
    np.testing.assert_allclose(srcgrad.hvp(limited_by_a_length)(x, along), (slope[0] - slope[1]) / 2e-5, rtol=1e-6)


def length_in_a_divisor(x):
    r = np.linalg.norm(np.stack([x, 2.0 * x]), axis=0)
    return np.where(x > 0.1, x / (r + 1.0), 0.0)


def hypotenuse_in_a_divisor(x):
    return np.where(x > 0.1, x / (np.hypot(x, 2.0 * x) + 1.0), 0.0)


def two_factors_of_a_length(x):
    r = np.hypot(x, 2.0 * x)
    return np.where(x > 0.1, np.tanh(r) * np.cos(r * x), x)


def sum_with_what_vanishes(x):
    r = np.hypot(x, 2.0 * x)
    return (np.where(x > 0.1, r, 0.0) + x) / (r + 1.0)


LENGTHS = [length_in_a_divisor, hypotenuse_in_a_divisor, two_factors_of_a_length]


@pytest.mark.parametrize("function", LENGTHS, ids=lambda one: one.__name__)
def test_lengths_of_zero_that_are_not_taken_have_no_second_derivative(function: Any) -> None:
    x, v = np.array([0.0, 0.3, 2.0]), np.array([0.3, 0.5, 0.7])
    gradient = srcgrad.grad(lambda x: np.sum(function(x)))
    differences = (gradient(x + 1e-6 * v) - gradient(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(lambda x: np.sum(function(x)))(x, v), differences, rtol=1e-6, atol=1e-7)


def test_a_length_of_zero_that_is_taken_has_none() -> None:
    x, v = np.array([0.0, 0.3]), np.array([0.3, 0.5])
    assert np.isnan(srcgrad.hvp(lambda x: np.sum(sum_with_what_vanishes(x)))(x, v)[0])
    assert np.isnan(srcgrad.hvp(lambda x: np.sum(x / (np.hypot(x, 2.0 * x) + 1.0)))(x, v)[0])
