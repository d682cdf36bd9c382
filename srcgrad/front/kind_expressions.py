"""The kinds of expressions, where those of the names in them are known."""

from __future__ import annotations

import inspect
import types
from typing import Any  # keys of dicts are arbitrary

import gast

from srcgrad.facts import UNKNOWN, Kind
from srcgrad.front.kind_calls import Called, Names
from srcgrad.front.owners import NOTHING, live
from srcgrad.front.results_of_calls import of_method, of_operator
from srcgrad.front.values import (
    ARRAY,
    BOOL,
    NUMERIC,
    OF_NUMBERS,
    STRING,
    all_of,
    each_of,
    either,
    of_object,
    part_at,
)
from srcgrad.kinds import ANY
from srcgrad.trees import Node, children

_GROWS = {"append": 0, "add": 0, "insert": 1, "extend": 0, "update": 0, "setdefault": 1}


class Expressed(Called):
    """What is known of the expressions of one function."""

    def bind(self, place: Node, kind: Kind, names: Names) -> None:
        """What a target holds from now on."""
        raise NotImplementedError

    def kind(self, node: Node, names: Names) -> Kind:
        """The kind of an expression where names are of these kinds; of one that is met again, what holds each time."""
        look = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if look is None:
            for part in children(node):
                self.kind(part, names)
            found = UNKNOWN
        else:
            found = look(node, names)
        self.of[node] = either(self.of[node], found) if node in self.of else found
        return found

    def _of_name(self, node: Node, names: Names) -> Kind:
        if node.id in names:
            return names[node.id]
        found = None if node.id in self.around else self.namespace.lookup(node.id)
        return UNKNOWN if found is None else self.meaning(found)

    def _of_constant(self, node: Node, names: Names) -> Kind:
        return of_object(node.value)

    def _of_joinedstr(self, node: Node, names: Names) -> Kind:
        for part in node.values:
            self.kind(part, names)
        return STRING

    def _of_tuple(self, node: Node, names: Names) -> Kind:
        tag = "tuple" if isinstance(node, gast.Tuple) else "list"
        parts = [self.kind(item, names) for item in node.elts]
        if any(isinstance(item, gast.Starred) for item in node.elts):
            each = [each_of(k) if isinstance(i, gast.Starred) else k for i, k in zip(node.elts, parts, strict=True)]
            return Kind(tag, None, ((ANY, all_of(each)),))
        return Kind(tag, None, tuple(enumerate(parts)))

    _of_list = _of_tuple

    def _of_starred(self, node: Node, names: Names) -> Kind:
        return self.kind(node.value, names)

    def _of_dict(self, node: Node, names: Names) -> Kind:
        values = [self.kind(value, names) for value in node.values]
        keys = [None if key is None else self.kind(key, names) and getattr(key, "value", ANY) for key in node.keys]
        if None in keys or len(set(map(repr, keys))) < len(keys):
            return Kind("dict")
        return Kind("dict", None, tuple(zip(keys, values, strict=True)))

    def _of_unaryop(self, node: Node, names: Names) -> Kind:
        kind = self.kind(node.operand, names)
        if isinstance(node.op, gast.Not):
            return BOOL
        return kind if kind.tag in OF_NUMBERS else NUMERIC if kind.tag == "unknown" else UNKNOWN

    def _of_binop(self, node: Node, names: Names) -> Kind:
        return of_operator(type(node.op), self.kind(node.left, names), self.kind(node.right, names))

    def _of_boolop(self, node: Node, names: Names) -> Kind:
        return all_of([self.kind(value, names) for value in node.values])

    def _of_compare(self, node: Node, names: Names) -> Kind:
        kinds = [self.kind(part, names) for part in (node.left, *node.comparators)]
        plain = isinstance(node.ops[0], gast.In | gast.NotIn | gast.Is | gast.IsNot)
        if plain or all(kind.tag in ("scalar", "string", "none", "bool") for kind in kinds):
            return BOOL
        arrays = [kind for kind in kinds if kind.tag == "array"]
        return ARRAY if arrays else NUMERIC if any(kind.tag == "numeric" for kind in kinds) else UNKNOWN

    def _of_ifexp(self, node: Node, names: Names) -> Kind:
        self.kind(node.test, names)
        return either(self.kind(node.body, names), self.kind(node.orelse, names))

    def _of_namedexpr(self, node: Node, names: Names) -> Kind:
        kind = self.kind(node.value, names)
        self.bind(node.target, kind, names)
        return kind

    def _of_lambda(self, node: Node, names: Names) -> Kind:
        return self.own(node, names)

    def _of_listcomp(self, node: Node, names: Names) -> Kind:
        inner = dict(names)
        for each in node.generators:
            self.bind(each.target, each_of(self.kind(each.iter, inner)), inner)
            for test in each.ifs:
                self.kind(test, inner)
        if isinstance(node, gast.DictComp):
            self.kind(node.key, inner)
            return Kind("dict", None, ((ANY, self.kind(node.value, inner)),))
        tag = "list" if isinstance(node, gast.ListComp) else "iterator"
        return Kind(tag, None, ((ANY, self.kind(node.elt, inner)),))

    _of_generatorexp = _of_setcomp = _of_dictcomp = _of_listcomp

    def _of_subscript(self, node: Node, names: Names) -> Kind:
        held = self.kind(node.value, names)
        self.kind(node.slice, names)
        return part_at(held, node.slice, self.of)

    def _of_attribute(self, node: Node, names: Names) -> Kind:
        found = live(node, self.namespace, names, None if self.module is None else self.module.methods)
        if found is not NOTHING:
            self.kind(node.value, names)
            return of_object(found)
        return self.attribute(self.kind(node.value, names), node.attr)

    def _of_call(self, node: Node, names: Names) -> Kind:
        args = [self.kind(arg, names) for arg in node.args]
        words = {word.arg: self.kind(word.value, names) for word in node.keywords}
        starred = None in words or any(isinstance(arg, gast.Starred) for arg in node.args)
        if isinstance(node.func, gast.Attribute):
            held = self.kind(node.func.value, names)
            own = self.attribute(held, node.func.attr)
            self.of[node.func] = own
            if own.tag not in ("function", "class"):
                return self._of_method(node, held, args, words, names)
            callee = own
        else:
            callee = self.kind(node.func, names)
        return UNKNOWN if starred else self.called(callee, args, words)

    def _of_method(self, node: Node, held: Kind, args: list[Kind], words: Names, names: Names) -> Kind:
        method, base = node.func.attr, node.func.value
        whole = held.items[0][0] if held.tag in ("object", "made") else held.owner
        found = None if whole is None else inspect.getattr_static(whole, method, None)
        if held.tag in ("object", "made") or isinstance(found, types.FunctionType | staticmethod | classmethod):
            if isinstance(found, staticmethod):
                return self.called(of_object(found.__func__), args, words)
            return self.called(of_object(found), [held, *args], words)
        if held.tag in ("list", "dict") and method in _GROWS and isinstance(base, gast.Name):
            put = args[_GROWS[method]] if len(args) > _GROWS[method] else UNKNOWN
            if method in ("extend", "update"):
                put = each_of(put) if method == "extend" else all_of([kind for _, kind in put.items])
            names[base.id] = with_item(held, ANY, put)
            self.note(base.id, names[base.id])
        return of_method(held, method, args)


def with_item(held: Kind, key: Any, item: Kind) -> Kind:
    """A list or a dict with one more item."""
    items = dict(held.items)
    if key is not ANY and (held.tag == "dict" or key in items) and ANY not in items:
        return Kind(held.tag, None, tuple({**items, key: item}.items()))
    parts = [*items.values(), item]
    return Kind(held.tag, None, ((ANY, all_of(parts)),))
