"""What the statements of modules known only as text do to values when they are imported: nothing of them is run.

An abstract interpretation: each expression that makes an object stands for one object, names and items hold sets of
objects, functions and methods of the user's are followed where they are called. A write is noted with the statement of
the module in which it happens. What is not known of a call is taken to write into all that it is given.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import importlib
import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple  # what a name of a library means is arbitrary
from weakref import WeakKeyDictionary

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.bindings import Program, StaticModule, is_installed, is_never_imported, is_trusted
from srcgrad.core.identity import record
from srcgrad.core.marks import is_opaque
from srcgrad.core.rules import arguments_of, may_show, rule_of
from srcgrad.frontend.calls.side_effects import is_report
from srcgrad.frontend.resolve import ATTRIBUTES, METHODS, PASSIVE_ATTRIBUTES

ANY = object()  # the key of items of which only a run can tell where they lie
MOST_CALLS, MOST_STEPS = 12, 200_000  # of expressions, literals apart
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@record(eq=False)
class Value:
    """All objects that one expression makes.

    `kind` is number (all that cannot change), array, list, dict, set, tuple, instance, class, function, method,
    partial, super, module (known as text), live (a function, class or module of a library), object (of such a class),
    namespace (the names of a module), or unknown. `items` are what it holds, by constant key or attribute.
    """

    kind: str
    items: dict[Any, Values] = field(default_factory=dict)
    rank: int | None = None
    node: Any = None  # the function or class
    frame: Frame | None = None  # where that was defined
    live: Any = None
    of: Value | None = None  # the object of a method, the class of an instance
    module: StaticModule | None = None


Values = dict[Value, None]  # a set in the order in which it grew

NUMBER = Value("number")
NUMBERS: Values = {NUMBER: None}


class Place(NamedTuple):
    """A statement of a module and those that it stands in, the outermost first."""

    module: StaticModule
    statements: tuple[ast.stmt, ...]

    @property
    def line(self) -> int:
        """Where the statement itself begins."""
        return self.statements[-1].lineno


class Event(NamedTuple):
    """When something happened, and in which statement."""

    time: int
    place: Place


@record(eq=False)
class Frame:
    """The names of a scope; only what stands straight in it binds a name for all that follows."""

    module: StaticModule
    outer: Frame | None = None
    kind: str = "function"  # or class, module
    names: dict[str, Values] = field(default_factory=dict)
    elsewhere: dict[str, Frame] = field(default_factory=dict)  # what is declared global or nonlocal
    straight: bool = True
    returned: Values = field(default_factory=dict)


class TooLongError(Exception):
    """The modules do more than is followed."""


def union(*found: Values) -> Values:
    """All values of several sets."""
    return {value: None for one in found for value in one}


def within(values: Iterable[Value]) -> Values:
    """The values themselves, and all that can be reached through their items."""
    found: Values = {}
    todo = list(values)
    while todo:
        value = todo.pop()
        if value not in found:
            found[value] = None
            todo += [item for held in value.items.values() for item in held]
            todo += [] if value.of is None or value.kind == "instance" else [value.of]
    found.pop(NUMBER, None)
    return found


_known: WeakKeyDictionary[Program, Effects] = WeakKeyDictionary()


def effects_of(module: StaticModule) -> Effects:
    """What the import of a module does, and that of the module for whose sake it was read."""
    program = module.program
    known = _known.get(program)
    if known is None:
        templates.load()
        known = _known[program] = Effects()
        first = next(iter(program.modules.values()), module)
        known.run(first)
    known.run(module)
    return known


@record
class Effects:
    """What has been done so far, and where the interpretation stands."""

    frames: dict[StaticModule, Frame] = field(default_factory=dict)
    writes: dict[Value, list[Event]] = field(default_factory=dict)
    draws: dict[Value, list[Event]] = field(default_factory=dict)  # changes of an object's state that no item shows
    bound: dict[tuple[StaticModule, str], list[Event]] = field(default_factory=dict)
    other_items: dict[Value, None] = field(default_factory=dict)  # containers that got items of another kind
    ever: dict[tuple[StaticModule, str], Values] = field(default_factory=dict)  # all that a name has held
    called: dict[object, None] = field(default_factory=dict)  # functions that ran
    reflective: dict[ast.stmt, None] = field(default_factory=dict)  # statements that find a module in `sys.modules`
    too_long: bool = False
    places: list[Place] = field(default_factory=list)
    calls: list[ast.AST] = field(default_factory=list)
    open: list[ast.AST] = field(default_factory=list)  # the functions that are running
    sites: dict[object, Value] = field(default_factory=dict)
    left: int = field(default_factory=lambda: MOST_STEPS)
    time: int = 0

    def run(self, module: StaticModule) -> Frame:
        """Follow the statements of a module, once."""
        if module in self.frames:
            return self.frames[module]
        frame = self.frames[module] = Frame(module, kind="module")
        places, self.places = self.places, []
        try:
            self.block(module.tree.body, frame)
        except (TooLongError, RecursionError):
            self.too_long = True
        self.places = places
        return frame

    # -- what happens to values --------------------------------------------------------------------------------------

    def write(self, values: Iterable[Value]) -> None:
        """Note that objects change here."""
        for value in values:
            if value.of is not None and value.kind == "array":
                self.write([value.of])
            if value.kind == "namespace":
                for name in list(self.frames[value.module].names) if value.module in self.frames else []:
                    self._note_binding(value.module, name)
            elif value is not NUMBER:
                self._note(self.writes.setdefault(value, []))

    def _note(self, events: list[Event]) -> None:
        if self.places:
            self.time += 1
            events.append(Event(self.time, self.places[-1]))

    def put(self, holder: Value, key: object, values: Values) -> None:
        """Put values among the items of a container or an object."""
        there = {one.kind for one in self.inside({holder: None})}
        if {one.kind for one in values} - there:
            self.other_items[holder] = None
        held = holder.items.setdefault(key, {})
        held.update({value: None for value in values if value is not holder})

    def store(self, holders: Values, key: object, values: Values) -> None:
        """Put values into containers, objects and modules."""
        for holder in holders:
            if holder.kind in ("namespace", "module") and isinstance(key, str):
                frame = self.frames.get(holder.module)  # type: ignore[arg-type]  # a module has one
                if frame is not None:
                    self._note_binding(frame.module, key, values)
                    frame.names[key] = union(frame.names.get(key, {}), values)
                continue
            self.write(within([holder]) if holder.kind in ("unknown", "object") else [holder])
            if holder.kind == "array" and isinstance(key, str):
                self.other_items[holder] = None  # `W.shape = ...`
            if holder.kind != "array" and holder is not NUMBER:
                self.put(holder, key, values)

    def _note_binding(self, module: StaticModule | None, name: str, values: Values | None = None) -> None:
        if module is not None and self.places:
            self._note(self.bound.setdefault((module, name), []))
            self.ever.setdefault((module, name), {}).update(values or {})

    def unknown_call(self, given: Values, node: ast.AST) -> Values:
        """What is not known of a call: it may write into all that it is given, and keep it."""
        reached = within(given)
        self.left -= len(reached)
        self.write([one for one in reached if one.kind not in ("function", "partial", "class", "live")])
        self._callbacks(given, node)
        made = self.make(node, "unknown")
        made.items.setdefault(ANY, {}).update({value: None for value in reached if value is not made})
        for value in given:
            if value.kind in ("list", "dict", "set", "instance", "unknown", "object"):
                value.items.setdefault(ANY, {}).update({other: None for other in given if other is not value})
        return union({made: None}, given)

    def view(self, base: Value, rank: int | None = None) -> Value:
        """What shows elements of an array."""
        return self.sites.setdefault(("view", base, rank), Value("array", rank=rank, of=base))

    def make(self, node: ast.AST, kind: str) -> Value:
        """The object that an expression makes in the calls that are under way."""
        key = (id(node), kind, tuple(map(id, self.calls[-4:])))
        return self.sites.setdefault(key, Value(kind))

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], frame: Frame) -> None:
        """What statements do, one after another."""
        for statement in body:
            if frame.kind != "module":
                self.statement(statement, frame)
                continue
            around = self.places[-1].statements if self.places and self.places[-1].module is frame.module else ()
            self.places.append(Place(frame.module, (*around, statement)))
            self.statement(statement, frame)
            self.places.pop()

    @contextmanager
    def _perhaps(self, frame: Frame) -> Iterator[None]:
        """Statements that may run, once or more."""
        before, frame.straight = frame.straight, False
        yield
        frame.straight = before

    def statement(self, node: ast.stmt, frame: Frame) -> None:
        """What one statement does."""
        match node:
            case ast.Assign(targets, value):
                held = self.value(value, frame)
                for target in targets:
                    self.bind(target, held, frame)
            case ast.AnnAssign(target, annotation, value):
                held = self.value(value, frame)
                if frame.kind != "function" and not _has_late_annotations(frame.module):
                    self.value(annotation, frame)
                if value is not None:
                    self.bind(target, held, frame)
            case ast.AugAssign(target, op, value):
                self._augment(target, op, self.value(value, frame), frame)
            case ast.Expr(value):
                self.value(value, frame, used=False)
            case ast.Return(value) if value is not None:
                frame.returned.update(self.value(value, frame))
            case ast.Delete(targets):
                for target in targets:
                    self._delete(target, frame)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(node, self._function(node, frame), frame)
            case ast.ClassDef():
                self._define(node, self._class(node, frame), frame)
            case ast.Import() | ast.ImportFrom():
                self._import(node, frame)
            case ast.Global(names) | ast.Nonlocal(names):
                top = self.frames[frame.module]
                for name in names:
                    owner = self._owner(name, frame.outer) if isinstance(node, ast.Nonlocal) else None
                    frame.elsewhere[name] = owner or top
            case _:
                self._compound(node, frame)

    def _compound(self, node: ast.stmt, frame: Frame) -> None:
        match node:
            case ast.If(test, body, others):
                only = is_never_imported(test)
                if not only:
                    self._test(test, frame)
                with self._perhaps(frame):
                    self.block([] if only else body, frame)
                    self.block(others, frame)
            case ast.For(target, iterable, body, others) | ast.AsyncFor(target, iterable, body, others):
                with self._perhaps(frame):
                    for _ in range(2):
                        self.bind(target, self.items(self.value(iterable, frame), iterable), frame)
                        self.block(body, frame)
                    self.block(others, frame)
            case ast.While(test, body, others):
                with self._perhaps(frame):
                    for _ in range(2):
                        self._test(test, frame)
                        self.block(body, frame)
                    self.block(others, frame)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                for item in items:
                    self._enter(item, frame)
                self.block(body, frame)
            case ast.Match(subject, cases):
                held = self.value(subject, frame)
                with self._perhaps(frame):
                    for case in cases:
                        self._capture(case.pattern, held, frame)
                        self._test(case.guard, frame)
                        self.block(case.body, frame)
            case _:
                with self._perhaps(frame):
                    for part in (node, *getattr(node, "handlers", ())):
                        for expression in (n for n in ast.iter_child_nodes(part) if isinstance(n, ast.expr)):
                            self._test(expression, frame)  # also that of an assertion
                        if isinstance(part, ast.ExceptHandler) and part.name:
                            self._name(part.name, {self.make(part, "unknown"): None}, frame)
                        self.block(getattr(part, "body", []), frame)
                    self.block([*getattr(node, "orelse", []), *getattr(node, "finalbody", [])], frame)

    def _enter(self, item: ast.withitem, frame: Frame) -> None:
        held = self.value(item.context_expr, frame)
        entered = union(held, within(held))
        for one in [one for one in held if one.kind == "instance"]:
            entered = union(entered, self.method(one, "__enter__", [], {}, item.context_expr))
            self.method(one, "__exit__", [NUMBERS] * 3, {}, item.context_expr)
        if item.optional_vars is not None:
            self.bind(item.optional_vars, entered, frame)

    def _capture(self, pattern: ast.pattern, held: Values, frame: Frame) -> None:
        for node in ast.walk(pattern):
            name = getattr(node, "rest", None) if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
            if isinstance(name, str):
                self._name(name, union(held, within(held), NUMBERS), frame)

    def _delete(self, target: ast.expr, frame: Frame) -> None:
        match target:
            case ast.Name(name):
                self._name(name, {}, frame)
            case ast.Subscript(value) | ast.Attribute(value):
                held = self.value(value, frame)
                self.write(held)
                self._special(held, "__delitem__" if isinstance(target, ast.Subscript) else "__delattr__", [], target)
            case ast.Tuple(parts) | ast.List(parts):
                for part in parts:
                    self._delete(part, frame)

    # -- names -------------------------------------------------------------------------------------------------------

    def _owner(self, name: str, frame: Frame | None) -> Frame | None:
        while frame is not None and name not in frame.names:
            frame = frame.outer
        return frame

    def _name(self, name: str, values: Values, frame: Frame) -> None:
        home = frame.elsewhere.get(name) or frame
        if home.kind == "module":
            self._note_binding(home.module, name, values)
        strong = home is frame and frame.straight
        home.names[name] = dict(values) if strong else union(home.names.get(name, {}), values)

    def read(self, name: str, frame: Frame) -> Values:
        """What a name holds."""
        scope: Frame | None = frame.elsewhere.get(name) or frame
        while scope is not None:
            if name in scope.names and (scope.kind != "class" or scope is frame):
                return scope.names[name]
            scope = scope.outer
        if name.startswith("__") and name.endswith("__"):
            return NUMBERS
        found = frame.module.lookup(name)
        if found is not None and found.kind == "object":
            return {self._live(found.object): None}
        key = (frame.module, name)
        return {self.sites.setdefault(key, Value("unknown")): None}

    def _live(self, held: object) -> Value:
        if isinstance(held, int | float | complex | str | bytes | type(None)):
            return NUMBER
        return self.sites.setdefault(("live", id(held)), Value("live", live=held))

    def bind(self, target: ast.expr, values: Values, frame: Frame) -> None:
        """What an assignment to a target does."""
        match target:
            case ast.Name(name):
                self._name(name, values, frame)
            case ast.Starred(inner):
                made = self.make(target, "list")
                made.items.setdefault(ANY, {}).update(values)
                self.bind(inner, {made: None}, frame)
            case ast.Tuple(parts) | ast.List(parts):
                starred = any(isinstance(part, ast.Starred) for part in parts)
                given = self.items({one: None for one in values if one.kind == "instance"}, target)
                values = union(values, given) if given is not NUMBERS else values
                for number, part in enumerate(parts):
                    self.bind(part, self.item(values, ANY if starred else number, target), frame)
            case ast.Subscript(holder, index):
                self._any_special(self.value(index, frame), target)
                held = self.value(holder, frame)
                for one in [one for one in held if one.kind == "instance"]:
                    self.method(one, "__setitem__", [NUMBERS, values], {}, target)
                self.store(held, _key(index), values)
            case ast.Attribute(holder, name):
                held = self.value(holder, frame)
                self.store(held, name, values)
                for one in [one for one in held if one.kind == "instance"]:
                    self.method(one, "__setattr__", [NUMBERS, values], {}, target)
                    self._special(self._members_of(one, name), "__set__", [{one: None}, values], target)
                    setters = [own for own in self._members_of(one, name) if own.kind == "function"]
                    for setter in setters:
                        self.call(setter, [{one: None}, values], {}, target)

    def _augment(self, target: ast.expr, op: ast.operator, added: Values, frame: Frame) -> None:
        held = self.value(target, frame)
        changed = {one: None for one in held if one.kind not in ("number", "tuple", "live", "function")}
        for one in [one for one in held if one.kind == "instance"]:
            self.method(one, f"__i{_OPERATORS[type(op)]}__", [added], {}, target)
        self.write([one for one in changed if one.kind not in ("unknown", "object")])
        self.write(within([one for one in changed if one.kind in ("unknown", "object")]))
        for one in changed:
            if one.kind not in ("array", "number"):
                self.put(one, ANY, self.items(added, target))
        tuples = [one for one in held if one.kind == "tuple"]
        self.bind(target, union(changed, self._operated(target, [*tuples, *added]), NUMBERS), frame)

    # -- definitions -------------------------------------------------------------------------------------------------

    def _function(self, node: Any, frame: Frame) -> Value:
        made = self.make(node, "function")
        made.node, made.frame, made.module = node, frame, frame.module
        arguments = node.args
        for default in [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]:
            made.items.setdefault(id(default), {}).update(self.value(default, frame))
        return made

    def _class(self, node: ast.ClassDef, frame: Frame) -> Value:
        made = self.make(node, "class")
        made.node, made.frame, made.module = node, frame, frame.module
        inner = Frame(frame.module, frame, "class")
        self.block(node.body, inner)
        made.items.update({name: union(made.items.get(name, {}), held) for name, held in inner.names.items()})
        bases = union(*(self.value(base, frame) for base in node.bases))
        made.items.setdefault("__bases__", {}).update(bases)
        self._special(union(*inner.names.values()), "__set_name__", [{made: None}, NUMBERS], node)
        for word in node.keywords:
            held = self.value(word.value, frame)
            for maker in ("__new__", "__init__", "__call__") if word.arg == "metaclass" else ():
                for one in [one for one in held if one.kind == "class"]:
                    self.method_of_class(one, maker, made, node)
        for base in bases:
            self.method_of_class(base, "__init_subclass__", made, node)
        return made

    def method_of_class(self, owner: Value, name: str, given: Value, node: ast.AST) -> None:
        """A method that Python calls of a class, where the user's class has it."""
        for found in self._members(owner, name):
            self.call(found, [{given: None}], {}, node)

    def _define(self, node: Any, made: Value, frame: Frame) -> None:
        held: Values = {made: None}
        for decorator in reversed(node.decorator_list):
            given, held = held, {}
            for one in self.value(decorator, frame):
                # what a library's decorator gives calls the function, or is it
                library = one.kind in ("live", "object", "unknown")
                held = union(held, given if library else self.call(one, [given], {}, decorator))
        self._name(node.name, held, frame)

    def _import(self, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
        module = frame.module
        if isinstance(node, ast.Import):
            for alias in node.names:
                if frame.kind == "module" and is_trusted(alias.name):
                    continue  # it is imported where its name is read
                path = alias.name if alias.asname else alias.name.partition(".")[0]
                self._imported(alias.name, node)
                self._name(alias.asname or path, self._imported(path, node), frame)
            return
        parts = module.name.split(".") if module.package else module.name.split(".")[:-1]
        base = ".".join([*parts[: len(parts) - node.level + 1], node.module or ""]) if node.level else node.module or ""
        if frame.kind == "module" and is_trusted(base):
            return
        held = self._imported(base.strip("."), node)
        for alias in node.names:
            if alias.name == "*":
                for one in [one for one in held if one.module is not None]:
                    for name, values in list(self.frames[one.module].names.items()):  # type: ignore[index]
                        frame.names[name] = union(frame.names.get(name, {}), values)
                continue
            found = union(*(self.attribute(one, alias.name, node) for one in held))
            self._name(alias.asname or alias.name, found, frame)

    def _imported(self, name: str, node: ast.AST) -> Values:
        """A module by its absolute name; the user's own is followed now, as Python does."""
        program = next(iter(self.frames)).program
        found = program.module(name)
        if found.kind == "object":
            return {self._live(found.object): None}
        if found.module is None or is_installed(found.module):
            return {self.sites.setdefault(("unknown", name), Value("unknown")): None}
        self.run(found.module)
        return {self._of_module(found.module): None}

    def _of_module(self, module: StaticModule) -> Value:
        return self.sites.setdefault(("module", module), Value("module", module=module))

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr | None, frame: Frame, *, used: bool = True) -> Values:
        """The objects that an expression may be; `used` tells whether its value is."""
        if node is None or isinstance(node, ast.Constant):
            return NUMBERS
        self.left -= 1
        if self.left < 0:
            raise TooLongError
        match node:
            case ast.Name(name):
                return self.read(name, frame)
            case ast.Call():
                return self._call(node, frame, used)
            case ast.Attribute(holder, name):
                return union(*(self.attribute(one, name, node) for one in self.value(holder, frame)))
            case ast.Subscript(holder, index):
                return self._subscript(node, self.value(holder, frame), index, frame)
            case ast.Lambda():
                return {self._function(node, frame): None}
            case ast.NamedExpr(target, value):
                held = self.value(value, frame)
                scope = frame
                while scope.kind == "comprehension" and scope.outer is not None:
                    scope = scope.outer
                self._name(target.id, held, scope)
                return held
            case ast.IfExp(test, one, other):
                self._test(test, frame)
                return union(self.value(one, frame), self.value(other, frame))
            case ast.BoolOp(_, values):
                return union(*(self._test(one, frame) for one in values))
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
                return self._display(node, frame)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, frame)
            case ast.BinOp(one, op, other):
                return self._binary(node, _OPERATORS[type(op)], self.value(one, frame), self.value(other, frame))
            case ast.UnaryOp() | ast.Compare() | ast.FormattedValue():
                return self._by_methods(node, frame)
            case ast.Slice(lower, upper, step):
                for bound in (lower, upper, step):
                    self._any_special(self.value(bound, frame), node)
                return NUMBERS
            case ast.Starred(value) | ast.Await(value):
                return self.value(value, frame)
            case ast.Yield() | ast.YieldFrom():
                held = self.value(node.value, frame)
                made = self.make(node, "list")
                made.items.setdefault(ANY, {}).update(held if isinstance(node, ast.Yield) else self.items(held, node))
                frame.returned[made] = None
                return union({self.make(node, "unknown"): None}, NUMBERS)
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.value(part, frame)
        return NUMBERS

    def _by_methods(self, node: ast.UnaryOp | ast.Compare | ast.FormattedValue, frame: Frame) -> Values:
        """What Python computes with methods of objects: a sign, a comparison, a part of a text."""
        match node:
            case ast.UnaryOp(op, operand):
                if isinstance(op, ast.Not):
                    self._test(operand, frame)
                    return NUMBERS
                held = self.value(operand, frame)
                return union(self._special(held, _SIGNS[type(op)], [], node), self._operated(node, list(held)))
            case ast.Compare(left, _, others):
                held = union(*(self.value(one, frame) for one in (left, *others)))
                for name in _COMPARISONS:
                    self._special(within(held), name, [within(held)], node)
                return self._operated(node, list(held))
            case ast.FormattedValue(value, _, form):
                held = self.value(value, frame)
                self.value(form, frame)
                for name in _TEXTS:
                    self._special(held, name, [NUMBERS], node)
        return NUMBERS

    def _special(self, values: Values, name: str, given: list[Values], node: ast.AST) -> Values:
        """The call of a method by which Python computes with objects of the user's classes."""
        return union(*(self.method(one, name, given, {}, node) for one in values if one.kind == "instance"))

    def _test(self, node: ast.expr | None, frame: Frame) -> Values:
        """An expression of which Python asks whether it is true."""
        held = self.value(node, frame)
        for one in held:
            if one.kind == "instance" and node is not None:
                self.method(one, "__bool__" if self._members_of(one, "__bool__") else "__len__", [], {}, node)
        return held

    def _hash(self, values: Values, node: ast.AST) -> None:
        """Keys of dicts, and items of sets."""
        self._special(values, "__hash__", [], node)
        self._special(values, "__eq__", [values], node)

    def _any_special(self, values: Values, node: ast.AST) -> None:
        """What a library does with objects of the user's classes: any of the methods that Python itself calls."""
        for one in [one for one in within(values) if one.kind == "instance" and one.of is not None]:
            owners: list[Value] = [] if one.of is None else [one.of, *self._bases(one.of)]
            for name in dict.fromkeys(key for owner in owners for key in owner.items if _is_special(key)):
                self.method(one, name, [NUMBERS] * 3, {}, node)

    def _display(self, node: Any, frame: Frame) -> Values:
        made = self.make(node, type(node).__name__.lower())
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                held = self.value(value, frame)
                self._hash(self.value(key, frame), node)
                at = ANY if key is None else _key(key)  # `{**other}`
                made.items.setdefault(at, {}).update(self.inside(held) if key is None else held)
            return {made: None}
        for number, part in enumerate(node.elts):
            spread = isinstance(part, ast.Starred)
            held = self.value(part, frame)
            held = self.items(held, part) if spread else held
            if isinstance(node, ast.Set):
                self._hash(held, node)
            fixed = not spread and not any(isinstance(one, ast.Starred) for one in node.elts)
            made.items.setdefault(number if fixed else ANY, {}).update(held)
        return {made: None}

    def _comprehension(self, node: Any, frame: Frame) -> Values:
        inner = Frame(frame.module, frame, "comprehension", straight=False)
        made = self.make(node, "dict" if isinstance(node, ast.DictComp) else "list")
        for _ in range(2):
            for each in node.generators:
                self.bind(each.target, self.items(self.value(each.iter, inner), each.iter), inner)
                for test in each.ifs:
                    self._test(test, inner)
            element = node.value if isinstance(node, ast.DictComp) else node.elt
            if isinstance(node, ast.DictComp):
                self._hash(self.value(node.key, inner), node)
            made.items.setdefault(ANY, {}).update(self.value(element, inner))
        return {made: None}

    def _binary(self, node: ast.AST, name: str, one: Values, other: Values) -> Values:
        found: Values = {}
        for left, right, spelled in ((one, other, name), (other, one, f"r{name}")):
            for owner in [value for value in left if value.kind == "instance"]:
                found = union(found, self.method(owner, f"__{spelled}__", [right], {}, node))
        if name == "mod":  # which puts values into a text, too
            self._any_special(other, node)
        return union(found, self._operated(node, [*one, *other]))

    def _operated(self, node: ast.AST, operands: list[Value]) -> Values:
        """What an operator makes: a new value, with the items of lists."""
        if all(one.kind == "number" for one in operands):
            return NUMBERS
        kinds = {one.kind for one in operands} - {"number"}
        array = "array" in kinds or not kinds & {"list", "tuple", "dict", "set"}
        made = self.make(node, "array" if array else next(iter(sorted(kinds & {"list", "tuple", "dict", "set"}))))
        ranks = [one.rank for one in operands if one.kind == "array"]
        made.rank = None if len(ranks) != len(kinds) or None in ranks else max(r for r in ranks if r is not None)
        if not array:
            made.items.setdefault(ANY, {}).update(self.inside(dict.fromkeys(operands)))
        return {made: None}

    def _subscript(self, node: ast.Subscript, held: Values, index: ast.expr, frame: Frame) -> Values:
        where = self.value(index, frame)
        self._any_special(where, node)
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        chosen = [self.value(part, frame) for part in parts if not isinstance(part, ast.Slice)]
        copies = any(one.kind in ("list", "array") for values in chosen for one in values)
        shows = not copies or any(one.kind == "unknown" for values in chosen for one in values)
        found: Values = {}
        for one in held:
            if one.kind == "array":
                plain = all(not isinstance(part, ast.Constant) or type(part.value) is int for part in parts)
                rank = None if one.rank is None or not plain else one.rank - len(chosen)
                shown = NUMBERS if rank == 0 else {self.view(one, rank): None}
                found = union(found, shown if shows and not copies else {self.make(node, "array"): None})
                found = union(found, shown if shows else {})
            elif one.kind == "instance":
                found = union(found, self.method(one, "__getitem__", [where], {}, node))
            elif isinstance(index, ast.Slice):
                made = self.make(node, one.kind if one.kind in _CONTAINERS else "unknown")
                made.items.setdefault(ANY, {}).update(self.inside({one: None}))
                found = union(found, {made: None}, {one: None} if one.kind == "unknown" else {})
            else:
                own = isinstance(index, ast.Name) and index.id == "__name__"  # `sys.modules[__name__]`
                named = [module for module in self.frames if module.name == _key(index)]  # `sys.modules["model"]`
                named += [frame.module] if own else []
                this = {self._of_module(module): None for module in named if one.kind in ("unknown", "method")}
                self.reflective.update(dict.fromkeys(self.places[-1].statements) if this and self.places else {})
                found = union(found, this, self.item({one: None}, _key(index), node))
        return found

    def inside(self, values: Values) -> Values:
        """All items of containers, wherever they lie."""
        return union(*(held for one in values for held in one.items.values()))

    def item(self, values: Values, key: object, node: ast.AST) -> Values:
        """The item of containers at a key."""
        found: Values = {}
        for one in values:
            if one.kind == "array":
                rank = None if one.rank is None else one.rank - 1
                found = union(found, NUMBERS if rank == 0 else {self.view(one, rank): None})
            elif one.kind == "namespace":
                found = union(found, self._of_namespace(one, key))
            elif one.kind == "method":
                found = union(found, {} if one.of is None else {one.of: None})
            elif key is ANY or one.kind in ("unknown", "object", "live") or key not in one.items:
                more = {one: None} if one.kind in ("unknown", "object") else {}
                found = union(found, self.inside({one: None}), more)
            else:
                found = union(found, one.items[key], one.items.get(ANY, {}))
        return found or NUMBERS

    def _of_namespace(self, namespace: Value, key: object) -> Values:
        names = self.frames[namespace.module].names  # type: ignore[index]  # a namespace is of a module
        return names.get(key, {}) if isinstance(key, str) else union(*names.values())

    def items(self, values: Values, node: ast.AST) -> Values:
        """What a loop over values gives."""
        found: Values = {}
        for one in values:
            if one.kind == "dict":
                found = union(found, NUMBERS)
            elif one.kind == "instance":
                given = self.method(one, "__iter__", [], {}, node)
                for name in ("__next__", "__getitem__", "__len__"):
                    given = union(given, self.method(one, name, [], {}, node))
                found = union(found, self.inside(given), given)
            else:
                found = union(found, self.item({one: None}, ANY, node))
        return found or NUMBERS

    # -- attributes --------------------------------------------------------------------------------------------------

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Values:
        """What an attribute of an object holds: a value, or a method."""
        if owner.kind == "module":
            frame = self.run(owner.module)  # type: ignore[arg-type]  # a module has one
            return frame.names[name] if name in frame.names else self._of_text(owner.module, name)
        if owner.kind == "live":
            found = None
            with_rule = isinstance(owner.live, ModuleType | type | np.ufunc)
            if with_rule:
                found = getattr(owner.live, name, None)
            return {self._live(found) if found is not None else self._method(owner, name): None}
        if name == "__dict__":
            return {owner: None}
        if owner.kind in ("instance", "class", "super"):
            return self._of_object(owner, name, node)
        if owner.kind == "array":
            if name in PASSIVE_ATTRIBUTES or isinstance(getattr(_SAMPLE, name, None), int | tuple):
                return NUMBERS
            if name in ATTRIBUTES or not callable(getattr(_SAMPLE, name, None)):
                return {self.view(owner): None}
        held = owner.items.get(name, {})
        more = within([owner]) if owner.kind in ("unknown", "object", "function") else {}
        return union(held, {self._method(owner, name): None}, {} if held else more)

    def _of_text(self, module: Any, name: str) -> Values:
        found = module.attribute(name)
        if found.kind == "object":
            return {self._live(found.object): None}
        if found.module is not None and found.kind == "module" and not is_installed(found.module):
            self.run(found.module)
            return {self._of_module(found.module): None}
        return {self.sites.setdefault((module, name), Value("unknown")): None}

    def _method(self, owner: Value, name: str) -> Value:
        return self.sites.setdefault(("method", owner, name), Value("method", of=owner, node=name))

    def _members(self, owner: Value, name: str) -> Values:
        """What a class of the user's has under a name, its bases included."""
        if name in owner.items and owner.kind == "class":
            return owner.items[name]
        return union(*(self._members(base, name) for base in owner.items.get("__bases__", {})))

    def _members_of(self, owner: Value, name: str) -> Values:
        return {} if owner.of is None else self._members(owner.of, name)

    def _of_object(self, owner: Value, name: str, node: ast.AST) -> Values:
        held = owner.items.get(name, {}) if owner.kind == "instance" else {}
        held = union(held, self._special({owner: None}, "__getattribute__", [NUMBERS], node))
        kind = owner if owner.kind == "class" else owner.of
        found = held
        members = self._members(kind, name) if kind is not None else {}
        if owner.kind == "super" and kind is not None:
            members = union(*(self._members(base, name) for base in kind.items.get("__bases__", {})))
        for member in members:
            written = getattr(member.node, "decorator_list", []) if member.kind == "function" else []
            decorators = {getattr(one, "id", getattr(one, "attr", "")) for one in written}
            if member.kind == "instance":  # a descriptor
                found = union(found, self.method(member, "__get__", [{owner: None}, NUMBERS], {}, node))
            if member.kind != "function" or (owner.kind == "class" and "classmethod" not in decorators):
                found = union(found, {member: None})
                continue
            self_of = next(iter(owner.items["self"])) if owner.kind == "super" else owner
            if {"property", "cached_property"} & decorators:
                found = union(found, self.call(member, [{self_of: None}], {}, node))
            else:
                of = member if "staticmethod" in decorators else None
                first = kind if "classmethod" in decorators else self_of
                bound = self.sites.setdefault(("bound", first, member), Value("partial", of=member))
                bound.items[0] = {} if first is None else {first: None}
                found = union(found, {of or bound: None})
        if not found and owner.kind == "instance":
            found = self.method(owner, "__getattr__", [NUMBERS], {}, node)
        if found or owner.kind == "class":
            return found or NUMBERS
        return union({self._method(owner, name): None}, owner.items.get(ANY, {}))

    def method(self, owner: Value, name: str, given: list[Values], words: dict[str, Values], node: ast.AST) -> Values:
        """The call of a method that Python makes itself, where the user's class has one."""
        found: Values = {}
        for one in self._members(owner.of, name) if owner.of is not None else ():
            found = union(found, self.call(one, [{owner: None}, *given], words, node))
        if not found and owner.of is not None and any(one.kind != "class" for one in self._bases(owner.of)):
            found = self.inside({owner: None})
        return found

    def _bases(self, owner: Value) -> Values:
        bases = owner.items.get("__bases__", {})
        return union(bases, *(self._bases(base) for base in bases))

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, frame: Frame, used: bool) -> Values:
        functions = self.value(node.func, frame)
        given: list[Values] = []
        for one in node.args:
            held = self.value(one, frame)
            given.append(self.items(held, one) if isinstance(one, ast.Starred) else held)
        words: dict[str, Values] = {}
        for word in node.keywords:
            held = self.value(word.value, frame)
            words[word.arg or "**"] = union(words.get(word.arg or "**", {}), held if word.arg else self.inside(held))
        spread = any(isinstance(one, ast.Starred) for one in node.args)
        found: Values = {}
        for function in functions:
            if function.kind == "live":
                found = union(found, self._of_library(function.live, node, given, words, frame, used))
            elif function.kind == "method":
                found = union(found, self._of_method(function, node, given, words, used))
            else:
                found = union(found, self.call(function, given, words, node, spread=spread))
        return found or NUMBERS

    def call(
        self, function: Value, given: list[Values], words: dict[str, Values], node: ast.AST, *, spread: bool = False
    ) -> Values:
        """What a call of a value gives."""
        if function.kind == "partial" and function.of is not None:
            first = [held for key, held in sorted(function.items.items(), key=str) if isinstance(key, int)]
            named = {key: held for key, held in function.items.items() if isinstance(key, str)}
            return self.call(function.of, [*first, *given], {**named, **words}, node, spread=spread)
        if function.kind == "function" and isinstance(function.node, FUNCTIONS):
            return self._of_user(function, given, words, node, spread)
        if function.kind == "class":
            return self._construct(function, given, words, node, spread)
        if function.kind == "instance":
            return self.method(function, "__call__", given, words, node)
        if function.kind == "live":
            call = node if isinstance(node, ast.Call) else ast.Call(ast.Name("f"), [], [])
            return self._of_library(function.live, call, given, words, next(iter(self.frames.values())), True)
        if function is NUMBER:
            return NUMBERS
        everything = union(*given, *words.values(), {function: None} if function.kind == "unknown" else {})
        if function.kind == "method" and function.of is not None:
            everything = union(everything, {function.of: None})
        return self.unknown_call(everything, node)

    def _of_user(
        self, function: Value, given: list[Values], words: dict[str, Values], node: ast.AST, spread: bool
    ) -> Values:
        """A function of the user's: its statements, with what its parameters hold."""
        own = function.node
        if own in self.open or len(self.open) > MOST_CALLS:
            return self.unknown_call(union(*given, *words.values()), node)
        self.called[own] = None
        frame = Frame(function.module, function.frame)  # type: ignore[arg-type]  # a function has its module
        self._parameters(function, frame, given, words, spread)
        calls = self.calls
        self.open.append(own)
        self.calls = [own] if getattr(own, "decorator_list", []) else [*calls, node]  # a cache gives the same again
        if isinstance(own, ast.Lambda):
            frame.returned.update(self.value(own.body, frame))
        else:
            self.block(own.body, frame)
        self.calls = calls
        self.open.pop()
        return frame.returned

    def _parameters(
        self, function: Value, frame: Frame, given: list[Values], words: dict[str, Values], spread: bool
    ) -> None:
        arguments = function.node.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        defaults |= {one.arg: default for one, default in pairs if default is not None}
        every = union(*given)
        for number, name in enumerate(names):
            at = every if spread else given[number] if number < len(given) else {}
            held = union(at, words.get(name, {}), words.get("**", {}))
            frame.names[name] = held or self._default(function, defaults.get(name))
        for one in arguments.kwonlyargs:
            held = union(words.get(one.arg, {}), words.get("**", {}))
            frame.names[one.arg] = held or self._default(function, defaults.get(one.arg))
        rest = given if spread else given[len(names) :]
        if arguments.vararg is not None:
            made = self.make(arguments.vararg, "tuple")
            made.items.setdefault(ANY, {}).update(union(*rest))
            frame.names[arguments.vararg.arg] = {made: None}
        if arguments.kwarg is not None:
            made = self.make(arguments.kwarg, "dict")
            for word, held in words.items():
                made.items.setdefault(ANY if word == "**" else word, {}).update(held)
            frame.names[arguments.kwarg.arg] = {made: None}

    def _default(self, function: Value, default: ast.AST | None) -> Values:
        return function.items.get(id(default), NUMBERS)

    def _construct(
        self, owner: Value, given: list[Values], words: dict[str, Values], node: ast.AST, spread: bool
    ) -> Values:
        """An instance of a class of the user's."""
        made = self.make(node, "instance")
        made.of = owner
        maker = self._members(owner, "__init__")
        for one in maker:
            self.call(one, [{made: None}, *given], words, node, spread=spread)
        if not maker:
            fields = [ast.unparse(one.target) for one in owner.node.body if isinstance(one, ast.AnnAssign)]
            for name, held in [*zip(fields, given, strict=False), *words.items()]:
                made.items.setdefault(ANY if name == "**" else name, {}).update(held)
            if spread or len(given) > len(fields) or not fields:
                every = union(*given)
                made.items.setdefault(ANY, {}).update(union(every, self.items(every, node)))
        for one in self._members(owner, "__post_init__"):
            self.call(one, [{made: None}], {}, node)
        for one in self._members(owner, "__new__"):
            made.items.setdefault(ANY, {}).update(self.call(one, [{owner: None}, *given], words, node))
        return {made: None}

    def _callbacks(self, given: Values, node: ast.AST) -> Values:
        """Functions of the user's that a library is given: it may call them with what it is given beside."""
        beside = {one: None for one in within(given) if one.kind not in ("function", "partial", "class")}
        every = union(beside, self.inside(beside), NUMBERS)
        self.left -= len(every)
        found: Values = {}
        for one in [one for one in given if one.kind in ("function", "partial") or (one.kind == "instance")]:
            function = one.of if one.kind == "partial" else one
            count = 4 if function is None or function.kind != "function" else len(function.node.args.args)
            found = union(found, self.call(one, [every] * count, {}, node))
        self._any_special(given, node)
        return found

    def _of_method(
        self, method: Value, node: ast.Call, given: list[Values], words: dict[str, Values], used: bool
    ) -> Values:
        """A method of an array, a list, a dict, a string, an object of a library."""
        owner, name = method.of, method.node
        assert owner is not None, "a method is of an object"
        every = union(*given, *words.values())
        if owner.kind == "array":
            return self._of_array(owner, name, node, given, words)
        if owner.kind == "number":
            self._any_special(every, node)
            made = self.make(node, "list")
            made.items.setdefault(ANY, {}).update(union(every, NUMBERS))
            return union(NUMBERS, {made: None})
        if owner.kind in _CONTAINERS:
            return self._of_container(owner, name, node, given, every)
        if owner.kind == "object" or owner.kind == "live":
            kind = owner.live if isinstance(owner.live, type) else type(owner.live)
            if is_report(getattr(kind, name, None)):
                return NUMBERS
            self._note(self.draws.setdefault(owner, []))
            if used:
                self._callbacks(every, node)
                made = self.make(node, "unknown")
                made.items.setdefault(ANY, {}).update(union(within(every), self.inside({owner: None})))
                return union({made: None}, self.inside({owner: None}))
        return self.unknown_call(union(every, {owner: None}), node)

    def _of_array(
        self, owner: Value, name: str, node: ast.Call, given: list[Values], words: dict[str, Values]
    ) -> Values:
        self.write(words.get("out", {}))
        function = METHODS.get(name)
        rule = rule_of(function)
        every = union(*given, *words.values())
        if rule is not None and rule.kind != "refused":
            first = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            shows = may_show(function, _by_parameter(function, node, first))
            return {self.view(owner) if shows else self.make(node, "array"): None}
        how = _method_of_array(name)
        if how == "writes":
            self.write({owner: None})
            self.other_items.update({owner: None} if _gives_another_shape(name) else {})
        shown = {self.view(owner): None} if how != "new" else {}
        return union(shown, {self.make(node, "unknown"): None}, every if how == "writes" else {})

    def _of_container(self, owner: Value, name: str, node: ast.Call, given: list[Values], every: Values) -> Values:
        kind = _CONTAINERS[owner.kind]
        key = _key(node.args[0]) if node.args and owner.kind == "dict" else ANY
        self._any_special(union(every, {owner: None}), node)  # which are compared, or hashed
        if name in _changing_methods(kind) or not hasattr(kind, name):
            self.write({owner: None})
            each = "array" in {one.kind for one in every}
            added = union(every, self.items(every, node) if each else self.inside(every))
            self.put(owner, ANY, added)
            self._callbacks(every, node)
        if owner.kind == "dict" and key is not ANY and key in owner.items:
            return union(owner.items[key], owner.items.get(ANY, {}), *given[1:])
        held = union(self.inside({owner: None}), every)
        pairs, made = self.make(node, "tuple"), self.make(node, owner.kind if name == "copy" else "list")
        pairs.items.setdefault(ANY, {}).update(union(held, NUMBERS))
        if name == "copy":
            made.items.update({one: dict(values) for one, values in owner.items.items()})
            return {made: None}
        made.items.setdefault(ANY, {}).update(union(held, {pairs: None}))
        return union({made: None}, held, NUMBERS)

    def _of_library(
        self,
        function: object,
        node: ast.Call,
        given: list[Values],
        words: dict[str, Values],
        frame: Frame,
        used: bool,
    ) -> Values:
        """A function or class of Python, NumPy or another library that is there."""
        every = union(*given, *words.values())
        if is_report(function) or is_opaque(function):
            self._any_special(every, node)
            return NUMBERS
        if function is range:
            made = self.make(node, "list")
            made.items[ANY] = NUMBERS
            return {made: None}
        if isinstance(function, type) and issubclass(function, int | float | complex | str | bytes | np.generic):
            self._callbacks(every, node)
            return NUMBERS
        special = self._of_python(function, node, given, words, frame)
        if special is not None:
            return special
        if function in _CONTAINERS.values() or function in _LAZY:
            return self._container(function, node, given, words)
        self.write(_outputs(function, given, words))
        rule = rule_of(function)
        called = self._callbacks(every, node)
        builtin = getattr(function, "__module__", None) in ("builtins", "_operator", "operator", "_functools")
        if builtin and not isinstance(function, type):
            plain = rule is not None and not any(
                one.kind in ("list", "dict", "tuple", "unknown") for one in within(every)
            )
            shown = {} if plain else union(self.inside(every), every if len(given) > 1 else {}, called)
            return union(shown, NUMBERS if plain else {self.make(node, "unknown"): None})
        told = () if rule is None else rule.parameters
        if any(word.arg not in told and _is_true(word.value) for word in node.keywords):
            self.write(within(every))  # `overwrite_a=True`
        if rule is not None and rule.kind != "refused":
            return self._with_rule(function, rule, node, every)
        if isinstance(function, type):
            made = self.make(node, "object")
            made.live = function
            made.items.setdefault(ANY, {}).update(every)
            return {made: None}
        if rule is not None or not used:
            return self.unknown_call(every, node)
        made = self.make(node, "unknown" if function is not copy.deepcopy else "array")
        if function is copy.deepcopy:
            return {made: None}
        if function is np.random.default_rng or isinstance(getattr(function, "__self__", None), type):
            made = self.make(node, "object")
        made.live = np.random.Generator if function is np.random.default_rng else made.live
        made.items.setdefault(ANY, {}).update(union(within(every), called))
        return union({made: None}, every)

    def _with_rule(self, function: object, rule: Any, node: ast.Call, every: Values) -> Values:
        if not may_show(function, _by_parameter(function, node)):
            made = self.make(node, "array")
            made.rank = _rank(function, rule, node)
            return {made: None}
        if rule.kind == "elementwise":  # `nan_to_num(W, copy=False)`: what it computes lies in its argument
            self.write(every)
        shown = within(every)
        made = self.make(node, "list" if function is list else "array")
        if function is list:
            made.items.setdefault(ANY, {}).update(self.items(every, node))
            return {made: None}
        views = {self.view(one): None for one in shown if one.kind == "array"}
        return union({made: None}, views, {one: None for one in shown if one.kind in ("unknown", "object")})

    def _of_python(
        self, function: object, node: ast.Call, given: list[Values], words: dict[str, Values], frame: Frame
    ) -> Values | None:
        """Functions by which Python's own statements are spelled; None for others."""
        second = _key(node.args[1]) if len(node.args) > 1 else ANY
        if function is globals or (function in (vars, locals) and not given and frame.kind == "module"):
            return {self._namespace(frame.module): None}
        if function is vars and given:
            return given[0]
        if function in (setattr, operator.setitem) and len(given) > 2:
            self.store(given[0], second, given[2])
            return NUMBERS
        if function in _IN_PLACE and given:
            self.write(given[0])
            return given[0]
        if function in (delattr, operator.delitem):
            self.write(given[0])
            return NUMBERS
        if function is getattr and len(given) > 1:
            if isinstance(second, str):
                return union(*(self.attribute(one, second, node) for one in given[0]), *given[2:])
            made = self.make(node, "unknown")
            made.items.setdefault(ANY, {}).update(given[0])
            return union({made: None}, given[0])
        if function in (exec, eval):
            for module in list(self.frames):
                self.write(within(union(*self.frames[module].names.values())))
                self.write({self._namespace(module): None})
            return {self.make(node, "unknown"): None}
        if function is importlib.import_module or function is __import__:
            text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            own = node.args and isinstance(node.args[0], ast.Name) and node.args[0].id == "__name__"
            if own:
                return {self._of_module(frame.module): None}
            return self._imported(text, node) if isinstance(text, str) and text[:1] != "." else None
        if function is functools.partial and given:
            return {self._partial(one, node, given, words): None for one in given[0]}
        if function is super:
            return self._super(node, frame)
        if function is next and given:
            return union(self.inside(given[0]), *given[1:], given[0])
        return None

    def _namespace(self, module: StaticModule) -> Value:
        return self.sites.setdefault(("namespace", module), Value("namespace", module=module))

    def _partial(self, function: Value, node: ast.Call, given: list[Values], words: dict[str, Values]) -> Value:
        key = (id(node), "partial", function, tuple(map(id, self.calls[-4:])))
        made = self.sites.setdefault(key, Value("partial", of=function))
        made.items.update(enumerate(given[1:]))
        made.items.update(words)
        return made

    def _super(self, node: ast.AST, frame: Frame) -> Values:
        scope: Frame | None = frame
        held = next(iter(frame.names.values()), {}) if frame.names else {}
        while scope is not None and scope.kind != "class":
            scope = scope.outer
        found: Values = {}
        for one in [one for one in held if one.kind == "instance" and one.of is not None]:
            owners = [] if one.of is None else [one.of, *self._bases(one.of)]
            owner = next((c for c in owners if c.frame is not None and self._stands_in(c, node)), one.of)
            made = self.sites.setdefault(("super", one, owner), Value("super", of=owner))
            made.items["self"] = {one: None}
            found[made] = None
        return found or NUMBERS

    def _stands_in(self, owner: Value, node: ast.AST) -> bool:
        return owner.node is not None and any(part is node for part in ast.walk(owner.node))

    def _container(self, function: object, node: ast.Call, given: list[Values], words: dict[str, Values]) -> Values:
        """What `list(...)`, `dict(...)`, `zip(...)`, `map(...)` hold."""
        kind = next((name for name, one in _CONTAINERS.items() if one is function), "list")
        made = self.make(node, kind)
        held = made.items.setdefault(ANY, {})
        if function is map and given:
            each = [self.items(one, node) for one in given[1:]]
            held.update(union(*(self.call(one, each, {}, node) for one in given[0])))
            return {made: None}
        if function is filter and given:
            self._callbacks(union(*given), node)
            given = given[1:]
        if function is sorted or function is filter:
            self._callbacks(union(*given, *words.values()), node)
        for one in union(*given):
            if kind == "dict" and one.kind == "dict":
                for key, values in one.items.items():
                    made.items.setdefault(key, {}).update(values)
        rest = union(*given)
        items = self.inside(rest) if kind == "dict" else self.items(rest, node)
        if function in (zip, enumerate):
            pair = self.make(node, "tuple")
            pair.items.setdefault(ANY, {}).update(union(*(self.items(one, node) for one in given), NUMBERS))
            for number, zipped in enumerate(given):
                if function is zip and not any(isinstance(a, ast.Starred) for a in node.args):
                    pair.items.setdefault(number, {}).update(self.items(zipped, node))
            if function is enumerate or any(isinstance(a, ast.Starred) for a in node.args):
                pair.items = {ANY: pair.items[ANY]}
            else:
                pair.items.pop(ANY)
            items = {pair: None}
        if kind != "dict" or not any(one.kind == "dict" for one in rest):
            held.update(items)
        for word, values in words.items():
            if kind == "dict":
                made.items.setdefault(ANY if word == "**" else word, {}).update(values)
        return {made: None}


