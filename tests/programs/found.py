"""Programs that were once wrong, or ended without a coded error: each is named for what it does."""

from __future__ import annotations

import numpy as np


def chained_assignment(x):
    a = b = np.sin(-x)
    return a * b


def tuple_assignment_of_a_product(x, m):
    for i in range(2):
        x, v = m @ x[::-1], 1.0
    return x


def first_column_of_a_product(x, y):
    m = np.tanh(x) * y
    return np.sin(x) - m[:, :1]


def bound_to_itself(m):
    for s in m:
        m = m
    return m


def rows_of_a_rebound_array(m):
    s = 0.0
    for row in m:
        s = s + np.sum(row * row)
        m = m[:1] * 2.0
    return s + np.sum(m)


def rebound_twice_in_a_branch(m):
    if 1:
        m = m @ m
        m = np.tanh(m)
    return m


def rows_of_a_constant(x):
    s = x
    for v in np.eye(3) * 0.8:
        s = s * np.sum(v) + x
    return s


def nested_unpacking(x):
    a, (b, c) = x, (0.3, x * x)
    return a * b * c


def chained_onto_itself(x):
    x = x = x * 2.0
    for v in x:
        pass
    return x


def matrix_rebound_in_a_loop(a, x):
    for _ in range(3):
        x = np.tanh(a @ x)
        a = a * 0.9 + x[:, None] * 0.1
    return np.sum(x)


def shape_after_a_branch(x, y):
    s = x * y
    if y > 0:
        x = x * 2.0
    return x.shape[0] * s + x


def ranges_with_steps(x):
    s = 1.0
    for i in range(0, 6, 2):
        s = s * np.sin(x[i % 3] + i)
    for i in range(2, -1, -1):
        s = s + x[i] * s
    for i in reversed(range(3)):
        s = s * x[i] + x[i]
    return s


def bound_in_a_branch_only(x, n):
    v = x
    if n > 1:
        m = x
        for row in x * 1.0:
            v = m * row
            m = np.ones(3) * x
    return v


def rows_inside_a_while(m):
    k = 0
    while k < 2:
        for row in m * 0.5:
            m = np.tanh(m + row)
        k += 1
    return m


def shape_of_a_rebound_argument(x):
    k = 0
    s = 0.5
    while k < 3:
        k = k + 1
        x = np.sin(x[np.array([0, 2, 0])] / (1.0 + s**2))
        s = np.mean(x[:, np.newaxis] * x) + x.shape[0]
    return np.sum(x) + s


def where_of_numbers(x, y):
    y = np.where(x > 0.0, y, x)
    return y


def list_inside_a_loop(x):
    y = x
    for v in np.eye(3):
        for s in [0, 2, 0]:
            y = x * s + y * 0.5
    return y


def choice_inside_a_loop(x, n):
    s = 0.0
    for v in range(3):
        s = s + np.sin(x * v if n else 2.0 * x)
    return s


def slice_bound_to_itself(x, n):
    if n:
        pass
    else:
        x = x[:]
    a, b, c = x
    return c


def counter_rebound_in_the_body(x, n):
    for v in np.ones((3, 3)):
        k = 0
        while k < 2:
            v = np.tanh(x)
            k += 1
        x = 1.0 * x
    return x * 0.5 + v


def constant_unpacked_then_active(x, n):
    a, b, c = np.eye(3)
    for i in range(2):
        b = x
    return b


def counter_active_in_a_branch(x, n):
    for v in np.eye(3):
        if n:
            v = x
        x = v * 1.0
    return x


def element_rebound_in_a_loop(x, n):
    u, v = [0.3, 0.4]
    for s in range(3):
        u = np.sin(u * x)
    return u


def rows_of_a_quotient(x, y, n):
    for i in range(3):
        if n:
            for s in np.array([0.3, 0.4, 0.9]) / (1.0 + y):
                x = s
        else:
            y = x = x
    return y


def two(x):
    n = 2
    return x * x


def callee_with_a_local_of_that_name(x, n):
    y = two(x)
    for i in range(n):
        y = np.sin(y)
    return y


