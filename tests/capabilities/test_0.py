"""Section 0 of the capabilities: gradients of functions of structured arguments, seeds, rules, accumulation."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import DifferentiationError, check_grads, grad, jvp, source, value_and_grad, vjp

DRAW = np.random.default_rng(0).standard_normal
SCALE = 2.0


def f(x, y):
    return x * y + x


def test_0_1_gradients_of_chosen_arguments() -> None:
    assert grad(f, argnums=0)(2.0, 3.0) == 4.0
    assert grad(f, argnums=1)(2.0, 3.0) == 2.0
    assert grad(f, argnums=(1, 0))(2.0, 3.0) == (2.0, 4.0)
    assert grad(f, argnums=-1)(2.0, 3.0) == 2.0
    with pytest.raises(DifferentiationError, match="E5009"):
        grad(f, argnums=2)(2.0, 3.0)


CALLS: list[float] = []


@srcgrad.opaque
def counted_exp(x):
    CALLS.append(1.0)
    return np.exp(x)


def counted_rule(primals, cotangent, output):
    return (cotangent * output,)


srcgrad.register_vjp(counted_exp, counted_rule)


def calls_once(x):
    return np.sum(counted_exp(x) * x)


def test_0_2_value_and_gradient_from_one_forward_pass() -> None:
    CALLS.clear()
    value, gradient = value_and_grad(calls_once)(np.array([0.0, 1.0]))
    assert len(CALLS) == 1
    np.testing.assert_allclose(value, np.e)
    np.testing.assert_allclose(gradient, [1.0, 2 * np.e])


def layer(params, x):
    return np.sum(np.tanh(x @ params["w"] + params["b"]))


def test_0_3_structured_arguments() -> None:
    params = {"w": DRAW((3, 2)), "b": DRAW(2)}
    found = grad(layer)(params, DRAW((4, 3)))
    assert list(found) == ["w", "b"] and found["w"].shape == (3, 2) and found["b"].shape == (2,)
    check_grads(lambda w, b: layer({"w": w, "b": b}, X), (params["w"], params["b"]), order=1)


X = DRAW((4, 3))


def test_0_4_the_seed_of_a_gradient_is_one_and_visible() -> None:
    assert "(x, result_bar=1.0)" in source(unused)


def test_0_5_pullbacks_take_any_seed_any_number_of_times() -> None:
    x, v = DRAW(3), DRAW(3)
    y, pullback = vjp(np_sin_square, x)
    _, y_dot = jvp(np_sin_square, (x,), (v,))
    for seed in (DRAW(3), DRAW(3)):
        np.testing.assert_allclose(np.vdot(seed, y_dot), np.vdot(pullback(seed)[0], v))
    assert y.shape == (3,)


def np_sin_square(x):
    return np.sin(x) * x * x


def unused(x):
    y = x * x
    z = np.exp(y)
    z = z + 1.0
    return np.sum(y)


def test_0_6_only_what_the_output_depends_on_is_differentiated() -> None:
    text = source(unused)
    assert "exp" not in text.split('"""')[2] and "z" not in re.findall(r"\w+_bar", text)


def inactive(x, n):
    k = np.floor(n) + np.argmax(x)
    return np.sum(x * x) + 0.0 * k


def no_rule(x):
    return np.sum(np.union1d(x, x))


def test_0_7_inactive_parts_emit_nothing_and_missing_rules_are_errors() -> None:
    np.testing.assert_array_equal(grad(inactive)(np.array([1.0, 2.0]), 1.5), [2.0, 4.0])
    with pytest.raises(DifferentiationError, match=r"E500[13]"):
        grad(no_rule)(np.array([1.0, 2.0]))


SEEN: list[Any] = []


@srcgrad.opaque
def weighted(x, index):
    return x * (index + 1)


@srcgrad.register_vjp(weighted)
def weighted_rule(primals, cotangent, output):
    SEEN.append((primals, cotangent, output))
    return cotangent * (primals[1] + 1), None


def test_0_8_rules_are_given_primals_cotangent_and_output_in_this_order() -> None:
    SEEN.clear()
    y, pullback = vjp(lambda x: weighted(x, 2), 1.5)
    assert pullback(1.0) == (3.0,)
    ((primals, cotangent, output),) = SEEN
    assert (primals, cotangent, output, y) == ((1.5, 2), 1.0, 4.5, 4.5)


def test_0_9_rules_give_none_for_what_is_not_differentiable() -> None:
    _, pullback = vjp(lambda x, i: weighted(x, i), 1.5, 2)
    assert pullback(1.0) == (3.0, None)


def test_0_10_add() -> None:
    assert grad(lambda x, y: x + y, (0, 1))(2.0, 5.0) == (1.0, 1.0)
    check_grads(lambda x, y: x + y, (DRAW(3), DRAW((2, 3))))


def test_0_11_multiply() -> None:
    assert grad(lambda x, y: x * y, (0, 1))(2.0, 5.0) == (5.0, 2.0)
    check_grads(lambda x, y: x * y, (DRAW(3), DRAW((2, 3))))


