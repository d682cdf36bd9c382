"""Conversions that NumPy makes without being told, written out: lists beside arrays, modules by other names.

What is beside what is told by the kinds of values, never by how they are spelled. Which operations cannot take a list
as it is: those whose rules compute with it by operators, as with an array. Names that hold modules and objects are
asked for what their values have, whatever their names are.
"""

from __future__ import annotations

import abc
import inspect
import operator
import sys
import types
from contextlib import suppress
from dataclasses import field, is_dataclass
from dis import get_instructions
from functools import lru_cache, partial, reduce
from types import FunctionType
from typing import Any  # modules of two classes

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import ANY, UNKNOWN, Facts, Kind
from srcgrad.core.identity import record, replace
from srcgrad.core.namespace import Overlay
from srcgrad.core.original_libraries import original
from srcgrad.core.rules import ParsedTemplate as Template
from srcgrad.core.rules import Rule, adjoint_template, derivative_of, parse, rule_of, tangent_template, written_out
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    after_docstring,
    at,
    called_name,
    copy,
    defaults_of,
    expression,
    find_nodes,
    header,
    literal_node,
    name,
    names_in,
    own_names,
    parameters,
    placed,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite
from srcgrad.frontend.again import SAME
from srcgrad.frontend.calls.functions import function_of, of_argument
from srcgrad.frontend.calls.nested_functions import functions_left_out
from srcgrad.frontend.desugar.lists_and_dicts import kinds_of_lists
from srcgrad.frontend.desugar.objects import take_apart
from srcgrad.frontend.early_facts import reads_varied, varied_names
from srcgrad.frontend.kinds import Kinds, NestedFunction
from srcgrad.frontend.kinds_of_values import SEQUENCES
from srcgrad.frontend.language import TAKE_ITEMS, TAKE_SEVERAL
from srcgrad.frontend.resolve import ATTRIBUTES, METHODS, PASSIVE_ATTRIBUTES, bind_arguments, binding_of, object_of

_PLACES = (gast.Name, gast.Attribute, gast.Subscript)