def number_times_array_in_a_loop(x, w):
    s = 0.0
    for _ in range(2):
        s = s + np.sum(np.exp(x @ x) * w)
    return s


def argument_overwritten_in_a_loop(x, c):
    s = 0.0
    for i in range(3):
        c = np.sin(x[i] + s)
        s = s + c * x[i]
    if c > -5.0:
        s = s * 2.0
    return s


def mask_of_what_is_written(x):
    a = x * 1.0
    a[a > 0.0] *= 2.0
    a[a < 0.0] = 0.0
    return np.sum(a * x)


def view_of_a_view_read_late(x):
    a = x * x
    s = np.sin(a[2])
    v = a[::2]
    v[:1] += np.sum(a * x)
    v[:1] *= s
    return np.sum(a * a)


def element_given_to_a_procedure(x):
    a = np.tanh(x) * 0.7
    filled(a, a[1])
    return np.sum(a * a)


def filled(u, s):
    u[0] = s
    u[1:] *= 0.5
    u[2] += np.tanh(s)


def arrays_that_change_places(x):
    a = np.sort(x * 1.1)
    b = np.array([v * 0.9 for v in x])
    a[::-1] *= b
    a, b = b, a
    return np.sum(a * b)


def list_longer_after_a_branch(x, c):
    found = [x[1], np.tanh(x[0])]
    if c < 0.5:
        x = x * 2.0
    else:
        x = x * found[-1]
        found.append(np.tanh(x[2]))
    return np.sum(x)


def numpy_asked_in_a_test(x):
    if np.issubdtype(x.dtype, np.integer):
        x = x.astype(float)
    return np.sum(x * x * x)


def squares_and_doubles(x):
    return x * x, 2.0 * x


def tuple_given_out_whole_and_by_parts(x):
    found = squares_and_doubles(x)
    return found, found[0] * found[1]


def decomposition_given_out_whole_and_by_parts(x):
    found = np.linalg.qr(x)
    return {"whole": found, "corner": found[1][0, 0]}


def dict_given_out_whole_and_by_parts(x):
    found = {"a": x * x, "b": x + 1.0}
    return found, found["a"] * found["b"]


def list_given_out_whole_and_by_parts(x):
    found = [x * x, x + 1.0]
    return found, found[0] * found[1]


def choice_inside_of_a_choice(x, n):
    x = np.sin(x)
    s = 0.5 * (2.0 if x > 0.9 else (x if x > 0.5 or n == 1 else 3.0 * x))
    return s * s + x


def _overwritten_under_two_names(a):
    a[:] = np.sin(a)
    t = a
    return np.exp(t) * t


def second_name_in_a_called_function(x):
    a = x * x
    y = _overwritten_under_two_names(a)
    return np.sum(y * a)


def _taken_times(values, v):
    t = values.pop()
    return t * v


def argument_read_before_the_call_takes(x):
    values = [x, np.sin(x)]
    y = _taken_times(values, values[-1] * 2.0)
    return np.sum(y * values[0])


def one_key_under_two_spellings(x):
    parts = {1: x[0], "n": 0}
    parts["n"] = parts["n"] + 1
    parts[True] = parts[1.0] * x[1]
    return parts[1] * parts["n"]


def drawn_anew_in_each_trip(x, c, n):
    generator = np.random.default_rng(3)
    for _ in range(n):
        z = generator.normal()
        x = np.sin(x * z * c)
    return x


def _scale(u, s):
    u *= s


def part_changed_in_a_procedure(x):
    a = x * 1.0
    t = x[0] * x[1]
    _scale(t, 3.0)  # a number is what it was
    _scale(a[1], x[0])
    for i in range(2):
        _scale(a[i:], 1.0 + x[0])
    return np.sum(a * a) * t


def scaled_by_its_own_sum(x):
    for _ in range(3):
        x = np.sin(x)
        x /= x.sum()
    return x[0]


def filtered_by_columns(x):
    seen = np.array([[0.3, 0.7], [0.6, 0.4]])
    chain = np.exp(x[:2] * x[1])
    alpha = np.array([0.5, 0.5])
    total = 0.0
    for k in (0, 1, 1):
        alpha = alpha * chain * seen[:, k]
        total += np.log(alpha.sum())
        alpha /= alpha.sum()
        alpha[0] += 0.1 * x[2]
    return total


