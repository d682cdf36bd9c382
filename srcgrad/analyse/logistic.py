"""`1.0 / (1.0 + np.exp(u))` is one operation, whose derivative reads its result alone: docs/decisions/logistic.md."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts, Operation
from srcgrad.rules import rule_of
from srcgrad.runtime.logistic import falling
from srcgrad.trees import BLOCKS, Block, Node, loads, statements, stores, target, written


def logistic(function: Node, facts: Facts) -> Node:
    """Let the quotient be an operation on u, where nothing else reads the exponential or the sum.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    return 1.0 / (1.0 + np.exp(-x))", after="signs").splitlines()[-2])
    x_bar = y_bar * y * (1.0 - y)
    """
    order = statements(function.body)
    if all(_denominator(node, facts) is None for node in order):
        return function
    read: dict[str, int] = {}
    for node in order:
        for one in loads(node):
            read[one] = read.get(one, 0) + 1
    for holder in [function, *order]:
        for field in BLOCKS:
            _block(getattr(holder, field, None) or [], read, facts)
    return function


def _block(block: Block, read: dict[str, int], facts: Facts) -> None:
    """Look for the three operations among the statements of one block."""
    places: dict[str, int] = {}
    for place, node in enumerate(block):
        below = _denominator(node, facts)
        total = _made(below, block, places, read, facts)
        power = None if total is None else _made(_beside_one(total, facts), block, places, read, facts)
        operand = None if power is None else _exponent(power, facts)
        if operand is not None and _stays(operand.id, block[places[str(target(power))] : place], facts):
            rule = rule_of(falling)
            assert rule is not None, "the families of NumPy are loaded before anything is analysed"
            facts.operation[node.value] = Operation("op", falling, rule, {"x": operand})
        if (bound := target(node)) is not None:
            places[bound] = place


def _made(
    operand: Node | None, block: Block, places: dict[str, int], read: dict[str, int], facts: Facts
) -> Node | None:
    """The statement of this block that binds an operand, if that is bound and read once, and nothing changes it."""
    bound = getattr(operand, "id", "")
    if bound not in places or read[bound] != 1 or bound not in facts.definition:
        return None
    if bound in facts.mutable or bound in facts.inner or bound in facts.checked:
        return None
    return block[places[bound]]


def _denominator(node: Node, facts: Facts) -> Node | None:
    """What 1 is divided by."""
    operation = _operation(node, facts)
    if operation is None or target(node) is None:
        return None
    if operation.function is np.reciprocal:
        return operation.bound.get("x")
    return operation.bound["y"] if operation.function is np.divide and _is_one(operation.bound["x"]) else None


def _beside_one(node: Node, facts: Facts) -> Node | None:
    """What 1 is added to."""
    operation = _operation(node, facts)
    if operation is None or operation.function is not np.add:
        return None
    left, right = operation.bound["x"], operation.bound["y"]
    return right if _is_one(left) else left if _is_one(right) else None


def _exponent(node: Node, facts: Facts) -> Node | None:
    """The name u in `np.exp(u)`."""
    operation = _operation(node, facts)
    if operation is None or operation.rule is not rule_of(np.exp):
        return None
    operand = operation.bound.get("x")
    return operand if isinstance(operand, gast.Name) and operand.id in facts.active else None


def _operation(node: Node, facts: Facts) -> Operation | None:
    """The operation of an assignment, if it is one of the table with its plain arguments."""
    found = facts.operation.get(getattr(node, "value", None))
    plain = found is not None and found.kind == "op" and found.bound.keys() <= {"x", "y"}
    return found if plain else None


def _is_one(node: Node) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, float) and node.value == 1


def _stays(operand: str, between: Block, facts: Facts) -> bool:
    """Whether a name holds the same from the exponential on to the quotient, for adjoints too."""
    changed = {one for node in statements(between) for one in (*stores(node), *written(node))}
    return not changed & facts.shown([operand])
