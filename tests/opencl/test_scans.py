"""Running sums and products in kernels: along rows, down them, of a single row in parts; from both ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.opencl.launch import launch
from srcgrad.runtime import products_before, recurrence, recurrence_back
from tests.opencl.conftest import fewer
from tests.opencl.test_axes import loops, same
from tests.opencl.test_kernels import kernel

__all__ = ["loops"]


def of_all(x: Any, t: Any) -> Any:
    q, sg_q = x[0], t[0]
    return np.sum(np.cumsum(np.sin(q) * sg_q) ** 2) * 1e-3 + np.sum(x * t)


def of_rows(x: Any, t: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(np.tanh(np.cumsum(e, axis=1) * t) * np.cumsum(e * t, axis=-1))


def of_columns(x: Any, t: Any) -> Any:
    return np.mean(np.tanh(np.cumsum(np.sin(x) * t, axis=0)) * t[:1])


def both_ways(x: Any, t: Any) -> Any:
    return np.mean(np.cumsum(np.tanh(np.cumsum(x * t, 0)), 1) * t) + np.mean(np.cumsum(np.sum(x * x, axis=1)))


def of_products(x: Any, t: Any) -> Any:
    e = np.where(t > 1.5, 0.0, np.cos(x))
    return np.sum(np.tanh(np.cumprod(e, axis=1)) * t) + np.sum(np.cumprod(1.0 + 0.1 * np.sin(x * t), axis=0) * t)


def of_factors(x: Any, t: Any) -> Any:
    """Some of which are 0: one of a row, or several."""
    e = np.where(t > 2.5, 0.0, 1.0 + 0.02 * np.sin(x * t))
    p = np.prod(e, axis=-1, keepdims=True)
    total = np.prod(1.0 + 1e-4 * np.tanh(x)) + np.prod(1.0 + 0.01 * np.sin(t[0]))
    return np.sum(np.tanh(x * p) * t) + np.sum(np.prod(np.cos(0.1 * x), axis=0) * t[0]) * total


CASES = [of_all, of_rows, of_columns, both_ways, of_products, of_factors]


@pytest.mark.parametrize("function", CASES)
def test_scans(function: Callable[..., Any], loops: str, launched: list[str]) -> None:
    draw = np.random.default_rng(5).standard_normal
    for shape in ((fewer(37, 4), 1030), (2, 2049)):
        same(function, (draw(shape), draw(shape)))
    assert launched


@pytest.mark.parametrize("function", [of_rows, both_ways])
def test_layouts(function: Callable[..., Any], launched: list[str]) -> None:
    draw = np.random.default_rng(5).standard_normal
    same(function, (draw((24, 36)).astype(np.float32)[::-1, ::3], draw((12, 24)).astype(np.float32).T))
    assert launched
    same(function, (draw((9, 1)), draw((9, 1))))


FORMS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "CUMSUM(x)": (np.cumsum, (300_007,)),
    "CUMSUM(x; back)": (lambda x: np.cumsum(x[::-1])[::-1], (70_001,)),
    "CUMSUM(x; 1)": (lambda x: np.cumsum(x, 1), (7, 3001)),
    "CUMSUM(x; 1, back)": (lambda x: np.flip(np.cumsum(np.flip(x, 1), 1), 1), (7, 3001)),
    "CUMSUM(x; 0)": (lambda x: np.cumsum(x, 0), (300, 700)),
    "CUMSUM(x; -2, back)": (lambda x: np.flip(np.cumsum(np.flip(x, 1), 1), 1), (3, 40, 9)),
    "CUMPROD(x * 0.01 + 1.0; 1)": (lambda x: np.cumprod(x * x.dtype.type(0.01) + 1, 1), (7, 3001)),
    "CUMPROD(x * 0.01 + 1.0; 1, back)": (
        lambda x: np.flip(np.cumprod(np.flip(x * x.dtype.type(0.01) + 1, 1), 1), 1),
        (7, 3001),
    ),
    "CUMPROD(x * 0.01 + 1.0; 1, before)": (lambda x: products_before(x * x.dtype.type(0.01) + 1, 1), (7, 3001)),
    "RECUR(x; x; 1)": (lambda x: recurrence(x, x, 1), (7, 3001)),
    "RECUR(x; x; 1, back)": (lambda x: recurrence_back(x, x, 1), (7, 3001)),
    "RECUR(x; x; 0)": (lambda x: recurrence(x, x, 0), (300, 700)),
    "RECUR(x; x; -2, back)": (lambda x: recurrence_back(x, x, 1), (3, 40, 9)),
    "CUMPROD(x * 0.01 + 1.0; 0)": (lambda x: np.cumprod(x * x.dtype.type(0.01) + 1, 0), (300, 70)),
}


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
def test_errors_are_no_larger_than_those_of_numpy(form: str, real: Any, loops: str) -> None:
    wanted, shape = FORMS[form]
    x = np.random.default_rng(3).standard_normal(shape).astype(real)
    exact = wanted(x.astype(np.longdouble))
    found = launch(kernel(["x"], [f"REAL y = {form};", "STORE(y);"]), x)
    allowed = 1.5 * np.abs(wanted(x) - exact).max() + 4 * np.finfo(real).eps * np.abs(exact).max()
    assert found.dtype == real and np.abs(found - exact).max() <= allowed


def test_numbers_out_of_range(loops: str) -> None:
    x = np.ones((3, 2100))
    x[0, 1500], x[1, 1030], x[2, :] = np.inf, np.nan, -0.0
    total = kernel(["x"], ["REAL y = CUMSUM(x; 1);", "STORE(y);"])
    one = kernel(["x"], ["REAL y = CUMSUM(x);", "STORE(y);"])
    np.testing.assert_array_equal(launch(total, x), np.cumsum(x, 1))
    assert np.signbit(launch(total, x)[2]).all()
    for row in x:
        np.testing.assert_array_equal(launch(one, row), np.cumsum(row))
    x = np.tile(np.array([1e-200, 1e150, 1e60, 1e-5]), (2, 600))  # any piece of it alone would be out of range
    x[:, 4:] **= 0.01
    product = kernel(["x"], ["REAL y = CUMPROD(x; 1);", "STORE(y);"])
    back = kernel(["x"], ["REAL y = CUMPROD(x; 1, back);", "STORE(y);"])
    np.testing.assert_allclose(launch(product, x), np.cumprod(x, 1), rtol=1e-12)
    x = np.tile(np.random.default_rng(7).uniform(0.7, 1.4, 150), (9, 1))  # within a vector, and at its edges
    for row, (place, value) in enumerate([(3, np.inf), (7, np.nan), (8, 0.0), (60, -0.0), (61, 1e308), (70, 1e-320)]):
        x[row, place] = value
    x[6, ::2], x[6, 1::2], x[7, ::5], x[7, 3::5] = 1e300, 1e-300, 1e-300, 1e300
    x[8, 40:44], x[8, 44:48], x[4, ::3], x[4, 80] = 1e-90, 1e90, -1.1, np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(launch(product, x), np.cumprod(x, 1), rtol=1e-12)
        np.testing.assert_allclose(launch(back, x), np.cumprod(x[:, ::-1], 1)[:, ::-1], rtol=1e-12)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_products_are_those_of_numpy(real: Any, loops: str) -> None:
    """To the last bit, out of the range of numbers where NumPy's are."""
    draw = np.random.default_rng(5)
    for n in (1, 2, 15, 17, 255, 257, 1024, 1025):
        x = (draw.uniform(0.4, 1.6, (7, n)) * draw.choice([-1.0, 1.0], (7, n))).astype(real)
        large = np.sqrt(np.finfo(real).max)
        x[1, n // 2], x[2, n // 3], x[3, -1], x[4, 0] = 0.0, np.inf, np.nan, -0.0
        x[5, ::3], x[5, 1::3], x[5, 2::3] = large, 1.0 / large, -1.0
        x[6, : n // 2], x[6, n // 2 :] = large, 1.0 / large
        for axis in (1, 0, None):
            line = "REAL y = PROD(x);" if axis is None else f"REAL y = PROD(x; {axis});"
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(launch(kernel(["x"], [line, "STORE(y);"]), x), np.prod(x, axis))


def test_a_product_of_all_is_gone_over_where_it_has_one_axis() -> None:
    """Of others NumPy gives the products of all but one, and kernels all else."""

    def scaled(x: Any) -> Any:
        return np.prod(np.tanh(x) * x) * np.sum(np.sin(x) * x)

    for shape, scans in (((9,), 2), ((3, 4), 0)):
        x = np.linspace(0.5, 1.5, 12)[: np.prod(shape)].reshape(shape)
        derived = srcgrad.value_and_grad(scaled, target="opencl")
        np.testing.assert_allclose(derived(x)[1], srcgrad.grad(scaled)(x), rtol=1e-12)
        assert derived.source.count("CUMPROD(") == scans


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_recurrences_of_all_lengths(real: Any, loops: str) -> None:
    draw, tolerance = np.random.default_rng(5), 1e-12 if real == np.float64 else 1e-5
    forms: dict[str, Callable[..., Any]] = {
        "RECUR(u; a; {})": recurrence,
        "RECUR(u; a; {}, back)": recurrence_back,
        "CUMPROD(a; {}, before)": lambda u, a, axis: products_before(a, axis),
        "CUMPROD(a; {}, before, back)": lambda u, a, axis: np.flip(products_before(np.flip(a, axis), axis), axis),
    }
    for form, wanted in forms.items():
        for axis in (0, 1):
            one = kernel(["u", "a"], [f"REAL y = {form.format(axis)};", "STORE(y);"])
            for n in (1, 2, 15, 17, 63, 64, 65, 128, 129, 257):
                u, a = draw.uniform(-1.3, 1.3, (2, 2 * n, 9)).astype(real)[:, ::2]
                u, a = (u, a) if axis == 0 else (u.T, np.ascontiguousarray(a.T))
                a[n // 2 :: 40] *= np.asarray([1, 0, -2] * 100, real)[: a.shape[1]]
                found = launch(one, u, a)
                assert found.dtype == real
                np.testing.assert_allclose(found, wanted(u, a, axis), rtol=tolerance, atol=tolerance)
            u[0, 0], u[-1, -1], a[2, 1], a[1, 2], a[0, 3], a[3, 0] = np.inf, np.nan, np.inf, np.nan, np.inf, np.nan
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(launch(one, u, a), wanted(u, a, axis), rtol=tolerance, atol=tolerance)


def test_there_and_back(loops: str) -> None:
    x = np.random.default_rng(5).standard_normal((2, 9))
    found = launch(kernel(["x"], ["REAL s = CUMSUM(x; 1);", "REAL t = CUMSUM(s * x; 1, back);", "STORE(t);"]), x)
    np.testing.assert_allclose(found, np.flip(np.cumsum(np.flip(np.cumsum(x, 1) * x, 1), 1), 1), rtol=1e-12, atol=1e-14)


def test_what_kernels_do_not_run_is_what_numpy_gives() -> None:
    def flat(x: Any) -> Any:
        return np.sum(np.cumsum(np.tanh(x)) ** 2)

    def of_first_axis(x: Any) -> Any:
        return np.sum(np.tanh(np.cumsum(np.tanh(x), axis=0)))

    def of_products(x: Any) -> Any:
        return np.sum(np.cumprod(np.tanh(x)) ** 2) + np.sum(np.cumprod(x, axis=0))

    x = np.random.default_rng(5).standard_normal((3, 4, 5))
    for function in (flat, of_first_axis, of_products):
        for args in ((x,), (x[:0],), (x[0, 0],), (x[0, 0, :1],), (x.astype(np.float32),)):
            wanted, found = srcgrad.grad(function)(*args), srcgrad.grad(function, target="opencl")(*args)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-12 if args[0].dtype == np.float64 else 1e-5)


def test_derivatives_run_from_the_end() -> None:
    text = srcgrad.source(of_rows, mode="value-and-grad", target="opencl")
    assert text.count("CUMSUM(") == 4 and text.count("; 1, back)") == 1 and text.count("; -1, back)") == 1
    assert text.count("launch(of_rows") == 1
