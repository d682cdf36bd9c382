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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

import srcgrad.templates as templates
from srcgrad.core.bindings import Binding
from srcgrad.core.facts import Facts, Kind, inner_kinds
from srcgrad.core.identity import Function, home, is_distribution
from srcgrad.core.namespace import Overlay
from srcgrad.core.rules import CalledObject, Parts, called_object, makes_new, parts_of
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    copy,
    expression,
    find_nodes,
    header,
    literal_node,
    loads,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import SOMETIMES, rewrite, rewrite_blocks, rewrite_statements
from srcgrad.frontend.calls.functions import function_of, of_argument
from srcgrad.frontend.context import library
from srcgrad.frontend.kinds_of_values import what_makes
from srcgrad.frontend.resolve import binding_of, literal, trusted_constant
from srcgrad.runtime import fields_of, pieces

if TYPE_CHECKING:
    from srcgrad.frontend.context import Rewriting


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
            function.body.insert(_after_docstring(function), opened)
        elif kind.owner is not None:
            facts.kinds.records[parameter] = kind.owner
    _find_made(function, work)
    for name in facts.kinds.records:
        known = of_argument(name, Kind("object", None, ((facts.kinds.records[name], Kind()),)))
        if known is not None:
            facts.names.functions[name] = known
    spell_fields(function, facts)


def _open_others(parameter: str, function: Node, work: Rewriting) -> None:
    """Open what else of its class is bound to an object's name, `b = fields_of(d)`: of the module, or made here."""
    facts, cls = work.facts, work.facts.kinds.records[parameter]
    for node in [n for n in statements(function.body) if target(n) == parameter and isinstance(n, gast.Assign)]:
        owner = _class_of(node.value, parameter, work)
        display = _display(node.value, owner, work) if owner is cls else None
        found = binding_of(node.value, facts, facts.names.local) if isinstance(node.value, gast.Name) else None
        if display is not None:
            node.value = display
        elif found is not None and found.kind == "object" and type(found.object) is cls:
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
        found = binding_of(called.func, facts, facts.names.local) if isinstance(called, gast.Call) else None
        if kind is not None and found is not None and found.object is fields_of:
            facts.kinds.records[str(target(node))] = kind.items[0][0]
            facts.resolution.copies[node] = None


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
    displays = [one for n in made if (one := _display(n.value, known[0], work)) is not None]
    if len(displays) < len(made):
        return False
    work.facts.kinds.records[name] = known[0]
    for node, display in zip(made, displays, strict=True):
        node.value = display
        work.facts.origin.foreign[node] = None
    return True


_SAME = object()  # the class that the name has anyhow


def _class_of(value: Node, name: str, work: Rewriting) -> Any:
    """The class of which an expression makes an object: `Point(x, y)`, `replace(p, x=1.0)`, `p._replace(x=1.0)`."""
    if not isinstance(value, gast.Call):
        return None
    changed = _copied_record(value, work)
    if changed is not None:
        owner = work.facts.kinds.records.get(changed)
        return _SAME if changed == name else owner if owner is not None and _is_plain(owner, work.facts) else None
    found = binding_of(value.func, work.facts, work.facts.names.local)
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


def _is_slot(attribute: object) -> bool:
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
    found = binding_of(function, work.facts, work.facts.names.local)
    of_name = len(call.args) == 1 and isinstance(call.args[0], gast.Name)
    return str(call.args[0].id) if found is not None and found.object is dataclasses.replace and of_name else None


