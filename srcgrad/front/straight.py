"""Functions of a few straight lines, which are written out where they are called."""

from __future__ import annotations

from collections.abc import Callable

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
_TAKES = ("pop", "popitem", "setdefault", "next")  # what they are called on is another list, dict or iterator then
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
    return operations(tree) <= _FEW


def operations(tree: Node) -> int:
    """How many operations a function has."""
    return sum(isinstance(part, _OPERATIONS) for node in tree.body for part in walk(node))


def put_in(given: dict[str, Node], tree: Node, is_function: Callable[[Node], bool]) -> dict[str, Node]:
    """What stands where a straight function reads a parameter: names, numbers, and for one reader what has no call."""
    if not is_straight(tree):
        return {}
    found = {}
    called = [n.func for node in tree.body for n in walk(node) if isinstance(n, gast.Call)]
    takes = any(getattr(one, "attr", getattr(one, "id", "")) in _TAKES for one in called)
    for parameter, value in given.items():
        places = [n for node in tree.body for n in walk(node) if isinstance(n, gast.Name) and n.id == parameter]
        once = not takes and len(places) == 1 and not any(isinstance(n, gast.Call) for n in walk(value))
        displayed = isinstance(value, gast.Tuple | gast.List | gast.Dict | gast.Starred)
        if displayed or is_function(value) or any(isinstance(n.ctx, gast.Store) for n in places):
            continue
        if once or isinstance(value, gast.Name | gast.Constant):
            found[parameter] = value
            for each in places:
                each.id = place(parameter)
    return found


def place(parameter: str) -> str:
    """What stands where an argument will be: no name that a text can have."""
    return f"({parameter})"
