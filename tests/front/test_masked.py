"""`where=` and `initial=` of reductions: what other tools swallow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad
from srcgrad.errors import DifferentiationError

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


def multiply_where(x: Any) -> Any:
    return np.sum(np.multiply(x, x, where=MASK))


@pytest.mark.parametrize("f", [max_where, multiply_where])
def test_what_is_not_handled_is_refused_by_name(f: Callable[..., Any]) -> None:
    with pytest.raises(DifferentiationError, match="E5006"):
        grad(f)(X)
