"""Objects as what they are made of: dataclasses and NamedTuples, and those of SciPy.

Dataclasses and NamedTuples made from differentiated values are dicts of their fields. Results that are objects, `sol
= solve_ivp(...)` with `sol.t` and `sol.y`, are the arrays in them; `scipy.stats.norm(m, s).logpdf(x)` is the method
of the distribution with all arguments; a spline, `s = CubicSpline(x, y)` and then `s(t)`, is its knots and
coefficients.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import weakref
from collections import namedtuple
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from dis import get_instructions
from functools import partial
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

import srcgrad.templates as templates
from srcgrad.core.bindings import Binding
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import UNKNOWN, Facts, Kind, inner_kinds
from srcgrad.core.identity import Function, home, is_distribution, record, replace
from srcgrad.core.namespace import Overlay
from srcgrad.core.rules import CalledObject, Parts, called_object, makes_new, parts_of
from srcgrad.core.source_text import same_code
from srcgrad.core.trees import (
    Block,
    Node,
    after_docstring,
    at,
    children,
    copy,
    expression,
    find_nodes,
    header,
    literal_node,
    loads,
    mentions,
    name,
    names_in,
    parameters,
    placed,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import SOMETIMES, rewrite, rewrite_blocks, rewrite_statements
from srcgrad.frontend.calls.functions import function_of, of_argument
from srcgrad.frontend.early_facts import reads_varied
from srcgrad.frontend.kinds_of_values import (
    OPERATORS,
    class_of,
    fields_of_class,
    holds_object,
    of_object,
    own_operator,
    what_makes,
)
from srcgrad.frontend.resolve import arguments_by_name, binding_of, literal, object_of, trusted_constant
from srcgrad.runtime import fields_of, pieces
from srcgrad.runtime.odes import dense_solution

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting
    from srcgrad.frontend.kinds import Kinds


def open_records(function: Node, work: Rewriting) -> None:
    """Spell objects of the user's classes as dicts: those that the function makes, and its arguments."""
    facts = work.facts
    for parameter, kind in inner_kinds(facts.kinds.of_names):
        opens = kind.tag == "object" and dataclasses.is_dataclass(kind.items[0][0])
        if opens and has_plain_attributes(kind.items[0][0]):
            facts.kinds.records[parameter] = kind.items[0][0]
            opened = work.own(statement(f"{parameter} = {work.library('fields_of')}({parameter})"), function)
            facts.resolution.copies[opened] = None
            _open_others(parameter, function, work)
            function.body.insert(after_docstring(function), opened)
        elif kind.owner is not None:
            facts.kinds.records[parameter] = kind.owner
    _find_made(function, work)
    _note_changed(function, facts)
    for name in facts.kinds.records:
        known = of_argument(name, Kind("object", None, ((facts.kinds.records[name], Kind()),)))
        if known is not None:
            facts.names.functions[name] = known
    spell_fields(function, facts)


def _note_changed(function: Node, facts: Facts) -> None:
    """Note the arguments whose fields are assigned to: a call looks whether another argument is the same object."""
    for node in statements(function.body):
        fields = [part for part in find_nodes(node, gast.Attribute) if isinstance(part.ctx, gast.Store)]
        for one in [getattr(part.value, "id", "") for part in fields]:
            if one in facts.kinds.records and one in parameters(function):
                facts.resolution.entered.setdefault(one, node)


def _open_others(parameter: str, function: Node, work: Rewriting) -> None:
    """Open what else of its class is bound to an object's name, `b = fields_of(d)`: of the module, or made here."""
    facts, cls = work.facts, work.facts.kinds.records[parameter]
    for node in [n for n in statements(function.body) if target(n) == parameter and isinstance(n, gast.Assign)]:
        owner = _class_of(node.value, parameter, work)
        display = _display(node.value, owner, work) if owner is cls else None
        if display is not None:
            node.value = display
        elif isinstance(node.value, gast.Name) and type(object_of(node.value, facts)) is cls:
            node.value = at(expression(f"{work.library('fields_of')}(whole)", whole=node.value), node)
            facts.resolution.copies[node] = None
        else:
            continue
        facts.origin.foreign[node] = None


def note_opened_records(function: Node, facts: Facts) -> None:
    """Note what a text of ours has opened already: `p = fields_of(p)`."""
    for node in function.body:
        kind = facts.kinds.of_names.get(str(target(node)))
        called = node.value if kind is not None and kind.tag == "object" else None
        if kind is not None and isinstance(called, gast.Call) and object_of(called.func, facts) is fields_of:
            facts.kinds.records[str(target(node))] = kind.items[0][0]
            facts.resolution.copies[node] = None


def _find_made(function: Node, work: Rewriting) -> None:
    """Names to which nothing but new objects of one class is bound, or changed copies of such."""
    bound: dict[str, list[Node | None]] = {}
    for node in statements(function.body):
        for one in stores(node):
            bound.setdefault(one, []).append(node if target(node) == one else None)
    todo = [name for name in bound if name not in parameters(function)]
    while todo:
        found = [name for name in todo if _is_made(name, bound[name], work)]
        todo = [name for name in todo if name not in found] if found else []


def _is_made(name: str, nodes: list[Node | None], work: Rewriting) -> bool:
    """Whether all that a name is bound to are objects of one class, which are spelled as dicts then."""
    made = [n for n in nodes if n is not None]
    owners = [_class_of(n.value, name, work) for n in made]
    known = [owner for owner in owners if owner is not _SAME]
    if len(made) < len(nodes) or not known or known[0] is None or any(owner is not known[0] for owner in known):
        return False
    displays = [one for n in made if (one := _display(n.value, known[0], work)) is not None]
    if len(displays) < len(made):
        return False
    work.facts.kinds.records[name] = known[0]
    for node, display in zip(made, displays, strict=True):
        node.value = display
        work.facts.origin.foreign[node] = None
    return True


class _SAME:
    """The class that the name has anyhow."""


def _class_of(value: Node, name: str, work: Rewriting) -> Any:
    """The class of which an expression makes an object: `Point(x, y)`, `replace(p, x=1.0)`, `p._replace(x=1.0)`."""
    if not isinstance(value, gast.Call):
        return None
    changed = _copied_record(value, work)
    if changed is not None:
        owner = work.facts.kinds.records.get(changed)
        return _SAME if changed == name else owner if owner is not None and _is_plain(owner, work.facts) else None
    owner = object_of(value.func, work.facts)
    return owner if isinstance(owner, type) and _is_plain(owner, work.facts) else None


def has_plain_attributes(owner: type) -> bool:
    """Whether reading and binding the fields of an object is all that happens then."""
    generated: Any = owner
    frozen = dataclasses.is_dataclass(owner) and generated.__dataclass_params__.frozen
    base = tuple if issubclass(owner, tuple) else object
    for special in ("__getattribute__", *(() if frozen else ("__setattr__",))):
        if getattr(owner, special) is not getattr(base, special):
            return False
    fields = [inspect.getattr_static(owner, field, None) for field in fields_of_class(owner)]
    return base is tuple or not any(hasattr(type(f), "__set__") and not is_slot(f) for f in fields)


def is_slot(attribute: object) -> bool:
    """Whether what a class has under a name is the place of one in `__slots__`."""
    return isinstance(attribute, types.MemberDescriptorType)


def _is_plain(owner: type, facts: Facts) -> bool:
    """Whether a class is made by its fields in their order and by nothing else."""
    if not (hasattr(owner, "_fields") or dataclasses.is_dataclass(owner)) or not has_plain_attributes(owner):
        return False
    if facts.module is not None:
        facts.module.methods.append((owner, "", what_makes(owner), None))
    if not is_written(owner):
        return False
    if dataclasses.is_dataclass(owner):
        generated: Any = owner
        simple = not any(f.kw_only or not f.init for f in dataclasses.fields(owner))
        return bool(generated.__dataclass_params__.init) and simple and not hasattr(owner, "__post_init__")
    return owner.__bases__ == (tuple,) and hasattr(owner, "_fields")


def is_written(owner: Any) -> bool:
    """Whether an object is made by what `@dataclass` or NamedTuple has written, with the defaults of the fields."""
    of_tuple = issubclass(owner, tuple)
    made = owner.__new__ if of_tuple else owner.__init__
    if not isinstance(made, types.FunctionType) or type(owner).__call__ is not type.__call__:
        return False
    if not is_generated(made, owner, "__new__" if of_tuple else "__init__"):
        return False
    fields = [] if of_tuple else [f for f in dataclasses.fields(owner) if f.init]
    given = list(owner._field_defaults.values()) if of_tuple else [f.default for f in fields]
    now = made.__defaults__ or ()
    first = len(given) - len(now)
    alike = all(one is known or known is dataclasses.MISSING for one, known in zip(now, given[first:], strict=False))
    return alike and not any(known is not dataclasses.MISSING for known in given[:first])


def is_generated(function: types.FunctionType, owner: type, attribute: str) -> bool:
    """Whether `@dataclass` or NamedTuple has written a method of a class: it has the code that these write for it.

    >>> @dataclasses.dataclass
    ... class Own:
    ...     a: float
    ...     def __init__(self, a):
    ...         self.a = 2.0 * a
    >>> is_generated(Own.__init__, Own, "__init__"), is_generated(Own.__eq__, Own, "__eq__")
    (False, True)
    """
    twin = _twins.get(owner)
    if twin is None:
        twin = _twins[owner] = _twin_of(owner)
    other = inspect.getattr_static(twin, attribute, None)
    code = getattr(getattr(other, "__func__", other), "__code__", None)
    return code is not None and same_code(function.__code__, code)


