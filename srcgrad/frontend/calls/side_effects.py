"""Side effects of calls (mod/ref): arguments that change, statements that only report, order of evaluation.

Which arguments a function writes into is followed through any number of calls; the derivative works on a copy, and
changes nothing of its caller's. Print, warnings, logging and the checks of our own texts only report. What a statement
changes while it is evaluated nothing else in it may read.

What is computed again must come out the same: no random numbers, no clock, in a checkpointed function or loop. A step
works on a copy of an array that it changes: a second name for it, in the function or in its caller, would miss the
change.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import inspect
import random
import types
from collections.abc import Callable, Sequence
from dataclasses import field
from types import FunctionType, MethodType, ModuleType

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.control_flow import ENTRY, Definitions, definitions
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import SCALAR, UNKNOWN, Facts, Kind, Request, function_called
from srcgrad.core.identity import cached_function, record, replace
from srcgrad.core.marks import is_opaque
from srcgrad.core.namespace import Namespace, Step
from srcgrad.core.rules import is_users, makes_new, may_show, rule_of, written_out
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    after_docstring,
    all_given,
    at,
    children,
    copy,
    defaults_of,
    expression,
    find_nodes,
    given_by_place,
    header,
    holds,
    is_docstring,
    is_swap,
    is_write,
    mentions,
    name,
    names_in,
    own_names,
    parameters,
    root,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.frontend.calls.functions import Function, function_of
from srcgrad.frontend.context import CHANGES, TAKES, changed_lists, is_change
from srcgrad.frontend.early_facts import reads_varied, varied_names
from srcgrad.frontend.functions_with_rules import is_of_library
from srcgrad.frontend.kinds_of_values import NOTHING, holds_object, is_instance, live_object, own_operator
from srcgrad.frontend.resolve import (
    ATTRIBUTES,
    METHODS,
    binding_of,
    is_method_of_no_array,
    object_of,
    operation_of,
    parameters_of,
    place_of_out,
)
from srcgrad.runtime import checks, reads_only, require_handled
from srcgrad.runtime.roots import check_numbers, check_slopes, check_steady


def changed_on_entry(changes: list[tuple[Node, str]], tree: Node, own: list[str]) -> dict[str, None]:
    """The parameters among names that statements change which still hold the caller's array there."""
    if not any(name in own for _, name in changes):
        return {}
    entry = _Entry(tree, own)
    return {entered: None for node, name in changes for entered in entry.held(node, name)}


class _Entry:
    """Which of its arguments a function's names may still hold at a statement."""

    def __init__(self, tree: Node, own: list[str]) -> None:
        self.own = own
        self.reaching = definitions(tree.body, own)
        inner = [(each, own_names(each)) for each in statements(tree.body) if isinstance(each, gast.FunctionDef)]
        self.nested = {node: names for each, names in inner for node in statements(each.body)}

    def held(self, node: Node, name: str) -> list[str]:
        """The parameters whose arguments a name may hold there: one of a nested function's own holds none."""
        if name not in self.own or name in self.nested.get(node, ()):
            return []
        return _arguments_held(self.reaching, node, name)


def _arguments_held(reaching: Definitions, node: Node, name: str) -> list[str]:
    """The parameters whose arguments a name may hold at a statement: itself, or what `x, y = y, x` gave it."""
    if node not in reaching.graph.index:
        return [name]  # in a nested function, which may be called at any time
    todo = [(number, name) for number in reaching.at(node, name)]
    seen: set[tuple[int, str]] = set()
    found: dict[str, None] = {}
    while todo:
        number, held = todo.pop()
        if (number, held) in seen:
            continue
        seen.add((number, held))
        place = reaching.of[number][0]
        if place == ENTRY:
            found[held] = None
            continue
        before = reaching.graph.nodes[place]
        if before is None:
            continue
        # behind a write the array is the one that it was
        handed = [held] if is_write(before) else _handed_to(held, before)
        todo += [(each, other) for other in handed for each in reaching.at(before, other)]
    return list(found)


def _handed_to(name: str, node: Node) -> list[str]:
    """The names whose values a name gets in `x, y = y, x`, place by place."""
    if not isinstance(node, gast.Assign):
        return []
    pairs: list[tuple[Node, Node]] = [
        (one, node.value) for one in node.targets if isinstance(one, gast.Tuple | gast.List)
    ]
    found = []
    while pairs:
        one, value = pairs.pop()
        if isinstance(one, gast.Tuple | gast.List) and isinstance(value, gast.Tuple | gast.List):
            pairs += zip(one.elts, value.elts, strict=False)
        elif isinstance(one, gast.Name) and one.id == name and isinstance(value, gast.Name):
            found.append(value.id)
    return found


STORE = "store"  # into a part of it
METHOD = "method"  # by a method, which numbers and objects of other classes have not, or by what a library fills
AUGMENT = "augment"  # `a += e` of a name, which changes an array and binds a number anew
FIELD = "field"  # of an object, whose attributes other passes see to
UNKNOWN_CALL = "unknown"  # a call of which nothing is known, and of which nobody uses the result


@record(frozen=True)
class Change:
    """A change that a function, or one that it calls, makes to what it has not made itself."""

    place: Node  # as it stands there: `LEFT["k"]`
    base: str  # the name through which it is reached, of a parameter or of the module
    held: object = None  # the object of the module that this name means, if it is a live one that may change
    given: bool = False  # whether that name is a parameter
    of: frozenset[str] = frozenset()  # the parameters on which what is stored depends
    how: str = STORE


Given = tuple[object, dict[str, Node], frozenset[str]]  # a function, what its parameters get, those of its object


def _objects_bound(given: list[Node], function: object, facts: Facts) -> list[Node]:
    """The arguments that are objects taken apart, of which a called function may bind attributes."""
    apart, known = facts.kinds.apart, facts.kinds
    kinds = [(v, known.of_expressions.get(v) or known.named.get(getattr(v, "id", ""))) for v in given if apart]
    objects = [value for value, kind in kinds if kind is not None and holds_object(kind, apart)]
    makes = getattr(function, "__name__", "") == "__init__"
    own = objects[:1] if makes and objects[:1] == given[:1] and not isinstance(given[0], gast.Dict) else []
    if objects and _binds_attributes(function, facts):
        return [value for value in objects if not isinstance(value, gast.Dict)]
    return own


def _binds_attributes(function: object, facts: Facts) -> bool:
    """Whether a function, a method or a property that it asks for, binds attributes of what it is given."""
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return False
    tree, known = source.tree, facts.module.binding
    if id(tree) not in known:
        known[id(tree)] = False  # a recursive call adds nothing
        made = next(iter(parameters(tree)), "") if tree.name == "__init__" else ""  # nobody else knows that object
        nodes = [node for s in tree.body for node in walk(s)]
        own = {id(n) for n in nodes if isinstance(n, gast.Attribute) and made and base_of(n) == made}
        known[id(tree)] = any(_binds(node, namespace, facts) for node in nodes if id(node) not in own)
    return bool(known[id(tree)])


def _binds(node: Node, namespace: Namespace, facts: Facts) -> bool:
    """Whether an expression is an attribute that is bound, or asks for what binds some."""
    apart = facts.module.apart
    if isinstance(node, gast.Attribute):
        held = [inspect.getattr_static(cls, node.attr, None) for cls in apart]
        codes = [getattr(one, "fget", getattr(one, "__func__", one)) for one in held if one is not None]
        stored = not isinstance(node.ctx, gast.Load)
        return stored or any(isinstance(one, FunctionType) and _binds_attributes(one, facts) for one in codes)
    if isinstance(node, gast.BinOp | gast.UnaryOp):
        held = [own_operator(type(node.op), Kind("made", None, ((cls, UNKNOWN),))) for cls in apart]
        return any(one is not None and _binds_attributes(one, facts) for one in held)
    called = getattr(node.func, "id", "") if isinstance(node, gast.Call) else ""
    meant = namespace.lookup(called) if called else None
    return meant is not None and isinstance(meant.object, FunctionType) and _binds_attributes(meant.object, facts)


