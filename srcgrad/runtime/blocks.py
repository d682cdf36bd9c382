"""How many rows there are to be taken in blocks."""

from __future__ import annotations

from typing import Any  # arrays of any dtype


def row_count(*arrays: Any) -> int:
    """The number of rows that all arrays have; 1 if it is 0, so that a loop over blocks has one, which is empty.

    >>> import numpy as np
    >>> row_count(np.ones((5, 2)), np.ones(5)), row_count(np.ones((0, 2)))
    (5, 1)
    """
    counts = [len(array) for array in arrays]
    if len(set(counts)) > 1:
        raise ValueError(f"the arrays have {', '.join(map(str, counts))} rows: blocks need as many of each")
    return max(counts[0], 1)
