"""Functions that are called for elements or rows: against differences, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp
from srcgrad.core.errors import DifferentiationError

T = np.linspace(0.1, 1.0, 4)


@np.vectorize
def larger(a: Any, b: Any) -> Any:
    return a * a if a > b else b


@np.vectorize(otypes=[float])
def hat(a: Any) -> Any:
    return a**3 if a > 0.3 else 0


@np.vectorize(signature="(n)->()")
def length(row: Any) -> Any:
    return np.sum(row) ** 2


def elements(x: Any) -> Any:
    return np.sum(larger(T * x, 0.51) + hat(T * x)) + np.vectorize(lambda s, t, k: s**k * t)(0.5, x, 2.0)


def objects(x: Any) -> Any:
    return np.sum(np.frompyfunc(lambda a, b: a * b if b > 0.5 else 0, 2, 1)(x, x * T))


def rows(x: Any) -> Any:
    def squares(row):
        return np.outer(row, row * x)

    return np.sum(np.apply_along_axis(squares, 0, np.sin(x * np.outer(T, T[:2])))[1] * np.outer(T, T[:2]))


@pytest.mark.parametrize("program", [elements, objects, rows])
def test_derivatives(program):
    slope = grad(program)
    assert slope(1.1) == pytest.approx(differences(program, 1.1), rel=1e-8)
    assert jvp(program, (1.1,), (1.0,))[1] == pytest.approx(slope(1.1), rel=1e-12)
    assert hvp(program)(1.1, 1.0) == pytest.approx(differences(slope, 1.1), rel=1e-8)


def differences(f: Any, x: float, h: float = 1e-3) -> Any:
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)


def cut(x: Any) -> Any:
    return np.sum(np.vectorize(lambda a: a * x if a > 0.5 else 0)(T))


def whole(x: Any) -> Any:
    return np.sum(np.vectorize(lambda a: a * x, otypes=[int])(T))


def several(x: Any) -> Any:
    one, two = np.vectorize(lambda a: (a, a * x))(T)
    return np.sum(one * two)


def excluded(x: Any) -> Any:
    return np.sum(np.vectorize(lambda a, p: a * p[0], excluded=[1])(T * x, [2.0]))


@pytest.mark.parametrize(
    ("program", "says"),
    [(cut, "give otypes="), (whole, "makes integers"), (several, "several results"), (excluded, "excluded=")],
)
def test_what_is_cut_or_kept_whole_is_refused(program, says):
    with pytest.raises((DifferentiationError, TypeError), match=says):
        grad(program)(1.5)


def test_rows_of_a_signature_are_not_elements():
    with pytest.raises(DifferentiationError, match="E5003"):
        grad(lambda x: np.sum(length(np.ones((3, 2)) * x)))(1.5)
