"""Attributes that arrays have, read of what may be an object of the user's: they may carry a derivative there."""

from __future__ import annotations

import operator
from typing import Any  # what is called is arbitrary

import gast

from srcgrad.facts import Facts
from srcgrad.flow import Edge, reached
from srcgrad.front.owners import makes_objects, refused_field
from srcgrad.front.resolve import ATTRIBUTES, METHODS, PASSIVE_ATTRIBUTES, binding_of
from srcgrad.trees import Node, called, inside, loads, statements, stores, written

_OF_ARRAYS = (*PASSIVE_ATTRIBUTES, *ATTRIBUTES)
_STEER = (gast.If, gast.While)  # what stands there has no derivative


def check_attributes(function: Node, facts: Facts) -> None:
    """Refuse `.size` and the like of what a class, or a function that is not known, has made of varied values.

    A shape has no derivative; a field of that name has one.
    """
    made: list[str] = []
    edges: list[Edge] = []
    records: dict[str, None] = {}  # dicts, which may be the fields of an object that a function gives back
    for node in statements(function.body):
        operation = facts.operation.get(getattr(node, "value", None))
        bound = [*stores(node), *written(node)]
        if operation is not None and operation.kind != "opaque" and operation.function is not operator.getitem:
            continue
        edges.append((list(loads(node)), bound))
        value = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
        if value is not None and _may_be_object(value, {}, facts):
            made += bound
        if isinstance(value, gast.Dict) or getattr(value, "id", "") in records:
            records.update(dict.fromkeys(bound))
    objects = reached(made, edges) if made else {}
    for node in statements(function.body):
        if isinstance(node, _STEER) or (isinstance(node, gast.For) and called(node.iter) == "range"):
            continue
        for part in carrying(node.iter if isinstance(node, gast.For) else node):
            own = getattr(part.value, "id", "") in records or _may_be_object(part.value, objects, facts)
            if own and any(read in facts.varied for read in loads(part)):
                raise refused_field(part, facts)
        for call in inside(node, gast.Call):
            name = call.func.attr if isinstance(call.func, gast.Attribute) else ""
            if name in METHODS and not hasattr(dict, name) and getattr(call.func.value, "id", "") in records:
                raise refused_field(call.func, facts)


def _may_be_object(value: Node, objects: dict[str, None], facts: Facts) -> bool:
    if any(read in objects for read in loads(value)):
        return True
    callees = [(one.func, binding_of(one.func, facts, facts.local)) for one in inside(value, gast.Call)]
    return any(
        makes_objects(function if found is None else found.object if found.kind == "object" else found)
        for function, found in callees
        if found is not None or isinstance(function, gast.Name)
    )


def carrying(node: Node) -> list[Any]:
    """The attributes that a statement reads, those apart that steer: in indices and comparisons."""
    apart = {one for held in inside(node, gast.Subscript) for one in inside(held.slice, gast.Attribute)}
    apart |= {one for held in inside(node, gast.Compare) for one in inside(held, gast.Attribute)}
    return [n for n in inside(node, gast.Attribute) if n.attr in _OF_ARRAYS and n not in apart]
