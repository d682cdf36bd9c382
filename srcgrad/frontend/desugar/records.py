"""Dataclasses and NamedTuples made from differentiated values: dicts of their fields, in the text."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import (
    TYPE_CHECKING,
    Any,  # defaults of fields are arbitrary
)

import gast

from srcgrad.core.facts import Facts, Kind, inner_kinds
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    expression,
    find_nodes,
    header,
    literal_node,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.frontend.calls.functions import of_argument
from srcgrad.frontend.kinds_of_values import what_makes
from srcgrad.frontend.resolve import binding_of, trusted_constant
from srcgrad.runtime import fields_of

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


def open_records(function: Node, work: Rewriting) -> None:
    """Spell objects of the user's classes as dicts: those that the function makes, and its arguments."""
    facts = work.facts
    for parameter, kind in inner_kinds(facts.kinds):
        opens = kind.tag == "object" and dataclasses.is_dataclass(kind.items[0][0])
        if opens and has_plain_attributes(kind.items[0][0]):
            facts.records[parameter] = kind.items[0][0]
            opened = work.own(statement(f"{parameter} = {work.library('fields_of')}({parameter})"), function)
            facts.copies[opened] = None
            function.body.insert(_after_docstring(function), opened)
        elif kind.owner is not None:
            facts.records[parameter] = kind.owner
    _find_made(function, work)
    for name in facts.records:
        known = of_argument(name, Kind("object", None, ((facts.records[name], Kind()),)))
        if known is not None:
            facts.functions[name] = known
    spell_fields(function, facts)


def note_opened_records(function: Node, facts: Facts) -> None:
    """Note what a text of ours has opened already: `p = fields_of(p)`."""
    for node in function.body:
        kind = facts.kinds.get(str(target(node)))
        called = node.value if kind is not None and kind.tag == "object" else None
        found = binding_of(called.func, facts, facts.local) if isinstance(called, gast.Call) else None
        if kind is not None and found is not None and found.object is fields_of:
            facts.records[str(target(node))] = kind.items[0][0]
            facts.copies[node] = None


def _after_docstring(function: Node) -> int:
    first = function.body[0]
    return int(isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant))


def _find_made(function: Node, work: Rewriting) -> None:
    """Names to which nothing but new objects of one class is bound, or changed copies of such."""
    bound: dict[str, list[Node | None]] = {}
    for node in statements(function.body):
        for one in stores(node):
            bound.setdefault(one, []).append(node if target(node) == one else None)
    parameters = {a.id for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]}
    todo = [name for name in bound if name not in parameters]
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
    displays = [_display(n.value, known[0], work) for n in made]
    if any(display is None for display in displays):
        return False
    work.facts.records[name] = known[0]
    for node, display in zip(made, displays, strict=True):
        node.value = display
        work.facts.foreign[node] = None
    return True


_SAME = object()  # the class that the name has anyhow


def _class_of(value: Node, name: str, work: Rewriting) -> Any:
    """The class of which an expression makes an object: `Point(x, y)`, `replace(p, x=1.0)`, `p._replace(x=1.0)`."""
    if not isinstance(value, gast.Call):
        return None
    changed = _copied_record(value, work)
    if changed is not None:
        owner = work.facts.records.get(changed)
        return _SAME if changed == name else owner if owner is not None and _is_plain(owner, work.facts) else None
    found = binding_of(value.func, work.facts, work.facts.local)
    owner = found.object if found is not None and found.kind == "object" else None
    if not isinstance(owner, type):
        return None
    return owner if _is_plain(owner, work.facts) else None


def has_plain_attributes(owner: type) -> bool:
    """Whether reading and binding the fields of an object is all that happens then."""
    generated: Any = owner
    frozen = dataclasses.is_dataclass(owner) and generated.__dataclass_params__.frozen
    base = tuple if issubclass(owner, tuple) else object
    for special in ("__getattribute__", *(() if frozen else ("__setattr__",))):
        if getattr(owner, special) is not getattr(base, special):
            return False
    fields = [inspect.getattr_static(owner, field, None) for field in fields_in(owner)]
    return base is tuple or not any(hasattr(type(f), "__set__") and not _is_slot(f) for f in fields)


def _is_slot(attribute: Any) -> bool:
    return isinstance(attribute, types.MemberDescriptorType)


def _is_plain(owner: type, facts: Facts) -> bool:
    """Whether a class is made by its fields in their order and by nothing else."""
    if not (hasattr(owner, "_fields") or dataclasses.is_dataclass(owner)) or not has_plain_attributes(owner):
        return False
    if facts.module is not None:
        facts.module.methods.append((owner, "", what_makes(owner), None))
    if not _is_written(owner):
        return False
    if dataclasses.is_dataclass(owner):
        generated: Any = owner
        simple = not any(f.kw_only or not f.init for f in dataclasses.fields(owner))
        return bool(generated.__dataclass_params__.init) and simple and not hasattr(owner, "__post_init__")
    return owner.__bases__ == (tuple,) and hasattr(owner, "_fields")


def _is_written(owner: Any) -> bool:
    """Whether an object is made by what `@dataclass` or NamedTuple has written, with the defaults of the fields."""
    of_tuple = issubclass(owner, tuple)
    made = owner.__new__ if of_tuple else owner.__init__
    code = getattr(made, "__code__", None)
    if code is None or code.co_filename != "<string>" or type(owner).__call__ is not type.__call__:
        return False
    fields = [] if of_tuple else [f for f in dataclasses.fields(owner) if f.init]
    given = list(owner._field_defaults.values()) if of_tuple else [f.default for f in fields]
    now = made.__defaults__ or ()
    first = len(given) - len(now)
    alike = all(one is known or known is dataclasses.MISSING for one, known in zip(now, given[first:], strict=False))
    return alike and not any(known is not dataclasses.MISSING for known in given[:first])


