"""Names that may be unbound where they are read: refused, since their adjoints would have no shape."""

from __future__ import annotations

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.trees import Block, Node, loads, parameters, statements, stores, target, written_names


def definite_assignment(function: Node, facts: Facts) -> Node:
    """Refuse reads of a name that only one branch has bound; a loop is taken to run (else Python itself raises)."""
    local = {s for n in statements(function.body) for s in stores(n)} - set(parameters(function))
    _refuse_module(function, local, facts)
    _block(function.body, frozenset(parameters(function)), frozenset(local), facts)
    return function


def _refuse_module(function: Node, local: set[str], facts: Facts) -> None:
    """Refuse writes into arrays and lists of the module, which the function itself binds nowhere."""
    own = {s for n in statements(function.body) for s in stores(n) if s not in written_names(n) or s == target(n)}
    for node in statements(function.body):
        for array in written_names(node):
            if array in local - own:
                raise facts.refuse(
                    node,
                    "E5010",
                    f"`{array}` belongs to the module, and others may read what is written into it",
                    f"pass `{array}` as an argument and return it, or write into a copy of it",
                )


def _block(block: Block, known: frozenset[str], local: frozenset[str], facts: Facts) -> frozenset[str]:
    for node in block:
        for read in loads(node):
            if read in local and read not in known:
                raise facts.refuse(
                    node,
                    "E5011",
                    f"`{read}` may be unbound here: not every branch before binds it",
                    f"bind `{read}` before the branch, or in each of its sides",
                )
        known = known | frozenset(stores(node))
        if isinstance(node, gast.If):
            ends = [_block(side, known, local, facts) for side in (node.body, node.orelse) if not raises(side)]
            if raises(node.orelse) or raises(node.body):
                for side in (node.body, node.orelse):
                    _block(side, known, local, facts)
            known = frozenset.intersection(*ends) if ends else known
        elif isinstance(node, gast.For | gast.While):
            known = _block(node.body, known, local, facts)
    return known


def raises(block: Block) -> bool:
    """Whether a block ends in `raise`."""
    return bool(block) and isinstance(block[-1], gast.Raise)
