"""What one call of a function of two halves keeps for its backward half."""

from __future__ import annotations

from typing import Any  # a forward half may keep anything

import numpy as np


class Context:
    """One per call: `save_for_backward(...)` and `saved_tensors`, and any attribute that `forward` sets.

    `inputs` mirrors the arguments of the call, in shape and dtype only: it keeps no data.

    >>> ctx = Context(np.ones((2, 3)), 1.0)
    >>> ctx.save_for_backward(2.0)
    >>> ctx.saved_tensors, ctx.inputs[0].shape
    ((2.0,), (2, 3))
    """

    inputs: tuple[Any, ...]
    saved_tensors: tuple[Any, ...]

    def __init__(self, *inputs: Any) -> None:
        self.inputs = tuple(_hollow(x) for x in inputs)
        self.saved_tensors = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep values for `backward`, which finds them as `ctx.saved_tensors`."""
        self.saved_tensors = values

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"forward has not set ctx.{name}")


def _hollow(x: Any) -> Any:
    """An array of the shape and dtype of x that takes no room; numbers and other values as they are."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(np.zeros((), x.dtype), x.shape)
    if isinstance(x, list | tuple):
        return type(x)(*map(_hollow, x)) if hasattr(x, "_fields") else type(x)(map(_hollow, x))
    if isinstance(x, dict):
        return {key: _hollow(value) for key, value in x.items()}
    return x