@record
class Effects:
    """What functions change outside of themselves, by what they call as well (mod): a summary for each function."""

    facts: Facts
    augments: bool = False  # whether `a += e` of a parameter counts, which changes an array
    known: dict[int, tuple[Change, ...]] = field(default_factory=dict)  # by tree
    open: list[int] = field(default_factory=list)  # trees that are being looked at, the outermost first
    circular: bool = False  # whether one of them was asked for again
    handed: set[int] = field(default_factory=set)  # arguments of calls that are given functions, which write into them

    def of(self, function: object) -> tuple[Change, ...]:
        """The changes that a function makes; they depend on its parameters."""
        if isinstance(function, Step) or is_report(function):
            return ()  # a step works on a copy
        try:
            source, namespace = self.facts.module.source(function)
        except DifferentiationError:
            return ()  # no source: it is a constant, or refused where a derivative flows through it
        tree, settled = source.tree, self.facts.module.effects
        key = id(tree)
        if key in settled or key in self.known:
            self.circular |= key in self.open
            return tuple(settled[key] if key in settled else self.known[key])
        self.known[key] = ()  # a recursive call adds nothing
        self.open.append(key)
        inner = Facts(source, namespace, Request(self.facts.request.mode, ()), self.facts.module)
        inner.names.local = _names_within(tree)
        self.known[key] = self._refine(self._find(tree, inner), tree, inner)
        self.open.pop()
        if not self.open:  # what was found on the way lacks what a circle would have added
            settled.update({one: self.known[one] for one in ([key] if self.circular else self.known)})
        return self.known[key]

    def _refine(self, found: list[Change], tree: Node, inner: Facts) -> tuple[Change, ...]:
        """Of changed parameters, those that hold there what the caller gave, once all is spelled as statements."""
        given = any(each.given and each.how in (STORE, METHOD, AUGMENT) for each in found)
        imports = not inner.source.library and find_nodes(tree, gast.Import, gast.ImportFrom)
        if not given and not imports:  # names of modules, which are told later; a library's are not imported for this
            return tuple(found)
        try:
            spelled = self._find(self.facts.module.spell(copy(tree), inner, bare=True), inner)
        except DifferentiationError:
            return tuple(found)  # refused later, if it is written out
        entered = {(each.base, each.how) for each in spelled if each.given}
        known = {(each.base, each.how) for each in found}
        inside = [one for one in find_nodes(tree, gast.FunctionDef, gast.Lambda) if one is not tree]
        nested = self.handed | {id(n) for one in inside for n in walk(one)}
        apart = {id(e.place) for e in found if id(e.place) in nested or e.how in (FIELD, UNKNOWN_CALL) or not e.given}
        kept = [e for e in found if id(e.place) in apart or (e.base, e.how) in entered]
        return (*kept, *[e for e in spelled if e.given and (e.base, e.how) not in known])

    def _find(self, tree: Node, inner: Facts) -> list[Change]:
        named = getattr(tree.args.kwarg, "id", "")
        made = [(node, each) for node in statements(tree.body) for each in self._made_in(node, inner)]
        made = [(node, each) for node, each in made if each.base != named or not _is_of_dict(each)]
        flow = _NameFlow(tree, inner, self)
        shown = [(each, base) for node, each in made for base in flow.shown_by(node, each)]
        moved = {one: flow.moved_by(one) for one in all_given(tree)} if shown else {}
        found: dict[tuple[int, str, str], Change] = {}
        for each, base in shown:
            of = frozenset(one for one, names in moved.items() if each.of & names)
            held = each.held if base == each.base else live_value(base, inner, inner.names.local)
            if base in moved or base == each.base or not isinstance(held, type | None):
                found[id(each.place), base, each.how] = replace(each, base=base, held=held, given=base in moved, of=of)
        return list(found.values())

    def _made_in(self, node: Node, inner: Facts) -> list[Change]:
        """What a statement changes itself, blocks that it holds apart, and what it calls."""
        parts, local = parts_of(node), inner.names.local
        called = {id(part.func) for part in parts if isinstance(part, gast.Call)}
        alone = {id(part.value) for part in parts if isinstance(part, gast.Expr)}
        own = [each for part in parts for each in self._own_changes(part, inner, alone=id(part) in alone)]
        for part in parts:
            if isinstance(part, gast.Attribute) and id(part) not in called and _writes_in_place(part.attr):
                own += self._changes_of(part.value, METHOD, [], inner)  # `add = items.append`, which is called later
            elif isinstance(part, gast.Call):
                own += [*self.made_by(part, inner, local), *self.made_by_handed(part, inner)]
        return own

    def made_by_handed(self, call: Node, inner: Facts) -> list[Change]:
        """What a call changes if it is given a function that writes: `list(map(fill, rows))` changes `rows`."""
        given = [*call.args, *(word.value for word in call.keywords)]
        handed = [one for one in given if self._writes(one, inner)]
        others = [one for one in given if one not in handed] if handed else []
        self.handed |= {id(one) for one in others}
        return [made for one in others for made in self._changes_of(one, METHOD, [], inner)]

    def is_write(self, node: Node, inner: Facts) -> bool:
        """Whether a part of an expression changes something itself."""
        return bool(self._own_changes(node, inner, alone=False))

    def _writes(self, called: Node, inner: Facts) -> bool:
        """Whether an expression is a function that writes into what it is given, or into what it holds."""
        if isinstance(called, gast.Lambda):
            return any(self.is_write(part, inner) for part in walk(called.body))
        if isinstance(called, gast.Call):
            return bool(self.made_by_handed(called, inner))
        meant = binding_of(called, inner, inner.names.local)
        function = None if meant is None else meant.static or meant.object
        rule = rule_of(function)
        if rule is not None or not isinstance(function, FunctionType | StaticFunction):
            return (rule is not None and rule.writes) or _writes_in_place(f"__{getattr(function, '__name__', '')}__")
        return not is_opaque(function) and bool(self.changed(function))

    def _own_changes(self, node: Node, inner: Facts, *, alone: bool) -> list[Change]:
        """What a statement or an expression changes itself; what the function has made drops out later."""
        local = inner.names.local
        if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign | gast.NamedExpr | gast.For):
            value = node.iter if isinstance(node, gast.For) else node.value
            bound = _places_bound(node, local)
            return [made for one, how in bound for made in self._changes_of(one, how, [value], inner)]
        if not isinstance(node, gast.Call) or _users_function(node, inner, local) is not None:
            return []
        words = [expression("words['out'][...]", words=one.value) for one in node.keywords if one.arg is None]
        filled = [(one, METHOD) for one in [*places_filled(node, inner, local, alone=alone), *words]]
        if binding_of(node.func, inner, local) == Binding("object", exec):  # which may write into all that it sees
            filled += [(name(one), METHOD) for one in parameters(inner.source.tree)]
        filled += [(one, UNKNOWN_CALL) for one in (_places_handed(node, inner) if alone else [])]
        values = [*node.args, *(word.value for word in node.keywords)]
        return [made for one, how in filled for made in self._changes_of(one, how, values, inner)]

    def _changes_of(self, place: Node, how: str, values: Sequence[Node | None], inner: Facts) -> list[Change]:
        """The changes of what a place is a part of; a method of a field changes a field."""
        local, of = inner.names.local, _names_carrying(values, inner, inner.names.local)
        bases = [base_of(place)] if base_of(place) else self.seen(place, inner, local)
        how = FIELD if how == METHOD and isinstance(place, gast.Attribute) and place.attr not in ATTRIBUTES else how
        return [Change(place, one, live_value(one, inner, local), False, of, how) for one in bases]

    def changed(self, function: object) -> dict[str, bool]:
        """The parameters that a function changes, itself or by what it calls; whether by their methods alone."""
        counted = (STORE, METHOD, AUGMENT) if self.augments else (STORE, METHOD)
        hows: dict[str, set[str]] = {}
        for each in self.of(function):
            if each.given and each.how in counted:
                hows.setdefault(each.base, set()).add(each.how)
        return {one: how == {METHOD} for one, how in hows.items()}

    def made_by(self, call: Node, facts: Facts, local: frozenset[str]) -> list[Change]:
        """The changes that a call makes, told by the names of the caller."""
        found = _users_function(call, facts, local)
        if found is None:
            return self._made_by_class(call, facts, local)
        changes = self.of(found.called)
        if not changes:
            return []
        _, values, own = self._given(found.called, found.args, found.words, call)
        return [made for each in changes for made in self._for_caller(each, values, each.base in own, facts, local)]

    def _made_by_class(self, call: Node, facts: Facts, local: frozenset[str]) -> list[Change]:
        """The changes that making an object of a class of the user's makes outside of the object."""
        meant = binding_of(call.func, facts, local)
        owner = None if meant is None or meant.static is not None else meant.object
        found: list[Change] = []
        for function in makers_of(owner) if isinstance(owner, type) and rule_of(owner) is None else ():
            new = expression("None")
            if self.of(function) and not self.facts.module.source(function)[0].library:
                _, values, own = self._given(function, (new,), {}, call)
                found += [
                    m for c in self.of(function) for m in self._for_caller(c, values, c.base in own, facts, local)
                ]
        return found

    def _given(self, function: object, first: Sequence[Node], words: dict[str, Node], call: Node) -> Given:
        """What the parameters of a function are given; those of the object whose method it is stand apart."""
        tree = self.facts.module.source(function)[0].tree
        positional = given_by_place(tree)
        values = dict(zip(positional, [*first, *call.args], strict=False)) | words
        own = frozenset([*positional[: len(first)], *words])
        values |= {word.arg: word.value for word in call.keywords if word.arg}
        if tree.args.vararg is not None:
            values[tree.args.vararg.id] = gast.Tuple([*first, *call.args][len(positional) :], gast.Load())
        if tree.args.kwarg is not None:
            more = [w.value for w in call.keywords if w.arg not in parameters(tree)]
            values[tree.args.kwarg.id] = gast.Tuple(more, gast.Load())
        return function, values, own

    def _for_caller(
        self, change: Change, values: dict[str, Node], own: bool, facts: Facts, local: frozenset[str]
    ) -> list[Change]:
        of = _names_carrying([values[one] for one in change.of if one in values], facts, local)
        if not change.given:
            return [replace(change, of=of)]
        how = FIELD if own and change.how != UNKNOWN_CALL else change.how
        shown = self.seen(values.get(change.base), facts, local)
        found = [(one, live_value(one, facts, local)) for one in dict.fromkeys(shown)]
        return [
            replace(change, base=one, held=held, given=one in local, of=of, how=how)
            for one, held in found
            if one in local or held is not None
        ]

    def seen(self, value: Node | None, inner: Facts, local: frozenset[str]) -> list[str]:
        """The names whose elements a value may show: not those of arithmetic, nor of calls that make an array."""
        if isinstance(value, gast.Name):
            return [value.id]
        if isinstance(value, gast.Subscript):
            return [] if isinstance(value.slice, gast.List | gast.Compare) else self.seen(value.value, inner, local)
        if isinstance(value, gast.Call):
            return self._seen_through(value, inner, local)
        if isinstance(value, gast.ListComp | gast.SetComp | gast.GeneratorExp | gast.DictComp):
            part = value.value if isinstance(value, gast.DictComp) else value.elt
            over = [one for each in value.generators for one in self.seen(each.iter, inner, local)]
            return self.seen(part, inner, local) and [*self.seen(part, inner, local), *over]
        if not isinstance(value, _HOLDING):
            return []
        return [one for part in children(value) for one in self.seen(part, inner, local)]

    def _seen_through(self, call: Node, inner: Facts, local: frozenset[str]) -> list[str]:
        meant = getattr(binding_of(call.func, inner, local), "object", None)
        rule = rule_of(meant)
        shows = isinstance(meant, type) and issubclass(meant, _CONTAINERS)
        shows |= rule is not None and rule.kind == "refused"
        try:
            operation = None if shows else operation_of(call, inner, local)
        except DifferentiationError:
            operation, shows = None, True  # refused where a derivative flows through it
        if operation is None and not shows and not _may_hold(meant, call):
            return []  # what is written into that is refused later
        if operation is not None and operation.kind == "opaque" and is_method_of_no_array(call):
            if meant is None or not _may_hold(meant, call):
                return self.seen(call.func.value, inner, local) if _may_hold(meant, call) else []
        if operation is not None and operation.kind == "callee" and inner.module.returns_new(operation.function):
            return []
        if operation is not None and operation.kind == "op" and not may_show(operation.function, operation.bound):
            return []
        shown = [part for part in children(call) if part is not call.func or not isinstance(part, gast.Name)]
        if operation is not None and operation.kind == "op":  # of a list it makes an array, which is new
            shown = [part for part in shown if not isinstance(part, gast.List | gast.Tuple | gast.ListComp)]
        return [one for part in shown for one in self.seen(part, inner, local)]

    def arguments(self, call: Node, facts: Facts, local: frozenset[str]) -> list[Node]:
        """The arguments of a call into whose arrays the called function writes."""
        if not any(holds(a, gast.Name) for a in [*call.args, *call.keywords]):
            return []
        if _is_ruled(call, facts, local) or any(function_called(one, facts) is reads_only for one in (call, call.func)):
            return []
        given = self._called(call, facts, local)
        if given is None:
            return []
        function, values, own = given
        changes = self.changed(function)
        joined = {} if self.augments else replace(self, augments=True).changed(function)
        joined = {one: False for one in joined if one in values and _is_changed(values[one], facts)}
        bound = _objects_bound(list(values.values()), function, facts)
        if not changes and not joined:
            return bound
        self._check_defaults(call, function, [one for one in changes if one not in values], facts)
        found = [(values[one], alone) for one, alone in (joined | changes).items() if one in values and one not in own]
        changed = [
            value
            for value, alone in found
            if not (alone and (_is_scalar(value, facts) or _has_own_methods(value, facts, local)))
        ]
        return [*changed, *(one for one in bound if one not in changed)]

    def _called(self, call: Node, facts: Facts, local: frozenset[str]) -> Given | None:
        """The function with a source that a call calls, or the method of an object, and what its parameters get."""
        try:
            operation = operation_of(call, facts, local)
        except DifferentiationError:
            return None  # refused later, if a derivative flows through it
        first: tuple[Node, ...] = ()
        function = None if operation is None else operation.function
        if operation is None or operation.kind != "callee":
            method = function_of(call.func, facts, local) if isinstance(call.func, gast.Attribute) else None
            known = method is not None and method.args and method.binding is not None
            if method is None or not known or not isinstance(method.called, FunctionType):
                return None
            function, first = method.called, method.args
        return self._given(function, first, {}, call) if self.of(function) or facts.kinds.apart else None

    def _check_defaults(self, call: Node, function: object, changed: list[str], facts: Facts) -> None:
        for parameter in changed:
            if parameter in _mutable_default_parameters(self.facts.module.source(function)[0].tree):
                raise facts.refuse(
                    call,
                    "E5010",
                    f"`{gast.unparse(call.func)}` changes its own default of `{parameter}`, which the next call sees",
                    f"pass `{parameter}`, or make it anew in the function",
                )


