"""Numbers read from texts: their derivative was zero."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError


def at_once(x):
    return float(str(x)) * 2.0


def formatted(x):
    return float(f"{x}") * x


def by_a_name(x):
    text = repr(x)
    other = text + "0"
    return np.float64(other)


@pytest.mark.parametrize("function", [at_once, formatted, by_a_name])
def test_refused(function) -> None:
    with pytest.raises(DifferentiationError, match=r"E5005.*read from a text"):
        srcgrad.grad(function)(3.5)


def test_texts_for_people_and_for_functions(capsys) -> None:
    def told(x, n):
        print(f"{x}", str(n))
        if x > 1e9:
            raise ValueError(repr(x))
        return float(np.sum(x)) ** 2 + np.einsum(f"{'i'},i->", np.ones(2), np.ones(2)) * x

    assert srcgrad.grad(told)(3.0, 2) == 8.0
    assert capsys.readouterr().out == "3.0 2\n"
