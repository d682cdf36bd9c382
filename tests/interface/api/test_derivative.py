"""Gradients that are added to arrays of the caller."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, grad, value_and_grad

RNG = np.random.default_rng(0)


def loss(params, x, y):
    return np.sum((np.tanh(x @ params["w"]) + params["b"] - y) ** 2)


def product(x, y):
    return np.sum(x * x * y)


def test_capability_1_3_two_calls_double_the_accumulator():
    x, y = RNG.normal(size=3), RNG.normal(size=3)
    g = np.zeros(3)
    add = grad(product).into(g)
    assert add(x, y) is g
    once = g.copy()
    assert np.array_equal(once, grad(product)(x, y))
    add(x, y)
    assert np.array_equal(g, 2.0 * once)


def test_capability_1_8_nothing_adds_up_that_is_not_asked_to():
    """y = 2 (3 x): twice the adjoint of an inner value, kept from one call to the next, would give 6, then 24."""
    slope = grad(lambda x: 2.0 * (3.0 * x))
    assert [slope(1.0), slope(1.0)] == [6.0, 6.0]
    g = np.zeros(())
    for _ in range(2):
        slope.into(g)(1.0)
    assert g == 12.0


def test_capability_3_17_micro_batches_add_up_to_the_batch():
    params = {"w": RNG.normal(size=(4, 2)), "b": RNG.normal(size=2)}
    x, y = RNG.normal(size=(12, 4)), RNG.normal(size=(12, 2))
    total = {"w": np.zeros((4, 2)), "b": np.zeros(2)}
    step = value_and_grad(loss).into(total)
    values = [step(params, x[k : k + 3], y[k : k + 3])[0] for k in range(0, 12, 3)]
    value, whole = value_and_grad(loss)(params, x, y)
    assert np.isclose(sum(values), value, rtol=1e-13)
    assert all(np.allclose(total[key], whole[key], rtol=1e-12, atol=1e-13) for key in whole)  # sums in another order


class Pair(NamedTuple):
    one: np.ndarray
    two: float


@dataclasses.dataclass
class Point:
    at: np.ndarray
    name: str


def test_accumulators_mirror_structures():
    def f(pair, parts, point, n):
        return np.sum(pair.one) * pair.two + np.sum(parts[0] * parts[1] * point.at) * n

    pair, parts, point = Pair(np.ones(2), 3.0), [2.0, np.ones(2)], Point(np.ones(2), "p")
    g = (Pair(np.zeros(2), np.zeros(())), [np.zeros(()), np.zeros(2)], Point(np.ones(2), "total"))
    assert grad(f, (0, 1, 2)).into(g)(pair, parts, point, 2) is g
    assert g[0].one.tolist() == [3.0, 3.0]
    assert g[0].two == 2.0
    assert g[1][0] == 4.0
    assert g[1][1].tolist() == [4.0, 4.0]
    assert g[2].at.tolist() == [5.0, 5.0]


def test_a_wider_accumulator_keeps_what_small_contributions_add():
    g = np.zeros((), np.float32)
    add = grad(lambda x: x * np.float16(1.0)).into(g)
    for _ in range(4096):
        add(np.float16(1.0))
    assert g == 4096.0


def test_auxiliary_values_are_returned_as_well():
    def f(x):
        return np.sum(x * x), x[0]

    g = np.zeros(2)
    found, aux = grad(f, has_aux=True).into(g)(np.array([1.0, 2.0]))
    assert (found is g, aux) == (True, 1.0)
    (value, aux), found = value_and_grad(f, has_aux=True).into(g)(np.array([1.0, 2.0]))
    assert (found is g, value, aux, g.tolist()) == (True, 5.0, 1.0, [4.0, 8.0])


def test_views_and_the_argument_itself_may_be_added_to():
    x, table = np.array([1.0, 2.0]), np.zeros((2, 2))
    grad(product).into(table[:, 1])(x, np.ones(2))
    assert table.tolist() == [[0.0, 2.0], [0.0, 4.0]]
    grad(product).into(x)(x, np.ones(2))
    assert x.tolist() == [3.0, 6.0]
    both = np.zeros(2)
    grad(product, ("x", "y")).into((both, both))(np.ones(2), np.ones(2))
    assert both.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("accumulators", "message"),
    [
        ((np.zeros(3), np.zeros(2)), r"\[1\] has shape \(2,\), the gradient has shape \(3,\)"),
        ((np.zeros(3), np.zeros(3, np.float32)), r"\[1\] is of dtype float32, the gradient of dtype float64"),
        ((np.zeros(3), np.zeros(3, int)), r"\[1\] is of dtype int64"),
        ((np.zeros(3), 0.0), r"\[1\] is of type float, which nothing can be added to in place"),
        ((np.zeros(3), [0.0] * 3), r"\[1\] is of type list, which"),
        ((np.zeros(3), np.broadcast_to(0.0, 3)), r"\[1\] is read-only"),
        ((np.zeros(3),), r"is of type tuple with 1 parts, the gradient is a tuple of 2"),
        (np.zeros((2, 3)), r"is of type ndarray, the gradient is a tuple of 2"),
    ],
)
def test_refused_what_does_not_match_and_nothing_is_written(accumulators, message):
    with pytest.raises(DifferentiationError, match=rf"^E5024 .*{message}"):
        grad(product, (0, 1)).into(accumulators)(np.ones(3), np.ones(3))
    first = accumulators[0]
    assert np.array_equal(first, np.zeros(np.shape(first)))


def test_refused_other_keys_and_nothing_is_written():
    g = {"w": np.zeros((4, 2)), "c": np.zeros(2)}
    params = {"w": np.ones((4, 2)), "b": np.ones(2)}
    with pytest.raises(DifferentiationError, match=r"E5024 .*of type dict with 2 parts, .*keys 'w', 'b'"):
        grad(loss).into(g)(params, np.ones((3, 4)), np.ones((3, 2)))
    assert not g["w"].any()


def test_nothing_is_written_when_the_call_fails():
    g = np.zeros(3)
    with pytest.raises(DifferentiationError, match="E5002"):
        grad(product).into(g)(np.ones(3, int), np.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        grad(product).into(g)(np.ones(3), np.ones(2))
    assert not g.any()


def test_refused_a_derivative_that_is_no_gradient():
    forward = srcgrad.interface.api.derivative.Derivative(product, "forward", 0, False)
    with pytest.raises(DifferentiationError, match=r"E5024 .*mode forward"):
        forward.into(np.zeros(3))


def test_device_arrays_are_added_to_on_their_device():
    pytest.importorskip("pyopencl")
    from srcgrad import opencl

    x = opencl.asarray(np.array([1.0, 2.0]))
    g = opencl.asarray(np.zeros(2))
    grad(product, target="opencl").into(g)(x, opencl.asarray(np.ones(2)))
    assert np.asarray(g).tolist() == [2.0, 4.0]
    on_host = np.zeros(2)
    grad(product, target="opencl").into(on_host)(x, opencl.asarray(np.ones(2)))
    assert on_host.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(("function", "args", "words", "expected"), [
    (np.clip, (0.3, -1.0, 1.0), {}, 1.0),
    (np.clip, (1.3, -1.0, 1.0), {}, 0.0),
    (np.clip, (0.3,), {"a_min": -1.0, "a_max": 1.0}, 1.0),
    (np.sum, (np.ones(2), 0), {}, np.ones(2)),
    (np.sum, (np.ones(2),), {"axis": 0}, np.ones(2)),
    (np.var, (np.array([1.0, 4.0]),), {"ddof": 1}, [-3.0, 3.0]),
    (np.linalg.norm, (np.array([3.0, -4.0]), 1), {}, [1.0, -1.0]),
    (np.average, (np.array([1.0, 2.0]),), {"weights": np.array([1.0, 3.0])}, [0.25, 0.75]),
    (np.quantile, (np.array([1.0, 2.0, 3.0]), 0.6), {"method": "lower"}, [0.0, 1.0, 0.0]),
])  # fmt: skip
def test_an_operation_takes_its_options(function, args, words, expected):
    slope = grad(function)
    np.testing.assert_allclose(slope(*args, **words), expected, rtol=1e-15)
    np.testing.assert_allclose(value_and_grad(function)(*args, **words)[1], expected, rtol=1e-15)
    assert "def" in slope.source


def test_options_that_an_operation_does_not_have_are_told():
    with pytest.raises(DifferentiationError, match=r"E5006.*too many positional"):
        grad(np.clip)(1.0, 2, 3, 4, 5, 6, 7)
    with pytest.raises(DifferentiationError, match="E5006"):
        grad(np.sum)(np.ones(2), of=3)
