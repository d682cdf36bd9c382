"""Whether two targets give the same: the same types, dtypes and shapes, and values that differ by rounding."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any  # results of arbitrary functions

import numpy as np


def differences(found: Any, wanted: Any, rtol: float = 1e-9, place: str = "") -> list[str]:
    """Where two results differ, and how; nothing if they are the same."""
    if type(found) is not type(wanted):
        return [f"{place or 'it'} is of type {type(found).__name__}, not {type(wanted).__name__}"]
    if isinstance(wanted, dict):
        if list(found) != list(wanted):
            return [f"{place} has keys {list(found)}, not {list(wanted)}"]
        return [line for k in wanted for line in differences(found[k], wanted[k], rtol, f"{place}[{k!r}]")]
    if isinstance(wanted, tuple | list):
        if len(found) != len(wanted):
            return [f"{place} has {len(found)} items, not {len(wanted)}"]
        pairs = enumerate(zip(found, wanted, strict=True))
        return [line for k, (one, two) in pairs for line in differences(one, two, rtol, f"{place}[{k}]")]
    if is_dataclass(wanted):
        names = [field.name for field in fields(wanted)]
        return [
            line
            for name in names
            for line in differences(getattr(found, name), getattr(wanted, name), rtol, f"{place}.{name}")
        ]
    if isinstance(wanted, np.ndarray | np.generic):
        if found.dtype != wanted.dtype or found.shape != wanted.shape:
            return [f"{place or 'it'} is {found.dtype}{found.shape}, not {wanted.dtype}{wanted.shape}"]
    if not isinstance(wanted, float | complex | np.ndarray | np.generic) or np.asarray(wanted).dtype.kind not in "fc":
        return []
    return _apart(np.asarray(found), np.asarray(wanted), rtol, place)


def _apart(found: Any, wanted: Any, rtol: float, place: str) -> list[str]:
    finite = np.isfinite(wanted)
    size = float(np.max(np.abs(wanted), initial=0.0, where=finite))
    with np.errstate(invalid="ignore"):
        off = np.where(finite, np.abs(found - wanted), 0.0)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return [f"{place or 'it'} has other places with inf or nan"]
    worst = float(np.max(off, initial=0.0))
    if not worst <= rtol * max(size, 1.0):
        return [f"{place or 'it'} is off by {worst:.1e} of {size:.1e}"]
    return []
