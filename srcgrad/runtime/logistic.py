"""The logistic function, falling."""

from __future__ import annotations

from typing import Any  # numbers and arrays

import numpy as np


def falling(x: Any) -> Any:
    """`1 / (1 + exp(x))` as one operation: no text calls it, but its rule is that of these three.

    >>> float(falling(0.0)), float(falling(-np.inf))
    (0.5, 1.0)
    """
    return 1.0 / (1.0 + np.exp(x))
