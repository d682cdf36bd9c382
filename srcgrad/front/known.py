"""Every name that a function reads means something: its own, its module's, or Python's."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Node, walk


def known(function: Node, facts: Facts) -> Node:
    """Refuse a name that nothing binds, before anything is derived from it."""
    for statement in function.body:
        for item in walk(statement):
            if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Load) and item.id not in facts.local:
                if facts.namespace.lookup(item.id) is None:
                    raise facts.refuse(
                        item,
                        "E5012",
                        f"nothing binds the name `{item.id}`",
                        f"import or define `{item.id}` in the module of {facts.source.name}",
                    )
    return function
