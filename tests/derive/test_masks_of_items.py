"""Masks of the items of lists, dicts and tuples: what is not taken of an item contributes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple  # functions of arrays

import numpy as np
import pytest

import srcgrad

C = 0.1
X = np.array([0.0, 0.3, 2.0])
X6 = np.array([0.0, 0.3, 2.0, 0.0, 1.3, 0.7])


def split_first_part(x):
    a, b = np.split(np.sqrt(x), [3])
    return np.sum(a[1:]) + np.sum(b[1:] ** 2)


def split_one_part_unread(x):
    _, b, _ = np.split(np.sqrt(x), [1, 3])
    return np.sum(b)


def split_masked(x):
    parts = np.split(np.sqrt(x), 2)
    return np.sum(np.where(parts[0] > C, parts[0], 0.0)) + np.sum(np.where(parts[1] > C, parts[1] ** 2, 0.0))


def split_loop(x):
    s = 0.0
    for part in np.split(np.sqrt(x), 2):
        s = s + np.sum(part[part > C])
    return s


def array_split_unpacked(x):
    a, b = np.array_split(np.sqrt(x), 2)
    return np.sum(np.where(a > C, a, 0.0) * np.where(b > C, b, 1.0))


def dict_items(x):
    d = {"r": np.sqrt(x), "s": x * 2.0}
    return np.sum(np.where(x > C, d["r"], 0.0)) + np.sum(d["s"])


def dict_filled(x):
    d = {}
    d["r"] = np.sqrt(x)
    d["l"] = np.log(x)
    return np.sum(np.where(x > C, d["r"] * d["l"], x))


def list_items(x):
    parts = [np.sqrt(x), np.log(x)]
    return np.sum(np.where(x > C, parts[0] + parts[1], 0.0))


def list_appended(x):
    parts = []
    for k in range(3):
        parts.append(np.sqrt(x) * (k + 1.0))
    return np.sum(np.where(x > C, parts[0] + parts[1] * parts[2], 0.0))


def list_loop(x):
    parts = [np.sqrt(x), np.log(x), x**0.25]
    s = 0.0
    for q in parts:
        s = s + np.sum(np.where(x > C, q, 0.0))
    return s


def tuple_items(x):
    t = (np.sqrt(x), np.log(x))
    return np.sum(np.where(x > C, t[0] * t[1], 0.0))


def divmod_masked(x):
    q, r = divmod(np.sqrt(x), 0.4)
    return np.sum(np.where(x > C, r * r + q, 0.0))


def divmod_divisor(x):
    _, r = divmod(1.3, x)
    return np.sum(np.where(x > C, r, 0.0))


def modf_masked(x):
    q, r = np.modf(np.sqrt(x))
    return np.sum(np.where(x > C, q * q + r, 0.0))


def helper_dict(x):
    return {"r": np.sqrt(x), "l": np.log(x)}


def helper_gives_dict(x):
    d = helper_dict(x)
    return np.sum(np.where(x > C, d["r"] + d["l"], 0.0))


def helper_list(x):
    return [np.sqrt(x), np.log(x)]


def helper_gives_list(x):
    d = helper_list(x)
    return np.sum(np.where(x > C, d[0] + d[1], 0.0))


def helper_loop_list(x):
    out = []
    for k in range(2):
        out.append(np.sqrt(x) + k)
    return out


def helper_gives_loop_list(x):
    d = helper_loop_list(x)
    return np.sum(np.where(x > C, d[0] + d[1], 0.0))


def array_in_list_item(x):
    items = [np.sqrt(x), np.zeros(3)]
    items[1] = np.log(x)
    return np.sum(np.where(x > C, items[0] * items[1], 0.0))


@dataclass
class Pair:
    a: object
    b: object


def record_fields(x):
    q = Pair(np.sqrt(x), np.log(x))
    return np.sum(np.where(x > C, q.a * q.b, 0.0))


class Named(NamedTuple):
    a: object
    b: object


def named_tuple(x):
    q = Named(np.sqrt(x), np.log(x))
    return np.sum(np.where(x > C, q.a * q.b, 0.0))


def list_of_roots_filtered(x):
    r = [np.sqrt(v) for v in x]
    return sum([v for v in r if v > C])


def list_of_roots_some(x):
    r = [np.sqrt(v) for v in x]
    return r[1] * r[2]


def stored_again(x):
    parts = [np.sqrt(x), x]
    first = np.where(x > C, parts[0], 0.0)
    parts[0] = x * x
    return np.sum(first * parts[0])


def taken_from_a_list(x):
    parts = [np.log(x), np.sqrt(x)]
    last = parts.pop()
    return np.sum(np.where(x > C, last * parts[0], 0.0))


def in_a_branch(x):
    parts = [np.log(x), np.sqrt(x)]
    s = 0.0
    if x[1] > C:
        s = s + np.sum(np.where(x > C, parts[0], 0.0))
    return s + np.sum(np.where(x > C, parts[1], x))


def under_a_flag(x):
    parts = [np.sqrt(x), np.log(x)]
    r = parts[0] * 2.0
    s = np.sum(np.where(x > C, parts[1], 0.0))
    for k in range(2):
        if k > 5:
            s = s + np.sum(r)
    return s + parts[0][1]


def counted_from_the_end(x):
    parts = [np.sqrt(x), np.log(x)]
    return np.sum(np.where(x > C, parts[-1] + parts[0], 0.0))


FUNCTIONS = [
    split_first_part,
    split_one_part_unread,
    split_masked,
    split_loop,
    array_split_unpacked,
    dict_items,
    dict_filled,
    list_items,
    list_appended,
    list_loop,
    tuple_items,
    divmod_masked,
    divmod_divisor,
    modf_masked,
    helper_gives_dict,
    helper_gives_list,
    helper_gives_loop_list,
    array_in_list_item,
    record_fields,
    named_tuple,
    list_of_roots_filtered,
    list_of_roots_some,
    stored_again,
    taken_from_a_list,
    in_a_branch,
    under_a_flag,
    counted_from_the_end,
]
LONG = (split_first_part, split_one_part_unread, split_masked, split_loop, array_split_unpacked)


def start(function: Any) -> np.ndarray:
    return X6 if function in LONG else X


def differences(function: Any, x: np.ndarray) -> np.ndarray:
    """Central differences; 0.0 where the function is not defined to the left, and nothing is read."""
    with np.errstate(all="ignore"):
        return np.array([(function(x + h) - function(x - h)) / 2e-6 for h in 1e-6 * np.eye(x.size)])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_what_is_not_taken_of_an_item_contributes_nothing(function: Any) -> None:
    x = start(function)
    expected = differences(function, x)
    assert np.all(np.isfinite(expected))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(srcgrad.grad(function)(x), expected, rtol=1e-6, atol=1e-8)
        pull = srcgrad.vjp(function, x)[1]
        for _ in range(2):
            np.testing.assert_allclose(pull(2.0)[0], 2.0 * expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_nor_does_it_to_second_derivatives(function: Any) -> None:
    x, direction = start(function), np.linspace(0.5, 1.5, start(function).size)
    with np.errstate(all="ignore"):
        found = srcgrad.hvp(function)(x, direction)
        gradient, h = srcgrad.grad(function), 1e-6 * np.where(x > 0.0, direction, 0.0)
        expected = (gradient(x + h) - gradient(x - h)) / 2e-6
    assert np.all(np.isfinite(found))
    np.testing.assert_allclose(found[x > 0.0], expected[x > 0.0], rtol=1e-5, atol=1e-7)


def weighted_roots(parts, w):
    s = 0.0
    for k in range(2):
        s = s + np.sum(parts[k] * w) * (k + 1.0)
    return s


def in_a_call_or_by_an_item(x):
    parts = [np.sqrt(x), np.log(x)]
    if x[0] > C:
        s = weighted_roots(parts, x)
        s = s * 2.0
    else:
        s = parts[0][1]
    return s


@pytest.mark.parametrize("first", [0.05, 0.4])
def test_a_call_that_is_given_a_list_adds_to_its_items(first: float) -> None:
    x = np.array([first, 0.3, 2.0])
    np.testing.assert_allclose(
        srcgrad.grad(in_a_call_or_by_an_item)(x), differences(in_a_call_or_by_an_item, x), rtol=1e-6, atol=1e-8
    )


def squared(x):
    parts = {"r": np.sqrt(x)}
    return np.sum(parts["r"] ** 2)


def all_walked(x):
    return sum(np.sum(part**2) for part in [np.sqrt(x), x])


@pytest.mark.parametrize("function", [squared, all_walked])
def test_zeros_that_are_numbers_are_no_masks(function: Any) -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(srcgrad.grad(function)(X)[0])


def test_items_that_are_taken_whole_have_no_mask() -> None:
    def plain(x):
        parts = [np.sqrt(x), np.log(x)]
        return np.sum(parts[0] * parts[1])

    assert "item_masks" not in srcgrad.source(plain) and "np.where" not in srcgrad.source(plain)
