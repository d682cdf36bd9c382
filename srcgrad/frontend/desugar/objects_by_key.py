"""Objects as keys, and what they hold in tables: `v_of[b]` for `b.v`, where one may have several names.

An object that a function makes, and that changes under a second name, in a list, or in another object, is a key, and
each attribute a dict from keys to what it is: names that mean one object then mean one key, whatever a run does. What
the classes have written stands in the function as nested functions, which all see the tables.

So is a function spelled where no other way of knowing its objects leads to a derivative. What is not known to be an
object is left as it is: a key has no items, no attributes and no arithmetic, so that a text that takes it for something
else raises.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from types import FunctionType
from typing import Any  # functions and classes of all kinds, and what these hold

import gast
import numpy as np

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Names
from srcgrad.core.identity import record, replace
from srcgrad.core.marks import is_opaque
from srcgrad.core.namespace import Namespace, Overlay
from srcgrad.core.rules import rule_of
from srcgrad.core.source_text import Source
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    after_docstring,
    all_given,
    at,
    copy,
    every_parameter,
    expression,
    find_nodes,
    holds,
    literal_node,
    name,
    names_in,
    own_names,
    placed,
    statement,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite_parts
from srcgrad.frontend.desugar.objects import (
    default_of_field,
    does_no_more,
    fields_given,
    has_plain_attributes,
    is_compared,
    is_generated,
    is_slot,
    is_written,
)
from srcgrad.frontend.kinds_of_values import OPERATORS
from srcgrad.frontend.resolve import binding_in, trusted_constant

_OTHERS = (np.ndarray, float, list, dict, str, set, tuple)  # whose attributes may be meant where nothing tells


def objects_by_key(
    source: Source, namespace: Namespace, module: Held, containers: bool = False
) -> tuple[Source, Overlay]:
    """The function with its objects as keys, and `containers` as well; E5005 where they cannot be told.

    >>> class Body:
    ...     def __init__(self, v):
    ...         self.v = v
    """
    work = ObjectsByKey(source, namespace, module, containers)
    tree = work.spelled()
    return replace(source, tree=tree, respelled=True), work.around


Held = Any  # a function, or what a class or a module holds
Way = tuple[list[type], Held, list[Node]]  # classes, what they have written, and what that gets first
Marks = dict[Node, Held]
Given = tuple[Sequence[Node], Sequence[Node]]  # the arguments of a call


@record
class Scope:
    """One function whose text is spelled anew: where its names are looked up, whose method it is, what is an object."""

    namespace: Namespace
    local: frozenset[str]
    owner: type | None = None
    own: str = ""  # the object of a method
    objects: dict[str, list[type]] = field(default_factory=dict)  # names of objects, and their classes
    given: frozenset[str] = frozenset()  # parameters


class Ordered:
    """What makes keys of a function's values: it gives names to calls that change something, in their order."""

    names: Names
    marked: dict[Node, Held]  # calls that change something, in their order

    def _refusal(self, why: str) -> DifferentiationError:
        return DifferentiationError("E5005", f"objects are not made keys: {why}", "")

    def in_order(self, made: Node, node: Node, before: Block) -> Node:
        """An expression of a statement; marked calls stand before it, and what they may change."""
        calls = [one for one in self.marked if any(n is one for n in walk(made))]
        alone = isinstance(node, gast.Expr | gast.Assign | gast.Return)
        if alone and made in calls and self.marked[made] is None:
            calls.remove(made)
        marks, self.marked = self.marked, {}
        if not calls:
            return made
        whole = (target(node) or "") if isinstance(node, gast.Assign) and made in calls else ""
        whole = "" if any(one.id == whole for one in find_nodes(made, gast.Name)) else whole
        return self._name_calls(made, calls, (made, whole), before, marks)

    def _name_calls(self, part: Node, calls: Block, whole: tuple[Node, str], before: Block, marks: Marks) -> Node:
        named = partial(self._name_value, whole=whole, before=before, marks=marks)
        return name_in_order(part, calls, named, self._refusal("a change in a part that is not always computed"))

    def _name_value(self, value: Node, whole: tuple[Node, str], before: Block, marks: Marks) -> Node:
        """A name for a value: that to which its statement binds it, if it is all of it and makes an object."""
        make = marks.get(value)
        if make is not None:
            return at(name(make(value, before, spelled=whole[1] if value is whole[0] else "")), value)
        called = getattr(getattr(value, "func", None), "id", "")
        spelled = self.names.fresh(f"{called}_value" if called else "t")
        before.append(at(gast.Assign([at(name(spelled, gast.Store()), value)], value, None), value))
        return at(name(spelled), value)

    def loop(
        self, made: Node, before: Block, spelled: str, marks: Marks, add: Callable[[Node], Node] | None = None
    ) -> str:
        """A comprehension as a loop that fills a list, or does what `add` says with each item."""
        kept = spelled or self.names.fresh("values")
        renamed: dict[str, Node | str] = {}
        for one in [n for each in made.generators for n in find_nodes(each.target, gast.Name)]:
            renamed[one.id] = self.names.numbered_name(one.id)
        for one in find_nodes(made, gast.Name):
            one.id = str(renamed.get(one.id, one.id))
        inner: Block = []
        calls = [one for one in marks if any(n is one for n in walk(made.elt))]
        if len(calls) < len(marks):
            raise self._refusal("a change inside of a comprehension")
        value = self._name_calls(made.elt, calls, (made, ""), inner, marks)
        body: Block = [*inner, gast.Expr(add(value)) if add else statement(f"{kept}.append(value)", value=value)]
        for each in reversed(made.generators):
            for test in reversed(each.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(each.target, each.iter, body, [], None)]
        first = [] if add else [statement(f"{kept} = []")]
        for new in *first, *body:
            placed(new, made)
        before += [*first, *body]
        return kept