def _display(call: Node, owner: Any, work: Rewriting) -> Node | None:
    """The object as a dict of its fields."""
    names, changed = fields_in(owner), _copied_record(call, work)
    of_tuple = getattr(call.func, "attr", "") == "_replace"  # what a dataclass may call so is a method of its own
    if changed and of_tuple != issubclass(owner, tuple):
        return None
    given = {} if changed else dict(zip(names, call.args, strict=False))
    given |= {str(w.arg): w.value for w in call.keywords}
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
    if not facts.kinds.records:
        return function
    function.body = _by_one_name(function.body, facts)
    spell_fields(function, facts)
    for node in statements(function.body):
        opened = {id(i.value) for part in header(node) for i in walk(part) if isinstance(i, gast.Subscript)}
        for item in [i for part in header(node) for i in walk(part) if isinstance(i, gast.Name)]:
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
                    f"use its fields: `{item.id}.{fields_in(facts.kinds.records[item.id])[0]}`",
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
    names = fields_in(owner)
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
    every = list(statements(function.body))
    for held in dict.fromkeys(target(n) for n in every if _parts(getattr(n, "value", None), work)):
        bound = [n for n in every if held in stores(n)]
        found = [_parts(getattr(node, "value", None), work) for node in bound if target(node) == held]
        if held is None or len(found) != len(bound) or any(one is not found[0] for one in found):
            continue
        if found[0] is not None and _only_parts(function, held, found[0], work):
            _bind_parts(function, held, found[0], bound, work)


def _parts(node: Node | None, work: Rewriting) -> Parts | None:
    """What is known of the result of a call, if it is an object with parts."""
    if not isinstance(node, gast.Call):
        return None
    found = binding_of(node.func, work.facts, work.facts.names.local)
    if found is None or found.kind != "object" or found.static is not None:
        return None
    module = home(found.object) or ""
    if module.startswith("scipy."):
        templates.load_for(module)
    return parts_of(found.object)


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


