"""Functions of a few straight lines, which kernels take in where they are called."""

from __future__ import annotations

import gast

from srcgrad.trees import Node, walk

_FEW = 24  # operations beyond which a function is better read under its own name
_PARTS = (
    gast.Name,
    gast.Attribute,
    gast.Constant,
    gast.BinOp,
    gast.UnaryOp,
    gast.Compare,
    gast.Call,
    gast.keyword,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
    gast.cmpop,
)
_OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)


def is_straight(tree: Node) -> bool:
    """Whether a function binds names to the values of a few expressions, and returns the last."""
    first = tree.body[0]
    documented = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    *bindings, last = tree.body[documented:] or [None]
    if not isinstance(last, gast.Return) or last.value is None or tree.decorator_list:
        return False
    for node in bindings:
        if not isinstance(node, gast.Assign) or not all(isinstance(one, gast.Name) for one in node.targets):
            return False
    parts = [part for node in [*bindings, last] for part in walk(node.value)]
    if isinstance(last.value, gast.Tuple) or not all(isinstance(part, _PARTS) for part in parts):
        return False
    return sum(isinstance(part, _OPERATIONS) for part in parts) <= _FEW
