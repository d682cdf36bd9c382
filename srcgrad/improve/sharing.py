"""An array that a text adds to in place may be one that its derivative reads: `x_bar = x_bar + e` then."""

from __future__ import annotations

from collections import Counter

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.front.viewing import FITTED
from srcgrad.trees import Node, loads, statements, target


def sharing(program: Program, facts: Facts) -> dict[str, None]:
    """Names that may hold the array of another one, which is read elsewhere: nothing is added to them in place.

    x_bar = sum_to(t / w, x)                           t1 = t / w
    x_bar += e, whose derivative reads t / w    =>     x_bar = sum_to(t1, x)
                                                       x_bar = x_bar + e
    """
    if not facts.generated or not facts.augmented:
        return {}
    order = [node for node in statements(program.block) if isinstance(node, gast.AST)]
    reads = Counter(one for node in order for one in loads(node))
    reads.update(one for node in facts.fresh_copies for one in loads(node))
    held = {node: _held(node, facts) for node in statements(program.forward)}
    return {str(target(node)): None for node, one in held.items() if one and one != target(node) and reads[one] > 1}


def _held(node: Node, facts: Facts) -> str:
    """The name whose array a statement may bind to another: `x_bar = sum_to(t, x)`, `x_bar = t`."""
    value = node.value if isinstance(node, gast.Assign) and target(node) is not None else None
    if isinstance(value, gast.Call) and value.args:
        known = facts.namespace.lookup(getattr(value.func, "id", ""))
        value = value.args[0] if known is not None and known.object in FITTED else None
    return value.id if isinstance(value, gast.Name) else ""
