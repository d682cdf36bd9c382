"""Each construct of the language is differentiated rightly, or refused with its code."""

from __future__ import annotations

import copy
import linecache
import sys
import types
from typing import Any

import numpy as np
import pytest

from srcgrad import check_grads, grad, hvp
from srcgrad.errors import DifferentiationError
from tests.attacked import ATTACKED
from tests.hostile import TAKEN, TURNED_AWAY
from tests.language import NAMES, REFUSED, RIGHT, C, X
from tests.people_write import WRITTEN
from tests.usual import USUAL

ATTACKED_RIGHT = {name: text for name, (code, text) in ATTACKED.items() if code == "right"}
ACCEPTED = {**RIGHT, **TAKEN, **USUAL, **WRITTEN, **ATTACKED_RIGHT}
DENIED = {**REFUSED, **TURNED_AWAY, **{name: pair for name, pair in ATTACKED.items() if pair[0] != "right"}}


def made(name: str, text: str) -> tuple[Any, tuple[Any, ...]]:
    """The function of a program, and its arguments."""
    file = f"<language {name}>"
    text = text.strip("\n") + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    sys.modules.setdefault("language", types.ModuleType("language"))
    space: dict[str, Any] = dict(NAMES)
    exec(compile(text, file, "exec"), space)
    return space["f"], space.get("ARGS", (X.copy(), C))


@pytest.mark.parametrize("name", ACCEPTED)
def test_right(name: str) -> None:
    f, args = made(name, ACCEPTED[name])
    before = copy.deepcopy(args)
    check_grads(f, args, order=1)
    for old, new in zip(before, args, strict=True):
        if isinstance(old, np.ndarray | float | list | dict):
            np.testing.assert_equal(new, old)


@pytest.mark.parametrize("name", DENIED)
def test_refused(name: str) -> None:
    code, text = DENIED[name]
    f, args = made(name, text)
    with pytest.raises(DifferentiationError) as caught:
        check_grads(f, args, order=1)
    assert caught.value.code == code


def test_a_method_replaced_in_its_class_is_derived_anew() -> None:
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
    with pytest.raises(DifferentiationError, match="E5003"):
        derivative(*args)


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