_twins: weakref.WeakKeyDictionary[type, type] = weakref.WeakKeyDictionary()


def _twin_of(owner: type) -> type:
    """A class of the same fields, of which all else is written by `@dataclass` or NamedTuple; else an empty one."""
    if issubclass(owner, tuple):
        return namedtuple(owner.__name__, getattr(owner, "_fields", ()))
    if not dataclasses.is_dataclass(owner):
        return object
    plain = {one.name for one in dataclasses.fields(owner)}
    given = inspect.signature(inspect.getattr_static(owner, "__init__")).parameters
    made = []
    for one in inspect.getattr_static(owner, "__dataclass_fields__").values():
        if one.name in plain or one.name in given:  # the others belong to the class
            default = {"default": one.default} if one.default is not dataclasses.MISSING else {}
            default |= (
                {"default_factory": one.default_factory} if one.default_factory is not dataclasses.MISSING else {}
            )
            asked = {key: getattr(one, key) for key in ("init", "repr", "hash", "compare", "kw_only")}
            kind = object if one.name in plain else dataclasses.InitVar[object]
            made.append((one.name, kind, dataclasses.field(**default, **asked)))
    after = {"__post_init__": None} if hasattr(owner, "__post_init__") else {}
    asked_for = inspect.getattr_static(owner, "__dataclass_params__")
    how = {key: getattr(asked_for, key) for key in ("eq", "order", "frozen", "unsafe_hash")}
    return dataclasses.make_dataclass("Twin", made, namespace=after, **how)


def _copied_record(call: Node, work: Rewriting) -> str | None:
    """The name of which `dataclasses.replace(p, ...)` or `p._replace(...)` makes a changed copy."""
    function = call.func
    if isinstance(function, gast.Attribute) and function.attr == "_replace" and isinstance(function.value, gast.Name):
        return str(function.value.id) if not call.args else None
    of_name = len(call.args) == 1 and isinstance(call.args[0], gast.Name)
    return str(call.args[0].id) if of_name and object_of(function, work.facts) is dataclasses.replace else None


def _display(call: Node, owner: Any, work: Rewriting) -> Node | None:
    """The object as a dict of its fields."""
    names, changed = fields_of_class(owner), _copied_record(call, work)
    of_tuple = getattr(call.func, "attr", "") == "_replace"  # what a dataclass may call so is a method of its own
    if changed and of_tuple != issubclass(owner, tuple):
        return None
    words = gast.Call(call.func, [], call.keywords) if changed else call
    given = fields_given(
        words, owner, lambda one: expression(f"{changed}.{one}") if changed else default_of_field(owner, one)
    )
    if given is None:
        return None
    return at(gast.Dict(keys=[literal_node(f) for f in names], values=[given[f] for f in names]), call)


def fields_given(call: Node, owner: Any, otherwise: Callable[[str], Node | None]) -> dict[str, Node] | None:
    """What a call gives to each field of a class, or `otherwise` says; None where that is not known of all."""
    given = arguments_by_name(call, fields_of_class(owner))
    if given is None:
        return None
    for one in fields_of_class(owner):
        value = given.get(one) or otherwise(one)
        if value is None:
            return None
        given[one] = value if one in given else at(value, call)
    return given


def default_of_field(owner: Any, field: str) -> Node | None:
    """The default of a field of a dataclass or a NamedTuple, if it is known."""
    if dataclasses.is_dataclass(owner):
        known = next(f for f in dataclasses.fields(owner) if f.name == field)
        if known.default_factory is list:
            return gast.List([], gast.Load())
        return gast.Dict([], []) if known.default_factory is dict else trusted_constant(known.default)
    return trusted_constant(owner._field_defaults.get(field, _NONE))


_NONE = object()


def records(function: Node, facts: Facts) -> Node:
    """Spell the fields that methods, now written out, read; refuse an object that is used as a whole."""
    if not facts.kinds.records:
        return function
    function.body = _by_one_name(function.body, facts)
    spell_fields(function, facts)
    for node in statements(function.body):
        opened = {id(i.value) for part in header(node) for i in find_nodes(part, gast.Subscript)}
        for item in [i for part in header(node) for i in find_nodes(part, gast.Name)]:
            whole = item.id in facts.kinds.records and id(item) not in opened and isinstance(item.ctx, gast.Load)
            if (
                whole
                and facts.kinds.of_names.get(item.id, Kind()).owner is None
                and node not in facts.resolution.copies
            ):
                raise facts.refuse(
                    item,
                    "E5005",
                    f"the object `{item.id}` is used as a whole",
                    f"use its fields: `{item.id}.{fields_of_class(facts.kinds.records[item.id])[0]}`",
                )
    return function


def _by_one_name(block: Block, facts: Facts) -> Block:
    """The block, in which what `q = p` names once more, of an object that a function has given back, is p."""
    bound = [one for node in statements(block) for one in stores(node)]
    kept: Block = []
    for node in block:
        held = node.value.id if target(node) is not None and isinstance(node.value, gast.Name) else ""
        second = target(node) or ""
        if (
            held not in facts.kinds.records
            or held in facts.kinds.of_names
            or bound.count(held) != 1
            or bound.count(second) != 1
        ):
            kept.append(node)
            continue
        for other in block:
            for item in find_nodes(other, gast.Name):
                if item.id == second:
                    item.id = held
                    facts.origin.foreign.update(dict.fromkeys(statements([other])))
    return kept


def spell_fields(function: Node, facts: Facts) -> None:
    """`p.x` as `p["x"]`, for an argument that is a NamedTuple as `p[0]`."""
    if not facts.kinds.records:
        return
    for node in statements(function.body):
        for part in [*header(node), node] if not header(node) else header(node):
            for item in list(walk(part)):
                for key in item._fields:
                    inner = getattr(item, key, None)
                    values = inner if isinstance(inner, list) else [inner]
                    for place, value in enumerate(values):
                        made = _field(value, facts)
                        if made is None:
                            continue
                        facts.origin.foreign.update(dict.fromkeys(_statements_with_text(node, item)))
                        if isinstance(inner, list):
                            inner[place] = made
                        else:
                            setattr(item, key, made)


def _statements_with_text(node: Node, item: Node) -> list[Node]:
    """The statements of which a part of a statement is in the text: one in a `with` is printed by itself."""
    within = [n for n in walk(node) if isinstance(n, gast.stmt)] if isinstance(node, gast.With) else []
    return [node, *(n for n in within if any(part is item for part in walk(n)))]


def _field(value: object, facts: Facts) -> Node | None:
    held = getattr(value, "value", None)
    if not isinstance(value, gast.Attribute | gast.Subscript) or not isinstance(held, gast.Name):
        return None
    owner = facts.kinds.records.get(held.id)
    if owner is None:
        return None
    names = fields_of_class(owner)
    is_argument = facts.kinds.of_names.get(held.id, Kind()).owner is not None
    if isinstance(value, gast.Attribute):
        if value.attr not in names:
            return None
        key = literal_node(names.index(value.attr) if is_argument else value.attr)
    else:
        place = value.slice.value if isinstance(value.slice, gast.Constant) else None
        placed = issubclass(owner, tuple) and not is_argument  # a dataclass has no items: the name holds another value
        if not placed or not isinstance(place, int) or not -len(names) <= place < len(names):
            return None
        key = literal_node(names[place])
    made = expression("p[key]", p=held, key=key)
    made.ctx = value.ctx
    return at(made, value)


def take_apart(function: Node, kinds: Kinds, varied: dict[str, None] | None, facts: Facts) -> None:
    """Spell objects that this function makes, or that one which it is written out in has made, as what they hold.

    An object is a dict of its fields, and a NamedTuple a tuple: these have the same identity, the same second names
    and the same changes. What its class has written, methods, properties and operators, is called by name. Objects of
    which the fields alone are read by the name that they are bound to are left to `open_records`.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from collections import namedtuple\\nR = namedtuple('R', 'a b')\\n"
    >>> print(explain_text(text + "def f(x):\\n    return sum(R(x, x * x))", after="conversions"))
    def f(x):
        return sum((x, x * x))
    """
    work = ObjectsApart(function, kinds, varied, facts)
    work.choose()
    if work.classes:
        facts.kinds.apart.update(work.classes)
        facts.module.apart.update({**work.classes, **kinds.objects.classes})
        work.note_result()
        work.spell()


