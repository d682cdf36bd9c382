"""What is changed between the forward call and the pullback: the pullback's numbers are those of the forward call."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import srcgrad

W = np.array([[0.5, -0.2], [0.3, 0.9]])
GIVEN = {"w": np.array([0.3, 0.8]), "rows": [np.array([0.1, 0.2]), np.array([0.7, -0.4])]}


class Layer:
    def __init__(self) -> None:
        self.w = np.array([[0.4, 0.1], [-0.3, 0.6]])
        self.parts = [np.array([0.2, 0.5])]
        self.unread = np.zeros(3)

    def apply(self, x):
        return np.tanh(self.w @ x) * self.parts[0]


@dataclasses.dataclass
class State:
    x: np.ndarray
    v: np.ndarray


LAYER = Layer()


def through_rows(x):
    t = x * x
    h = x
    for row in GIVEN["rows"]:
        h = np.tanh(h * row + t)
    return h


def filled(x):
    a = np.zeros((3, 2))
    a[0] = x
    for k in range(1, 3):
        a[k] = np.sin(a[k - 1] * x) + W[0]
    return a


def cell(h, x):
    return np.tanh(W @ h + x)


def recurrent(x):
    h = x
    for _ in range(3):
        h = cell(h, x)
    return h


def closed_over(v):
    def f(x):
        return np.tanh(v * x) ** 2

    return f


def changed(value: Any) -> None:
    """Change all arrays that can be reached from a value, as a caller might."""
    if isinstance(value, np.ndarray):
        value += 1.7
    elif isinstance(value, dict):
        for part in value.values():
            changed(part)
    elif isinstance(value, list | tuple):
        for part in value:
            changed(part)
    elif isinstance(value, Layer | State):
        changed(list(vars(value).values()))
    elif scipy.sparse.issparse(value):
        value.data += 1.7


def programs() -> dict[str, tuple[Any, tuple[Any, ...], list[Any]]]:
    """Functions, their arguments, and what else the caller changes."""
    x, v = np.array([0.4, -0.7]), np.array([0.3, 0.9])
    state, sparse = State(x.copy(), v.copy()), scipy.sparse.csr_array(np.array([[0.4, 0.0], [0.2, 0.7]]))
    return {
        "the value of exp": (lambda x: np.exp(-x), (x,), []),
        "the value of tanh": (np.tanh, (x,), []),
        "an argument": (lambda x: np.sum(x**3), (x,), []),
        "a part of an argument": (lambda x: x[::-1] * x, (x,), []),
        "two arguments": (lambda x, v: np.sum(x * v), (x, v), []),
        "a global array": (lambda x: np.tanh(W @ x), (x,), [W]),
        "the transposed of a global array": (lambda x: np.tanh(x @ W.T), (x,), [W]),
        "a called function's global array": (recurrent, (x,), [W]),
        "an array in a dict of the module": (lambda x: GIVEN["w"] * x * x, (x,), [GIVEN]),
        "arrays over which a loop runs": (through_rows, (x,), [GIVEN]),
        "an array that is filled": (filled, (x,), [W]),
        "a closure's array": (closed_over(v), (x,), [v]),
        "an object's attribute": (lambda x: np.tanh(LAYER.w @ x) * LAYER.parts[0], (x,), [LAYER]),
        "an object of a method": (LAYER.apply, (x,), [LAYER]),
        "an argument of a partial": (functools.partial(lambda v, x: np.tanh(v * x), v), (x,), [v]),
        "a list": (lambda rows: np.sum(rows[0] * rows[1]), ([x, v],), []),
        "a dict": (lambda p: np.sum(p["w"] * np.tanh(p["x"])), ({"x": x, "w": v},), []),
        "a record": (lambda s: np.sum(s.x * np.exp(s.v)), (state,), []),
        "an argument that is written into": (filled_argument, (x, v), []),
        "a sparse matrix": (lambda x: np.tanh(sparse @ x), (x,), [sparse]),
        "several values": (lambda x: (np.exp(x), np.tanh(x)), (x,), []),
    }


def filled_argument(x, v):
    x[0] = v[1] * x[1]
    return x * x * v


def ones(y: Any) -> Any:
    return tuple(map(ones, y)) if isinstance(y, tuple) else np.ones_like(y)


def flat(found: Any) -> list[Any]:
    if isinstance(found, State):
        return flat([found.x, found.v])
    if isinstance(found, dict):
        return flat(list(found.values()))
    return [p for part in found for p in flat(part)] if isinstance(found, list | tuple) else [found]


def restored(values: list[Any], kept: list[Any]) -> None:
    for value, old in zip(values, kept, strict=True):
        if isinstance(value, np.ndarray):
            value[...] = old
        elif isinstance(value, dict):
            restored(list(value.values()), list(old.values()))
        elif isinstance(value, list | tuple):
            restored(list(value), list(old))
        elif isinstance(value, Layer | State):
            restored(list(vars(value).values()), list(vars(old).values()))
        elif scipy.sparse.issparse(value):
            value.data[...] = old.data


@pytest.mark.parametrize("name", programs())
def test_a_pullback_has_the_numbers_of_the_forward_call(name):
    f, args, others = programs()[name]
    kept = pickle.loads(pickle.dumps([args, others]))
    y, back = srcgrad.vjp(f, *args)
    seed = ones(y)
    right = back(seed)
    try:
        changed([y, args, others])
        assert all(np.array_equal(one, two) for one, two in zip(flat(back(seed)), flat(right), strict=True))
    finally:
        restored([args, others], kept)
    _, fast = srcgrad.vjp(f, *args, copy=False)
    assert all(np.array_equal(one, two) for one, two in zip(flat(fast(seed)), flat(right), strict=True))


@pytest.mark.parametrize(
    "name", ["the value of exp", "an argument", "a global array", "an object of a method", "a dict"]
)
def test_a_linear_map_has_the_numbers_of_the_call(name):
    f, args, others = programs()[name]
    kept = pickle.loads(pickle.dumps([args, others]))
    y, push = srcgrad.linearize(f, *args)
    seed, along = ones(y), pickle.loads(pickle.dumps(kept[0]))
    back = srcgrad.transpose(push)
    right, other = push(*along), srcgrad.vjp(f, *args)[1](seed)
    try:
        changed([y, args, others])
        assert np.array_equal(push(*along), right)
        assert all(np.allclose(one, two, rtol=1e-14) for one, two in zip(flat(back(seed)), flat(other), strict=True))
    finally:
        restored([args, others], kept)


def test_the_pullback_of_a_differentiable_function_copies_as_well():
    @srcgrad.differentiate
    def f(x):
        return np.exp(x)

    x = np.array([0.3, 0.4])
    y, back = f.vjp(x)
    right = back(np.ones(2))
    y *= 0.0
    assert np.array_equal(back(np.ones(2)), right)


def test_the_adjoint_of_a_list_has_the_items_that_it_had():
    p = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    q = {"w": p[0], "k": 2}
    _, back = srcgrad.vjp(lambda p, q: np.sum(p[0] * p[1] * q["w"]), p, q)
    p[0] *= 0.0
    p[1] = None
    q.clear()
    rows, entries = back(1.0)
    assert np.array_equal(rows[0], [3.0, 8.0]) and np.array_equal(rows[1], [1.0, 4.0])
    assert np.array_equal(entries["w"], [3.0, 8.0])


def test_only_what_the_backward_half_reads_is_copied():
    big, small = np.zeros(1000), np.ones(3)

    def f(x, y):
        return np.sum(x) + np.sum(y * y)

    _, back = srcgrad.vjp(f, big, small)
    cells = [cell.cell_contents for cell in back._back.__closure__]
    arrays = [one for one in cells if isinstance(one, np.ndarray)]
    assert not any(np.shares_memory(one, small) or np.shares_memory(one, big) for one in arrays)


def test_numba_reads_copies_of_its_arguments():
    def f(x):
        t = 0.0
        for k in range(len(x)):
            t = t + x[k] * x[k] * x[k]
        return t

    x = np.array([0.3, 0.4])
    _, back = srcgrad.vjp(f, x, target="numba")
    x += 1.0
    assert np.allclose(back(1.0), 3.0 * np.array([0.3, 0.4]) ** 2)
