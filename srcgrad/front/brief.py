"""Short functions have no derivative of their own: their lines stand where they are called, and are undone there.

A derivative of its own costs a definition, a pullback, a name for it in each call, and what the call does not see:
which shapes are equal, which products are there already. So a function that is called once is written out, and one
that is called again if there is little in it. What carries no derivative stays a call, and so does
a derivative that a function calls: the text around it stays the user's.
"""

from __future__ import annotations

import gast

from srcgrad.facts import Operation
from srcgrad.front.straight import is_straight, operations
from srcgrad.front.varied import reads_varied
from srcgrad.front.written_out import Site
from srcgrad.trees import Node, walk

_AGAIN = 8  # operations that may be written again: about what a definition and its calls take


def is_short(call: Node, called: str, operation: Operation, site: Site) -> bool:
    """Whether a call is written out since the function is short: for kernels, and where the text gets no longer."""
    facts = site.facts
    if operation.checkpointed:
        return False
    if facts.module.target == "opencl":
        return site.is_of(operation.function, is_straight)
    if facts.mode in ("primal", "trace"):
        return False
    given = [*call.args, *(word.value for word in call.keywords)]
    varied = None if site.varied is None else dict.fromkeys(site.varied)
    flows = varied is None or any(reads_varied(one, varied, facts, site.local) for one in given)
    brief = site.is_of(operation.function, lambda tree: is_brief(tree, called, facts.source.tree), generated=False)
    return flows and brief


def is_brief(tree: Node, called: str, caller: Node) -> bool:
    """Whether a straight function is called once, or has few operations that would be written again."""
    calls = [part.func for node in caller.body for part in walk(node) if isinstance(part, gast.Call)]
    times = sum(called in (getattr(one, "id", ""), getattr(one, "attr", "")) for one in calls)
    return is_straight(tree) and (times - 1) * operations(tree) <= _AGAIN