@record
class ObjectsApart:
    """The classes of which one function makes objects that are taken apart there."""

    function: Node
    kinds: Kinds
    varied: dict[str, None] | None
    facts: Facts
    classes: dict[type, None] = field(default_factory=dict)
    named: dict[object, str] = field(default_factory=dict)  # function of a class -> what it goes by here
    around: dict[Node, Node] = field(default_factory=dict)  # expression -> what holds it

    def choose(self) -> None:
        """Classes of objects through which a derivative flows, and which other passes know no better way for."""
        nodes = [n for s in self.function.body for n in walk(s)]
        known = {node: kind for node in nodes if class_of(kind := self.kinds.of.get(node, UNKNOWN)) is not None}
        if not known:
            return
        self.around = {part: node for node in nodes for part in children(node)}
        given = [*self.facts.kinds.of_names.values(), *self.facts.kinds.arguments.values()]
        simple = self._simple_names(nodes)
        for node, kind in known.items():
            cls = class_of(kind)
            if cls in self.facts.kinds.apart:
                self.classes[cls] = None
            elif cls in self.classes or any(holds_object(one, (cls,)) for one in given):
                continue
            elif not self._is_simple(node, simple) and self._flows(node) and can_open(cls, self.facts):
                self.classes[cls] = None

    def _flows(self, node: Node) -> bool:
        """Whether a derivative may flow through an object, or a function that is written out here makes it."""
        if self.varied is None or reads_varied(node, self.varied, self.facts, self.facts.names.local):
            return True
        asked = self.kinds.of.get(node.func, UNKNOWN) if isinstance(node, gast.Call) else UNKNOWN
        return isinstance(node, gast.Call) and asked.tag != "class" and self.kinds.of[node].tag == "made"

    def _simple_names(self, nodes: list[Node]) -> dict[str, None]:
        """Names of objects of which no more than fields and methods that ask for fields are read."""
        own = names_in(self.function.args)
        named = [n for n in nodes if isinstance(n, gast.Name)]
        bound: dict[str, list[type | None]] = {}
        for node in [n for n in named if not isinstance(n.ctx, gast.Load)]:
            holder = self.around.get(node)
            value = holder.value if isinstance(holder, gast.Assign) and target(holder) == node.id else None
            bound.setdefault(node.id, []).append(self._made_by(value) if isinstance(value, gast.Call) else None)
        classes = {held: next((c for c in made if c is not _SAME), None) for held, made in bound.items()}
        found = {h: c for h, c in classes.items() if c is not None and h not in own}
        found = {
            h: c for h, c in found.items() if all(one in (c, _SAME) for one in bound[h]) and _is_plain(c, self.facts)
        }
        reads = [n for n in named if n.id in found and isinstance(n.ctx, gast.Load)]
        odd = {n.id for n in reads if not self._is_plainly_read(n, found[n.id], self.around.get(n))}
        return {held: None for held in found if held not in odd}

    def _made_by(self, call: Node) -> type | None:
        """The class that a call makes an object of; _SAME for a changed copy."""
        made = self.kinds.of.get(call.func, UNKNOWN)
        if made.tag == "class":
            cls: type = made.items[0][0]
            return cls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) not in ("replace", "_replace"):
            return None
        return class_of(self.kinds.of.get(call, UNKNOWN)) or _SAME

    def _is_plainly_read(self, node: Node, cls: type, holder: Node | None) -> bool:
        if isinstance(holder, gast.Call):
            return node in holder.args and self._made_by(holder) in (cls, _SAME) and holder.func is not node
        if isinstance(holder, gast.Subscript):
            return isinstance(holder.ctx, gast.Load) and isinstance(holder.slice, gast.Constant)
        if not isinstance(holder, gast.Attribute):
            return False
        if holder.attr in fields_of_class(cls) or holder.attr == "_replace":
            return isinstance(holder.ctx, gast.Load) or not (issubclass(cls, tuple) or _is_frozen(cls))
        return self._asks_fields_alone(holder.attr, cls, {})

    def _asks_fields_alone(self, attribute: str, cls: type, known: dict[str, bool]) -> bool:
        """Whether an attribute is a field, or a method that asks for nothing but such; `known` are those looked at."""
        method = inspect.getattr_static(cls, attribute, None)
        if attribute in fields_of_class(cls) or attribute in known:
            return True
        known[attribute] = True
        try:
            tree = self.facts.module.source(method)[0].tree if isinstance(method, types.FunctionType) else None
        except DifferentiationError:
            return False
        if tree is None:
            return False
        own = next(iter(parameters(tree)), "")
        read = [n for n in find_nodes(tree, gast.Attribute) if getattr(n.value, "id", "") == own]
        names = [n for s in tree.body for n in find_nodes(s, gast.Name) if n.id == own]
        plain = all(isinstance(n.ctx, gast.Load) and self._asks_fields_alone(n.attr, cls, known) for n in read)
        return plain and len(names) == len(read)

    def _is_simple(self, node: Node, simple: dict[str, None]) -> bool:
        if isinstance(node, gast.Name):
            return node.id in simple
        return target(self.around.get(node, self.function)) in simple

    def note_result(self) -> None:
        """Note which object the function returns; no class where it is not one object of one class in each branch."""
        found = [(node, kind) for node, kind in self.kinds.returned.items() if holds_object(kind, self.classes)]
        if not found or self.facts.request.placed:
            return
        node, kind = found[0]
        cls = class_of(kind)
        inner = kind.items[1:] if kind.tag == "made" else kind.items
        plain = cls is not None and not any(holds_object(one, self.classes) for _, one in inner)
        same = all(class_of(one) is cls for one in self.kinds.returned.values())
        whole = plain and same and (issubclass(cls, tuple) or _is_remade(cls))
        self.facts.kinds.gives = (cls if whole else None, node)

    def spell(self) -> None:
        """Change the function."""
        self.written = self.function.name
        self._give_back_object()
        for node in [n for s in self.function.body for n in walk(s) if isinstance(n, gast.stmt | gast.Lambda)]:
            self.changed = False
            if isinstance(node, gast.AugAssign):
                self._update(node)
            if isinstance(node, gast.stmt):
                rewrite(node, self._expression)
            if self.changed:
                self.facts.origin.foreign[node] = None

    changed: bool = False
    written: str = ""  # the name of the method that this function is

    def _give_back_object(self) -> None:
        """An `__init__` that is written out gives the object: its caller made it for that."""
        first = next(iter(parameters(self.function)), "")
        cls = self._class(self.kinds.named.get(first, UNKNOWN))
        if self.function.name not in ("__init__", "__post_init__") or cls is None:
            return
        if NEW not in dict(self.kinds.named[first].items):
            return  # by `super().__init__()`, for an object that another one makes
        empty = self.function.name == "__init__"
        self.kinds.of.update({one: _begun(kind) for one, kind in self.kinds.of.items() if NEW in dict(kind.items)})
        self.kinds.named[first] = _begun(self.kinds.named[first])
        self.function.name = cls.__name__.lower()
        for node in [n for n in statements(self.function.body) if isinstance(n, gast.Return)]:
            node.value = at(name(first), node)
        last: Node = at(gast.Return(name(first)), self.function.body[-1])
        if empty:
            last = self._end_with_display(first, last)
        self.facts.origin.foreign[last] = None
        self.function.body.append(last)
        self.facts.names.local |= {first}

    def _end_with_display(self, first: str, last: Node) -> Node:
        """`return {"x": x}` for `self.x = x` at the end, where nothing else is done with the object."""
        body = self.function.body
        pairs = [(n, pair) for n in body if (pair := _attributes_stored(n, first)) is not None]
        stored = [n for n, _ in pairs]
        names = [n for s in body for n in find_nodes(s, gast.Name) if n.id in (first, "super")]
        keys = [key for _, pair in pairs for key in pair]
        once = len(names) <= len(keys) == len(set(keys))
        if not once or stored != body[len(body) - len(stored) :] or not stored:
            return last
        values = [value for _, pair in pairs for value in pair.values()]
        made = at(gast.Dict([at(literal_node(one), last) for one in keys], values), last)
        del body[len(body) - len(stored) :]
        return at(gast.Return(made), last)

    def _class(self, kind: Kind) -> type | None:
        """The class of an object that is taken apart."""
        cls = class_of(kind)
        return cls if cls in self.classes else None

    def _update(self, node: Node) -> None:
        """`v = v + w` for `v += w` where the class has written it so."""
        own = own_operator(type(node.op), self.kinds.of.get(node.target, UNKNOWN))
        if own is None or self._class(self.kinds.of[node.target]) is None or not isinstance(node.target, gast.Name):
            return
        value = self._call(own, [at(name(node.target.id), node.target), node.value], node)
        node.__class__ = gast.Assign
        node.targets, node.value = [node.target], value
        del node.target, node.op

    def _expression(self, part: Node) -> Node:
        made = part
        if isinstance(part, gast.Call):
            made = self._called(part)
        elif isinstance(part, gast.Attribute):
            made = self._attribute(part)
        elif isinstance(part, gast.BinOp):
            made = self._operator(part)
        elif isinstance(part, gast.UnaryOp):
            own = own_operator(type(part.op), self._of(part.operand))
            made = part if own is None else self._call(own, [part.operand], part)
        elif isinstance(part, gast.Compare):
            self._compare(part)
        if made is not part:
            self.kinds.of[made] = self.kinds.of.get(part, UNKNOWN)
            self.changed = True
        return made

    def _of(self, node: Node) -> Kind:
        """The kind of an expression, if that is an object which is taken apart."""
        kind = self.kinds.of.get(node, UNKNOWN)
        return kind if self._class(kind) is not None else UNKNOWN

    def _operator(self, part: Node) -> Node:
        left, right = self._of(part.left), self._of(part.right)
        own = own_operator(type(part.op), left)
        if own is not None and self._is_sure(left, own.__name__):
            return self._call(own, [part.left, part.right], part)
        reflected = own_operator(type(part.op), right, reflected=True)
        number = self.kinds.of.get(part.left, UNKNOWN).tag == "scalar"  # an array would take the object for an item
        if reflected is not None and number and self._is_sure(right, reflected.__name__):
            return self._call(reflected, [part.right, part.left], part)
        return part

    def _compare(self, part: Node) -> None:
        """`p is q` for `p == q` where the class says nothing of it."""
        for place, op in enumerate(part.ops):
            held = self._of([part.left, *part.comparators][place])
            if isinstance(op, gast.Eq | gast.NotEq) and held.tag == "made" and not is_compared(class_of(held)):
                part.ops[place] = gast.Is() if isinstance(op, gast.Eq) else gast.IsNot()
                self.changed = True

    def _is_sure(self, held: Kind, attribute: str) -> bool:
        """Whether an attribute means what the class has: the object is surely of it, or no other class has another."""
        if held.tag != "made" or held.items[0][1] == UNKNOWN:
            return True
        cls = class_of(held)
        own = inspect.getattr_static(cls, attribute, None)
        others = [one for one in self.facts.module.apart if one is not cls]
        return not any(attribute in fields_of_class(one) or _differs(one, attribute, own) for one in others)

    def _attribute(self, part: Node) -> Node:
        """`p["x"]` for `p.x`, `area(p)` for a property."""
        held = self._of(part.value)
        cls = class_of(held)
        if cls is None:
            return part
        found = inspect.getattr_static(cls, part.attr, None)
        if held.tag == "tuple":
            if part.attr in cls._fields:
                return self._item(part, cls._fields.index(part.attr))
        elif part.attr in dict(held.items[1:]) or found is None or isinstance(found, types.MemberDescriptorType):
            if isinstance(part.ctx, gast.Load) or not _is_frozen(cls):
                return self._item(part, part.attr)
        if isinstance(found, property) and isinstance(part.ctx, gast.Load) and found.fget is not None:
            return self._call(found.fget, [part.value], part) if self._is_sure(held, part.attr) else part
        constant = trusted_constant(found)
        if constant is not None and isinstance(part.ctx, gast.Load) and not _stores(cls, {part.attr}):
            steady = part.attr not in self.kinds.objects.shaky and self._is_sure(held, part.attr)
            return at(constant, part) if steady else part
        return part

    def _item(self, part: Node, key: int | str) -> Node:
        return at(gast.Subscript(part.value, literal_node(key), part.ctx), part)

    def _called(self, call: Node) -> Node:
        function = call.func
        made = self.kinds.of.get(function, UNKNOWN)
        if made.tag == "class" and made.items[0][0] in self.classes:
            return self._new(call, made.items[0][0])
        if self._of(function).tag == "made":
            own = inspect.getattr_static(class_of(made), "__call__", None)
            sure = isinstance(own, types.FunctionType) and self._is_sure(made, "__call__")
            return self._call(own, [function, *call.args], call, call.keywords) if sure else call
        if isinstance(function, gast.Attribute):
            return self._inherited(call) or self._of_class(call) or self._method(call)
        called, asked = object_of(function, self.facts), self._of(call.args[0]) if call.args else UNKNOWN
        if class_of(asked) is None:
            return call
        if called is dataclasses.replace and len(call.args) == 1:
            return self._copy(call, call.args[0], asked)
        if called is isinstance and len(call.args) == 2 and self._is_sure(asked, "__class__"):
            cls = object_of(call.args[1], self.facts)
            return at(literal_node(issubclass(class_of(asked), cls)), call) if isinstance(cls, type) else call
        return call

    def _of_class(self, call: Node) -> Node | None:
        """`through(Plane, a, b)` for `Plane.through(a, b)`, a class method."""
        held = self.kinds.of.get(call.func.value, UNKNOWN)
        cls = held.items[0][0] if held.tag == "class" else class_of(self._of(call.func.value))
        found = None if cls is None else inspect.getattr_static(cls, call.func.attr, None)
        if cls not in self.classes or not isinstance(found, classmethod):
            return None
        whole = at(name(self._name_of(cls)), call)
        self.kinds.of[whole] = of_object(cls)
        return self._call(found.__func__, [whole, *call.args], call, call.keywords)

    def _inherited(self, call: Node) -> Node | None:
        """`area(self, 2.0)` for `super().area(2.0)`."""
        asked = call.func.value
        if not isinstance(asked, gast.Call) or getattr(asked.func, "id", "") != "super" or asked.args:
            return None
        first = next(iter(parameters(self.function)), "")
        order = getattr(self._class(self.kinds.named.get(first, UNKNOWN)), "__mro__", ())
        here = [k for k, one in enumerate(order) if self._is_in(one)]
        found = (
            [vars(one)[call.func.attr] for one in order[here[0] + 1 :] if call.func.attr in vars(one)] if here else []
        )
        if not found or not isinstance(found[0], types.FunctionType):
            return None
        own = at(name(first), call)
        self.kinds.of[own] = self.kinds.named[first]
        return self._call(found[0], [own, *call.args], call, call.keywords)

    def _is_in(self, cls: type) -> bool:
        """Whether the function is a method of this very class."""
        found = vars(cls).get(self.written)
        try:
            own = self.facts.module.source(found)[0] if isinstance(found, types.FunctionType) else None
        except DifferentiationError:
            return False
        return own is not None and own.tree is self.facts.source.tree

    def _method(self, call: Node) -> Node:
        """`area(p, 2.0)` for `p.area(2.0)`."""
        base, attribute = call.func.value, call.func.attr
        held = self._of(base)
        cls = class_of(held)
        if cls is None:
            return call
        if attribute == "_replace" and held.tag == "tuple" and not call.args:
            return self._copy(call, base, held)
        found = inspect.getattr_static(cls, attribute, None)
        if attribute in dict(held.items[1:]) or not self._is_sure(held, attribute):
            return call
        if isinstance(found, types.FunctionType):
            return self._call(found, [base, *call.args], call, call.keywords)
        if isinstance(found, staticmethod):
            return self._call(found.__func__, call.args, call, call.keywords)
        return call

    def _call(self, function: Callable[..., object], args: list[Node], where: Node, words: Sequence[Node] = ()) -> Node:
        """A call of what a class has written."""
        called = at(name(self._name_of(function)), where)
        self.kinds.of[called] = of_object(function)
        return at(gast.Call(called, args, list(words)), where)

    def _name_of(self, found: Callable[..., object]) -> str:
        """A name that means a function or a class here."""
        if found not in self.named:
            stem = "new" if found.__name__ == "__init__" else found.__name__.strip("_")
            self.named[found] = self.facts.names.fresh(stem)
            self.facts.namespace = Overlay(self.facts.namespace, {self.named[found]: Binding("object", found)})
        return self.named[found]

    def _copy(self, call: Node, base: Node, held: Kind) -> Node:
        """A changed copy: what is not given is that of the object, which has a name."""
        cls = class_of(held)
        given = {str(word.arg): word.value for word in call.keywords}
        if not isinstance(base, gast.Name) or any(one not in fields_of_class(cls) for one in given):
            return call
        if not issubclass(cls, tuple) and hasattr(cls, "__post_init__"):
            return call
        for place, one in enumerate(fields_of_class(cls)):
            key = literal_node(place if held.tag == "tuple" else one)
            given.setdefault(one, at(expression("p[key]", p=copy(base), key=key), call))
        return self._display(cls, given, call)

    def _display(self, cls: type, given: dict[str, Node], where: Node) -> Node:
        values = [given[one] for one in fields_of_class(cls)]
        if issubclass(cls, tuple):
            return at(gast.Tuple(values, gast.Load()), where)
        return at(gast.Dict([at(literal_node(one), where) for one in fields_of_class(cls)], values), where)

    def _new(self, call: Node, cls: type) -> Node:
        """A display of the fields, or a call of what makes them."""
        if any(isinstance(one, gast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords):
            return call
        if cls is types.SimpleNamespace:
            values = [word.value for word in call.keywords]
            return at(gast.Dict([at(literal_node(w.arg), call) for w in call.keywords], values), call)
        self._note(cls)
        if not dataclasses.is_dataclass(cls) and not issubclass(cls, tuple):
            return self._initialised(call, cls)
        given = fields_given(call, cls, partial(default_of_field, cls))
        if given is None:
            return call
        made = self._display(cls, given, call)
        after = inspect.getattr_static(cls, "__post_init__", None) if not issubclass(cls, tuple) else None
        return made if after is None else self._call(after, [self._with_kind(made, cls)], call)

    def _with_kind(self, made: Node, cls: type) -> Node:
        self.kinds.of[made] = Kind("made", None, ((cls, UNKNOWN), (NEW, UNKNOWN)))
        return made

    def _initialised(self, call: Node, cls: type) -> Node:
        if any(call in walk(one) for s in self.function.body for one in find_nodes(s, gast.FunctionDef, gast.Lambda)):
            return call  # it is looked at where the function that it stands in is written out
        init = inspect.getattr_static(cls, "__init__", None)
        begun = self._with_kind(at(gast.Dict([], []), call), cls)
        if not isinstance(init, types.FunctionType):
            return begun
        return self._call(init, [begun, *call.args], call, call.keywords)

    def _note(self, cls: type) -> None:
        """Note what making and asking an object runs, so that a change of it can be told."""
        noted = self.facts.module.methods
        if dataclasses.is_dataclass(cls) or issubclass(cls, tuple):
            noted.append((cls, "", what_makes(cls), None))
        written = {one for base in cls.__mro__[:-1] for one, held in vars(base).items() if _is_code(held)}
        noted += [(cls, one, inspect.getattr_static(cls, one), None) for one in sorted(written)]


NEW = object()  # the field of an object that has none yet: nobody else knows it


def _begun(kind: Kind) -> Kind:
    """An object that has been given to others, or has some fields."""
    return replace(kind, items=tuple(one for one in kind.items if one[0] is not NEW))


def _attributes_stored(node: Node, held: str) -> dict[str, Node] | None:
    """The attributes that `self.a = e` or `self.a, self.b = d, e` binds, and to what; None for anything else."""
    if not isinstance(node, gast.Assign) or len(node.targets) > 1:
        return None
    place, value = node.targets[0], node.value
    places = place.elts if isinstance(place, gast.Tuple) else [place]
    values = value.elts if isinstance(place, gast.Tuple) and isinstance(value, gast.Tuple) else [value]
    fits = len(places) == len(values) and not any(isinstance(one, gast.Starred) for one in values)
    known = fits and all(_attribute_of(one, held) for one in places)
    return {one.attr: each for one, each in zip(places, values, strict=True)} if known else None


def _attribute_of(place: Node, held: str) -> bool:
    return isinstance(place, gast.Attribute) and getattr(place.value, "id", "") == held


def _is_code(held: object) -> bool:
    return isinstance(held, types.FunctionType | property | staticmethod | classmethod)


def _differs(cls: type, attribute: str, own: object) -> bool:
    other = inspect.getattr_static(cls, attribute, None)
    return attribute == "__class__" or (other is not None and other is not own) or _stores(cls, {attribute})


def _is_frozen(cls: type) -> bool:
    return bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))


