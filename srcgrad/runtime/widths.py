"""Widths of what `np.pad` adds, by axis and side."""

from __future__ import annotations

from typing import Any  # numbers, pairs, and sequences of pairs

import numpy as np


def pad_widths(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """For each axis the two whole numbers that `pad_width` or `stat_length` gives it; None where nothing is given.

    >>> pad_widths(1, 2), pad_widths((1, 2), 2), pad_widths({0: 3}, 2), pad_widths(None, 1)
    ([(1, 1), (1, 1)], [(1, 2), (1, 2)], [(3, 3), (0, 0)], [(None, None)])
    """
    if given is None:
        return [(None, None)] * rank
    if isinstance(given, dict):
        every = [(0, 0)] * rank
        for axis, pair in given.items():
            every[axis] = tuple(np.broadcast_to(pair, 2).tolist())
        return every
    return [tuple(pair) for pair in np.broadcast_to(given, (rank, 2)).tolist()]


def sides(lengths: tuple[Any, Any], n: int) -> tuple[int, int]:
    """How many of n elements the statistics of both sides are of.

    >>> sides((None, 2), 5), sides((9, 1), 5)
    ((5, 2), (5, 1))
    """
    return min(lengths[0] or n, n), min(lengths[1] or n, n)
