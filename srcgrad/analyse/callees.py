"""What a call of a function with source tells of the callee's parameters."""

from __future__ import annotations

import gast

from srcgrad.facts import SCALAR, Facts, Kind
from srcgrad.front.webs import parameters
from srcgrad.trees import Node


def bind(call: Node, callee: Node, facts: Facts) -> dict[str, Node]:
    """Arguments of a call by the callee's parameter names."""
    names = parameters(callee)
    positional = [a.id for a in callee.args.posonlyargs + callee.args.args]
    if len(call.args) > len(positional) or any(w.arg not in names for w in call.keywords):
        raise facts.refuse(
            call, "E5005", "the arguments do not fit the function's parameters", f"it takes: {', '.join(names)}"
        )
    bound = dict(zip(positional, call.args, strict=False))
    return bound | {word.arg: word.value for word in call.keywords}


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
    return known
