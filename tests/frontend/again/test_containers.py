"""Second and third derivatives through dicts that change and containers of containers, in nestings of both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # programs of any shape

import numpy as np
import pytest

from srcgrad import check_grads, grad, hvp, jvp

X = np.array([0.7, 1.3, 0.4])
ALONG = np.array([0.3, -0.8, 0.5])


def dicts_in_a_list(x):
    parts = [{"a": x * x, "b": x}, {"a": x, "b": 2.0 * x}]
    return sum([np.sum(p["a"] * p["b"] ** 2) for p in parts])


def dicts_appended_to_a_list(x):
    parts = []
    for k in range(3):
        parts.append({"a": x[k] * x[0], "b": x[k]})
    s = 0.0
    for p in parts:
        s = s + p["a"] * p["b"] ** 2
    return s


def lists_in_a_dict_filled_by_a_loop(x):
    rows = {}
    for k in range(3):
        rows[k] = [x[k], x[k] * x[0]]
    return rows[0][1] * rows[1][0] + rows[2][1] ** 2


def dicts_made_by_words(x):
    p = dict(w=x * x, b=x[0])  # noqa: C408
    return np.sum(np.tanh(p["w"] * p["b"]))


def dicts_in_a_dict(x):
    layers = {"first": {"w": x[0] * x, "b": x[1]}, "last": {"w": x[2] * x, "b": x[0]}}
    h = x
    for name in ("first", "last"):
        layer = layers[name]
        h = np.tanh(h * layer["w"] + layer["b"])
    return np.sum(h * h)


def entries_that_may_be_missing(x):
    sums = {}
    for k in range(6):
        sums[k % 2] = sums.get(k % 2, 0.0) + x[k % 3] ** (k + 1)
    return sums[0] * sums[1]


def defaults_that_are_active(x):
    parts = {"a": x[0] * x[1]}
    return parts.get("a", x[2]) * parts.get("b", x[2] ** 2) * parts.get("c" + "d", x[1])


def active_defaults_of_entries_that_a_loop_makes(x):
    sums = {}
    for k in range(4):
        sums[k % 2] = sums.get(k % 2, x[2] ** 2) * x[k % 3] + k
    return sums[0] * x[1] + sums[1] ** 2


def memories(x):
    found = {0: x[0], 1: x[1]}
    for k in range(2, 5):
        found[k] = found[k - 1] * x[2] + found[k - 2] ** 2
    return found[4]


def keys_in_branches(x):
    found = {"s": x[0]}
    for k in range(3):
        if x[k] > 0.5:
            found["s"] = found["s"] * x[k]
        else:
            found["t"] = found["s"] ** 2
    return found["s"] * found["t"]


def pair(x):
    parts = {"a": x * x, "b": np.sin(x)}
    return parts, parts["a"] * parts["b"]


def a_dict_and_what_it_gives(x):
    parts, product = pair(x)
    return np.sum(parts["a"] * product)


def _scaled(x):
    d = [x[0], x[1]]
    for k in range(2):
        d[k] *= x[2]
    return d[0] * d[1]


def a_list_that_a_helper_fills(x):
    s = 0.0
    for k in range(2):
        s = s + _scaled(x * (1.0 + k))
    return s * x[0]


def a_list_and_its_copy(x):
    d = [x[k] * x[(k + 1) % 3] for k in range(3)]
    e = list(d)
    for k in range(3):
        e[k] = e[k] * d[k - 1]
        d[k] += e[k] * 0.1
    return sum(d) * e[2]


def a_queue(x):
    q = [x[0]]
    for k in range(3):
        t = q.pop()
        q.append(t * x[k])
        q.append(t + x[1])
    return q[-1] * q[0]


def parts_of_lists(x):
    layers = [(x * x[0], x[1]), (np.sin(x), x[2]), (x, x[0] * x[1])]
    h = x
    for w, b in layers[1:]:
        h = np.tanh(h * w + b)
    back = h
    for w, b in reversed(layers):
        back = back * w + b
    for w, _ in layers[::-1]:
        h = np.sin(h + w)
    return np.sum(h * back)


def a_list_that_changes_on_the_way_back(x):
    q = [x, x * x, np.sin(x)]
    s = 0.0
    for p in reversed(q):
        q[0] = q[0] * p
        s = s + np.sum(q[0] * p)
    for k, p in enumerate(reversed(q)):
        q[0] = q[0] * p
        s = s + np.sum(q[0] * p) * (k + 1)
    return s


PROGRAMS = (
    dicts_in_a_list, dicts_appended_to_a_list, lists_in_a_dict_filled_by_a_loop, dicts_in_a_dict, dicts_made_by_words,
    entries_that_may_be_missing, defaults_that_are_active, memories,
    active_defaults_of_entries_that_a_loop_makes, keys_in_branches, a_dict_and_what_it_gives,
    a_list_that_a_helper_fills, a_list_and_its_copy, a_queue, parts_of_lists, a_list_that_changes_on_the_way_back,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives(program: Callable[..., Any]) -> None:
    check_grads(program, (X,), order=2, directions=1)


@pytest.mark.parametrize("program", [dicts_in_a_list, memories, a_dict_and_what_it_gives])
def test_third_derivatives(program: Callable[..., Any]) -> None:
    def slope(x):
        return np.sum(grad(program)(x) * ALONG)

    step, second = 1e-5, grad(slope)
    expected = (second(X + step * X) - second(X - step * X)) / (2.0 * step)
    for found in (hvp(slope)(X, X), grad(lambda x: np.sum(grad(slope)(x) * X))(X)):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)  # differences err by the step squared


@pytest.mark.parametrize("program", [dicts_in_a_list, memories])
def test_three_times_forward(program: Callable[..., Any]) -> None:
    def once(x):
        return jvp(program, (x,), (ALONG,))[1]

    def twice(x):
        return jvp(once, (x,), (ALONG,))[1]

    step = 1e-5
    expected = (twice(X + step * ALONG) - twice(X - step * ALONG)) / (2.0 * step)
    np.testing.assert_allclose(jvp(twice, (X,), (ALONG,))[1], expected, rtol=1e-7, atol=1e-8)
