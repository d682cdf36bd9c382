"""Stacks of vectors that go together: SciPy's matrices of numbers, one for each vector of a stack."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def shared_batch(a: Any, b: Any) -> tuple[int, ...]:
    """The shape of the stack that two stacks of vectors broadcast to.

    >>> shared_batch(np.zeros((2, 1, 3)), np.zeros((4, 5)))
    (2, 4)
    """
    return np.broadcast_shapes(np.shape(a)[:-1], np.shape(b)[:-1])


def matched(x: Any, batch: tuple[int, ...]) -> Any:
    """A stack of vectors, repeated where that makes it a stack of this shape.

    >>> matched(np.zeros(3), (2,)).shape
    (2, 3)
    """
    return np.broadcast_to(x, (*batch, np.shape(x)[-1]))
