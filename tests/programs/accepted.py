"""A corpus of functions in the language that srcgrad accepts: each has a name for what it does, and arguments."""

from __future__ import annotations

import math
from typing import Any  # arguments of any kind

import numpy as np

from tests.programs import program_branches as branches
from tests.programs import program_helpers
from tests.programs import program_loops as loops
from tests.programs.program_helpers import Scaled, scaled

V = np.array([0.3, -0.5, 1.2])
W = np.array([0.9, 0.4, -0.7])
A = np.array([[0.2, -0.4, 0.6], [0.5, 0.1, -0.3], [0.7, -0.8, 0.4]])
B = np.array([[0.3, 0.8, -0.5], [-0.2, 0.6, 0.9]])

RATE = 0.8
SCALES = (0.5, 1.5)


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
    return np.sum(x * x) + (0.0 if y is None else 1.0)


def make_closure():
    """A function that reads a local of the one around it."""
    factor = 1.7

    def closure(x):
        """The factor is a cell."""
        return np.sum(np.sin(x * factor))

    return closure


PROGRAMS: tuple[tuple[Any, ...], ...] = (
    (branches.overwritten_variable, (V, W + 2.0)),
    (branches.early_temporary_used_later, (V,)),
    (branches.swapped_variables, (V, W)),
    (branches.nested_unpacking, (V, W)),
    (branches.array_unpacking, (V,)),
    (branches.chained_names, (V,)),
    (branches.augmented_scalars, (0.7, 1.3)),
    (branches.augmented_fresh_array, (V,)),
    (branches.dead_code, (V, W)),
    (branches.all_operators, (1.1, 0.9)),
    (branches.matrix_products, (A, V)),
    (branches.kinds_of_indices, (A,)),
    (branches.methods_and_attributes, (A,)),
    (branches.conditional_expressions, (0.7, 0.4)),
    (branches.conditional_expressions, (-0.7, 0.4)),
    (branches.conditional_expressions, (-0.7, 2.4)),
    (branches.bound_in_both_branches, (V, 0.5)),
    (branches.bound_in_both_branches, (V, 1.5)),
    (branches.changed_in_one_branch, (V, 0.5)),
    (branches.changed_in_one_branch, (V, -0.5)),
    (branches.changed_in_one_branch, (V, -1.5)),
    (branches.nested_branches, (0.7, 0.9)),
    (branches.nested_branches, (0.7, -0.9)),
    (branches.nested_branches, (-0.7, 0.9)),
    (branches.test_is_overwritten, (0.7,)),
    (branches.test_is_overwritten, (-0.7,)),
    (loops.loop_carried_value, (0.4, 3.2, 6)),
    (loops.loop_carried_value, (0.4, 3.2, 0)),
    (loops.loop_carried_value, (0.4, 3.2, 1)),
    (loops.last_value_of_a_loop, (V, W, 4)),
    (loops.last_value_of_a_loop, (V, W, 0)),
    (loops.trip_value_used_after, (V,)),
    (loops.ranges, (V,)),
    (loops.broadcast_products, (B, V, np.array([0.3, -0.2]))),
    (loops.broadcast_products, (B, V, np.array([[0.3], [-0.2], [0.9]]))),
    (loops.broadcast_products, (V, W, np.array([0.3, -0.2]))),
    (loops.broadcast_products, (A[:1], B.T, np.array([[0.3], [-0.2], [0.9]]))),
    (loops.triangular_loops, (V, 4)),
    (loops.triangular_loops, (V, 0)),
    (loops.branch_in_loop, (np.array([0.6, -0.7, 1.3, 0.4, 0.8]),)),
    (loops.loop_over_rows, (B, V)),
    (loops.loop_over_rows, (B[:0], V)),
    (loops.loop_over_elements, (V,)),
    (loops.rebound_parameter_in_loop, (A, V)),
    (loops.swap_in_loop, (V, W)),
    (loops.while_on_data, (0.3, 0.5)),
    (loops.while_on_data, (0.3, 0.05)),
    (loops.while_in_while, (0.3 * V,)),
    (loops.newton_square_root, (2.3,)),
    (loops.recurrent_network, (A, B.T, np.stack([W[:2], V[:2]]), V)),
    (loops.four_levels, (V,)),
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
IDS = [f"{function.__name__}-{number}" for number, (function, _) in enumerate(PROGRAMS)]
