"""The logistic function, spelled out: one operation in its derivative, and where it must not be taken for one."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

FAR = (-800.0, -100.0, 0.0, 3.0, 800.0)
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in exp:RuntimeWarning")  # of the user's own line


def plain(x):
    return 1.0 / (1.0 + np.exp(-x))


def of_integers(x):
    return 1 / (1 + np.exp(-x))


def the_other_way_round(x):
    return 1 / (np.exp(-x) + 1)


def as_functions(x):
    return np.divide(1.0, np.add(1.0, np.exp(np.negative(x))))


def as_reciprocal(x):
    return np.reciprocal(1.0 + np.exp(-x))


def in_lines(x):
    e = np.exp(-x)
    below = 1.0 + e
    return 1.0 / below


def with_lines_between(x):
    e = np.exp(-x)
    shift = np.zeros_like(x)
    below = 1.0 + e
    y = 1.0 / below
    return y + shift


def called(x):
    return plain(x)


def called_thrice(x):
    return plain(x) * plain(0.5 * x) * plain(x - 1.0)


SPELLINGS = (plain, of_integers, the_other_way_round, as_functions, as_reciprocal, in_lines, with_lines_between, called)


def code(function: Any, mode: str) -> str:
    """The text of a derivative without comments, which cite the user's lines."""
    return re.sub(r"#.*", "", srcgrad.source(function, mode=mode))


