"""Products of matrices, and their transposes, in compiled code; see `srcgrad.numba.helpers`."""

from __future__ import annotations

from typing import Any  # an overload takes types, and gives a function of values

import numpy as np
from numba import njit
from numba.core import types

from srcgrad import runtime
from srcgrad.numba.helpers import Compiled, compiled


def _ranks(*arrays: Any) -> tuple[int, ...]:
    return tuple(a.ndim if isinstance(a, types.Array) else 0 for a in arrays)


def whole(a: Any) -> Any:
    """An array as products of matrices take it, in one piece: compiled code alone knows whether it is."""
    raise NotImplementedError


@compiled(whole)
def _whole(a: Any) -> Compiled | None:
    if not isinstance(a, types.Array):
        return None
    return (lambda a: a) if a.layout in "CF" else lambda a: np.ascontiguousarray(a)


def rows(a: Any) -> Any:
    """All rows of the matrices of an array, as one matrix: for compiled code alone."""
    raise NotImplementedError


@compiled(rows)
def _rows(a: Any) -> Compiled | None:
    if not isinstance(a, types.Array):
        return None
    if a.layout == "C":
        return lambda a: a.reshape(a.shape[0] * a.shape[1], a.shape[2])
    return lambda a: np.ascontiguousarray(a).reshape(a.shape[0] * a.shape[1], a.shape[2])


@compiled(runtime.product)
def _product(a: Any, b: Any) -> Compiled | None:
    ranks = _ranks(a, b)
    if ranks in ((1, 1), (1, 2), (2, 1), (2, 2)):
        return lambda a, b: np.dot(whole(a), whole(b))
    if ranks == (3, 3):
        return lambda a, b: batched(a, b)
    if ranks == (3, 2):
        return lambda a, b: np.dot(rows(a), whole(b)).reshape(a.shape[0], a.shape[1], b.shape[1])
    return (lambda a, b: batched(a[None], b)) if ranks == (2, 3) else None


@njit  # type: ignore[untyped-decorator]
def batched(a: Any, b: Any) -> Any:
    """The products of the matrices of two arrays, one of which may have a single one."""
    count = together(a, b)
    made = np.empty((count, a.shape[1], b.shape[2]), a.dtype)
    for k in range(count):
        np.dot(whole(a[k if a.shape[0] != 1 else 0]), whole(b[k if b.shape[0] != 1 else 0]), made[k])
    return made


@njit  # type: ignore[untyped-decorator]
def together(a: Any, b: Any) -> int:
    """How many matrices two arrays have, when they meet."""
    if a.shape[0] != b.shape[0] and a.shape[0] != 1 and b.shape[0] != 1:
        raise ValueError("E5004 gradient of a rule has the wrong shape: matrices in other numbers")
    return int(b.shape[0] if a.shape[0] == 1 else a.shape[0])


@njit  # type: ignore[untyped-decorator]
def add_up(total: Any, part: Any) -> None:
    """A matrix added into another: `total += part` would compile the words of an error for seconds."""
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += part[i, j]


@njit  # type: ignore[untyped-decorator]
def left_of(g: Any, b: Any, count: int) -> Any:
    """The products of matrices with transposes, `g @ b.T`; their sum if one is wanted alone."""
    made = np.zeros((count, g.shape[1], b.shape[1]), g.dtype)
    every = together(g, b)
    for k in range(every):
        one, two = whole(g[k if g.shape[0] != 1 else 0]), whole(b[k if b.shape[0] != 1 else 0])
        if count == every:
            np.dot(one, two.T, made[k])
        else:
            add_up(made[0], np.dot(one, two.T))
    return made


@njit  # type: ignore[untyped-decorator]
def right_of(a: Any, g: Any, count: int) -> Any:
    """The products of transposes with matrices, `a.T @ g`; their sum if one is wanted alone."""
    made = np.zeros((count, a.shape[2], g.shape[2]), g.dtype)
    every = together(a, g)
    for k in range(every):
        one, two = whole(a[k if a.shape[0] != 1 else 0]), whole(g[k if g.shape[0] != 1 else 0])
        if count == every:
            np.dot(one.T, two, made[k])
        else:
            add_up(made[0], np.dot(one.T, two))
    return made


def _left(g: Any, a: Any, b: Any) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * b
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * b
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.outer(g, b)
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.dot(whole(b), whole(g))
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(whole(g), whole(b).T)
    if ranks == (3, 3, 3):
        return lambda g, a, b: left_of(g, b, a.shape[0])
    if ranks == (3, 3, 2):
        return lambda g, a, b: np.dot(rows(g), whole(b).T).reshape(a.shape)
    return (lambda g, a, b: left_of(g, b, 1)[0]) if ranks == (3, 2, 3) else None


def _right(g: Any, a: Any, b: Any) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * a
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * a
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.dot(whole(a).T, whole(g))
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.outer(a, g)
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(whole(a).T, whole(g))
    if ranks == (3, 3, 3):
        return lambda g, a, b: right_of(a, g, b.shape[0])
    if ranks == (3, 3, 2):
        return lambda g, a, b: np.dot(rows(a).T, rows(g))
    return (lambda g, a, b: right_of(a[None], g, b.shape[0])) if ranks == (3, 2, 3) else None


def _both(g: Any, a: Any) -> Compiled | None:
    if _ranks(g, a) in ((0, 0), (0, 1)):
        return lambda g, a: 2.0 * g * a
    if _ranks(g, a) == (2, 2):
        return lambda g, a: np.dot(whole(g), whole(a).T) + np.dot(whole(a).T, whole(g))
    return None


compiled(runtime.matmul_both)(_both)
compiled(runtime.dot_both)(_both)
for _op in (runtime.matmul_left, runtime.dot_left):
    compiled(_op)(_left)
for _op in (runtime.matmul_right, runtime.dot_right):
    compiled(_op)(_right)


@compiled(runtime.count)
def _count(a: Any, axis: Any = None) -> Compiled | None:
    if not isinstance(a, types.Array):
        return lambda a, axis=None: 1
    if isinstance(axis, types.Integer):
        return lambda a, axis=None: max(a.shape[axis], 1)
    return (lambda a, axis=None: max(a.size, 1)) if axis is None or isinstance(axis, types.Omitted) else None


@compiled(runtime.spread)
def _spread(g: Any, a: Any, axis: Any = None, keepdims: Any = False) -> Compiled | None:
    if axis is not None and not isinstance(axis, types.NoneType | types.Omitted):
        return _spread_along(g, a, axis, keepdims)
    if isinstance(a, types.Number):
        return (lambda g, a, axis=None, keepdims=False: g) if isinstance(g, types.Number) else None
    if not isinstance(a, types.Array):
        return None
    if isinstance(g, types.Number):
        return lambda g, a, axis=None, keepdims=False: np.full(a.shape, g)
    return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()


def _spread_along(g: Any, a: Any, axis: Any, keepdims: Any) -> Compiled | None:
    """What a sum along one axis gives each element: with the axis kept, or with it put in again."""
    if not (isinstance(g, types.Array) and isinstance(a, types.Array) and isinstance(axis, types.Integer)):
        return None
    if g.ndim == a.ndim:  # with `keepdims`
        return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()
    if g.ndim == a.ndim - 1:
        return lambda g, a, axis=None, keepdims=False: np.broadcast_to(np.expand_dims(g, axis), a.shape).copy()
    return None
