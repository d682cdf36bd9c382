"""The kind of each expression of a function, found forward: from arguments, literals, globals and what is called."""

from __future__ import annotations

from typing import Any  # what begins a trip is an arbitrary question

import gast

from srcgrad.facts import UNKNOWN, Kind
from srcgrad.front.imported import bound_by
from srcgrad.front.kind_calls import Names
from srcgrad.front.kind_expressions import Expressed, with_item
from srcgrad.front.results_of_calls import of_operator
from srcgrad.front.values import each_of, either, parts_of
from srcgrad.kinds import ANY
from srcgrad.trees import Block, Node, children

_ROUNDS = 6  # of a loop, before what still changes is taken as unknown
_LEAVES = (gast.Return, gast.Raise, gast.Break, gast.Continue)


class Kinds(Expressed):
    """What is known of the expressions of one function: statements in their order, branches joined, loops repeated."""

    def block(self, block: Block, names: Names) -> None:
        """Look at statements in order; `names` is what is known before them, and behind them then."""
        for node in block:
            look = getattr(self, f"_{type(node).__name__.lower()}", None)
            if look is not None:
                look(node, names)
            else:
                for part in children(node):
                    if isinstance(part, gast.expr):
                        self.kind(part, names)

    def _assign(self, node: Node, names: Names) -> None:
        kind = self.kind(node.value, names)
        for place in node.targets:
            self.bind(place, kind, names)

    def _annassign(self, node: Node, names: Names) -> None:
        if node.value is not None:
            self.bind(node.target, self.kind(node.value, names), names)

    def _augassign(self, node: Node, names: Names) -> None:
        value, held = self.kind(node.value, names), self.kind(node.target, names)
        self.bind(node.target, _augmented(type(node.op), held, value), names)

    def _if(self, node: Node, names: Names) -> None:
        self.kind(node.test, names)
        before, other = dict(names), dict(names)
        self.block(node.body, names)
        self.block(node.orelse, other)
        ended = [bool(block) and isinstance(block[-1], _LEAVES) for block in (node.body, node.orelse)]
        taken = _is_taken(node.test, before)
        if taken is not None:
            ended = [not taken, taken]  # what is never reached has no say
        if ended == [True, False]:
            names.clear()
            names.update(other)
        elif ended[1] is False:
            _join(names, other)

    def _for(self, node: Node, names: Names) -> None:
        kind = self.kind(node.iter, names)
        self._loop(node, names, lambda: self.bind(node.target, each_of(kind), names))

    def _while(self, node: Node, names: Names) -> None:
        self._loop(node, names, lambda: self.kind(node.test, names))

    def _loop(self, node: Node, names: Names, begin: Any) -> None:
        for turn in range(_ROUNDS):
            before = dict(names)
            begin()
            self.left.append([])
            self.block(node.body, names)
            for other in [before, *self.left.pop()]:
                _join(names, other)
            if names == before:
                break
            if turn == _ROUNDS - 2:
                names.update({one: UNKNOWN for one, kind in names.items() if before.get(one, kind) != kind})
        self.block(node.orelse, names)

    def _with(self, node: Node, names: Names) -> None:
        for item in node.items:
            self.kind(item.context_expr, names)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, UNKNOWN, names)
        self.block(node.body, names)

    def _try(self, node: Node, names: Names) -> None:
        before = dict(names)
        self.block(node.body, names)
        self.block(node.orelse, names)
        for handler in node.handlers:
            other = dict(before)
            if handler.name is not None:
                self.bind(handler.name, UNKNOWN, other)
            self.block(handler.body, other)
            _join(names, other)
        self.block(node.finalbody, names)

    def _break(self, node: Node, names: Names) -> None:
        if self.left:
            self.left[-1].append(dict(names))

    _continue = _break

    def _return(self, node: Node, names: Names) -> None:
        kind = self.kind(node.value, names) if node.value is not None else Kind("none")
        self.returned[node] = either(self.returned[node], kind) if node in self.returned else kind

    def _functiondef(self, node: Node, names: Names) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.kind(default, names)
        kind = self.own(node, names) if not node.decorator_list else UNKNOWN
        names[node.name] = kind
        self.note(node.name, kind)

    def _import(self, node: Node, names: Names) -> None:
        found = bound_by(node, self.namespace)
        for alias in node.names:
            spelled = alias.asname or alias.name.partition(".")[0]
            names[spelled] = self.meaning(found[spelled]) if found is not None else UNKNOWN
            self.note(spelled, names[spelled])

    _importfrom = _import

    def bind(self, place: Node, kind: Kind, names: Names) -> None:
        """What a target holds from now on."""
        if isinstance(place, gast.Name):
            names[place.id] = kind
            self.note(place.id, kind)
            self.of[place] = kind
        elif isinstance(place, gast.Starred):
            self.bind(place.value, Kind("list", None, ((ANY, each_of(kind)),)), names)
        elif isinstance(place, gast.Tuple | gast.List):
            star = any(isinstance(item, gast.Starred) for item in place.elts)
            parts = [each_of(kind)] * len(place.elts) if star else parts_of(kind, len(place.elts))
            for item, part in zip(place.elts, parts, strict=True):
                self.bind(item, kind if isinstance(item, gast.Starred) else part, names)
        elif isinstance(place, gast.Subscript):
            self._put(place, kind, names)
        else:
            self.kind(place.value, names)

    def _put(self, place: Node, kind: Kind, names: Names) -> None:
        """`d[k] = e`: one more item of a list or a dict."""
        held = self.kind(place.value, names)
        self.kind(place.slice, names)
        base = place.value
        if isinstance(base, gast.Name) and held.tag in ("list", "dict"):
            key = place.slice.value if isinstance(place.slice, gast.Constant) else ANY
            names[base.id] = with_item(held, key, kind)
            self.note(base.id, names[base.id])


def _is_taken(test: Node, names: Names) -> bool | None:
    """Whether `w is None`, or `w is not None`, holds of a name whose kind is known; None where it is not."""
    plain = isinstance(test, gast.Compare) and len(test.ops) == 1 and isinstance(test.left, gast.Name)
    if not plain or getattr(test.comparators[0], "value", test) is not None or test.left.id not in names:
        return None
    tag = names[test.left.id].tag
    if tag not in ("none", "list", "tuple", "dict", "array", "scalar") or not isinstance(
        test.ops[0], gast.Is | gast.IsNot
    ):
        return None
    return (tag == "none") is isinstance(test.ops[0], gast.Is)


def _augmented(op: type, held: Kind, value: Kind) -> Kind:
    """The kind of a name behind `name op= value`: a list takes in the items of any sequence, and arrays stay arrays."""
    if held.tag == "list" and op is gast.Add:
        return Kind("list", None, ((ANY, either(each_of(held), each_of(value)) if held.items else each_of(value)),))
    return held if held.tag == "array" else of_operator(op, held, value)


def _join(names: Names, other: Names) -> None:
    """What holds of names on either of two ways."""
    for name, kind in other.items():
        names[name] = either(names[name], kind) if name in names else kind
