"""Names that hold modules and objects: what is asked of them is what their values have, whatever their names are."""

from __future__ import annotations

import inspect
import sys
import types
from dataclasses import dataclass, field
from typing import Any  # modules of two classes

import gast
import numpy as np

from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.facts import UNKNOWN, Facts, Kind
from srcgrad.core.namespace import Overlay
from srcgrad.core.original_libraries import original
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    at,
    expression,
    find_nodes,
    header,
    name,
    own_names,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.frontend.calls.functions import function_of, of_argument
from srcgrad.frontend.kinds import Kinds, NestedFunction
from srcgrad.frontend.resolve import binding_of
from srcgrad.runtime import check_module

_PLACES = (gast.Name, gast.Attribute, gast.Subscript)


@dataclass
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
            self.facts.local -= frozenset(bound)
        local = self.facts.local | own_names(self.function)
        for node in [n for s in self.function.body for n in walk(s)]:
            self._respell(node, local)
            if isinstance(node, gast.Call) and self._is_unnamed(node.func, local):
                node.func = at(name(self._function(self.kinds.of[node.func].items[0][0])), node.func)
                self.facts.foreign.update({one: None for one in self._statements() if node in _heads(one)})
        for held, kind in assumed.items():
            self._look_at(held, kind.items[0][0])
        for held in self._names_of_objects():
            kind = self.kinds.named[held]
            known = of_argument(held, kind if kind.owner is None else Kind("object", None, ((kind.owner, UNKNOWN),)))
            if known is not None and held not in self.facts.functions:
                self.facts.functions[held] = known

    def _statements(self) -> list[Node]:
        return [n for one in self.function.body for n in walk(one) if isinstance(n, gast.stmt)]

    def _second_names(self) -> dict[str, Binding]:
        """Local names to which nothing but one module, or one class, is bound, by plain assignments."""
        arguments = {n.id for n in walk(self.function.args) if isinstance(n, gast.Name)}
        found: dict[str, Binding] = {}
        nodes = [n for s in self.function.body for n in walk(s)]
        stored = [n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)]
        plain = [str(target(n)) for n in nodes if isinstance(n, gast.Assign) and target(n) is not None]
        for held in dict.fromkeys(plain):
            kind = self.kinds.named.get(held, UNKNOWN)
            whole = held not in arguments and stored.count(held) == plain.count(held)
            if (kind.tag == "module" or _is_class(kind)) and whole and not self._is_parameter(held, nodes):
                found[held] = _binding(kind.items[0][0])
        return found

    def _is_parameter(self, held: str, nodes: list[Node]) -> bool:
        inner = [n for n in nodes if isinstance(n, gast.FunctionDef | gast.Lambda)]
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

    def _look_at(self, held: str, whole: Any) -> None:
        """`check_module(xp, np)`, where something asks the argument."""
        if held not in self.respelled.values():
            return
        spelled = self.facts.library("check_module")
        self.facts.namespace = Overlay(self.facts.namespace, {spelled: Binding("object", check_module)})
        check = at(statement(f"{spelled}({held}, module)", module=self._module(whole)), self.function)
        self.facts.foreign[check] = None
        first = self.function.body[0]
        start = int(isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant))
        self.function.body.insert(start, check)

    def _module(self, whole: Any) -> Node:
        """An expression that means a module."""
        home = str(getattr(whole, "__name__", ""))
        if f"{home}.".startswith("numpy.") and original(np) is sys.modules["numpy"]:
            spelled = self.facts.library("np")
            self.facts.namespace = Overlay(self.facts.namespace, {spelled: Binding("object", original(np))})
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
        return node.id not in self.facts.kinds and bound > 0 and not shown

    def _function(self, called: Any) -> str:
        """A name that means a function."""
        known = isinstance(called, StaticFunction)
        spelled = self.facts.names.fresh(str(called.qualname if known else called.__name__))
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
        return [held for held in found if held in own_names(self.function) and held not in self.facts.kinds]


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
    """A block without the assignments to some names."""
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