@record
class Meanings:
    """The modules and objects of one function, by the kinds of its expressions."""

    function: Node
    kinds: Kinds
    facts: Facts
    respelled: dict[Node, str] = field(default_factory=dict)  # attributes that were asked of arguments

    def spell(self, assumed: dict[str, Kind]) -> None:
        """Drop second names of modules, `xp = np`, and spell what else is a module by a name that means it.

        An argument that is `assumed` to be the module of its default is looked at where the function begins.
        """
        bound = self._second_names()
        if bound:
            self.facts.namespace = Overlay(self.facts.namespace, bound)
            self.function.body = _without_assignments(self.function.body, bound) or [at(gast.Pass(), self.function)]
            self.facts.names.local -= frozenset(bound)
        local = self.facts.names.local | own_names(self.function)
        for node in [n for s in self.function.body for n in find_nodes(s, gast.Attribute, gast.Call)]:
            self._respell(node, local)
            if isinstance(node, gast.Call) and self._is_unnamed(node.func, local):
                node.func = at(name(self._function(self.kinds.of[node.func].items[0][0])), node.func)
                self.facts.origin.foreign.update({one: None for one in self._statements() if node in _heads(one)})
        for held, kind in assumed.items():
            self._look_at(held, kind.items[0][0])
        for held in self._names_of_objects():
            kind = self.kinds.named[held]
            known = of_argument(held, kind if kind.owner is None else Kind("object", None, ((kind.owner, UNKNOWN),)))
            if known is not None and held not in self.facts.names.functions:
                self.facts.names.functions[held] = known

    def _statements(self) -> list[Node]:
        return [n for one in self.function.body for n in walk(one) if isinstance(n, gast.stmt)]

    def _second_names(self) -> dict[str, Binding]:
        """Local names to which nothing but one module, or one class, is bound, by plain assignments."""
        arguments = names_in(self.function.args)
        found: dict[str, Binding] = {}
        body = self.function.body
        stored = [n.id for s in body for n in find_nodes(s, gast.Name) if not isinstance(n.ctx, gast.Load)]
        plain = [str(target(n)) for s in body for n in find_nodes(s, gast.Assign) if target(n) is not None]
        for held in dict.fromkeys(plain):
            kind = self.kinds.named.get(held, UNKNOWN)
            whole = held not in arguments and stored.count(held) == plain.count(held)
            if (kind.tag == "module" or _is_class(kind)) and whole and not self._is_parameter(held):
                found[held] = _binding(kind.items[0][0])
        return found

    def _is_parameter(self, held: str) -> bool:
        inner = [n for s in self.function.body for n in find_nodes(s, gast.FunctionDef, gast.Lambda)]
        return any(getattr(a, "id", "") == held for one in inner for a in walk(one.args))

    def _respell(self, node: Node, local: frozenset[str]) -> None:
        """An attribute of what is a module and does not say so: `self.xp.sum`, `xp.sum` for an argument `xp`."""
        if not isinstance(node, gast.Attribute) or not isinstance(node.value, _PLACES):
            return
        kind = self.kinds.of.get(node.value, UNKNOWN)
        if kind.tag != "module" or binding_of(node.value, self.facts, local) is not None:
            return
        self.respelled[node] = getattr(node.value, "id", "")
        spelled = self._module(kind.items[0][0])
        for item in walk(spelled):
            at(item, node.value)
        node.value = spelled

    def _look_at(self, held: str, whole: object) -> None:
        """`check_module(xp, np)`, where something asks the argument."""
        if held not in self.respelled.values():
            return
        spelled = self.facts.library_in_text("check_module")
        check = at(statement(f"{spelled}({held}, module)", module=self._module(whole)), self.function)
        self.facts.origin.foreign[check] = None
        self.function.body.insert(after_docstring(self.function), check)

    def _module(self, whole: Any) -> Node:
        """An expression that means a module."""
        home = str(getattr(whole, "__name__", ""))
        if f"{home}.".startswith("numpy.") and original(np) is sys.modules["numpy"]:
            spelled = self.facts.library_in_text("np")
            return expression(".".join([spelled, *whole.__name__.split(".")[1:]]))
        stem = str(getattr(whole, "__name__", "") or whole.name).rpartition(".")[2]
        spelled = self.facts.names.fresh(stem)
        self.facts.namespace = Overlay(self.facts.namespace, {spelled: _binding(whole)})
        return name(spelled)

    def _is_unnamed(self, node: Node, local: frozenset[str]) -> bool:
        """Whether a call calls one function, of which its kind alone tells: `table["sin"](x)`, `h` bound twice."""
        kind = self.kinds.of.get(node, UNKNOWN)
        if kind.tag != "function" or isinstance(kind.items[0][0], NestedFunction) or not isinstance(node, _PLACES):
            return False
        if binding_of(node, self.facts, local) is not None or function_of(node, self.facts, local) is not None:
            return False
        if not isinstance(node, gast.Name):
            return isinstance(node, gast.Subscript)
        bound = [s for part in self.function.body for n in statements([part]) for s in stores(n)].count(node.id)
        values = [n.value for n in statements(self.function.body) if target(n) == node.id]
        shown = bound == 1 and values and isinstance(values[0], gast.Name | gast.Attribute | gast.Lambda | gast.Call)
        return node.id not in self.facts.kinds.of_names and bound > 0 and not shown

    def _function(self, called: Any) -> str:
        """A name that means a function."""
        known = isinstance(called, StaticFunction)
        spelled = self.facts.names.fresh(str(called.qualname if known else getattr(called, "__name__", "function")))
        meant = Binding("function", static=called) if known else Binding("object", called)
        self.facts.namespace = Overlay(self.facts.namespace, {spelled: meant})
        return spelled

    def _names_of_objects(self) -> list[str]:
        """Local names of objects of one class each, of which methods are called that this class has in Python."""
        found: dict[str, None] = {}
        for one in [n.func for s in self.function.body for n in find_nodes(s, gast.Call)]:
            held = getattr(getattr(one, "value", one), "id", "")
            kind = self.kinds.named.get(held, UNKNOWN)
            if isinstance(_member(kind, getattr(one, "attr", "__call__")), _METHODS):
                found[held] = None
        return [held for held in found if held in own_names(self.function) and held not in self.facts.kinds.of_names]


_METHODS = (types.FunctionType, staticmethod, classmethod)


def _member(kind: Kind, attribute: str) -> object:
    """What the class of an object, or of a NamedTuple, has under a name."""
    owner = kind.items[0][0] if kind.tag == "object" else kind.owner
    return None if owner is None else inspect.getattr_static(owner, attribute, None)


def _heads(node: Node) -> list[Node]:
    return [n for part in header(node) for n in walk(part)]


def _is_class(kind: Kind) -> bool:
    """Whether a kind is that of a class that is known itself, as of `np = Own`."""
    return kind.tag == "class" and isinstance(kind.items[0][0], type)


def _binding(whole: Any) -> Binding:
    return Binding("object", whole) if isinstance(whole, types.ModuleType | type) else Binding("module", module=whole)


def _without_assignments(block: Block, names: dict[str, Binding]) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, gast.Assign) and target(node) in names:
            continue
        for which in BLOCKS:
            inner = getattr(node, which, None)
            if isinstance(inner, list) and inner:
                kept = _without_assignments(inner, names)
                setattr(node, which, kept or ([at(gast.Pass(), node)] if which == "body" else []))
        made.append(node)
    return made


def instances(kinds: Kinds, varied: dict[str, None] | None, facts: Facts) -> None:
    """Know `m.copy()` as an object of its class, as an argument is, where no derivative flows through it.

    `varied` are the names through which one may flow, None for any name.
    """
    if varied is None:
        return
    for node, kind in kinds.of.items():
        if _is_made(kind, facts) and not reads_varied(node, varied, facts, facts.names.local):
            kinds.of[node] = replace(kind, tag="object")
    for held, kind in kinds.named.items():
        if _is_made(kind, facts) and held not in varied:
            kinds.named[held] = replace(kind, tag="object")


