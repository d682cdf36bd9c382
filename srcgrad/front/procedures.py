"""Functions that write into their arguments: which of these change, through any number of calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FunctionType
from typing import Any  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.flow import ENTRY, Definitions, definitions
from srcgrad.front.changing import by_method, is_change
from srcgrad.front.item_targets import item_targets
from srcgrad.front.owners import NOTHING, is_instance, live
from srcgrad.front.plain import own_names, plain
from srcgrad.front.resolve import METHODS, binding_of, operation_of
from srcgrad.front.step import Step
from srcgrad.front.viewing import VIEWS
from srcgrad.identity import uncached
from srcgrad.otherwise import written_out
from srcgrad.rules import rule_of
from srcgrad.trees import Node, children, copy, header, inside, is_write, statements, stores, walk, written
from srcgrad.walked import kinds

_COPIES = (np.array, np.ndarray.astype)  # unless `copy=` says otherwise


def entering(changes: list[tuple[Node, str]], tree: Node, own: list[str]) -> dict[str, None]:
    """The parameters among names that statements change which still hold the caller's array there."""
    if not any(name in own for _, name in changes):
        return {}
    reaching = definitions(tree.body, own)
    inner = [(each, own_names(each)) for each in statements(tree.body) if isinstance(each, gast.FunctionDef)]
    nested = {node: names for each, names in inner for node in statements(each.body)}
    return {
        name: None
        for node, name in changes
        if name in own and name not in nested.get(node, ()) and _holds_argument(reaching, node, name)
    }


def _holds_argument(reaching: Definitions, node: Node, name: str) -> bool:
    if node not in reaching.graph.index:
        return True  # in a nested function, which may be called at any time
    todo = list(reaching.at(node, name))
    seen: set[int] = set()
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        place = reaching.of[number][0]
        if place == ENTRY:
            return True
        before = reaching.graph.nodes[place]
        if is_write(before):  # the array is the one that it was
            todo += reaching.at(before, name)
    return False


_BARE = {
    gast.FunctionDef, gast.arguments, gast.Name, gast.Constant, gast.Assign, gast.Return, gast.Expr, gast.If, gast.For,
    gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.IfExp, gast.Call, gast.keyword, gast.Attribute,
    gast.Subscript, gast.Slice, gast.Tuple, gast.List,
}  # fmt: skip


def is_bare(tree: Node, facts: Facts) -> bool:
    """Whether a function binds names and calls functions, and in no spelling writes into anything itself."""
    stored = inside(tree, gast.Subscript, gast.Attribute)
    return (
        kinds(tree) <= _BARE
        and len(inside(tree, gast.FunctionDef)) == 1
        and all(type(n.ctx) is gast.Load for n in stored)
        and all(type(n.value) is gast.Constant for n in inside(tree, gast.Expr))
        and all(_gives_only(call, facts) for call in inside(tree, gast.Call))
    )


def _gives_only(call: Node, facts: Facts) -> bool:
    """Whether a call fills none of its arguments, as `np.add(a, b, a)` does, unless it is one of a Python function."""
    if any(word.arg in (None, "out") for word in call.keywords):
        return False
    found = binding_of(call.func, facts, facts.local)
    if found is None:
        return isinstance(call.func, gast.Attribute) and call.func.attr in METHODS and len(call.args) < 2
    function: Any = found.object
    if isinstance(function, np.ufunc):
        return len(call.args) <= function.nin
    rule = rule_of(function)
    return isinstance(function, FunctionType) if rule is None else rule.kind != "refused" and len(call.args) < 3