def _is_remade(cls: type) -> bool:
    """Whether `C(**fields)` makes an object again."""
    return dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__")


def is_compared(cls: type) -> bool:
    """Whether a class says itself which of its objects are equal."""
    return inspect.getattr_static(cls, "__eq__", None) is not object.__eq__


def _stores(cls: type, attributes: set[str]) -> bool:
    """Whether some function of a class binds an attribute of one of these names."""
    written = (f for base in cls.__mro__ for f in vars(base).values() if isinstance(f, types.FunctionType))
    named = (f for f in written if not attributes.isdisjoint(f.__code__.co_names))  # few: to disassemble takes long
    return any(i.opname == "STORE_ATTR" and i.argval in attributes for f in named for i in get_instructions(f))


_SPECIAL = {"__init__", "__post_init__", "__call__", "__repr__", "__str__", "__format__",
            *(f"__{side}{one}__" for one in OPERATORS.values() for side in ("", "r"))}  # fmt: skip
_ASKS_FOR_NAMES = {"__dict__", "setattr", "__setattr__", "vars", "getattr", "__class__", "hasattr", "delattr"}


def can_open(cls: type, facts: Facts) -> bool:
    """Whether an object is its fields and what its class has written, and nothing else happens where it is asked."""
    if issubclass(cls, tuple) or cls is types.SimpleNamespace:
        return cls is types.SimpleNamespace or _is_plain(cls, facts)
    if issubclass(cls, BaseException) or type(cls).__call__ is not type.__call__ or _is_of_library(cls):
        return False
    record = dataclasses.is_dataclass(cls)
    if record and (not has_plain_attributes(cls) or not _is_made_by_fields(cls)):
        return False
    held = [(one, found) for base in cls.__mro__[:-1] for one, found in vars(base).items()]
    hidden = _stores(cls, {one for one, found in held if _is_code(found)})
    return cls.__new__ is object.__new__ and not hidden and does_no_more(cls, _SPECIAL, _function)