def _is_of_dict(change: Change) -> bool:
    """Whether `**kwargs` itself is changed, which is nobody else's: `kwargs["k"] = e`, `kwargs.pop("k")`."""
    place = change.place
    stored = change.how == STORE and isinstance(place, gast.Subscript) and isinstance(place.value, gast.Name)
    return stored or (change.how == METHOD and isinstance(place, gast.Name))


_HOLDING = (
    gast.Tuple, gast.List, gast.Set, gast.Dict, gast.IfExp, gast.BoolOp, gast.Attribute, gast.NamedExpr, gast.Starred,
    gast.keyword,
)  # fmt: skip


def _may_hold(called: object, call: Node) -> bool:
    """Whether a call without a rule may give what it was given: a class, a function in C, a method of a container."""
    if called is not None:
        return (
            rule_of(called) is None and isinstance(called, type | types.BuiltinFunctionType) and not is_report(called)
        )
    attribute = getattr(call.func, "attr", "")
    return any(hasattr(one, attribute) for one in (dict, list))


def _writes_in_place(attribute: str) -> bool:
    """Whether a method of this name writes into its list or array: `append`, `fill`, `__setitem__`, `__iadd__`."""
    rule = rule_of(getattr(np.ndarray, attribute, None))
    stores = attribute in ("__setitem__", "__delitem__") or (
        attribute.startswith("__i") and hasattr(np.ndarray, f"__r{attribute[3:]}")
    )
    return attribute in CHANGES or stores or (rule is not None and rule.writes)


