"""`vjp` and `jvp` make the text of a function once, and see what has changed about the function since."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.api import derivative, derivatives

X = np.array([1.0, 2.0])


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """The modes of all texts that are made."""
    modes: list[str] = []
    compile_ = derivative.execute_derivative

    def counted(one, *args, **kwargs):
        modes.append(one.mode)
        return compile_(one, *args, **kwargs)

    monkeypatch.setattr(derivative, "execute_derivative", counted)
    return modes


def test_one_text_for_many_calls(made) -> None:
    def f(x, k):
        return np.sum(x * x) * k

    for k in range(3):
        np.testing.assert_array_equal(srcgrad.vjp(f, X, float(k))[1](1.0)[0], 2.0 * X * k)
        assert srcgrad.jvp(f, (X, float(k)), (X, 0.0))[1] == 10.0 * k
    decorated = srcgrad.differentiate(f)
    decorated.vjp(X, 1.0)
    decorated.jvp((X, 1.0), (X, 0.0))
    assert made == ["vjp", "forward"]
    srcgrad.vjp(f, X, 1.0, wrt="x")
    srcgrad.vjp(f, X, 1.0, wrt=("x",))
    assert made == ["vjp", "forward", "vjp", "vjp"]


def test_methods_belong_to_their_objects(made) -> None:
    class Model:
        def __init__(self, a):
            self.a = a

        def loss(self, x):
            return np.sum(self.a * x)

    one, two = Model(2.0), Model(3.0)
    for _ in range(2):
        assert [srcgrad.vjp(model.loss, X)[1](1.0)[0][0] for model in (one, two)] == [2.0, 3.0]
    assert made == ["vjp", "vjp"]
    one.a = 7.0
    assert srcgrad.vjp(one.loss, X)[1](1.0)[0][0] == 7.0


def test_functions_that_are_gone_are_not_mistaken_for_new_ones() -> None:
    def scaled(k):
        return lambda x: np.sum(k * x)

    assert [srcgrad.vjp(scaled(k), X)[1](1.0)[0][0] for k in range(40)] == list(range(40))
    assert len(derivatives._KEPT) <= derivatives.ROOM


def test_a_function_that_was_changed() -> None:
    def f(x, k=2.0, *, m=1.0):
        return np.sum(x * k) * m

    def cube(x, k=2.0, *, m=1.0):
        return np.sum(x**3)

    gradient = srcgrad.grad(f)
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 2.0
    f.__defaults__ = (5.0,)
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 5.0
    f.__kwdefaults__["m"] = 3.0
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 15.0
    f.__code__, f.__defaults__, f.__kwdefaults__ = cube.__code__, (2.0,), {"m": 1.0}
    assert srcgrad.vjp(f, X, wrt=0)[1](1.0)[0] == gradient(X)[0] == 3.0