def does_no_more(cls: type, special: Collection[str], codes: Callable[[object], list[types.FunctionType]]) -> bool:
    """Whether a class has functions alone, of special ones these, and none of them asks for attributes by their names.

    `codes` gives the functions of which an attribute of the class is made, as far as they are looked at.
    """
    held = [(base, one, found) for base in cls.__mro__[:-1] for one, found in vars(base).items()]
    written = [(one, code) for base, one, found in held for code in codes(found) if not is_generated(code, base, one)]
    if any(one[:2] == "__" == one[-2:] and one not in special for one, _ in written):
        return False
    asked = {name for _, code in written for name in code.__code__.co_names} & _ASKS_FOR_NAMES
    other = {
        one for _, one, found in held if hasattr(type(found), "__get__") and not (_is_code(found) or is_slot(found))
    }
    return not asked and other <= {"__dict__", "__weakref__"}


def _function(held: object) -> list[types.FunctionType]:
    return [held] if isinstance(held, types.FunctionType) else []


def _is_of_library(cls: type) -> bool:
    home = cls.__module__.partition(".")[0]
    return home in ("numpy", "scipy", "srcgrad") or (home in sys.stdlib_module_names and home != "__main__")


def _is_made_by_fields(owner: type) -> bool:
    """Whether `@dataclass` has written how an object is made: each field is given, and nothing else is."""
    init = inspect.getattr_static(owner, "__init__")
    given = list(inspect.signature(init).parameters)[1:]
    return is_generated(init, owner, "__init__") and given == list(getattr(owner, "__dataclass_fields__", {}))


def solutions(function: Node, work: Rewriting) -> None:
    """Let `t, y = solution(f, span, y0)` stand for `sol = solve_ivp(f, span, y0)` where only parts of `sol` are read.

    What is read otherwise stays as it is: no derivative is known then.
    """
    every = list(statements(function.body))
    if not any(_parts(n, work) for node in every for part in header(node) for n in find_nodes(part, gast.Call)):
        return
    function.body = rewrite_statements(
        function.body, lambda node: _hoist_solutions(node, _hold_solution, (*_SPOKEN, gast.Expr), work)
    )
    function.body = rewrite_blocks(function.body, lambda block: _with_dense_solutions(block, function, work))
    every = list(statements(function.body))
    for held in dict.fromkeys(target(n) for n in every if _parts(getattr(n, "value", None), work)):
        bound = [n for n in every if held in stores(n)]
        found = [_parts(getattr(node, "value", None), work) for node in bound if target(node) == held]
        if held is None or len(found) != len(bound) or any(one is not found[0] for one in found):
            continue
        parts = found[0]
        if parts is None or any(mentions(tree, held) for tree in _nested(work)):
            continue
        if _is_asked_only(held, function.body, partial(_is_part, held=held, known=_known(parts))):
            _bind_parts(function, held, parts, bound, work)


def _parts(node: Node | None, work: Rewriting) -> Parts | None:
    """What is known of the result of a call, if it is an object with parts."""
    if not isinstance(node, gast.Call):
        return None
    found = object_of(node.func, work.facts)
    module = home(found) or ""
    if module.startswith("scipy."):
        templates.load_for(module)
    return parts_of(found)


def _with_dense_solutions(block: Block, function: Node, work: Rewriting) -> Block:
    """The block with `sol_sol = dense_solution(f, span, y0)` after `sol = solve_ivp(f, span, y0, dense_output=True)`.

    Then `sol.sol` is that one, and `sol` has no more than known parts. What makes both has names before.
    """
    trees = [function, *_nested(work)]
    made: Block = []
    for node in block:
        held = target(node)
        if held is None or not _is_dense(node, trees, work):
            made.append(node)
            continue
        call, spelled = node.value, work.name(f"{held}_sol")
        call.keywords = [word for word in call.keywords if word.arg != "dense_output"]
        made += [*_name_arguments(call, held, node, work), node]
        words = [copy(word) for word in call.keywords if word.arg != "t_eval"]
        dense = name(work.library(dense_solution.__name__, dense_solution))
        made.append(work.bind(spelled, at(gast.Call(dense, [copy(one) for one in call.args], words), call), node))
        for one in [n for tree in trees for n in walk(tree) if isinstance(n, gast.stmt | gast.Lambda)]:
            if mentions(one, held):
                rewrite(one, partial(_named_solution, held=held, spelled=spelled))
                work.facts.origin.foreign[one] = None
    return made


def _nested(work: Rewriting) -> list[Node]:
    """The functions that stand in the function."""
    return [known.tree for known in work.facts.names.functions.values() if known.tree is not None]


def _is_part(node: Node, held: str, known: Sequence[str]) -> bool:
    """Whether an expression is one of some attributes of a name."""
    return isinstance(node, gast.Attribute) and node.attr in known and getattr(node.value, "id", "") == held


def _is_asked_only(held: str, trees: list[Node], asks: Callable[[Node], bool]) -> bool:
    """Whether nothing is done with a name in some trees but what `asks` knows; none has it for a parameter."""
    every = [n for tree in trees for n in walk(tree)]
    read = [n.ctx for n in every if isinstance(n, gast.Name) and n.id == held and not isinstance(n.ctx, gast.Store)]
    return all(isinstance(one, gast.Load) for one in read) and len(read) == sum(map(asks, every))