def _is_made(kind: Kind, facts: Facts) -> bool:
    """Whether a kind is that of an object made here whose methods are surely those of its class, and no record's."""
    made: object = kind.items[0][0] if kind.tag == "made" else None
    if made is None or made in facts.kinds.apart or is_dataclass(made) or type(made) is not type:
        return False
    if any(one in vars(base) for base in made.__mro__[:-1] for one in ("__new__", "__getattribute__")):
        return False
    written = [f for base in made.__mro__ for f in vars(base).values() if isinstance(f, FunctionType)]
    stored = {i.argval for f in written for i in get_instructions(f) if i.opname == "STORE_ATTR"}
    named = {one for f in written for one in f.__code__.co_names}
    odd = named & {"setattr", "__dict__", "vars", "__setattr__"}
    return not odd and not any(isinstance(getattr(made, one, None), FunctionType) for one in stored)


ARRAYS_ALONE = ("take_along_axis", "put_along_axis", "split")  # functions of NumPy that ask what they get for its axes


def needs_array(rule: Rule, parameter: str, *, forward: bool) -> bool:
    """Whether a rule holds for an array of the items, and not for a list of them: operators mean its own there.

    In forward mode a tangent is a list as well, with which an elementwise rule multiplies.

    >>> import numpy as np, srcgrad.templates as templates
    >>> from srcgrad.core.rules import rule_of
    >>> templates.load()
    >>> needs_array(rule_of(np.dot), "a", forward=False), needs_array(rule_of(np.sum), "x", forward=False)
    (True, False)
    """
    if forward and rule.kind in ("elementwise", "multilinear"):
        return True
    if rule.kind == "elementwise" and len(rule.parameters) > 1:
        return True  # what compares or scales two values is given arrays by the engine's own helpers
    pushed = tangent_template(rule) if forward or rule.template is None else None
    if pushed is not None and (_computes(pushed, parameter) or _hands_tangent(pushed, parameter)):
        return True
    template = adjoint_template(rule)
    return template is not None and _computes(template, parameter)


@lru_cache(maxsize=1024)
def composition_needs_array(composition: Any, parameter: str, *, forward: bool = False) -> bool:
    """The same of an operation that is written out with others, of which it gives them the list."""
    known = inspect.signature(composition).parameters
    if parameter not in known:
        return False
    body = parse_composition(composition)
    return _any_operand(body, parameter) or (forward and _pushes(body, parameter, parse(composition).namespace))


def _pushes(body: tuple[Node, ...], parameter: str, names: dict[str, object]) -> bool:
    """Whether an operation of a composition is given the list, and in forward mode computes with its tangent."""
    for node in [item for statement in body for item in find_nodes(statement, gast.Call)]:
        if any(getattr(argument, "id", "") == parameter for argument in node.args):
            held, *attributes = gast.unparse(node.func).split(".")
            rule = rule_of(reduce(lambda found, one: getattr(found, one, None), attributes, names.get(held)))
            if rule is not None and rule.kind in ("elementwise", "multilinear"):
                return True
    return False


def _hands_tangent(template: Template, parameter: str) -> bool:
    """Whether the tangent of a parameter is the result's as it is, or is given to what takes arrays alone."""
    for node in [item for statement in template.body for item in walk(statement)]:
        if isinstance(node, gast.Assign):
            values = node.value.elts if isinstance(node.value, gast.Tuple) else [node.value]
            if any(derivative_of(value) == parameter for value in values):
                return True
        if isinstance(node, gast.Call) and gast.unparse(node.func).rpartition(".")[2] in ARRAYS_ALONE:
            if any(derivative_of(argument) == parameter for argument in node.args):
                return True
    return False


def parse_composition(composition: object) -> tuple[Node, ...]:
    """The statements of a composition: it is spelled like a template, with no result among its parameters."""
    return parse(composition).body


def _computes(template: Template, parameter: str) -> bool:
    return _any_operand(template.body, parameter)


def _any_operand(body: tuple[Node, ...], parameter: str) -> bool:
    return any(_is_list(one, parameter) for statement in body for node in walk(statement) for one in _operands(node))


def _operands(node: Node) -> list[Node]:
    """What an expression computes with by an operator, an attribute or an index."""
    if isinstance(node, gast.BinOp):
        pairs = ((node.left, node.right), (node.right, node.left))
        return [one for one, other in pairs if derivative_of(one) is None or not isinstance(other, gast.Call)]
    if isinstance(node, gast.UnaryOp):
        return [node.operand]
    if isinstance(node, gast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, gast.Attribute):
        return [node.value]
    return [node.value] if isinstance(node, gast.Subscript) and derivative_of(node) is None else []


def _is_list(node: Node, parameter: str) -> bool:
    """Whether an expression of a template is a list where the parameter is one: itself, its tangent, its mirror."""
    if isinstance(node, gast.Name):
        return bool(node.id == parameter)
    if derivative_of(node) == parameter:
        return True
    place = SAME.get(called_name(node))
    return place is not None and place < len(node.args) and _is_list(node.args[place], parameter)


