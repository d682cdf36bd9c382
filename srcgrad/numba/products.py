"""Transposes of products in compiled code; see `srcgrad.numba.helpers`."""

from __future__ import annotations

from typing import Any  # an overload takes types, and gives a function of values

import numpy as np
from numba.core import types

from srcgrad import runtime
from srcgrad.numba.helpers import Compiled, compiled


def _ranks(*arrays: Any) -> tuple[int, ...]:
    return tuple(a.ndim if isinstance(a, types.Array) else 0 for a in arrays)


def _left(g: Any, a: Any, b: Any) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * b
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * b
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.outer(g, b)
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.dot(b, g)
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(g, b.T)
    return None


def _right(g: Any, a: Any, b: Any) -> Compiled | None:
    ranks = _ranks(g, a, b)
    if ranks == (0, 0, 0):
        return lambda g, a, b: g * a
    if ranks == (0, 1, 1):
        return lambda g, a, b: g * a
    if ranks == (1, 2, 1):
        return lambda g, a, b: np.dot(a.T, g)
    if ranks == (1, 1, 2):
        return lambda g, a, b: np.outer(a, g)
    if ranks == (2, 2, 2):
        return lambda g, a, b: np.dot(a.T, g)
    return None


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
        return None
    if isinstance(a, types.Number):
        return (lambda g, a, axis=None, keepdims=False: g) if isinstance(g, types.Number) else None
    if not isinstance(a, types.Array):
        return None
    if isinstance(g, types.Number):
        return lambda g, a, axis=None, keepdims=False: np.full(a.shape, g)
    return lambda g, a, axis=None, keepdims=False: np.broadcast_to(g, a.shape).copy()
