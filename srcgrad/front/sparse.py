"""Products with constant sparse matrices of SciPy: `A @ x`, `x @ A` and `A.dot(x)` are linear in x."""

from __future__ import annotations

from types import ModuleType
from typing import Any  # operations are arbitrary Python objects

import gast

from srcgrad.facts import Facts
from srcgrad.runtime import sparse_left, sparse_right
from srcgrad.trees import Node, walk


def sparse_product(node: Node, facts: Facts, found: Any) -> tuple[Any, list[Node]] | None:
    """The operation of a product with a sparse matrix, and its operands; None for other expressions.

    `found` tells what a dotted name means outside of the function.
    """
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        if is_sparse(node.left, facts, found):
            return sparse_left, [node.left, node.right]
        return (sparse_right, [node.left, node.right]) if is_sparse(node.right, facts, found) else None
    method = isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "dot"
    if method and len(node.args) == 1 and not node.keywords and is_sparse(node.func.value, facts, found):
        return sparse_left, [node.func.value, node.args[0]]
    return None


def is_sparse(node: Node, facts: Facts, found: Any) -> bool:
    """Whether an expression is an argument or a global that is a sparse matrix, or the transpose of one."""
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return is_sparse(node.value, facts, found)
    kind = facts.kinds.get(node.id) if isinstance(node, gast.Name) else None
    if kind is not None and kind.tag == "object":
        return _is_matrix(kind.items[0][0]) and not _is_bound(node.id, facts)
    meant = found(node)
    held = attribute_held(node, found) if meant is None else meant.object
    return (meant is None or meant.kind == "object") and _is_matrix(type(held))


def attribute_held(node: Node, found: Any) -> Any:
    """What `model.m` holds, where `model` is an object outside of the function; None where only a run can tell.

    No property of the object is run.
    """
    if not isinstance(node, gast.Attribute):
        return None
    meant = found(node.value)
    if meant is None:
        return _own_attribute(attribute_held(node.value, found), node.attr)
    return _own_attribute(meant.object, node.attr) if meant.kind == "object" else None


def _own_attribute(owner: Any, name: str) -> Any:
    return None if isinstance(owner, type | ModuleType) else getattr(owner, "__dict__", {}).get(name)


def _is_matrix(owner: Any) -> bool:
    return str(getattr(owner, "__module__", "")).startswith("scipy.sparse.") and hasattr(owner, "tocsr")


def _is_bound(name: str, facts: Facts) -> bool:
    """Whether the function gives the name of an argument another meaning."""
    names = (n for n in walk(facts.source.tree) if isinstance(n, gast.Name) and n.id == name)
    return any(isinstance(n.ctx, gast.Store) for n in names)
