"""Short functions have no derivative of their own: their lines stand where they are called, and are undone there.

A derivative of its own costs a definition, a pullback, a name for it in each call, and what the call does not see:
which shapes are equal, which products are there already. So a function that is called once is written out, and one
that is called again if there is little in it. What carries no derivative stays a call, and so does
a derivative that a function calls: the text around it stays the user's.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any  # functions are arbitrary objects

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Operation
from srcgrad.front.namespace import Binding, Namespace, attribute
from srcgrad.front.plain import own_names
from srcgrad.front.static import StaticFunction
from srcgrad.front.straight import is_straight, operations
from srcgrad.front.varied import reads_varied
from srcgrad.front.written_out import Site
from srcgrad.rules import rule_of
from srcgrad.trees import Node, walk

_AGAIN = 8  # operations that may be written again: about what a definition and its calls take
_MOST = 64  # ... by all calls inside of a function together: helpers that each call two others double with each level


def is_short(call: Node, called: str, operation: Operation, site: Site) -> bool:
    """Whether a call is written out since the function is short: for kernels, and where the text gets no longer."""
    facts = site.facts
    if operation.checkpointed:
        return False
    if facts.module.target == "opencl":
        return site.is_of(operation.function, is_straight) and repeated(operation.function, facts.module) <= _MOST
    if facts.mode in ("primal", "trace"):
        return False
    given = [*call.args, *(word.value for word in call.keywords)]
    varied = None if site.varied is None else dict.fromkeys(site.varied)
    flows = varied is None or any(reads_varied(one, varied, facts, site.local) for one in given)
    brief = site.is_of(operation.function, lambda tree: is_brief(tree, called, facts.source.tree), generated=False)
    return flows and brief and repeated(operation.function, facts.module) <= _MOST


def repeated(function: Any, module: Any) -> int:
    """How many operations stand again where a function is written out with all straight functions that it calls."""
    sizes: dict[int, tuple[int, int]] = {}
    whole = _size(function, module, sizes)
    return whole - sum(own for own, _ in sizes.values())


def _size(function: Any, module: Any, sizes: dict[int, tuple[int, int]]) -> int:
    """How many operations a function written out has; `sizes` keeps its own and all, by its tree."""
    try:
        source, namespace = module.source(function)
    except DifferentiationError:
        return 0
    key = id(source.tree)
    if key not in sizes and not is_straight(source.tree):
        return 0
    if key not in sizes:
        own = operations(source.tree)
        sizes[key] = own, own  # a recursive call is not written out
        called = _called(source.tree, namespace)
        sizes[key] = own, own + sum(_size(one, module, sizes) for one in called)
    return sizes[key][1]


def _called(tree: Node, namespace: Namespace) -> list[Any]:
    """The functions of the user's that a straight function calls, one for each call."""
    local = own_names(tree)
    calls = [part.func for node in tree.body for part in walk(node) if isinstance(part, gast.Call)]
    found = [_meaning(one, namespace) for one in calls if not (isinstance(one, gast.Name) and one.id in local)]
    known = [one.object for one in found if one is not None and one.object is not None]
    return [one for one in known if rule_of(one) is None and isinstance(one, FunctionType | StaticFunction)]


def _meaning(node: Node, namespace: Namespace) -> Binding | None:
    """What a dotted name means."""
    if isinstance(node, gast.Name):
        return namespace.lookup(node.id)
    base = _meaning(node.value, namespace) if isinstance(node, gast.Attribute) else None
    return None if base is None else attribute(base, node.attr)


def is_brief(tree: Node, called: str, caller: Node) -> bool:
    """Whether a straight function is called once, or has few operations that would be written again."""
    calls = [part.func for node in caller.body for part in walk(node) if isinstance(part, gast.Call)]
    times = sum(called in (getattr(one, "id", ""), getattr(one, "attr", "")) for one in calls)
    return is_straight(tree) and (times - 1) * operations(tree) <= _AGAIN
