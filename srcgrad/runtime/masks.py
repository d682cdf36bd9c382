"""Where adjoints are zero by structure, as arrays of booleans."""

from __future__ import annotations

from typing import Any  # values are scalars or arrays of any kind, indices are anything that reads from them

import numpy as np


def mask_to(mask: Any, x: Any) -> Any:
    """The mask of `x` from that of a result into which it was broadcast: true where any of its copies is reached.

    >>> mask_to(np.array([[True, False], [False, False]]), np.zeros((2, 1)))
    array([[ True],
           [False]])
    """
    mask, shape = np.asarray(mask) != 0, np.shape(x)
    if mask.shape == shape:
        return mask
    lead = mask.ndim - len(shape)
    if lead > 0:
        mask = np.any(mask, axis=tuple(range(lead)))
    lead = max(-lead, 0)
    grown = tuple(k for k, size in enumerate(mask.shape) if size != 1 and shape[lead + k] == 1)
    return np.broadcast_to(np.any(mask, axis=grown, keepdims=True), shape)


def picks(weights: Any, values: Any) -> Any:
    """`weights * values`, and 0 where a weight is 0, whatever the value is there.

    >>> picks(np.array([0.0, 0.5]), np.array([np.inf, 2.0]))
    array([0., 1.])
    """
    taken = np.asarray(weights) != 0.0
    return weights * np.where(taken, values, 0.0)


def mask_at(x: Any, index: Any, mask: Any = True) -> Any:
    """The mask of `x` from that of `x[index]`: false at the elements that are not read.

    >>> mask_at(np.zeros(3), slice(1, None))
    array([False,  True,  True])
    """
    made = np.zeros(np.shape(x), dtype=bool)
    if mask is True:
        made[index] = True
    else:
        np.logical_or.at(made, index, np.asarray(mask) != 0)
    return made


def mask_without(mask: Any, x: Any, index: Any) -> Any:
    """The mask of `x` before `x[index]` was overwritten: false there.

    >>> mask_without(True, np.zeros(3), 1)
    array([ True, False,  True])
    """
    made = np.array(mask_to(mask, x))
    made[index] = False
    return made
