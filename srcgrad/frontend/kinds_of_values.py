"""Kinds of live values, and of objects whose methods are called.

What a value is: kinds of live objects, what two kinds have in common, what the items of a container are.

Objects whose methods are called: those of the module as they are, others by what is known of their kind.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections import namedtuple
from collections.abc import Container, Hashable
from functools import lru_cache
from typing import Any  # values are arbitrary objects

import gast
import numpy as np

from srcgrad.core.bindings import Binding
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import ANY, SCALAR, UNKNOWN, Facts, Kind
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import Namespace
from srcgrad.core.trees import Node, literal_of

ARRAY, NUMERIC = Kind("array"), Kind("numeric")  # numeric: a number or an array
INTEGER, FLOAT = Kind("scalar", 0, dtype="integer"), Kind("scalar", 0, dtype="floating")
BOOL, STRING, NONE = Kind("bool"), Kind("string"), Kind("none")
SHAPE = Kind("tuple", None, ((ANY, INTEGER),))
OF_NUMBERS = ("scalar", "array", "numeric", "bool")
SEQUENCES = ("list", "tuple")
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)
_MOST = 64  # items of a live list that are looked at
_DEEP = 3


def of_object(value: object, depth: int = 0) -> Kind:
    """The kind of a live object: of a global, of a default, of an attribute.

    >>> of_object(np).tag, of_object([1.0, 2.0]).items[0][1].tag, of_object(None).tag
    ('module', 'scalar', 'none')
    """
    if isinstance(value, np.ndarray):
        return Kind("array", value.ndim) if type(value) is np.ndarray else Kind("other")
    if isinstance(value, bool | np.bool_):
        return BOOL
    if isinstance(value, int | np.integer):
        return INTEGER
    if isinstance(value, float | complex | np.number):
        return FLOAT
    if value is None:
        return NONE
    if isinstance(value, str):
        return STRING
    if isinstance(value, list | tuple | dict):
        return _of_container(value, depth)
    if isinstance(value, types.ModuleType):
        return Kind("module", None, ((value, UNKNOWN),))
    if isinstance(value, type):
        return Kind("class", None, ((value, UNKNOWN),))
    if isinstance(value, _FUNCTIONS) and isinstance(value, Hashable):
        return Kind("function", None, ((value, UNKNOWN),))
    if callable(value) and hasattr(value, "__name__") and isinstance(value, Hashable):
        return Kind("function", None, ((value, UNKNOWN),))
    cls = type(value)
    return Kind("object", None, ((cls, UNKNOWN),)) if cls.__flags__ & _HEAP_TYPE else Kind("other")


def _of_container(value: Any, depth: int) -> Kind:
    tag = "dict" if isinstance(value, dict) else "list" if isinstance(value, list) else "tuple"
    if depth > _DEEP or len(value) > _MOST:
        return Kind(tag)
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    items = tuple((key, of_object(item, depth + 1)) for key, item in pairs)
    return Kind(tag, None, items, type(value) if hasattr(value, "_fields") else None)


def kind_of_alternatives(one: Kind, other: Kind) -> Kind:
    """What holds of a value that is of one kind or of the other.

    >>> kind_of_alternatives(SCALAR, Kind("array", 1)).tag, kind_of_alternatives(Kind("list"), NONE).tag
    ('numeric', 'unknown')
    """
    if one == other:
        return one if one.dtype == other.dtype else replace(one, dtype="")
    if one.tag == other.tag == "array":
        return ARRAY
    if one.tag in OF_NUMBERS and other.tag in OF_NUMBERS:
        return NUMERIC
    if one.tag == other.tag == "made":
        return _one_class(one, other)
    if one.tag != other.tag or one.tag not in ("list", "tuple", "dict"):
        return UNKNOWN
    mine, theirs = dict(one.items), dict(other.items)
    owner = one.owner if one.owner is other.owner else None
    if mine.keys() == theirs.keys():
        return Kind(one.tag, None, tuple((key, kind_of_alternatives(mine[key], theirs[key])) for key in mine), owner)
    parts = [*mine.values(), *theirs.values()]
    return Kind(one.tag, None, ((ANY, all_of(parts)),)) if parts else Kind(one.tag)


def _one_class(one: Kind, other: Kind) -> Kind:
    """What holds of two objects that this text makes: the fields of both, if they are of one class."""
    (cls, sure), (second, too) = one.items[0], other.items[0]
    mine, theirs = dict(one.items[1:]), dict(other.items[1:])
    fields = ((key, kind_of_alternatives(kind, theirs.get(key, kind))) for key, kind in {**theirs, **mine}.items())
    surely = (cls, UNKNOWN if sure == too == UNKNOWN else STORED)
    return Kind("made", None, (surely, *fields)) if cls is second else UNKNOWN


def widened(kind: Kind) -> Kind:
    """What is left of a kind that changes with each trip of a loop: the class of an object, without its fields."""
    if kind.tag == "made":
        return Kind("made", None, kind.items[:1])
    known = kind.tag == "tuple" and kind.owner is not None
    return Kind("tuple", None, tuple((key, UNKNOWN) for key, _ in kind.items), kind.owner) if known else UNKNOWN


STORED = Kind("other")  # in the place of a class: the object comes out of what others may have changed


def in_container(kind: Kind) -> Kind:
    """What is known of an object once a list, a dict or another object holds it: others may exchange it there."""
    return Kind("made", None, ((kind.items[0][0], STORED), *kind.items[1:])) if kind.tag == "made" else kind


def class_of(kind: Kind) -> Any:
    """The class of an object that a function makes, or of a NamedTuple; None for any other value."""
    return kind.items[0][0] if kind.tag == "made" else kind.owner


def holds_object(kind: Kind, classes: Container[type]) -> bool:
    """Whether a value is, or holds, an object of one of these classes."""
    inner = kind.items[1:] if kind.tag == "made" else kind.items
    return class_of(kind) in classes or any(holds_object(one, classes) for _, one in inner)


def fields_of_class(owner: type) -> tuple[str, ...]:
    """The names of the arguments that make a dataclass or a NamedTuple, in order."""
    if dataclasses.is_dataclass(owner):
        return tuple(f.name for f in dataclasses.fields(owner) if f.init)
    return tuple(getattr(owner, "_fields", ()))


def class_of_fields(call: Node) -> Kind:
    """The class that `namedtuple("R", "a b")` makes inside of a function, the same one for the same names."""
    words = {str(word.arg): literal_of(word.value, ...) for word in call.keywords}
    given = [literal_of(one, ...) for one in call.args]
    title, fields = given if len(given) == 2 else (None, None)
    fields = tuple(fields.replace(",", " ").split()) if isinstance(fields, str) else fields
    named = isinstance(fields, list | tuple) and all(isinstance(one, str) for one in fields)
    if not isinstance(fields, list | tuple) or not named or not isinstance(title, str) or words.keys() - {"defaults"}:
        return UNKNOWN
    defaults = words.get("defaults", ())
    if not isinstance(defaults, list | tuple):
        return UNKNOWN
    plain = all(isinstance(d, float | int | str | None) for d in defaults)
    try:
        return (
            Kind("class", None, ((local_class(title, tuple(fields), tuple(defaults)), UNKNOWN),)) if plain else UNKNOWN
        )
    except (ValueError, TypeError):
        return UNKNOWN  # names that are none, which the function itself tells


@lru_cache(maxsize=1024)
def local_class(title: str, fields: tuple[str, ...], defaults: tuple[object, ...]) -> type:
    """A class that a function makes for itself."""
    return namedtuple(title, fields, defaults=defaults)


OPERATORS = {"Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "Pow": "pow", "MatMult": "matmul",
              "FloorDiv": "floordiv", "Mod": "mod", "USub": "neg", "UAdd": "pos"}  # fmt: skip


def own_operator(op: type, held: Kind, *, reflected: bool = False) -> types.FunctionType | None:
    """What the class of an object that is made here, or of a NamedTuple, has written for an operator."""
    whole, name = class_of(held), f"__{'r' if reflected else ''}{OPERATORS.get(op.__name__, '')}__"
    found = None if whole is None else inspect.getattr_static(whole, name, None)
    return found if isinstance(found, types.FunctionType) else None


def all_of(parts: list[Kind]) -> Kind:
    """What holds of any of several values; nothing is known of none."""
    found = parts[0] if parts else UNKNOWN
    for part in parts[1:]:
        found = kind_of_alternatives(found, part)
    return found


def each_of(kind: Kind) -> Kind:
    """The kind of what a loop over a value gives."""
    if kind.tag in ("list", "tuple", "iterator"):
        return all_of([part for _, part in kind.items])
    if kind.tag == "array":
        return Kind("array", kind.ndim - 1) if kind.ndim and kind.ndim > 1 else SCALAR if kind.ndim else NUMERIC
    if kind.tag == "string":
        return STRING
    if kind.tag == "dict":
        keys = [key for key, _ in kind.items]
        return STRING if keys and all(isinstance(key, str) for key in keys) else UNKNOWN
    return NUMERIC if kind.tag == "numeric" else UNKNOWN


def parts_of(kind: Kind, count: int) -> list[Kind]:
    """The kinds of the parts into which unpacking takes a value."""
    items = dict(kind.items) if kind.tag in SEQUENCES else {}
    if list(items) == list(range(count)):
        return list(items.values())
    return [each_of(kind)] * count


def part_at(kind: Kind, index: Node, of: dict[Node, Kind]) -> Kind:
    """The kind of `value[index]`, where the kinds of the index and of its parts are known."""
    if kind.tag in SEQUENCES:
        if isinstance(index, gast.Slice):
            return Kind(kind.tag, None, ((ANY, each_of(kind)),) if kind.items else ())
        items, place = dict(kind.items), literal_of(index, ...)
        if isinstance(place, int) and ANY not in items:
            found: Kind = items.get(place % len(items) if items else place, UNKNOWN)
            return found
        return each_of(kind)
    if kind.tag == "dict":
        items, key = dict(kind.items), literal_of(index, ...)
        known: Kind | None = items.get(key) if isinstance(key, Hashable) else None
        return known or items.get(ANY) or all_of(list(items.values()))
    if kind.tag == "string":
        return STRING
    if kind.tag == "made":
        fields: dict[object, Kind] = dict(kind.items[1:])
        return fields.get(literal_of(index, ...), UNKNOWN)
    if kind.tag == "array" and kind.ndim is not None:
        rank = _rank(kind.ndim, index, of)
        return NUMERIC if rank is None else Kind("array", rank) if rank else SCALAR
    return NUMERIC if kind.tag in OF_NUMBERS else UNKNOWN


def _rank(ndim: int, index: Node, of: dict[Node, Kind]) -> int | None:
    """The rank of an array's part for integers, slices, `None` and an ellipsis; None for any other index."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    for part in parts:
        value = getattr(part, "value", ...) if isinstance(part, gast.Constant) else ...
        if isinstance(part, gast.Slice) or (value is ... and isinstance(part, gast.Constant)):
            continue
        if value is None:
            ndim += 1
        elif of.get(part, UNKNOWN).tag == "scalar":
            ndim -= 1
        else:
            return None
    if ndim == 0 and any(isinstance(part, gast.Constant) and part.value is ... for part in parts):
        return None  # `x[0, ...]` is an array of rank 0
    return max(ndim, 0)


