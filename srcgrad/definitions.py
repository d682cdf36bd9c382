"""The definitions of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def definitions(tree: ast.Module) -> Iterator[Definition]:
    """The definitions of functions wherever they stand; expressions, which hold none, are not looked at.

    >>> text = "class A:\\n    def f(self):\\n        def g(): pass\\ndef h(): pass"
    >>> [node.name for node in definitions(ast.parse(text))]
    ['h', 'f', 'g']
    """
    todo: list[ast.AST] = list(tree.body)
    for node in todo:  # it grows meanwhile: what stands further in comes later
        if isinstance(node, Definition):
            yield node
        for block in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, block, None)
            todo.extend(inner if isinstance(inner, list) else [])
