"""Parts of arrays, and arrays that change places."""

from __future__ import annotations

import gast

from srcgrad.trees import Node, name


def on_array(part: Node, array: Node | str) -> Node:
    """The same part of another array: `b.T[1:]` for `a.T[1:]`; indices are shared."""
    if isinstance(part, gast.Name):
        return name(array) if isinstance(array, str) else array
    if isinstance(part, gast.Call):
        return gast.Call(on_array(part.func, array), part.args, part.keywords)
    if isinstance(part, gast.Attribute):
        return gast.Attribute(on_array(part.value, array), part.attr, gast.Load())
    return gast.Subscript(on_array(part.value, array), part.slice, gast.Load())


def is_swap(node: Node) -> bool:
    """Whether a statement exchanges what names hold: `a, b = b, a`."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], gast.Tuple):
        return False
    parts = [*node.targets[0].elts, *getattr(node.value, "elts", [None])]
    if not isinstance(node.value, gast.Tuple) or not all(isinstance(part, gast.Name) for part in parts):
        return False
    bound, read = [p.id for p in node.targets[0].elts], [p.id for p in node.value.elts]
    return sorted(bound) == sorted(read) and len(set(bound)) == len(bound)
