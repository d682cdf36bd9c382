"""Which decorators leave a function as it is, decided from their text."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any  # decorators are arbitrary objects

from srcgrad.front.namespace import Binding, attribute
from srcgrad.front.parse import FunctionNode

Lookup = Callable[[str], Binding | None]

HARMLESS: tuple[Any, ...] = (staticmethod, classmethod, functools.lru_cache, functools.cache)


def doubtful(node: FunctionNode, lookup: Lookup) -> tuple[str, ...]:
    """The decorators of a function that may replace it by another, as they are written."""
    if isinstance(node, ast.Lambda):
        return ()
    written = node.decorator_list
    return tuple(ast.unparse(item) for item in written if not _is_harmless(item, lookup))


def meant_by(decorator: ast.expr, lookup: Lookup) -> object:
    """The object that a decorator is, where it is known; None otherwise."""
    found = _resolve(decorator, lookup)
    return None if found is None else found.object


def _is_harmless(decorator: ast.expr, lookup: Lookup) -> bool:
    called = isinstance(decorator, ast.Call)
    found = _resolve(decorator.func if isinstance(decorator, ast.Call) else decorator, lookup)
    if found is None:
        return False
    if found.static is not None:
        node = found.static.node
        if found.static.module.name.partition(".")[0] == "numba" and found.static.qualname in ("jit", "njit"):
            return True
        return _returns_decorator(node) if called else _returns_argument(node)
    module = getattr(found.object, "__module__", None) or ""
    return found.object in HARMLESS or module.partition(".")[0] == "srcgrad"


def _resolve(node: ast.expr, lookup: Lookup) -> Binding | None:
    if isinstance(node, ast.Name):
        return lookup(node.id)
    if isinstance(node, ast.Attribute):
        base = _resolve(node.value, lookup)
        return None if base is None else attribute(base, node.attr)
    return None


def _returns_argument(node: FunctionNode) -> bool:
    """Whether a decorator gives back the function that it was given.

    >>> _returns_argument(ast.parse("def mark(f):\\n    marked[f] = True\\n    return f").body[0])
    True
    """
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 1:
        return False
    parameter = node.args.args[0].arg
    returned = _returned(node)
    names = [item for item in ast.walk(node) if isinstance(item, ast.Name) and item.id == parameter]
    rebound = any(not isinstance(item.ctx, ast.Load) for item in names)
    same = [isinstance(item, ast.Name) and item.id == parameter for item in returned]
    return bool(same) and all(same) and not rebound


def _returns_decorator(node: FunctionNode) -> bool:
    """Whether a function with arguments gives back a decorator that is harmless."""
    if not isinstance(node, ast.FunctionDef):
        return False
    inner = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    returned = [item.id if isinstance(item, ast.Name) else "" for item in _returned(node)]
    return bool(returned) and all(name in inner and _returns_argument(inner[name]) for name in returned)


def _returned(node: ast.FunctionDef) -> list[ast.expr | None]:
    """What the function itself returns, functions within it apart."""
    found: list[ast.expr | None] = []
    todo: list[ast.AST] = list(node.body)
    while todo:
        item = todo.pop()
        if isinstance(item, ast.Return):
            found.append(item.value)
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(item))
    return found