def _last_halved(x):
    v = x[::-1]
    v[0] = 0.5 * v[0]
    return np.sum(x)


def _rows_begun(m):
    for row in m:
        row[0] = 0.5
    return np.sum(m)


def written_through_names(x):
    a = x * 1.0
    b = np.sin(x)
    m = np.outer(x, x)
    unread = _last_halved(a)
    unread = _rows_begun(m)  # noqa: F841
    total = _last_halved(b)
    return np.sum(a * x) + total * b[2] + np.sum(m * m)


def newton_of_two_unknowns(x):
    u = np.array([1.0, 1.0])
    for _ in range(4):
        values = np.array([u[0] ** 2 + u[1] - x[0] - 1.0, u[0] - u[1] ** 2 + x[1]])
        step = np.linalg.solve(np.array([[2.0 * u[0], 1.0], [1.0, -2.0 * u[1]]]), -values)
        u += step
        if np.max(np.abs(step)) < 1e-14:
            break
    return u @ u * x[2]


def added_to_a_grid(x):
    t = np.linspace(0.0, 1.0, 3)
    t += x
    return t @ t


def three_names_bound_at_once(x):
    a, b, c = x[0], x[1], x[2]
    for _ in range(3):
        a, b, c = b * c - a, np.sin(c * a + b), np.cos(a * b * 2.0) * c
    return a * b * c


def rows_written_at_computed_places(x, places):
    a = np.outer(x, x)
    for i in range(2):
        a[places[i] :, places[i + 1]] = np.sin(a[places[i] :, i]) * x[i]
        a[places[i] - 1] = a[places[i]] * a[places[i - 1]]
    return np.sum(a * a)


def bound_anew_after_writes(x):
    a = x * 1.0
    for i in range(3):
        a[1:] = a[:-1] * a[1:]
        old = a
        a = old[::-1] * x
        a[i] = a[i] ** 2
    return np.sum(a**2)


def loop_variable_bound_in_a_branch_before(x):
    if 0.25:
        pass
    else:
        v = x
    for i, v in enumerate(x):
        pass
    return v[i] * v[i]


def square_display_in_pieces(x):
    a, b = np.array_split([[x[0], x[1]], [x[0] * x[1], 2.0]], 2, axis=1)
    return np.sum(a * b)


def sums_along_the_first_axis_of_numbers(z):
    s = np.sum(np.cumsum(z, axis=0)[0], axis=0)
    for v in np.tile(z, 2):
        s = s + np.sum(v, axis=0) * v
    u = np.tanh(np.sum(np.tanh(np.repeat(z, 2, axis=0)), axis=0))
    w = np.sum(np.interp(s, np.array([0.0, 1.0, 9.0]), z), axis=0)
    return s * np.tanh(z / (1.5 + np.sum(u, axis=0) ** 2)) * w


def largest_value_asked_for(x, c):
    m = np.max(x)
    return np.sum(c * (m is not None)) * np.sum(x)


