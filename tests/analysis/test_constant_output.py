"""Where no derivative flows to the output, whoever asks for one is warned, at the line of the function."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import srcgrad

X = np.array([0.4, -0.3])


def counted(x, y):
    return np.sum(np.round(x)) * len(y)


def linear(x, y):
    return np.sum(x) + 0.0 * np.sum(np.sign(y))


def within(x):
    return np.sum(x) + np.sum(srcgrad.grad(counted)(x, x))


ASKED = [
    lambda f: srcgrad.grad(f)(X, X),
    lambda f: srcgrad.value_and_grad(f, (0, 1))(X, X),
    lambda f: srcgrad.vjp(f, X, X)[1](1.0),
    lambda f: srcgrad.jvp(f, (X, X), (X, X)),
    lambda f: srcgrad.grad(f, target="numba")(X, X),
]


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize("ask", ASKED)
def test_a_constant_output_is_told_of(ask) -> None:
    with pytest.warns(
        srcgrad.ConstantOutputWarning, match="no derivative flows from `x`.* to the output of `counted`"
    ) as told:
        ask(counted)
    assert {(one.filename, one.lineno) for one in told} == {(__file__, counted.__code__.co_firstlineno)}


@pytest.mark.usefixtures("nothing_kept")
def test_once_for_each_function() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            srcgrad.grad(counted)(X, X)
    assert len(told) == 1


@pytest.mark.usefixtures("nothing_kept")
def test_what_depends_on_an_argument_is_not_told_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        srcgrad.grad(linear)(X, X)
        srcgrad.grad(linear, (0, 1))(X, X)
        assert srcgrad.hvp(linear)(X, X, X).tolist() == [0.0, 0.0]  # of a gradient that is constant
        srcgrad.grad(within)(X)
        assert srcgrad.grad(lambda x: x)(2.0) == 1.0


def test_asked_for_alone() -> None:
    with pytest.warns(srcgrad.ConstantOutputWarning, match="from `y` to the output of `linear`"):
        srcgrad.grad(linear, 1)(X, X)