@dataclass
class Procedures:
    """What is known of the functions that one function calls."""

    facts: Facts
    known: dict[int, dict[str, bool]] = field(default_factory=dict)  # by tree: the parameters that it changes
    open: list[int] = field(default_factory=list)  # trees that are being looked at, the outermost first
    circular: bool = False  # whether one of them was asked for again
    augments: bool = False  # look for `a += e` of parameters, which changes arrays and binds numbers anew

    def changed(self, function: Any) -> dict[str, bool]:
        """The parameters that a function changes, itself or by what it calls; whether by their methods alone."""
        if isinstance(function, Step):
            return {}  # it works on a copy
        try:
            source, namespace = self.facts.module.source(function)
        except DifferentiationError:
            return {}  # no source: it is a constant, or refused where a derivative flows through it
        tree, settled = source.tree, self.facts.module.changes
        if (id(tree), self.facts.mode, self.augments) in settled:
            found: dict[str, bool] = settled[id(tree), self.facts.mode, self.augments]
            return found
        if id(tree) in self.known:
            self.circular |= id(tree) in self.open
            return self.known[id(tree)]
        self.known[id(tree)] = {}  # a recursive call adds nothing
        self.open.append(id(tree))
        inner = Facts(source, namespace, self.facts.mode, (), module=self.facts.module)
        inner.local = own_names(tree)
        if not is_bare(tree, inner) or any(self.arguments(n, inner, inner.local) for n in inside(tree, gast.Call)):
            self.known[id(tree)] = self._changed(plain(item_targets(copy(tree), inner), inner), inner)
        self.open.pop()
        if not self.open:  # what was found on the way lacks what a circle would have added
            whole = [id(tree)] if self.circular else list(self.known)
            settled.update({(one, self.facts.mode, self.augments): self.known[one] for one in whole})
        return self.known[id(tree)]

    def _changed(self, tree: Node, inner: Facts) -> dict[str, bool]:
        arguments = tree.args
        own = [a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        local = frozenset([*own, *(s for n in statements(tree.body) for s in stores(n))])
        found: list[tuple[Node, str]] = []
        called: list[tuple[Node, str]] = []  # where methods are called by which lists and dicts change
        for node in statements(tree.body):
            found += [(node, w) for w in written(node) if is_write(node)]
            called += [(node, w) for w in written(node) if is_change(node, w)]
            called += [(node, one) for one in by_method(node) if one in own]
            if isinstance(node, gast.AugAssign) and (self.augments or isinstance(node.value, gast.List | gast.Dict)):
                found += [(node, one) for one in stores(node)]
            for call in [n for part in header(node) for n in walk(part) if isinstance(n, gast.Call)]:
                for value, alone in self._given(call, inner, local):
                    where = called if alone else found
                    where += [(node, n.id) for n in walk(value) if isinstance(n, gast.Name)]
        sure = entering([*found, *self._shown(found, tree, inner, local)], tree, own)
        found += called
        return {one: one not in sure for one in entering([*found, *self._shown(found, tree, inner, local)], tree, own)}

    def _shown(
        self, changes: list[tuple[Node, str]], tree: Node, inner: Facts, local: frozenset[str]
    ) -> list[tuple[Node, str]]:
        """Where names that change were bound to parts of what others hold: `v = x[::-1]`, `for row in x`."""
        found: list[tuple[Node, str]] = []
        todo = list(dict.fromkeys(name for _, name in changes))
        for view in todo:
            for node in statements(tree.body) if view in local else ():
                if view not in stores(node) or is_write(node):
                    continue
                value = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
                bases = self.seen(value, inner, local)
                found += [(node, base) for base in bases]
                todo += [base for base in bases if base not in todo]
        return found

    def seen(self, value: Node, inner: Facts, local: frozenset[str]) -> list[str]:
        """The names whose elements a value may show: not those of arithmetic, nor of calls that make an array."""
        if isinstance(value, gast.Name):
            return [value.id]
        if isinstance(value, gast.Subscript):
            return [] if isinstance(value.slice, gast.List | gast.Compare) else self.seen(value.value, inner, local)
        if isinstance(value, gast.Call):
            return self._seen_through(value, inner, local)
        if not isinstance(value, gast.Tuple | gast.List | gast.IfExp | gast.Attribute):
            return []
        return [one for part in children(value) for one in self.seen(part, inner, local)]

    def _seen_through(self, call: Node, inner: Facts, local: frozenset[str]) -> list[str]:
        try:
            operation = operation_of(call, inner, local)
        except DifferentiationError:
            return []  # refused later
        if operation is None or (operation.function in _COPIES and not any(w.arg == "copy" for w in call.keywords)):
            return []
        if operation.kind == "callee" and inner.module.returns_new(operation.function):
            return []
        if operation.kind == "op" and operation.function not in VIEWS:
            return []
        return [one for part in children(call) for one in self.seen(part, inner, local)]

    def arguments(self, call: Node, facts: Facts, local: frozenset[str]) -> list[Node]:
        """The arguments of a call into whose arrays the called function writes."""
        return [value for value, _ in self._given(call, facts, local)]

    def _given(self, call: Node, facts: Facts, local: frozenset[str]) -> list[tuple[Node, bool]]:
        """The arguments that a called function changes, and whether it does so by their methods alone."""
        if not any(isinstance(n, gast.Name) for a in [*call.args, *call.keywords] for n in walk(a)):
            return []
        if _is_ruled(call, facts, local):
            return []
        try:
            operation = operation_of(call, facts, local)
        except DifferentiationError:
            return []  # refused later, if a derivative flows through it
        if operation is None or operation.kind != "callee":
            return []
        changes = self.changed(operation.function)
        lists = [a for a in [*call.args, *(w.value for w in call.keywords)] if _is_list(a, facts)]
        joined = (
            Procedures(self.facts, augments=True).changed(operation.function) if lists and not self.augments else {}
        )
        if not changes and not joined:
            return []
        tree = self.facts.module.source(operation.function)[0].tree
        positional = [a.id for a in tree.args.posonlyargs + tree.args.args]
        given = dict(zip(positional, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
        for parameter in changes:
            if parameter not in given and parameter in _lasting(tree):
                raise facts.refuse(
                    call,
                    "E5010",
                    f"`{gast.unparse(call.func)}` changes its own default of `{parameter}`, which the next call sees",
                    f"pass `{parameter}`, or make it anew in the function",
                )
        found = [(value, changes[one]) for one, value in given.items() if one in changes]
        found += [(v, False) for one, v in given.items() if one in joined and one not in changes and _is_list(v, facts)]
        return [(value, alone) for value, alone in found if not (alone and _has_own_methods(value, facts, local))]


def _is_list(value: Node, facts: Facts) -> bool:
    """Whether a value is known as a list, which `a += e` changes."""
    named = getattr(value, "id", "")
    known = facts.of.get(value), facts.kinds.get(named), facts.named.get(named)
    return any(kind is not None and kind.tag == "list" for kind in known) or facts.list_kind(named) == "list"


def _has_own_methods(value: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a value is an object of a class of the user that is neither a list nor a dict, nor made of one."""
    held = live(value, facts.namespace, local, None if facts.module is None else facts.module.methods)
    if held is not NOTHING and is_instance(held):
        return not isinstance(held, list | dict)
    kind = facts.kinds.get(getattr(value, "id", "")) or facts.of.get(value)
    made = kind.items[0][0] if kind is not None and kind.tag == "object" and kind.items else None
    return isinstance(made, type) and not issubclass(made, list | dict)


def _is_ruled(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a call is one of an operation whose rule says what it gives, and not another function instead."""
    found = binding_of(call.func, facts, local)
    rule = rule_of(uncached(found.object)) if found is not None and found.kind == "object" else None
    if found is None or found.static is not None or rule is None or rule.composition is not None:
        return False
    return written_out(rule, call.args, call.keywords) is None


def _lasting(tree: Node) -> list[str]:
    """Parameters whose default is an object that the next call gets as well."""
    positional = [*tree.args.posonlyargs, *tree.args.args]
    pairs = [*zip(positional[len(positional) - len(tree.args.defaults) :], tree.args.defaults, strict=True)]
    pairs += zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    return [p.id for p, default in pairs if default is not None and not isinstance(default, gast.Constant)]
