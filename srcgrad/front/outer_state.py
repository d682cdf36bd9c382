"""Calls that change what the module holds, behind a place where the text has read it."""

from __future__ import annotations

import types
from typing import Any  # what a module holds is arbitrary

import gast
import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.front.changing import CHANGES
from srcgrad.front.functions import Function, function_of
from srcgrad.front.plain import own_names
from srcgrad.trees import Node, header, inside, root, statements, walk

_STORED = (gast.Subscript, gast.Attribute)
_CALLS = 4  # functions called from one another that are looked into


def check_outside(function: Node, facts: Facts) -> None:
    """Refuse `y = x * c.k; n = bump()`, where `bump` changes `c.k`: the backward half would read the new one."""
    local = frozenset(own_names(function) | facts.local)
    order = statements(function.body)
    read: list[dict[int, None]] = [_read(node, facts, local) for node in order]
    if not any(read):
        return
    loops = [(k, k + len(statements([n]))) for k, n in enumerate(order) if isinstance(n, gast.For | gast.While)]
    for place, node in enumerate(order):
        ends = [end for first, end in loops if first <= place < end]
        known = {one for table in read[: max([place, *ends])] for one in table}
        for call in [n for part in header(node) for n in inside(part, gast.Call)]:
            own = _read(node, facts, local, call)
            if any(one in known or one in own for one in _changed(call, facts, local, _CALLS)):
                raise facts.refuse(
                    call,
                    "E5010",
                    "what is called changes what the module holds, and the function has read that before",
                    "give the value to the function as an argument, or copy it to a name first: `k = float(c.k)`",
                )


def _read(node: Node, facts: Facts, local: frozenset[str], beside: Node | None = None) -> dict[int, None]:
    """The objects of the module that may change, and of which a statement reads something, `beside` a call."""
    found: dict[int, None] = {}
    asked = {id(n) for part in header(node) for call in inside(part, gast.Call) for n in walk(call.func)}
    asked |= set() if beside is None else {id(n) for n in walk(beside)}
    for name in [n for part in header(node) for n in inside(part, gast.Name) if id(n) not in asked]:
        held = _held(name, facts, local)
        if held is not None:
            found[id(held)] = found[id(type(held))] = None
    return found


def _held(name: Node, facts: Facts, local: frozenset[str]) -> Any:
    """The live object that may change which a name of the module means; None for any other name."""
    found = None if name.id in local or not isinstance(name.ctx, gast.Load) else facts.namespace.lookup(name.id)
    if found is None or found.kind != "object":
        return None
    held = found.object
    steady = isinstance(held, types.FunctionType | types.ModuleType | types.BuiltinFunctionType | np.ufunc | np.generic)
    return held if isinstance(held, list | dict | np.ndarray) or (hasattr(held, "__dict__") and not steady) else None


def _changed(call: Node, facts: Facts, local: frozenset[str], depth: int) -> dict[int, None]:
    """The objects of modules that a called function of the user's changes."""
    found = function_of(call.func, facts, local) if depth else None
    if found is None or found.binding is None or not isinstance(found.called, types.FunctionType):
        return {}
    try:
        source, namespace = facts.module.source(found.called)
    except DifferentiationError:
        return {}
    tree, inner = source.tree, Facts(source, namespace, facts.mode, (), module=facts.module)
    inner.local = own = frozenset(own_names(tree))
    given = _given(call, found, tree)
    changed: dict[int, None] = {}
    for place in _places(tree):
        name = root(place)
        if name is None:
            continue
        given_as = given.get(name.id)
        where = (given_as, facts, local) if given_as is not None else (name, inner, own)
        base = root(where[0])
        held = None if base is None else _held(gast.Name(base.id, gast.Load(), None, None), where[1], where[2])
        if held is not None:
            changed[id(held)] = None
    for each in inside(tree, gast.Call):
        changed.update(_changed(each, inner, own, depth - 1))
    return changed


def _given(call: Node, found: Function, tree: Node) -> dict[str, Node]:
    names = [a.id for a in [*tree.args.posonlyargs, *tree.args.args]]
    words = {word.arg: word.value for word in call.keywords if word.arg}
    return {**dict(zip(names, [*found.args, *call.args], strict=False)), **words}


def _places(tree: Node) -> list[Node]:
    """What a function writes: parts of names, and what changes by methods of lists and dicts."""
    stored = [n for node in tree.body for n in inside(node, *_STORED) if not isinstance(n.ctx, gast.Load)]
    calls = [n.value for node in tree.body for n in inside(node, gast.Expr) if isinstance(n.value, gast.Call)]
    return stored + [c.func for c in calls if isinstance(c.func, gast.Attribute) and c.func.attr in CHANGES]
