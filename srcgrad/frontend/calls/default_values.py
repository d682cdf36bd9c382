"""Defaults of a live function: the values that they had when it was defined."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from types import FunctionType
from typing import Any  # defaults are arbitrary objects

import gast

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Facts
from srcgrad.core.namespace import Binding, LiveNamespace, Namespace, Overlay, attribute
from srcgrad.core.source_text import Source, place
from srcgrad.core.trees import Node, at, copy, name, walk
from srcgrad.frontend.calls.functions import Function
from srcgrad.frontend.context import name_in_receiver
from srcgrad.frontend.resolve import trusted_constant
from srcgrad.frontend.source.static_modules import StaticFunction


def with_live_defaults(source: Source, function: FunctionType) -> Source:
    """The source, with `k=K` as `k=2.0` where the module has bound K anew since.

    A default of which neither is known any more raises E5008.
    """
    arguments = source.tree.args
    live = function.__kwdefaults__ or {}
    pairs = [(d, live[a.id]) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if a.id in live]
    if len(function.__defaults__ or ()) == len(arguments.defaults):
        pairs += zip(arguments.defaults, function.__defaults__ or (), strict=True)
    names = LiveNamespace(function)
    changed = {
        id(node): _settle_default(node, value, function) for node, value in pairs if not _is_same(node, value, names)
    }
    if not changed:
        return source
    tree = copy(source.tree)
    tree.args.defaults = [
        changed.get(id(d)) or new for d, new in zip(arguments.defaults, tree.args.defaults, strict=True)
    ]
    kept = zip(arguments.kw_defaults, tree.args.kw_defaults, strict=True)
    tree.args.kw_defaults = [changed.get(id(d)) or new for d, new in kept]
    return dataclasses.replace(source, tree=tree)


def _is_same(node: Node, value: Any, names: LiveNamespace) -> bool:
    """Whether the text of a default still means its value; what is no name, and reads names, is not told."""
    if isinstance(node, gast.Name | gast.Attribute):
        found = _binding_of_dotted_name(node, names)
        return found is not None and found.object is value
    reads = [n for n in walk(node) if isinstance(n, gast.Name)] if node is not None else []
    return not reads or trusted_constant(value) is None


def _binding_of_dotted_name(node: Node, names: LiveNamespace) -> Binding | None:
    """What a name such as `np.pi` means now."""
    if isinstance(node, gast.Name):
        return names.lookup(node.id)
    base = _binding_of_dotted_name(node.value, names) if isinstance(node, gast.Attribute) else None
    return None if base is None else attribute(base, node.attr)


def _settle_default(node: Node, value: Any, function: FunctionType) -> Node:
    made = trusted_constant(value)
    if made is None:
        raise DifferentiationError(
            "E5008",
            f"a default of {function.__qualname__} is no longer what `{gast.unparse(node)}` means",
            "give the argument in the call",
        )
    return at(made, node)


def check_defaults(function: StaticFunction) -> None:
    """Refuse a default that reads a name which its module binds anew further down: the text would read that."""
    arguments = function.node.args
    for node in [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]:
        for one in [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]:
            if any(found.line > function.node.lineno for found in function.module.table.get(one, [])):
                raise DifferentiationError(
                    "E5012",
                    f"a default of {function.qualname} reads `{one}`, which its module binds anew below it",
                    "give the value a name of its own",
                    place(function.module.label, function.module.lines, node),
                )


def default_of(parameter: str, tree: Node, found: Function, facts: Facts) -> Node | None:
    """What a parameter of a function that is written out holds if the call does not say; None if it has no default."""
    arguments = tree.args
    positional = arguments.posonlyargs + arguments.args
    pairs = dict(
        zip([a.id for a in positional][len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    )
    pairs |= dict(zip([a.id for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True))
    written = pairs.get(parameter)
    if written is None or isinstance(written, gast.Constant) or found.tree is not None:
        return copy(written) if isinstance(written, gast.AST) else written
    if not callable(found.called):
        return _of_text(copy(written), facts.module.source(found.called)[1], facts)
    held = facts.names.numbered_name(f"{parameter}_default")
    assert isinstance(facts.namespace, Overlay), "an overlay was put there"
    value = inspect.signature(found.called).parameters[parameter].default
    facts.namespace.extra[held] = Binding("object", value)
    return name(held)


def _of_text(written: Node, namespace: Namespace, facts: Facts) -> Node:
    """A default of a function that is known as text alone: its names mean what they mean in that text."""
    for item in [n for n in walk(written) if isinstance(n, gast.Name)]:
        meant = namespace.lookup(item.id)
        if meant is not None:
            item.id = name_in_receiver(item.id, meant, facts, facts.local, (namespace, item.id))
    return written


def check_undecorated(function: StaticFunction) -> None:
    """Refuse a function of which the text is known, and not what a decorator makes of it."""
    if function.decorators:
        raise DifferentiationError(
            "E5008",
            f"{function.qualname} is wrapped by a decorator, which may change what it does",
            "name a function without one, and let the decorated function call it",
        )
