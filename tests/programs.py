"""A corpus of functions in the language that srcgrad accepts: each has a name for what it does, and arguments."""

from __future__ import annotations

import math
from typing import Any  # arguments of any kind

import numpy as np

from tests import program_helpers
from tests.program_helpers import Scaled, scaled

V = np.array([0.3, -0.5, 1.2])
W = np.array([0.9, 0.4, -0.7])
A = np.array([[0.2, -0.4, 0.6], [0.5, 0.1, -0.3], [0.7, -0.8, 0.4]])
B = np.array([[0.3, 0.8, -0.5], [-0.2, 0.6, 0.9]])

RATE = 0.8
SCALES = (0.5, 1.5)


# Straight lines


def overwritten_variable(x, y):
    """The second binding reads the first."""
    x = x * y
    x = np.sin(x) / y
    return np.sum(x)


def early_temporary_used_later(x):
    """The value that x had is wanted after x is bound anew, twice."""
    first = x * x
    x = np.tanh(first)
    second = x * first
    x = second + first
    return np.sum(x * second * first)


def swapped_variables(x, y):
    """A tuple assignment reads everything before it binds."""
    x, y = y * 2.0, x * y
    x, y = y, x
    return np.sum(x * np.sin(y))


def nested_unpacking(x, y):
    """Parts of parts."""
    (a, b), c = (x * y, np.sin(x)), y
    [d, (e, g)] = a, (b, c)
    return np.sum(d * e + g * g)


def array_unpacking(x):
    """The elements of an array by name."""
    a, b, c = x
    return a * b + np.sin(c) * a


def chained_names(x):
    """Two names of one value, of which one goes on."""
    a = b = x
    a = a * b
    return np.sum(a + 2.0 * b)


def augmented_scalars(x, y):
    """Every augmented operator on numbers."""
    s = x * y
    s += x
    s *= y
    s -= 0.5 * x
    s /= 1.0 + y * y
    s **= 2
    return s


def augmented_fresh_array(x):
    """An array that only this function sees is changed in place."""
    total = np.zeros(3)
    total += x * x
    total *= 2.0
    total -= np.sin(x)
    return np.sum(total * total)


def dead_code(x, y):
    """Values that nothing reads."""
    unused = np.exp(x * 30.0)
    x = x * y
    unused = unused + x
    return np.sum(x)


def all_operators(x, y):
    """Arithmetic beyond plus and times; a floor is constant."""
    a = x**2 / y - -x + +y
    b = 7.3 % y + x // 0.4 + (x % 0.7) * y
    return a * b + 2.0**x + x**y


def matrix_products(a, x):
    """Matrices and vectors on either side."""
    return np.sum((a @ a.T) @ x * (x @ a))


def kinds_of_indices(a):
    """Slices, steps, ellipsis, new axes, integer arrays, masks."""
    picked = a[np.array([0, 2, 0])] * a[None, 1, :, np.newaxis].sum()
    corner = a[..., ::-2] * a[-1, 0]
    return np.sum(picked) + np.sum(corner) + np.sum(a[a > 0.15] ** 2)


def methods_and_attributes(a):
    """The methods of an array, and what is constant about it."""
    b = a.T.reshape(-1)[: a.shape[0]] * a.size
    return (b * a.sum(axis=0)).mean() + a.dot(b).max() + a.ravel().ndim


def conditional_expressions(x, y):
    """Nested, in either branch."""
    a = x * y if x > 0.0 else (x - y if y < 1.0 else x / y)
    return (a if not (x > 2.0 or y > 2.0) else -a) * (np.sin(a) if x < 1.0 and y < 1.0 else a)


# Branches


def bound_in_both_branches(x, y):
    """A name that each branch binds."""
    if np.sum(x) > y:
        z = x * y
    else:
        z = np.sin(x)
    return np.sum(z * z)


def changed_in_one_branch(x, y):
    """A name that one branch changes, after which both values are wanted."""
    z = x * y
    w = z
    if y > 0.0:
        z = z * z
    elif y < -1.0:
        w = np.exp(z)
    return np.sum(z * w)


def nested_branches(x, y):
    """The outer test reads a value that the inner branch changes."""
    z = x
    if z > 0.0:
        z = z * y
        if z > 0.1:
            z = np.sin(z)
            y = y * z
        else:
            z = z - y
    else:
        y = y * y
    return z * y


def test_is_overwritten(x):
    """What the test read is gone when the branch is undone."""
    s = x
    if s > 0.0:
        s = s - 5.0
        s = s * x
    if s > 0.0:
        s = s * 2.0
    return s * s


