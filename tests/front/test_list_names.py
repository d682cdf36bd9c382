"""A list or dict that changes keeps its kind where its name is bound to something else before or afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad


def bound_to_its_item(x, d):
    d["a"] = d["a"] * x
    d = d["a"]
    return d[0] * d[1] * x


def bound_to_a_number(x, s):
    y = s[1]
    for _ in range(2):
        s[1] *= x
    kept = {"w": s}
    s = 0.5
    return x * y * s * kept["w"][1]


def bound_to_another(x, s):
    s[0] = 3.0 * x
    y = s[0] * s[1]
    s = {"p": x * y}
    s["p"] *= x
    return s["p"] + y


def bound_before(x, s):
    d = x * x
    y = d * d
    d = [d, 2.0 * x]
    d[0] *= y
    return d[0] + d[1] * s[0]


def unpacked_into_a_key(x, d):
    d["a"], y = (x * x, d["w"])
    t = d
    d = y
    return t["a"] * t["w"] * d


def augmented_afterwards(x, s):
    s[0] *= x
    s = s[0] * s[1]
    s *= x
    s += 1.0
    return s * s


def filled_and_read(x, s):
    t = s["a"]
    s["a"] = s["w"] * x
    for _ in range(2):
        s["a"] *= np.sin(x) + s["a"]
    return s["a"] * t * x


def added_to(x, s):
    s[0] += x
    return s[0] ** 3 + np.sum(x * s[0] * s[1])


CASES = {
    bound_to_its_item: {"a": np.array([1.1, 0.7])},
    bound_to_a_number: [0.4, 1.1],
    bound_to_another: [0.4, 1.1],
    bound_before: [0.4],
    unpacked_into_a_key: {"a": 0.35, "w": 0.6},
    augmented_afterwards: [0.4, 1.1],
}


@pytest.mark.parametrize("function", CASES)
def test_a_list_that_changes_and_whose_name_is_bound_anew(function: Any) -> None:
    srcgrad.check_grads(function, (0.7, CASES[function]), order=1)


@pytest.mark.parametrize(
    ("function", "held"),
    [(filled_and_read, {"a": 0.35, "w": 0.6}), (added_to, [0.3, 0.5]), (bound_to_another, [0.4, 1.1])],
)
def test_second_order_through_a_list_that_changes(function: Any, held: Any) -> None:
    def slope(x):
        return srcgrad.grad(function)(x, held)

    wanted = (slope(0.7 + 1e-6) - slope(0.7 - 1e-6)) / 2e-6
    assert np.isclose(srcgrad.hvp(function)(0.7, held, 1.0), wanted, rtol=1e-6)
