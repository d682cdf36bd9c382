"""What becomes of what a launch has written: sums from their parts, numbers in the type that NumPy gives them."""

from __future__ import annotations

from typing import Any  # arguments and results of kernels

import numpy as np

from srcgrad.opencl.steps import Output
from srcgrad.runtime import sum_to


def ended(output: Output, found: Any) -> Any:
    """A sum from its parts."""
    line = output.line
    assert line is not None, "a reduction"
    if output.end == "parts":  # the sum of all parts before each
        found = np.asarray(found)  # a device's array is read
        order = slice(None, None, -1 if line.back else 1)
        return np.concatenate([np.full(1, -0.0, found.dtype), np.cumsum(found[order])[:-1]])[order].copy()
    if line.form in ("MAX", "MIN"):
        reduce: Any = np.max if line.form == "MAX" else np.min
    else:
        reduce = np.prod if line.form == "PROD" else np.sum
    if output.end == "host":
        value = np.reshape(reduce(found, axis=output.over), output.due)  # without axes of length one
    elif len(found) == 1:
        value = found[0]
    else:
        value = reduce(found, axis=0)
    value = value.astype(output.real, copy=False) if output.due else output.real.type(value)
    if output.count != 1:
        value = value / output.count
    return value.reshape(output.due) if output.due else value


def result(value: Any, kind: str, args: tuple[Any, ...], words: list[str]) -> Any:
    """A value in the type that NumPy would give it; `words` are the names of the arguments."""
    if kind == "array":
        return value
    number = value if isinstance(value, np.generic | float) else np.asarray(value)[()]
    if kind == "float":
        return float(number)
    return sum_to(number, args[words.index(kind)]) if kind else number