_JOINS = (gast.Add, gast.Mult)  # what lists know as well
_DISPLAYS = (gast.List, gast.Tuple)


def conversions(function: Node, facts: Facts) -> Node:
    """Make an array of a list that stands beside an array, or where a function of NumPy computes with it.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    pair = [x[0], 2.0]\\n    return np.dot(np.exp(x) + [1.0, 2.0], pair)"
    >>> print(explain_text(text, after="conversions"))
    def f(x):
        pair = [x[0], 2.0]
        return np.dot(np.exp(x) + np.array([1.0, 2.0]), np.array(pair))
    """
    functions_left_out(function, facts)
    _spell_lookups(function, facts)
    given, several = facts.kinds.named, True
    while several:  # what a branch that goes has bound may have hidden the kind of a name
        kinds = Kinds(facts.namespace, facts.module, around=facts.names.around)
        assumed = _modules(function, kinds, facts)
        kinds.function(function, {**assumed, **facts.kinds.of_names, **given})
        facts.kinds.of_expressions, facts.kinds.named = kinds.of, kinds.named
        before = len(statements(function.body))
        function.body = _without_other_classes(function.body, kinds.of, facts) or [at(gast.Pass(), function)]
        several = len(statements(function.body)) < before
    varied = _names_that_vary(function, facts)
    take_apart(function, kinds, varied, facts)
    instances(kinds, varied, facts)
    Meanings(function, kinds, facts).spell(assumed)
    _spell_all(function, kinds.of, varied, facts)
    work = _Work(facts, kinds.of, varied, set(kinds_of_lists(function, facts)))
    work.shown = {n.id for part in function.body for node in walk(part) for n in _as_array(node, facts)}
    function.body = work.block(function.body)
    return function


def _spell_lookups(function: Node, facts: Facts) -> None:
    """`getitem(table, key)` for the statement `table[key]`, which stands for its exception: of a table that only reads.

    Such are the module's dicts, lists, tuples, texts and arrays, no class of one's own, which may do more.
    """
    alone = [n for n in statements(function.body) if isinstance(n, gast.Expr) and isinstance(n.value, gast.Subscript)]
    for node in alone:
        held = object_of(node.value.value, facts, own_names(function))
        inside = any(isinstance(part, gast.Call | gast.Slice) for part in walk(node.value))
        if inside or type(held) not in (dict, list, tuple, str, np.ndarray):
            continue
        spelled = facts.library_in_text("getitem", operator.getitem)
        made = expression(f"{spelled}(table, key)", table=node.value.value, key=node.value.slice)
        node.value = at(made, node.value)
        facts.origin.foreign[node] = None


def _spell_all(function: Node, kinds: dict[Node, Kind], varied: dict[str, None] | None, facts: Facts) -> None:
    """Spell each statement; `steady` are arguments without derivatives that nothing has bound anew so far."""
    steady = set(parameters(function)).difference(facts.request.wrt if varied is not None else parameters(function))
    for outside in function.body:
        inner = statements([outside])
        for node in inner:
            if isinstance(getattr(node, "value", None), gast.Call) and node is outside:
                _unroll_map(node, steady, facts)
            rewrite(node, partial(_spelled, where=node, kinds=kinds, varied=varied, facts=facts))
            if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple | gast.List):
                node.value = _keys(node.value, node, kinds, varied, facts)
            elif isinstance(node, gast.For) and not isinstance(node.iter, gast.Name):  # names may be shown to be dicts
                node.iter = _keys(node.iter, node, kinds, varied, facts)
        steady -= {one for node in inner for one in stores(node)}


def _spelled(part: Node, where: Node, kinds: dict[Node, Kind], varied: dict[str, None] | None, facts: Facts) -> Node:
    """`np.ravel(x)[k]` for `x.flat[k]`, `len(x)` for `x.__len__()`, `[...]` for `tuple(...)` of NumPy's arguments."""
    made, kind = part, type(part)
    if kind not in (gast.IfExp, gast.Subscript, gast.Call):
        return part
    if kind is gast.IfExp:
        made = (_side_taken(part, kinds, facts) or [part])[0]
    elif kind is gast.Subscript:
        if _is_read(part, "flat", kinds) and isinstance(part.ctx, gast.Load):
            made = expression(f"{facts.library('np')}.ravel(x)[k]", x=part.value.value, k=part.slice)
    elif isinstance(part.func, gast.Attribute) and part.func.attr == "__len__":
        known = kinds.get(part.func.value, UNKNOWN).tag in ("array", "list", "tuple", "dict")
        made = expression("len(x)", x=part.func.value) if known and not part.args and not part.keywords else part
    elif len(part.args) == 1 and _goes_through(part, facts):
        part.args[0] = _keys(part.args[0], where, kinds, varied, facts)
    elif _takes_sequences(part, facts):
        for place, one in enumerate(part.args):
            listed = _listed(one, varied, facts)
            if listed is not None:
                part.args[place] = listed
                facts.origin.foreign[where] = None
    if made is not part:
        facts.origin.foreign[where] = None
        at(made, part)
    return made