def _users_function(call: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """The function with a source that a call calls."""
    found = function_of(call.func, facts, local)
    if found is None or found.binding is None or rule_of(found.called) is not None or is_opaque(found.called):
        return None
    return found if isinstance(found.called, FunctionType | StaticFunction) else None


def makers_of(owner: type) -> list[FunctionType]:
    """The functions of a class that run where an object is made, and those that give its defaults."""
    found = [inspect.getattr_static(owner, one, None) for one in ("__new__", "__init__", "__post_init__")]
    fields = dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ()
    found = [one.__func__ if isinstance(one, staticmethod) else one for one in found]
    return [one for one in [*found, *(f.default_factory for f in fields)] if isinstance(one, FunctionType)]


def _names_within(tree: Node) -> frozenset[str]:
    """Names that a function binds within itself, functions that are nested in it among them."""
    bound = [n.id for n in find_nodes(tree, gast.Name) if not isinstance(n.ctx, gast.Load)]
    nested = [n for n in find_nodes(tree, gast.FunctionDef) if n is not tree]
    below = {id(n) for one in nested for n in find_nodes(one, gast.Nonlocal)}
    outer = [n for n in find_nodes(tree, gast.Global, gast.Nonlocal) if id(n) not in below]
    return frozenset([*bound, *(one.name for one in nested)]) - {one for node in outer for one in node.names}


def live_value(name: str, facts: Facts, local: frozenset[str]) -> object:
    """The live object that may change which a name of the module means; None for any other name."""
    found = None if name in local else facts.namespace.lookup(name)
    if found is None or found.kind != "object":
        return None
    held: object = found.object
    steady = isinstance(held, FunctionType | ModuleType | types.BuiltinFunctionType | np.ufunc | np.generic)
    plain = isinstance(held, int | float | complex | str | bytes | frozenset | type(None))
    return None if steady or plain else held


def _names_carrying(values: Sequence[Node | None], facts: Facts, local: frozenset[str]) -> frozenset[str]:
    """The names that expressions read in places that carry a derivative."""
    given = [(value, n.id) for value in values if value is not None for n in find_nodes(value, gast.Name)]
    return frozenset(one for value, one in dict.fromkeys(given) if reads_varied(value, {one: None}, facts, local))


def base_of(place: Node) -> str:
    """The name of which a place is a part: `box` of `box.fields["k"]`; empty if it is a part of something else."""
    while isinstance(place, gast.Attribute | gast.Subscript):
        place = place.value
    return place.id if isinstance(place, gast.Name) else ""


def _places_bound(node: Node, local: frozenset[str]) -> list[tuple[Node, str]]:
    """The parts that a statement stores into, and the names around it that it binds, and how they change."""
    targets = node.targets if isinstance(node, gast.Assign) else [node.target]
    stored = [n for part in targets for n in find_nodes(part, gast.Name, gast.Attribute, gast.Subscript)]
    stored = [one for one in stored if isinstance(one.ctx, gast.Store)]
    found = [(one, FIELD if isinstance(one, gast.Attribute) else STORE) for one in stored]
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
        joins = isinstance(node.value, gast.List | gast.Dict) or node.target.id not in local
        return [(node.target, STORE if joins else AUGMENT)]
    return [(one, how) for one, how in found if not (isinstance(one, gast.Name) and one.id in local)]


def places_filled(call: Node, facts: Facts, local: frozenset[str], *, alone: bool) -> list[Node]:
    """What a call of a library or of a method writes into: `out`, the list of `l.append(e)`, `a` of `np.put(a, k, e)`.

    Where its result is not used, so does a method of arrays, or a function in C, that has no rule.
    """
    meant = binding_of(call.func, facts, local)
    called = None if meant is None or meant.static is not None else meant.object
    rule = rule_of(called)
    filled = [word.value for word in call.keywords if word.arg == "out" and getattr(word.value, "value", 0) is not None]
    if isinstance(called, types.BuiltinMethodType | MethodType) and called.__name__ == "shuffle":
        return call.args[:1] if isinstance(called.__self__, sources()) else []
    if isinstance(call.func, gast.Attribute) and rule is None:
        owner = binding_of(call.func.value, facts, local)
        if meant is None or (owner is not None and not isinstance(owner.object, ModuleType | type)):
            return filled + _filled_by_method(call, facts, local, alone=alone)
    filled += _filled_by_place(called, call.args)
    bare = rule is None and isinstance(called, types.BuiltinFunctionType) and not is_report(called)
    if (rule is not None and rule.writes) or (alone and bare and called.__module__ != "builtins"):
        first = [word.value for word in call.keywords if word.arg in parameters_of(called)[:1]]
        filled += call.args[:1] or first
    return filled


def _filled_by_method(call: Node, facts: Facts, local: frozenset[str], *, alone: bool) -> list[Node]:
    held, attribute = call.func.value, call.func.attr
    given: list[Node] = call.args
    if _writes_in_place(attribute):
        of_array = isinstance(held, gast.Attribute) and attribute not in CHANGES
        return [expression("a[...]", a=held)] if of_array else [held]
    if attribute == "shuffle":
        return given[:1]  # of a source of random numbers
    method = getattr(np.ndarray, attribute, None)
    if alone and method is not None and not _is_ruled_method(call, facts, local):
        return [held]
    return _filled_by_place(METHODS[attribute], [held, *given]) if attribute in METHODS else []


def _filled_by_place(function: object, args: list[Node]) -> list[Node]:
    """The arrays to be filled that a function of a library is given by their places: `np.add(a, b, a)`."""
    place = place_of_out(function, len(args))
    return [] if place is None else args[place:] if isinstance(function, np.ufunc) else [args[place]]


def _places_handed(call: Node, inner: Facts) -> list[Node]:
    """What a call may change whose result is not used: the object of its method, else its first argument."""
    found = binding_of(call.func, inner, inner.names.local)
    if found is not None and is_report(found.object):
        return []
    handed = call.args[:1]
    if isinstance(call.func, gast.Attribute):
        owner = binding_of(call.func.value, inner, inner.names.local)
        handed = handed if owner is not None and isinstance(owner.object, ModuleType) else [call.func.value]
    return [one for one in handed if base_of(one)]


def _is_ruled_method(call: Node, inner: Facts, local: frozenset[str]) -> bool:
    """Whether a method is an operation with a value, which writes nothing: `a.sum()`."""
    try:
        operation = operation_of(call, inner, local)
    except DifferentiationError:
        return False
    return operation is not None and operation.kind in ("op", "constant")


class _NameFlow:
    """How values go from name to name in a function."""

    def __init__(self, tree: Node, facts: Facts, effects: Effects) -> None:
        self.tree, self.facts, self.effects = tree, facts, effects
        self.bound: dict[str, list[_Bound]] = {}
        self.stored: dict[str, list[_Bound]] = {}  # in parts of what the name holds
        self.entry: _Entry | None = None
        for node in statements(tree.body):
            for part in parts_of(node):
                for one, value in _bound_values(part):
                    plain = isinstance(one, gast.Name)
                    whole = _binds_whole(part, one) if plain else _is_item(one)
                    made = _Bound(node, value, whole, isinstance(part, gast.AugAssign))
                    table = self.bound if plain else self.stored
                    table.setdefault(base_of(one), []).append(made)
        nested = [n for n in find_nodes(tree, gast.FunctionDef, gast.Lambda) if n is not tree]
        self.within = {a.id for one in nested for a in find_nodes(one.args, gast.Name) if isinstance(a.ctx, gast.Param)}

    def moved_by(self, parameter: str) -> frozenset[str]:
        """The names that may carry a derivative by a parameter; a nested function may be given anything."""
        moved = dict.fromkeys([parameter, *self.within])
        while True:
            tables = [(one, values) for table in (self.bound, self.stored) for one, values in table.items()]
            more = [
                one
                for one, values in tables
                if one not in moved
                and any(reads_varied(v.value, moved, self.facts, self.facts.names.local) for v in values)
            ]
            if not more:
                return frozenset(moved)
            moved.update(dict.fromkeys(more))

    def shown_by(self, node: Node, change: Change) -> list[str]:
        """The parameters and names outside whose elements change with a name: no argument copied before.

        Of an item that changes alone, a new list of what others hold is nobody else's, but for what was given.
        """
        name, item = (
            change.base,
            _is_item(change.place) and (change.how != METHOD or isinstance(change.place, gast.Name)),
        )
        local, given = self.facts.names.local, all_given(self.tree)
        found: dict[str, None] = {}
        todo, places = [name], [(node, name)]
        for one in todo:
            for each in [*self.bound.get(one, []), *([] if item and one == name else self._put_into(one))]:
                if item and one == name and each.joined:
                    continue
                shown = self.effects.seen(each.value, self.facts, local)
                if item and one == name and each.whole and self._is_new(each.value):
                    shown = [other for other in shown if other in parameters(self.tree)]
                places += [(each.node, other) for other in shown]
                todo += [other for other in shown if other not in todo]
        for where, one in places:
            if one in given:
                self.entry = self.entry or _Entry(self.tree, given)
                found.update(dict.fromkeys(self.entry.held(where, one)))
            elif one not in local:
                found[one] = None
        return list(found)

    def _put_into(self, held: str) -> list[_Bound]:
        """What is put into a list or a dict that the function makes."""
        new = any(self._is_new(each.value) for each in self.bound.get(held, []) if each.whole)
        return [each for each in self.stored.get(held, []) if each.whole] if new else []

    def _is_new(self, value: Node) -> bool:
        """Whether an expression makes a list or a dict of what others hold."""
        meant = binding_of(value.func, self.facts, self.facts.names.local) if isinstance(value, gast.Call) else None
        made = getattr(meant, "object", None)
        return (isinstance(made, type) and issubclass(made, _CONTAINERS)) or isinstance(value, _DISPLAYS)


_CONTAINERS = (dict, list, tuple, set)
_DISPLAYS = (
    gast.List, gast.Tuple, gast.Dict, gast.Set, gast.ListComp, gast.DictComp, gast.SetComp, gast.GeneratorExp,
)  # fmt: skip


@record(frozen=True)
class _Bound:
    node: Node  # the statement
    value: Node
    whole: bool  # whether it is bound itself, not an item of it; of what is put in, whether it is an item
    joined: bool  # whether it is added to what was there


def _binds_whole(node: Node, one: Node) -> bool:
    if isinstance(node, gast.Assign):
        return any(one is place for place in node.targets)
    return one is getattr(node, "target", None) and not isinstance(node, gast.For | gast.comprehension)


def parts_of(node: Node) -> list[Node]:
    """A statement, and all parts of it that are evaluated by itself, not by the blocks that it holds."""
    if isinstance(node, gast.With):
        return [node, *(n for one in node.items for n in walk(one))]
    return [node, *(n for part in header(node) for n in walk(part) if n is not node)]


def _is_item(place: Node) -> bool:
    """Whether a place is an item of what a name holds, or that itself: `a[0]`, not `a[0][1]`."""
    return isinstance(getattr(place, "value", place), gast.Name)


def _bound_values(node: Node) -> list[tuple[Node, Node]]:
    """The places that a statement or an expression binds, or in which it puts something, with the values."""
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in CHANGES:
        return [(node.func, value) for value in [*node.args, *(word.value for word in node.keywords)]]
    target = getattr(node, "target", getattr(node, "optional_vars", None))
    parts = node.targets if isinstance(node, gast.Assign) else [target]
    value = getattr(node, "value", getattr(node, "iter", getattr(node, "context_expr", None)))
    stored = [n for part in parts if part is not None for n in walk(part)]
    return [(n, value) for n in stored if isinstance(getattr(n, "ctx", None), gast.Store) and value is not None]


@record
class OuterReads:
    """What a function reads outside of itself, by what it calls as well (ref): names, and objects by identity."""

    facts: Facts
    names: set[str] = field(default_factory=set)
    objects: set[int] = field(default_factory=set)
    met: set[int] = field(default_factory=set)  # trees
    all: bool = False  # whether it calls what only a run knows, which may read anything

    def add(self, tree: Node, facts: Facts) -> OuterReads:
        """Take what a function reads."""
        self.met.add(id(tree))
        local = _names_within(tree)
        nodes = [n for node in tree.body for n in walk(node)]
        written = {id(one) for node in nodes for one in _only_written(node, facts, local)}
        for node in nodes:
            if isinstance(node, gast.Name) and node.id not in local and id(node) not in written:
                self.names.add(node.id)
                held = live_value(node.id, facts, local)
                self.objects |= _objects_within(held) | {id(type(held))}
            elif isinstance(node, gast.Call):
                self._add_called(node, facts, local)
        return self

    def _add_called(self, call: Node, facts: Facts, local: frozenset[str]) -> None:
        found, meant = _users_function(call, facts, local), binding_of(call.func, facts, local)
        function = getattr(getattr(meant, "object", None), "__init__", None) if found is None else found.called
        if isinstance(function, FunctionType | StaticFunction):
            self._add_source(function)
        elif not _is_usual(call.func, facts, local) if meant is None else meant.kind in ("value", "unknown"):
            self.all = True

    def _add_source(self, function: object) -> None:
        try:
            source, namespace = self.facts.module.source(function)
        except DifferentiationError:
            self.all = True
            return
        if id(source.tree) not in self.met:
            inner = Facts(source, namespace, Request(self.facts.request.mode, ()), self.facts.module)
            inner.names.local = _names_within(source.tree)
            self.add(source.tree, inner)

    def reads(self, change: Change) -> bool:
        """Whether what changes is read."""
        return self.all or change.base in self.names or bool(self.objects & _objects_within(change.held))


def _is_usual(function: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether what is called is a method of arrays, lists, dicts or strings, or a function that stands in the text."""
    if isinstance(function, gast.Name):
        found = function_of(function, facts, local)
        return found is not None and found.tree is not None
    if not isinstance(function, gast.Attribute):
        return False
    return any(hasattr(one, function.attr) for one in (np.ndarray, list, dict, str, np.random.Generator))


def _only_written(node: Node, facts: Facts, local: frozenset[str]) -> list[Node]:
    """The names whose contents a statement changes, and reads nothing of: `LEFT["k"] = e`, `LIST.append(e)`."""
    if isinstance(node, gast.Assign | gast.AnnAssign):
        places = find_nodes(node, gast.Attribute, gast.Subscript)
        return [_innermost(one) for one in places if isinstance(one.ctx, gast.Store)]
    call = node.value if isinstance(node, gast.Expr) else None
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute):
        return [_innermost(call.func)] if _users_function(call, facts, local) is None else []
    return []


def _innermost(place: Node) -> Node:
    while isinstance(place, gast.Attribute | gast.Subscript):
        place = place.value
    return place


_MANY = 1000  # objects of a module beyond which no more are looked at


def _objects_within(held: object) -> set[int]:
    """The identities of an object, and of those in it: items, fields, the array of which one is a view."""
    found: set[int] = set()
    todo = [] if held is None else [held]
    while todo and len(found) < _MANY:
        one = todo.pop()
        if id(one) in found or isinstance(one, FunctionType | ModuleType | str | int | float | complex):
            continue
        found.add(id(one))
        if isinstance(one, np.ndarray):
            todo += [] if one.base is None else [one.base]
        elif isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list | tuple | set | frozenset):
            todo += one
        elif not isinstance(one, type) and isinstance(held := getattr(one, "__dict__", None), dict):
            todo += held.values()
    return found


def check_outside(function: Node, facts: Facts) -> None:
    """Refuse calls that change what the function reads outside of itself.

    `y = x * c.k; n = bump()`, where `bump` changes `c.k`: the backward half would read the new one (E5010).
    `n = keep(x)`, where `keep` puts what depends on x into what the function reads: no derivative follows it (E5005).
    """
    local = frozenset(own_names(function) | facts.names.local)
    outer, order = Effects(facts), statements(function.body)
    calls = [(k, call) for k, node in enumerate(order) for part in header(node) for call in find_nodes(part, gast.Call)]
    made = [(k, call, change) for k, call in calls for change in outer.made_by(call, facts, local)]
    if not made:
        return
    _check_read_before(made, order, local, facts)
    _check_made_again(made, order, local, facts)
    varied = frozenset(varied_names(function, facts, local))
    for _, call, change in made:
        meant = getattr(binding_of(call.func, facts, local), "object", None)
        if is_of_library(meant) or is_of_library(vars(type(meant)).get("__call__")):
            continue  # it has a rule, or is refused where a derivative flows through it
        if change.of & varied and not change.given and _is_read_somewhere(change, facts):
            what = f"`{gast.unparse(call.func)}` changes `{gast.unparse(change.place)}`, which others may read"
            raise facts.refuse(call, "E5005", what, "return the value instead")


def _check_read_before(
    made: Sequence[tuple[int, Node, Change]], order: Block, local: frozenset[str], facts: Facts
) -> None:
    read = [_objects_read(node, facts, local) for node in order]
    loops = [(k, k + len(statements([n]))) for k, n in enumerate(order) if isinstance(n, gast.For | gast.While)]
    for place, call, change in made:
        ends = [end for first, end in loops if first <= place < end]
        known = [*read[: max([place, *ends])], _objects_read(order[place], facts, local, call)]
        if change.held is None or change.how == UNKNOWN_CALL:
            continue
        if any(id(change.held) in objects for objects in known):
            raise facts.refuse(
                call,
                "E5010",
                "what is called changes what the module holds, and the function has read that before",
                "give the value to the function as an argument, or copy it to a name first: `k = float(c.k)`",
            )


def _check_made_again(
    made: Sequence[tuple[int, Node, Change]], order: Block, local: frozenset[str], facts: Facts
) -> None:
    """Refuse objects of a class that counts them, and reads that: the backward half would read the last count."""
    inside = {n for node in order if isinstance(node, gast.For | gast.While) for n in statements([node])}
    counted: dict[int, None] = {}
    for place, call, change in made:
        owner = getattr(binding_of(call.func, facts, local), "object", None)
        if not isinstance(owner, type) or change.held is None:
            continue
        again = id(change.held) in counted or order[place] in inside
        counted[id(change.held)] = None
        attribute = getattr(change.place, "attr", "")
        if again and any(_reads_attribute(tree, attribute) for tree in [*order, *_methods_of(owner, facts)]):
            raise facts.refuse(
                call,
                "E5010",
                f"making a `{owner.__name__}` changes `{gast.unparse(change.place)}`, which is read in between",
                "keep the number in each object, or give it as an argument",
            )


def _methods_of(owner: type, facts: Facts) -> list[Node]:
    """The texts of what a class has beside the functions that make its objects."""
    found = []
    for held in [one for base in owner.__mro__[:-1] for one in vars(base).values()]:
        function = held.fget if isinstance(held, property) else getattr(held, "__func__", held)
        if isinstance(function, FunctionType) and function not in makers_of(owner):
            with contextlib.suppress(DifferentiationError):
                found.append(facts.module.source(function)[0].tree)
    return found


def _reads_attribute(tree: Node, attribute: str) -> bool:
    return any(n.attr == attribute and isinstance(n.ctx, gast.Load) for n in find_nodes(tree, gast.Attribute))


def _is_read_somewhere(change: Change, facts: Facts) -> bool:
    """Whether the function that is differentiated, in which this one may be called, reads what changes."""
    module = facts.module
    root = next(iter(module.making.values()), None if facts.request.called else facts)
    return root is None or module.inline or OuterReads(root).add(root.source.tree, root).reads(change)


def _objects_read(node: Node, facts: Facts, local: frozenset[str], beside: Node | None = None) -> set[int]:
    """The objects of the module that may change, and of which a statement reads something, `beside` a call."""
    asked = {id(n) for part in header(node) for call in find_nodes(part, gast.Call) for n in walk(call.func)}
    asked |= set() if beside is None else {id(n) for n in walk(beside)}
    names = [n for part in header(node) for n in find_nodes(part, gast.Name) if id(n) not in asked]
    held = [live_value(n.id, facts, local) for n in names if isinstance(n.ctx, gast.Load)]
    return {id(one) for value in held if value is not None for one in (value, type(value))}


def _is_changed(value: Node, facts: Facts) -> bool:
    """Whether a value is known as a list or an array, which `a += e` changes."""
    named = getattr(value, "id", "")
    known = facts.kinds.of_expressions.get(value), facts.kinds.of_names.get(named), facts.kinds.named.get(named)
    return any(kind is not None and kind.tag in ("list", "array") for kind in known) or facts.list_kind(named) == "list"


def _is_scalar(value: Node, facts: Facts) -> bool:
    """Whether a name holds a number, as which nothing can change."""
    return isinstance(value, gast.Name) and facts.kinds.named.get(value.id, UNKNOWN).tag == "scalar"


def _has_own_methods(value: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a value is an object of a class of the user that is neither a list nor a dict, nor made of one."""
    held = live_object(value, facts.namespace, local, None if facts.module is None else facts.module.methods)
    if held is not NOTHING and is_instance(held):
        return not isinstance(held, list | dict)
    kind = facts.kinds.of_names.get(getattr(value, "id", "")) or facts.kinds.of_expressions.get(value)
    made = kind.items[0][0] if kind is not None and kind.tag == "object" and kind.items else None
    return isinstance(made, type) and not issubclass(made, list | dict)


def _is_ruled(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a call is one of an operation whose rule says what it gives, and not another function instead."""
    rule = rule_of(cached_function(object_of(call.func, facts, local)))
    return rule is not None and written_out(rule, call.args, call.keywords) is None


def _mutable_default_parameters(tree: Node) -> list[str]:
    """Parameters whose default is an object that the next call gets as well."""
    return [one for one, default in defaults_of(tree).items() if not isinstance(default, gast.Constant)]


def copy_written_arguments(function: Node, facts: Facts) -> Node:
    """Copy a written argument at the start, unless another function gave it, which would miss what is written.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x, n):\\n    x[0] = n\\n    return x", after="copy_written_arguments"))
    def f(x, n):
        x = owned(x, (n,))
        x[0] = n
        return x
    """
    _copy_written_results(function, facts)
    if _calls_itself(function) or (facts.request.called and facts.request.step is None):
        return function
    writes = [
        (node, w)
        for node in statements(function.body)
        for w in written_names(node)
        if is_write(node) or is_change(node, w)
    ]
    writes += [(node, w) for node in statements(function.body) for w in changed_lists(node) if w in facts.kinds.lists]
    writes += [(node, w) for node in statements(function.body) for w in _changed_by_step(node, facts)]
    changed = changed_on_entry(writes, function, parameters(function))
    changed = {one: None for one in changed if facts.kinds.of_names.get(one, UNKNOWN) != SCALAR}  # Python raises there
    if facts.request.step is not None:
        return _step(function, changed, facts)
    copies = []
    outside = _outside_values(function, facts) if changed else []
    for parameter in parameters(function):
        if parameter in changed:
            beside = [p for p in parameters(function) if p != parameter] + outside
            others = gast.Tuple(elts=list(map(name, beside)), ctx=gast.Load())
            spelled = facts.library_in_text("owned")
            made = statement(f"array = {spelled}(array, others)", array=parameter, others=others)
            facts.origin.foreign[made] = facts.resolution.copies[made] = None
            facts.resolution.entered[parameter] = next((node for node, one in writes if one == parameter), function)
            copies.append(at(made, function))
    start = 1 if is_docstring(function.body[0]) else 0
    function.body[start:start] = copies
    return function


def _copy_written_results(function: Node, facts: Facts) -> None:
    """`t = np.copy(g(x))` for `t = g(x)`, where elements of t are written: the pullback of g may read what g made.

    Only an array that g has made itself: nobody else sees that it changes.
    """
    order = statements(function.body)
    written = {w for node in order if is_write(node) for w in written_names(node)}
    for node in order if written and not facts.request.generated else []:
        value = node.value if isinstance(node, gast.Assign) and target(node) in written else None
        kind = facts.kinds.named.get(str(target(node)), UNKNOWN)
        if not isinstance(value, gast.Call) or kind.tag not in ("array", "numeric") or node in facts.resolution.kept:
            continue
        operation = operation_of(value, facts, facts.names.local)
        if operation is None or operation.kind != "callee" or not facts.module.returns_new(operation.function):
            continue
        node.value = at(expression(f"{facts.library_in_text('np')}.copy(x)", x=value), value)
        facts.origin.foreign[node] = None


def _outside_values(function: Node, facts: Facts) -> list[str]:
    """Values of a module known as text that a function reads, which the argument may show; a call knows live ones."""
    local = {*parameters(function), *(s for node in statements(function.body) for s in stores(node))}
    read = dict.fromkeys(n.id for node in function.body for n in find_nodes(node, gast.Name) if n.id not in local)
    found = [(one, facts.namespace.lookup(one)) for one in read]
    return [one for one, meant in found if meant is not None and meant.kind == "value" and not _is_number(meant)]


def _is_number(meant: Binding) -> bool:
    value = gast.parse(meant.expression).body[0].value if meant.expression else None
    return isinstance(getattr(value, "operand", value), gast.Constant)


def _changed_by_step(node: Node, facts: Facts) -> list[str]:
    """Arrays that the loop changes whose trips a statement calls."""
    call = node.value if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call) else None
    found = facts.namespace.lookup(call.func.id) if call is not None and isinstance(call.func, gast.Name) else None
    step = None if found is None else found.object
    return [w for w in stores(node) if w in step.changed] if isinstance(step, Step) else []


def _step(function: Node, changed: dict[str, None], facts: Facts) -> Node:
    """A step works on a copy of what it changes, and gives it back."""
    copies = []
    own = parameters(function)
    swapped = [
        s
        for node in statements(function.body)
        if is_swap(node) and set(stores(node)) & set(changed)
        for s in stores(node)
    ]
    for parameter in dict.fromkeys([*changed, *(s for s in swapped if s in own)]):
        if parameter not in facts.request.step.state:
            raise facts.refuse(
                function,
                "E5010",
                f"`{parameter}` is changed in a checkpointed loop where that cannot be seen",
                f"write `{parameter}[...] = ...` in the body of the loop itself",
            )
        made = statement(f"{parameter} = {parameter}.copy()")
        facts.origin.foreign[made] = None
        copies.append(at(made, function))
    function.body[:0] = copies
    return function


def _calls_itself(function: Node) -> bool:
    return any(
        isinstance(n.func, gast.Name) and n.func.id == function.name
        for node in function.body
        for n in find_nodes(node, gast.Call)
    )


_REPORTS = (builtins.print, require_handled, check_numbers, check_slopes, check_steady)


def effects(node: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a statement's call is one that only reports: print, warnings, logging; E5001 for what is refused."""
    found = binding_of(node.func, facts, local)
    if found is None or found.static is not None:
        return False
    function = found.object
    rule = rule_of(function)
    if rule is not None and rule.kind == "refused":
        called = gast.unparse(node.func)
        raise facts.refuse(node, "E5001", f"`{called}` has no derivative: {rule.note}", "write it out")
    return is_report(function)


def is_report(function: object) -> bool:
    """Whether a function of a library only reports: print, warnings, logging."""
    if any(function is one for one in _REPORTS):
        return True
    return getattr(function, "__module__", None) in ("warnings", "_warnings", "logging", checks.__name__)


_FEW = 24  # operations beyond which a function is better read under its own name
_PARTS = (
    gast.Name,
    gast.Attribute,
    gast.Constant,
    gast.BinOp,
    gast.UnaryOp,
    gast.Compare,
    gast.Call,
    gast.keyword,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
    gast.cmpop,
)
_OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)


def is_straight(tree: Node) -> bool:
    """Whether a function binds names to the values of a few expressions, and returns the last."""
    *bindings, last = tree.body[after_docstring(tree) :] or [None]
    if not isinstance(last, gast.Return) or last.value is None or tree.decorator_list:
        return False
    for node in bindings:
        if not isinstance(node, gast.Assign) or not all(isinstance(one, gast.Name) for one in node.targets):
            return False
    parts = [part for node in [*bindings, last] for part in walk(node.value)]
    if isinstance(last.value, gast.Tuple) or not all(isinstance(part, _PARTS) for part in parts):
        return False
    return operations(tree) <= _FEW


def operations(tree: Node) -> int:
    """How many operations a function has."""
    return sum(isinstance(part, _OPERATIONS) for node in tree.body for part in walk(node))


def put_in(given: dict[str, Node], tree: Node, is_function: Callable[[Node], bool]) -> dict[str, Node]:
    """What stands where a straight function reads a parameter: names, numbers, and for one reader what has no call."""
    if not is_straight(tree):
        return {}
    found = {}
    called = [n.func for node in tree.body for n in find_nodes(node, gast.Call)]
    takes = any(getattr(one, "attr", getattr(one, "id", "")) in ("next", *TAKES) for one in called)
    for parameter, value in given.items():
        places = [n for node in tree.body for n in find_nodes(node, gast.Name) if n.id == parameter]
        once = not takes and len(places) == 1 and not holds(value, gast.Call)
        displayed = isinstance(value, gast.Tuple | gast.List | gast.Dict | gast.Starred)
        if displayed or is_function(value) or any(isinstance(n.ctx, gast.Store) for n in places):
            continue
        if once or isinstance(value, gast.Name | gast.Constant):
            found[parameter] = value
            for each in places:
                each.id = place(parameter)
    return found


def place(parameter: str) -> str:
    """What stands where an argument will be: no name that a text can have."""
    return f"({parameter})"


def check_sequence(node: Node, facts: Facts) -> None:
    """Refuse a part of a statement that changes what another part of it reads: passes may move either."""
    parts = header(node) if isinstance(node, COMPOUND) else [node]
    items = [item for part in parts for item in walk(part)]
    for effect in [i for i in items if isinstance(i, gast.Call | gast.NamedExpr)]:
        changed, further = _names_changed(effect, facts), _names_changed_further(effect, facts)
        if not (changed or further):
            continue
        inside = {id(n) for n in walk(effect)}
        others = [i for i in items if id(i) not in inside]
        earlier = [i for i in others if _place(i) < _place(effect)] if further else []
        before = {i.id for i in earlier if isinstance(i, gast.Name)}
        before |= {n for i in earlier if isinstance(i, gast.Call) for n in _reads_in_place(i, facts)}
        if effect is getattr(node, "value", None) and isinstance(node, gast.Assign | gast.Expr):
            others = [i for t in getattr(node, "targets", []) for i in _places(t)]  # it comes last but for the store
        elif isinstance(effect, gast.NamedExpr):
            others = [i for i in others if isinstance(i, gast.Call) and _place(i) < _place(effect)]
            if not any(changed & _reads(i, facts, ()) for i in others if isinstance(i, gast.Call)):
                continue
        read = {i.id for i in others if isinstance(i, gast.Name)}
        read |= {
            n for i in others if isinstance(i, gast.Call) and not _comes_in_turn(i, facts) for n in _reads(i, facts, ())
        }
        for one in sorted((changed & read) | (further & before)):  # what is written out later stands behind such calls
            raise facts.refuse(
                effect,
                "E5010",
                f"`{one}` changes while the statement that reads it is evaluated",
                f"give it a statement of its own before: `{_in_a_statement(effect, facts)}`",
            )


def _in_a_statement(effect: Node, facts: Facts) -> str:
    """What stands in the midst of a statement, bound to a name of its own: that which `:=` gives it, or a free one."""
    if isinstance(effect, gast.NamedExpr):
        return f"{gast.unparse(effect.target)} = {gast.unparse(effect.value)}"
    free = next(one for one in ("t", "u", "v", "result_") if one not in facts.names.local)
    return f"{free} = {gast.unparse(effect)}"


def _comes_in_turn(call: Node, facts: Facts) -> bool:
    """Whether a call is written out before the statement, behind those before it: it changes names around it itself."""
    found = function_of(call.func, facts, facts.names.local)
    tree = None if found is None else found.tree
    return tree is not None and not is_straight(tree) and bool(outer_changes(tree, facts))


def check_targets(node: Node, facts: Facts) -> None:
    """`i = a[i] = e` binds the first i before it looks for the place."""
    if isinstance(node, gast.For) and holds(node.target, gast.Subscript, gast.Attribute):
        raise facts.refuse(node.target, "E5005", "a loop that binds a part of something", "bind a name, and store that")
    bound: set[str] = set()
    for target in getattr(node, "targets", []):
        read = {i.id for i in _places(target) if isinstance(i, gast.Name)}
        if bound & read:
            raise facts.refuse(
                target, "E5005", "a target that reads what the same statement binds", "use two statements"
            )
        bound |= {n.id for n in find_nodes(target, gast.Name) if isinstance(n.ctx, gast.Store)}


def _places(target: Node) -> list[Node]:
    """What the indices of a target read."""
    return [n for part in find_nodes(target, gast.Subscript) for n in walk(part.slice)]


def _place(node: Node) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _names_changed(effect: Node, facts: Facts) -> set[str]:
    """Names whose values, or contents, an expression changes."""
    if isinstance(effect, gast.NamedExpr):
        return {effect.target.id}
    if isinstance(effect.func, gast.Attribute) and effect.func.attr in CHANGES:
        known = facts.kinds.of_expressions.get(effect.func.value)
        if known is not None and known.tag == "tuple":
            return set()  # a method of a NamedTuple's own
        held = effect.func.value.id if isinstance(effect.func.value, gast.Name) else ""
        return {held} & facts.names.local
    found = function_of(effect.func, facts, facts.names.local)
    return outer_changes(found.tree, facts) if found is not None and found.tree is not None else set()


def _names_changed_further(effect: Node, facts: Facts) -> set[str]:
    """Names that a call of a nested function changes through other nested functions that it calls."""
    found = function_of(effect.func, facts, facts.names.local) if isinstance(effect, gast.Call) else None
    trees = {} if found is None or found.tree is None else {id(found.tree): found.tree}
    changed: set[str] = set()
    for tree in (pending := [*trees.values()]):
        own = _local_names(tree)
        for call in find_nodes(tree, gast.Call):
            inner = function_of(call.func, facts, facts.names.local)
            if inner is not None and inner.tree is not None and id(inner.tree) not in trees:
                trees[id(inner.tree)] = inner.tree
                pending.append(inner.tree)
                changed |= outer_changes(inner.tree, facts) - own
    return changed


def changes_outside(tree: Node, facts: Facts) -> bool:
    """Whether a nested function binds names of the function around it, or writes into arrays."""
    return bool(outer_changes(tree, facts)) or any(is_write(n) for n in statements(tree.body))


def outer_changes(tree: Node, facts: Facts) -> set[str]:
    """Names around it that a nested function binds, or changes the contents of: np.sort(x) changes no np."""
    own = _local_names(tree)
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, gast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in CHANGES:
            found.update({node.func.value.id} - own if isinstance(node.func.value, gast.Name) else ())
        elif isinstance(node, gast.Assign | gast.AugAssign):
            places = node.targets if isinstance(node, gast.Assign) else [node.target]
            bases = [root(place) for place in places if isinstance(place, gast.Subscript | gast.Attribute)]
            found.update(base.id for base in bases if base is not None and base.id not in own)
    return {one for one in found if one in facts.names.local or not _is_module(one, facts)}


def _is_module(name: str, facts: Facts) -> bool:
    found = facts.namespace.lookup(name)
    return found is not None and isinstance(found.object, ModuleType)


def _reads(call: Node, facts: Facts, above: tuple[int, ...]) -> set[str]:
    """Names of the function around it that a call of a nested function reads."""
    found = function_of(call.func, facts, facts.names.local)
    if found is None or found.tree is None or id(found.tree) in above:
        return set()
    own = _local_names(found.tree)
    names = names_in(found.tree) - own
    inner = find_nodes(found.tree, gast.Call)
    return names.union(*(_reads(n, facts, (*above, id(found.tree))) for n in inner))


def _reads_in_place(call: Node, facts: Facts) -> set[str]:
    """Names around it that a nested function reads in what it returns, which stands where the call stood."""
    found = function_of(call.func, facts, facts.names.local)
    if found is None or found.tree is None:
        return set()
    body = found.tree.body
    last = getattr(body[-1], "value", None) if isinstance(body, list) else body
    parts = [] if last is None else list(walk(last))
    inner = [part for part in parts if isinstance(part, gast.Call)]
    names = {part.id for part in parts if isinstance(part, gast.Name)} - _local_names(found.tree)
    return names.union(*(_reads(one, facts, (id(found.tree),)) for one in inner))


def _local_names(tree: Node) -> set[str]:
    names = set(parameters(tree))
    outer = {n for node in find_nodes(tree, gast.Nonlocal) for n in node.names}
    body = tree.body if isinstance(tree.body, list) else []
    return (names | {s for node in body for n in walk(node) for s in _bound_name(n)}) - outer


def _bound_name(node: Node) -> list[str]:
    return [node.id] if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) else []


