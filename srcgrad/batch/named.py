"""How many directions there are gets a name where it is read again and again: `m = len(x_dot)`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import replace
from srcgrad.trees import Node, assign, copy, header, name, same, statements, stores, walk

_OFTEN = 3  # reads that are worth a line


def named(program: Program, facts: Facts, count: Node) -> None:
    """Bind the count of directions at the beginning of a text that reads it more than twice."""
    reads = [
        (node, call)
        for node in [*statements(program.forward), program.result]
        for part in header(node)
        for call in walk(part)
        if isinstance(call, gast.Call) and same(call, count)
    ]
    seeds = [one for node in statements(program.block) for one in stores(node) if one in facts.seeds]
    if len(reads) < _OFTEN or seeds or facts.mode == "vjp":
        return
    bound = facts.names.fresh("m")
    for node, call in reads:
        replace(node, call, name(bound))
    made = assign(bound, copy(count))
    facts.tangents[made] = None
    program.forward.insert(0, made)
