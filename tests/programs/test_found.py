"""What was found by attack stays found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import DifferentiationError, value_and_grad
from srcgrad.interface.check.check import check_grads
from tests.programs.found import FOUND, SECOND


@pytest.mark.parametrize(("function", "arguments"), FOUND, ids=lambda item: getattr(item, "__name__", ""))
def test_derivatives(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    check_grads(function, arguments, order=1)


@pytest.mark.parametrize(("function", "arguments"), SECOND, ids=lambda item: getattr(item, "__name__", ""))
def test_second_derivatives(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    check_grads(function, arguments, order=2)


def test_value_is_that_of_the_last_trip() -> None:
    def orbit(x, r):
        s = 0.0
        for _ in range(3):
            x = r * x * (1.0 - x)
            s = s + x
        return s

    assert value_and_grad(orbit)(0.4, 3.2)[0] == orbit(0.4, 3.2)


def test_pieces_of_a_list_along_another_axis_than_its_length() -> None:
    """NumPy takes the length of a list for that of its axis: the pieces of an array of it would be others."""

    def pieces(x):
        return np.sum(np.array_split([x[0], x[1]], 2, 1)[-1] ** 3)

    def placed(x, k):
        return np.sum(np.split([x[0], x[1]], [1], axis=k)[0] ** 3)

    x = np.array([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]])
    for function, arguments in ((pieces, (x,)), (placed, (x, 1))):
        with pytest.raises(DifferentiationError, match="divides a list by its length"):
            value_and_grad(function)(*arguments)


WIDTHS = [1.0, 2.0]


def test_an_extreme_of_what_does_not_vary_is_its_item_itself() -> None:
    """`max` of Python's numbers is one of them: an array of them would make float64 of float32, and of 1/n an error."""

    def module_list(x):
        return np.sum(x) * max(WIDTHS)

    def lengths(x):
        return np.sum(x) * min(x.shape) ** -1

    def counted(x):
        return np.sum(x * x) * max(len(row) for row in x)

    def from_range(x):
        return np.sum(x) * max(range(1, len(x) + 3))

    x = np.array([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], dtype=np.float32)
    for function in (module_list, lengths, counted, from_range):
        value, gradient = value_and_grad(function)(x)
        assert (value, value.dtype, gradient.dtype) == (function(x), np.float32, np.float32)
        check_grads(function, (x.astype(float),), order=2)
