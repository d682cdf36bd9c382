"""Helpers of the runtime in compiled code: reductions along axes and products of matrices.

Reductions along an axis, and their adjoints, in compiled code; see `srcgrad.backend.numba.helpers`.

Products of matrices, and their transposes, in compiled code; see `srcgrad.backend.numba.helpers`.
"""

from __future__ import annotations

from typing import Any  # an overload takes types, and gives a function of values

import numpy as np
from numba import njit
from numba.core import types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import overload

from srcgrad import runtime
from srcgrad.backend.numba.helpers import Compiled, Rule, lowering


def _literal(given: object) -> Any:
    """The value of an argument that a text spells out, or of a default; None where only the call will tell."""
    return getattr(given, "literal_value", getattr(given, "value", given if isinstance(given, bool) else None))


def _is_none(axis: object) -> bool:
    return axis is None or isinstance(axis, types.NoneType) or (isinstance(axis, types.Omitted) and axis.value is None)


@njit  # type: ignore[untyped-decorator]
def in_three(a: Any, axis: int) -> object:
    """An array with three axes: those before one, that one, those behind it."""
    before = after = 1
    for k in range(axis % a.ndim):
        before *= a.shape[k]
    for k in range(axis % a.ndim + 1, a.ndim):
        after *= a.shape[k]
    return np.ascontiguousarray(a).reshape(before, a.shape[axis], after)


@njit  # type: ignore[untyped-decorator]
def with_one(shape: Any, axis: int) -> object:
    """A shape with the length 1 along an axis."""
    return tuple_setitem(shape, axis % len(shape), 1)


@njit  # type: ignore[untyped-decorator]
def shape_without_axis(shape: Any, axis: int) -> object:
    """A shape without an axis."""
    made = shape[:-1]
    for k in range(axis % len(shape), len(shape) - 1):
        made = tuple_setitem(made, k, shape[k + 1])
    return made


@njit  # type: ignore[untyped-decorator]
def max_along_middle(a: Any) -> object:
    """The largest elements along the middle of three axes; nan where there is one."""
    if a.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    made = a[:, 0].copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                one = a[i, k, j]
                if one > made[i, j] or one != one:
                    made[i, j] = one
    return made


@njit  # type: ignore[untyped-decorator]
def min_along_middle(a: Any) -> object:
    """The least elements along the middle of three axes; nan where there is one."""
    if a.shape[1] == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    made = a[:, 0].copy()
    for i in range(a.shape[0]):
        for k in range(1, a.shape[1]):
            for j in range(a.shape[2]):
                one = a[i, k, j]
                if one < made[i, j] or one != one:
                    made[i, j] = one
    return made


@njit  # type: ignore[untyped-decorator]
def added_up(a: Any) -> object:
    """Sums along the middle of three axes."""
    return np.sum(a, 1)


@njit  # type: ignore[untyped-decorator]
def mean_along_middle(a: Any) -> object:
    """Means along the middle of three axes."""
    return (np.sum(a, 1) / a.shape[1]).astype(a.dtype)


def in_line(x: object) -> object:
    """The elements of an array, or a number, as an array of one axis: compiled code alone knows which it is."""
    raise NotImplementedError


@lowering(in_line)
def _in_line(x: object) -> Compiled:
    if isinstance(x, types.Array):
        return lambda x: np.ascontiguousarray(x).reshape(x.size)
    return lambda x: np.full(1, x)