# Loops


def loop_carried_value(x, r, n):
    """The logistic map, of which every state counts."""
    s = 0.0
    for _ in range(n):
        x = r * x * (1.0 - x)
        s = s + x
    return s


def last_value_of_a_loop(x, w, n):
    """Only the last state counts."""
    h = x
    for _ in range(n):
        h = np.tanh(h * w + 0.1)
    return np.sum(h * h)


def trip_value_used_after(x):
    """A value of the last trip, and the counter, are read after the loop."""
    t = x
    for i in range(1, 4):
        t = np.sin(x * i) + t
        u = t * t
    return np.sum(u * x) * i


def ranges(x):
    """Steps, negative steps, reversed."""
    s = 1.0
    for i in range(0, 6, 2):
        s = s * np.sin(x[i % 3] + i)
    for i in range(2, -1, -1):
        s = s + x[i] * s
    for i in reversed(range(3)):
        s = s * x[i] + x[i]
    return s


def triangular_loops(x, n):
    """The bound of the inner loop is the outer counter; the first has no trips."""
    t = 0.0
    for i in range(n):
        s = x
        for j in range(i):
            s = s * np.sin(s + j)
        t = t + np.sum(s)
    return t


def branch_in_loop(x):
    """A recurrence that takes another branch in each trip."""
    s = x[0]
    for i in range(1, x.shape[0]):
        if s > 0.0:
            s = s * x[i]
        elif x[i] > 1.0:
            s = s + x[i] ** 2
        else:
            s = np.sin(s)
    return s


def loop_over_rows(a, v):
    """An array is walked by its first axis."""
    s = 0.0
    for row in a:
        s += np.sum(row * v) ** 2
    return s


def loop_over_elements(x):
    """Numbers of a vector, two loops deep."""
    s = 0.0
    for a in x:
        for b in x:
            s = s + a * np.sin(b + s)
    return s


def rebound_parameter_in_loop(a, x):
    """A parameter is carried, through a matrix that is bound anew too."""
    for _ in range(3):
        x = np.tanh(a @ x)
        a = a * 0.9 + x[:, None] * 0.1
    return np.sum(x)


def swap_in_loop(x, y):
    """Two carried values trade places."""
    for _ in range(4):
        x, y = y, 0.5 * x * y + x
    return np.sum(y)


def while_on_data(a, x):
    """The data decides how many trips there are."""
    while np.tanh(x) > 0.1:
        x = x * (x + a)
    return x * x


def while_in_while(x):
    """Trips of an inner loop differ from trip to trip."""
    y = x
    n = 0
    while np.sum(y * y) < 10.0 and n < 20:
        y = y * 1.5 + x
        n = n + 1
        k = 0
        while k < n % 3:
            y = np.sin(y) + y
            k += 1
    return np.sum(y)


def newton_square_root(a):
    """Iterates to a tolerance."""
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def recurrent_network(w, u, xs, h):
    """Backpropagation through time."""
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum(h**2)


def four_levels(x):
    """Loops and branches, one inside the other."""
    s = x[0]
    for i in range(2):
        k = 0
        while k < 2:
            if s > 0.2:
                for j in range(i + 1):
                    s = s * x[j] + np.cos(s) * x[k]
            else:
                s = s + x[i]
            k += 1
    return s


# Calls


def callee_with_keywords(x, y):
    """Defaults, keywords and several results."""
    c, d = program_helpers.activated(x, slope=y)
    e, _ = program_helpers.activated(x * 0.5)
    return np.sum(c * d + e)


def callee_three_deep(x):
    """A chain of calls, the same one from two places."""
    return np.sum(program_helpers.outer(x) * program_helpers.middle(x, 0.7))


def callee_in_loop(x, y):
    """A call per trip."""
    s = x
    for _ in range(3):
        u, v = program_helpers.activated(s, slope=y)
        s = u * v + s
    return np.sum(s)


def same_name_from_two_modules(x):
    """Two helpers of one name stay two."""
    return np.sum(scaled(x) * program_helpers.other.scaled(x))


def lambda_callee(x):
    """A lambda that is kept in a global."""
    return np.sum(program_helpers.cubed(x) * x)


def standard_math(x):
    """The functions of the standard library, and builtins."""
    return math.sin(x) * math.exp(-x) + abs(x) * pow(x, 2) + max(x, 0.1) + min(x, 9.0) + math.pi * float(x)


def global_constants(x):
    """Numbers, arrays and tuples of the module."""
    return np.sum(x * RATE * V) + SCALES[1] * np.sum(x)


