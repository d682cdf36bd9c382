"""Imports in the body of a function: their names mean what is imported from then on."""

from __future__ import annotations

import importlib
from typing import Any  # namespaces of several classes

import gast

from srcgrad.core.bindings import Binding, StaticModule, attribute
from srcgrad.core.facts import Facts
from srcgrad.core.namespace import LiveNamespace, Overlay
from srcgrad.core.trees import Node


def follow_import(node: Node, facts: Facts) -> bool:
    """Whether an import in the body could be followed; its names mean what is imported from then on."""
    found = bound_by(node, facts.namespace)
    if found is not None:
        facts.namespace = Overlay(facts.namespace, found)
    return found is not None


def bound_by(node: Node, namespace: Any) -> dict[str, Binding] | None:
    """What the names of an import mean; None if it cannot be followed."""
    found: dict[str, Binding] = {}
    for alias in node.names:
        if isinstance(node, gast.Import):
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            if alias.name != whole and _module(alias.name, namespace) is None:
                return None
            meant = _module(whole, namespace)
            spelled = alias.asname or whole
        else:
            module = None if node.level or alias.name == "*" else _module(node.module, namespace)
            meant = None if module is None else attribute(module, alias.name)
            spelled = alias.asname or alias.name
        if meant is None or meant.kind == "unknown":
            return None
        found[spelled] = meant
    return found


def _module(dotted: str, namespace: Any) -> Binding | None:
    while isinstance(namespace, Overlay):
        namespace = namespace.base
    if isinstance(namespace, StaticModule):
        return namespace.program.module(dotted)
    if not isinstance(namespace, LiveNamespace):
        return None
    try:
        return Binding("object", importlib.import_module(dotted))
    except ImportError:
        return None