def _goes_through(call: Node, facts: Facts) -> bool:
    """Whether a function of Python's is called that goes through the items of what it is given."""
    found = binding_of(call.func, facts, facts.names.local)
    return found is not None and any(found.object is one for one in (sum, sorted, min, max))


def _keys(value: Node, where: Node, kinds: dict[Node, Kind], varied: dict[str, None] | None, facts: Facts) -> Node:
    """`list(d)` for a dict d that is gone through, whose items have derivatives: its keys have none."""
    known = kinds.get(value, UNKNOWN).tag == "dict"
    if not known or (varied is not None and not reads_varied(value, varied, facts, facts.names.local)):
        return value
    facts.origin.foreign[where] = None
    return at(expression("list(d)", d=value), value)


def _is_read(part: Node, attribute: str, kinds: dict[Node, Kind]) -> bool:
    held = part.value
    return isinstance(held, gast.Attribute) and held.attr == attribute and kinds.get(held.value, UNKNOWN).tag == "array"


def _takes_sequences(call: Node, facts: Facts) -> bool:
    """Whether a function of NumPy's with a rule is called, to which a list and a tuple are the same."""
    called = object_of(call.func, facts)
    return str(getattr(called, "__module__", "")).startswith("numpy") and rule_of(called) is not None


def _unroll_map(node: Node, steady: set[str], facts: Facts) -> None:
    """`a, n = [np.asarray(a), np.asarray(n)]` for `a, n = map(np.asarray, (a, n))`, if n has no derivative."""
    local, call = facts.names.local, node.value
    outer = binding_of(call.func, facts, local)
    if outer is not None and outer.object is list and len(call.args) == 1 and isinstance(call.args[0], gast.Call):
        call = call.args[0]
    elif not isinstance(node, gast.Assign) or not isinstance(node.targets[0], gast.Tuple | gast.List):
        return
    found = binding_of(call.func, facts, local)
    plain = found is not None and found.object is map and len(call.args) == 2
    items = getattr(call.args[1], "elts", []) if plain and not (call.keywords or node.value.keywords) else []
    names = [getattr(one, "id", "") for one in items]
    if "" in names or not steady.intersection(names) or steady.issuperset(names):
        return
    if _takes_sequences(at(gast.Call(call.args[0], [], []), call), facts):
        each = [at(gast.Call(copy(call.args[0]), [one], []), call) for one in items]
        node.value = at(gast.List(each, gast.Load()), call)
        facts.origin.foreign[node] = None


def _listed(value: Node, varied: dict[str, None] | None, facts: Facts) -> Node | None:
    """The list comprehension of `tuple(e for v in it)`, through which a derivative may flow."""
    if not isinstance(value, gast.Call) or len(value.args) != 1 or value.keywords:
        return None
    found = binding_of(value.func, facts, facts.names.local)
    items = value.args[0]
    if found is None or found.object is not tuple or not isinstance(items, gast.GeneratorExp | gast.ListComp):
        return None
    if varied is not None and not reads_varied(items, varied, facts, facts.names.local):
        return None
    return at(gast.ListComp(items.elt, items.generators), value)


def _without_other_classes(block: Block, kinds: dict[Node, Kind], facts: Facts) -> Block:
    """The block without branches for objects of a class that a number or an array is not of, and reads as such.

    `if isinstance(x, pd.Series): y = pd.Series(y, x.index)` goes where x is an array.
    """
    made: Block = []
    for node in block:
        side = _side_taken(node, kinds, facts) if isinstance(node, gast.If) else None
        if side is not None:
            made += _without_other_classes(side, kinds, facts)
            facts.origin.foreign.update(dict.fromkeys(side))
            continue
        for part in ("body", "orelse"):
            inner = [] if isinstance(node, gast.FunctionDef) else getattr(node, part, [])
            if inner:
                left = _without_other_classes(inner, kinds, facts)
                setattr(node, part, left or ([at(gast.Pass(), node)] if part == "body" else []))
        made.append(node)
    return made


def _side_taken(node: Node, kinds: dict[Node, Kind], facts: Facts) -> Block | None:
    """The side of a branch that runs, where the other one is for another class and is not accepted here."""
    holds = _is_instance(node.test, kinds, facts)
    if holds is None:
        return None
    dead, taken = (node.orelse, node.body) if holds else (node.body, node.orelse)
    if isinstance(node, gast.IfExp):
        dead, taken = [dead], [taken]
    if not any(_is_of_class(part, node.test, kinds, facts) for one in dead for part in walk(one)):
        return None
    return list(taken)


def _is_of_class(part: Node, test: Node, kinds: dict[Node, Kind], facts: Facts) -> bool:
    """Whether an expression reads an attribute that arrays do not have, or makes an object of a class of the test."""
    if isinstance(part, gast.Attribute):
        known = (*ATTRIBUTES, *METHODS, *PASSIVE_ATTRIBUTES)
        return kinds.get(part.value, UNKNOWN).tag in ("array", "scalar") and part.attr not in known
    if not isinstance(part, gast.Call):
        return False
    asked = [c for call in find_nodes(test, gast.Call) for c in (_other_classes(call, facts) or ())]
    found = binding_of(part.func, facts, facts.names.local)
    return found is not None and found.kind == "object" and any(found.object is one for one in asked)


