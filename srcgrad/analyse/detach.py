"""Copies where an array changes while something else keeps what it showed: a name, the pullback of a function."""

from __future__ import annotations

from typing import Any  # a part of a statement, or nothing

import gast
import numpy as np

from srcgrad.analyse.views import Views, shared, written_after
from srcgrad.facts import Facts, Operation
from srcgrad.flow import Graph
from srcgrad.front.step import Step
from srcgrad.parts import is_swap
from srcgrad.rules import rule_of
from srcgrad.trees import Block, Node, assign, at, expression, name, target, written


def give_copies(block: Block, flow: Graph, views: Views, facts: Facts) -> None:
    """A function that is called with an array that changes later gets a copy, which its pullback may keep.

    So does the forward half of a class of two halves, which may keep its arguments; and so do a list, a tuple and a
    dict of our own text, which undoes what was written into an array that they hold.
    """
    for position in range(len(block) - 1, -1, -1):
        node = block[position]
        for field in ("body", "orelse"):
            if getattr(node, field, None):
                give_copies(getattr(node, field), flow, views, facts)
        context = facts.fills.get(getattr(node, "value", None))
        for place in _places(node, context, facts):
            for number, item in enumerate(place):
                read = item.value if isinstance(item, gast.keyword) else item
                if not isinstance(read, gast.Name) or read.id == context:
                    continue
                bases = {read.id: None} if read.id in facts.mutable else views.get(read.id, {})
                if not bases or not written_after(flow, node, bases, facts):
                    continue
                held, made = _copy_of(read, node, facts)
                block.insert(position, made)
                if isinstance(item, gast.keyword):
                    item.value = held
                else:
                    place[number] = held


def _places(node: Node, context: str | None, facts: Facts) -> list[list[Node]]:
    """Where a statement gives something to what may keep it: to a call; in our own text also to a list, tuple, dict."""
    value: Any = getattr(node, "value", None)
    operation = facts.operation.get(value)
    if isinstance(node, gast.Assign) and operation is not None:
        if (operation.kind == "op" and context is None) or isinstance(operation.function, Step):
            return []  # the adjoint of a step is given the array, once that is what it was
        return [value.args, *([w] for w in value.keywords)]
    if not facts.generated:
        return []
    if isinstance(node, gast.Expr) and any(facts.list_kind(held) for held in written(node)):
        return [value.args]
    if isinstance(node, gast.Assign) and not is_swap(node) and isinstance(value, gast.Tuple | gast.List | gast.Dict):
        return [value.values if isinstance(value, gast.Dict) else value.elts]
    return []


def _copy_of(read: Node, node: Node, facts: Facts) -> tuple[Node, Node]:
    """A temporary that holds a copy of what a name holds now, and the statement that makes it."""
    of_any = f"{facts.library('np')}.copy(x)" if _may_be_number(read.id, facts) else ""
    made = _named(_copied(read, facts, of_any or "x.copy()"), read.id, node, facts)
    held = name(str(target(made)))
    if read in facts.spec:
        facts.spec[made] = facts.spec[held] = facts.value_spec[held.id] = facts.spec[read]
    return held, made


def _may_be_number(held: str, facts: Facts) -> bool:
    """Whether a name may hold a number of Python's: one of two branches gives it that, or a dict has it."""
    value = getattr(facts.definition.get(held), "value", None)
    return held not in facts.mutable and (value is None or _is_item(value, facts))


def _is_item(value: Node, facts: Facts) -> bool:
    """Whether an expression reads an item of a list, tuple or dict, or takes one out: `d.pop()`."""
    if isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "pop":
        return getattr(value.func.value, "id", "") in facts.containers
    return isinstance(value, gast.Subscript) and getattr(value.value, "id", "") in facts.containers


def _copied(read: Node, facts: Facts, spelled: str = "x.copy()") -> Node:
    """`x.copy()`"""
    value = expression(spelled, x=read)
    facts.operation[value] = Operation("op", np.copy, rule_of(np.copy), {"a": read})
    return value


def _named(value: Node, like: str, node: Node, facts: Facts) -> Node:
    """A statement that binds a temporary, which is active if `like` is, for a part of another statement."""
    held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
    made = at(assign(held, value), node)
    facts.temporaries[held] = "t"
    facts.definition[held], facts.reads[held] = made, 1
    for table in (facts.active, facts.varied, facts.complex):
        if like in table:
            table[held] = None
    user = facts.origin.get(node, node)
    facts.origin[made] = user
    facts.rewritten[user] = None
    return made


def detach(block: Block, flow: Graph, views: Views, facts: Facts, numbers: frozenset[str] = frozenset()) -> None:
    """`v = a[1:]`, where a is written into later, keeps a copy: v is never read once the two differ.

    What a forward half keeps is no such part: `Context(a)` holds no elements of a. `numbers` are names that may hold a
    Python number, as the result of a function that has returned nothing yet does.
    """
    contexts = set(facts.fills.values())
    for position in range(len(block) - 1, -1, -1):
        node = block[position]
        for field in ("body", "orelse"):
            if getattr(node, field, None):
                detach(getattr(node, field), flow, views, facts, numbers)
        bound = target(node)
        if bound not in views or bound in facts.viewed or bound in contexts:
            continue
        kept = any(read in views or read in facts.mutable for read in shared(node, facts))
        if kept and isinstance(node.value, gast.Tuple) and written_after(flow, node, views[bound], facts):
            for number, item in enumerate(node.value.elts):  # a tuple has no copy of what it holds
                if isinstance(item, gast.Name) and (item.id in views or item.id in facts.mutable):
                    node.value.elts[number], made = _copy_of(item, node, facts)
                    block.insert(position, made)
        elif kept and written_after(flow, node, views[bound], facts):
            made = _named(node.value, bound, node, facts)
            held = name(str(target(made)))
            table = facts.moving if node in facts.moving else facts.viewed
            table[made if node in facts.moving else held.id] = None
            facts.spec[made] = facts.spec[held] = facts.value_spec[held.id] = facts.spec[node]
            of_any = f"{facts.library('np')}.copy(x)"  # a number has no method
            number = getattr(made.value, "id", "") in numbers or _is_item(made.value, facts)
            node.value = _copied(held, facts, of_any if number else "x.copy()")
            block.insert(position, made)