@functools.cache
def sources() -> tuple[type, ...]:
    """What draws random numbers."""
    return np.random.Generator, np.random.RandomState, random.Random


@functools.cache
def drawing_methods() -> set[str]:
    """The methods by which it does."""
    known = {name for source in sources() for name in dir(source) if name[0] != "_"}
    return known - set(dir(np.ndarray)) - set(dir(dict))


MODULES = ("numpy.random", "random", "secrets", "uuid", "time")


def check_repeatable(function: object, call: Node, facts: Facts) -> None:
    """Refuse a call that would not give the same when it is made again; E5025 at the call, or in the loop's body."""
    found = _draw(function, facts, set())
    if found is None:
        return
    where = found if isinstance(function, Step) else call
    raise facts.refuse(
        where,
        "E5025",
        f"`{gast.unparse(found)}` gives something else when it is computed again",
        "draw random numbers before, and pass them: `noise = rng.normal(size=(n, k))`",
    )


def _draw(function: object, facts: Facts, seen: set[int]) -> Node | None:
    """The first call in a function, or in one that it calls, of a source of random numbers or of the clock."""
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return None  # refused where a derivative flows through it
    if id(source.tree) in seen:
        return None
    seen.add(id(source.tree))
    inner = Facts(source, namespace, Request(facts.request.mode, ()), facts.module)
    local = own_names(source.tree)
    seeded = {target(n) for n in statements(source.tree.body) if _has_seed(getattr(n, "value", None))}
    for node in [n for s in source.tree.body for n in find_nodes(s, gast.Call)]:
        if _is_draw(node, inner, local, seeded):
            return node
        found = binding_of(node.func, inner, local)
        called = None if found is None else found.static or found.object
        primal = getattr(called, "__srcgrad_primal__", called)
        known = found is not None and (found.static is not None or isinstance(primal, types.FunctionType))
        if known and rule_of(primal) is None and not is_opaque(primal) and _draw(primal, facts, seen) is not None:
            return node
    return None


