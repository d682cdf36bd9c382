"""Each construct of the language is differentiated rightly, or refused with its code."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad, hvp, source
from tests.messages import PAGE, refusal, section
from tests.programs.small import REFUSED, RIGHT, C, made


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    f, args = made(name, RIGHT[name])
    before = copy.deepcopy(args)
    check_grads(f, args, order=1)
    for old, new in zip(before, args, strict=True):
        if isinstance(old, np.ndarray | float | list | dict):
            np.testing.assert_equal(new, old)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """With the code it says, in the words of the page; `python -m tests.messages --write` writes that anew."""
    error = refusal(name)
    assert error.code == REFUSED[name].expected
    assert section(name, error) in PAGE.read_text(encoding="utf-8")


def test_a_method_replaced_in_its_class_or_its_object_is_derived_anew() -> None:
    text = """
class Model:
    def act(self, v):
        return v * 2.0
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c
"""
    f, args = made("replaced method", text)
    derivative = grad(f)
    np.testing.assert_array_equal(derivative(*args), np.full(4, 2.0 * C))
    type(f.__globals__["model"]).act = lambda self, v: v * 5.0
    np.testing.assert_array_equal(derivative(*args), np.full(4, 5.0 * C))
    f.__globals__["model"].act = lambda v: v * 7.0
    np.testing.assert_array_equal(derivative(*args), np.full(4, 7.0 * C))


def test_a_loop_of_which_the_gradient_needs_the_last_item_alone() -> None:
    text = """
def f(x, c):
    s = 0.0
    for k in range(3):
        s = s + x[k] * k
    return s * k
"""
    f, args = made("last item", text)
    np.testing.assert_array_equal(grad(f)(*args), [0.0, 2.0, 4.0, 0.0])
    np.testing.assert_array_equal(hvp(f)(*args, np.ones(4)), np.zeros(4))


def test_an_axis_more_of_what_may_be_a_number() -> None:
    text = """
def f(x, c):
    t = x * c
    return np.sum(t[None] * 3.0) + np.sum(np.sin(t)) + np.sum(t[None, None] ** 2)
"""
    f, _ = made("axis more", text)
    slope = 3.0 * C + C * np.cos(0.7 * C) + 2.0 * C * C * 0.7
    for x in (np.array(0.7), np.float64(0.7), np.full(2, 0.7)):
        np.testing.assert_allclose(grad(f)(x, C), slope, rtol=1e-14)
        np.testing.assert_allclose(loaded(source(f, wrt="x"))["f_grad"](x, C), slope, rtol=1e-14)


def loaded(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(text, space)
    return space