def _is_dense(node: Node, trees: list[Node], work: Rewriting) -> bool:
    """Whether a solution is asked to be a function of time as well, and nothing else but known parts of it is read."""
    call = node.value if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call) else None
    asked = [] if call is None else [w.value for w in call.keywords if w.arg == "dense_output"]
    if not asked or getattr(asked[0], "value", None) is not True:
        return False
    parts, held = _parts(call, work), str(target(node))
    bound = [n for tree in trees for n in find_nodes(tree, gast.Name) if n.id == held and isinstance(n.ctx, gast.Store)]
    if parts is None or len(bound) != 1:
        return False
    return _is_asked_only(held, trees, partial(_is_part, held=held, known=(*_known(parts), "sol")))


def _name_arguments(call: Node, held: str, node: Node, work: Rewriting) -> Block:
    """Assignments of what a call is given, of a tuple one by one, to names that stand in the call then."""
    made: Block = []

    def named(value: Node) -> Node:
        if isinstance(value, gast.Name | gast.Constant | gast.Attribute | gast.Lambda):
            return value
        if isinstance(value, gast.Tuple | gast.List):
            value.elts = [named(one) for one in value.elts]
            return value
        spelled = work.name(f"{held}_given")
        made.append(work.bind(spelled, value, node))
        return at(name(spelled), value)

    call.args = [named(one) for one in call.args]
    for word in call.keywords:
        word.value = named(word.value)
    return made


def _known(parts: Parts) -> tuple[str, ...]:
    return (*parts.names, *parts.constants)


def _named_solution(part: Node, held: str, spelled: str) -> Node:
    return at(name(spelled), part) if _is_part(part, held, ("sol",)) else part


_SPOKEN = (gast.Assign, gast.AugAssign, gast.Return)


def _hoist_solutions(node: Node, exchange: Callable[..., Node], kinds: tuple[type, ...], work: Rewriting) -> Block:
    """`sol = solve_ivp(...)` before a statement that reads a part of such a call: before those of some kinds."""
    before: Block = []
    if type(node) in kinds and node.value is not None:
        rewrite(node, lambda part: exchange(part, node, before, work), SOMETIMES)
    return [*before, node]


def _hold_solution(part: Node, node: Node, before: Block, work: Rewriting) -> Node:
    """`sol.y` for `solve_ivp(...).y`."""
    if isinstance(part, gast.Attribute) and _parts(part.value, work):
        held = work.name("sol")
        before.append(work.bind(held, part.value, node))
        part.value = at(name(held), part.value)
        work.facts.origin.foreign[node] = None
    return part


def _bind_parts(function: Node, held: str, parts: Parts, bound: list[Node], work: Rewriting) -> None:
    """Bind the parts to names, and read these."""
    helper = work.library(parts.helper.__name__, parts.helper)
    names = {part: work.name(f"{held}_{part}") for part in parts.names}
    for node in bound:
        targets = [name(one, gast.Store()) for one in names.values()]
        node.targets = [gast.Tuple(targets, gast.Store()) if len(targets) > 1 else targets[0]]
        node.value.func = at(name(helper), node.value.func)
        work.own(node, node)
    for node in statements(function.body):
        if held in loads(node):
            rewrite(node, partial(_part, held=held, names=names, parts=parts))
            work.facts.origin.foreign[node] = None


def _part(node: Node, held: str, names: dict[str, str], parts: Parts) -> Node:
    if not _is_part(node, held, _known(parts)):
        return node
    made = name(names[node.attr]) if node.attr in names else literal_node(parts.constants[node.attr])
    return at(made, node)


_METHODS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")


def expand_distributions(function: Node, work: Rewriting) -> None:
    """Spell calls of their methods out; one with a name gives its parameters names, and is no object any more.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy import stats\\ndef f(x, m):\\n    d = stats.norm(m, scale=2.0)\\n    return d.logpdf(x)"
    >>> print(explain_text(text, after="desugar"))
    def f(x, m):
        d_loc = m
        return stats.norm.logpdf(x, loc=d_loc, scale=2.0)
    """
    made = {str(target(n)): n.value for n in statements(function.body) if _words(getattr(n, "value", None), work)}
    bound = [s for n in statements(function.body) for s in stores(n)]
    known: dict[str, tuple[Node, dict[str, Node]]] = {}
    for held, call in made.items():
        outside = bound.count(held) != 1 or any(mentions(tree, held) for tree in _nested(work))
        if not outside and _is_asked_only(held, function.body, partial(_is_method_of, held)):
            known[held] = (call.func, {})
    if known:
        function.body = rewrite_blocks(function.body, lambda block: _without_distributions(block, known, work))
    for node in statements(function.body):
        if any(item.attr in _METHODS for item in find_nodes(node, gast.Attribute)):
            rewrite(node, partial(_spell_method, node=node, known=known, work=work))


def _words(call: Node | None, work: Rewriting) -> dict[str, Node] | None:
    """The parameters that the call of a distribution gives, by name; None for any other expression."""
    made = object_of(call.func, work.facts) if isinstance(call, gast.Call) else None
    if call is None or not is_distribution(made) or not callable(made):
        return None
    return arguments_by_name(call, _parameters(made)) or None


def _parameters(distribution: Any) -> list[str]:
    if hasattr(distribution, "shapes"):
        shapes = [one.strip() for one in (distribution.shapes or "").split(",") if one.strip()]
        return [*shapes, "loc", *(["scale"] if hasattr(distribution, "pdf") else [])]
    method = getattr(distribution, "logpdf", None) or distribution.logpmf
    return list(inspect.signature(method).parameters)[1:]


def _is_method_of(held: str, node: Node) -> bool:
    """Whether an expression is `d.logpdf(...)`, of a name d."""
    return isinstance(node, gast.Call) and _is_part(node.func, held, _METHODS)


def _without_distributions(block: Block, known: dict[str, tuple[Node, dict[str, Node]]], work: Rewriting) -> Block:
    """The block with names for the parameters of distributions in the place of these."""
    made: Block = []
    for node in block:
        held = target(node)
        if held not in known:
            made.append(node)
            continue
        for key, value in (_words(node.value, work) or {}).items():
            words = known[held][1]
            words[key] = value
            if not isinstance(value, gast.Constant):
                spelled = work.name(f"{held}_{key}")
                made.append(work.bind(spelled, value, node))
                words[key] = name(spelled)
    return made or [at(gast.Pass(), block[0])]


