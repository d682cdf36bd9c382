"""`where=` and `initial=` of reductions: what other tools swallow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import check_grads, grad, vjp
from srcgrad.core.errors import DifferentiationError

X = np.random.default_rng(0).normal(size=(3, 4))
MASK = X > -0.3
C = 0.7


def sum_where(x: Any, c: Any) -> Any:
    return np.sum(np.sum(x * x, axis=0, where=MASK) * c)


def sum_initial(x: Any, c: Any) -> Any:
    return x.sum(initial=c) ** 2


def sum_of_both(x: Any, c: Any) -> Any:
    return np.sum(x, where=x > c, initial=c * c, keepdims=True)[0, 0] ** 2


def prod_where(x: Any, c: Any) -> Any:
    return np.sum(np.prod(x, 1, where=MASK, initial=c))


def mean_where(x: Any, c: Any) -> Any:
    return np.sum(np.mean(x, axis=1, where=MASK) ** 2) + x.mean(where=MASK) * c


def max_initial_wins(x: Any, c: Any) -> Any:
    return np.max(x, initial=9.0) * c + np.max(x)


def max_initial(x: Any, c: Any) -> Any:
    return np.sum(np.max(x, axis=0, initial=c) ** 2)


def min_where(x: Any, c: Any) -> Any:
    return np.sum(x.min(axis=1, where=MASK, initial=np.inf) ** 2) * c


def var_where(x: Any, c: Any) -> Any:
    return np.var(x, where=MASK) * c


def differences_from(x: Any, c: Any) -> Any:
    return np.sum(np.diff(x, prepend=1.0) ** 2) * c


EVERY = (
    sum_where,
    sum_initial,
    sum_of_both,
    prod_where,
    mean_where,
    max_initial_wins,
    max_initial,
    min_where,
    var_where,
    differences_from,
)


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_grads(f, (X, C), order=2)


@pytest.mark.parametrize("f", EVERY[:5], ids=lambda f: f.__name__)
def test_float32_stays_float32(f: Callable[..., Any]) -> None:
    assert grad(f)(X.astype(np.float32), np.float32(C)).dtype == np.float32


def max_where(x: Any) -> Any:
    return np.max(x, initial=np.sum(x), where=MASK)


def test_what_is_not_handled_is_refused_by_name() -> None:
    with pytest.raises(DifferentiationError, match="E5006"):
        grad(max_where)(X)


def test_what_where_leaves_out_is_nan() -> None:
    """NumPy gives what the memory held; who reads it sees that."""
    y, back = vjp(lambda x: np.multiply(x, x, out=None, where=MASK), X)
    assert np.isnan(y).tolist() == (~MASK).tolist()
    assert back(np.ones(X.shape))[0].tolist() == np.where(MASK, 2.0 * X, 0.0).tolist()


def extreme_of_none(x: Any, c: Any) -> Any:
    return np.max(x[x > 5.0], initial=c) * np.sum(x) + np.min(x[:0], axis=0, initial=c).sum()


def sums_of_none(x: Any, c: Any) -> Any:
    none = x[x > 5.0]
    return np.sum(none, initial=c) * np.prod(none, initial=c) + np.max(x, initial=c)


def rows_of_none(x: Any, c: Any) -> Any:
    return np.sum(np.max(x[:, :0], axis=1, initial=c) * x[:, 0])


@pytest.mark.parametrize("function", [extreme_of_none, sums_of_none, rows_of_none])
@pytest.mark.filterwarnings("error")
def test_where_nothing_is_reduced_the_initial_value_stands(function: Callable[..., Any]) -> None:
    check_grads(function, (np.array([[0.3, 0.9], [0.5, 0.2]]), 1.7), order=2)


def test_an_array_of_integers_without_elements_has_an_initial_value() -> None:
    def first(x: Any, k: Any) -> Any:
        return np.max(k, initial=1) * x + np.min(k, initial=4)

    value, slope = srcgrad.value_and_grad(first)(0.5, np.array([], int))
    assert (value, slope) == (4.5, 1.0)
