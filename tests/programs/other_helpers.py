"""A second module with a helper called `scaled`, and a global of the same name as in the first."""

from __future__ import annotations

import numpy as np

SLOPE = 0.3


def scaled(x):
    """Not the `scaled` of `program_helpers`."""
    return np.cos(x) * SLOPE
