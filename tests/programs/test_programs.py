"""The corpus crossed with modes: derivatives against differences, modes against each other."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from srcgrad import check_grads, grad, jvp, source, value_and_grad, vjp
from srcgrad.interface.check.finite_differences import vector
from tests.programs.accepted import IDS, PROGRAMS

# A stopping test that differences at order 2 do not resolve, output that second order would repeat, and two whose
# gradients are refused: they write into a dict, or belong to a method.
FIRST_ORDER = {"newton_square_root", "guards_and_prints", "dictionary_argument", "apply"}
every_program = pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)


def is_number(value) -> bool:
    return isinstance(value, float | np.floating)


@every_program
def test_first_order(function, args) -> None:
    check_grads(function, args, order=1)


@every_program
def test_second_order(function, args) -> None:
    check_grads(function, args, order=1 if function.__name__ in FIRST_ORDER else 2, directions=1)


@every_program
def test_source_is_repeatable(function, args) -> None:
    scalar = is_number(function(*args))
    for mode in ("vjp", "forward", *(("reverse", "value-and-grad") if scalar else ())):
        text = source(function, mode=mode)
        assert source(function, mode=mode) == text
        compile(text, "<text>", "exec")


@every_program
def test_value_and_grad(function, args) -> None:
    wrt = tuple(k for k, argument in enumerate(args) if vector(argument).size)
    value = function(*args)
    if not is_number(value) or not wrt:
        return
    found, gradient = value_and_grad(function, wrt=wrt)(*args)
    assert found == value
    alone = grad(function, wrt=wrt)(*args)
    np.testing.assert_array_equal(vector(gradient), vector(alone))
    _, pullback = vjp(function, *args, wrt=wrt)
    np.testing.assert_allclose(vector(pullback(1.0)), vector(gradient), rtol=1e-13, atol=1e-300)


@every_program
def test_forward_value(function, args) -> None:
    value, _ = jvp(function, args, args)
    np.testing.assert_array_equal(vector(value), vector(function(*args)))


def test_documented() -> None:
    for function, _ in PROGRAMS:
        assert function.__name__ == "<lambda>" or inspect.getdoc(function)