def _copied_record(call: Node, work: Rewriting) -> str | None:
    """The name of which `dataclasses.replace(p, ...)` or `p._replace(...)` makes a changed copy."""
    function = call.func
    if isinstance(function, gast.Attribute) and function.attr == "_replace" and isinstance(function.value, gast.Name):
        return str(function.value.id) if not call.args else None
    found = binding_of(function, work.facts, work.facts.local)
    of_name = len(call.args) == 1 and isinstance(call.args[0], gast.Name)
    return str(call.args[0].id) if found is not None and found.object is dataclasses.replace and of_name else None


def _display(call: Node, owner: Any, work: Rewriting) -> Node | None:
    """The object as a dict of its fields."""
    names, changed = fields_in(owner), _copied_record(call, work)
    of_tuple = getattr(call.func, "attr", "") == "_replace"  # what a dataclass may call so is a method of its own
    if changed and of_tuple != issubclass(owner, tuple):
        return None
    given = {} if changed else dict(zip(names, call.args, strict=False))
    given |= {w.arg: w.value for w in call.keywords}
    if (not changed and len(call.args) > len(names)) or any(key not in names for key in given):
        return None
    for field in names:
        if field not in given:
            default = expression(f"{changed}.{field}") if changed else _default(owner, field)
            if default is None:
                return None
            given[field] = at(default, call)
    return at(gast.Dict(keys=[literal_node(f) for f in names], values=[given[f] for f in names]), call)


def _default(owner: Any, field: str) -> Node | None:
    if dataclasses.is_dataclass(owner):
        return trusted_constant(next(f.default for f in dataclasses.fields(owner) if f.name == field))
    return trusted_constant(owner._field_defaults.get(field, _NONE))


_NONE = object()


def fields_in(owner: Any) -> tuple[str, ...]:
    """The names of the fields of a class, in order."""
    if dataclasses.is_dataclass(owner):
        return tuple(f.name for f in dataclasses.fields(owner) if f.init)
    return tuple(owner._fields)


def records(function: Node, facts: Facts) -> Node:
    """Spell the fields that methods, now written out, read; refuse an object that is used as a whole."""
    if not facts.records:
        return function
    function.body = _by_one_name(function.body, facts)
    spell_fields(function, facts)
    for node in statements(function.body):
        opened = {id(i.value) for part in header(node) for i in walk(part) if isinstance(i, gast.Subscript)}
        for item in [i for part in header(node) for i in walk(part) if isinstance(i, gast.Name)]:
            whole = item.id in facts.records and id(item) not in opened and isinstance(item.ctx, gast.Load)
            if whole and facts.kinds.get(item.id, Kind()).owner is None and node not in facts.copies:
                raise facts.refuse(
                    item,
                    "E5005",
                    f"the object `{item.id}` is used as a whole",
                    f"use its fields: `{item.id}.{fields_in(facts.records[item.id])[0]}`",
                )
    return function


def _by_one_name(block: Block, facts: Facts) -> Block:
    """The block, in which what `q = p` names once more, of an object that a function has given back, is p."""
    bound = [one for node in statements(block) for one in stores(node)]
    kept: Block = []
    for node in block:
        held = node.value.id if target(node) is not None and isinstance(node.value, gast.Name) else ""
        second = target(node) or ""
        if held not in facts.records or held in facts.kinds or bound.count(held) != 1 or bound.count(second) != 1:
            kept.append(node)
            continue
        for other in block:
            for item in find_nodes(other, gast.Name):
                if item.id == second:
                    item.id = held
                    facts.foreign.update(dict.fromkeys(statements([other])))
    return kept


def spell_fields(function: Node, facts: Facts) -> None:
    """`p.x` as `p["x"]`, for an argument that is a NamedTuple as `p[0]`."""
    if not facts.records:
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
                        facts.foreign.update(dict.fromkeys(_statements_with_text(node, item)))
                        if isinstance(inner, list):
                            inner[place] = made
                        else:
                            setattr(item, key, made)


def _statements_with_text(node: Node, item: Node) -> list[Node]:
    """The statements of which a part of a statement is in the text: one in a `with` is printed by itself."""
    within = [n for n in walk(node) if isinstance(n, gast.stmt)] if isinstance(node, gast.With) else []
    return [node, *(n for n in within if any(part is item for part in walk(n)))]


def _field(value: Any, facts: Facts) -> Node | None:
    held = getattr(value, "value", None)
    if not isinstance(value, gast.Attribute | gast.Subscript) or not isinstance(held, gast.Name):
        return None
    owner = facts.records.get(held.id)
    if owner is None:
        return None
    names = fields_in(owner)
    is_argument = facts.kinds.get(held.id, Kind()).owner is not None
    if isinstance(value, gast.Attribute):
        if value.attr not in names:
            return None
        key = literal_node(names.index(value.attr) if is_argument else value.attr)
    else:
        place = value.slice.value if isinstance(value.slice, gast.Constant) else None
        if is_argument or not isinstance(place, int) or not -len(names) <= place < len(names):
            return None
        key = literal_node(names[place])
    made = expression("p[key]", p=held, key=key)
    made.ctx = value.ctx
    return at(made, value)
