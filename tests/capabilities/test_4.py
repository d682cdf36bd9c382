"""Section 4 of the capabilities: all arguments, the tape as a listing, rules chosen by function, one per argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, source, value_and_grad, vjp

X, Y = 0.6791074260357777, 0.8284134829000359
DRAW = np.random.default_rng(4).standard_normal


def example(x, y):
    return x * y + np.sin(x)


def test_4_1_gradients_of_all_arguments() -> None:
    np.testing.assert_allclose(grad(example, (0, 1))(X, Y), (1.6065471361170487, 0.6791074260357777))


def test_4_2_the_seed_is_multiplied_in() -> None:
    _, pullback = vjp(example, X, Y)
    np.testing.assert_allclose(pullback(1.0), (1.6065471361170487, X))
    np.testing.assert_allclose(pullback(2.0), (2 * 1.6065471361170487, 2 * X))


def test_4_3_values_are_kept_not_computed_again() -> None:
    calls: list[int] = []

    @srcgrad.opaque
    def own(x):
        calls.append(1)
        return x * x

    srcgrad.register_vjp(own, lambda primals, cotangent, output: (cotangent * 2.0 * primals[0],))
    value_and_grad(lambda x: own(x) * own(x + 1.0))(2.0)
    assert len(calls) == 2


def test_4_4_to_4_8_the_tape_as_a_listing() -> None:
    trace = srcgrad.trace(example)(0.6791, 0.8284)
    assert len(trace.rows) == 5
    np.testing.assert_allclose([row.adjoint for row in trace.rows], [1.60655, 0.6791, 1.0, 1.0, 1.0], rtol=1e-5)
    assert len(str(trace).splitlines()) >= 5


def test_4_9_adjoints_are_summed() -> None:
    np.testing.assert_allclose(grad(example)(X, Y), Y + np.cos(X))


class Model:
    """A method with a rule."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def apply(self, x: Any) -> Any:
        return self.scale * x * x


def test_4_10_rules_are_chosen_by_function() -> None:
    def make(factor):
        @srcgrad.opaque
        def own(x):
            return factor * x

        srcgrad.sensitivity(own, arg=0)(lambda y, y_bar, x: y_bar * factor)
        return own

    one, two = make(2.0), make(3.0)
    alias = one
    assert grad(lambda x: one(x) * two(x) + alias(x))(1.0) == 14.0
    model = Model(2.0)
    assert grad(lambda x: model.apply(x))(3.0) == 12.0


def third(x):
    return x * math.sin(x)


def second(x):
    return third(x) + third(2.0 * x)


def first(x):
    return second(x) * second(x + 1.0)


def factorial_like(x, n):
    return x if n == 0 else x * factorial_like(x, n - 1)


def test_4_11_calls_are_entered() -> None:
    srcgrad.check_grads(first, (0.3,))
    assert grad(factorial_like)(2.0, 3) == 32.0


RUN: list[int] = []


@srcgrad.opaque
def power_of(x, y):
    return x**y


@srcgrad.sensitivity(power_of, arg=0)
def by_base(z, z_bar, x, y):
    RUN.append(0)
    return z_bar * y * x ** (y - 1.0)


@srcgrad.sensitivity(power_of, arg=1)
def by_exponent(z, z_bar, x, y):
    RUN.append(1)
    return z_bar * z * np.log(x)


@pytest.mark.parametrize("wrt", [(0,), (1,), (0, 1)])
def test_4_12_and_4_15_one_rule_per_argument_run_only_if_asked_for(wrt: tuple[int, ...]) -> None:
    RUN.clear()
    found = grad(lambda x, y: power_of(x, y), wrt)(2.0, 3.0)
    assert sorted(RUN) == list(wrt)
    np.testing.assert_allclose(found, [(12.0, 8.0 * np.log(2.0))[k] for k in wrt])


@srcgrad.opaque
def weighed(x, w):
    return np.sum(x * w)


def test_4_13_and_4_14_rules_that_add_in_place() -> None:
    @srcgrad.sensitivity(weighed, arg=0, accumulate=True)
    def into(x_bar, z, z_bar, x, w):
        x_bar += z_bar * w
        return x_bar

    w = DRAW(3)
    found = grad(lambda x: weighed(x, w) + np.sum(x * x))(np.ones(3))
    np.testing.assert_allclose(found, w + 2.0)


def test_4_16_a_call_with_a_rule_is_one_line() -> None:
    text = source(lambda x: power_of(x, 2.0))
    assert "power_of(x, 2.0)" in text and "**" not in text.split('"""')[2].split("# line")[0]


def test_4_19_the_seed_is_the_users() -> None:
    assert vjp(lambda x: x * x, 3.0)[1](2.0) == (12.0,)


def noisy(x):
    print("once")
    return x * x


def test_4_20_side_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    value, gradient = value_and_grad(noisy)(3.0)
    assert (value, gradient) == (9.0, 6.0)
    assert capsys.readouterr().out == "once\n"


def by_hand(x, y):
    return y + np.cos(x), x


def test_4_21_by_hand_automatic_and_own_rule_agree() -> None:
    @srcgrad.opaque
    def own(x, y):
        return x * y + np.sin(x)

    srcgrad.register_vjp(own, lambda p, c, o: (c * (p[1] + np.cos(p[0])), c * p[0]))
    automatic = grad(example, (0, 1))(X, Y)
    np.testing.assert_allclose(automatic, by_hand(X, Y))
    np.testing.assert_allclose(grad(lambda x, y: own(x, y), (0, 1))(X, Y), automatic)


def annotated(x: np.ndarray, scale: float = 2.0) -> float:
    total: float = 0.0
    if isinstance(x, np.ndarray):
        total = np.sum(x * scale)
    return total


def test_4_22_annotations_and_isinstance() -> None:
    np.testing.assert_array_equal(grad(annotated)(np.ones(2)), [2.0, 2.0])


def long_way(x):
    t = np.sin(x)
    u = np.exp(t) * t
    return u * np.tanh(u) * t


def test_4_17_a_rule_saves_less() -> None:
    inside, outside = grad(long_way), grad(lambda x: power_of(x, 2.0) * 1.0)
    assert inside(3.0) and outside(3.0)
    assert len(outside.saved) < len(inside.saved)
