"""Writes into slices of lists in a text of ours, which is differentiated again: item by item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from srcgrad.converted import literal_value
from srcgrad.facts import Facts
from srcgrad.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    called,
    constant,
    copy,
    expression,
    is_write,
    name,
    part_written,
    same,
    statement,
    statements,
    walk,
)


def portions(function: Node, facts: Facts) -> Node:
    """Write `x_bar[1:] = add(x_bar[1:], e)` as a loop over the items of `e`, where `x_bar` is a list.

    The adjoint of a slice has as many items as the slice, so that such a write never changes how long a list is.
    """
    function.body = _block(function.body, facts)
    return function


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, _block(getattr(node, which), facts))
        made += _Portion(node, facts).by_items() if _is_portion(node, facts) else [node]
    return made


def _is_portion(node: Node, facts: Facts) -> bool:
    if not isinstance(node, gast.Assign) or not is_write(node) or not isinstance(part_written(node).slice, gast.Slice):
        return False
    return facts.lists.get(getattr(part_written(node).value, "id", "")) == "list"


@dataclass
class _Portion:
    """One write into a slice, and the statements that must stand before the writes of its items."""

    node: Node
    facts: Facts
    items: Node = None  # the name of the value, whose items are written
    before: Block = field(default_factory=list)

    def by_items(self) -> Block:
        """`for k in range(len(e)): x_bar[1 + k] = add(x_bar[1 + k], e[k])`."""
        part = part_written(self.node)
        write, step = self._write_of(), _step(part.slice)
        if step is None:
            raise self.facts.refuse(
                part,
                "E5005",
                "a second derivative through a slice of a list that goes back from an item, or has no literal step",
                "take the items one by one, or loop over an index",
            )
        k = self._name("k")
        body = write(self._place(part, k, step), name(k))
        trips = expression("range(len(e))", e=copy(self.items))
        return self._own([*self.before, gast.For(name(k, gast.Store()), trips, [body], [], None)])

    def _write_of(self) -> Callable[[Node, Node], Node]:
        """How item `k` of the value is written into one place of the list."""
        part, value = part_written(self.node), self.node.value
        whole = copy(part)
        whole.ctx = gast.Load()
        adds = called(value) == "add" and len(value.args) == 2 and same(value.args[0], whole)
        given = value.args[1] if adds else value
        plain = isinstance(given, gast.Name) and given.id != part.value.id
        self.items = given if plain else self._kept("items", given)

        def write(place: Node, k: Node) -> Node:
            item = expression("e[k]", e=copy(self.items), k=k)
            if adds:
                item = gast.Call(copy(value.func), [expression("x[p]", x=copy(part.value), p=copy(place)), item], [])
            return statement("x[p] = item", x=copy(part.value), p=place, item=item)

        return write

    def _place(self, part: Node, k: str, step: int) -> Node:
        """The place in a list of item `k` of a slice."""
        steps = name(k) if step == 1 else expression("step * k", step=constant(step), k=name(k))
        lower, held = part.slice.lower, part.value.id
        if step < 0:
            return expression("last + steps", last=self._kept("last", expression(f"len({held}) - 1")), steps=steps)
        if lower is None or getattr(lower, "value", None) == 0:
            return steps
        if type(getattr(lower, "value", None)) is int:
            return expression("first + steps", first=copy(lower), steps=steps)
        skipped = expression("len(x[:lower])", x=held, lower=copy(lower))
        return expression("first + steps", first=self._kept("first", skipped), steps=steps)

    def _kept(self, stem: str, value: Node) -> Node:
        bound = self._name(stem)
        self.before.append(assign(bound, value))
        return name(bound)

    def _name(self, stem: str) -> str:
        made = self.facts.names.fresh(stem)
        self.facts.local |= {made}
        return made

    def _own(self, block: Block) -> Block:
        for made in block:
            for inner in walk(made):
                at(inner, self.node)
        self.facts.foreign.update(dict.fromkeys(statements(block)))
        return block


def _step(part: Node) -> int | None:
    """The step of a slice; None where it is no literal, or where a slice that goes backwards has a first item."""
    try:
        step = 1 if part.step is None else literal_value(part.step)
    except (ValueError, TypeError):
        return None
    return step if type(step) is int and (step > 0 or part.lower is None) else None
