"""What a derivative needs to be made again in another process: the function by its name, texts that are in no file."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
from types import FunctionType
from typing import Any  # functions are arbitrary objects

from srcgrad.core.marks import is_code
from srcgrad.core.source_text import carry, lines_for


def as_named(function: Any) -> Any:
    """The object that stands under the name of a function, if it is one that decoration made of it."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found if getattr(found, "__srcgrad_primal__", None) is function else function


def lines_of(function: Any) -> dict[str, list[str]]:
    """The texts that a pickle takes along: of functions that it holds as code, or whose text is in no file.

    These are the function, those that it reads by name, and the methods of classes that it reads by name.

    >>> import linecache
    >>> linecache.cache["<cell 1>"] = (0, None, ["def f(x): return x * x\\n"], "<cell 1>")
    >>> names = {}
    >>> exec(compile("def f(x): return x * x\\n", "<cell 1>", "exec"), names)
    >>> lines_of(names["f"])
    {'<cell 1>': ['def f(x): return x * x\\n']}
    """
    found: dict[str, list[str]] = {}
    todo: list[Any] = [function]
    seen: dict[int, Any] = {}
    while todo:
        one = todo.pop()
        one = getattr(one, "__func__", getattr(one, "__srcgrad_primal__", one))
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, functools.partial | property):
            todo.append(one.func if isinstance(one, functools.partial) else one.fget)
        elif isinstance(one, type) and is_code(one):
            todo += vars(one).values()
        elif isinstance(one, FunctionType):
            name = one.__code__.co_filename
            if name not in found and (is_code(one) or not os.path.exists(name)):
                found.update(lines_for(one))
            todo += [one.__globals__.get(read) for read in one.__code__.co_names]
            todo += inspect.getclosurevars(one).nonlocals.values()
    return dict(sorted(found.items()))


def rebuild_object(cls: Any, given: tuple[Any, ...], options: dict[str, Any], texts: dict[str, list[str]]) -> Any:
    """An object made anew from what its pickle holds; the process gets to know texts that it does not have."""
    for name, lines in texts.items():
        carry(name, lines)
        if not linecache.getlines(name):
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    return cls(*given, **options)
