"""Objects whose methods are called: those of the module as they are, others by what is known of their kind."""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from typing import Any  # objects are arbitrary

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.front.namespace import Binding, Namespace
from srcgrad.front.values import of_object
from srcgrad.trees import Node

NOTHING: Any = object()
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


@dataclass(frozen=True)
class OfType:
    """What is known of an attribute of a live object: the class of what it holds."""

    cls: type


def live(node: Node, namespace: Namespace, local: Any, noted: list[Any] | None) -> Any:
    """The live object that a name of the module means, or an attribute of one that it holds itself; else NOTHING.

    No property of a user's object is run. `noted` takes what was found, so that a change of it can be told.
    """
    if isinstance(node, gast.Name):
        found = None if node.id in local else namespace.lookup(node.id)
        whole = found is not None and found.kind == "object" and is_instance(found.object)
        return found.object if found is not None and whole else NOTHING
    if not isinstance(node, gast.Attribute):
        return NOTHING
    owner = live(node.value, namespace, local, noted)
    own = vars(owner) if owner is not NOTHING and hasattr(owner, "__dict__") else {}
    if node.attr not in own or type(inspect.getattr_static(type(owner), node.attr, None)) is property:
        return NOTHING
    held = own[node.attr]
    if noted is not None:
        steady = isinstance(held, types.FunctionType | types.ModuleType | type)
        noted.append((owner, node.attr, held if steady else OfType(type(held)), None))
    return held


def what_makes(owner: Any) -> tuple[Any, ...]:
    """What runs where an object of a class with fields is made, and where these are read or bound."""
    made = owner.__new__ if issubclass(owner, tuple) else owner.__init__
    fields = [vars(owner).get(field) for field in getattr(owner, "_fields", None) or owner.__dataclass_fields__]
    special = (owner.__new__, owner.__getattribute__, owner.__setattr__, type(owner).__call__)
    return (made, getattr(made, "__defaults__", None), *special, *fields)


def note_call(owner: type | None, facts: Facts) -> None:
    """Note what calling an object of a class runs, so that a change of it can be told."""
    called = None if owner is None else inspect.getattr_static(owner, "__call__", None)
    if called is not None and facts.module is not None:
        facts.module.methods.append((owner, "__call__", called, None))


def known_of(value: Node, facts: Facts) -> Kind:
    """What is known of an argument that the text has not looked at; of a live object, which modules it holds."""
    held = facts.named.get(getattr(value, "id", ""))
    owner = live(value, facts.namespace, facts.local, None) if held is None else NOTHING
    modules = [key for key, item in getattr(owner, "__dict__", {}).items() if isinstance(item, types.ModuleType)]
    if not modules:
        return held or UNKNOWN
    places = {one: gast.Attribute(value, one, gast.Load()) for one in modules}
    found = {m: live(place, facts.namespace, facts.local, facts.module.methods) for m, place in places.items()}
    return Kind("object", None, (*of_object(owner).items, *((m, of_object(one)) for m, one in found.items())))


def is_instance(value: Any) -> bool:
    """Whether a value is an object of a class that is written in Python."""
    written = bool(type(value).__flags__ & _HEAP_TYPE)
    return written and not isinstance(value, type | types.ModuleType) and type(value).__module__ != "numpy"


def makes_objects(called: Any) -> bool:
    """Whether what is called may make an object of a user's class: such a class, or what is not known here."""
    if isinstance(called, type):
        written = bool(called.__flags__ & _HEAP_TYPE) or called is types.SimpleNamespace
        return written and called.__module__ != "numpy"
    return isinstance(called, gast.AST) or (isinstance(called, Binding) and called.kind in ("unknown", "value"))


def refused_field(node: Node, facts: Facts) -> DifferentiationError:
    """The refusal of an attribute that is, or may be, a field of an object which this function makes."""
    return facts.refuse(
        node,
        "E5005",
        f"the attribute `.{node.attr}` of an object that is not taken apart is not accepted",
        "make the object of a dataclass or a NamedTuple, where its fields are read; or pass what it holds",
    )


def is_replaced(owner: Any, name: str, found: Any, value: Any) -> bool:
    """Whether a method or an attribute is no longer what it was when a text was made."""
    if not name:
        return any(one is not known for one, known in zip(what_makes(owner), found, strict=True))
    now = inspect.getattr_static(owner, name, None)
    if isinstance(found, OfType):
        return type(now) is not found.cls
    return now is not found or shadows(value)


def shadows(value: object) -> bool:
    """Whether an object has a function of its own in the place of a method of its class."""
    own = vars(value) if hasattr(value, "__dict__") else {}
    return any(isinstance(vars(base).get(name), types.FunctionType) for base in type(value).__mro__ for name in own)