FOUND = (
    (loop_variable_bound_in_a_branch_before, (np.array([[0.3, 1.1]]).repeat(2, 0),)),
    (square_display_in_pieces, (np.array([0.3, 1.1]),)),
    (rows_written_at_computed_places, (np.array([0.7, 0.4, 0.95]), np.array([1, 0, 1]))),
    (bound_anew_after_writes, (np.array([0.7, 0.4, 0.95]),)),
    (three_names_bound_at_once, (np.array([0.3, 0.8, 1.1]),)),
    (newton_of_two_unknowns, (np.array([0.3, 0.8, 1.1]),)),
    (added_to_a_grid, (np.array([0.3, 0.8, 1.1]),)),
    (scaled_by_its_own_sum, (np.array([0.3, 0.8, 1.1]),)),
    (filtered_by_columns, (np.array([0.3, 0.8, 1.1]),)),
    (part_changed_in_a_procedure, (np.array([0.3, -0.8, 1.1]),)),
    (one_key_under_two_spellings, (np.array([0.3, -0.8]),)),
    (second_name_in_a_called_function, (np.array([0.3, -0.8, 1.1]),)),
    (argument_read_before_the_call_takes, (np.array([0.3, -0.8, 1.1]),)),
    (choice_inside_of_a_choice, (0.7, 0)),
    (choice_inside_of_a_choice, (0.3, 0)),
    (list_longer_after_a_branch, (np.array([0.3, -0.4, 0.9]), 0.7)),
    (argument_overwritten_in_a_loop, (np.array([0.3, -0.4, 0.9]), 0.5)),
    (mask_of_what_is_written, (np.array([0.3, -0.4, 0.9]),)),
    (view_of_a_view_read_late, (np.array([0.3, -0.4, 0.9]),)),
    (element_given_to_a_procedure, (np.array([0.3, -0.4, 0.9]),)),
    (arrays_that_change_places, (np.array([0.3, -0.4, 0.9]),)),
    (chained_assignment, (0.7,)),
    (tuple_assignment_of_a_product, (np.array([0.3, -0.4, 0.9]), np.arange(9.0).reshape(3, 3) / 10)),
    (first_column_of_a_product, (np.array([[0.3, -0.4, 0.9], [0.2, 0.8, -0.1]]), np.array([0.7, 1.2, -0.5]))),
    (bound_to_itself, (np.array([0.3, -0.4, 0.9]),)),
    (rows_of_a_rebound_array, (np.arange(9.0).reshape(3, 3) / 10,)),
    (rebound_twice_in_a_branch, (np.arange(9.0).reshape(3, 3) / 10,)),
    (rows_of_a_constant, (0.7,)),
    (nested_unpacking, (0.7,)),
    (chained_onto_itself, (np.array([0.3, -0.4, 0.9]),)),
    (matrix_rebound_in_a_loop, (np.eye(3) * 0.4 + 0.1, np.array([0.3, -0.4, 0.9]))),
    (shape_after_a_branch, (np.array([0.3, -0.4, 0.9]), 0.7)),
    (ranges_with_steps, (np.array([0.3, 0.4, 0.9]),)),
    (bound_in_a_branch_only, (np.array([0.3, -0.4, 0.9]), 1)),
    (rows_inside_a_while, (np.eye(3) * 0.4,)),
    (shape_of_a_rebound_argument, (np.array([0.3, -0.4, 0.9]),)),
    (where_of_numbers, (-0.5, -0.6)),
    (list_inside_a_loop, (0.5,)),
    (choice_inside_a_loop, (0.4, 1)),
    (slice_bound_to_itself, (np.arange(9.0).reshape(3, 3) / 10, 0)),
    (counter_rebound_in_the_body, (np.array([-0.87, -0.9, -0.5]), 1)),
    (constant_unpacked_then_active, (np.array([0.3, -0.4, 0.9]), 1)),
    (counter_active_in_a_branch, (np.array([0.3, -0.4, 0.9]), 0)),
    (element_rebound_in_a_loop, (0.4, 1)),
    (rows_of_a_quotient, (-0.3, -1.08, 1)),
    (tuple_given_out_whole_and_by_parts, (np.array([0.3, -0.4, 0.9]),)),
    (decomposition_given_out_whole_and_by_parts, (np.array([[0.3, -0.4], [0.9, 0.2], [0.1, 1.0]]),)),
    (dict_given_out_whole_and_by_parts, (np.array([0.3, -0.4, 0.9]),)),
    (list_given_out_whole_and_by_parts, (np.array([0.3, -0.4, 0.9]),)),
    (drawn_anew_in_each_trip, (0.4, 0.7, 3)),
    (written_through_names, (np.array([0.3, -0.4, 0.9]),)),
    (sums_along_the_first_axis_of_numbers, (np.array([0.3, 0.4, 0.9]),)),
    (largest_value_asked_for, (np.array([0.3, 0.4, 0.9]), 0.7)),
)

SECOND = (
    (numpy_asked_in_a_test, (np.array([0.4, -0.7]),)),
    (callee_with_a_local_of_that_name, (0.7, 3)),
    (number_times_array_in_a_loop, (np.array([0.3, -0.4, 0.9]), np.array([0.2, 0.5, -0.1, 0.4]))),
)