@pytest.mark.parametrize("function", [*SPELLINGS, called_thrice], ids=lambda f: f.__name__)
def test_the_derivative_reads_the_result_alone(function: Any) -> None:
    x = np.array([0.3, -1.2])
    for mode in ("vjp", "forward"):
        text = code(function, mode)
        assert re.search(r" \* (\w+) \* \(1\.0 - \1\)", text)
        assert text.count("exp(") == (3 if function is called_thrice else 1)
    check_grads(function, (x,), order=2)
    check_grads(function, (np.array(0.4),), order=2)
    check_grads(function, (0.4,), order=2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("function", SPELLINGS, ids=lambda f: f.__name__)
def test_nothing_is_nan_where_the_exponential_overflows(function: Any, dtype: type) -> None:
    with np.errstate(over="ignore"):
        x = np.array(FAR).astype(dtype)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        slope = srcgrad.elementwise_grad(function)(x)
        y, tangent = srcgrad.jvp(function, (x,), (np.ones_like(x),))
        bend = srcgrad.elementwise_grad(srcgrad.elementwise_grad(function))(x)
    assert {str(one.message) for one in seen} == {"overflow encountered in exp"}
    assert slope.dtype == tangent.dtype == bend.dtype == dtype
    exact = np.array([y - y * y for y in (0.0, 1.0 / (1.0 + math.exp(100.0)), 0.5, 1.0 / (1.0 + math.exp(-3.0)), 1.0)])
    error = 2.0 * float(np.finfo(dtype).eps)  # of `1.0 - y`, whose y has been rounded
    for found in (slope, tangent):
        np.testing.assert_allclose(found, exact, rtol=0, atol=error)
    np.testing.assert_allclose(bend, slope * (1 - 2 * y), rtol=0, atol=error)
    assert slope[0] == slope[-1] == bend[0] == bend[-1] == 0.0


def of_math(x):
    return 1.0 / (1.0 + math.exp(-x))


def test_numbers() -> None:
    assert srcgrad.grad(of_math)(40.0) == 0.0  # the result is 1.0
    check_grads(of_math, (0.3,), order=2)
    assert isinstance(srcgrad.grad(of_math)(0.3), float)
    assert code(of_math, "reverse").count("exp(") == 1


def broadcasts(x, k, c):
    return np.sum(1.0 / (1.0 + np.exp(-k * (x - c))) * x)


def rising_in_the_denominator(x):
    return 1.0 / (1.0 + np.exp(x))


def in_a_loop(x, w):
    for _ in range(3):
        gate = 1.0 / (1.0 + np.exp(-(w * x)))
        x = gate * x + np.sin(x)
    return x


def of_its_own_name(x):
    for _ in range(3):
        x = 1.0 / (1.0 + np.exp(-x))
    return x


def written_afterwards(x):
    y = 1.0 / (1.0 + np.exp(-x))
    y[0] = 2.0 * y[1]
    return x * y


def twice(x):
    return np.sum(np.log(plain(plain(x)) * plain(x)))


ALIKE = [
    (broadcasts, (np.array([[0.2, 0.5, -1.0]]), np.array([[0.5], [2.0]]), 0.3)),
    (rising_in_the_denominator, (np.array([0.2, -3.0]),)),
    (in_a_loop, (np.array([0.2, -3.0]), np.array([1.0, 0.4]))),
    (of_its_own_name, (np.array([0.2, -3.0]),)),
    (written_afterwards, (np.array([0.2, -3.0]),)),
    (twice, (np.array([0.2, -3.0]),)),
    (plain, (np.array([0.2 + 0.4j, -1.0 + 2.0j]),)),
]


@pytest.mark.parametrize(("function", "args"), ALIKE, ids=lambda p: getattr(p, "__name__", ""))
def test_where_it_stands(function: Any, args: tuple[Any, ...]) -> None:
    check_grads(function, args, wrt=tuple(range(len(args))), order=2)
    assert "(1.0 - " in srcgrad.source(function, mode="vjp", wrt=tuple(range(len(args))))


def test_a_loop_keeps_the_result_alone() -> None:
    assert "Recorded: x, gate, each trip" in srcgrad.source(in_a_loop, mode="vjp", wrt=("x", "w"))


def test_directions_together() -> None:
    x = np.array([0.2, -3.0, 800.0])
    expected = np.diag(srcgrad.elementwise_grad(plain)(x))
    np.testing.assert_array_equal(srcgrad.jacobian(plain, mode="forward")(x), expected)
    np.testing.assert_array_equal(srcgrad.jacobian(plain, mode="reverse")(x), expected)


@pytest.mark.parametrize("target", ["numba", "opencl"])
def test_targets(target: str) -> None:
    pytest.importorskip("numba" if target == "numba" else "pyopencl")

    def loss(x, k):
        return np.sum(x / (1.0 + x * x) * plain(k * x))

    x = np.array([0.2, -3.0, 2.0])
    expected = srcgrad.grad(loss, wrt=("x", "k"))(x, 300.0)
    found = srcgrad.grad(loss, wrt=("x", "k"), target=target)(x, 300.0)
    assert np.all(np.isfinite(found[0]))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


def read_elsewhere(x):
    e = np.exp(-x)
    return 1.0 / (1.0 + e) + e


def sum_read_elsewhere(x):
    below = 1.0 + np.exp(-x)
    return below / (2.0 + below) + 1.0 / below


def of_another_numerator(x):
    return 2.0 / (1.0 + np.exp(-x))


def of_another_summand(x):
    return 1.0 / (2.0 + np.exp(-x))


def bound_anew_between(x):
    for _ in range(3):
        e = np.exp(x)
        if x[0] > 0.2:
            x = x * np.sin(x)
        x = x + 1.0 / (1.0 + e)
    return x


def written_between(x):
    x = np.sin(x)
    e = np.exp(x)
    x[0] = 3.0 * x[1]
    return x / (1.0 + e) + 1.0 / (1.0 + e * x)


def shown_between(x):
    x = np.sin(x)
    v = x[::-1]
    e = np.exp(v)
    x[0] = 3.0 * x[1]
    return x + 1.0 / (1.0 + e)


def filled_between(x):
    e = np.exp(-x)
    e[0] = x[1] * 2.0
    return 1.0 / (1.0 + e)


def of_the_trip_before(x):
    e = np.exp(-x)
    y = x
    for _ in range(3):
        y = y + 1.0 / (1.0 + e)
        e = np.exp(-y)
    return y


def in_a_branch(x):
    e = np.sin(x)
    if x[0] > 0.0:
        e = np.exp(-x)
    return 1.0 / (1.0 + e)


def in_one_branch(x):
    e = np.exp(-x)
    if x[0] > 0.0:
        return 1.0 / (1.0 + e)
    return 1.0 / (1.0 + x)


def stopped(x):
    return 1.0 / (1.0 + srcgrad.stop_gradient(np.exp(-x))) * x


LEFT = (
    read_elsewhere, sum_read_elsewhere, of_another_numerator, of_another_summand, bound_anew_between, written_between,
    shown_between, filled_between, of_the_trip_before, in_a_branch, in_one_branch, stopped,
)  # fmt: skip


@pytest.mark.parametrize("function", LEFT, ids=lambda f: f.__name__)
def test_what_is_left_as_it_is(function: Any) -> None:
    text = srcgrad.source(function, mode="vjp")
    assert "(1.0 - " not in text
    if function is not stopped:  # whose differences know nothing of it
        check_grads(function, (np.array([0.3, 1.2]),), order=2)
    else:
        np.testing.assert_allclose(srcgrad.elementwise_grad(function)(np.array([0.3])), plain(0.3))


def test_a_gradient_by_the_exponential() -> None:
    x = np.array([0.3, 1.2])
    found = srcgrad.vjp(in_lines, x, wrt="e")[1](np.ones(2))
    np.testing.assert_allclose(found, -1.0 / (1.0 + np.exp(-x)) ** 2, rtol=1e-14)


def test_scipy_says_the_same() -> None:
    special = pytest.importorskip("scipy.special")
    x = np.array(FAR)
    np.testing.assert_allclose(
        srcgrad.elementwise_grad(plain)(x), srcgrad.elementwise_grad(lambda x: special.expit(x))(x), rtol=0, atol=4e-16
    )


def test_a_trace_shows_each_operation() -> None:
    rows = srcgrad.trace(in_lines)(0.3).rows
    assert [row.text for row in rows[-3:]] == ["np.exp(#2)", "1.0 + #3", "1.0 / #4"]
    assert all(row.adjoint is not None for row in rows)


def test_a_hook_sees_the_adjoint() -> None:
    seen: list[Any] = []

    def hooked(x):
        return 1.0 / (1.0 + srcgrad.hook(np.exp(-x), seen.append))

    srcgrad.grad(hooked)(0.0)
    assert seen == [-0.25]
