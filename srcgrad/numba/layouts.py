"""What compiled code makes of helpers about shapes, and of checks of lengths; see `srcgrad.numba.helpers`."""

from __future__ import annotations

from typing import Any  # an overload takes types, and gives a function of values

from numba import njit
from numba.core import types

from srcgrad import runtime
from srcgrad.numba.helpers import Compiled, compiled


@compiled(runtime.check_lengths)
def _check_lengths(*lengths: Any) -> Compiled | None:
    return lambda *lengths: equal(lengths)


@njit  # type: ignore[untyped-decorator]
def equal(lengths: Any) -> None:
    """The lengths of axes over which one loop runs."""
    for one in lengths:
        if one != lengths[0]:
            raise ValueError(
                "E5026 loops need axes of equal lengths; call the derivative itself, which has a text for others"
            )


@compiled(runtime.check_filled)
def _check_filled(*lengths: Any) -> Compiled | None:
    return lambda *lengths: filled(lengths)


@njit  # type: ignore[untyped-decorator]
def filled(lengths: Any) -> None:
    """The lengths of axes of which the largest element is wanted."""
    for one in lengths:
        if one == 0:
            raise ValueError(
                "E5026 loops need axes that are not empty; call the derivative itself, which has a text for them"
            )


@compiled(runtime.split_like)
def _split_like(g: Any, arrays: Any, axis: Any = 0) -> Compiled | None:
    ranks = [one.ndim if isinstance(one, types.Array) else 0 for one in arrays]
    place = getattr(axis, "literal_value", getattr(axis, "value", axis))  # a literal, or the default
    if not isinstance(g, types.Array) or set(ranks) != {g.ndim} or place not in range(-g.ndim, min(g.ndim, 2)):
        return None
    if place % g.ndim == 0:
        return lambda g, arrays, axis=0: rows(g, arrays, 0)
    return (lambda g, arrays, axis=0: columns(g, arrays, 0)) if place % g.ndim == 1 else None


def rows(g: Any, arrays: Any, start: int) -> Any:
    """Parts of `g` with as many rows as arrays have: a tuple, of compiled code alone."""
    raise NotImplementedError


@compiled(rows)
def _rows(g: Any, arrays: Any, start: Any) -> Compiled:
    if len(arrays) == 0:
        return lambda g, arrays, start: ()
    return lambda g, arrays, start: (
        g[start : start + arrays[0].shape[0]],
        *rows(g, arrays[1:], start + arrays[0].shape[0]),
    )


def columns(g: Any, arrays: Any, start: int) -> Any:
    """The same for columns."""
    raise NotImplementedError


@compiled(columns)
def _columns(g: Any, arrays: Any, start: Any) -> Compiled:
    if len(arrays) == 0:
        return lambda g, arrays, start: ()
    return lambda g, arrays, start: (
        g[:, start : start + arrays[0].shape[1]],
        *columns(g, arrays[1:], start + arrays[0].shape[1]),
    )
