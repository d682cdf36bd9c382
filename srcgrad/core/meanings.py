"""What a name or a call of the text means: the object that it is bound to, never how it is spelled."""

from __future__ import annotations

from collections.abc import Container
from typing import Any  # a name may mean any object

import gast

from srcgrad.core.bindings import Binding, attribute
from srcgrad.core.facts import Facts
from srcgrad.core.trees import Node


def meant(node: Node, facts: Facts, known: Container[str] = ()) -> Any:
    """The object that a name such as `np.sum` or `sum_to` of the text means; None for any other expression.

    Names of the function, and those in `known`, hold values of its own.
    """
    found = _binding(node, facts, known)
    return None if found is None else found.object


def function_called(call: Node, facts: Facts) -> Any:
    """The function that a call calls, of a library or of ours; None for methods of values, and for what is no call."""
    return meant(call.func, facts) if isinstance(call, gast.Call) else None


def _binding(node: Node, facts: Facts, known: Container[str]) -> Binding | None:
    if isinstance(node, gast.Name):
        for identifier, spelled in facts.imports.items():
            if spelled == node.id:
                return Binding("object", facts.library_values[identifier])
        if node.id in facts.local or node.id in known:
            return None
        return facts.namespace.lookup(facts.globals_as.get(node.id, node.id))
    if isinstance(node, gast.Attribute):
        base = _binding(node.value, facts, known)
        return None if base is None else attribute(base, node.attr)
    return None
