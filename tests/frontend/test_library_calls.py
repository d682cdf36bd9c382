"""NumPy calls that write into their argument, methods that are functions, keywords: what a user may write."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, signal, stats

import srcgrad
from srcgrad import check_grads, grad
from srcgrad.core.errors import DifferentiationError

X = np.random.default_rng(0).uniform(size=(2, 3))
V = np.array([3.0, 4.0, 5.0])
GRID = np.linspace(0.0, 1.0, 20)
WEIGHTS = 1.0 + GRID


def put(x: Any, v: Any) -> Any:
    a = x * 2.0
    np.put(a, [0, -1, 3], v)
    return np.sum(a**2)


def put_method(x: Any, v: Any) -> Any:
    a = x * 2.0
    a.put([0, 4], v[:2])
    return np.sum(a**2)


def put_along_axis(x: Any, v: Any) -> Any:
    a = x * 2.0
    np.put_along_axis(a, np.array([[1], [0]]), v[:1], 1)
    return np.sum(a**2)


def fill_diagonal(x: Any, v: Any) -> Any:
    a = x * 2.0
    np.fill_diagonal(a, v[0])
    return np.sum(a**2)


def fill_diagonal_with_many(x: Any, v: Any) -> Any:
    a = x * 2.0
    np.fill_diagonal(a, v[:2] * 3.0)
    return np.sum(a**2)


def putmask(x: Any, v: Any) -> Any:
    a = x * 2.0
    np.putmask(a, a > 0.5, v)
    return np.sum(a**2)


def place(x: Any, v: Any) -> Any:
    a = x * 2.0
    mask = x > 0.3
    np.place(a, mask, v)
    return np.sum(a**2)


def place_where_compared(x: Any, v: Any) -> Any:
    a = x * 2.0
    b = a
    for k in range(2):
        np.place(a, a > 1.0, -0.5)
        b[0, k] = a[1, k] * v[k]
    return np.sum(a * b)


def partition(x: Any, v: Any) -> Any:
    a = x * 2.0
    a.partition(1)
    return np.sum(a[:, 1] ** 2) * v[0]


def compress(x: Any, v: Any) -> Any:
    return np.sum(x.compress([True, False], axis=0) ** 2 * v)


def choose(x: Any, v: Any) -> Any:
    return np.sum(np.array([0, 1, 0]).choose([v, x[0]]) ** 2)


def clip(x: Any, v: Any) -> Any:
    return np.sum(x.clip(min=0.2, max=0.8) ** 2 + x.clip(0.3) ** 2 * v)


def cumprod(x: Any, v: Any) -> Any:
    return np.sum(x.cumprod(axis=0) ** 2 * v) + np.sum(x.cumprod() ** 2)


def spacings(x: Any, v: Any) -> Any:
    gx, gy = np.gradient(x, 2.0, np.array([0.0, 1.0, 3.0]))
    return np.sum(gx**2 + gx * gy**3) * v[0]


EVERY = (
    put, put_method, put_along_axis, fill_diagonal, fill_diagonal_with_many, putmask, place, place_where_compared,
    partition, compress,
    choose, clip, cumprod, spacings,
)  # fmt: skip


@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_grads(f, (X, V), order=2)


def at(x: Any) -> Any:
    a = x * 1.0
    np.multiply.at(a, [0, 0], x[:2])
    return np.sum(a)


def active_spacing(x: Any) -> Any:
    return np.sum(np.gradient(x, x[0]))


def active_bins(x: Any) -> Any:
    return np.sum(np.histogram(x)[0])


@pytest.mark.parametrize("f", [at, active_spacing, active_bins], ids=lambda f: f.__name__)
def test_what_has_no_derivative_says_so(f: Callable[..., Any]) -> None:
    with pytest.raises(DifferentiationError, match="E5001"):
        grad(f)(V)


class Model:
    """Not an array, although a method of it is called as one of arrays."""

    def cumprod(self) -> float:
        return 3.0


MODEL = Model()


def of_a_model(x: Any) -> Any:
    return MODEL.cumprod() * np.sum(x * x)


def test_a_method_of_an_object_is_its_own() -> None:
    assert grad(of_a_model)(V).tolist() == [18.0, 24.0, 30.0]


@dataclasses.dataclass
class Body:
    position: float
    mass: float = 0.7


def heavier(x, body):
    if x > 0.0:
        body = dataclasses.replace(body, mass=x)
    return x * body.mass


def test_what_is_refused_inside_of_a_function_of_pythons_is_told_at_the_users_call() -> None:
    with pytest.raises(srcgrad.DifferentiationError) as found:
        srcgrad.grad(heavier)(2.0, Body(1.0))
    assert found.value.place.text.strip() == "body = dataclasses.replace(body, mass=x)"
    assert "`dataclasses.replace`, called here, has no rule" in found.value.message


def radial(x: Any) -> Any:
    curve = interpolate.RBFInterpolator(GRID[:, None], GRID)
    return np.sum(curve(x[:, None]))


def of_peaks(x: Any) -> Any:
    return signal.find_peaks_cwt(x, x)[0]


def density(x: Any) -> Any:
    return np.sum(stats.gaussian_kde(GRID, weights=WEIGHTS)(x))


def test_so_is_what_is_refused_when_it_is_looked_up() -> None:
    with pytest.raises(DifferentiationError, match=r"gaussian_kde\.evaluate`, called here") as found:
        grad(density)(V)
    assert found.value.place is not None
    assert found.value.place.text.strip() == "return np.sum(stats.gaussian_kde(GRID, weights=WEIGHTS)(x))"


@pytest.mark.parametrize(
    "function, called",
    [
        (radial, "`(curve|scipy.interpolate.RBFInterpolator.__call__)`"),
        (of_peaks, "`scipy.signal.find_peaks_cwt`"),
    ],
)
@pytest.mark.parametrize("derive", [srcgrad.grad, srcgrad.hessian])
def test_what_is_refused_inside_of_a_library_is_told_at_the_users_call(function: Any, called: str, derive: Any) -> None:
    with pytest.raises(srcgrad.DifferentiationError, match=f"{called}, called here, has no rule") as found:
        derive(function)(V)
    assert found.value.place is not None
    assert found.value.place.file == "test_library_calls.py"
    assert "cannot be differentiated" in found.value.message