def _spell_method(part: Node, node: Node, known: dict[str, tuple[Node, dict[str, Node]]], work: Rewriting) -> Node:
    function = part.func if isinstance(part, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _METHODS:
        return part
    if getattr(function.value, "id", "") in known:
        distribution: Node | None
        distribution, words = known[function.value.id]
    elif _words(function.value, work):
        distribution, words = function.value.func, _words(function.value, work) or {}
    else:
        distribution, words = _of_module(function.value, work)
        if distribution is None:
            return part
    part.func = at(expression(f"d.{function.attr}", d=copy(distribution)), function)
    part.keywords += [at(gast.keyword(key, at(copy(value), part)), part) for key, value in words.items()]
    work.facts.origin.foreign[node] = None
    return placed(part, node)


def _of_module(owner: Node, work: Rewriting) -> tuple[Node | None, dict[str, Node]]:
    """The distribution of a frozen one that the module has made, and what it holds."""
    held = object_of(owner, work.facts)
    inner = getattr(held, "dist", None)
    if not is_distribution(held) or inner is None:
        return None, {}
    public = getattr(sys.modules["scipy.stats"], str(getattr(inner, "name", "")), None)
    if type(public) is not type(inner):
        return None, {}
    spelled = work.library(str(getattr(inner, "name", "")), public)
    names = _parameters(public)
    words = {names[k]: expression(f"d.args[{k}]", d=copy(owner)) for k in range(len(held.args))}
    words |= {key: expression(f"d.kwds[{key!r}]", d=copy(owner)) for key in held.kwds}
    return name(spelled), words


def called_objects(function: Node, work: Rewriting) -> None:
    """Let a function of all arguments stand for an object that is made here, or held by the module, and is called.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy.interpolate import interp1d\\ndef f(x, y):\\n    g = interp1d(x, 2 * y)\\n    return g(1.5)"
    >>> print(explain_text(text, after="desugar"))
    def f(x, y):
        g_x = x
        g_y = 2 * y
        return interpolated(g_x, g_y, 1.5)
    """
    local = work.facts.names.local
    every = list(statements(function.body))
    nested = _nested(work)
    calls = [n for tree in (function, *nested) for n in walk(tree) if isinstance(n, gast.Call)]
    if not any(_making_arguments(n, work) or _held_object(n.func, local, work) for n in calls):
        return
    bound = [s for n in every for s in stores(n)]
    made: Made = {}
    for node in every:
        held = target(node)
        given = None if held is None else _making_arguments(node.value, work) or _derived(node.value, made)
        if held is None or given is None or bound.count(held) != 1:
            continue
        trees = [function, *(tree for tree in nested if mentions(tree, held))]
        if _is_asked_only(held, trees, partial(_is_called, held=held, known=given[0])):
            made[held] = given
    changed = _changed_names([function, *nested], set(made), work) if made else set()
    for held in [one for one, (known, _) in made.items() if known.steady]:
        if any(names_in(value) & changed for value in made[held][1].values()):
            del made[held]
    if made:
        function.body = rewrite_blocks(function.body, lambda block: _without_objects(block, made, changed, work))
    standing: dict[Node, tuple[CalledObject, dict[str, Node]]] = {}
    _rewrite_each([function, *nested], partial(_spell_call, made=made, standing=standing, local=local, work=work))


def _rewrite_each(trees: list[Node], change: Callable[..., Node]) -> None:
    """Rewrite the statements and the lambdas of some functions; `change` is told in which of them a part stands."""
    for one in [n for tree in trees for n in walk(tree) if isinstance(n, gast.stmt | gast.Lambda)]:
        if hasattr(one, "lineno"):
            rewrite(one, partial(change, where=one))


Made = dict[str, tuple[CalledObject, dict[str, Node]]]


def _derived(value: Node, made: Made) -> tuple[CalledObject, dict[str, Node]] | None:
    """What stands for the calls of `p.deriv()`, and makes it: of an object p that is known."""
    owner = made.get(_owner(value))
    if owner is None or value.func.attr not in owner[0].derived:
        return None
    return owner[0], {owner[0].made[0]: value}


def _owner(call: Node) -> str:
    """The name of `p.deriv()`."""
    function = call.func if isinstance(call, gast.Call) else None
    return str(getattr(function.value, "id", "")) if isinstance(function, gast.Attribute) else ""


def _making_arguments(call: Node, work: Rewriting) -> tuple[CalledObject, dict[str, Node]] | None:
    """What stands for the calls of an object, and the arguments that make it; None for any other expression."""
    known = _called_object(object_of(call.func, work.facts)) if isinstance(call, gast.Call) else None
    given = None if known is None else arguments_by_name(call, known.made)
    if known is None or given is None or not all(one in given for one in known.made[: known.required]):
        return None
    return known, given


def _held_object(called: Node, local: frozenset[str], work: Rewriting) -> tuple[CalledObject, object] | None:
    """What stands for the calls of an object that was made before, and the object."""
    found = binding_of(called, work.facts, local)
    if found is None or found.kind != "object" or isinstance(found.object, types.FunctionType | type):
        return None
    known = _called_object(type(found.object))
    return None if known is None or known.held(found.object) is None else (known, found.object)


def _called_object(cls: object) -> CalledObject | None:
    module = home(cls) or ""
    if module.startswith("scipy."):
        templates.load_for(module)
    elif module.startswith("srcgrad.interface."):
        templates.load_for("scipy.optimize")  # which has what `implicit` makes
    return called_object(cls)


def _is_called(node: Node, held: str, known: CalledObject) -> bool:
    """Whether an expression is a call of a name with so many arguments, or of what derives another object of it."""
    if not isinstance(node, gast.Call):
        return False
    asked = getattr(node.func, "id", "") == held and _helper(node, known) is not None
    return asked or (_owner(node) == held and node.func.attr in known.derived)


def _helper(call: Node, known: CalledObject) -> Function | None:
    plain = not call.keywords and not any(isinstance(a, gast.Starred) for a in call.args)
    count = min(len(call.args), 1) if known.together else len(call.args)
    return known.helpers.get(count) if plain else None


def _changed_names(trees: list[Node], objects: set[str], work: Rewriting) -> set[str]:
    """Names of what may be written into: by statements, by calls of functions without a rule, under another name.

    `objects` are those that only read what they hold.
    """
    changed: set[str] = set()
    groups: list[set[str]] = []
    for part in [n for tree in trees for n in walk(tree)]:
        if isinstance(part, gast.Subscript | gast.Attribute) and isinstance(part.ctx, gast.Store):
            changed |= names_in(part.value)
        elif isinstance(part, gast.AugAssign):
            changed |= names_in(part.target)
        elif target(part) in objects or (isinstance(part, gast.Call) and getattr(part.func, "id", "") in objects):
            continue
        elif isinstance(part, gast.Expr) or (isinstance(part, gast.Call) and not _is_maker(part, work)):
            changed |= names_in(part)
        elif isinstance(part, gast.keyword) and part.arg == "out":
            changed |= names_in(part.value)
        elif isinstance(part, gast.Assign) and not _is_new(part.value, work):
            groups.append(names_in(part))
    more = True
    while more:
        met = [group for group in groups if group & changed and not group <= changed]
        changed = changed.union(*met)
        more = bool(met)
    return changed


def _is_maker(call: Node, work: Rewriting) -> bool:
    return _is_new(call, work) or _making_arguments(call, work) is not None


def _is_new(value: Node, work: Rewriting) -> bool:
    """Whether an expression gives what no other name holds, and writes nothing."""
    if not isinstance(value, gast.Call):
        return isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant)
    return makes_new(object_of(value.func, work.facts), value)


def _without_objects(
    block: Block, known: dict[str, tuple[CalledObject, dict[str, Node]]], changed: set[str], work: Rewriting
) -> Block:
    """The block with names for the arguments that make objects in the place of these."""
    made: Block = []
    for node in block:
        held = str(target(node))
        if held not in known:
            made.append(node)
            continue
        for key, value in known[held][1].items():
            if key == "args" and isinstance(value, gast.Tuple):  # solvers ask for a display
                parts = [work.name(f"{held}_{key}") for _ in value.elts]
                made += [work.bind(one, part, node) for one, part in zip(parts, value.elts, strict=True)]
                known[held][1][key] = at(gast.Tuple([name(one) for one in parts], gast.Load()), value)
            elif (
                not isinstance(value, gast.Constant) and function_of(value, work.facts, work.facts.names.local) is None
            ):
                spelled = work.name(f"{held}_{key}")
                copies = known[held][0].copies
                own = copies is not False and bool(names_in(value) & changed) and not _is_new(value, work)
                copier = np.array if copies else np.asarray
                value = expression(f"{work.library(copier.__name__, copier)}(a)", a=value) if own else value
                made.append(work.bind(spelled, value, node))
                known[held][1][key] = name(spelled)
    return made or [at(gast.Pass(), block[0])]


def _spell_call(
    part: Node,
    where: Node,
    made: Made,
    standing: dict[Node, tuple[CalledObject, dict[str, Node]]],
    local: frozenset[str],
    work: Rewriting,
) -> Node:
    """`interpolated(x, y, t, kind="cubic")` for `interp1d(x, y, kind="cubic")(t)`.

    `standing` are the expressions that stand for objects which others derive.
    """
    if not isinstance(part, gast.Call):
        return part
    if isinstance(part.func, gast.Attribute):
        owner = _known_object(part.func.value, made, standing, local, work)
        if owner is None or part.func.attr not in owner[0].derived:
            return part
        derive, first = owner[0].derived[part.func.attr], owner[0].made[0]
        spelled = at(name(work.library(derive.__name__, derive)), part)
        whole = at(gast.Call(spelled, [at(copy(owner[1][first]), part), *part.args], part.keywords), part)
        standing[whole] = (owner[0], {first: whole})
        work.facts.origin.foreign[where] = None
        return whole
    given = _known_object(part.func, made, standing, local, work)
    helper = None if not given else _helper(part, given[0])
    if not given or helper is None:
        return part
    known, words = given
    leading = known.made[: known.required]
    places = [gast.Tuple(part.args, gast.Load())] if known.together and len(part.args) > 1 else part.args
    call = gast.Call(
        func=name(work.library(helper.__name__, helper)),
        args=[*(copy(words[key]) for key in leading), *places],
        keywords=[gast.keyword(key, copy(value)) for key, value in words.items() if key not in leading],
    )
    work.facts.origin.foreign[where] = None
    return at(placed(call, part), part)


def _known_object(
    node: Node,
    made: Made,
    standing: dict[Node, tuple[CalledObject, dict[str, Node]]],
    local: frozenset[str],
    work: Rewriting,
) -> tuple[CalledObject, dict[str, Node]] | None:
    """What stands for the calls of an expression that is an object, and what makes it."""
    given = made.get(getattr(node, "id", "")) or standing.get(node) or _making_arguments(node, work)
    if given is None and (found := _held_object(node, local, work)) is not None:
        known, held = found
        texts = known.held(held) or {}
        given = known, {k: expression(text, self=copy(node)) for k, text in texts.items()}
    return given


@record(frozen=True)
class Maker:
    """What makes the pieces of a spline, from the arguments in this order; each other one has one of these values."""

    helper: Function
    arguments: tuple[str, ...]
    required: int
    fixed: dict[str, tuple[object, ...]]
    shows: bool = False  # whether the object has knots and coefficients of polynomials itself
    needed: tuple[str, ...] = ()  # arguments whose defaults make another spline
    by: tuple[str, ...] = ()  # functions of the module that give its values, if it is no object that is called


