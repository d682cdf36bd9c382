"""Programs: loops, branches, writes, views, calls, containers; both modes, second order, hostile names."""

from __future__ import annotations

import random

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, jacobian
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.api import calculus
from tests.backend.batched.agree import check, floats, is_batched
from tests.programs.accepted import IDS, PROGRAMS
from tests.random.functions import arguments, define, program

V = np.array([0.3, -0.5, 1.2, 0.8])
M = np.arange(12.0).reshape(3, 4) / 7.0
BOTH = pytest.mark.parametrize("mode", ["forward", "reverse"])


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_corpus(function, args) -> None:
    wrt = floats(args)
    if wrt and function.__name__ != "guards_and_prints":
        check(function, args, "forward", wrt)
        check(function, args, "reverse", wrt)


def chain(angles, lengths, parents):
    """Points of a chain of bones: matrices in a list, products along the parents."""
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.stack((np.stack((cos, -sin), axis=1), np.stack((sin, cos), axis=1)), axis=1)
    places = []
    for k in range(len(parents)):
        step = turned[k] @ np.array([lengths[k], 0.0])
        places.append(step if parents[k] < 0 else turned[k] @ places[parents[k]] + step)
    return np.reshape(np.stack(places), (-1,))


def sweep(x):
    """Elements that are read, overwritten and read again: no tangent may be a view of what changes."""
    y = np.zeros_like(x)
    y[0] = x[1] * x[2]
    for i in range(1, len(x)):
        before = y[i - 1]
        y[i] = before * x[i] + np.sum(x[:i])
        y[i - 1] = 3.0 * before
    return y


def kept(x):
    """A number that was an element of an array that changes afterwards."""
    y = np.array(x)
    first, second = y[0], y[1] * 2.0
    y[0] = y[1] * y[2]
    y[1:] *= first
    return y * first + second


def sums(x, w):
    """A number to which arrays are added."""
    s = 0.0
    for i in range(len(w)):
        s = s + w[i] * np.sin(x)
        w = np.tanh(w)
    return s


def helper(a, k):
    """Called with a vector and with a matrix."""
    return np.tanh(a * k) / (1.0 + np.sum(a * a))


def calls(x, m):
    """Calls with arguments of several ranks."""
    return helper(x, 0.5) @ helper(m, x[0]) + helper(m, 2.0)[:, 0]


def names(x_dot, y_bar, one, np_, each):
    """Names that texts use."""
    count = np.sum(x_dot * y_bar)
    zeros_each = [count, count * one]
    return np.stack(zeros_each) * each[:2] + np_


def structured(p, k):
    """A dict of an array and a number; a result with parts."""
    return {"fit": p["w"] * p["b"] * k, "parts": (np.sum(p["w"] ** 2), p["w"][::-1])}


def scattered(x, places):
    """Repeated indices, masks, slices with steps."""
    taken = x[places] * x[0]
    return np.concatenate((taken[::2], np.where(taken > 0.0, taken, 0.0), x[x > 0.0]))


def while_loop(x, limit):
    """Trips that depend on the data."""
    total = x
    while np.sum(total * total) < limit:
        total = total + 0.5 * np.cos(x) * total
    return total


def rows(m):
    """A loop over rows, and names for the parts of one."""
    s = np.zeros(len(m[0]))
    for row in m:
        s = s + row * row[0]
    a, b, c = m[:, 1]
    return s * a + b * c


def turned(x, image):
    """A sign stays with what has one: pixels have none. Rows of all directions go into one product."""
    wide = np.outer(x, np.cos(x)).reshape(2, -1) @ image
    return np.sum(np.cos(x)) * (np.exp(-x) * image[:4, 0] - wide[:, 1].sum()) + wide.reshape(2, 1, -1)[1, 0, 0]


PLACES = np.array([0, 2, 2, 1])
PIXELS = np.arange(16, dtype=np.uint8).reshape(8, 2) * 16
AT_ONCE = [
    (chain, (V, np.abs(V), [-1, 0, 1, 1])),
    (sweep, (V,)),
    (kept, (V,)),
    (sums, (V, V[:3])),
    (calls, (V[:3], np.ascontiguousarray(M[:, :3]))),
    (names, (V, V[::-1], 0.3, 0.2, V)),
    (structured, ({"w": V, "b": 0.7}, 2.0)),
    (scattered, (V, PLACES)),
    (while_loop, (V, 20.0)),
    (rows, (M,)),
    (turned, (V, PIXELS)),
    (lambda x, a: a @ x + np.outer(x, x)[0] + np.linalg.solve(np.diag(x), x * x), (V, np.diag(V))),
    (lambda x: np.einsum("ij,j->i", M, x) * np.trace(np.einsum("ij,j->ij", M[:, :3], x[:3])), (V,)),
    (lambda x: np.moveaxis(np.cumsum(x.reshape(2, 2), axis=0), 0, 1).T.ravel(), (V,)),
]


