"""Sums built up by a loop: `s = s + e`, where the loop does nothing else with s."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.front.webs import parameters
from srcgrad.trees import Node, loads, statements, stores, target


def accumulators(function: Node, facts: Facts) -> Node:
    """Find accumulators: their adjoint passes through the loop unchanged, so nothing need be recorded for it.

    If broadcasting widens s on the way, the adjoint stays wide until the statement before the loop is undone,
    which must be elementwise (or a literal) for that to be right.
    """
    for loop in statements(function.body):
        if isinstance(loop, gast.For | gast.While):
            for node in loop.body:
                name = _updated(node, facts)
                if name is not None and name not in parameters(function) and _alone(name, node, loop):
                    if _plain_start(name, loop, function, facts):
                        facts.accumulators[node] = (name,)
    return function


def _updated(node: Node, facts: Facts) -> str | None:
    """The s of `s = s + e` or `s = s - e`."""
    bound = target(node)
    operation = facts.operation.get(node.value) if bound is not None else None
    if operation is None or operation.function not in (np.add, np.subtract):
        return None
    operands = list(operation.bound.values())
    held = [isinstance(o, gast.Name) and o.id == bound for o in operands]
    if held == [True, False] or (held == [False, True] and operation.function is np.add):
        return bound
    return None


def _alone(name: str, update: Node, loop: Node) -> bool:
    """Whether the loop reads and binds the name in this one statement only."""
    others = [n for n in statements([loop]) if n is not update]
    return all(name not in loads(n) and name not in stores(n) for n in others)


def _plain_start(name: str, loop: Node, function: Node, facts: Facts) -> bool:
    """Whether all other bindings of the name carry no derivative, or are elementwise, and stand outside loops."""
    inside = set(statements([loop]))
    for node in statements(function.body):
        if name in stores(node) and node not in inside:
            operation = facts.operation.get(getattr(node, "value", None))
            elementwise = operation is not None and operation.rule is not None and operation.rule.kind == "elementwise"
            if not elementwise and (operation is not None or not isinstance(node, gast.Assign)):
                return False
            if not isinstance(node.targets[0], gast.Name):
                return False
    return True
