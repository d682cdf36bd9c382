"""Contributions to one adjoint from one statement: those to a list, a tuple or a dict are no arrays, which `+` adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads


def paired(u: Any, v: Any) -> Any:
    total = 0.0
    for k in range(len(u)):
        total = total + u[k] * v[k] ** 2
    return total


def threefold(u: Any, v: Any, w: Any) -> Any:
    return paired(u, v) * paired(v, w)


def keyed(u: Any, v: Any) -> Any:
    total = 0.0
    for _ in range(2):
        total = total + u["a"] * v["b"] ** 2
    return total


def twice_and_an_item(x: Any) -> Any:
    return paired(x, x) + x[0] * paired(x, x)


LIST = [0.3, 0.7, 1.1]
PROGRAMS = [
    (lambda x: paired(x, x), LIST),
    (lambda x: threefold(x, x, x), LIST),
    (twice_and_an_item, LIST),
    (lambda x: paired(x, x), (0.3, 0.7)),
    (lambda x: paired(x, x), np.array(LIST)),
    (lambda x: keyed(x, x), {"a": 0.3, "b": 0.7}),
    (lambda x: np.insert(x, 0, x) ** 2, LIST),
]


@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_one_container_given_twice(f: Callable[..., Any], x: Any) -> None:
    """The two adjoints of a list were joined, and the second one was lost."""
    check_grads(f, (x,), order=2)


def summed(t: Any, k: Any) -> Any:
    return sum(k for _ in [t, k]) * t


def of_a_counter(k: Any) -> Any:
    for k in range(2):
        k *= k
    return summed(k, (lambda _: summed(k, k))(np.cos(k)))


def through_two_calls(x: Any) -> Any:
    return x * x + of_a_counter(x)


def test_a_called_function_may_get_a_counter() -> None:
    """The adjoint of its parameter had the counter's dtype, to which no float can be added."""
    check_grads(through_two_calls, (0.7,), order=2)
