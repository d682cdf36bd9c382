"""A sum begins with its first two terms: `u = v`, and then `u = u + e`, are `u = v + e`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.commuting import mentioned, stored
from srcgrad.trees import COMPOUND, Block, Node, loads, name, target


def begun(program: Program, facts: Facts) -> Program:
    """Drop a second name that is bound only to be added to.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x: float):\\n    k = np.sin(x)\\n    return (k + np.cos(k)) * (k + x)"
    >>> [line for line in explain_text(text, after="begun").splitlines() if line.startswith("k_bar")][0]
    'k_bar = t4_bar + t2_bar'
    """
    program.backward = _block(program.backward, facts)
    return program


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], facts)
        first = _first(node, made, facts) if node in facts.accumulates else None
        if first is not None:
            node.value.left = name(made.pop(first).value.id)
            del facts.accumulates[node]
        made.append(node)
    return made


def _first(node: Node, made: Block, facts: Facts) -> int | None:
    """Where the sum to which a statement adds is bound to another name, which holds the same still."""
    bound = target(node)
    if bound is None or not isinstance(node.value, gast.BinOp) or getattr(node.value.left, "id", "") != bound:
        return None
    if bound in loads(node.value.right):
        return None
    changed: set[str] = set()
    for position in reversed(range(len(made))):
        before = made[position]
        if bound in mentioned(before):
            plain = target(before) == bound and isinstance(before.value, gast.Name)
            if not plain or before in facts.restores or before in facts.pushes:
                return None
            if before.value.id in changed or before.value.id == bound:
                return None
            return position
        changed |= stored([before])
    return None
