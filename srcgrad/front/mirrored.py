"""What zeros mirror in a text that is differentiated again: the lists and dicts that it took from others."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.kinds import ANY, common, joined, part_of
from srcgrad.trees import Node, constant, statements, target

# what a call mirrors: one of its arguments
SAME = {"zeros_like": 0, "fields_of": 0, "add": 0, "list": 0, "dict": 0, "scatter": 1, "entry": 1}


OPEN = Kind("open")  # of a name whose kind is being found: it says nothing


@dataclass
class Mirrored:
    """The kinds of expressions of one function, found from what is bound to the names in them."""

    function: Node
    facts: Facts
    open: set[str] = field(default_factory=set)  # names whose kind is being found
    met: set[str] = field(default_factory=set)  # ... and was asked for meanwhile
    known: dict[str, Kind] = field(default_factory=dict)

    def kind(self, value: Node | None) -> Kind:
        """The kind of an expression; of a name, what all that is bound to it have in common."""
        if isinstance(value, gast.Name):
            return self._name(value.id)
        if isinstance(value, gast.List | gast.Tuple):
            tag = "list" if isinstance(value, gast.List) else "tuple"
            return Kind(tag, None, tuple((k, self.kind(item)) for k, item in enumerate(value.elts)))
        if isinstance(value, gast.Dict):
            keys = [getattr(key, "value", None) for key in value.keys]
            return Kind("dict", None, tuple(zip(keys, map(self.kind, value.values), strict=True)))
        if isinstance(value, gast.Subscript):
            return part_of(self.kind(value.value), value.slice)
        called = getattr(value.func, "id", "") if isinstance(value, gast.Call) else ""
        if called in SAME and value is not None and value.args:
            made = self.kind(value.args[SAME[called]])
            return Kind("list", None, made.items) if called == "list" and made.tag == "tuple" else made
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "pop":
            return self._items(getattr(value.func.value, "id", ""))
        return UNKNOWN

    def _name(self, name: str) -> Kind:
        if name in self.facts.kinds:
            return self.facts.kinds[name]
        if name in self.open:
            self.met.add(name)
            return OPEN
        if name not in self.known:
            self.open.add(name)
            kind = self._bound_to(name)
            self.open.discard(name)
            self.met.discard(name)
            if self.met:  # more is known of it when they are found
                return kind
            self.known[name] = kind
        return self.known[name]

    def _bound_to(self, name: str) -> Kind:
        found = [made for node in statements(self.function.body) for made in self._bound(name, node)]
        items = self._items(name)
        if items not in (UNKNOWN, OPEN) and all(kind == Kind("list") for kind in found):
            return Kind("list", None, ((ANY, items),))
        return _joined(found)

    def _bound(self, name: str, node: Node) -> list[Kind]:
        """What a statement binds to a name."""
        if isinstance(node, gast.For) and getattr(node.target, "id", "") == name:
            return [self._each(self.kind(node.iter))]
        if target(node) == name:
            return [self.kind(node.value)]
        places = (
            node.targets[0].elts if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple) else []
        )
        found = [k for k, place in enumerate(places) if getattr(place, "id", "") == name]
        return [part_of(self.kind(node.value), constant(k)) for k in found]

    def _each(self, kind: Kind) -> Kind:
        return dict(kind.items).get(ANY, common(kind)) if kind.tag == "list" else common(kind)

    def _items(self, name: str) -> Kind:
        """What is put into a list: `rows.append(row)`."""
        found = []
        for node in statements(self.function.body):
            call = node.value if isinstance(node, gast.Expr) and isinstance(node.value, gast.Call) else None
            if call is not None and isinstance(call.func, gast.Attribute) and call.func.attr == "append":
                if getattr(call.func.value, "id", "") == name:
                    found.append(self.kind(call.args[0]))
        return _joined(found)


def _joined(found: list[Kind]) -> Kind:
    known = [kind for kind in found if kind != OPEN]
    return joined(known) if known else OPEN if found else UNKNOWN


def container_of(value: Node, function: Node, facts: Facts) -> str:
    """`list` or `dict` if zeros that mirror an expression are one; an empty string otherwise."""
    tag = Mirrored(function, facts).kind(value).tag
    return tag if tag in ("list", "dict") else ""