def _is_instance(test: Node, kinds: dict[Node, Kind], facts: Facts) -> bool | None:
    """Whether a test of classes holds of numbers and arrays, if that is known."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = _is_instance(test.operand, kinds, facts)
        return None if inner is None else not inner
    if isinstance(test, gast.BoolOp):
        sides = [_is_instance(one, kinds, facts) for one in test.values]
        decides = isinstance(test.op, gast.Or)
        plain = all(isinstance(one, gast.Call) and _is_asked(one, facts) for one in test.values)
        if sides[0] is decides or (plain and decides in sides):
            return decides
        return None if None in sides else decides if decides in sides else not decides
    if not isinstance(test, gast.Call) or _other_classes(test, facts) is None:
        return None
    return False if kinds.get(test.args[0], UNKNOWN).tag in ("array", "scalar") else None


def _is_asked(call: Node, facts: Facts) -> bool:
    """Whether a call is `isinstance(x, C)` of a name."""
    found = binding_of(call.func, facts, facts.names.local)
    asks = found is not None and found.object is isinstance and len(call.args) == 2
    return asks and isinstance(call.args[0], gast.Name)


def _other_classes(call: Node, facts: Facts) -> list[type] | None:
    """The classes of `isinstance(x, C)`, if they are live and no number and no array is of one of them."""
    if not _is_asked(call, facts):
        return None
    several = call.args[1].elts if isinstance(call.args[1], gast.Tuple) else [call.args[1]]
    classes: list[type] = []
    for one in several:
        cls = object_of(one, facts)
        if not isinstance(cls, type) or type(cls) not in (type, abc.ABCMeta) or cls.__module__.startswith("srcgrad"):
            return None
        if any(issubclass(one, cls) or issubclass(cls, one) for one in _NUMERIC_TYPES):
            return None
        classes.append(cls)
    return classes


_NUMERIC_TYPES = (np.ndarray, float, int, complex, *dict.fromkeys(np.sctypeDict.values()))


def _modules(function: Node, kinds: Kinds, facts: Facts) -> dict[str, Kind]:
    """Arguments of which nothing is known but that they are modules where they are not given: `xp=np`."""
    found = {one: kinds.kind(default, {}) for one, default in defaults_of(function).items()}
    known = {**facts.kinds.of_names, **facts.kinds.named}
    return {one: kind for one, kind in found.items() if kind.tag == "module" and one not in known}


def _names_that_vary(function: Node, facts: Facts) -> dict[str, None] | None:
    """Names through which a derivative may flow; None for any name."""
    if not facts.request.wrt:
        return None
    inner = [n for node in function.body for n in find_nodes(node, gast.FunctionDef, gast.Lambda)]
    own = {n.id for one in inner for n in find_nodes(one, gast.Name)}
    return dict.fromkeys([*varied_names(function, facts, own_names(function)), *sorted(own)])


def _as_array(node: Node, facts: Facts) -> list[Node]:
    """The names that an expression reads as arrays: operands, what has an index, arguments of NumPy's functions."""
    parts: list[Node] = []
    if isinstance(node, gast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, gast.Subscript | gast.UnaryOp):
        parts = [node.value if isinstance(node, gast.Subscript) else node.operand]
    elif isinstance(node, gast.Call):
        found = binding_of(node.func, facts, facts.names.local)
        parts = node.args if found is not None and rule_of(found.object) is not None else []
    return [part for part in parts if isinstance(part, gast.Name)]