SPREAD: dict[str, tuple[object, ...]] = {"axis": (0,), "extrapolate": (None, True)}
MAKERS = {
    "CubicSpline": Maker(
        pieces.cubic_pieces,
        ("x", "y", "axis", "bc_type", "extrapolate"),
        2,
        {"axis": (0,), "extrapolate": (None, True, "periodic")},
        shows=True,
    ),
    "PchipInterpolator": Maker(pieces.monotone_pieces, ("x", "y", "axis", "extrapolate"), 2, SPREAD, shows=True),
    "CubicHermiteSpline": Maker(
        pieces.hermite_pieces, ("x", "y", "dydx", "axis", "extrapolate"), 3, SPREAD, shows=True
    ),
    "make_interp_spline": Maker(
        pieces.cubic_pieces,
        ("x", "y", "k", "t", "bc_type", "axis", "check_finite"),
        2,
        {"k": (3,), "t": (None,), "axis": (0,), "check_finite": (True, False)},
    ),
    "InterpolatedUnivariateSpline": Maker(pieces.cubic_pieces, ("x", "y"), 2, {}),
    "UnivariateSpline": Maker(
        pieces.cubic_pieces, ("x", "y", "w", "bbox", "k", "s"), 2, {"w": (None,), "k": (3,), "s": (0,)}, needed=("s",)
    ),
    "splrep": Maker(
        pieces.cubic_pieces,
        ("x", "y", "w", "xb", "xe", "k", "task", "s"),
        2,
        {"w": (None,), "k": (3,), "task": (0,), "s": (0, None)},
        by=("splev",),
    ),
}


def splines(function: Node, work: Rewriting) -> None:
    """Let knots and coefficients stand for a spline that is made here, and is called or asked for its derivative.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "from scipy import interpolate as i\\ndef f(x, y):\\n    s = i.CubicSpline(x, y)\\n    return s(1.5, 1)"
    >>> print(explain_text(text, after="desugar"))
    def f(x, y):
        s_x, s_c = cubic_pieces(x, y)
        return pieces_at(s_x, derived_pieces(s_c, 1), 1.5)
    """
    every = list(statements(function.body))
    if not any(_spline_arguments(n, work) for node in every for n in find_nodes(node, gast.Call)):
        return
    function.body = rewrite_statements(function.body, lambda node: _hoist_solutions(node, _name_spline, _SPOKEN, work))
    every = list(statements(function.body))
    nested = _nested(work)
    bound = [s for n in every for s in stores(n)]
    for node in every:
        held = target(node)
        given = _spline_arguments(node.value, work) if held is not None else None
        if held is None or given is None or bound.count(held) != 1:
            continue
        reader = Reader(held, *given, work)
        trees = [function, *(tree for tree in nested if mentions(tree, held))]
        if _is_asked_only(held, trees, reader.is_question):
            reader.make(node)
            _rewrite_each(trees, reader.read)


def _spline_arguments(call: Node, work: Rewriting) -> tuple[Maker, dict[str, Node]] | None:
    """What makes the pieces of a spline, and its arguments by name; None for any other expression."""
    made = object_of(call.func, work.facts) if isinstance(call, gast.Call) else None
    maker = MAKERS.get(getattr(made, "__name__", ""))
    given = None if maker is None or home(made) != "scipy.interpolate" else arguments_by_name(call, maker.arguments)
    if maker is None or given is None:
        return None
    fixed = {key: getattr(value, "value", _NONE) for key, value in given.items() if key in maker.fixed}
    ends = given.get("bc_type")
    known = ends is None or literal(ends)  # a slope there may be active, and has no derivative
    known = known and (maker.shows or getattr(ends, "value", None) != "periodic")
    if not known or not all(key in given for key in (*maker.arguments[: maker.required], *maker.needed)):
        return None
    return (maker, given) if all(value in maker.fixed[key] for key, value in fixed.items()) else None


def _name_spline(part: Node, node: Node, before: Block, work: Rewriting) -> Node:
    if isinstance(part, gast.Call | gast.Attribute):
        key = "func" if isinstance(part, gast.Call) else "value"
        if _spline_arguments(getattr(part, key), work):
            held = work.name("spline")
            before.append(work.bind(held, getattr(part, key), node))
            setattr(part, key, at(name(held), getattr(part, key)))
            work.facts.origin.foreign[node] = None
    return part


@record
class Reader:
    """A name that holds a spline, and what stands for it."""

    held: str
    maker: Maker
    given: dict[str, Node]
    work: Rewriting
    knots: str = ""
    coefficients: str = ""

    def is_question(self, part: Node) -> bool:
        """Whether a value, a derivative, an integral or a known part of the spline is asked for."""
        return self.question(part) is not None

    def make(self, node: Node) -> None:
        """`s_x, s_c = cubic_pieces(x, y)` in the place of `s = CubicSpline(x, y)`."""
        self.knots, self.coefficients = self.work.name(f"{self.held}_x"), self.work.name(f"{self.held}_c")
        leading = self.maker.arguments[: self.maker.required]
        words = {"bc_type": self.given["bc_type"]} if "bc_type" in self.given else {}
        if getattr(words.get("bc_type"), "value", ...) is None:
            words = {}
        call = gast.Call(
            func=name(self._library(self.maker.helper)),
            args=[self.given[key] for key in leading],
            keywords=[gast.keyword(key, value) for key, value in words.items()],
        )
        node.targets = [gast.Tuple([name(one, gast.Store()) for one in (self.knots, self.coefficients)], gast.Store())]
        node.value = at(call, node.value)
        self.work.own(node, node)

    def read(self, part: Node, where: Node) -> Node:
        """What stands for `s(t)`, `s.derivative()(t)`, `s.integrate(a, b)`, `s.x` and `s.c`."""
        asked = self.question(part)
        if asked is None:
            return part
        self.work.facts.origin.foreign[where] = None
        what, order, values = asked
        if what in ("x", "c"):
            return at(name(self.knots if what == "x" else self.coefficients), part)
        c = name(self.coefficients)
        if order:
            c = expression(f"{self._library(pieces.derived_pieces)}(c, {order})", c=c)
        words: dict[str, Node | str] = {"x": name(self.knots), "c": c, "t": copy(values[0])}
        if what == "integral":
            call = f"{self._library(pieces.integrated_pieces)}(x, c, t, b)"
            number = "[()]" if part.func.attr == "integral" else ""  # which gives a float, `integrate` an array
            made = expression(call + number, b=copy(values[1]), **words)
        elif self._is_periodic():
            inside = f"{self._library(pieces.places_in_period)}(k, t)"
            made = expression(f"{self._library(pieces.pieces_at)}(x, c, {inside})", k=name(self.knots), **words)
        else:
            made = expression(f"{self._library(pieces.pieces_at)}(x, c, t)", **words)
        return at(placed(made, part), part)

    def _library(self, helper: Callable[..., object]) -> str:
        return self.work.library(helper.__name__, helper)

    def _is_periodic(self) -> bool:
        ends = getattr(self.given.get("bc_type"), "value", None)
        beyond = getattr(self.given.get("extrapolate"), "value", None)
        return self.maker.shows and (beyond == "periodic" or (ends == "periodic" and beyond is None))

    def question(self, part: Node) -> tuple[str, int, list[Node]] | None:
        """What is asked of the spline: a value or an integral, the order of the derivative, the places."""
        if isinstance(part, gast.Attribute) and self._is(part.value) and self.maker.shows:
            return (part.attr, 0, []) if part.attr in ("x", "c") else None
        if self.maker.by:
            return self._value_by_function(part)
        if not isinstance(part, gast.Call) or any(w.arg not in ("nu", "x") for w in part.keywords):
            return None
        if isinstance(part.func, gast.Attribute) and self._is(part.func.value):
            integral = part.func.attr in ("integrate", "integral") and len(part.args) == 2 and not part.keywords
            return ("integral", 0, part.args) if integral and not self._is_periodic() else None
        order = self._order(part.func)
        given = dict(zip(("x", "nu"), part.args, strict=False)) | {w.arg: w.value for w in part.keywords}
        more = getattr(given.get("nu"), "value", None) if "nu" in given else 0
        if order is None or "x" not in given or len(part.args) > 2 or not isinstance(more, int):
            return None
        return "value", order + more, [given["x"]]

    def _value_by_function(self, part: Node) -> tuple[str, int, list[Node]] | None:
        """The places and the order of `splev(t, s, der=1)`."""
        called = part.func if isinstance(part, gast.Call) else None
        found = None if called is None else binding_of(called, self.work.facts, self.work.facts.names.local)
        if found is None or home(found.object) != "scipy.interpolate" or found.object.__name__ not in self.maker.by:
            return None
        given = dict(zip(("x", "tck", "der"), part.args, strict=False)) | {w.arg: w.value for w in part.keywords}
        order = getattr(given.get("der"), "value", None) if "der" in given else 0
        plain = set(given) <= {"x", "tck", "der"} and len(part.args) < 4
        if not plain or not isinstance(order, int) or not self._is(given.get("tck")):
            return None
        return "value", order, [given["x"]]

    def _order(self, called: Node) -> int | None:
        """0 for `s`, and the order of `s.derivative(nu)`."""
        if self._is(called):
            return 0
        if not isinstance(called, gast.Call) or called.keywords or not isinstance(called.func, gast.Attribute):
            return None
        if called.func.attr != "derivative" or not self._is(called.func.value):
            return None
        order = getattr(called.args[0], "value", None) if called.args else 1
        return order if isinstance(order, int) and len(called.args) < 2 else None

    def _is(self, part: Node | None) -> bool:
        return isinstance(part, gast.Name) and part.id == self.held
