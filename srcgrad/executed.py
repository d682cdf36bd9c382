"""A text of a derivative as a function, and the tests that tell when it is out of date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # what a text reads from outside are arbitrary objects

from srcgrad.emit.module import free_names, origin
from srcgrad.front.namespace import LiveNamespace
from srcgrad.front.overlay import Overlay
from srcgrad.load import load
from srcgrad.modules import Module
from srcgrad.numba.boundary import guarded, outside, require_numba
from srcgrad.pipeline import Derived


def executed(text: str, main: Derived, found: dict[str, Any]) -> Callable[..., Any]:
    """The function that a text defines, with the objects from outside that it reads; compiled for the target numba."""
    label = f"{main.name} of {origin(main.facts.source)}"
    origins = main.facts.module.origins
    if main.facts.module.target == "numba":
        require_numba()
        return guarded(load(text, main.name, label, outside(found, [main.tree]), origins=origins))
    return load(text, main.name, label, found, origins=origins)


def _dependencies(facts: Any, tree: Any) -> Callable[[], bool]:
    """A test that tells whether a name outside the function has come to mean something else."""
    namespace, parts = facts.namespace, []
    while isinstance(namespace, Overlay):
        parts += namespace.parts
        namespace = namespace.base
    parts.append((namespace, facts.source))
    checks = [
        namespace.dependencies(free_names(source.tree)).changed
        for namespace, source in parts
        if isinstance(namespace, LiveNamespace)
    ]
    return lambda: any(check() for check in checks)


def changes(module: Module) -> list[Callable[[], bool]]:
    """Tests that tell whether a text is out of date."""
    modules = module.all()
    checks = [_dependencies(made.facts, made.tree) for each in modules for made in each.made.values()]
    return checks + [each.methods_changed for each in modules]