@record
class _Work:
    facts: Facts
    of: dict[Node, Kind]
    varied: dict[str, None] | None
    lists: set[str]  # names that are taken for lists of the function all along
    before: Block = field(default_factory=list)  # checks of the statement that is looked at
    shown: set[str] = field(default_factory=set)  # names that something else in the text shows to be arrays
    bound: dict[str, Block] = field(default_factory=dict)  # the statements that bind each name

    def block(self, block: Block) -> Block:
        """A block with conversions, and a check where a kind is assumed."""
        made: Block = []
        for node in block:
            self.before = []
            self._statement(node)
            made += [*self.before, node]
            for which in BLOCKS:
                if getattr(node, which, None):
                    setattr(node, which, self.block(getattr(node, which)))
        return made

    def _statement(self, node: Node) -> None:
        if isinstance(node, gast.FunctionDef):
            return
        for part in header(node):
            for item in reversed(find_nodes(part, gast.BinOp, gast.AugAssign, gast.Call)):
                if self._expression(item):
                    self.facts.origin.foreign[node] = None

    def _expression(self, node: Node) -> bool:
        if isinstance(node, gast.BinOp) and (self._flows(node) or self._adds_array(node)):
            return self._operator(node)
        if isinstance(node, gast.AugAssign) and self._flows(node.value, node.target):
            return self._convert_augmented(node)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            self._method(node)
        return isinstance(node, gast.Call) and self._flows(node) and self._call(node)

    def _method(self, node: Node) -> None:
        """A check of an argument of which nothing shows that its method, with these arguments, is an array's."""
        held, op = node.func.value, METHODS.get(node.func.attr)
        rule = rule_of(op)
        known = not isinstance(held, gast.Name) or held.id not in self.facts.request.wrt or held.id in self.shown
        if rule is None or rule.kind == "refused" or known or self._kind(held).tag != "unknown":
            return
        bound: dict[Any, Node] = dict(enumerate(node.args))
        if rule.kind not in ("constant", "composed"):
            with suppress(DifferentiationError):  # it is refused where the operation is looked at
                bound = bind_arguments(rule, [held, *node.args], [], node, self.facts)
        given = [argument for parameter, argument in bound.items() if parameter not in _places(rule)]
        local = dict.fromkeys(self.facts.names.local)
        if any(one is not held and reads_varied(one, local, self.facts, self.facts.names.local) for one in given):
            self._check("check_method", held.id, node)
            self.shown.add(held.id)

    def _adds_array(self, node: Node) -> bool:
        """Whether `+` has an array on one side: a list beside it is not joined, whether a derivative flows or not."""
        return isinstance(node.op, gast.Add) and "array" in (self._kind(node.left).tag, self._kind(node.right).tag)

    def _flows(self, *nodes: Node) -> bool:
        """Whether a derivative may flow through an expression."""
        if self.varied is None:
            return True
        return any(reads_varied(node, self.varied, self.facts, self.facts.names.local) for node in nodes)

    def _kind(self, node: Node) -> Kind:
        if isinstance(node, gast.Name) and node.id in self.lists:
            known = self.of.get(node, UNKNOWN)
            return known if known.tag != "unknown" else Kind("list")
        return self.of.get(node, UNKNOWN)

    # -- operators ---------------------------------------------------------------------------------------------------

    def _looks_at(self, node: Node, *sides: str) -> bool:
        """Check what a method of a value gives that is known only as text: its class may compute otherwise."""
        found = [side for side in sides if self._is_of_text(getattr(node, side), frozenset())]
        for side in found:
            operand = getattr(node, side)
            if not isinstance(operand, gast.Name):
                held = self.facts.names.new_local("held")
                bound = at(gast.Assign([name(held, gast.Store())], operand, None), node)
                self.facts.origin.foreign[bound] = None
                self.before.append(bound)
                setattr(node, side, at(name(held), operand))
            self._check("check_operand", getattr(node, side).id, node)
        return bool(found)

    def _is_of_text(self, node: Node, seen: frozenset[str]) -> bool:
        if isinstance(node, gast.Name) and node.id in self.facts.names.local and node.id not in seen:
            if not self.bound:
                for each in statements(self.facts.source.tree.body):
                    self.bound.setdefault(target(each) or "", []).append(each)
            return any(self._is_of_text(n.value, seen | {node.id}) for n in self.bound.get(node.id, ()))
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute):
            return False
        held = node.func.value
        found = binding_of(held, self.facts, self.facts.names.local) if isinstance(held, _PLACES) else None
        if found is None or found.kind != "value" or found.module is None:
            return self._is_of_text(held, seen)
        return self._kind(held).tag == "unknown"

    def _operator(self, node: Node) -> bool:
        for side, other in (("left", "right"), ("right", "left")):
            listed, beside = getattr(node, side), getattr(node, other)
            if self._kind(listed).tag in SEQUENCES and self._converts(node.op, listed, beside, node):
                setattr(node, side, self._array(listed))
                return True
        return self._looks_at(node, "left", "right")

    def _convert_augmented(self, node: Node) -> bool:
        if self._kind(node.value).tag in SEQUENCES and self._converts(node.op, node.value, node.target, node):
            node.value = self._array(node.value)
            return True
        return self._looks_at(node, "value")

    def _converts(self, op: Node, listed: Node, beside: Node, node: Node) -> bool:
        """Whether an operation of a list and something else is one of arrays."""
        if not isinstance(op, _JOINS) and self._is_plain(listed):
            return False  # it is made an array where it is used
        kind = self._kind(beside)
        if kind.tag in ("array", "numeric"):
            return kind.tag == "array" or not isinstance(op, gast.Mult) or kind.dtype != "integer"
        if kind.tag in ("scalar", "bool"):
            return not isinstance(op, gast.Mult)
        if kind.tag != "unknown" or isinstance(op, gast.Mult | gast.Mod):
            return False
        if not isinstance(op, gast.Add):
            return True
        return self._assumes_sum_of_arrays(beside, node)

    def _assumes_sum_of_arrays(self, beside: Node, node: Node) -> bool:
        """Whether `+` of a list and of what nothing is known of is taken as a sum of arrays, and checked."""
        if not isinstance(beside, gast.Name) or beside.id in self.lists or beside.id not in self.facts.kinds.named:
            return False
        self._check("check_operand", beside.id, node)
        return True

    def _check(self, helper: str, held: str, node: Node) -> None:
        """A line that looks at what is assumed of a name."""
        check = at(statement(f"{self.facts.library_in_text(helper)}({held})"), node)
        self.facts.origin.foreign[check] = None
        self.before.append(check)

    def _is_plain(self, node: Node) -> bool:
        """Whether an expression is a display, or a list of the module: what a text makes an array of anyhow."""
        if isinstance(node, _DISPLAYS):
            return True
        found = (
            binding_of(node, self.facts, self.facts.names.local)
            if isinstance(node, gast.Name | gast.Attribute)
            else None
        )
        return found is not None

    def _array(self, node: Node) -> Node:
        """`np.array(node)`"""
        made = placed(expression(f"{self.facts.library_in_text('np')}.array(x)", x=node), node)
        self.of[made] = Kind("array")
        return at(made, node)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: Node) -> bool:
        function = object_of(node.func, self.facts)
        rule = rule_of(function) if function is not None else None
        if rule is None or rule.kind in ("constant", "refused") or rule.own is not None:
            return False
        self._dtype(node, rule)
        if not any(
            self._kind(one).tag in (*SEQUENCES, "none") for one in [*node.args, *(w.value for w in node.keywords)]
        ):
            return False
        changes = self._changes(node, function, rule)
        for argument, made in changes.items():
            node.args = [made if arg is argument else arg for arg in node.args]
            for word in node.keywords:
                word.value = made if word.value is argument else word.value
        return bool(changes)

    def _dtype(self, node: Node, rule: Rule) -> None:
        """A check of a `dtype=` of which nothing is known: a sum of integers carries no derivative."""
        for asked in [word.value for word in node.keywords if word.arg == "dtype" and rule.kind == "linear"]:
            if self._kind(asked).tag == "unknown" and binding_of(asked, self.facts, self.facts.names.local) is None:
                self._check("check_dtype", gast.unparse(asked), node)

    def _changes(self, node: Node, function: object, rule: Rule) -> dict[Node, Node]:
        changes, composition = {}, written_out(rule, node.args, node.keywords)
        forward = self.facts.pushes_forward or (self.facts.module is not None and self.facts.module.inline)
        if composition is not None:
            for parameter, argument in _by_parameter(composition, node).items():
                listed = self._kind(argument).tag in SEQUENCES
                needed = composition_needs_array(composition, parameter, forward=forward)
                if listed and parameter not in TAKE_SEVERAL and needed:
                    changes[argument] = self._array(argument)
        if composition is not None or rule.kind == "composed":
            return changes
        bound: dict[str, Node] = {}
        with suppress(DifferentiationError):  # it is refused where the operation is looked at
            bound = bind_arguments(rule, node.args, node.keywords, node, self.facts)
        whole = self._kind(bound["ary"]) if "ary" in bound else UNKNOWN
        if function in (np.split, np.array_split) and not _as_long_as_its_rows(bound, whole):
            what = "NumPy divides a list by its length, along whatever axis"
            raise self.facts.refuse(node, "E5005", what, "make an array of it: `np.array([...])`")
        places = _places(rule)
        template = adjoint_template(rule) or tangent_template(rule)
        variadic = None if template is None else bound.pop(template.variadic or "", None)
        for operand in [] if variadic is None else variadic.elts:
            listed = self._kind(operand).tag in SEQUENCES and not self._is_plain(operand)
            if listed and self._flows(operand):
                changes[operand] = self._array(operand)
        for parameter, argument in bound.items():
            kind = self._kind(argument)
            if parameter not in places or parameter in TAKE_SEVERAL or function in TAKE_ITEMS:
                continue
            if kind.tag == "none" and not isinstance(argument, gast.Constant):
                changes[argument] = at(literal_node(None), argument)
            elif kind.tag in SEQUENCES and not self._is_plain(argument):
                if needs_array(rule, parameter, forward=forward):
                    changes[argument] = self._array(argument)
        return changes


