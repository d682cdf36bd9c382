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


def items_that_are_no_numbers(w: Any) -> Any:
    total = 0.0
    for item in [w, "id", None]:
        if item is not None and not isinstance(item, str):
            total = total + np.sum(item**2)
    return total


def places_that_are_no_numbers(w: Any) -> Any:
    total, items = 0.0, (w * w, None, 2.0, "k", w[0])
    for k, item in enumerate(items):
        if k in (0, 2, 4):
            total = total + np.sum(item**2) * w[0]
    return total


def an_argument_with_others(w: Any) -> Any:
    total = 0.0
    for item in w:
        if item is not None and not isinstance(item, str):
            total = total + np.sum(item**2)
    return total


@pytest.mark.parametrize("function", [items_that_are_no_numbers, places_that_are_no_numbers])
@pytest.mark.parametrize("order", [1, 2])
def test_an_item_without_a_derivative_adds_nothing(function: Callable[..., Any], order: int) -> None:
    check_grads(function, (np.array([0.3, 1.2, -2.0]),), order=order)


@pytest.mark.parametrize("order", [1, 2])
def test_an_item_of_an_argument_without_a_derivative_adds_nothing(order: int) -> None:
    check_grads(an_argument_with_others, ([np.array([0.3, 1.2]), "id", None],), order=order)