def _reduction(reduced: Compiled) -> Rule:
    """What a reduction is for arrays of real numbers, along one axis or over all elements."""

    def rule(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
        keeps = _literal(keepdims)
        if not isinstance(a, types.Array) or not isinstance(a.dtype, types.Float) or keeps is None:
            return None
        ones = (1,) * a.ndim
        if _is_none(axis):
            if keeps:
                return lambda a, axis=None, keepdims=False: reduced(in_three(in_line(a), 0)).reshape(ones)
            return lambda a, axis=None, keepdims=False: reduced(in_three(in_line(a), 0))[0, 0]
        if not isinstance(axis, types.Integer):
            return None
        if keeps:
            return lambda a, axis=None, keepdims=False: reduced(in_three(a, axis)).reshape(with_one(a.shape, axis))
        if a.ndim == 1:
            return lambda a, axis=None, keepdims=False: reduced(in_three(a, axis))[0, 0]
        return lambda a, axis=None, keepdims=False: reduced(in_three(a, axis)).reshape(
            shape_without_axis(a.shape, axis)
        )

    return rule


REDUCTIONS = (
    (runtime.max_along, max_along_middle),
    (runtime.min_along, min_along_middle),
    (runtime.sum_along, added_up),
    (runtime.mean_along, mean_along_middle),
)
for _op, _reduced in REDUCTIONS:
    overload(_op, prefer_literal=True)(_reduction(_reduced))


@lowering(runtime.share)
def _share(g: object, a: object, y: object, axis: object = None, keepdims: object = False) -> Compiled | None:
    """Arrays of a reduction have their elements in one order, with the axis that is gone or without it."""
    if not isinstance(a, types.Array) or not isinstance(a.dtype, types.Float):
        return None
    if _is_none(axis):
        return lambda g, a, y, axis=None, keepdims=False: share_along_middle(
            in_line(g), in_three(in_line(a), 0), in_line(y)
        ).reshape(a.shape)
    if not isinstance(axis, types.Integer):
        return None
    return lambda g, a, y, axis=None, keepdims=False: share_along_middle(
        in_line(g), in_three(a, axis), in_line(y)
    ).reshape(a.shape)


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def share_along_middle(g: Any, a: Any, y: Any) -> object:
    """`g`, one for each reduction along the middle of three axes, shared by the elements that are equal to `y`."""
    made = np.zeros_like(a)
    before, length, after = a.shape
    if g.size != before * after or y.size != before * after:
        raise ValueError("E5004 gradient of a rule has the wrong shape: no reduction gives it")
    for i in range(before):
        for j in range(after):
            found = 0
            for k in range(length):
                found += a[i, k, j] == y[i * after + j]
            part = g[i * after + j] / found
            for k in range(length):
                made[i, k, j] = part if a[i, k, j] == y[i * after + j] else 0.0 * part
    return made


@lowering(runtime.stored)
def _compile_stored(a_bar: object, index: object) -> Compiled | None:
    if not isinstance(a_bar, types.Array):
        return None
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    if all(isinstance(part, types.Integer) for part in parts) and len(parts) == a_bar.ndim:
        return lambda a_bar, index: a_bar[index]
    if all(isinstance(part, types.Integer | types.SliceType) for part in parts):
        return lambda a_bar, index: a_bar[index].copy()
    whole = isinstance(index, types.Array) and isinstance(index.dtype, types.Integer) and index.ndim == 1
    return (lambda a_bar, index: last_stored(a_bar, index)) if whole else None


@njit(boundscheck=True)  # type: ignore[untyped-decorator]
def last_stored(a_bar: Any, index: Any) -> object:
    """Items of `a_bar` that an array of integers names; of one that it names more than once the last alone counts."""
    taken = a_bar[index]
    last = np.zeros(a_bar.shape[0], np.int64)
    for k in range(index.size):
        last[index[k]] = k
    for k in range(index.size):
        if last[index[k]] != k:
            taken[k] *= 0.0
    return taken


@lowering(runtime.columns)
def _columns(x: object, b: object) -> Compiled | None:
    if not isinstance(b, types.Array) or not isinstance(x, types.Array):
        return None
    if b.ndim == 1:
        return lambda x, b: np.ascontiguousarray(x).reshape(x.shape + (1,))  # noqa: RUF005 (as Numba takes it)
    return lambda x, b: x


def _ranks(*arrays: object) -> tuple[int, ...]:
    return tuple(a.ndim if isinstance(a, types.Array) else 0 for a in arrays)


def one_piece(a: object) -> Any:
    """An array as products of matrices take it, in one piece: compiled code alone knows whether it is."""
    raise NotImplementedError


@lowering(one_piece)
def _compile_one_piece(a: object) -> Compiled | None:
    if not isinstance(a, types.Array):
        return None
    return (lambda a: a) if a.layout in "CF" else lambda a: np.ascontiguousarray(a)


def rows(a: object) -> Any:
    """All rows of the matrices of an array, as one matrix: for compiled code alone."""
    raise NotImplementedError


@lowering(rows)
def _rows(a: object) -> Compiled | None:
    if not isinstance(a, types.Array):
        return None
    if a.layout == "C":
        return lambda a: a.reshape(a.shape[0] * a.shape[1], a.shape[2])
    return lambda a: np.ascontiguousarray(a).reshape(a.shape[0] * a.shape[1], a.shape[2])


@lowering(runtime.product)
def _product(a: object, b: object) -> Compiled | None:
    ranks = _ranks(a, b)
    if ranks in ((1, 1), (1, 2), (2, 1), (2, 2)):
        return lambda a, b: np.dot(one_piece(a), one_piece(b))
    if ranks == (3, 3):
        return lambda a, b: batched_product(a, b)
    if ranks == (3, 2):
        return lambda a, b: np.dot(rows(a), one_piece(b)).reshape(a.shape[0], a.shape[1], b.shape[1])
    return (lambda a, b: batched_product(a[None], b)) if ranks == (2, 3) else None


@njit  # type: ignore[untyped-decorator]
def batched_product(a: Any, b: Any) -> Any:
    """The products of the matrices of two arrays, one of which may have a single one."""
    count = count_of_matrices(a, b)
    made = np.empty((count, a.shape[1], b.shape[2]), a.dtype)
    for k in range(count):
        np.dot(one_piece(a[k if a.shape[0] != 1 else 0]), one_piece(b[k if b.shape[0] != 1 else 0]), made[k])
    return made


@njit  # type: ignore[untyped-decorator]
def count_of_matrices(a: Any, b: Any) -> int:
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
    every = count_of_matrices(g, b)
    for k in range(every):
        one, two = one_piece(g[k if g.shape[0] != 1 else 0]), one_piece(b[k if b.shape[0] != 1 else 0])
        if count == every:
            np.dot(one, two.T, made[k])
        else:
            add_up(made[0], np.dot(one, two.T))
    return made


@njit  # type: ignore[untyped-decorator]
def right_of(a: Any, g: Any, count: int) -> Any:
    """The products of transposes with matrices, `a.T @ g`; their sum if one is wanted alone."""
    made = np.zeros((count, a.shape[2], g.shape[2]), g.dtype)
    every = count_of_matrices(a, g)
    for k in range(every):
        one, two = one_piece(a[k if a.shape[0] != 1 else 0]), one_piece(g[k if g.shape[0] != 1 else 0])
        if count == every:
            np.dot(one.T, two, made[k])
        else:
            add_up(made[0], np.dot(one.T, two))
    return made


def _compile_product_left(g: object, a: object, b: object) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * b
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * b
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.outer(g, b)
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.dot(one_piece(b), one_piece(g))
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(one_piece(g), one_piece(b).T)
    if ranks == (3, 3, 3):
        return lambda g, a, b: left_of(g, b, a.shape[0])
    if ranks == (3, 3, 2):
        return lambda g, a, b: np.dot(rows(g), one_piece(b).T).reshape(a.shape)
    return (lambda g, a, b: left_of(g, b, 1)[0]) if ranks == (3, 2, 3) else None


def _compile_product_right(g: object, a: object, b: object) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * a
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * a
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.dot(one_piece(a).T, one_piece(g))
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.outer(a, g)
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(one_piece(a).T, one_piece(g))
    if ranks == (3, 3, 3):
        return lambda g, a, b: right_of(a, g, b.shape[0])
    if ranks == (3, 3, 2):
        return lambda g, a, b: np.dot(rows(a).T, rows(g))
    return (lambda g, a, b: right_of(a[None], g, b.shape[0])) if ranks == (3, 2, 3) else None


def _compile_product_both(g: object, a: object) -> Compiled | None:
    if _ranks(g, a) in ((0, 0), (0, 1)):
        return lambda g, a: 2.0 * g * a
    if _ranks(g, a) == (2, 2):
        return lambda g, a: np.dot(one_piece(g), one_piece(a).T) + np.dot(one_piece(a).T, one_piece(g))
    return None


lowering(runtime.matmul_both)(_compile_product_both)
lowering(runtime.dot_both)(_compile_product_both)
for _product_op in (runtime.matmul_left, runtime.dot_left):
    lowering(_product_op)(_compile_product_left)
for _product_op in (runtime.matmul_right, runtime.dot_right):
    lowering(_product_op)(_compile_product_right)


@lowering(runtime.count)
def _count(a: object, axis: object = None) -> Compiled | None:
    if not isinstance(a, types.Array):
        return lambda a, axis=None: 1
    if isinstance(axis, types.Integer):
        return lambda a, axis=None: max(a.shape[axis], 1)
    return (lambda a, axis=None: max(a.size, 1)) if axis is None or isinstance(axis, types.Omitted) else None


@lowering(runtime.spread)
def _compile_spread(g: object, a: object, axis: object = None, keepdims: object = False) -> Compiled | None:
    if axis is not None and not isinstance(axis, types.NoneType | types.Omitted):
        return _spread_along(g, a, axis, keepdims)
    if isinstance(a, types.Number):
        return (lambda g, a, axis=None, keepdims=False: g) if isinstance(g, types.Number) else None
    if not isinstance(a, types.Array):
        return None
    if isinstance(g, types.Number):
        return lambda g, a, axis=None, keepdims=False: np.full(a.shape, g)
    return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()


def _spread_along(g: object, a: object, axis: object, keepdims: object) -> Compiled | None:
    """What a sum along one axis gives each element: with the axis kept, or with it put in again."""
    if not (isinstance(g, types.Array) and isinstance(a, types.Array) and isinstance(axis, types.Integer)):
        return None
    if g.ndim == a.ndim:  # with `keepdims`
        return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()
    if g.ndim == a.ndim - 1:
        return lambda g, a, axis=None, keepdims=False: np.broadcast_to(np.expand_dims(g, axis), a.shape).copy()
    return None