SHAPES = [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 2, 3), (3, 4))]


@pytest.mark.parametrize(("one", "two"), SHAPES)
def test_0_12_matrix_products(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    check_grads(lambda x, y: x @ y, (DRAW(one), DRAW(two)))
    check_grads(lambda x, y: np.matmul(x, y), (DRAW(one), DRAW(two)))
    if len(one) < 3:
        check_grads(lambda x, y: np.dot(x, y), (DRAW(one), DRAW(two)))


BROADCASTS = [
    ((3, 4), (4,)), ((3, 4), (1, 4)), ((3, 4), ()), ((2, 3, 4), (3, 1)), ((0,), (1,)), ((0, 3), (1, 3)), ((1,), (3,)),
]  # fmt: skip


@pytest.mark.parametrize(("wide", "narrow"), BROADCASTS)
def test_0_13_broadcasting_is_undone(wide: tuple[int, ...], narrow: tuple[int, ...]) -> None:
    x, y = DRAW(wide), np.asarray(DRAW(narrow))
    _, pullback = vjp(lambda x, y: x * 1.0 + y, x, y)
    seed = np.ones(np.broadcast_shapes(wide, narrow))
    x_bar, y_bar = pullback(seed)
    assert np.shape(x_bar) == wide and np.shape(y_bar) == narrow
    np.testing.assert_array_equal(np.sum(y_bar), seed.size)


def operations():
    return [
        lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / (y * y + 1.0),
        lambda x, y: np.maximum(x, y), lambda x, y: np.arctan2(x, y), lambda x, y: np.hypot(x, y),
        lambda x, y: np.where(x > y, x, y * 2.0), lambda x, y: (x * x + 1.0) ** y, lambda x, y: np.logaddexp(x, y),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(10))
def test_0_14_gradients_have_the_shape_of_their_primal(number: int) -> None:
    function = operations()[number]
    for wide, narrow in BROADCASTS:
        for one, two in ((wide, narrow), (narrow, wide)):
            x, y = np.asarray(DRAW(one)), np.asarray(DRAW(two))
            found = grad(lambda x, y: np.sum(function(x, y)), (0, 1))(x, y)
            assert [np.shape(part) for part in found] == [one, two]


def test_0_15_first_use_assigns_later_uses_add() -> None:
    assert grad(twice_used)(3.0) == 7.0
    assert "zeros" not in source(twice_used) and "+=" not in source(twice_used)


def twice_used(x):
    return x * x + x


def shared_name(x):
    y = x
    return x * y


def test_0_16_two_names_of_one_value() -> None:
    assert grad(shared_name)(3.0) == 6.0


def changed_axis(x):
    ax = 0
    s = np.sum(x * x, axis=ax)
    ax = 1
    return np.sum(s * s) + 0.0 * ax


def test_0_17_keywords_have_the_values_of_the_forward_call() -> None:
    x = DRAW((2, 3))
    np.testing.assert_allclose(grad(changed_axis)(x), 4.0 * x * np.sum(x * x, axis=0))


def scaled(x):
    return x * x * SCALE


def test_0_18_captured_values_are_those_of_the_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    _, pullback = vjp(scaled, 3.0)
    monkeypatch.setitem(globals(), "SCALE", 100.0)
    assert pullback(1.0) == (12.0,)


def test_0_19_calls_do_not_share_state() -> None:
    derivative = grad(lambda x: np.sum(np.sin(x) ** 3))
    inputs = [DRAW(50) for _ in range(32)]
    alone = [derivative(x) for x in inputs]
    _, first = vjp(np_sin_square, inputs[0][:3])
    vjp(np_sin_square, inputs[1][:3])
    np.testing.assert_array_equal(first(np.ones(3))[0], vjp(np_sin_square, inputs[0][:3])[1](np.ones(3))[0])
    with ThreadPoolExecutor(8) as threads:
        for one, two in zip(threads.map(derivative, inputs), alone, strict=True):
            np.testing.assert_array_equal(one, two)


def test_0_22_every_requested_gradient_is_there() -> None:
    x_bar, y_bar = grad(lambda x, y: np.sum(x), (0, 1))(np.ones(2), np.ones(3))
    np.testing.assert_array_equal(x_bar, [1.0, 1.0])
    np.testing.assert_array_equal(y_bar, [0.0, 0.0, 0.0])


def one_of_three(x):
    _, b, _ = np.split(x, 3)
    return np.sum(b * b)


def test_0_23_operations_with_several_results() -> None:
    np.testing.assert_array_equal(grad(one_of_three)(np.arange(6.0)), [0, 0, 4, 6, 0, 0])
    check_grads(one_of_three, (DRAW(6),))


@srcgrad.opaque
def tripled(x):
    return 3.0 * x


@srcgrad.register_vjp(tripled)
def tripled_rule(primals, cotangent, output):
    return (np.sum(cotangent) * 3.0,)


def test_0_24_a_rule_that_gives_another_shape_is_an_error() -> None:
    with pytest.raises(DifferentiationError, match="E5004"):
        grad(lambda x: np.sum(tripled(x)))(np.ones(3))