_OBJECTS = ("object", "made", "module", "class", "function", "string", "none")  # whose methods are no array's


def is_own(node: Node, facts: Facts) -> bool:
    """Whether an attribute, whatever its name, is of an object that is no array: also of a NamedTuple's class."""
    held = facts.kinds.of_expressions.get(node.value) or facts.kinds.of_names.get(getattr(node.value, "id", ""))
    if held is None:
        return False
    return held.tag in _OBJECTS or (held.owner is not None and hasattr(held.owner, node.attr))


NOTHING: Any = object()
_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


@record(frozen=True)
class OfType:
    """What is known of an attribute of a live object: the class of what it holds."""

    cls: type


def live_object(node: Node, namespace: Namespace, local: Any, noted: list[object] | None) -> Any:
    """The live object that a name of the module means, or an attribute of one that it holds itself; else NOTHING.

    No property of a user's object is run. `noted` takes what was found, so that a change of it can be told.
    """
    if isinstance(node, gast.Name):
        found = None if node.id in local else namespace.lookup(node.id)
        whole = found is not None and found.kind == "object" and is_instance(found.object)
        return found.object if found is not None and whole else NOTHING
    if not isinstance(node, gast.Attribute):
        return NOTHING
    owner = live_object(node.value, namespace, local, noted)
    own = vars(owner) if owner is not NOTHING and hasattr(owner, "__dict__") else {}
    inherited = inspect.getattr_static(type(owner), node.attr, None)
    if type(inherited) is property or (node.attr not in own and not isinstance(inherited, types.ModuleType)):
        return NOTHING
    held = own.get(node.attr, inherited)
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
    held = facts.kinds.named.get(getattr(value, "id", ""))
    owner = live_object(value, facts.namespace, facts.names.local, None) if held is None else NOTHING
    held_here = {key: item for whole in (type(owner), owner) for key, item in getattr(whole, "__dict__", {}).items()}
    modules = [key for key, item in held_here.items() if isinstance(item, types.ModuleType)]
    if not modules:
        return held or UNKNOWN
    places = {one: gast.Attribute(value, one, gast.Load()) for one in modules}
    found = {
        m: live_object(place, facts.namespace, facts.names.local, facts.module.methods) for m, place in places.items()
    }
    return Kind("object", None, (*of_object(owner).items, *((m, of_object(one)) for m, one in found.items())))


def is_instance(value: object) -> bool:
    """Whether a value is an object of a class that is written in Python."""
    written = bool(type(value).__flags__ & _HEAP_TYPE)
    return written and not isinstance(value, type | types.ModuleType) and type(value).__module__ != "numpy"


def makes_objects(called: object) -> bool:
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
        f"`.{node.attr}` is read of an object whose class does not tell its fields",
        "make it of a dataclass, a NamedTuple or a class whose `__init__` sets them; or pass what it holds",
    )


def is_replaced(owner: object, name: str, found: Any, value: object) -> bool:
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
