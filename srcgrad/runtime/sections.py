"""The transpose of sums over sections."""

from __future__ import annotations

from typing import Any  # arrays of any floating type

import numpy as np


def section_sums_transpose(g: Any, a: Any, indices: Any, axis: int = 0) -> Any:
    """The transpose of `np.add.reduceat(a, indices, axis)` applied to g; of a's shape.

    >>> section_sums_transpose(np.array([1.0, 5.0]), np.zeros(3), [0, 2])
    array([1., 1., 5.])
    """
    made = np.zeros(np.shape(a), g.dtype)
    lines, parts = np.moveaxis(made, axis, -1), np.moveaxis(g, axis, -1)
    starts = [int(k) for k in indices]
    for k, (start, end) in enumerate(zip(starts, [*starts[1:], lines.shape[-1]], strict=True)):
        lines[..., start : max(end, start + 1)] += parts[..., k : k + 1]
    return made
