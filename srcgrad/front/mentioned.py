"""Nested functions that are mentioned where they are not called: their definitions have been taken out."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Node, walk


def mentioned(function: Node, facts: Facts) -> Node:
    """Refuse a nested function as an item or an argument: what it reads, and a derivative through it, would be lost.

    >>> from srcgrad.phases import explain_text
    >>> explain_text("def f(x):\\n    h = [lambda t: t * x]\\n    return h[0](2.0)", after="mentioned")
    Traceback (most recent call last):
    ...
    srcgrad.errors.DifferentiationError: E5005 Python outside the subset: a nested function is used as a value
      at <stdin>:2:10
              h = [lambda t: t * x]
                   ^^^^^^^^^^^^^^^
      what to do: call it by its name, or define it outside of the function
    """
    for node in walk(function) if facts.functions else ():
        for item in _items(node):
            known = facts.functions.get(item.id) if isinstance(item, gast.Name) else None
            if known is not None and isinstance(getattr(known, "tree", None), gast.FunctionDef):
                remedy = "call it by its name, or define it outside of the function"
                raise facts.refuse(item, "E5005", "a nested function is used as a value", remedy)
    return function


def _items(node: Node) -> list[Node]:
    """The items of a display, and the arguments of a call whose result is called."""
    if isinstance(node, gast.List | gast.Tuple):
        return list(node.elts)
    if isinstance(node, gast.Dict):
        return list(node.values)
    made = node.func if isinstance(node, gast.Call) else None
    return list(made.args) if isinstance(made, gast.Call) else []