def _as_long_as_its_rows(bound: dict[str, Node], kind: Kind) -> bool:
    """Whether what `np.split` divides is no list, or one that has as many columns as rows where these are asked.

    Of a list with a name what is known decides: rows of unknown lengths are looked at when the text runs.
    """
    listed, axis = bound.get("ary"), bound.get("axis")
    if axis is None or getattr(axis, "value", None) == 0:
        return True
    if isinstance(listed, _DISPLAYS):
        return all(isinstance(row, _DISPLAYS) and len(row.elts) == len(listed.elts) for row in listed.elts)
    rows = [row for _, row in kind.items] if kind.tag in SEQUENCES else []
    known = all(row.tag in SEQUENCES and row.items and row.items[0][0] is not ANY for row in rows)
    return not known or all(len(row.items) == len(rows) for row in rows)


def _places(rule: Rule) -> tuple[str, ...]:
    """The parameters of a rule that carry a derivative."""
    template = adjoint_template(rule) or tangent_template(rule)
    if template is None:
        return ()
    return template.differentiable if rule.template is not None else template.parameters


def _by_parameter(composition: Any, node: Node) -> dict[str, Node]:
    code = composition.__code__
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names, node.args, strict=False)) | {word.arg: word.value for word in node.keywords if word.arg}