_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
}  # fmt: skip
_SIGNS = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__iter__", "__hash__")
_TEXTS = ("__format__", "__str__", "__repr__")
_OF_MAKING = ("__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__call__")
_IN_PLACE = tuple(getattr(operator, f"__i{name}__") for name in _OPERATORS.values())
_CONTAINERS: dict[str, object] = {"list": list, "tuple": tuple, "set": set, "dict": dict}
_LAZY = (zip, enumerate, map, filter, reversed, iter, sorted, frozenset)
_SAMPLE = np.arange(3.0)
_SAMPLE.flags.writeable = False


def _is_special(name: object) -> bool:
    """Whether Python calls a method of this name itself, once there is an object.

    >>> [_is_special(name) for name in ("__len__", "__init__", "length")]
    [True, False, False]
    """
    return isinstance(name, str) and name[:2] == name[-2:] == "__" and name not in (*_OF_MAKING, "__bases__")


@functools.cache
def _changing_methods(kind: type) -> frozenset[str]:
    """The methods by which a container changes: those that no container has that cannot change.

    >>> sorted(_changing_methods(dict))
    ['clear', 'fromkeys', 'pop', 'popitem', 'setdefault', 'update']
    """
    fixed = {*dir(tuple), *dir(frozenset), *dir(MappingProxyType)}
    return frozenset(name for name in dir(kind) if name not in fixed and not name.startswith("__"))


