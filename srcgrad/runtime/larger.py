"""The adjoint of a maximum: it goes to the larger of two, and a tie shares it."""

from __future__ import annotations

from typing import Any  # arrays and scalars of any floating type

import numpy as np

_BITS = {np.dtype(f"f{size}"): np.dtype(f"i{size}") for size in (2, 4, 8)}  # integers of the same size


def if_larger(seed: Any, x: Any, y: Any, out: Any = None) -> Any:
    """`seed` where x is larger than y, half of it where they are equal, 0 elsewhere, whatever it is there.

    With `out`, which may be x, it takes the memory of that array, if its shape and dtype are those of the result.

    >>> if_larger(np.array([2.0, 2.0, np.inf]), np.array([3.0, 1.0, 0.0]), 1.0)
    array([2., 1., 0.])
    """
    if type(seed) is type(x) is float and type(y) in (float, int):
        return seed if x > y else 0.5 * seed if x == y else 0.0
    if type(seed) is float and (real := np.result_type(x, y)).kind == "f":
        seed = real.type(seed)  # where float32 is larger than a number, so is what comes of the number
    chosen, tie = np.greater(x, y), np.equal(x, y)  # before x changes
    made = _where(chosen, seed, out)
    return np.where(tie, 0.5 * seed, made) if np.any(tie) else made


def _where(chosen: Any, g: Any, out: Any) -> Any:
    """`np.where(chosen, g, 0.0)`; of an array the bits are masked, which takes no branch for each element."""
    shape = np.shape(chosen)
    fits = type(g) is np.ndarray and (g.shape == shape or np.broadcast_shapes(g.shape, shape) == shape)
    bits = _BITS.get(g.dtype) if fits else None
    if bits is None:
        return np.where(chosen, g, 0.0)
    if type(out) is not np.ndarray or out.shape != shape or out.dtype != g.dtype or not out.flags.writeable:
        out = np.empty_like(chosen, g.dtype)
    mask = out.view(bits)
    np.copyto(mask, chosen)
    np.negative(mask, out=mask)
    np.bitwise_and(mask, g.view(bits), out=mask)
    return out
