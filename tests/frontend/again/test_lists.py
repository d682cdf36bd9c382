"""Second derivatives through lists and loops over items, in all four nestings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # programs of any shape

import numpy as np
import pytest

from srcgrad import check_grads, grad, hessian, jvp

X = np.array([0.3, -0.7, 1.2])


def curve(t, a, b, c):
    return a * np.exp(-b * t) + c


def squares_of_a_generator(x):
    return sum(curve(t, *x) ** 2 for t in (0.1, 0.5, 0.9))


def filled_and_read(x):
    r = []
    for k in range(3):
        r.append(x[k] * x[k])
    return r[0] * r[1] * r[2]


def made_an_array(x):
    r = [x[k] * x[k] for k in range(3)]
    return np.sum(np.array(r) ** 2)


def popped_but_not_pushed(x):
    return sum([x[k] ** 2 for k in range(3)]) ** 2


def written_grown_and_popped(x):
    r = [x[k] * x[k] for k in range(3)]
    r[0] = r[1] * r[2]
    r.append(r[0] * x[0])
    s = r.pop()
    return s * s + sum(r) ** 2


def items_of_an_array(x):
    r = list(x)
    r[0] = r[1] * r[2]
    return r[0] * r[1] + np.sum(np.array(r) ** 3)


def parts_of_an_array(x):
    parts = np.split(x, [1, 2])
    return sum(np.sum(p * p) * k * x[0] for k, p in enumerate(parts))


def states(x):
    h = [x]
    for k in range(3):
        h.append(np.sin(h[-1]) * h[k])
    return np.sum(h[-1] * h[1])


def branches(x):
    out = []
    for k in range(3):
        if x[k] > 0.0:
            out.append(x[k] ** 3)
        else:
            out.append(x[k] * x[0])
            out.append(out[-1] * x[1])
    return np.prod(np.array(out))


def extremes(x):
    return max([t * t * x[0] for t in x]) + min(t**3 for t in x)


def pairs(x):
    return sum(np.hypot(*p) ** 3 for p in [(x[0], x[1]), (x[1], x[2])])


def a_stack(x):
    s = [v * v for v in x]
    y = 1.0
    while s:
        y = y * s.pop() + 1.0
    return y


def a_copy(x):
    a = [x[0], x[1]]
    b = list(a)
    b[0] = x[2] * a[0]
    return a[0] * b[0] * b[1] * a[1]


def rows(x):
    r = np.array([np.roll(x, k) * x for k in range(3)])
    each = list(r)
    return np.sum(each[0] * each[1] * each[2]) + np.linalg.det(np.stack(each) + np.eye(3))


def recurrence_over_items(x):
    s = 0.0
    for t in x:
        s = s * t + t
    return s * s


def states_in_a_list(x):
    a, s = x, x[2]
    states = [a]
    for _ in range(3):
        states.append(a)
        s = np.tanh(s + np.sum(states[0] * a))
        a = np.tanh(a) * 0.7
        a[0] += x[1] * 0.3
    return np.sum(a * states[-1]) + s


PROGRAMS = (
    squares_of_a_generator, filled_and_read, made_an_array, popped_but_not_pushed, written_grown_and_popped,
    items_of_an_array, parts_of_an_array, states, branches, extremes, pairs, a_stack, a_copy, rows,
    recurrence_over_items, states_in_a_list,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_second_derivatives(program: Callable[..., Any]) -> None:
    check_grads(program, (X,), order=2)


def test_dicts_in_a_list() -> None:
    def layered(x):
        layers = [{"w": x, "b": x[0]}, {"w": x * 2.0, "b": x[1]}]
        y = np.ones(3)
        for layer in layers:
            y = np.tanh(layer["w"] * y + layer["b"])
        return np.sum(y * y)

    steps = 1e-5 * np.eye(3)
    differences = [(grad(layered)(X + step) - grad(layered)(X - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(hessian(layered)(X), differences, rtol=1e-7, atol=1e-9)


def turned(x):
    """What comes off a stack is put on it again."""
    s, d = [x[0], x[1]], {"p": x[2]}
    for _ in range(3):
        t = s.pop()
        s.append(t)
        d["p"] = t
    return d["p"] * x[0]


def crossed(x):
    """What comes off one stack is put on the other."""
    s, q = [2.0 * x[0], x[1]], [x[2]]
    for _ in range(3):
        t = s.pop()
        u = q.pop()
        s.append(u)
        q.append(t)
        q.append(t)
    return s[0] * q[0] * x[0]


@pytest.mark.parametrize("f", [turned, crossed])
def test_stacks_that_feed_themselves(f):
    x = np.array([0.3, 0.5, 0.7])
    right = [(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    assert np.allclose(grad(f)(x), right, rtol=1e-7, atol=1e-9)
    assert np.allclose([jvp(f, (x,), (e,))[1] for e in np.eye(3)], right, rtol=1e-7, atol=1e-9)
