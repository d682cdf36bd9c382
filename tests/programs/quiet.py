"""Small programs in which something singular is not taken: behind a condition, a mask, an index, a bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # functions of arrays

import numpy as np
from scipy import special

X = np.array([0.0, 1.0, 2.0, 0.25])
SIGNED = np.array([-1.0, 0.0, 0.5, 2.0])
SIDES = np.array([-1.0, -0.25, 0.5, 2.0])  # no tie with 0
UNIT = np.array([0.0, 0.25, 1.0, 0.6])
FAR = np.array([-800.0, 0.5, 3.0, 800.0])
Q = np.array([1.0, 2.0, 3.0, -1.0])
M = np.array([False, True, True, True])
PLANE = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])
GRID = np.array([[0.0, 1.0, 2.0], [4.0, 0.0, 0.25], [1.5, 3.0, 0.0]])
PROGRAMS: dict[Callable[..., Any], np.ndarray] = {}


def at(*points: np.ndarray) -> Callable[[Any], Any]:
    """Note the point at which a program is tried."""

    def note(function: Any) -> Any:
        (PROGRAMS[function],) = points
        return function

    return note


# where


@at(X)
def root_behind_where(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


@at(X)
def root_behind_where_with_weights(x):
    return np.sum(Q * np.where(x > 0.0, np.sqrt(x) * x, x))


@at(X)
def inverse_of_the_root_behind_its_own_condition(x):
    r = np.sqrt(x)
    return np.sum(np.where(r > 0.0, 1.0 / r, 0.0))


@at(X)
def root_chosen_by_its_own_value(x):
    r = np.sqrt(x)
    return np.sum(np.where(r > 0.1, r * np.cos(r), x))


@at(X)
def power_behind_where(x):
    return np.sum(np.where(x == 0.0, 0.0, x**0.3))


@at(X)
def logarithm_behind_where(x):
    return np.sum(np.where(x > 0.0, x * np.log(x), 0.0))


@at(X)
def logarithm_of_a_safe_argument(x):
    safe = np.where(x > 0.0, x, 1.0)
    return np.sum(np.where(x > 0.0, x * np.log(safe), 0.0))


@at(X)
def root_of_a_safe_argument(x):
    safe = np.where(x > 0.0, x, 1.0)
    return np.sum(np.where(x > 0.0, np.sqrt(safe), 0.0) * Q)


@at(SIGNED)
def safe_division(x):
    return np.sum(np.where(x != 0.0, Q / np.where(x != 0.0, x, 1.0), 0.0))


@at(SIGNED)
def division_behind_where(x):
    return np.sum(np.where(x != 0.0, np.sin(x) / x, 1.0))


@at(SIGNED)
def sinc_of_a_safe_argument(x):
    y = np.where(x == 0.0, 1.0, x)
    return np.sum(np.where(x == 0.0, 1.0, np.sin(y) / y))


@at(SIGNED)
def sinc(x):
    return np.sum(np.sinc(x) * Q)


@at(SIGNED)
def expm1_over_x(x):
    small = np.abs(x) < 1e-6
    y = np.where(small, 1.0, x)
    return np.sum(np.where(small, 1.0 + 0.5 * x, np.expm1(y) / y))


@at(FAR)
def stable_softplus(x):
    return np.sum(np.where(x > 30.0, x, np.log1p(np.exp(np.minimum(x, 30.0)))))


@at(FAR)
def softplus_that_overflows(x):
    return np.sum(np.where(x > 30.0, x, np.log1p(np.exp(x))))


@at(FAR)
def stable_sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.sum(np.where(x >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e)) * Q)


@at(FAR)
def elu(x):
    return np.sum(np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))))


@at(FAR)
def exponential_behind_where(x):
    small = x < 10.0
    return np.sum(np.where(small, np.exp(np.where(small, x, 0.0)), x))


@at(SIDES)
def leaky_root(x):
    return np.sum(np.where(x > 0.0, np.sqrt(np.maximum(x, 0.0)), 0.1 * x))


@at(SIGNED)
def huber(x):
    a = np.abs(x)
    return np.sum(np.where(a < 0.8, 0.5 * x**2, 0.8 * (a - 0.4)))


@at(SIGNED)
def pseudo_huber_behind_where(x):
    a = np.abs(x)
    return np.sum(np.where(a > 0.3, np.sqrt(a), x * x))


@at(SIGNED)
def signed_root(x):
    return np.sum(np.sign(x) * np.sqrt(np.where(x == 0.0, 1.0, np.abs(x))))


@at(SIGNED)
def signed_root_behind_where(x):
    return np.sum(np.where(np.abs(x) > 0.1, np.sign(x) * np.sqrt(np.abs(x)), 0.0))


@at(UNIT)
def entropy(p):
    return -np.sum(np.where(p > 0.0, p * np.log(np.where(p > 0.0, p, 1.0)), 0.0))


@at(UNIT)
def binary_entropy(p):
    inside = (p > 0.0) & (p < 1.0)
    s = np.where(inside, p, 0.5)
    return np.sum(np.where(inside, -s * np.log(s) - (1.0 - s) * np.log(1.0 - s), 0.0))


@at(UNIT)
def binary_entropy_behind_where(p):
    inside = (p > 0.0) & (p < 1.0)
    return np.sum(np.where(inside, -p * np.log2(p) - (1.0 - p) * np.log2(1.0 - p), 0.0))


@at(UNIT)
def arcsine_behind_where(p):
    return np.sum(np.where(p < 1.0, np.arcsin(p), 0.5 * np.pi))


@at(UNIT)
def arccosine_of_a_bounded_value(p):
    return np.sum(np.arccos(np.clip(p, -0.9, 0.9)))


@at(UNIT)
def arctanh_behind_where(p):
    return np.sum(np.where(p < 0.9, np.arctanh(np.where(p < 0.9, p, 0.0)), 1.0))


@at(UNIT)
def logit_behind_where(p):
    inside = (p > 0.0) & (p < 1.0)
    q = np.where(inside, p, 0.5)
    return np.sum(np.where(inside, np.log(q / (1.0 - q)), 0.0) ** 2)


@at(UNIT)
def xlogy(p):
    return np.sum(np.where(p > 0.1, special.xlogy(p, p), 0.0))


@at(UNIT)
def entropies(p):
    return np.sum(np.where(p > 0.1, special.entr(p), p))


@at(UNIT)
def arccosh_behind_where(p):
    return np.sum(np.where(p > 0.3, np.arccosh(1.0 + p), p))


@at(SIGNED)
def gaussian_log_likelihood(x):
    return np.sum(np.where(x > -0.5, -0.5 * np.log(np.where(x > -0.5, x + 1.0, 1.0)) - x**2, 0.0))


@at(X)
def poisson_log_likelihood(rate):
    counts = np.array([0.0, 3.0, 1.0, 2.0])
    return np.sum(np.where(counts > 0.0, counts * np.log(rate), 0.0) - rate)


@at(X)
def gamma_log_density(x):
    inside = x > 0.0
    return np.sum(np.where(inside, 1.5 * np.log(np.where(inside, x, 1.0)) - x, -10.0))


@at(SIDES)
def weibull_hazard(x):
    return np.sum(np.where(x > 0.0, np.power(np.maximum(x, 0.0), 0.5), 0.0))


@at(X)
def nested_where(x):
    return np.sum(np.where(x > 0.0, np.where(x < 1.5, np.sqrt(x), x**0.25), x))


@at(X)
def two_conditions(x):
    return np.sum(np.where((x > 0.0) & (x < 1.5), np.sqrt(x) + np.cbrt(x), 1.0))


@at(X)
def condition_of_another_value(x):
    y = np.sin(x)
    return np.sum(np.where(y > 0.1, np.sqrt(x) * y, y))


@at(X)
def chain_behind_where(x):
    r = np.sqrt(x)
    s = np.exp(-r) * np.sin(r)
    t = s / (1.0 + r)
    return np.sum(np.where(x > 0.1, t, 0.0))


@at(X)
def root_of_a_root(x):
    return np.sum(np.where(x > 0.1, np.sqrt(np.sqrt(x) + 0.0 * x), 0.0))


@at(X)
def where_then_square(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0) ** 2 * Q)


@at(X)
def where_then_product(x):
    r = np.where(x > 0.0, np.sqrt(x), 0.0)
    return np.sum(r * r[::-1]) + np.sum(r)


@at(X)
def two_readers(x):
    r = np.sqrt(x)
    return np.sum(np.where(x > 0.1, r, 0.0)) + np.sum(np.where(x > 0.5, r * r * r, x))


@at(X)
def tangent_of_half_angle(x):
    return np.sum(np.where(x > 0.0, np.arctan2(np.sqrt(x), x), 0.0))


@at(SIGNED)
def hypotenuse_behind_where(x):
    return np.sum(np.where(np.abs(x) > 0.1, np.hypot(x, 2.0 * x), 0.0))


@at(X)
def number_behind_where(x):
    s = x[0]
    return np.where(s > 0.0, np.sqrt(s), 0.0) + np.sum(x)


@at(X)
def ratio_of_roots(x):
    return np.sum(np.where(x > 0.1, np.sqrt(x + 1.0) / np.sqrt(x), 2.0))


@at(X)
def where_of_the_method(x):
    return (np.where(x > 0.1, x**0.5, x) * Q).mean()


# select, piecewise, clip, bounds


@at(SIGNED)
def select_of_roots(x):
    return np.sum(np.select([x > 0.0, x < 0.0], [np.sqrt(np.abs(x)), x], 0.0))


@at(X)
def select_of_a_power(x):
    return np.sum(np.select([x > 1.5, x > 0.0], [x**0.3, np.sqrt(x)], default=x))


@at(X)
def piecewise_roots(x):
    return np.sum(np.piecewise(x, [x > 0.0], [np.sqrt, lambda t: 0.0 * t]))


@at(SIDES)
def clipped_root(x):
    return np.sum(np.sqrt(np.clip(x, 0.0, 1.5)) * Q)


@at(X)
def clip_of_the_root(x):
    return np.sum(np.clip(np.sqrt(x), 0.1, 1.2))


@at(SIDES)
def root_of_the_positive_part(x):
    return np.sum(np.sqrt(np.maximum(x, 0.0)))


@at(SIDES)
def power_of_the_positive_part(x):
    return np.sum(np.maximum(x, 0.0) ** 0.7 * Q)


@at(X)
def maximum_of_the_root(x):
    return np.sum(np.maximum(np.sqrt(x), 0.3))


@at(X)
def minimum_of_the_inverse_root(x):
    return np.sum(np.maximum(x**0.25, 0.2) * np.sin(x))


@at(SIGNED)
def relu_of_the_distance(x):
    d = np.abs(x)
    return np.sum(np.maximum(d - 0.3, 0.0) ** 1.5)


@at(SIDES)
def relu(x):
    return np.sum(np.sqrt(np.where(x > 0.0, x, 0.0)))


@at(X)
def fmax_of_the_root(x):
    return np.sum(np.fmax(np.sqrt(x), 0.2) ** 2)


@at(SIGNED)
def logarithm_of_a_bounded_value(x):
    return np.sum(np.log(np.maximum(x, 1e-12)))


# masks and where=


@at(X)
def root_of_the_selected(x):
    m = x > 0.0
    y = np.zeros(4)
    y[m] = np.sqrt(x[m])
    return np.sum(y * Q)


@at(X)
def logarithm_of_the_selected(x):
    m = x > 0.0
    y = np.zeros_like(x)
    y[m] = x[m] * np.log(x[m])
    return np.sum(y**2)


@at(X)
def overwritten_where_not_taken(x):
    y = np.sqrt(x)
    y[x < 0.1] = 0.0
    return np.sum(y * Q)


@at(X)
def overwritten_element(x):
    y = np.sqrt(x)
    y[0] = 1.0
    return np.sum(y * y * y)


@at(X)
def overwritten_by_something_else(x):
    y = x**0.5
    y[0] = x[1] * x[2]
    return np.sum(np.sin(y))


@at(X)
def picked_by_a_mask(x):
    return np.sum(np.sqrt(x)[x > 0.0] * 2.0)


@at(X)
def picked_by_positions(x):
    r = np.sqrt(x)
    return np.sum(r[np.array([1, 3, 1])] ** 3)


@at(X)
def sum_where(x):
    return np.sum(np.sqrt(x), where=x > 0.0)


@at(X)
def mean_where(x):
    return np.mean(x**0.3, where=M)


@at(X)
def root_where(x):
    return np.sum(np.sqrt(x, where=x > 0.0, out=np.zeros(4)))


@at(SIGNED)
def division_where(x):
    return np.sum(np.divide(Q, x, where=x != 0.0, out=np.zeros(4)))


@at(X)
def logarithm_where(x):
    return np.sum(x * np.log(x, where=x > 0.0, out=np.zeros_like(x)))


@at(X)
def product_with_a_mask_of_data(x):
    return np.sum(np.sqrt(x)[M] @ np.array([1.0, 2.0, 3.0]))


@at(X)
def placed_by_positions(x):
    y = np.zeros(6)
    y[[1, 2, 4]] = np.sqrt(x)[1:]
    return np.sum(y**3)


# elements


@at(X)
def tail(x):
    return np.sum(np.sqrt(x)[1:] ** 2)


@at(X)
def two_elements(x):
    r = np.sqrt(x)
    return r[1] * r[2] + np.sin(r[3])


@at(X)
def reversed_tail(x):
    r = (x**0.5)[::-1]
    return np.sum(r[:3] * Q[:3])


@at(X)
def differences_of_the_tail(x):
    return np.sum(np.diff(np.sqrt(x)[1:]) ** 2)


@at(X)
def tail_joined(x):
    r = np.sqrt(x)
    return np.sum(np.concatenate([r[1:], x]) ** 3)


@at(X)
def largest_root(x):
    return np.max(np.sqrt(x)) + np.sum(x)


@at(X)
def last_of_two_axes(x):
    r = np.sqrt(x.reshape(2, 2))
    return np.sum(r[1] * r[1, ::-1]) + r[0, 1]


# triangles and pairs


@at(GRID)
def upper_triangle(a):
    return np.sum(np.triu(np.sqrt(a), 1) ** 2)


@at(GRID)
def lower_triangle(a):
    return np.sum(np.tril(a**0.3, -1))


@at(GRID)
def diagonal_filled(a):
    r = np.sqrt(a)
    np.fill_diagonal(r, 0.0)
    return np.sum(r**3)


@at(GRID)
def triangle_by_positions(a):
    return np.sum(np.sqrt(a)[np.triu_indices(3, 1)])


@at(GRID)
def without_the_diagonal(a):
    return np.sum(np.where(np.eye(3) > 0.0, 0.0, 1.0 / np.sqrt(np.where(np.eye(3) > 0.0, 1.0, a))))


@at(PLANE)
def energy_of_bodies(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1))
    inverse = np.where(r > 0.0, 1.0 / np.where(r > 0.0, r, 1.0), 0.0)
    return -np.sum(np.triu(inverse, 1))


@at(PLANE)
def energy_of_bodies_by_a_triangle(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1))
    return np.sum(np.triu(r, 1))


@at(PLANE)
def energy_of_bodies_that_divides(p):
    d = p[:, None, :] - p[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1))
    return -np.sum(np.triu(1.0 / r, 1))


@at(PLANE)
def distances_by_norm(p):
    r = np.linalg.norm(p[:, None] - p[None, :], axis=-1)
    return np.sum(np.triu(r, 1) * np.exp(-r))


@at(PLANE)
def distances_off_the_diagonal(p):
    d2 = np.sum((p[:, None] - p) ** 2, axis=2)
    return np.sum(np.where(d2 > 0.0, np.sqrt(d2), 0.0))


@at(PLANE)
def distances_of_pairs(p):
    r = np.sqrt(((p[:, None] - p) ** 2).sum(axis=2))
    i, j = np.triu_indices(4, 1)
    return np.sum(np.cos(r[i, j]))


@at(PLANE)
def distances_with_an_identity(p):
    d2 = np.sum((p[:, None] - p) ** 2, axis=2)
    r = np.sqrt(d2 + np.eye(4))
    return np.sum((1.0 - np.eye(4)) / r)


@at(PLANE)
def lennard_jones(p):
    d2 = np.sum((p[:, None] - p) ** 2, axis=2)
    off = ~np.eye(4, dtype=bool)
    s6 = np.where(off, 1.0 / np.where(off, d2, 1.0), 0.0) ** 3
    return 0.5 * np.sum(s6 * s6 - s6)


@at(PLANE)
def distances_with_a_filled_diagonal(p):
    r = np.sqrt(np.sum((p[:, None] - p) ** 2, axis=2))
    r[np.arange(4), np.arange(4)] = 1.0
    return np.sum(1.0 / r)


@at(PLANE)
def energy_in_two_loops(p):
    e = 0.0
    for i in range(4):
        for j in range(i):
            d = p[i] - p[j]
            e += 1.0 / np.sqrt(d @ d)
    return e


@at(PLANE)
def norms_of_rows(p):
    n = np.sqrt(np.sum(p**2, axis=1))
    return np.sum(np.where(n > 0.0, n, 0.0))


@at(PLANE)
def rows_of_unit_length(p):
    n = np.sqrt(np.sum(p**2, axis=1, keepdims=True))
    return np.sum(np.where(n > 0.0, p / np.where(n > 0.0, n, 1.0), 0.0) * Q[:, None])


@at(PLANE)
def rows_of_unit_length_behind_where(p):
    n = np.linalg.norm(p, axis=1, keepdims=True)
    return np.sum(np.where(n > 0.0, p / n, p) * Q[:, None])


@at(PLANE)
def cosine_similarity(p):
    n = np.sqrt(np.einsum("ij,ij->i", p, p))
    s = np.where(n > 0.0, n, 1.0)
    return np.sum((p @ p.T) / (s[:, None] * s))


@at(PLANE)
def angles(p):
    return np.sum(np.where(np.sum(p**2, axis=1) > 0.0, np.arctan2(p[:, 1], p[:, 0]), 0.0))


@at(PLANE)
def logarithms_of_row_sums(p):
    s = np.sum(p * p, axis=1)
    m = s > 0.0
    return np.sum(np.log(s[m]))


@at(PLANE)
def rows_picked_by_norm(p):
    n = np.linalg.norm(p, axis=1)
    return np.sum((p / np.where(n == 0.0, 1.0, n)[:, None])[n > 0.0] ** 3)


# helpers, loops, branches


def safe_sqrt(t):
    return np.where(t > 0.0, np.sqrt(np.where(t > 0.0, t, 1.0)), 0.0)


def root_or_zero(t):
    return np.where(t > 0.0, np.sqrt(t), 0.0)


@at(X)
def helper_with_a_safe_argument(x):
    return np.sum(safe_sqrt(x) * Q)


@at(X)
def helper(x):
    return np.sum(root_or_zero(x) * root_or_zero(x[::-1])) + np.sum(root_or_zero(x))


@at(X)
def root_for_a_helper(x):
    def keep(r):
        return np.where(r > 0.1, r, 0.0)

    return np.sum(keep(np.sqrt(x)))


@at(X)
def helper_that_returns_two(x):
    def both(t):
        r = np.sqrt(t)
        return r, 1.0 + r

    r, s = both(x)
    return np.sum(np.where(x > 0.0, r / s, 0.0))


@at(X)
def loop_over_elements(x):
    total = 0.0
    for i in range(len(x)):
        total += np.where(x[i] > 0.0, np.sqrt(x[i]), 0.0)
    return total


@at(X)
def branch_in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            total += np.sqrt(x[i])
    return total


@at(X)
def root_read_in_a_branch(x):
    r = np.sqrt(x)
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.1:
            total += r[i] * r[i] * r[i]
    return total


@at(X)
def repeated_root(x):
    y = x
    for _ in range(2):
        y = np.where(y > 0.1, np.sqrt(y), y)
    return np.sum(y * Q)


@at(X)
def branch_on_a_number(x):
    s = np.sqrt(x[0])
    t = np.sum(x)
    if s > 0.1:
        t = t / s
    return t * t


@at(X)
def filled_by_a_loop(x):
    y = np.zeros(4)
    for i in range(1, 4):
        y[i] = np.sqrt(x[i]) / x[i]
    return np.sum(y**2)


@at(X)
def conditional_expression(x):
    return sum(np.sqrt(e) if e > 0.0 else 0.0 for e in x)


# broadcast, reduce, move


@at(X)
def broadcast_root(x):
    return np.sum(np.where(x[:, None] * x > 0.1, np.sqrt(x) + np.ones((4, 4)), 0.0))


@at(X)
def outer_root(x):
    return np.sum(np.where(np.outer(x, x) > 0.1, np.sqrt(np.outer(x, x)), 0.0))


@at(X)
def row_condition(x):
    a = np.sqrt(x.reshape(2, 2))
    return np.sum(np.where(np.array([[False], [True]]), a, 0.0))


@at(X)
def weighted_sum_of_roots(x):
    return np.where(x > 0.0, np.sqrt(x), 0.0) @ Q


@at(X)
def cumulative_sum_of_roots(x):
    return np.sum(np.cumsum(np.where(x > 0.0, np.sqrt(x), 0.0)) ** 2)


@at(X)
def moved_root(x):
    a = np.sqrt(np.stack([x, 2.0 * x]))
    return np.sum(np.where(x > 0.0, a.T[:, 0] * a[1], 0.0))


@at(X)
def repeated_elements(x):
    r = np.repeat(np.sqrt(x), 2)
    return np.sum(np.where(np.repeat(x, 2) > 0.0, r, 0.0) ** 3)


@at(X)
def padded_root(x):
    return np.sum(np.pad(np.sqrt(x)[1:], 1) ** 2 * np.arange(5.0))


@at(X)
def reduced_before_the_condition(x):
    r = np.sqrt(np.sum(x.reshape(2, 2)[:, :1], axis=1))
    return np.sum(np.where(r > 0.1, r, 0.0)) + np.sum(x)


@at(SIGNED)
def root_of_a_sum_of_squares(x):
    s = np.sqrt(np.sum(x[1:2] ** 2))
    return np.where(s > 0.0, s, 0.0) * np.sum(x)


@at(X)
def product_of_masked(x):
    r = np.where(x > 0.0, np.sqrt(x), 1.0)
    return np.prod(r)


@at(X)
def logsumexp_of_masked(x):
    z = np.where(x > 0.0, np.log(np.where(x > 0.0, x, 1.0)), -30.0)
    m = np.max(z)
    return m + np.log(np.sum(np.exp(z - m)))


@at(X)
def standardised(x):
    r = np.where(x > 0.0, np.sqrt(x), 0.0)
    return np.sum(((r - np.mean(r)) / np.std(r)) ** 3)


# Masks of these do not reach where the tangent is made: a callee, a loop, a branch or a stack stands in between. Their
# numbers are right.
STILL_WARNED = {mean_where, root_read_in_a_branch, repeated_root, branch_on_a_number}
