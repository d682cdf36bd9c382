"""Conversions between floating dtypes, as `srcgrad.grad(f, autocast=...)` writes them."""

from __future__ import annotations

from typing import Any  # arrays of any dtype


def cast(x: Any, dtype: Any) -> Any:
    """`x.astype(dtype)`, for floating x and dtype.

    >>> import numpy as np
    >>> cast(np.ones(2), np.float32).dtype
    dtype('float32')
    """
    return x.astype(dtype)
