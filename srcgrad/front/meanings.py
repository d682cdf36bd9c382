"""Names that hold modules and objects: what is asked of them is what their values have, whatever their names are."""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from typing import Any  # modules of two classes

import gast
import numpy as np

from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.front.functions import of_argument
from srcgrad.front.kind_analysis import Kinds
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.plain import own_names
from srcgrad.front.resolve import binding_of
from srcgrad.trees import BLOCKS, Block, Node, at, expression, inside, name, target, walk


_PLACES = (gast.Name, gast.Attribute, gast.Subscript)


@dataclass
class Meanings:
    """The modules and objects of one function, by the kinds of its expressions."""

    function: Node
    kinds: Kinds
    facts: Facts

    def spell(self) -> None:
        """Drop second names of modules, `xp = np`, and spell what else is a module by a name that means it."""
        bound = self._second_names()
        if bound:
            self.facts.namespace = Overlay(self.facts.namespace, bound)
            self.function.body = _without(self.function.body, bound) or [at(gast.Pass(), self.function)]
            self.facts.local -= frozenset(bound)
        local = self.facts.local | own_names(self.function)
        for node in [n for statement in self.function.body for n in walk(statement)]:
            self._respell(node, local)
        for held in self._asked():
            known = of_argument(held, self.kinds.named[held])
            if known is not None and held not in self.facts.functions:
                self.facts.functions[held] = known

    def _second_names(self) -> dict[str, Binding]:
        """Local names to which nothing but one module is bound, by plain assignments."""
        arguments = {n.id for n in walk(self.function.args) if isinstance(n, gast.Name)}
        found: dict[str, Binding] = {}
        nodes = [n for statement in self.function.body for n in walk(statement)]
        stored = [n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)]
        plain = [str(target(n)) for n in nodes if isinstance(n, gast.Assign) and target(n) is not None]
        for held in dict.fromkeys(plain):
            kind = self.kinds.named.get(held, UNKNOWN)
            whole = held not in arguments and stored.count(held) == plain.count(held)
            if kind.tag == "module" and whole and not self._is_parameter(held, nodes):
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
        spelled = self._module(kind.items[0][0])
        for item in walk(spelled):
            at(item, node.value)
        node.value = spelled

    def _module(self, whole: Any) -> Node:
        """An expression that means a module."""
        if whole is np or str(getattr(whole, "__name__", "")).startswith("numpy."):
            spelled = self.facts.library("np")
            self.facts.namespace = Overlay(self.facts.namespace, {spelled: Binding("object", np)})
            return expression(".".join([spelled, *whole.__name__.split(".")[1:]]))
        stem = str(getattr(whole, "__name__", "") or whole.name).rpartition(".")[2]
        spelled = self.facts.names.fresh(stem)
        self.facts.namespace = Overlay(self.facts.namespace, {spelled: _binding(whole)})
        return name(spelled)

    def _asked(self) -> list[str]:
        """Local names of objects of one class each, of which methods are called that this class has in Python."""
        calls = [n.func for s in self.function.body for n in inside(s, gast.Call) if isinstance(n.func, gast.Attribute)]
        found: dict[str, None] = {}
        for one in calls:
            held = one.value.id if isinstance(one.value, gast.Name) else ""
            kind = self.kinds.named.get(held, UNKNOWN)
            if kind.tag == "object" and isinstance(_member(kind, one.attr), types.FunctionType):
                found[held] = None
        return [held for held in found if held in own_names(self.function) and held not in self.facts.kinds]


def _member(kind: Kind, attribute: str) -> object:
    return inspect.getattr_static(kind.items[0][0], attribute, None)


def _binding(whole: Any) -> Binding:
    return Binding("object", whole) if isinstance(whole, types.ModuleType) else Binding("module", module=whole)


def _without(block: Block, names: dict[str, Binding]) -> Block:
    """A block without the assignments to some names."""
    made: Block = []
    for node in block:
        if isinstance(node, gast.Assign) and target(node) in names:
            continue
        for which in BLOCKS:
            inner = getattr(node, which, None)
            if isinstance(inner, list) and inner:
                kept = _without(inner, names)
                setattr(node, which, kept or ([at(gast.Pass(), node)] if which == "body" else []))
        made.append(node)
    return made
