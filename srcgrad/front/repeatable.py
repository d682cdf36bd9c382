"""What is computed again must come out the same: no random numbers, no clock, in a checkpointed function or loop."""

from __future__ import annotations

import random
import types
from typing import Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.front.plain import own_names
from srcgrad.front.resolve import binding_of
from srcgrad.front.step import Step
from srcgrad.rules import rule_of
from srcgrad.sealed import is_opaque
from srcgrad.trees import Node, statements, target, walk

SOURCES = (np.random.Generator, np.random.RandomState, random.Random)
DRAWS = {name for source in SOURCES for name in dir(source) if name[0] != "_"} - set(dir(np.ndarray)) - set(dir(dict))
MODULES = ("numpy.random", "random", "secrets", "uuid", "time")


def check_repeatable(function: Any, call: Node, facts: Facts) -> None:
    """Refuse a call that would not give the same when it is made again; E5025 at the call, or in the loop's body."""
    found = _draw(function, facts, set())
    if found is None:
        return
    where = found if isinstance(function, Step) else call
    raise facts.refuse(
        where,
        "E5025",
        f"`{gast.unparse(found)}` gives something else when it is computed again",
        "draw random numbers before, and pass them: `noise = rng.normal(size=(n, k))`",
    )


def _draw(function: Any, facts: Facts, seen: set[int]) -> Node | None:
    """The first call in a function, or in one that it calls, of a source of random numbers or of the clock."""
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return None  # refused where a derivative flows through it
    if id(source.tree) in seen:
        return None
    seen.add(id(source.tree))
    inner = Facts(source, namespace, facts.mode, (), module=facts.module)
    local = own_names(source.tree)
    seeded = {target(n) for n in statements(source.tree.body) if _has_seed(getattr(n, "value", None))}
    for node in [n for s in source.tree.body for n in walk(s) if isinstance(n, gast.Call)]:
        if _is_draw(node, inner, local, seeded):
            return node
        found = binding_of(node.func, inner, local)
        called = None if found is None else found.static or found.object
        primal = getattr(called, "__srcgrad_primal__", called)
        known = found is not None and (found.static is not None or isinstance(primal, types.FunctionType))
        if known and rule_of(primal) is None and not is_opaque(primal) and _draw(primal, facts, seen) is not None:
            return node
    return None


def _is_draw(node: Node, facts: Facts, local: frozenset[str], seeded: set[str | None]) -> bool:
    found = binding_of(node.func, facts, local)
    if found is not None:
        module = str(getattr(found.object, "__module__", None) or "")
        drawn = isinstance(getattr(found.object, "__self__", None), SOURCES) or module.startswith(MODULES)
        return drawn and not (isinstance(found.object, type | types.BuiltinFunctionType) and _has_seed(node))
    if not isinstance(node.func, gast.Attribute):
        return False
    base = binding_of(node.func.value, facts, local)
    if base is not None:
        return isinstance(base.object, SOURCES)
    held = node.func.value.id if isinstance(node.func.value, gast.Name) else ""
    return node.func.attr in DRAWS and held not in seeded


def _has_seed(call: Node | None) -> bool:
    """`default_rng(7)`: what it gives depends on its argument alone."""
    if not isinstance(call, gast.Call):
        return False
    name = call.func.attr if isinstance(call.func, gast.Attribute) else getattr(call.func, "id", "")
    return name in ("default_rng", "RandomState", "Random") and bool(call.args or call.keywords)