def guards_and_prints(x, n):
    """Statements without a derivative."""
    assert n >= 0, "trips"
    if n > 100:
        raise ValueError("too many")
    s = x
    for i in range(n):
        print("trip", i, end="")
        s = s * x
    return np.sum(s)


# Results and arguments


def several_results(x, y):
    """A tuple of a number and arrays."""
    s = np.sum(x * y)
    return s, x * s, y


def array_result(x, w):
    """No number at the end."""
    return np.outer(x, w) * np.sin(x)


def dictionary_argument(p, x):
    """Parts of a dict and of a list in it."""
    return np.sum(np.tanh(x * p["w"]) * p["b"][0]) + p["b"][1]


def tuple_argument(pair, x):
    """A tuple is unpacked."""
    a, b = pair
    return np.sum(a * x) * b


def result_is_argument(x):
    """Nothing is done."""
    return x


def constant_in_one_argument(x, y):
    """y has no influence."""
    z = y * 0.0 + 1.0
    return np.sum(x * x)


def make_closure():
    """A function that reads a local of the one around it."""
    factor = 1.7

    def closure(x):
        """The factor is a cell."""
        return np.sum(np.sin(x * factor))

    return closure


_PROGRAMS: tuple[tuple[Any, ...], ...] = (
    (overwritten_variable, (V, W + 2.0)),
    (early_temporary_used_later, (V,)),
    (swapped_variables, (V, W)),
    (nested_unpacking, (V, W)),
    (array_unpacking, (V,)),
    (chained_names, (V,)),
    (augmented_scalars, (0.7, 1.3)),
    (augmented_fresh_array, (V,)),
    (dead_code, (V, W)),
    (all_operators, (1.1, 0.9)),
    (matrix_products, (A, V)),
    (kinds_of_indices, (A,)),
    (methods_and_attributes, (A,)),
    (conditional_expressions, (0.7, 0.4)),
    (conditional_expressions, (-0.7, 0.4)),
    (conditional_expressions, (-0.7, 2.4)),
    (bound_in_both_branches, (V, 0.5)),
    (bound_in_both_branches, (V, 1.5)),
    (changed_in_one_branch, (V, 0.5)),
    (changed_in_one_branch, (V, -0.5)),
    (changed_in_one_branch, (V, -1.5)),
    (nested_branches, (0.7, 0.9)),
    (nested_branches, (0.7, -0.9)),
    (nested_branches, (-0.7, 0.9)),
    (test_is_overwritten, (0.7,)),
    (test_is_overwritten, (-0.7,)),
    (loop_carried_value, (0.4, 3.2, 6)),
    (loop_carried_value, (0.4, 3.2, 0)),
    (loop_carried_value, (0.4, 3.2, 1)),
    (last_value_of_a_loop, (V, W, 4)),
    (last_value_of_a_loop, (V, W, 0)),
    (trip_value_used_after, (V,)),
    (ranges, (V,)),
    (triangular_loops, (V, 4)),
    (triangular_loops, (V, 0)),
    (branch_in_loop, (np.array([0.6, -0.7, 1.3, 0.4, 0.8]),)),
    (loop_over_rows, (B, V)),
    (loop_over_rows, (B[:0], V)),
    (loop_over_elements, (V,)),
    (rebound_parameter_in_loop, (A, V)),
    (swap_in_loop, (V, W)),
    (while_on_data, (0.3, 0.5)),
    (while_on_data, (0.3, 0.05)),
    (while_in_while, (0.3 * V,)),
    (newton_square_root, (2.3,)),
    (recurrent_network, (A, B.T, np.stack([W[:2], V[:2]]), V)),
    (four_levels, (V,)),
    (callee_with_keywords, (V, 0.6)),
    (callee_three_deep, (V,)),
    (callee_in_loop, (V, 0.6)),
    (same_name_from_two_modules, (V,)),
    (lambda_callee, (V,)),
    (standard_math, (0.7,)),
    (global_constants, (W,)),
    (guards_and_prints, (V, 3)),
    (several_results, (V, W)),
    (array_result, (V, W)),
    (dictionary_argument, ({"w": W, "b": [V, 0.4]}, V)),
    (tuple_argument, ((V, 0.4), W)),
    (result_is_argument, (V,)),
    (constant_in_one_argument, (V, W)),
    (make_closure(), (V,)),
    (lambda x, y: np.sum(x * np.sin(y)), (V, W)),
    (Scaled(1.4).apply, (V,)),
)
PROGRAMS = _PROGRAMS
IDS = [f"{function.__name__}-{number}" for number, (function, _) in enumerate(PROGRAMS)]
