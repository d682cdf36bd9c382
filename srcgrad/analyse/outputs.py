"""How many outputs a user's function has, as its text tells."""

from __future__ import annotations

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts, Operation
from srcgrad.sealed import is_opaque
from srcgrad.trees import statements


def outputs(operation: Operation, facts: Facts) -> int | None:
    """The length of the tuple that a function with a rule returns, 0 where it is none, None where nobody knows."""
    own = operation.rule.own if operation.rule is not None else None
    called = operation.function if own is None or own.applied is None else own.applied.forward
    if is_opaque(called):
        return None
    try:
        source, _ = facts.module.source(called)
    except DifferentiationError:
        return None
    values = [node.value for node in statements(source.tree.body) if isinstance(node, gast.Return)]
    known = (gast.Tuple, gast.BinOp, gast.UnaryOp, gast.Constant, gast.Compare)
    if not values or not all(isinstance(value, known) for value in values):
        return None
    lengths = {len(value.elts) if isinstance(value, gast.Tuple) else 0 for value in values}
    return lengths.pop() if len(lengths) == 1 else None
