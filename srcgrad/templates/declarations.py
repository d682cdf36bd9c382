"""What families share: names that some versions of NumPy lack, refusals, calls that rules are tested on."""

from __future__ import annotations

import warnings
from typing import Any  # operations of NumPy are of every kind

import numpy as np

from srcgrad.core.rules import declare_refused, rule_of


def since(name: str) -> Any:
    """The function of NumPy with that name; None where the installed version has none: no rule is made for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(np, name, None)


def where_known(*names: str) -> tuple[object, ...]:
    """Those of the functions of NumPy that the installed version has."""
    return tuple(op for name in names if (op := since(name)) is not None)


HALF = "The derivative is that with respect to the entries that are read: nothing flows to the other triangle."


def reduction_forms(name: str) -> tuple[tuple[object, ...], ...]:
    """Calls of a reduction in all its spellings of axes, on ranks 0 to 3."""
    return (
        (f"{name}(x)", (3, 4)),
        (f"{name}(x)", ()),
        (f"{name}(x, axis=0)", (3, 4)),
        (f"{name}(x, axis=-1)", (2, 3, 4)),
        (f"{name}(x, 1)", (3, 1)),
        (f"{name}(x, axis=(0, -1))", (2, 3, 2)),
        (f"{name}(x, axis=1, keepdims=True)", (2, 3)),
        (f"{name}(x, keepdims=True)", (2, 3)),
        (f"{name}(x, axis=(2, 0), keepdims=True)", (2, 3, 2)),
        (f"{name}(x[::2], axis=-2)", (4, 3)),
        (f"{name}(x, axis=len(x) - 2, keepdims=len(x) > 2)", (3, 4)),
    )


def declare(owner, spelled, names, reason, **facts):
    """Refuse the members of a module or class that have these names, and no rule of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {f"{spelled}.{name}": getattr(owner, name) for name in names.split() if hasattr(owner, name)}
    for name, op in found.items():
        if rule_of(op) is None:
            declare_refused(reason, {name: op}, **facts)
