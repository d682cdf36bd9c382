"""Objects of own classes that a function makes of what does not vary: their methods are those of their class."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from dis import get_instructions
from types import FunctionType
from typing import Any  # classes are arbitrary

from srcgrad.facts import Facts, Kind
from srcgrad.front.kind_analysis import Kinds
from srcgrad.front.varied import reads_varied


def instances(kinds: Kinds, varied: dict[str, None] | None, facts: Facts) -> dict[str, None] | None:
    """Know `m.copy()` as an object of its class, as an argument is, where no derivative flows through it.

    `varied` are the names through which one may flow, None for any name; they are given back.
    """
    if varied is None:
        return None
    for node, kind in kinds.of.items():
        if _is_made(kind) and not reads_varied(node, varied, facts, facts.local):
            kinds.of[node] = replace(kind, tag="object")
    for held, kind in kinds.named.items():
        if _is_made(kind) and held not in varied:
            kinds.named[held] = replace(kind, tag="object")
    return varied


def _is_made(kind: Kind) -> bool:
    """Whether a kind is that of an object made here whose methods are surely those of its class, and no record's."""
    made: Any = kind.items[0][0] if kind.tag == "made" else None
    if made is None or is_dataclass(made) or type(made) is not type:
        return False
    if any(one in vars(base) for base in made.__mro__[:-1] for one in ("__new__", "__getattribute__")):
        return False
    written = [f for base in made.__mro__ for f in vars(base).values() if isinstance(f, FunctionType)]
    stored = {i.argval for f in written for i in get_instructions(f) if i.opname == "STORE_ATTR"}
    named = {one for f in written for one in f.__code__.co_names}
    odd = named & {"setattr", "__dict__", "vars", "__setattr__"}
    return not odd and not any(isinstance(getattr(made, one, None), FunctionType) for one in stored)