@record
class ObjectsByKey(Ordered):
    """The classes of which a function, or one that it calls, makes objects, and what is made of them."""

    source: Source
    namespace: Namespace
    module: Held
    containers: bool = False  # whether those that they hold may change
    classes: dict[type, None] = field(default_factory=dict)
    found: dict[Held, tuple[Source, Namespace]] = field(default_factory=dict)  # functions with texts that are called
    owners: dict[Held, type] = field(default_factory=dict)  # of methods
    stored: dict[str, None] = field(default_factory=dict)  # attributes that something binds
    tables: dict[str, str] = field(default_factory=dict)  # attribute -> the table of it
    brought: dict[Held, str] = field(default_factory=dict)  # function -> the nested one
    waiting: list[Held] = field(default_factory=list)
    touching: dict[Held, bool] = field(default_factory=dict)  # whether functions ask for what objects have
    effects: dict[Held, frozenset[str]] = field(default_factory=dict)  # attributes that functions bind
    names: Names = field(default_factory=Names)
    marked: dict[Node, Held] = field(default_factory=dict)

    def spelled(self) -> Node:
        """The function, with tables and nested functions at its head."""
        tree = copy(self.source.tree)
        self._find(tree, self.namespace)
        if (
            not (self.classes or self.containers)
            or getattr(self.namespace.lookup("object"), "object", None) is not object
        ):
            raise self._refusal("no object is made")
        self._note_stored()
        self.names = Names({n.id for one in self._trees(tree) for n in find_nodes(one, gast.Name)} | {"object"})
        self.around = Overlay(self.namespace)
        scope = Scope(self.namespace, _local(tree), given=frozenset(a.id for a in find_nodes(tree.args, gast.Name)))
        self.root = scope
        self._note_objects(tree.body, scope)
        tree.body = self._block(tree.body, scope)
        functions: Block = []
        while self.waiting:
            functions.append(self._nested(self.waiting.pop(0)))
        start = after_docstring(tree)
        tables = [statement(f"{one} = {{}}") for one in self.tables.values()]
        tree.body[start:start] = [*tables, *functions]
        for s in tree.body:
            placed(s, tree)
        return tree

    def _trees(self, tree: Node) -> list[Node]:
        return [tree, *(source.tree for source, _ in self.found.values())]

    # What is there

    def _find(self, tree: Node, namespace: Namespace) -> None:
        """Note the classes of which a text makes objects, and the functions that it calls."""
        local = _local(tree)
        for call in [n for s in tree.body for n in find_nodes(s, gast.Call)]:
            meant = _meaning(call.func, namespace, local)
            if isinstance(meant, type) and _is_own(meant):
                self._take(meant)
            elif isinstance(meant, FunctionType) and meant not in self.found and not _is_known(meant):
                self._look_into(meant)

    def _look_into(self, function: FunctionType) -> None:
        try:
            source, namespace = self.module.source(function)
        except DifferentiationError:
            return  # refused later, if a derivative flows through it
        if not source.library:
            self.found[function] = source, namespace
            self._find(source.tree, namespace)

    def _take(self, cls: type) -> None:
        """Note a class, and what it has written."""
        if cls in self.classes:
            return
        if not _is_plain(cls):
            raise self._refusal(f"{cls.__name__}")
        self.classes[cls] = None
        for base in cls.__mro__[:-1]:
            for attribute_, held in vars(base).items():
                for function in _codes(held):
                    if function in self.found or is_generated(function, base, attribute_):
                        continue
                    self.owners[function] = base
                    source, namespace = self.module.source(function)
                    self.found[function] = source, namespace
                    self.module.methods.append((base, attribute_, held, None))
                    self._find(source.tree, namespace)

    def _note_stored(self) -> None:
        for cls in self.classes:
            if dataclasses.is_dataclass(cls):
                self.stored.update({one.name: None for one in dataclasses.fields(cls)})
        for tree in self._trees(self.source.tree):
            for node in [n for s in tree.body for n in find_nodes(s, gast.Attribute)]:
                if isinstance(node.ctx, gast.Store) and not any(self._setters(node.attr)):
                    self.stored[node.attr] = None
        shared = [one for one in self.stored if any(_codes(inspect.getattr_static(c, one, None)) for c in self.classes)]
        if shared:
            raise self._refusal(f"`{shared[0]}` is a method, and bound")

    def _setters(self, attribute_: str) -> list[Held]:
        held = [inspect.getattr_static(cls, attribute_, None) for cls in self.classes]
        return [one.fset for one in held if isinstance(one, property) and one.fset is not None]

    def _bound_by(self, function: Held) -> frozenset[str]:
        """The attributes that a function, or one that it may call, binds; `*` if it makes objects."""
        if function not in self.effects:
            self.effects[function] = frozenset()  # a recursive call adds nothing
            source, namespace = self.found[function]
            local, found = own_names(source.tree), set()
            for node in [n for s in source.tree.body for n in walk(s)]:
                if isinstance(node, gast.Attribute):
                    found |= {node.attr} if isinstance(node.ctx, gast.Store) else set()
                    held = [f for c in self.classes for f in _codes(inspect.getattr_static(c, node.attr, None))]
                    found = found.union(*(self._bound_by(f) for f in held if f in self.found))
                    found |= {node.attr} if node.attr in _CHANGES else set()
                elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store):
                    found |= {"[]", *(one.attr for one in find_nodes(node, gast.Attribute))}
                elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                    found |= {"[]"} if node.target.id in names_in(source.tree.args) else set()
                elif isinstance(node, gast.Call):
                    meant = _meaning(node.func, namespace, local)
                    found |= {"*"} if meant in self.classes else set()
                    found |= self._bound_by(meant) if isinstance(meant, FunctionType) and meant in self.found else set()
                elif isinstance(node, gast.BinOp | gast.UnaryOp):
                    own = f"__{OPERATORS.get(type(node.op).__name__, '')}__"
                    held = [inspect.getattr_static(c, own, None) for c in self.classes]
                    found = found.union(*(self._bound_by(f) for f in held if f in self.found))
            calls = [inspect.getattr_static(c, "__call__", None) for c in self.classes]
            if any(holds(s, gast.Call) for s in source.tree.body):
                found = found.union(*(self._bound_by(f) for f in calls if f in self.found))
            self.effects[function] = frozenset(found)
        return self.effects[function]

    # Functions

    def _nested(self, function: Held) -> Node:
        """A function of a module, or a method, as one that stands in the function."""
        source, namespace = self.found[function]
        tree = copy(source.tree)
        if not isinstance(tree, gast.FunctionDef) or any(isinstance(n, _APART) for s in tree.body for n in walk(s)):
            raise self._refusal(f"`{source.name}` does what is not followed")
        owner = self.owners.get(function)
        if tree.decorator_list and not _is_spelled(function, owner):
            raise self._refusal(f"`{source.name}` has a decorator")
        tree.decorator_list, tree.returns, tree.name = [], None, self.brought[function]
        given = tree.args
        parameters = every_parameter(tree)
        for one in [*parameters, given.vararg, given.kwarg]:
            if one is not None:
                one.annotation = None
        own = parameters[0].id if owner is not None and not _is_static(function, owner) and parameters else ""
        local = own_names(tree)
        objects = {own: [c for c in self.classes if owner is not None and issubclass(c, owner)]} if own else {}
        scope = Scope(namespace, local, owner, own, objects, frozenset(a.id for a in find_nodes(given, gast.Name)))
        self._rename_globals(tree, scope)
        tree.body = self._block(tree.body, scope)
        if source.file != self.source.file:
            for item in walk(tree):
                at(item, self.source.tree)
        self.around.parts.append((namespace, source))
        return tree

    def _rename_globals(self, tree: Node, scope: Scope) -> None:
        """Names of the module that mean something else where the function is to stand get names of their own."""
        renamed: dict[str, str] = {}
        defaults = [d for d in (*tree.args.defaults, *tree.args.kw_defaults) if d is not None]
        if any(isinstance(d, gast.List | gast.Dict | gast.Call) for d in defaults):
            raise self._refusal("a default that may change")
        for item in [n for s in (*tree.body, *defaults) for n in find_nodes(s, gast.Name)]:
            if item.id in scope.local:
                continue
            meant = scope.namespace.lookup(item.id)
            if meant is None or item.id in ("super", "__class__"):
                continue
            here = None if item.id in self.root.local else self.namespace.lookup(item.id)
            if here is None or here.object is not meant.object or here.kind != meant.kind:
                if item.id not in renamed:
                    renamed[item.id] = self.names.numbered_name(item.id)
                    self.around.extra[renamed[item.id]] = meant
                item.id = renamed[item.id]
        scope.namespace = Overlay(scope.namespace, {new: self.around.extra[new] for new in renamed.values()})

    def _name_of(self, function: Held) -> str:
        """The nested function that stands for one of a class or of a module."""
        if function not in self.brought:
            if function not in self.found:
                raise self._refusal(f"`{getattr(function, '__name__', function)}` has no text")
            self.brought[function] = self.names.fresh(function.__name__.strip("_") or "function")
            self.waiting.append(function)
        return self.brought[function]

    def _table(self, attribute_: str) -> str:
        if attribute_ not in self.tables:
            self.tables[attribute_] = self.names.fresh(f"{attribute_.strip('_')}_of")
        return self.tables[attribute_]

    # Statements

    def _block(self, block: Block, scope: Scope) -> Block:
        self._note_objects(block, scope)
        return [made for node in block for made in self._statement(node, scope)]

    def _note_objects(self, block: Block, scope: Scope) -> None:
        """Local names to which nothing but objects is bound."""
        bound: dict[str, list[Node | None]] = {}
        for node in [n for s in block for n in walk(s)]:
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
                bound.setdefault(node.id, []).append(None)
        for node in [n for s in block for n in find_nodes(s, gast.Assign) if target(n) is not None]:
            bound[str(target(node))].remove(None)
            bound[str(target(node))].append(node.value)
        left = [one for one in bound if one not in scope.given]
        while new := [o for o in left if o not in scope.objects and all(self._classes_of(v, scope) for v in bound[o])]:
            for one in new:
                every = [cls for value in bound[one] for cls in self._classes_of(value, scope)]
                scope.objects[one] = list(dict.fromkeys(every))

    def _is_object(self, node: Node, scope: Scope) -> bool:
        """Whether an expression surely gives an object."""
        return bool(self._classes_of(node, scope))

    def _classes_of(self, node: Node | None, scope: Scope) -> list[type]:
        """The classes of what is surely an object."""
        if isinstance(node, gast.Name):
            return scope.objects.get(node.id, [])
        if not isinstance(node, gast.Call):
            return []
        asked = node.func.value if isinstance(node.func, gast.Attribute) else None
        whole = self._classes_of(asked, scope)
        if whole and all(self._gives_itself(inspect.getattr_static(c, node.func.attr, None)) for c in whole):
            return whole
        meant = _meaning(node.func, scope.namespace, scope.local)
        return [meant] if meant in self.classes else []

    def _gives_itself(self, function: Held) -> bool:
        """Whether all that a method gives is its object: calls of it stand in chains."""
        if function not in self.found or function not in self.owners:
            return False
        tree = self.found[function][0].tree
        own, last = next((a.id for a in every_parameter(tree)), ""), tree.body[-1]
        given = [n.value for s in tree.body for n in find_nodes(s, gast.Return)]
        bound = [n.id for s in tree.body for n in find_nodes(s, gast.Name) if not isinstance(n.ctx, gast.Load)]
        return (
            isinstance(last, gast.Return) and own not in bound and all(getattr(one, "id", "") == own for one in given)
        )

    def _statement(self, node: Node, scope: Scope) -> Block:
        if isinstance(node, gast.FunctionDef):
            if not self.classes:
                return [node]
            raise self._refusal("a function inside of it")
        if isinstance(node, gast.Delete) and self.containers:
            node.targets = [_rebuilt(one, lambda part: self._expression(part, scope)) for one in node.targets]
            return [node]
        if isinstance(node, gast.With | gast.Try | gast.ClassDef | gast.Delete) or type(node).__name__ == "Match":
            raise self._refusal("a statement that is not followed")
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, [m for one in getattr(node, which) for m in self._statement(one, scope)])
        branches = self._sides(node, scope)
        if branches is not None:
            return self._statement(branches, scope)
        if isinstance(node, gast.AnnAssign):
            if node.value is None:
                return []
            node = at(gast.Assign([node.target], node.value, None), node)
        if isinstance(node, gast.AugAssign):
            return self._augmented(node, scope)
        if isinstance(node, gast.Assign) and len(node.targets) == 1:
            setter = self._set_by_property(node, scope)
            if setter is not None:
                return self._statement(setter, scope)
        before: Block = []
        for key in ("test", "iter", "value", "exc", "msg"):
            part = getattr(node, key, None)
            if isinstance(part, gast.AST):
                setattr(node, key, self._in_order(part, node, before, scope))
        if before and isinstance(node, gast.While):
            raise self._refusal("a test that changes an object")
        for place in [*getattr(node, "targets", []), getattr(node, "target", None)]:
            if place is not None:
                self._place(place, node, scope)
        if isinstance(node, gast.Return) and scope is self.root and node.value is not None:
            node.value = self._result(node.value, before, scope)
        if isinstance(node, gast.Expr) and isinstance(node.value, gast.Name) and before:
            return before
        bound = target(node) if isinstance(node, gast.Assign) and before else None
        return before if bound is not None and getattr(node.value, "id", "") == bound else [*before, node]

    def _result(self, value: Node, before: Block, scope: Scope) -> Node:
        """A result that holds no object: what may be one is looked at."""
        if not self.classes:
            return value
        if isinstance(value, gast.Tuple | gast.List):
            value.elts = [self._result(one, before, scope) for one in value.elts]
            return value
        if _is_number(value, scope):
            return value
        spelled = value.id if isinstance(value, gast.Name) else self.names.fresh("y")
        if not isinstance(value, gast.Name):
            before.append(gast.Assign([name(spelled, gast.Store())], value, None))
        what = f"returns an object, or what may hold one; return what it holds: `return {spelled}.w, {spelled}.b`"
        message = f"E5005 `{self.source.name}` {what}"
        before.append(
            statement(f"if type({spelled}) in (object, list, tuple, dict):\n    raise TypeError({message!r})")
        )
        for one in before:
            placed(one, value)
        return at(name(spelled), value)

    def _sides(self, node: Node, scope: Scope) -> Node | None:
        """`if c: p = A()`, `else: p = B()` for `p = A() if c else B()`."""
        value = getattr(node, "value", None)
        if not isinstance(node, gast.Assign | gast.Return) or not isinstance(value, gast.IfExp):
            return None
        calls = find_nodes(value, gast.Call)
        if not any(_meaning(c.func, scope.namespace, scope.local) in self.classes for c in calls):
            return None
        sides = [copy(node), copy(node)]
        sides[0].value, sides[1].value = value.body, value.orelse
        return at(gast.If(value.test, [sides[0]], [sides[1]]), node)

    def _place(self, place: Node, node: Node, scope: Scope) -> None:
        """A target in terms of tables."""
        made = _rebuilt(place, lambda part: self._expression(part, scope))
        if self.marked:
            raise self._refusal("a target that changes an object")
        if made is not place:
            if isinstance(node, gast.Assign):
                node.targets = [made if one is place else one for one in node.targets]
            else:
                node.target = made

    def _augmented(self, node: Node, scope: Scope) -> Block:
        """`v_of[b] += e`; what changes objects is computed before, if that is not what is added to."""
        if isinstance(node.target, gast.Attribute) and self._setters(node.target.attr):
            read = copy(node.target)
            read.ctx = gast.Load()
            return self._statement(
                at(gast.Assign([node.target], at(gast.BinOp(read, node.op, node.value), node), None), node), scope
            )
        before: Block = []
        changed = self._changed_in(node.value, scope)
        node.value = self._in_order(node.value, node, before, scope)
        held = {one.attr for one in find_nodes(node.target, gast.Attribute)}
        if before and (changed & held or isinstance(node.target, gast.Subscript)):
            raise self._refusal("a change of what is added to")
        self._place(node.target, node, scope)
        return [*before, node]

    def _changed_in(self, value: Node, scope: Scope) -> set[str]:
        """The attributes that calls in an expression may bind."""
        found: set[str] = set()
        for call in find_nodes(value, gast.Call):
            meant = _meaning(call.func, scope.namespace, scope.local)
            held = self._named(call.func.attr) if isinstance(call.func, gast.Attribute) else []
            calls = [meant] if meant in self.found else [*held, *self._named("__call__")]
            found = found.union(*(self._bound_by(one) for one in calls if one in self.found))
        return found

    def _set_by_property(self, node: Node, scope: Scope) -> Node | None:
        """`set(t, e)` for `t.f = e` of a property."""
        place = node.targets[0]
        setters = self._setters(place.attr) if isinstance(place, gast.Attribute) else []
        if not setters:
            return None
        if len(setters) < len(self._named(place.attr)) or len(set(setters)) > 1 or place.attr in self.stored:
            raise self._refusal("a property of which there are several")
        call = gast.Call(gast.Attribute(place.value, _SETTER + place.attr, gast.Load()), [node.value], [])
        return at(gast.Expr(placed(call, node)), node)

    # Expressions

    def _in_order(self, part: Node, node: Node, before: Block, scope: Scope) -> Node:
        """An expression in terms of tables, in the order of its calls."""
        self.marked = {}
        return self.in_order(self._expression(part, scope), node, before)

    def _expression(self, part: Node, scope: Scope) -> Node:
        if isinstance(part, gast.Lambda):
            changes = len(self.marked)
            part.body = self._expression(part.body, replace(scope, local=scope.local | set(all_given(part))))
            if len(self.marked) > changes:
                raise self._refusal("a lambda that changes something")
            return part
        if isinstance(part, gast.ListComp | gast.GeneratorExp | gast.SetComp | gast.DictComp | gast.NamedExpr):
            first = getattr(part, "generators", [None])[0]
            if first is not None:
                first.iter = self._expression(first.iter, scope)
            marked = dict(self.marked)
            made = self._comprehension(part, scope)
            if len(self.marked) > len(marked):
                if not isinstance(part, gast.ListComp):
                    raise self._refusal("a change inside of a comprehension")
                changing = {one: make for one, make in self.marked.items() if one not in marked}
                self.marked = {**marked, made: partial(self.loop, marks=changing)}
            return made
        if isinstance(part, gast.Call):
            return at(self._call(part, scope), part)
        if isinstance(part, gast.Attribute) and not self._is_outside(part, scope):
            return at(self._attribute(part, scope), part)
        part = self._parts(part, scope)
        if isinstance(part, gast.JoinedStr) and any(map(_has_words, self.classes)):
            raise self._refusal("an object that may be spelled as a text")
        if isinstance(part, gast.Compare):
            self._check_compared(part)
        elif isinstance(part, gast.BinOp | gast.UnaryOp):
            return at(self._operator(part, scope), part)
        elif isinstance(part, gast.Subscript) and self._is_object(part.value, scope):
            if not isinstance(part.ctx, gast.Load):
                raise self._refusal("an item of an object")
            return at(self._dispatch(scope, "__getitem__", part.value, [part.slice], []), part)
        return part

    def _parts(self, part: Node, scope: Scope) -> Node:
        return rebuilt_parts(part, lambda inner: self._expression(inner, scope))

    def _comprehension(self, part: Node, scope: Scope) -> Node:
        """A comprehension in terms of tables, but for its first iterable."""
        if not hasattr(part, "generators"):
            return self._parts(part, scope)
        first, kept = part.generators[0], part.generators[0].iter
        first.iter = literal_node(0)
        made = self._parts(part, scope)
        made.generators[0].iter = kept
        return made

    def _is_outside(self, part: Node, scope: Scope) -> bool:
        """Whether an attribute is of a module, a class or an object that is there already."""
        base = part
        while isinstance(base, gast.Attribute):
            base = base.value
        return isinstance(base, gast.Name) and base.id not in scope.local

    def _may_be_other(self, node: Node, attribute_: str, scope: Scope) -> bool:
        """Whether an attribute of this name may be an array's, or another value's."""
        return any(hasattr(one, attribute_) for one in _OTHERS) and not self._is_object(node, scope)

    def _attribute(self, part: Node, scope: Scope) -> Node:
        sure = self._is_object(part.value, scope)
        base, attribute_ = self._expression(part.value, scope), part.attr
        if self._may_be_other(part.value, attribute_, scope):
            part.value = base
            return part
        if attribute_ in self.stored:
            constants = [
                c
                for c in self.classes
                if hasattr(c, attribute_) and not is_slot(inspect.getattr_static(c, attribute_, None))
            ]
            plain = all(dataclasses.is_dataclass(c) for c in constants)
            if constants and not plain:
                raise self._refusal(f"`{attribute_}` of a class, and of its objects")
            return self._item(attribute_, base, part.ctx)
        held = self._named(attribute_, every=True)
        if not held:
            part.value = base
            return part
        if not isinstance(part.ctx, gast.Load):
            raise self._refusal(f"`{attribute_}` is bound")
        if all(isinstance(one, property) for one in held):
            return self._dispatch(scope, attribute_, base, [], [])
        constants_ = [trusted_constant(one) for one in held]
        if len(held) == 1 and constants_[0] is not None and (sure or len(self.classes) == 1):
            return constants_[0]
        raise self._refusal(f"`{attribute_}` is used as a value")

    def _item(self, attribute_: str, base: Node, context: Node) -> Node:
        return gast.Subscript(at(name(self._table(attribute_)), base), base, context)

    def _named(self, attribute_: str, *, every: bool = False) -> list[Held]:
        """What the classes have under a name, each once; functions alone, if not every thing is asked for."""
        held = [inspect.getattr_static(cls, attribute_, None) for cls in self.classes]
        found: list[Held] = []
        for one in held if every else [f for item in held for f in _codes(item)[:1]]:
            if one is not None and not any(one is known for known in found):
                found.append(one)
        return found

    def _call(self, call: Node, scope: Scope) -> Node:
        function = call.func
        meant = _meaning(function, scope.namespace, scope.local)
        starred = any(isinstance(a, gast.Starred) for a in call.args) and meant is not zip
        if starred or any(w.arg is None for w in call.keywords):
            raise self._refusal("arguments that are unpacked")
        hashed = meant in (set, frozenset) and self.classes
        compared = meant is sorted and self.classes and not any(word.arg == "key" for word in call.keywords)
        if hashed or compared or meant in (getattr, setattr, hasattr, vars, type, id, hash, dir, delattr):
            raise self._refusal(f"`{gast.unparse(function)}` is called")
        if meant is isinstance:
            return self._instance(call, scope)
        if getattr(meant, "__module__", "") in ("copy", "dataclasses", "pickle"):
            raise self._refusal(f"`{gast.unparse(function)}` is called")
        spoken = meant in (str, repr, format) or getattr(function, "attr", "") == "format"
        if spoken and any(map(_has_words, self.classes)):
            raise self._refusal("an object that may be spelled as a text")
        if getattr(function, "attr", "") in ("index", "remove", "count") and any(map(is_compared, self.classes)):
            raise self._refusal("objects that may be compared")
        if meant in self.classes:
            call.args = [self._expression(one, scope) for one in call.args]
            for word in call.keywords:
                word.value = self._expression(word.value, scope)
            self.marked[call] = partial(self._made, cls=meant)
            return call
        return self._method(call, scope) or self._function(call, meant, scope)

    def _function(self, call: Node, meant: Held, scope: Scope) -> Node:
        """A call of a function of the module, of an object, or of something else."""
        called = isinstance(call.func, gast.Name) and call.func.id in scope.objects
        args = [self._expression(one, scope) for one in call.args]
        for word in call.keywords:
            word.value = self._expression(word.value, scope)
        if called:
            return self._dispatch(scope, "__call__", call.func, args, call.keywords)
        held = isinstance(call.func, gast.Name) and call.func.id in scope.local - scope.given
        if held and self._named("__call__"):
            return self._dispatch(scope, "__call__", call.func, args, call.keywords)
        call.args = args
        if isinstance(meant, FunctionType) and meant in self.found and self._touches(meant):
            call.func = at(name(self._name_of(meant)), call.func)
            if self._bound_by(meant):
                self.marked[call] = None
        elif not isinstance(call.func, gast.Name) and meant is None:
            plain = isinstance(call.func, gast.Attribute)
            call.func = self._parts(call.func, scope) if plain else self._expression(call.func, scope)
        return call

    def _touches(self, function: Held) -> bool:
        """Whether a function makes objects, or asks for what these have."""
        if function not in self.touching:
            self.touching[function] = False  # a recursive call adds nothing
            source, namespace = self.found[function]
            scope = Scope(namespace, own_names(source.tree))
            changes = self.containers and self._can_stand(source.tree)
            self.touching[function] = changes or any(self._asks(n, scope) for s in source.tree.body for n in walk(s))
        return self.touching[function]

    def _can_stand(self, tree: Node) -> bool:
        """Whether a function may stand in another one as it is: containers that it is given are keys then."""
        inner = [n for s in tree.body for n in walk(s) if isinstance(n, _APART)]
        return isinstance(tree, gast.FunctionDef) and not inner and not tree.decorator_list

    def _asks(self, node: Node, scope: Scope) -> bool:
        """Whether an expression may make an object, or ask for what one has."""
        if isinstance(node, gast.Attribute) and not self._is_outside(node, scope):
            return node.attr in self.stored or bool(self._named(node.attr, every=True))
        if isinstance(node, gast.Compare):
            return any(map(is_compared, self.classes))
        if not isinstance(node, gast.Call):
            return False
        meant = _meaning(node.func, scope.namespace, scope.local)
        if meant in self.classes or (isinstance(meant, FunctionType) and meant in self.found and self._touches(meant)):
            return True
        return bool(self._named("__call__")) and getattr(node.func, "id", "") in scope.local

    def _method(self, call: Node, scope: Scope) -> Node | None:
        """`kick(b, e)` for `b.kick(e)`; None for what is no method."""
        function = call.func
        if not isinstance(function, gast.Attribute):
            return None
        attribute_, asked = function.attr, function.value
        if isinstance(asked, gast.Call) and getattr(asked.func, "id", "") == "super":
            args = self._arguments(call, scope)
            base = at(name(scope.own), call)
            return self._called(self._next(attribute_, scope), [base, *args], call.keywords)
        whole = _meaning(asked, scope.namespace, scope.local)
        if whole in self.classes or (isinstance(whole, type) and any(issubclass(c, whole) for c in self.classes)):
            held = inspect.getattr_static(whole, attribute_, None)
            if isinstance(held, staticmethod | FunctionType):
                return self._called(_codes(held)[0], self._arguments(call, scope), call.keywords)
            raise self._refusal(f"`{attribute_}` of a class")
        if self._is_outside(function, scope):
            return None
        if attribute_.startswith(_SETTER):
            args = self._arguments(call, scope)
            setter = self._setters(attribute_.removeprefix(_SETTER))[0]
            return self._called(setter, [self._expression(asked, scope), *args], [])
        held_ = self._named(attribute_, every=True)
        if attribute_ in self.stored or not held_ or self._may_be_other(asked, attribute_, scope):
            if attribute_ in _CHANGES and find_nodes(asked, gast.Attribute):
                return self._appended(call, scope)
            return None
        args = self._arguments(call, scope)
        return self._dispatch(scope, attribute_, self._expression(asked, scope), args, call.keywords)

    def _appended(self, call: Node, scope: Scope) -> Node | None:
        """A list that an object holds, and that changes."""
        if not self.containers:
            raise self._refusal("what an object holds changes")
        call.args = self._arguments(call, scope)
        call.func.value = self._expression(call.func.value, scope)
        self.marked[call] = None
        return call

    def _arguments(self, call: Node, scope: Scope) -> list[Node]:
        for word in call.keywords:
            word.value = self._expression(word.value, scope)
        return [self._expression(one, scope) for one in call.args]

    def _next(self, attribute_: str, scope: Scope) -> Held:
        """What `super()` means in a method."""
        found: list[Held] = []
        for cls in self.classes:
            if scope.owner in cls.__mro__:
                order = cls.__mro__[cls.__mro__.index(scope.owner) + 1 :]
                held = next((vars(one)[attribute_] for one in order if attribute_ in vars(one)), None)
                if not any(held is one for one in found):
                    found.append(held)
        if found == [object.__init__]:
            raise self._refusal("`super()` of no class of one's own")
        if len(found) != 1 or not isinstance(found[0], FunctionType):
            raise self._refusal("`super()` means several")
        return found[0]

    def _called(self, function: Held, args: Sequence[Node], words: Sequence[Node]) -> Node:
        made = gast.Call(name(self._name_of(function)), args, list(words))
        if self._bound_by(function):
            self.marked[made] = None
        return made

    def _dispatch(self, scope: Scope, attribute_: str, base: Node, args: Sequence[Node], words: Sequence[Node]) -> Node:
        """A call of what the object's class has written; of several classes, by a table of them."""
        ways: dict[Held, list[type]] = {}
        sure = self._classes_of(base, scope)
        for cls in sure or self.classes:
            held = inspect.getattr_static(cls, attribute_, None)
            codes = _codes(held)
            if codes:
                if isinstance(held, classmethod):
                    raise self._refusal(f"the class method `{attribute_}` of an object")
                ways.setdefault(held, []).append(cls)
        if not ways:
            raise self._refusal(f"no class has `{attribute_}`")
        calls = []
        for held, classes in ways.items():
            function = _codes(held)[0]
            own = [] if isinstance(held, staticmethod) else [base]
            calls.append((classes, function, own))
        if len(calls) == 1:
            classes, function, own = calls[0]
            if not sure and not self._asks_itself(function):
                raise self._refusal(f"`{attribute_}` asks nothing of its object")
            return self._called(function, [*own, *args], words)
        if any(self._bound_by(function) for _, function, _ in calls) or not isinstance(base, gast.Name):
            made = gast.Call(base, args, list(words))
            self.marked[made] = partial(self._branches, base=base, calls=calls, given=(args, words))
            return made
        result = self._called(calls[-1][1], [*calls[-1][2], *args], words)
        for classes, function, own in reversed(calls[:-1]):
            one = self._called(function, [*map(copy, own), *map(copy, args)], list(map(copy, words)))
            result = gast.IfExp(self._is_of(copy(base), classes), one, result)
        return result

    def _asks_itself(self, function: Held) -> bool:
        tree = self.found[function][0].tree
        own = next((a.id for a in [*tree.args.posonlyargs, *tree.args.args]), "")
        return any(getattr(n.value, "id", "") == own for s in tree.body for n in find_nodes(s, gast.Attribute))

    def _is_of(self, base: Node, classes: list[type]) -> Node:
        """`class_of[b] == "Circle"`"""
        table = self._table(_CLASS)
        labels = [self._label(one) for one in classes]
        if len(labels) == 1:
            return expression(f"{table}[b] == label", b=base, label=literal_node(labels[0]))
        return expression(f"{table}[b] in labels", b=base, labels=gast.Tuple([*map(literal_node, labels)], gast.Load()))

    def _label(self, cls: type) -> str:
        alike = [one for one in self.classes if one.__name__ == cls.__name__]
        return cls.__name__ if alike[0] is cls else f"{cls.__name__} {alike.index(cls) + 1}"

    def _branches(self, made: Node, before: Block, spelled: str, base: Node, calls: list[Way], given: Given) -> str:
        """`if class_of[b] == "Circle": value = area(b)`, and so on."""
        spelled = spelled or self.names.fresh("value")
        result: Block = []
        for place, (classes, function, own) in enumerate(reversed(calls)):
            values = [*map(copy, own), *map(copy, given[0])]
            call = gast.Call(name(self._name_of(function)), values, [*map(copy, given[1])])
            bound: Block = [gast.Assign([name(spelled, gast.Store())], call, None)]
            result = bound if not place else [gast.If(self._is_of(copy(base), classes), bound, result)]
        placed(result[0], made)
        before += result
        return spelled

    def _made(self, call: Node, before: Block, spelled: str, cls: type) -> str:
        """A new key, and what making the object does."""
        spelled = spelled or self.names.fresh(cls.__name__.lower().strip("_"))
        made: Block = [statement(f"{spelled} = object()")]
        if len(self.classes) > 1:
            label = literal_node(self._label(cls))
            made.append(statement(f"{self._table(_CLASS)}[{spelled}] = label", label=label))
        init = inspect.getattr_static(cls, "__init__", None)
        if dataclasses.is_dataclass(cls) and is_generated(init, cls, "__init__"):
            made += self._fields(call, cls, spelled)
            after = inspect.getattr_static(cls, "__post_init__", None)
            if after is not None:
                made.append(gast.Expr(gast.Call(name(self._name_of(after)), [name(spelled)], [])))
        elif init is not object.__init__:
            made.append(gast.Expr(gast.Call(name(self._name_of(init)), [name(spelled), *call.args], call.keywords)))
        for one in made:
            placed(one, call)
        before += made
        return spelled

    def _fields(self, call: Node, cls: Held, spelled: str) -> Block:
        """What a dataclass binds to its fields."""
        fields = dataclasses.fields(cls)
        known = [one.name for one in fields]
        taken = list(inspect.signature(cls.__init__).parameters)[1:]
        odd = taken != known or not is_written(cls) or any(not one.init or one.kw_only for one in fields)
        given = None if odd else fields_given(call, cls, partial(default_of_field, cls))
        if given is None:
            raise self._refusal("fields of another kind")
        items = [(self._item(key, name(spelled), gast.Store()), value) for key, value in given.items()]
        return [gast.Assign([item], value, None) for item, value in items]  # what is given, in its order

    def _instance(self, call: Node, scope: Scope) -> Node:
        """`class_of[b] == "Circle"` for `isinstance(b, Circle)`."""
        whole = _meaning(call.args[1], scope.namespace, scope.local) if len(call.args) == 2 else None
        if not isinstance(whole, type) or not isinstance(call.args[0], gast.Name | gast.Attribute):
            raise self._refusal("`isinstance` of several")
        held = [one for one in self.classes if issubclass(one, whole)]
        base, every = self._expression(call.args[0], scope), self._classes_of(call.args[0], scope) or [*self.classes]
        held = [one for one in held if one in every]
        if not held and not self._is_object(call.args[0], scope):
            call.args[0] = base
            return call
        if not self._is_object(call.args[0], scope) or not held:
            raise self._refusal("`isinstance` of what is not known")
        return literal_node(True) if len(held) == len(every) else self._is_of(base, held)

    def _operator(self, part: Node, scope: Scope) -> Node:
        """`add(a, b)` for `a + b` of objects."""
        sides = [part.operand] if isinstance(part, gast.UnaryOp) else [part.left, part.right]
        own = f"__{OPERATORS.get(type(part.op).__name__, '')}__"
        if self._is_object(sides[0], scope) and self._named(own):
            return self._dispatch(scope, own, sides[0], sides[1:], [])
        return part

    def _check_compared(self, part: Node) -> None:
        """Two keys are equal if they are one object, which is not what a class may say."""
        if not any(is_compared(one) for one in self.classes):
            return
        sides = [part.left, *part.comparators]
        for op, left, right in zip(part.ops, sides, sides[1:], strict=False):
            plain = isinstance(op, gast.Is | gast.IsNot | gast.Lt | gast.LtE | gast.Gt | gast.GtE)
            if not plain and not any(isinstance(s, gast.Constant | gast.UnaryOp) for s in (left, right)):
                raise self._refusal("objects that may be compared")


