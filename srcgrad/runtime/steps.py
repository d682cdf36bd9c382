"""`np.gradient` and its transpose."""

from __future__ import annotations

from typing import Any  # arrays of any floating type; spacings are numbers or arrays of places

import numpy as np

REACH = 2  # an element of `np.gradient` depends on elements at most that far away


def gradients(f: Any, spacings: Any = (), axis: Any = None, edge_order: Any = 1) -> Any:
    """`np.gradient(f, *spacings, axis=axis, edge_order=edge_order)`; an array of arrays where there are several axes.

    >>> gradients(np.array([0.0, 1.0, 4.0]))
    array([1., 2., 3.])
    """
    return np.asarray(np.gradient(f, *spacings, axis=axis, edge_order=edge_order))


def gradient_transpose(g: Any, f: Any, spacings: Any = (), axis: Any = None, edge_order: Any = 1) -> Any:
    """The transpose of `gradients` applied to g, which is shaped like its result; of f's shape.

    >>> gradient_transpose(np.array([1.0, 1.0, 1.0]), np.zeros(3))
    array([-1.5,  0. ,  1.5])
    """
    given = tuple(range(np.ndim(f))) if axis is None else axis
    axes = (given,) if np.ndim(given) == 0 else tuple(given)
    steps = (1.0,) if not len(spacings) else tuple(spacings)
    parts = g if isinstance(g, list | tuple) or np.ndim(g) > np.ndim(f) else [g]
    total = np.zeros(np.shape(f), np.asarray(parts[0]).dtype)
    for place, (part, own) in enumerate(zip(parts, axes, strict=True)):
        step = steps[place] if len(steps) > 1 else steps[0]
        total += np.moveaxis(_along_last(np.moveaxis(part, own, -1), step, edge_order), -1, own)
    return total


def _along_last(g: Any, step: Any, edge_order: Any) -> Any:
    """Rows of the matrix of `np.gradient`, found by its action on combs whose teeth do not meet, against g."""
    n, width = g.shape[-1], 2 * REACH + 1
    made, rim = np.zeros_like(g), np.zeros_like(g[..., :1])
    for first in range(min(width, n)):
        comb = np.zeros(n, g.dtype)
        comb[first::width] = 1.0
        part = np.gradient(comb, step, edge_order=edge_order) * g
        padded = np.concatenate((rim, rim, part, rim, rim), axis=-1)
        sums = np.sum([padded[..., k : k + n] for k in range(width)], axis=0)
        made[..., first::width] = sums[..., first::width]
    return made
