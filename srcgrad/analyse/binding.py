"""The arguments of a call of a function with source, by its parameters."""

from __future__ import annotations

from srcgrad.facts import Facts
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
