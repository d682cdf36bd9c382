"""Python's `max` and `min` with `default=` and `key=`, and choices in the midst of an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads

X = np.array([0.3, 0.9, 0.5])


def size(p: Any) -> Any:
    return p[0] * p[0] + p[1]


def largest_that_is_far(x: Any) -> Any:
    c = [v * v for v in x if v > 0.4]
    return max(c, default=0.5 * x[0]) ** 2


def smallest_of_none(x: Any) -> Any:
    c = [v * v for v in x if v > 5.0]
    return min(c, default=0.5 * x[0]) ** 2


def of_a_growing_list(x: Any) -> Any:
    c: list[Any] = []
    s = 0.0
    for v in x:
        s = s + max(c, default=v)
        c.append(v * v)
    return s


def farthest(x: Any) -> Any:
    c = [x[0], -x[1] * 3.0, x[2]]
    return max(c, key=abs) ** 2


def pair_by_size(x: Any) -> Any:
    pairs = [(v, v * v) for v in x]
    a, b = max(pairs, key=size)
    return a * b


def both_words(x: Any) -> Any:
    c = [x[0], -x[1] * 3.0, x[2]]
    return max(c, default=1.0, key=abs) ** 2


def of_what_has_no_name(x: Any) -> Any:
    return max([v * v - 1.0 for v in x], key=abs) ** 2 + min((v * v for v in x), default=0.0)


def of_values(x: Any) -> Any:
    parts = {"a": x[0], "b": x[1]}
    return max(parts.values(), default=0.1) ** 2


def chosen_within(x: Any) -> Any:
    c = [v * v for v in x]
    return (max(c) if c else 0.5) ** 2 + (sum([v * v for v in x]) if len(x) > 2 else x[0])


def named_within(x: Any) -> Any:
    return max(w) ** 2 if len(w := [v * v for v in x]) > 0 else 0.5


PROGRAMS = [
    largest_that_is_far,
    smallest_of_none,
    of_a_growing_list,
    farthest,
    pair_by_size,
    both_words,
    of_what_has_no_name,
    of_values,
    chosen_within,
    named_within,
    lambda x: max(x, key=np.sin) ** 2,
    lambda x: max(x[0], -x[1], x[2], key=abs) ** 2,
    lambda x: 2.0 * max(x, default=1.0) + min(x, key=None),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_extremes(f: Callable[..., Any]) -> None:
    check_grads(f, (X,), order=2)


def largest_key(x: Any) -> Any:
    parts = {0: x[0], 1: x[1]}
    return parts[max(parts, key=parts.get)] ** 2


def test_a_dict_has_no_places() -> None:
    """What stands at a place of a list is an item; at that place of this dict it is a value."""
    assert srcgrad.grad(largest_key)(X).tolist() == [0.0, 1.8, 0.0]


def test_annotated_lists_and_dicts_are_as_others() -> None:
    def f(x: Any) -> Any:
        kept: list[Any] = []
        parts: dict[str, Any] = {}
        for v in x:
            kept.append(v * v)
        parts["sum"] = sum(kept)
        return parts["sum"] * max(kept)

    check_grads(f, (X,), order=2)
