"""What goes into a list and changes in place later: it changes in the list as well, unless it is a number."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts, copied
from srcgrad.trees import Block, Node, at, statement, written


def deposited(node: Node, name: str, block: Block, facts: Facts) -> bool:
    """Whether a statement puts an array into a list: `kept.append(a)`; what may be a number is looked at there."""
    held = written(node) if isinstance(node, gast.Expr) and node.value.args else []
    if not held or not facts.list_kind(held[0]) or getattr(node.value.args[-1], "id", "") != name:
        return False
    spec = facts.spec.get(node.value.args[-1])
    if spec is not None and spec.ndim is not None:
        return True
    if node not in facts.checked:
        facts.checked[node] = None
        check = at(statement(f"{facts.library('check_item')}(x)", x=copied(node.value.args[-1], facts)), node)
        facts.effects[check] = None
        facts.origin[check] = facts.origin.get(node, node)
        _insert_before(block, node, check)
    return False


def _insert_before(block: Block, node: Node, made: Node) -> None:
    for position, item in enumerate(block):
        if item is node:
            block.insert(position, made)
            return
        for field in ("body", "orelse"):
            _insert_before(getattr(item, field, None) or [], node, made)