@BOTH
@pytest.mark.parametrize(("function", "args"), AT_ONCE, ids=[function.__name__ for function, _ in AT_ONCE])
def test_at_once(function, args, mode: str) -> None:
    wrt = 0 if isinstance(args[0], dict) else None
    assert is_batched(check(function, args, mode, wrt)), jacobian(function, mode=mode).source
    if isinstance(args[0], np.ndarray):
        narrow = tuple(a.astype(np.float32) if getattr(a, "dtype", None) == np.float64 else a for a in args)
        check(function, narrow, mode, 0)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x: np.sum(np.exp(x) * x) + x[0] * x[1] ** 2, (V,)),
        (lambda x, m: np.sum(np.tanh(m @ x) ** 2), (V, M)),
        (lambda x: np.sum(sweep(x) ** 2), (V,)),
        (lambda x, s: s * np.sum(helper(x, s)), (V, 0.4)),
    ],
)
@pytest.mark.parametrize("mode", [None, "reverse"])
def test_hessians(function, args, mode) -> None:
    check(function, args, mode, second=True)


def test_hessian_is_one_run() -> None:
    made = hessian(lambda x: np.sum(np.exp(x) * x))
    found = made(V)
    np.testing.assert_allclose(found, np.diag(np.exp(V) * (2.0 + V)), rtol=1e-12)
    assert "_hvps(" in made.source


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int) -> None:
    choose = random.Random(seed)
    text, kinds = program(choose.choice)
    start = text.rindex("return ")
    text = f"{text[:start]}return ({text[start + 7 :].strip()}) * np.array([1.0, -2.0, 0.5, 3.0, 0.1])\n"
    function, args = define(text, 500_000 + seed), arguments(kinds, choose.choice((0, 1, 3)), seed)
    for mode in ("forward", "reverse"):
        try:
            function(*args)
        except ValueError:
            return  # a vector, not a number, was its result
        try:
            check(function, args, mode)
        except DifferentiationError as error:
            assert error.code in ("E5005", "E5010", "E5011"), str(error)


def test_many_directions_go_in_several_runs(monkeypatch) -> None:
    monkeypatch.setattr(calculus, "ROOM", 8)
    for mode in ("forward", "reverse"):
        assert is_batched(check(sweep, (V,), mode))
        check(lambda x, y: np.outer(x, y), (V, V[:3]), mode)


@BOTH
def test_nothing_in_it(mode: str) -> None:
    assert jacobian(lambda x: x * x, mode=mode)(np.zeros(0)).shape == (0, 0)
    assert jacobian(lambda x: np.sum(x) * V, mode=mode)(np.zeros(0)).shape == (4, 0)
    assert jacobian(lambda x: x[:0] * x[:0], mode=mode)(V).shape == (0, 4)


@BOTH
def test_arguments_stay(mode: str) -> None:
    x, before = V.copy(), V.copy()
    first = jacobian(sweep, mode=mode)
    found = first(x)
    found[:] = 7.0
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(first(x), jacobian(sweep, mode=mode)(x))


def test_hooks_see_one_seed_at_a_time() -> None:
    seen = []

    def hooked(x):
        h = srcgrad.hook(x * x, lambda g: seen.append(np.shape(g)))
        return h * x

    made = jacobian(hooked, mode="reverse")
    np.testing.assert_allclose(made(V), np.diag(3.0 * V * V))
    assert set(seen) == {(4,)}
    assert "One seed at a time: hooks take the adjoint of one seed." in made.source


def test_unknown_calls_keep_to_one_direction() -> None:
    class Scale:
        factor = 2.0

    made = jacobian(lambda x, scale: x * scale.factor, mode="forward")
    np.testing.assert_allclose(made(V, Scale()), 2.0 * np.eye(4))
    assert "One direction at a time: the rank of `scale.factor` is not known." in made.source


def test_a_gradient_as_function() -> None:
    check(grad(lambda x: np.sum(x**3) * x[0]), (V,), "reverse")
    check(grad(lambda x: np.sum(x**3) * x[0]), (V,), "forward")
