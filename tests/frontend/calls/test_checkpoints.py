"""Checkpointed loops give the gradients of the same loops without the marker, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.programs import recomputed_control, recomputed_outer, recomputed_reads, recomputed_state, recomputed_writes
from tests.programs.recomputed import X, copies, floats, program
from tests.programs.recomputed_refusals import REFUSED

FILES = (recomputed_control, recomputed_outer, recomputed_reads, recomputed_state, recomputed_writes)
PROGRAMS = {name: case for file in FILES for name, case in file.PROGRAMS.items()}


def check_same(found, wanted):
    """Value, shape, dtype and class; the sums are the same ones in the same order, up to where they are split."""
    for one, other in zip(found, wanted, strict=True):
        assert type(one) is type(other)
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        assert np.shape(one) == np.shape(other)
        single = getattr(one, "dtype", None) == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-5 if single else 1e-11, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_loop(name):
    """The gradient, the pullback called twice, arguments as they were, the tangent."""
    text, args = PROGRAMS[name]
    marked, wrt = program(text, True), floats(args)
    wanted = srcgrad.grad(program(text, False), wrt)(*copies(args))
    given = copies(args)
    value, found = srcgrad.value_and_grad(marked, wrt)(*given)
    check_same(found, wanted)
    np.testing.assert_allclose(value, marked(*copies(args)), rtol=1e-6)
    for one, other in zip(given, args, strict=True):
        np.testing.assert_array_equal(one, other)
    _, pullback = srcgrad.vjp(marked, *given, wrt=wrt)
    check_same(pullback(1.0), wanted)
    check_same(pullback(1.0), wanted)
    ones = tuple(np.ones_like(a) if k in wrt else 0.0 for k, a in enumerate(args))
    tangent = srcgrad.jvp(marked, tuple(given), ones)[1]
    np.testing.assert_allclose(tangent, sum(np.sum(w) for w in wanted), rtol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    text, args, code = REFUSED[name]
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(program(text, True), floats(args))(*copies(args))
    assert caught.value.code == code
    assert caught.value.place is not None


@pytest.mark.parametrize("name", ["carries_two", "breaks", "reads_by_index", "stands_in_a_loop", "converges"])
def test_second_order(name):
    """A derivative of a derivative is that of the loop without its marker."""
    text, args = PROGRAMS[name]
    along = tuple(np.ones_like(a) if k == 0 else np.zeros_like(a) for k, a in enumerate(args))
    found = srcgrad.jvp(srcgrad.grad(program(text, True)), args, along)[1]
    wanted = srcgrad.jvp(srcgrad.grad(program(text, False)), args, along)[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-11)
    assert np.any(wanted != 0.0)


@pytest.mark.parametrize("slots", [1, 2, 3, 7, 20])
def test_slots_change_nothing(slots):
    """The gradient is the same to the last bit: the same steps are made, some of them again."""
    text, args = PROGRAMS["takes_slots"]
    grad = srcgrad.grad(program(text, True))
    np.testing.assert_array_equal(grad(args[0], 30, slots), grad(args[0], 30, 30))


@pytest.mark.parametrize("marked", [True, False])
def test_one_array_as_two_arguments(marked):
    """What is written into one of them shows in the other: refused when it is called, with the marker and without."""
    text, _ = PROGRAMS["writes_beside_an_argument"]
    with pytest.raises(srcgrad.DifferentiationError, match="E5010"):
        srcgrad.grad(program(text, marked), (0, 1))(X, X, 3)


def repeated(function, start):
    scale, state = 2.0 * start, start
    for _ in srcgrad.checkpointed(range(4)):
        slope, rest = abs(scale) * state, np.exp(-start)
        state = function(state) * slope * 0.1 + rest
    return state


def test_a_loop_of_a_function_that_is_written_out_twice() -> None:
    """The second loop reads its own names, which are others than those in its lines."""
    srcgrad.check_grads(lambda x: repeated(np.sin, x[0]) + repeated(np.cos, x[1]), (np.array([0.31, 0.47]),))
