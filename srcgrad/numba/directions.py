"""Lengths in texts that are differentiated once more, in compiled code; see `srcgrad.numba.helpers`."""

from __future__ import annotations

from typing import Any  # an overload takes types, and gives a function of values

import numpy as np

from srcgrad.numba.helpers import REAL, Compiled, compiled
from srcgrad.runtime.singular import length_dot, share, shared, signed


@compiled(length_dot)
def _length_dot(z: Any, z_dot: Any, away: Any) -> Compiled | None:
    if isinstance(z, REAL) and isinstance(z_dot, REAL) and isinstance(away, REAL):
        return lambda z, z_dot, away: np.nan if z == 0.0 and away != 0.0 else z_dot
    return lambda z, z_dot, away: np.where((z == 0.0) & (away != 0.0), np.nan, z_dot)


@compiled(share)
def _share(q: Any, x: Any, r: Any) -> Compiled | None:
    if isinstance(q, REAL) and isinstance(x, REAL) and isinstance(r, REAL):
        return lambda q, x, r: q * x
    return lambda q, x, r: np.where(np.isnan(r), np.nan, q * x)


@compiled(shared)
def _shared(g: Any, q: Any, r: Any) -> Compiled | None:
    if isinstance(g, REAL) and isinstance(q, REAL) and isinstance(r, REAL):
        return lambda g, q, r: np.nan if np.isinf(r) and g != 0.0 else g * q
    return lambda g, q, r: np.where(np.isinf(r) & (g != 0.0), np.nan, g * q)


@compiled(signed)
def _signed(g: Any, x: Any) -> Compiled | None:
    return lambda g, x: g * np.sign(x)
