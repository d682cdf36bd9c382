"""Loops that add up what no trip needs of another have both halves in one, and record nothing; others do not."""

from __future__ import annotations

from typing import Any  # functions of arrays

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

POS, C = np.array([[0.1, 0.9], [1.2, -0.4], [-0.8, 0.3], [0.5, 1.7]]), np.array([2.0, -1.5])


def energy(pos, c):
    e = 0.0
    for i in range(len(pos)):
        d = pos[i] - c
        r2 = np.sum(d * d)
        s = 1.0 / r2**2
        e += 4.0 * (s * s - s)
    return e


def pairs(pos, c):
    e = 0.0
    for i in range(1, len(pos)):
        p = pos[i]
        d = pos[:i] - p
        r2 = np.sum(d * d, axis=1)
        e += np.sum(c[0] / r2)
    return e


def fit(pos, c):
    total = 0.0
    for p, q in zip(pos[:, 0], pos[:, 1], strict=True):
        r = c[0] * np.exp(-c[1] * p) - q
        total = total + np.sum(r * r)
    return total


def two_sums(pos, c):
    one, two = 0.0, 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i]) * c
        if np.sum(u) > 0.1:
            v = u * u
        else:
            u = np.exp(u)
            v = u
        one += np.sum(v)
        two += np.sum(v * u)
    return one * c[0] + two


def inner_loop(pos, c):
    total = 0.0
    for i in range(len(pos)):
        u = pos[i]
        for _ in range(i + 1):
            u = np.tanh(u * c)
        total += np.sum(u)
    return total


def over_items(pos, c):
    total = 0.0
    for place in pos:
        d = place - c
        r2 = np.sum(d * d)
        total += 1.0 / r2 + np.log(r2) * r2
    return total


def over_items_of_a_list(pos, c):
    total = 0.0
    for place in [pos[0], pos[-1] * c, c]:
        u = np.sin(place)
        total += np.sum(u * u * u)
    return total


FUSED = [energy, pairs, fit, over_items]


def carried(pos, c):
    total = 0.0
    for i in range(len(pos)):
        c = c * 0.9 + 0.1 * pos[i]
        total += np.sum(np.sin(c) * c)
    return total


def reads_its_sum(pos, c):
    total = 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i] * c)
        total += np.sum(u * u) * (1.0 + total)
    return total


def root(pos, c):
    total = 1.0
    for i in range(len(pos)):
        u = np.sin(pos[i] * c)
        total += np.sum(u * u)
    return np.sqrt(total)


def read_behind(pos, c):
    total = 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i] * c)
        total += np.sum(u * u)
    return total + np.sum(u) * i


def changed_behind(pos, c):
    total = 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i] * c)
        total += np.sum(u * u)
    c = c * c
    return total * c[0]


def left_early(pos, c):
    total = 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i] * c)
        if np.sum(u) < -0.9:
            break
        total += np.sum(u * u)
    return total


def stored(pos, c):
    out = np.zeros(4)
    total = 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i] * c)
        out[i] = np.sum(u)
        total += np.sum(u * u)
    return total + np.sum(out * out)


def the_one_before(pos, c):
    total, last = 0.0, c
    for i in range(len(pos)):
        u = np.sin(pos[i] * last)
        total += np.sum(u * u)
        last = u
    return total


def items_anew(pos, c):
    total = 0.0
    for place in pos:
        u = np.sin(place * c)
        total += np.sum(u * u)
    pos = pos * 2.0
    return total + np.sum(pos * pos)


def last_item(pos, c):
    total, place = 0.0, c
    for place in pos:
        u = np.sin(place * c)
        total += np.sum(u * u)
    return total * np.sum(place)


OTHERS = [
    over_items_of_a_list,
    items_anew,
    last_item,
    two_sums,
    inner_loop,
    carried,
    reads_its_sum,
    root,
    read_behind,
    changed_behind,
    left_early,
    stored,
    the_one_before,
]


@pytest.mark.parametrize("function", [*FUSED, *OTHERS], ids=lambda f: f.__name__)
def test_gradients(function: Any) -> None:
    check_grads(function, (POS, C), order=2)
    check_grads(function, (POS[:1], C), order=1)
    if function not in (read_behind, over_items_of_a_list):
        check_grads(function, (POS[:0], C), order=1)
    value, found = srcgrad.value_and_grad(function, wrt=(0, 1))(POS, C)
    assert value == function(POS, C)
    _, back = srcgrad.vjp(function, POS, C)  # is never fused
    for one, other in zip(found, back(1.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("function", FUSED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["reverse", "value-and-grad"])
def test_one_loop_and_no_records(function: Any, mode: str) -> None:
    text = srcgrad.source(function, mode=mode, wrt=("pos", "c"))
    assert "Recorded: nothing." in text and text.count("\n    for ") == 1 and "pop()" not in text, text


def test_items_that_are_not_differentiated_keep_their_loop() -> None:
    assert "    for place in pos:\n" in srcgrad.source(over_items, wrt="c")


def test_the_value_of_a_name_is_read_once() -> None:
    text = srcgrad.source(pairs, wrt=("pos", "c"))
    assert text.count("p = pos[i]\n") == 2, text  # one of them in a comment


@pytest.mark.parametrize("function", [carried, root, read_behind, the_one_before], ids=lambda f: f.__name__)
def test_two_loops(function: Any) -> None:
    text = srcgrad.source(function, wrt=("pos", "c"))
    assert text.count("\n    for ") == 2, text


def printed(pos):
    total = 0.0
    for i in range(len(pos)):
        u = np.sin(pos[i])
        print(i)
        total += np.sum(u * u)
    return total


def test_what_is_printed(capsys) -> None:
    srcgrad.grad(printed)(POS)
    assert capsys.readouterr().out == "0\n1\n2\n3\n"


def with_an_adjoint_that_others_add_to(x, c):
    """The zeros of the adjoint of a are behind no loop that adds to it: two loops here do, of which one goes first."""
    s, w, a, t = 0.0, c * 2.0, x * c, 0.0
    for i in range(len(x)):
        t += (x[i] - c) ** 2 + x[i]
    s = s + t * w
    for v in a:
        s = s + (np.sin(v) * c) ** 2
    for i in range(4):
        if a[i] > c:
            s += a[i]
        else:
            s -= c * a[i]
    for i in range(3):
        for j in range(i + 1):
            s += a[i] * x[j]
    return s + np.sum(x)


def test_zeros_are_written_once() -> None:
    x, f = np.array([0.3, 0.7, 1.1, 0.9]), with_an_adjoint_that_others_add_to
    gradient, steps = srcgrad.grad(f), 1e-6 * np.eye(4)
    assert gradient(x, 0.7) == pytest.approx([(f(x + h, 0.7) - f(x - h, 0.7)) / 2e-6 for h in steps], rel=1e-6)
    assert gradient.source.count("a_bar = np.zeros_like(a)") == 1
