"""What the text of a function depends on outside of itself: names, attributes of modules, what its imports give."""

from __future__ import annotations

import sys
from types import ModuleType

import gast

from srcgrad.backend.text.module import free_names
from srcgrad.core.namespace import Dependencies, Entry, entry
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
            home = sys.modules.get(node.module)
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
    values, imports = made.facts.library_values, made.facts.imports
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
