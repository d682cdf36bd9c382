"""Where two features meet: classes of two halves beside writes, checkpointed loops that are not always run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # programs take what they like

import numpy as np
import pytest

import srcgrad
from srcgrad import checkpointed
from srcgrad.interface.check.check import check_grads

X = np.array([0.7, -0.4, 1.1])


class Square(srcgrad.Function):
    """Keeps its argument itself."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, y_bar):
        (x,) = ctx.saved_tensors
        return y_bar * 2 * x


class Logistic(srcgrad.Function):
    """Keeps its result itself."""

    @staticmethod
    def forward(ctx, x, rate=1.0):
        y = 1.0 / (1.0 + np.exp(-rate * x))
        ctx.save_for_backward(y)
        ctx.rate = rate
        return y

    @staticmethod
    def backward(ctx, y_bar):
        (y,) = ctx.saved_tensors
        return y_bar * ctx.rate * y * (1.0 - y), None


def argument_overwritten(x, c):
    a = x * c
    a[:] = Square.apply(a)
    return np.sum(a * a)


def result_overwritten(x, c):
    a = x * c
    a[:] = Logistic.apply(a, rate=2.0)
    a *= c
    return np.sum(a * a)


def part_overwritten(x, c):
    a = x * c
    a[1:] = Square.apply(a[1:])
    a[1:] = Square.apply(x=a[:2])
    return np.sum(a * a)


def overwritten_in_loop(x, c):
    a = x * c
    s = 0.0
    for _ in range(3):
        a[:] = Square.apply(a)
        a *= 0.8
        s = s + np.sum(Logistic.apply(a))
    return s


HALVES = [argument_overwritten, result_overwritten, part_overwritten, overwritten_in_loop]


@pytest.mark.parametrize("program", HALVES)
def test_what_a_forward_half_keeps_stays(program: Callable[..., Any]) -> None:
    check_grads(program, (X, 0.8), order=1, modes=("reverse",))


def marked_in_branch(x, c):
    a = x * c
    if c > 3.0:
        for _ in checkpointed(range(3), slots=2):
            a = np.tanh(a)
    return np.sum(a * a)


def marked_in_branch_of_loop(x, c):
    a = x * c
    for i in range(2):
        if i == 1:
            for _ in checkpointed(range(3)):
                a = np.tanh(a)
    return np.sum(a * a)


def marked_in_loop_of_no_trip(x, c):
    a = x * c
    for _ in range(0):
        k = 0
        while checkpointed(k < 3):
            a = np.tanh(a)
            k += 1
    return np.sum(a * a)


def marked_while_in_loop(x, c):
    a = x * c
    for i in range(3):
        k = 0
        while checkpointed(k < i):
            a = np.tanh(a)
            k += 1
    return np.sum(a * a)


MARKED = [marked_in_branch, marked_in_branch_of_loop, marked_in_loop_of_no_trip, marked_while_in_loop]


@pytest.mark.parametrize("program", MARKED)
@pytest.mark.parametrize("c", [0.8, 3.2])
def test_loops_that_are_not_always_run(program: Callable[..., Any], c: float) -> None:
    check_grads(program, (X, c), order=2)


BASE = np.diag([1.0, 2.5, 4.5])


def rebound_in_branch(a, c):
    q, r = np.linalg.qr(BASE + np.outer(a, a))
    if c > 1.0:
        q, r = np.linalg.qr(r + np.outer(a, a))
    return np.sum(q[0] ** 2 * a) + np.sum(r * c)


def first_result_rebound(a, c):
    q = BASE + np.outer(a, a)
    r = q * c
    for _ in range(2):
        q, r = np.linalg.qr(q)
        q = q + 0.3 * r + BASE
    return np.sum(q[0] ** 2 * a) + np.sum(r * c)


def all_results_rebound(a, c):
    u = BASE + np.outer(a, a)
    s, v = a, u
    for k in range(2):
        if c > k:
            u, s, v = np.linalg.svd(u * (c + k) + np.diag(s) @ v)
            u = u * s + BASE
    return np.sum(u * v) + np.sum(s)


REBOUND = [rebound_in_branch, first_result_rebound, all_results_rebound]


@pytest.mark.parametrize("program", REBOUND)
@pytest.mark.parametrize("c", [0.8, 1.3])
def test_results_rebound_from_themselves(program: Callable[..., Any], c: float) -> None:
    check_grads(program, (X, c), order=1)


def begun_in_a_dict(x):
    d = {"sum": 0, "product": 1}
    for v in x:
        d["sum"] += v * v
        d["product"] = d["product"] * v
    return d["sum"] * d["product"]


def begun_in_a_tuple(x):
    t = (0, 1)
    for v in x:
        t = (t[0] + v, t[1] * v)
    return t[0] * t[1]


def begun_in_a_list(x):
    q = [0 for _ in x]
    for k, v in enumerate(x):
        q[k - 1] += v * q[k - 2] + v
    return sum(q) * q[1]


def begun_by_a_default(x):
    d = {}
    for k, v in enumerate(x):
        d[k % 2] = d.get(k % 2, 0) + v * v
    return d[0] * d[1]


@pytest.mark.parametrize("program", [begun_in_a_dict, begun_in_a_tuple, begun_in_a_list, begun_by_a_default])
def test_sums_begun_with_an_integer(program: Callable[..., Any]) -> None:
    check_grads(program, (X,), order=2, modes=("forward", "reverse"))
    slopes = srcgrad.grad(program)(X)
    assert np.allclose(srcgrad.jacobian(lambda x: np.array([program(x), 1.0]))(X)[0], slopes, rtol=1e-12)


def read_by_the_next_loop(x, n):
    for _ in range(n):
        z = x * x
    s = x[0]
    for _ in range(n):
        s = s * np.sum(z)
    return s


def read_by_a_branch(x, n):
    for _ in range(n):
        z = x * x
        w = np.sin(z)
    if n > 0:
        return np.sum(z * w)
    return np.sum(x * x)


def read_by_a_choice(x, n):
    for _ in range(n):
        z = x * x
    y = x * 2.0 if n == 0 else z + x
    return np.sum(y * y)


def written_by_the_next_loop(x, n):
    for _ in range(n):
        z = x * x
    s = x[0]
    for _ in range(n):
        z[1] = s * z[0]
        s = s + np.sum(z)
    return s


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize(
    "program", [read_by_the_next_loop, read_by_a_branch, read_by_a_choice, written_by_the_next_loop]
)
def test_loops_that_make_no_trip_and_bind_what_is_read(program: Callable[..., Any], n: int) -> None:
    check_grads(lambda x: program(x, n), (X,), order=2, modes=("forward", "reverse"))
    one = srcgrad.grad(program)(X, n)
    y, pullback = srcgrad.vjp(program, X, n)
    assert y == program(X, n) and np.allclose(pullback(1.0)[0], one) and np.allclose(pullback(2.0)[0], 2.0 * one)
    with pytest.raises(UnboundLocalError):
        srcgrad.grad(lambda x: _unbound(x, 0))(X)


def _unbound(x, n):
    for _ in range(n):
        z = x * x
    return np.sum(z)
