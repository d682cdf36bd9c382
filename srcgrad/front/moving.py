"""Calls after which a call gives something else: draws of a generator, `next(items)`, counters that the user keeps.

A statement with such a call stays in a text though nothing reads what it binds: later draws would be others.
"""

from __future__ import annotations

import inspect
import types
from typing import Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.owners import NOTHING, is_instance, live
from srcgrad.front.plain import own_names
from srcgrad.front.resolve import binding_of
from srcgrad.rules import rule_of
from srcgrad.sealed import is_opaque
from srcgrad.trees import Block, Node, header, inside, root, statements, target, walk

_CHANGING = {"append", "extend", "insert", "pop", "sort", "reverse", "clear", "remove", "update"}  # followed by name
_READING = {name for kind in (np.ndarray, str, tuple, range, float) for name in dir(kind)}
_READING |= {"keys", "values", "items", "get", "copy"}
_NEW = gast.List | gast.Dict | gast.Set | gast.ListComp | gast.DictComp | gast.SetComp


def mark_moving(block: Block, facts: Facts, local: frozenset[str]) -> None:
    """Note the statements that hold such calls."""
    for node in statements(block):
        if any(moves(item, facts, local) for part in header(node) for item in inside(part, gast.Call)):
            facts.moving[node] = None


def moves(call: Node, facts: Facts, local: frozenset[str], met: dict[int, None] | None = None) -> bool:
    """Whether an expression is such a call: a method of an object of which nothing is known is one."""
    if not isinstance(call, gast.Call):
        return False
    found = binding_of(call.func, facts, local)
    if found is None:
        if isinstance(call.func, gast.Attribute):
            own = _own_method(call.func, facts, local)
            return _is_method(call.func, facts) if own is None else _within(own, facts, met)
        return not facts.generated and getattr(call.func, "id", "") not in facts.functions  # of which nothing is known
    if found.kind in ("value", "unknown"):
        return True
    called = found.static or getattr(found.object, "__srcgrad_primal__", found.object)
    called = called.__func__ if isinstance(called, types.MethodType) else called
    if found.static is None and not isinstance(called, types.FunctionType):
        owner = getattr(called, "__self__", None)
        _, of, method = str(getattr(called, "__qualname__", "")).rpartition(".")  # `RandomState.normal`, of its class
        bound = owner is not None and not isinstance(owner, types.ModuleType | type | np.ufunc)
        return called is next or bound or (bool(of) and method not in _READING and rule_of(called) is None)
    return rule_of(called) is None and not is_opaque(called) and _within(called, facts, met)


def _own_method(function: Node, facts: Facts, local: frozenset[str]) -> types.FunctionType | None:
    """The function that a method of an object of the module is, whatever it is called."""
    held = live(function.value, facts.namespace, local, None)
    if held is NOTHING or not is_instance(held):
        return None
    found = inspect.getattr_static(held, function.attr, None)
    found = found.__func__ if isinstance(found, staticmethod | classmethod) else found
    return found if isinstance(found, types.FunctionType) else None


def _is_method(function: Node, facts: Facts) -> bool:
    """Whether a method may change its object, which is not one whose changes are followed by its name."""
    held = facts.of.get(function.value) or facts.named.get(getattr(function.value, "id", ""), UNKNOWN)
    if function.attr in _READING and held.tag not in ("object", "made"):
        return False
    followed = facts.generated or facts.list_kind(getattr(function.value, "id", ""))
    return not (followed and function.attr in _CHANGING)


def _within(function: Any, facts: Facts, met: dict[int, None] | None) -> bool:
    """Whether a function with a source makes such a call, or changes what is not its own.

    `met` are the functions on the way from the first one that was asked for. If that makes no such call, none does.
    """
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return False  # refused where a derivative flows through it
    key = id(source.tree)
    known: dict[int, bool] = facts.module.moving
    first, met = met is None, {} if met is None else met
    if key in met or key in known:
        return known.get(key, False)
    met[key] = None
    inner = Facts(source, namespace, facts.mode, (), module=facts.module)
    bound = own_names(source.tree)
    inner.lists = dict.fromkeys(_made_here(source.tree), "list")
    nodes = [node for each in source.tree.body for node in walk(each)]
    found = any(_outside(node, source.tree, bound) or moves(node, inner, bound, met) for node in nodes)
    if found:
        known[key] = True
    elif first:
        known.update(dict.fromkeys(met, False))
    return found


def _made_here(function: Node) -> list[str]:
    """Names that hold nothing but lists and dicts which the function makes."""
    made: dict[str, bool] = {}
    for node in statements(function.body):
        bound = target(node)
        if bound is not None:
            made[bound] = made.get(bound, True) and isinstance(node.value, _NEW)
    return [name for name, new in made.items() if new]


def _outside(node: Node, function: Node, bound: frozenset[str]) -> bool:
    """Whether a part of a function stores into what it has not made: a global, a field of an argument."""
    if isinstance(node, gast.Global | gast.Nonlocal):
        return True
    if not isinstance(node, gast.Attribute | gast.Subscript) or not isinstance(node.ctx, gast.Store):
        return False
    base = root(node)
    given = {a.id for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs}
    return base is None or base.id not in bound or (isinstance(node, gast.Attribute) and base.id in given)
