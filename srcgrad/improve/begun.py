"""A sum begins with its first two terms: `u = v`, and then `u = u + e`, are `u = v + e`; `u = -v` gives `u = e - v`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.stacks import is_pop
from srcgrad.facts import Facts
from srcgrad.improve.commuting import mentioned, stored
from srcgrad.improve.order import added
from srcgrad.trees import COMPOUND, Block, Node, loads, statements, target, written


def begun(program: Program, facts: Facts) -> Program:
    """Drop a second name that is bound only to be added to; so with the negative of a value, or a multiple.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x: float):\\n    k = np.sin(x)\\n    return (k + np.cos(k)) * (k + x)"
    >>> [line for line in explain_text(text, after="begun").splitlines() if line.startswith("k_bar")][0]
    'k_bar = t4_bar + t2_bar'
    """
    program.backward = _block(program.backward, facts)
    return program


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    said: list[set[str]] = []  # the names that each of these mentions
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], facts)
        first = _first(node, made, said, facts) if node in facts.accumulates else None
        if first is not None:
            del said[first]
            node.value = _sum(made.pop(first).value, node.value, facts)
            del facts.accumulates[node]
        made.append(node)
        said.append(set(mentioned(node)))
    return made


def _first(node: Node, made: Block, said: list[set[str]], facts: Facts) -> int | None:
    """Where the sum to which a statement adds is bound to another name, which holds the same still."""
    bound = target(node)
    if bound is None or not isinstance(node.value, gast.BinOp) or getattr(node.value.left, "id", "") != bound:
        return None
    if bound in loads(node.value.right):
        return None
    position = next((k for k in reversed(range(len(made))) if bound in said[k]), None)
    if position is None:
        return None
    before, between = made[position], made[position + 1 :]
    read = _multiple(before.value) if target(before) == bound else None
    if read is None or before in facts.restores or before in facts.pushes or before in facts.accumulates:
        return None
    if read == bound or read in stored(between):
        return None
    writes = any(_writes(each) for each in statements(between))  # perhaps into what the value shows
    return position if not writes or isinstance(before.value, gast.Name) else None


def _writes(node: Node) -> bool:
    """Whether a statement changes elements; what takes a value off a list changes none."""
    return bool(written(node)) and not (isinstance(node, gast.Assign) and is_pop(node.value))


def _multiple(value: Node) -> str | None:
    """The v of `v`, `-v`, `v * 2.0`; None for any other value."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        value = value.operand
    elif isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult) and isinstance(value.right, gast.Constant):
        value = value.left
    return value.id if isinstance(value, gast.Name) else None


def _sum(first: Node, value: Node, facts: Facts) -> Node:
    """`first + e` for a value that is `u + e`, `first - e` for `u - e`."""
    if isinstance(value.op, gast.Add):
        return added(first, value.right, facts)
    return gast.BinOp(first, value.op, value.right)