def _is_draw(node: Node, facts: Facts, local: frozenset[str], seeded: set[str | None]) -> bool:
    found = binding_of(node.func, facts, local)
    if found is not None:
        module = str(getattr(found.object, "__module__", None) or "")
        drawn = isinstance(getattr(found.object, "__self__", None), sources()) or module.startswith(MODULES)
        return drawn and not (isinstance(found.object, type | types.BuiltinFunctionType) and _has_seed(node))
    if not isinstance(node.func, gast.Attribute):
        return False
    base = binding_of(node.func.value, facts, local)
    if base is not None:
        return isinstance(base.object, sources())
    held = node.func.value.id if isinstance(node.func.value, gast.Name) else ""
    return node.func.attr in drawing_methods() and held not in seeded


def _has_seed(call: Node | None) -> bool:
    """`default_rng(7)`: what it gives depends on its argument alone."""
    if not isinstance(call, gast.Call):
        return False
    name = call.func.attr if isinstance(call.func, gast.Attribute) else getattr(call.func, "id", "")
    return name in ("default_rng", "RandomState", "Random") and bool(call.args or call.keywords)


def changed_in(block: Block, facts: Facts) -> list[str]:
    """Names whose arrays a block may write into: by an index, with `out=`, or by a call whose result is not used."""
    found: dict[str, None] = {}
    for node in statements(block):
        found.update(dict.fromkeys(written_names(node)))
        if isinstance(node, gast.Assign | gast.AugAssign):
            places = node.targets if isinstance(node, gast.Assign) else [node.target]
            parts = [n for place in places for n in find_nodes(place, gast.Subscript, gast.Attribute)]
            bases = [root(n) for n in parts if not isinstance(n.ctx, gast.Load)]
            found.update({base.id: None for base in bases if base is not None})
        for call in [n for part in header(node) for n in find_nodes(part, gast.Call)]:
            alone = isinstance(node, gast.Expr) and node.value is call
            found.update({n.id: None for a in _arguments(call, alone, facts) for n in find_nodes(a, gast.Name)})
    return [name for name in found if name in facts.names.local]


