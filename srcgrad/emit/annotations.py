"""Annotations that a standalone module can keep: those that Python, typing and NumPy suffice for."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import gast

from srcgrad.converted import parsed
from srcgrad.front.namespace import Binding
from srcgrad.trees import Node, walk

HOMES = ("builtins", "collections", "numbers", "numpy", "typing")
PARTS = (gast.Name, gast.Attribute, gast.Subscript, gast.Tuple, gast.List, gast.BinOp, gast.BitOr, gast.Load)


def plain(annotation: Node | None, lookup: Callable[[str], Binding | None]) -> Node | None:
    """The annotation, out of its quotes; None for one that needs more than NumPy where the text runs.

    >>> import numpy as np
    >>> known = {"np": Binding("object", np), "float": Binding("object", float)}
    >>> tree = gast.parse("def f(x: 'np.ndarray | float', y: Model, z: 'no type'): pass").body[0]
    >>> [plain(parameter.annotation, known.get) is not None for parameter in tree.args.args]
    [True, False, False]
    """
    if isinstance(annotation, gast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = parsed(annotation.value.strip(), "eval").body
        except SyntaxError:
            return None
    if annotation is None or not all(_is_part(node, lookup) for node in walk(annotation)):
        return None
    return annotation


def _is_part(node: Node, lookup: Callable[[str], Binding | None]) -> bool:
    if isinstance(node, gast.Constant):
        return node.value is None or node.value is ...
    if not isinstance(node, PARTS):
        return False
    if not isinstance(node, gast.Name):
        return True
    found = lookup(node.id)
    if found is None or found.kind != "object":
        return False
    known = found.object
    home = known.__name__ if isinstance(known, ModuleType) else getattr(known, "__module__", "") or ""
    return str(home).partition(".")[0] in HOMES
