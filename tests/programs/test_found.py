"""What was found by attack stays found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from srcgrad import value_and_grad
from srcgrad.interface.check.check_grads import check_grads
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
