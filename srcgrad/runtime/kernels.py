"""How far the kernels of `scipy.ndimage` reach beyond an array, and kernels along one axis."""

from __future__ import annotations

from typing import Any  # arrays of any kind, whole numbers and sequences of them

import numpy as np


def reaches(weights: Any, origin: Any = 0, turned: bool = False) -> list[tuple[int, int]]:
    """For each axis how many elements a correlation reads before and after an array; `turned` of a convolution.

    >>> reaches(np.ones(3)), reaches(np.ones(4), 1), reaches(np.ones(4), 0, True)
    ([(1, 1)], [(3, 0)], [(1, 2)])
    """
    shape = np.shape(weights)
    made = []
    for size, shift in zip(shape, np.broadcast_to(origin, len(shape)).tolist(), strict=True):
        before = size // 2 + shift
        if turned:
            before = size - 1 - size // 2 - shift
        made.append((before, size - 1 - before))
    return made


def steps_along(weights: Any, rank: int, axis: int) -> tuple[int, ...]:
    """The shape of a kernel of that many elements along one of several axes.

    >>> steps_along([1.0, 2.0, 1.0], 2, -1)
    (1, 3)
    """
    shape = [1] * rank
    shape[axis] = len(weights)
    return tuple(shape)


def taps(origin: int, rank: int, axis: int) -> tuple[int, ...]:
    """The origin of a kernel along one of several axes.

    >>> taps(1, 2, 0)
    (1, 0)
    """
    made = [0] * rank
    made[axis] = origin
    return tuple(made)