def _only_parts(function: Node, held: str, parts: Parts, work: Rewriting) -> bool:
    """Whether nothing but known parts of a name is read, and nothing of it in nested functions."""
    nested = [known.tree for known in work.facts.names.functions.values() if known.tree is not None]
    if any(isinstance(n, gast.Name) and n.id == held for tree in nested for n in walk(tree)):
        return False
    reads = [n for n in walk(function) if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
    known = (*parts.names, *parts.constants)
    taken = [
        n
        for n in walk(function)
        if isinstance(n, gast.Attribute) and getattr(n.value, "id", "") == held and n.attr in known
    ]
    return len(reads) == len(taken)


def _bind_parts(function: Node, held: str, parts: Parts, bound: list[Node], work: Rewriting) -> None:
    """Bind the parts to names, and read these."""
    helper = work.facts.library(parts.helper.__name__, parts.helper)
    work.facts.namespace = Overlay(work.facts.namespace, {helper: Binding("object", parts.helper)})
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
    if not isinstance(node, gast.Attribute) or getattr(node.value, "id", "") != held:
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
    made = {target(n): n.value for n in statements(function.body) if _words(getattr(n, "value", None), work)}
    bound = [s for n in statements(function.body) for s in stores(n)]
    known: dict[str, tuple[Node, dict[str, Node]]] = {}
    for held, call in made.items():
        if held is not None and bound.count(held) == 1 and _asked_only(function, held, work):
            known[held] = (call.func, {})
    if known:
        function.body = rewrite_blocks(function.body, lambda block: _without_distributions(block, known, work))
    for node in statements(function.body):
        if any(item.attr in _METHODS for item in find_nodes(node, gast.Attribute)):
            rewrite(node, partial(_spell_method, node=node, known=known, work=work))


def _words(call: Node | None, work: Rewriting) -> dict[str, Node] | None:
    """The parameters that the call of a distribution gives, by name; None for any other expression."""
    if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    found = binding_of(call.func, work.facts, work.facts.names.local)
    if found is None or not is_distribution(found.object) or not callable(found.object):
        return None
    names = _parameters(found.object)
    given = dict(zip(names, call.args, strict=False)) | {str(w.arg): w.value for w in call.keywords}
    return given if given and len(call.args) <= len(names) and all(key in names for key in given) else None


def _parameters(distribution: Any) -> list[str]:
    if hasattr(distribution, "shapes"):
        shapes = [one.strip() for one in (distribution.shapes or "").split(",") if one.strip()]
        return [*shapes, "loc", *(["scale"] if hasattr(distribution, "pdf") else [])]
    method = getattr(distribution, "logpdf", None) or distribution.logpmf
    return list(inspect.signature(method).parameters)[1:]


def _asked_only(function: Node, held: str, work: Rewriting) -> bool:
    """Whether nothing but these methods of a name is called, and nothing of it in nested functions."""
    nested = [known.tree for known in work.facts.names.functions.values() if known.tree is not None]
    if any(isinstance(n, gast.Name) and n.id == held for tree in nested for n in walk(tree)):
        return False
    every = [n for s in function.body for n in walk(s)]
    reads = [n for n in every if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
    return len(reads) == len([n for n in every if _method(n) == held])


def _method(node: Node) -> str:
    """The name of `d.logpdf(...)`."""
    function = node.func if isinstance(node, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _METHODS:
        return ""
    return str(getattr(function.value, "id", ""))


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
    for item in walk(part):
        if "lineno" not in item.__dict__:
            at(item, node)
    return part


def _of_module(owner: Node, work: Rewriting) -> tuple[Node | None, dict[str, Node]]:
    """The distribution of a frozen one that the module has made, and what it holds."""
    found = binding_of(owner, work.facts, work.facts.names.local)
    held: Any = None if found is None or found.kind != "object" else found.object
    inner = getattr(held, "dist", None)
    if not is_distribution(held) or inner is None:
        return None, {}
    public = getattr(sys.modules["scipy.stats"], str(getattr(inner, "name", "")), None)
    if type(public) is not type(inner):
        return None, {}
    spelled = work.facts.library(str(getattr(inner, "name", "")), public)
    work.facts.namespace = Overlay(work.facts.namespace, {spelled: Binding("object", public)})
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
    nested = [known.tree for known in work.facts.names.functions.values() if known.tree is not None]
    calls = [n for tree in (function, *nested) for n in walk(tree) if isinstance(n, gast.Call)]
    if not any(_making_arguments(n, work) or _held_object(n.func, local, work) for n in calls):
        return
    bound = [s for n in every for s in stores(n)]
    made: dict[str, tuple[CalledObject, dict[str, Node]]] = {}
    for node in every:
        held = target(node)
        given = _making_arguments(node.value, work) if held is not None else None
        if held is None or given is None or bound.count(held) != 1:
            continue
        trees = [function, *(tree for tree in nested if _reads(tree, held))]
        if all(_is_called_only(tree, held, given[0]) for tree in trees):
            made[held] = given
    if made:
        changed = _changed_names([function, *nested], set(made), work)
        function.body = rewrite_blocks(function.body, lambda block: _without_objects(block, made, changed, work))
    for tree in (function, *nested):
        for one in [n for n in walk(tree) if hasattr(n, "lineno") and isinstance(n, gast.stmt | gast.Lambda)]:
            rewrite(one, partial(_spell_call, where=one, made=made, local=local, work=work))


def _making_arguments(call: Node, work: Rewriting) -> tuple[CalledObject, dict[str, Node]] | None:
    """What stands for the calls of an object, and the arguments that make it; None for any other expression."""
    if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    found = binding_of(call.func, work.facts, work.facts.names.local)
    known = None if found is None or found.kind != "object" else _called_object(found.object)
    if known is None or len(call.args) > len(known.made):
        return None
    given = dict(zip(known.made, call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    whole = all(one in given for one in known.made[: known.required]) and all(one in known.made for one in given)
    return (known, given) if whole else None


def _held_object(called: Node, local: frozenset[str], work: Rewriting) -> tuple[CalledObject, object] | None:
    """What stands for the calls of an object that was made before, and the object."""
    found = binding_of(called, work.facts, local)
    if found is None or found.kind != "object" or isinstance(found.object, types.FunctionType | type):
        return None
    known = _called_object(type(found.object))
    return None if known is None else (known, found.object)


def _called_object(cls: object) -> CalledObject | None:
    if (module := home(cls) or "").startswith("scipy."):
        templates.load_for(module)
    return called_object(cls)


def _is_called_only(tree: Node, held: str, known: CalledObject) -> bool:
    """Whether nothing is done with a name but that it is called, with so many arguments."""
    names = [n for n in walk(tree) if isinstance(n, gast.Name) and n.id == held]
    if any(isinstance(n.ctx, gast.Param) for n in names):
        return False
    calls = [n for n in walk(tree) if isinstance(n, gast.Call) and getattr(n.func, "id", "") == held]
    return len([n for n in names if isinstance(n.ctx, gast.Load)]) == len([n for n in calls if _helper(n, known)])


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
            changed |= _names_in(part.value)
        elif isinstance(part, gast.AugAssign):
            changed |= _names_in(part.target)
        elif target(part) in objects or (isinstance(part, gast.Call) and getattr(part.func, "id", "") in objects):
            continue
        elif isinstance(part, gast.Expr) or (isinstance(part, gast.Call) and not _is_maker(part, work)):
            changed |= _names_in(part)
        elif isinstance(part, gast.keyword) and part.arg == "out":
            changed |= _names_in(part.value)
        elif isinstance(part, gast.Assign) and not _is_new(part.value, work):
            groups.append(_names_in(part))
    more = True
    while more:
        met = [group for group in groups if group & changed and not group <= changed]
        changed = changed.union(*met)
        more = bool(met)
    return changed


def _is_maker(call: Node, work: Rewriting) -> bool:
    return _is_new(call, work) or _making_arguments(call, work) is not None


def _names_in(part: Node) -> set[str]:
    return {n.id for n in walk(part) if isinstance(n, gast.Name)}


def _is_new(value: Node, work: Rewriting) -> bool:
    """Whether an expression gives what no other name holds, and writes nothing."""
    if not isinstance(value, gast.Call):
        return isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant)
    found = binding_of(value.func, work.facts, work.facts.names.local)
    return found is not None and found.kind == "object" and makes_new(found.object, value)


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
            if not isinstance(value, gast.Constant) and function_of(value, work.facts, work.facts.names.local) is None:
                spelled = work.name(f"{held}_{key}")
                own = known[held][0].copies and bool(_names_in(value) & changed) and not _is_new(value, work)
                value = expression(f"{library('array', np.array, work.facts)}(a)", a=value) if own else value
                made.append(work.bind(spelled, value, node))
                known[held][1][key] = name(spelled)
    return made or [at(gast.Pass(), block[0])]


def _spell_call(
    part: Node,
    where: Node,
    made: dict[str, tuple[CalledObject, dict[str, Node]]],
    local: frozenset[str],
    work: Rewriting,
) -> Node:
    """`interpolated(x, y, t, kind="cubic")` for `interp1d(x, y, kind="cubic")(t)`."""
    if not isinstance(part, gast.Call):
        return part
    given = made.get(getattr(part.func, "id", "")) or _making_arguments(part.func, work)
    if given is None and (found := _held_object(part.func, local, work)) is not None:
        known, held = found
        given = known, {k: expression(text, self=copy(part.func)) for k, text in known.held(held).items()}
    helper = None if not given else _helper(part, given[0])
    if not given or helper is None:
        return part
    known, words = given
    leading = known.made[: known.required]
    places = [gast.Tuple(part.args, gast.Load())] if known.together and len(part.args) > 1 else part.args
    call = gast.Call(
        func=name(library(helper.__name__, helper, work.facts)),
        args=[*(copy(words[key]) for key in leading), *places],
        keywords=[gast.keyword(key, copy(value)) for key, value in words.items() if key not in leading],
    )
    work.facts.origin.foreign[where] = None
    for item in walk(call):
        if "lineno" not in item.__dict__:
            at(item, part)
    return at(call, part)


@dataclass(frozen=True)
class Maker:
    """What makes the pieces of a spline, from the arguments in this order; each other one has one of these values."""

    helper: Function
    arguments: tuple[str, ...]
    required: int
    fixed: dict[str, tuple[Any, ...]]
    shows: bool = False  # whether the object has knots and coefficients of polynomials itself


SPREAD = {"axis": (0,), "extrapolate": (None, True)}
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
    nested = [known.tree for known in work.facts.names.functions.values() if known.tree is not None]
    bound = [s for n in every for s in stores(n)]
    for node in every:
        held = target(node)
        given = _spline_arguments(node.value, work) if held is not None else None
        if held is None or given is None or bound.count(held) != 1:
            continue
        reader = Reader(held, *given, work)
        trees = [function, *(tree for tree in nested if _reads(tree, held))]
        if all(reader.knows(tree) for tree in trees):
            reader.make(node)
            for tree in trees:
                for one in [n for n in walk(tree) if hasattr(n, "lineno") and isinstance(n, gast.stmt | gast.Lambda)]:
                    rewrite(one, partial(reader.read, where=one))


def _spline_arguments(call: Node, work: Rewriting) -> tuple[Maker, dict[str, Node]] | None:
    """What makes the pieces of a spline, and its arguments by name; None for any other expression."""
    if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
        return None
    found = binding_of(call.func, work.facts, work.facts.names.local)
    made = found.object if found is not None and found.kind == "object" else None
    maker = MAKERS.get(getattr(made, "__name__", ""))
    if maker is None or home(made) != "scipy.interpolate":
        return None
    given = dict(zip(maker.arguments, call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    known = len(call.args) <= len(maker.arguments) and all(key in maker.arguments for key in given)
    fixed = {key: getattr(value, "value", _NONE) for key, value in given.items() if key in maker.fixed}
    ends = given.get("bc_type")
    known = known and (ends is None or literal(ends))  # a slope there may be active, and has no derivative
    known = known and (maker.shows or getattr(ends, "value", None) != "periodic")
    if not known or not all(key in given for key in maker.arguments[: maker.required]):
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


def _reads(tree: Node, held: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == held for n in walk(tree))


@dataclass
class Reader:
    """A name that holds a spline, and what stands for it."""

    held: str
    maker: Maker
    given: dict[str, Node]
    work: Rewriting
    knots: str = ""
    coefficients: str = ""

    def knows(self, tree: Node) -> bool:
        """Whether nothing but values, derivatives, integrals and known parts of the spline is asked for."""
        names = [n for n in walk(tree) if isinstance(n, gast.Name) and n.id == self.held]
        if any(isinstance(n.ctx, gast.Param) for n in names):
            return False
        reads = [n for n in names if isinstance(n.ctx, gast.Load)]
        return len(reads) == len([n for n in walk(tree) if self._spline_question(n) is not None])

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
        asked = self._spline_question(part)
        if asked is None:
            return part
        self.work.facts.origin.foreign[where] = None
        what, order, values = asked
        if what in ("x", "c"):
            return at(name(self.knots if what == "x" else self.coefficients), part)
        c = name(self.coefficients)
        if order:
            c = expression(f"{self._library(pieces.derived_pieces)}(c, {order})", c=c)
        words: dict[str, Any] = {"x": name(self.knots), "c": c, "t": copy(values[0])}
        if what == "integral":
            call = f"{self._library(pieces.integrated_pieces)}(x, c, t, b)"
            number = "[()]" if part.func.attr == "integral" else ""  # which gives a float, `integrate` an array
            made = expression(call + number, b=copy(values[1]), **words)
        elif self._is_periodic():
            inside = f"{self._library(pieces.places_in_period)}(k, t)"
            made = expression(f"{self._library(pieces.pieces_at)}(x, c, {inside})", k=name(self.knots), **words)
        else:
            made = expression(f"{self._library(pieces.pieces_at)}(x, c, t)", **words)
        for item in walk(made):
            if "lineno" not in item.__dict__:
                at(item, part)
        return at(made, part)

    def _library(self, helper: Callable[..., object]) -> str:
        return library(helper.__name__, helper, self.work.facts)

    def _is_periodic(self) -> bool:
        ends = getattr(self.given.get("bc_type"), "value", None)
        beyond = getattr(self.given.get("extrapolate"), "value", None)
        return self.maker.shows and (beyond == "periodic" or (ends == "periodic" and beyond is None))

    def _spline_question(self, part: Node) -> tuple[str, int, list[Node]] | None:
        """What is asked of the spline: a value or an integral, the order of the derivative, the places."""
        if isinstance(part, gast.Attribute) and self._is(part.value) and self.maker.shows:
            return (part.attr, 0, []) if part.attr in ("x", "c") else None
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

    def _is(self, part: Node) -> bool:
        return isinstance(part, gast.Name) and part.id == self.held
