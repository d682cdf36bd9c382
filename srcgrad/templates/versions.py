"""Names that some versions of NumPy lack."""

from __future__ import annotations

import warnings
from typing import Any  # operations of NumPy are of every kind

import numpy as np


def since(name: str) -> Any:
    """The function of NumPy with that name; None where the installed version has none: no rule is made for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(np, name, None)


def where_known(*names: str) -> tuple[Any, ...]:
    """Those of the functions of NumPy that the installed version has."""
    return tuple(op for name in names if (op := since(name)) is not None)