@functools.cache
def _method_of_array(name: str) -> str:
    """What a method without a rule does with its array, tried on one that cannot be written: writes, shows, or new.

    >>> [_method_of_array(name) for name in ("fill", "sort", "put", "tolist", "view")]
    ['writes', 'writes', 'writes', 'new', 'shows']
    """
    at, found = np.array([0]), "writes"
    for given in ((), (at,), (at, at)):
        try:
            made = getattr(_SAMPLE, name)(*given)
        except ValueError as error:
            if "read-only" in str(error):
                return "writes"
        except (TypeError, IndexError, AttributeError):
            continue
        else:
            if made is None:
                return "writes"  # it is called for its effect
            shows = isinstance(made, np.ndarray) and np.shares_memory(made, _SAMPLE)
            found = "shows" if shows else "new"
    return found


@functools.cache
def _gives_another_shape(name: str) -> bool:
    """Whether a method may give its array other axes."""
    sample = np.arange(4.0)
    with contextlib.suppress(TypeError, ValueError, IndexError):
        getattr(sample, name)(np.array([2, 2]))
    return sample.ndim != 1


def _rank(function: object, rule: Any, node: ast.Call) -> int | None:
    """How many axes a new array has, where its text tells: `np.ones(3)`, `np.array([1.0, 2.0])`."""
    first = node.args[0] if node.args else None
    if rule.shape == "filled" and isinstance(first, ast.Tuple):
        return len(first.elts)
    if rule.shape == "filled" and isinstance(first, ast.Constant):
        return 1
    depth = 0
    while function is np.array and isinstance(first, ast.List | ast.Tuple) and first.elts:
        first, depth = first.elts[0], depth + 1
    return depth if depth and _is_number(first) else None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_number(node: ast.AST | None) -> bool:
    parts = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator)
    return node is not None and all(isinstance(part, parts) for part in ast.walk(node))


def _by_parameter(function: object, call: Any, *first: Any) -> dict[str, Any]:
    """The arguments of a call by the parameters of its rule: of a tree of Python's own, as of one of gast."""
    return arguments_of(function, call, first)


def _outputs(function: object, given: list[Values], words: dict[str, Values]) -> Values:
    """The arguments that a call writes its result into."""
    beyond = given[function.nin :] if isinstance(function, np.ufunc) else []
    return union(*beyond, within(words.get("out", {})))


def _key(index: ast.AST) -> object:
    return index.value if isinstance(index, ast.Constant) else ANY


def _has_late_annotations(module: StaticModule) -> bool:
    imports = (node for node in module.tree.body[:2] if isinstance(node, ast.ImportFrom))
    return any(node.module == "__future__" for node in imports)
