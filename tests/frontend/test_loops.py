"""What a loop runs over, under whatever name."""

from __future__ import annotations

import builtins
from builtins import range as steps
from builtins import reversed as back

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.dump import dump


def dotted(x, n):
    for i in builtins.range(n):
        x = x * np.sin(x + i)
    return x


def plain(x, n):
    for i in range(n):
        x = x * np.sin(x + i)
    return x


def renamed_backwards(x, n):
    for i in back(steps(n)):
        x = x * np.sin(x + i)
    return x


def backwards(x, n):
    for i in reversed(range(n)):
        x = x * np.sin(x + i)
    return x


def kept(x, n):
    for i in srcgrad.checkpointed(back(steps(n)), slots=2):
        x = x * np.sin(x + i)
    return x


@pytest.mark.parametrize(("one", "other"), [(dotted, plain), (renamed_backwards, backwards), (kept, backwards)])
def test_ranges_under_another_name(one, other):
    assert srcgrad.grad(one)(0.7, 4) == srcgrad.grad(other)(0.7, 4)
    assert srcgrad.jvp(one, (0.7, 4), (1.0, 0)) == srcgrad.jvp(other, (0.7, 4), (1.0, 0))
    text = srcgrad.source(one, wrt="x")
    assert "builtins" not in text and "steps" not in text and "back(" not in text


def test_a_range_whose_own_name_is_taken():
    text = (
        "import builtins\n\ndef range(n):\n    return [n]\n\n"
        "def f(x):\n    for i in builtins.range(2):\n        x = x * x\n    return x\n"
    )
    with pytest.raises(DifferentiationError, match=r"E5005.*`range` is bound to something else"):
        dump("-:f", text=text)


def of_equal_lengths(x, y):
    s = 0.0
    for u, v in zip(x, y, strict=True):
        s = s + u * v
    return s


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_sequences_of_different_lengths_are_refused_before_the_loop(mode):
    """The statement that refuses them had the text of the loop, which reads what the gradient has no use for."""
    assert srcgrad.source(of_equal_lengths, mode=mode, wrt=("x", "y")).count("s = s + u * v\n") <= 2
    x, y = np.ones(3), np.ones(2)
    with pytest.raises(ValueError, match="sequences of different lengths"):
        srcgrad.grad(of_equal_lengths, wrt=(0, 1))(x, y) if mode == "reverse" else srcgrad.jvp(
            of_equal_lengths, (x, y), (x, y)
        )
    srcgrad.check_grads(of_equal_lengths, (x, np.array([0.5, 2.0, 1.0])), order=2)


def over_what_the_body_binds_anew(b, x):
    for _, a in enumerate(b):
        b = b * 0.5
        a **= x
    return a


def test_a_loop_goes_on_over_what_it_began_with():
    """`a **= x` counted as a change of the array, for which the items were read where they stand: in the halved one."""
    b, x = np.array([0.22, 0.49]), 0.45
    value, (of_b, of_x) = srcgrad.value_and_grad(over_what_the_body_binds_anew, wrt=(0, 1))(b, x)
    assert value == 0.49**0.45
    assert np.allclose(of_b, [0.0, 0.45 * 0.49**-0.55], rtol=1e-12)
    assert np.isclose(of_x, 0.49**0.45 * np.log(0.49), rtol=1e-12)
    srcgrad.check_grads(over_what_the_body_binds_anew, (b, x), order=2)
