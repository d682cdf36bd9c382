"""What a derivative depends on outside of itself, and what it needs to be made again in another process.

What the text of a function depends on outside of itself: names, attributes of modules, what its imports give.

What a derivative needs to be made again in another process: the function by its name, texts that are in no file.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
from types import FunctionType, ModuleType
from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.backend.text.module import free_names
from srcgrad.core.marks import is_code
from srcgrad.core.namespace import Dependencies, Entry, entry
from srcgrad.core.source_text import carry, lines_for
from srcgrad.core.trees import Node, children, walk
from srcgrad.pipeline import DerivedText


def chains(definition: Node) -> list[str]:
    """Names that a definition reads and does not bind, each with the attributes that are asked of it.

    >>> from srcgrad.core.trees import parse_tree
    >>> chains(parse_tree("def f(x):\\n    return helper.inner.h(x) * k + x.size").body[0])
    ['helper', 'k', 'helper.inner.h']
    """
    free = free_names(definition)
    found: dict[str, None] = dict.fromkeys(free)
    todo = [definition]
    for node in todo:
        parts: list[str] = []
        base = node
        while isinstance(base, gast.Attribute):
            parts.insert(0, base.attr)
            base = base.value
        if parts and isinstance(base, gast.Name) and base.id in free:
            found[".".join([base.id, *parts])] = None
        elif not parts or not isinstance(base, gast.Name):
            todo += children(node)
    return list(found)


def imports(definition: Node) -> Dependencies:
    """What imports in the body of a function give now: that of a module, and what is asked of it there."""
    entries: list[Entry] = []
    modules: dict[str, str] = {}
    for node in walk(definition):
        if isinstance(node, gast.ImportFrom) and not node.level:
            home = sys.modules.get(node.module or "")
            entries += [entry(vars(home), alias.name) for alias in node.names] if home is not None else []
        elif isinstance(node, gast.Import):
            modules.update({alias.asname or alias.name: alias.name for alias in node.names})
    for node in walk(definition) if modules else ():
        home = sys.modules.get(modules.get(gast.unparse(node.value), "")) if isinstance(node, gast.Attribute) else None
        if home is not None:
            entries.append(entry(vars(home), node.attr))
    return Dependencies((), tuple(entries), ())


def of_rules(made: DerivedText) -> Dependencies:
    """What lines of rules mean in the modules that they read, `np.sinh` say: a user may replace it."""
    values, imports = made.facts.names.library_values, made.facts.names.imports
    modules = {imports[one]: value for one, value in values.items() if isinstance(value, ModuleType)}
    entries: list[Entry] = []
    for node in walk(made.tree) if modules else ():
        parts: list[str] = []
        while isinstance(node, gast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        home = modules.get(node.id) if parts and isinstance(node, gast.Name) else None
        for part in parts if home is not None else ():
            entries.append(entry(vars(home), part))
            home = getattr(home, part, None)
            if not isinstance(home, ModuleType):
                break
    return Dependencies((), tuple(entries), ())


def as_named(function: object) -> object:
    """The object that stands under the name of a function, if it is one that decoration made of it."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found if getattr(found, "__srcgrad_primal__", None) is function else function


def lines_of(function: object) -> dict[str, list[str]]:
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


def rebuild_object(cls: Any, given: tuple[object, ...], options: dict[str, Any], texts: dict[str, list[str]]) -> Any:
    """An object made anew from what its pickle holds; the process gets to know texts that it does not have."""
    for name, lines in texts.items():
        carry(name, lines)
        if not linecache.getlines(name):
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    return cls(*given, **options)
