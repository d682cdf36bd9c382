"""Decorators and wrappers that leave a function as it is, decided from their text.

Which decorators leave a function as it is, decided from their text.

Wrappers around functions, `@functools.wraps(f)`: which of them change nothing, decided from their text.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any  # decorators are arbitrary objects

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.namespace import Binding, attribute
from srcgrad.core.source_text import FunctionNode, text_of

Lookup = Callable[[str], Binding | None]

HARMLESS: tuple[Any, ...] = (staticmethod, classmethod, functools.lru_cache, functools.cache)


def doubtful_decorators(node: FunctionNode, lookup: Lookup) -> tuple[str, ...]:
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
    returned = _returned_values(node)
    names = [item for item in ast.walk(node) if isinstance(item, ast.Name) and item.id == parameter]
    rebound = any(not isinstance(item.ctx, ast.Load) for item in names)
    same = [isinstance(item, ast.Name) and item.id == parameter for item in returned]
    return bool(same) and all(same) and not rebound


def _returns_decorator(node: FunctionNode) -> bool:
    """Whether a function with arguments gives back a decorator that is harmless."""
    if not isinstance(node, ast.FunctionDef):
        return False
    inner = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    returned = [item.id if isinstance(item, ast.Name) else "" for item in _returned_values(node)]
    return bool(returned) and all(name in inner and _returns_argument(inner[name]) for name in returned)


def _returned_values(node: ast.FunctionDef) -> list[ast.expr | None]:
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


_TAKES_ANYTHING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_SAYS = ("print", "len", "repr", "str")
_REPORTS = ("debug", "info", "warning", "error", "log")  # methods of loggers; a function of such a name is the user's
_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Nonlocal, ast.Global, ast.With, ast.Try, ast.If,
    ast.Import, ast.ImportFrom, ast.Pass,
)  # fmt: skip


def passed_on(function: Any) -> Any:
    """The function that a wrapper calls, if it gives it its arguments and hands on its result; else the wrapper.

    What the wrapper does beside that (timing, counting, printing) is no part of a derivative.
    """
    for _ in range(100):
        inner = vars(function).get("__wrapped__") if isinstance(function, FunctionType) else None
        if not isinstance(inner, FunctionType):
            return function
        held = [
            name
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if _content(cell) is inner
        ]
        try:
            node = text_of(function)
        except DifferentiationError:
            return function
        if len(held) != 1 or not hands_on(node, held[0]):
            return function
        function = inner
    return function


def is_of_library(function: Any) -> bool:
    """Whether a function of NumPy or SciPy has no text of its own, only that of a wrapper that takes anything.

    >>> import numpy as np
    >>> is_of_library(np.linalg.norm), is_of_library(passed_on)
    (False, False)
    """
    if str(getattr(function, "__module__", "")).partition(".")[0] not in ("numpy", "scipy"):
        return False
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & _TAKES_ANYTHING)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def hands_on(node: FunctionNode, called: str) -> bool:
    """Whether a wrapper calls a function once, with its own arguments, and returns what that returns.

    >>> text = "def wrapper(*args, **words):\\n    r = f(*args, **words)\\n    print(r)\\n    return r"
    >>> swaps = [("print", "log.info"), ("print", "log"), ("return r", "return 2 * r")]
    >>> [hands_on(ast.parse(one).body[0], "f") for one in (text, *(text.replace(*swap) for swap in swaps))]
    [True, True, False, False]
    """
    given, spread = node.args, node.args.vararg
    if not isinstance(node, ast.FunctionDef) or spread is None:
        return False
    if given.posonlyargs or given.args or given.kwonlyargs:
        return False
    words = given.kwarg.arg if given.kwarg is not None else ""
    inside = [item for one in node.body for item in ast.walk(one)]
    calls = [item for item in inside if isinstance(item, ast.Call) and getattr(item.func, "id", "") == called]
    if len(calls) != 1 or not _is_whole(calls[0], spread.arg, words):
        return False
    if any(isinstance(item, ast.stmt) and not isinstance(item, _STATEMENTS) for item in inside):
        return False
    if any(isinstance(item, ast.Try) and item.handlers for item in inside):
        return False
    bound = _bound_to(calls[0], node.body)
    results = [item.value for item in inside if isinstance(item, ast.Return)]
    named = bool(bound) and all(isinstance(value, ast.Name) and value.id == bound for value in results)
    if len(results) != 1 or not (named or results[0] is calls[0]):
        return False
    if not _always(results[0], node.body):
        return False
    kept = {spread.arg, words, bound, called}
    stored = [item.id for item in inside if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)]
    fine = {id(item) for item in ast.walk(calls[0])} | {id(results[0])}
    fine |= {id(part) for item in inside if _reports(item) for part in ast.walk(item)}
    read = [item for item in inside if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)]
    touched = [item for item in read if item.id in kept and id(item) not in fine]
    return not touched and sorted(one for one in stored if one in kept) == ([bound] if bound else [])


def _is_whole(call: ast.Call, args: str, words: str) -> bool:
    """`f(*args, **words)`"""
    first = call.args[0] if len(call.args) == 1 else None
    positional = isinstance(first, ast.Starred) and getattr(first.value, "id", "") == args
    named = [(word.arg, getattr(word.value, "id", "")) for word in call.keywords]
    return positional and named == ([(None, words)] if words else [])


def _bound_to(call: ast.Call, body: list[ast.stmt]) -> str:
    """The name that the result of the call gets, in a statement that runs in any case."""
    for item in _in_any_case(body):
        if isinstance(item, ast.Assign) and item.value is call and len(item.targets) == 1:
            return getattr(item.targets[0], "id", "")
    return ""


def _always(value: ast.expr | None, body: list[ast.stmt]) -> bool:
    return any(isinstance(item, ast.Return) and item.value is value for item in _in_any_case(body))


def _in_any_case(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that no branch holds; those of a `with` and of a `try ... finally` among them."""
    found: list[ast.stmt] = []
    for item in body:
        found.append(item)
        if isinstance(item, ast.With | ast.Try):
            found += _in_any_case(item.body)
    return found


def _reports(item: ast.AST) -> bool:
    """Whether an expression only says something about what it reads."""
    function = item.func if isinstance(item, ast.Call) else None
    return getattr(function, "id", "") in _SAYS or getattr(function, "attr", "") in _REPORTS
