"""Where adjoints are zero by structure, in compiled code; see `srcgrad.numba.helpers`."""

from __future__ import annotations

from typing import Any  # an overload takes types, and gives a function of values

import numpy as np
from numba import njit
from numba.core import types

from srcgrad import runtime
from srcgrad.numba.helpers import REAL, Compiled, compiled, onto

add_at = runtime.add_at  # as compiled functions call it


@compiled(runtime.mask_to)
def _mask_to(mask: Any, x: Any) -> Compiled | None:
    if isinstance(x, REAL):
        return lambda mask, x: np.any(np.asarray(mask) != 0)
    if not isinstance(x, types.Array):
        return None
    if not isinstance(mask, types.Array):
        return lambda mask, x: np.full(x.shape, mask != 0)
    return lambda mask, x: _reached(mask, x) if mask.ndim >= x.ndim else np.broadcast_to(mask != 0, x.shape).copy()


@njit  # type: ignore[untyped-decorator]
def _reached(mask: Any, x: Any) -> Any:
    """Where any of the copies of an element is reached."""
    return onto((mask != 0).astype(np.float64), np.empty(x.shape)) != 0.0


@compiled(runtime.mask_at)
def _mask_at(x: Any, index: Any, mask: Any = True) -> Compiled | None:
    if not isinstance(x, types.Array):
        return None
    if not isinstance(mask, types.Array):
        return lambda x, index, mask=True: _filled(np.zeros(x.shape, np.bool_), index, mask)
    return lambda x, index, mask=True: _raised(np.zeros(x.shape), index, mask) != 0.0


@njit  # type: ignore[untyped-decorator]
def _filled(made: Any, index: Any, value: Any) -> Any:
    made[index] = value
    return made


@njit  # type: ignore[untyped-decorator]
def _raised(made: Any, index: Any, mask: Any) -> Any:
    return add_at(made, index, (mask != 0).astype(np.float64))


@compiled(runtime.mask_without)
def _mask_without(mask: Any, x: Any, index: Any) -> Compiled | None:
    if not isinstance(x, types.Array):
        return None
    if not isinstance(mask, types.Array):
        return lambda mask, x, index: _filled(np.ones(x.shape, np.bool_), index, False)
    return lambda mask, x, index: _filled(np.broadcast_to(mask != 0, x.shape).copy(), index, False)


@compiled(runtime.picks)
def _picks(weights: Any, values: Any) -> Compiled | None:
    if isinstance(weights, REAL) and isinstance(values, REAL):
        return lambda weights, values: weights * values if weights != 0.0 else 0.0
    return lambda weights, values: weights * np.where(weights != 0.0, values, 0.0)
