"""What a call of a function with source tells of the callee's parameters."""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad.analyse.binding import bind
from srcgrad.analyse.complexes import may_be_complex
from srcgrad.analyse.extents import extents
from srcgrad.facts import SCALAR, UNKNOWN, Facts, Kind
from srcgrad.trees import Node


def kinds_of(bound: dict[str, Node], facts: Facts) -> dict[str, Kind]:
    """What the caller knows of the arguments: which of them are numbers, and the ranks of others."""
    known: dict[str, Kind] = {}
    single = any(kind.single for kind in facts.kinds.values())
    symbols = {"1": "1"}  # lengths go by names of their own, so that calls that look alike share one text
    for parameter, argument in bound.items():
        spec = facts.spec.get(argument)
        if isinstance(argument, gast.Name) and argument.id in facts.containers and argument.id in facts.kinds:
            known[parameter] = facts.kinds[argument.id]
            continue
        number = isinstance(argument, gast.Constant) and isinstance(argument.value, int | float)
        if number or (spec is not None and spec.scalar and not spec.dtype):
            known[parameter] = SCALAR
        elif spec is not None and spec.ndim:
            lengths = tuple(symbols.setdefault(one, f"@{len(symbols)}") for one in extents(spec) or ())
            dtype = "floating" if spec.dtype == {"floating"} else ""
            known[parameter] = Kind("array", spec.ndim, dtype=dtype, shape=lengths, single=single)
        elif spec is not None and spec.scalar and facts.module.leading.axis:
            known[parameter] = Kind("array", 0)
        if may_be_complex(argument, facts):
            known[parameter] = replace(known.get(parameter, UNKNOWN), complex=True)
    return known


def lengths_of(bound: dict[str, Node], kinds: dict[str, Kind], facts: Facts) -> dict[str, str]:
    """What the callee's names of lengths stand for in the caller."""
    found: dict[str, str] = {}
    for parameter, kind in kinds.items():
        spec = facts.spec.get(bound[parameter]) if parameter in bound else None
        if kind.shape is not None and spec is not None:
            found.update(zip(kind.shape, extents(spec) or (), strict=False))
    return found


__all__ = ["bind", "kinds_of", "lengths_of"]
