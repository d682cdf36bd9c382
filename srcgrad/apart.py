"""Arguments that a function writes into: what else is read must not change with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any  # arguments and captured objects are arbitrary

import numpy as np

from srcgrad.errors import DifferentiationError, Place
from srcgrad.snapshot import parts_of, read_by


def check_apart(
    written: Mapping[str, Place | None], values: Sequence[Any], outside: Sequence[Any], names: Sequence[str]
) -> None:
    """E5010 if an argument that is written into shows elements of another argument, or of what the function captures.

    >>> x = np.zeros(4)
    >>> check_apart({"x": None}, [x[::2], x[1::2]], (), ["x", "y"])
    >>> check_apart({"x": None}, [x, [x[::2]]], (), ["x", "y"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    srcgrad.errors.DifferentiationError: E5010 ...
    """
    for argument, line in written.items():
        place = names.index(argument)
        others = [(name, value) for k, (name, value) in enumerate(zip(names, values, strict=True)) if k != place]
        others += [("", one) for value in outside for one in read_by(value)]
        for name, other in others:
            if any(_is_shared(values[place], part) for part in parts_of(other)):
                held = f"`{name}`" if name else "what the function captures"
                raise DifferentiationError(
                    "E5010",
                    f"the argument `{argument}` is written into, and shares elements with {held}",
                    "pass a copy of one of the two",
                    line,
                )


def _is_shared(value: Any, other: Any) -> bool:
    if value is other:
        return True
    if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    return np.may_share_memory(value, other) and np.shares_memory(value, other)
