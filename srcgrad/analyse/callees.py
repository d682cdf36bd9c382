"""What a call of a function with source tells of the callee's parameters."""

from __future__ import annotations

from dataclasses import replace

import gast

from srcgrad.analyse.binding import bind
from srcgrad.analyse.complexes import may_be_complex
from srcgrad.facts import SCALAR, UNKNOWN, Facts, Kind
from srcgrad.trees import Node


def kinds_of(bound: dict[str, Node], facts: Facts) -> dict[str, Kind]:
    """What the caller knows of the arguments: which of them are numbers, and the ranks of others."""
    known: dict[str, Kind] = {}
    for parameter, argument in bound.items():
        spec = facts.spec.get(argument)
        if isinstance(argument, gast.Name) and argument.id in facts.containers and argument.id in facts.kinds:
            known[parameter] = facts.kinds[argument.id]
            continue
        number = isinstance(argument, gast.Constant) and isinstance(argument.value, int | float)
        if number or (spec is not None and spec.scalar and not spec.dtype):
            known[parameter] = SCALAR
        elif spec is not None and spec.ndim:
            known[parameter] = Kind("array", spec.ndim)
        if may_be_complex(argument, facts):
            known[parameter] = replace(known.get(parameter, UNKNOWN), complex=True)
    return known


__all__ = ["bind", "kinds_of"]