def _is_number(value: Node, scope: Scope) -> bool:
    """Whether an expression surely gives a number or an array: it is no sum of lists."""
    if isinstance(value, gast.BinOp):
        sides = (value.left, value.right)
        lists = isinstance(value.op, gast.Add) and not any(_is_number(one, scope) for one in sides)
        return not lists and not (isinstance(value.op, gast.Mult) and any(isinstance(s, gast.List) for s in sides))
    meant = _meaning(value.func, scope.namespace, scope.local) if isinstance(value, gast.Call) else None
    home = str(getattr(meant, "__module__", "") or "").partition(".")[0]
    numeric = isinstance(meant, np.ufunc) or home in ("numpy", "math") or meant in (float, int, abs, len, round)
    return numeric or isinstance(value, gast.UnaryOp | gast.Constant | gast.Compare)


_APART = gast.Nonlocal | gast.Global | gast.Yield | gast.YieldFrom | gast.FunctionDef
_CLASS = "class"
_SETTER = "set "
_CHANGES = ("append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "sort", "reverse", "fill")


def _local(tree: Node) -> frozenset[str]:
    """The names of a function, and of those that stand in it."""
    inner = [n for s in tree.body for n in find_nodes(s, gast.FunctionDef)]
    return own_names(tree).union([f.name for f in inner], *map(all_given, inner))


def _meaning(node: Node, namespace: Namespace, local: frozenset[str]) -> Held:
    """The object that a dotted name means outside of the function; None for any other expression."""
    found = binding_in(namespace, node, local)
    held = None if found is None or found.kind != "object" else found.object
    return held if isinstance(held, type) or callable(held) else None


_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


def _is_own(cls: type) -> bool:
    """Whether a class is the user's, and its objects may change."""
    plain = bool(cls.__flags__ & _HEAP_TYPE) and not issubclass(cls, tuple | BaseException | int | str)
    return plain and cls.__module__.partition(".")[0] not in ("numpy", "scipy", "srcgrad", "enum")


def _is_known(function: FunctionType) -> bool:
    home = str(function.__module__ or "").partition(".")[0]
    return rule_of(function) is not None or is_opaque(function) or home in ("numpy", "scipy", "srcgrad")


def _codes(held: object) -> list[Held]:
    """The functions that an attribute of a class is made of."""
    if isinstance(held, FunctionType):
        return [held]
    if isinstance(held, staticmethod | classmethod):
        return [held.__func__] if isinstance(held.__func__, FunctionType) else []
    found = [held.fget, held.fset] if isinstance(held, property) else []
    return [one for one in found if isinstance(one, FunctionType)]


def _is_static(function: Held, owner: type) -> bool:
    return isinstance(vars(owner).get(function.__name__), staticmethod)


def _is_spelled(function: Held, owner: type | None) -> bool:
    """Whether what a decorator has made of a method is known: a property, or a static method."""
    held = None if owner is None else vars(owner).get(function.__name__)
    abstract = getattr(function, "__isabstractmethod__", False)
    return abstract or (isinstance(held, property | staticmethod) and function in _codes(held))


def _has_words(cls: type) -> bool:
    """Whether a class says itself how its objects are spelled."""
    held = [
        (base, one, vars(base)[one])
        for base in cls.__mro__[:-1]
        for one in ("__str__", "__repr__")
        if one in vars(base)
    ]
    return any(not isinstance(f, FunctionType) or not is_generated(f, base, one) for base, one, f in held)


_SPECIAL = ("__init__", "__post_init__", "__call__", "__getitem__", "__eq__", "__repr__", "__str__",
            *(f"__{one}__" for one in OPERATORS.values()))  # fmt: skip


def _is_plain(cls: type) -> bool:
    """Whether an object is what its methods bind, and nothing else happens where it is made, asked or compared."""
    ways: list[tuple[object, object]] = [(type(cls).__call__, type.__call__)]
    ways += [(getattr(cls, one), getattr(object, one)) for one in ("__new__", "__getattribute__", "__setattr__")]
    ways += [(own, object.__hash__) for own in [getattr(cls, "__hash__", None)] if own is not None]
    if any(one is not usual for one, usual in ways):
        return False
    if dataclasses.is_dataclass(cls) and not has_plain_attributes(cls):
        return False
    return does_no_more(cls, _SPECIAL, _codes)


def name_in_order(part: Node, calls: list[Node], named: Callable[[Node], Node], refusal: DifferentiationError) -> Node:
    """An expression in which these calls, and what is computed before the last of them, have names.

    `named` gives a value a name, which a statement before binds; `refusal` is raised where a call may not be made. A
    name shows what calls change, so it stays.
    """
    within = {id(n) for n in walk(part)}
    held = [one for one in calls if id(one) in within]
    if not calls or isinstance(part, gast.Name | gast.Constant):
        return part
    own = any(one is part for one in calls)
    if held and not own and isinstance(part, _CONDITIONAL) and not _is_first(part, held):
        raise refusal
    if not held and not isinstance(part, _PARTS):
        return named(part)
    if own:  # what it is given is computed just before it
        calls[:] = [one for one in calls if one not in held]
        calls = [] if isinstance(part, _CONDITIONAL) else [one for one in held if one is not part]
    if hasattr(part, "generators") and not own:
        part.generators[0].iter = name_in_order(part.generators[0].iter, calls, named, refusal)
        return part
    for key in [one for one in part._fields if held or one != "func"]:
        inner = getattr(part, key, None)
        if isinstance(inner, list):
            setattr(part, key, [one and name_in_order(one, calls, named, refusal) for one in inner])
        elif isinstance(inner, gast.expr | gast.Slice) and (key != "func" or any(n in calls for n in walk(inner))):
            setattr(part, key, name_in_order(inner, calls, named, refusal))
    return named(part) if own else part


def _is_first(part: Node, held: list[Node]) -> bool:
    """Whether calls stand where a part is computed in any case, and before all else: what a comprehension goes over."""
    if isinstance(part, gast.Dict):
        return all(isinstance(key, gast.Constant) for key in part.keys)
    first = part.generators[0].iter if hasattr(part, "generators") else part
    within = {id(n) for n in walk(first)} if first is not part else set()
    return all(id(one) in within for one in held)


_CONDITIONAL = (
    gast.IfExp, gast.BoolOp, gast.Compare, gast.Lambda, gast.Dict,
    gast.ListComp, gast.SetComp, gast.GeneratorExp, gast.DictComp,
)  # fmt: skip
_PARTS = gast.keyword | gast.Starred | gast.Slice | gast.Tuple | gast.List  # without values of their own


def _rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """A target whose attributes are changed, and what its indices read."""
    return rebuilt_parts(node, change) if not isinstance(node, gast.Attribute) else change(node)


def rebuilt_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """A node whose expressions are what `change` makes of them."""
    rewrite_parts(node, lambda part: change(part) if isinstance(part, gast.expr) else rebuilt_parts(part, change))
    return node