def _arguments(call: Node, alone: bool, facts: Facts) -> list[Node]:
    """The arguments of a call that may be changed; of one that stands alone, all unless it is known."""
    out = [word.value for word in call.keywords if word.arg == "out"]
    found = binding_of(call.func, facts, facts.names.local)
    value = getattr(found, "object", None)
    if found is not None and (found.static is not None or isinstance(value, types.FunctionType)):
        ours = str(getattr(value, "__module__", "")).partition(".")[0] not in ("numpy", "warnings", "logging")
        if ours and rule_of(value) is None:
            return out + Effects(facts).arguments(call, facts, facts.names.local)
    if not alone or value is print or getattr(value, "__module__", "") in ("warnings", "_warnings", "logging"):
        return out
    if isinstance(value, np.ufunc) or (isinstance(call.func, gast.Attribute) and found is None):
        return [*out, *([call.func.value] if found is None else [])]
    known = str(getattr(value, "__module__", "")).partition(".")[0] == "numpy"
    return out + (call.args[:1] if known else [*call.args, *(w.value for w in call.keywords)])


def augmented_in(block: Block) -> list[str]:
    """Names that a block changes by `a += e`."""
    nodes = [n for n in statements(block) if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)]
    return list(dict.fromkeys(n.target.id for n in nodes))


