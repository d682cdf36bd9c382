"""Which parts of a text look at the shape of an array alone: its elements need not be there."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Block, Node, children, header, target

_OF_NUMPY = ("zeros_like", "ones_like", "full_like", "empty_like", "shape", "ndim", "size")
_ATTRIBUTES = ("shape", "ndim", "size", "dtype")
HELPERS = {
    "sum_to": 1, "fit_to": 1, "zeros_like": 0, "matmul_left": 1, "dot_left": 1, "matmul_right": 2, "dot_right": 2,
    "diff_transpose": 1, "diag_transpose": 1, "repeat_transpose": 1, "tile_transpose": 1, "scatter": 1,
}  # fmt: skip


def outline(node: Node, facts: Facts) -> Node | None:
    """The part of an attribute or a call that is looked at for its shape, and its dtype, alone."""
    if isinstance(node, gast.Attribute):
        return node.value if node.attr in _ATTRIBUTES else None
    if not isinstance(node, gast.Call):
        return None
    function = node.func
    if isinstance(function, gast.Attribute) and isinstance(function.value, gast.Name):
        return node.args[0] if function.value.id == facts.imports.get("np") and function.attr in _OF_NUMPY else None
    if isinstance(function, gast.Name):
        for helper, place in HELPERS.items():
            if function.id == facts.imports.get(helper) and len(node.args) > place:
                return node.args[place]
    return None


def is_fitted(call: Node, facts: Facts) -> bool:
    """Whether an expression is `sum_to(g, x)` or `fit_to(g, x)`."""
    if not isinstance(call, gast.Call) or len(call.args) != 2 or call.keywords:
        return False
    return getattr(call.func, "id", "") in (facts.imports.get("sum_to"), facts.imports.get("fit_to"))


def indices(node: Node) -> list[Node]:
    """What decides on the shape of a value beside the shapes of what it is made of: a mask that looks it up, a call."""
    if isinstance(node, gast.Name | gast.Constant):
        return []
    if isinstance(node, gast.Attribute):
        return indices(node.value)
    if isinstance(node, gast.Subscript):
        return [*indices(node.value), node.slice]
    if isinstance(node, gast.BinOp):
        return [*indices(node.left), *indices(node.right)]
    if isinstance(node, gast.UnaryOp):
        return indices(node.operand)
    return [node]


def elements(node: Node, facts: Facts) -> list[Node]:
    """The names that an expression reads for their elements, not for their shape alone."""
    if isinstance(node, gast.Name):
        return [] if isinstance(node.ctx, gast.Store) else [node]
    shaped = outline(node, facts)
    parts = [part for part in children(node) if part is not shaped]
    return [
        name for part in (*parts, *(indices(shaped) if shaped is not None else ())) for name in elements(part, facts)
    ]


def wanted(nodes: Block, facts: Facts) -> set[str]:
    """The names of which something reads elements that are wanted themselves: not those that give a shape alone."""
    found = {
        read.id for node in nodes if target(node) for part in indices(node.value) for read in elements(part, facts)
    }
    todo = nodes
    while now := {node: None for node in todo if matters(node, found)}:
        found.update(read.id for node in now for part in header(node) for read in elements(part, facts))
        todo = [node for node in todo if node not in now]
    return found


def matters(node: Node, needed: set[str]) -> bool:
    """Whether a statement does more than to bind a name that is not wanted."""
    return target(node) is None or target(node) in needed
