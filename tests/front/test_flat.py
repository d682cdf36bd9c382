"""Operations on names and literals: what is read from a display has a name first."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

X = np.array([0.5, 1.5])


def by_key(x, key):
    return {"square": np.sum(x * x), "cube": np.sum(x**3)}[key]


def by_place(x, place):
    return [x * x, x**3][place] * x


def of_a_tuple(x, place):
    return (x * x, x**3)[place]


def in_a_loop(x, times):
    s = 0.0
    for k in range(times):
        s = s + np.sum([x, x * x, s * x][k] * x)
    return s


def of_a_display_in_a_dict(x, place):
    return {"a": [x, 2.0 * x], "b": [x, x]}["a"][place]


@pytest.mark.parametrize(
    ("function", "chosen"),
    [(by_key, "cube"), (by_place, 1), (of_a_tuple, 0), (in_a_loop, 3), (of_a_display_in_a_dict, 1)],
)
def test_a_part_of_a_display_is_chosen_where_it_stands(function, chosen):
    """An internal error once: a display was an operand of its own."""
    srcgrad.check_grads(function, (X, chosen), order=2)


def written_through(x, place):
    a, b = x * 1.0, x * 2.0
    v = [a, b][place]
    v[0] = 0.0
    return np.sum(a * b)


def changed_behind(x, key):
    a = x * 1.0
    v = {"a": a, "x": x}[key]
    a[0] = 5.0
    return np.sum(v * x)


@pytest.mark.parametrize(("function", "chosen"), [(written_through, 0), (changed_behind, "a")])
def test_a_part_may_be_what_changes(function, chosen):
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(function)(X, chosen)
