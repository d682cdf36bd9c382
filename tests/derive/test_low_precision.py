"""float16: adjoints are added up in float32, and come back in float16."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, vjp

N = 4096  # ones of float16 add up to 2048 and no further
ONE, ONES = np.float16(1.0), np.ones(3, np.float16)


def added_in_a_loop(x, w, n):
    s = 0.0
    for k in range(n):
        s = s + np.sum(x * w[k])
    return s


def element_in_a_loop(x, n):
    s = 0.0
    for _ in range(n):
        s = s + x[0]
    return s


def gathered(x, places):
    return np.sum(x[places])


def broadcast(x, wide):
    return np.sum((x + wide) * (wide - x) * 0.5)


def loop_after_another_use(x, n):
    s = 0.0
    for _ in range(n):
        s = s + x[0]
    return s + np.sum(x * 2.0)


def rebound(x, w, n):
    for _ in range(n):
        x = x * 1.0 + w
    return np.sum(x)


W = np.ones((N, 3), np.float16)


@pytest.mark.parametrize(
    ("f", "args", "wrt", "expected"),
    [
        (added_in_a_loop, (ONES, W, N), 0, [N, N, N]),
        (added_in_a_loop, (ONE, np.ones(N, np.float16), N), 0, N),
        (element_in_a_loop, (ONES, N), 0, [N, 0, 0]),
        (gathered, (ONES, np.zeros(N, int)), 0, [N, 0, 0]),
        (broadcast, (ONES * np.float16(0.5), W), 0, [-N / 2] * 3),
        (loop_after_another_use, (ONES, N), 0, [N + 2, 2, 2]),
        (rebound, (ONES, ONES, N), 1, [N, N, N]),
    ],
)
def test_capability_1_10_a_sum_of_4096_contributions(f, args, wrt, expected):
    """To a rounding of the result to float16: its unit at 4096 is 4."""
    found = grad(f, wrt)(*args)
    assert np.asarray(found).dtype == np.float16
    assert np.array_equal(found, np.asarray(expected, np.float16))


def test_the_accumulator_is_in_the_text():
    slope = grad(element_in_a_loop)
    slope(ONES, 2)
    assert "x_bar = np.zeros_like(x, dtype=np.float32)" in slope.source
    slope(np.ones(3), 2)
    assert "x_bar = np.zeros_like(x)\n" in slope.source
    slope(np.ones(3, np.float32), 2)
    assert "x_bar = np.zeros_like(x)\n" in slope.source


def test_the_pullback_and_a_second_derivative():
    _, pullback = vjp(element_in_a_loop, ONES, N, wrt=0)
    assert pullback(1.0).tolist() == [N, 0, 0]

    def cube(x, n):
        s = 0.0
        for _ in range(n):
            s = s + x[0] ** 3
        return s

    _, found = srcgrad.jvp(grad(cube), (ONES, 4), (ONES, 0))
    assert found.tolist() == [24.0, 0.0, 0.0]


def test_small_contributions_to_a_broadcast_operand_are_kept():
    """A tenth, 4096 times, down a column: float16 alone would stop adding at 256."""
    seed = np.full((N, 3), 0.1, np.float16)
    found = srcgrad.runtime.sum_to(seed, np.zeros(3, np.float16))
    assert np.allclose(found, N * float(np.float16(0.1)), rtol=5e-4)  # a rounding to float16
