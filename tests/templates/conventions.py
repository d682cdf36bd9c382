"""What tests of the conventions share: gradients as plain numbers, and how they are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import grad


def gradients(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """Gradients with respect to all arguments, each as a nested list or a float."""
    places = tuple(range(len(args)))
    given = tuple(np.array(a, dtype=float) if isinstance(a, list) else a for a in args)
    return tuple(np.asarray(g).tolist() for g in grad(f, wrt=places)(*given))


def same(actual: Any, expected: Any) -> bool:
    return np.array_equal(np.asarray(actual, float), np.asarray(expected, float), equal_nan=True)


def close(actual: Any, expected: Any) -> bool:
    """Equal up to the roundings of a few operations."""
    return bool(np.allclose(actual, expected, rtol=1e-12, atol=1e-12))