def check_augmented(names: list[str], function: Node, facts: Facts) -> None:
    """Refuse `a += e` where `a` may be an array that has a second name."""
    parameters = names_in(function.args)
    for name in names:
        kind = facts.kinds.of_names.get(name)
        changes = [n for n in statements(function.body) if name in stores(n) and isinstance(n, gast.AugAssign)]
        remedy = f"write `{name} = {name} + ...`, which makes a new array"
        if name in parameters and (kind is None or kind.tag != "scalar"):
            raise _refusal(changes[0], name, "it is an argument, which the caller holds", remedy, facts)
        _check(name, [name], function, remedy, facts)


def check_unshared(names: list[str], function: Node, loop: Node, facts: Facts) -> None:
    """Refuse a loop that changes an array which has a second name, or which some other code made."""
    parameters = names_in(function.args)
    swapped = [n for node in statements(function.body) if is_swap(node) for n in stores(node)]
    for name in names:
        remedy = f"begin with an array of its own: `{name} = {name}.copy()`"
        if name in parameters and facts.request.called:
            raise _refusal(loop, name, "it is an argument, which the caller holds", remedy, facts)
        group = list(dict.fromkeys([name, *(swapped if name in swapped else [])]))
        for one in group:
            _check(one, group, function, remedy, facts)


def _check(name: str, group: list[str], function: Node, remedy: str, facts: Facts) -> None:
    """Whether all that is bound to a name is new, and nothing else gets it; names of a group change places."""
    for node in statements(function.body):
        if is_swap(node) and set(stores(node)) <= set(group):
            continue
        values = _bindings(node, name)
        if any(isinstance(v, gast.List | gast.Dict | gast.ListComp | gast.DictComp) for v in values):
            raise facts.refuse(
                node,
                "E5025",
                f"the list or dict `{name}` changes in a checkpointed loop, and each state would hold a copy of it",
                "carry its values in names, or write into an array made before the loop",
            )
        bound = isinstance(node, gast.For) and name in stores(node)
        if bound or any(not is_fresh(value, facts) for value in values):
            raise _refusal(node, name, f"line {node.lineno} may bind it to what something else holds", remedy, facts)
        if _hands_on(node, name, facts) and not _fills_array(node, function, facts):
            remedy = f"let that loop go over a copy: `{name}.copy()`" if isinstance(node, gast.For) else remedy
            raise _refusal(node, name, f"line {node.lineno} gives it to something else", remedy, facts)


def _fills_array(node: Node, function: Node, facts: Facts) -> bool:
    """Whether a statement copies its value into an array that the function made: `b[0] = a[1]`."""
    base = root(node.targets[0]) if isinstance(node, gast.Assign) and is_write(node) else None
    if base is None:
        return False
    kind = facts.kinds.of_names.get(base.id)
    others = [n for n in statements(function.body) if not is_swap(n)]
    made = [is_fresh(value, facts) for other in others for value in _bindings(other, base.id)]
    return (kind is not None and kind.tag == "array") or (bool(made) and all(made))


def _bindings(node: Node, name: str) -> Block:
    """What a statement binds to a name; a part of a tuple is the whole tuple where the parts cannot be told."""
    if not isinstance(node, gast.Assign | gast.AnnAssign) or node.value is None:
        return []
    found = []
    for place in node.targets if isinstance(node, gast.Assign) else [node.target]:
        pairs = [(place, node.value)]
        if isinstance(place, gast.Tuple) and isinstance(node.value, gast.Tuple):
            pairs = list(zip(place.elts, node.value.elts, strict=False))
        for part, value in pairs:
            if any(isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store) for n in walk(part)):
                found.append(value if isinstance(part, gast.Name) else part)
    return found


def is_fresh(value: Node, facts: Facts) -> bool:
    """Whether an expression makes a new array, or a number."""
    if isinstance(value, gast.Name):
        kind = facts.kinds.of_names.get(value.id)
        return kind is not None and kind.tag == "scalar"
    if isinstance(value, gast.IfExp):
        return is_fresh(value.body, facts) and is_fresh(value.orelse, facts)
    if isinstance(value, gast.Constant | gast.BinOp | gast.UnaryOp | gast.Compare):
        return True
    if not isinstance(value, gast.Call):
        return False
    if isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
        return True
    try:
        operation = operation_of(value, facts, facts.names.local)
    except DifferentiationError:
        return False  # refused later
    if operation is None or any(word.arg == "out" for word in value.keywords):
        return False
    if operation.kind == "callee":
        return bool(facts.module.returns_new(operation.function))
    if operation.kind == "opaque":
        return operation.function is np.arange
    return not may_show(operation.function, operation.bound)


def _hands_on(node: Node, name: str, facts: Facts) -> bool:
    """Whether a statement may let something else hold the array of a name."""
    mentioned = any(isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Load) for n in walk(node))
    if not mentioned:
        return False
    if isinstance(node, gast.FunctionDef):
        return True
    if isinstance(node, gast.For):
        return _iterates(node.iter, name, facts)
    if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign) and node.value is not None:
        value = node.value
        inside = mentions(value, name)
        if not inside or is_fresh(value, facts) or target(node) == name:
            return False
        return not (isinstance(value, gast.Tuple) and all(_is_harmless(v, name, facts) for v in value.elts))
    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
        method = node.value.func.attr if isinstance(node.value.func, gast.Attribute) else ""
        return method in ("append", "insert", "extend", "update", "setdefault", "add")
    return False


def _iterates(over: Node, name: str, facts: Facts) -> bool:
    """Whether a loop goes over the array of a name itself: its rows are parts of that."""
    called = over.func.id if isinstance(over, gast.Call) and isinstance(over.func, gast.Name) else ""
    if called in ("enumerate", "zip", "reversed", "checkpointed"):
        return any(_iterates(given, name, facts) for given in over.args)
    return called != "range" and not _is_harmless(over, name, facts)


def _is_harmless(value: Node, name: str, facts: Facts) -> bool:
    mentioned = mentions(value, name)
    return not mentioned or is_fresh(value, facts)


def _refusal(node: Node, name: str, why: str, remedy: str, facts: Facts) -> Exception:
    return facts.refuse(node, "E5010", f"`{name}` is changed in place in a checkpointed loop, and {why}", remedy)


def doubtful_write(tree: Node, facts: Facts) -> Node | None:
    """The first write of a function into an array that something else may show; None if there is none.

    Safe are arrays that the function makes by `np.zeros` and other calls which give what nothing else holds, and
    that have no second name while they are written into.
    """
    writes = [(place, n) for place, top in enumerate(tree.body) for n in statements([top]) if _arrays_written(n)]
    for place, node in writes:
        for name in _arrays_written(node):
            if not _is_made(name, tree, facts) or _has_second_name(name, place, tree):
                return node
    return None


def _arrays_written(node: Node) -> list[str]:
    """Names of arrays into which a statement writes, as a part of its target as well: `a[0], b[0] = e`."""
    if is_write(node):
        return written_names(node)
    places = [part for one in getattr(node, "targets", []) for part in find_nodes(one, gast.Subscript)]
    bases = [root(part) for part in places if isinstance(part.ctx, gast.Store)]
    return [base.id for base in bases if base is not None]


def _is_made(name: str, tree: Node, facts: Facts) -> bool:
    """Whether nothing but new arrays is bound to a name."""
    local = own_names(tree)
    bound = [n for n in statements(tree.body) if target(n) == name]
    others = [n for n in statements(tree.body) if target(n) != name and not _arrays_written(n) and name in _bound_by(n)]
    made = all(_is_maker(n.value, facts, local) for n in bound)
    return bool(bound) and made and not others and name not in parameters(tree)


def _is_maker(value: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether an expression calls a function that makes a new array; the copy of a list holds the arrays of that."""
    found = function_of(value.func, facts, local) if isinstance(value, gast.Call) else None
    if found is None or found.binding is None or found.kept:
        return False
    rule = rule_of(found.called)
    if isinstance(found.called, FunctionType | MethodType | StaticFunction) and (rule is None or is_users(rule)):
        return bool(facts.module.returns_new(found.called))
    return makes_new(found.called, value)


def _bound_by(node: Node) -> list[str]:
    names = [n for part in header(node) for n in find_nodes(part, gast.Name)]
    return [n.id for n in names if not isinstance(n.ctx, gast.Load)]


def _has_second_name(name: str, last: int, tree: Node) -> bool:
    """Whether something else than arithmetic reads an array by its name before the last place that writes into it."""
    for top in tree.body[: last + 1]:
        for node in statements([top]):
            if isinstance(node, gast.FunctionDef) and any(getattr(n, "id", "") == name for n in walk(node)):
                return True
            if _arrays_written(node):
                continue
            value = getattr(node, "value", None) or getattr(node, "iter", None)
            if value is not None and not isinstance(value, gast.BinOp | gast.Compare) and mentions(value, name):
                return True
    return False
