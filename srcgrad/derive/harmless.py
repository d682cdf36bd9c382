"""Functions with rules, and the rules, must leave alone what they are given: it is the caller's."""

from __future__ import annotations

from typing import Any  # rules are arbitrary functions

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts, Operation
from srcgrad.sealed import is_opaque
from srcgrad.trees import Node, root, statements, stores, walk

_IN_PLACE = ("sort", "fill", "partition", "resize", "put", "itemset")


def check_harmless(operation: Operation, facts: Facts) -> None:
    """E5010 where the text of a function with a rule, or of the rule, writes into what it gets."""
    own = operation.rule.own if operation.rule is not None else None
    if own is None:
        return
    halves: Any = own.applied
    called = [operation.function] if halves is None else [halves.forward, halves.backward]
    rules = [own.vjp, own.jvp, *own.sensitivities.values(), *own.shared.values()]
    for function, first in [*((one, 0) for one in called), *((one, 0) for one in rules), *_adding(own)]:
        found = None if function is None or is_opaque(function) else _written(function, first, facts)
        if found is not None:
            source, node, name = found
            raise DifferentiationError(
                "E5010",
                f"`{source.name}` writes into `{name}`, which it was given",
                "make a copy under another name, and write into that",
                source.place(node),
            )


def _adding(own: Any) -> list[tuple[Any, int]]:
    return [(one, 1) for one in own.accumulators.values()]  # the first parameter is there to be added to


def _written(function: Any, first: int, facts: Facts) -> tuple[Any, Node, str] | None:
    """The first statement that writes into a parameter, or into a part of one; parameters before `first` may change."""
    try:
        source, _ = facts.module.source(function)
    except DifferentiationError:
        return None  # no source
    tree = source.tree
    arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    given = {a.id for a in arguments[first:]}
    todo = True
    while todo:
        handed = {s for node in statements(tree.body) if _hands(node, given) for s in stores(node)}
        todo = not handed <= given
        given |= handed
    for node in statements(tree.body):
        for name in _changes(node):
            if name in given:
                return source, node, name
    return None


def _hands(node: Node, given: set[str]) -> bool:
    """Whether an assignment gives a parameter, or a part of one, another name: `x, y = primals`."""
    value = node.value if isinstance(node, gast.Assign) else None
    if isinstance(value, gast.Attribute) and value.attr in ("shape", "dtype", "size", "ndim"):
        return False
    held = root(value) if isinstance(value, gast.Name | gast.Subscript | gast.Attribute) else None
    return held is not None and held.id in given


def _changes(node: Node) -> list[str]:
    """Names into whose arrays a statement writes."""
    found = []
    if isinstance(node, gast.AugAssign):
        held = root(node.target)
        found += [] if held is None else [held.id]
    elif isinstance(node, gast.Assign):
        parts = [part for part in node.targets if isinstance(part, gast.Subscript)]
        found += [held.id for part in parts if (held := root(part)) is not None]
    for call in [n for n in walk(node) if isinstance(n, gast.Call)] if isinstance(node, gast.Expr) else []:
        if isinstance(call.func, gast.Attribute) and call.func.attr in _IN_PLACE:
            held = root(call.func.value)
            found += [] if held is None else [held.id]
    return found
