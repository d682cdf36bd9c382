"""What the text tells of arguments of which nothing else is known: those read by names, and those taken apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import gast

from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.kinds import ANY
from srcgrad.trees import Node, called, header, inside, loads, statements, stores, target, walk


def guessed(function: Node, facts: Facts) -> dict[str, Kind]:
    """The kinds of what `wrt` names, and of its parts, that the text shows to be containers."""
    unknown = [one for one in facts.wrt if facts.kinds.get(one, UNKNOWN) == UNKNOWN]
    if not unknown:
        return {}
    order = statements(function.body)
    found = _keyed(order, unknown)
    if facts.module.target == "numba":
        return found
    text, wanted = _Text.of(order), [one for one in unknown if one not in facts.inner]
    return {**found, **_unpacked(text, wanted), **_sequences(text, wanted, slices=not facts.module.inline)}


@dataclass(frozen=True)
class _Text:
    """The statements of a function; how often names are read and bound in it, which of them are integers."""

    order: list[Node]
    reads: Counter[str]
    bound: Counter[str]
    counters: set[str]

    @classmethod
    def of(cls, order: list[Node]) -> _Text:
        reads = Counter(one for node in order for one in loads(node))
        return cls(order, reads, Counter(one for node in order for one in stores(node)), _counters(order))


def may_be_array(wanted: str, facts: Facts) -> bool:
    """Whether an argument is a tuple as far as the text goes, and may be a list or an array when it runs."""
    return facts.arguments.get(wanted, UNKNOWN) == UNKNOWN and facts.kinds.get(wanted, UNKNOWN).tag == "tuple"


def _keyed(order: list[Node], unknown: list[str]) -> dict[str, Kind]:
    """What is read by names, `params["w"]`, is a dict if nothing else is known; so are such parts."""
    reads = [n for node in order for part in header(node) for n in inside(part, gast.Subscript)]
    named = {getattr(n.value, "id", "") for n in reads if isinstance(getattr(n.slice, "value", None), str)}
    found = {name: Kind("dict") for name in unknown if name in named}
    for node in order:
        bound = target(node)
        part = node.value if bound in named and isinstance(node.value, gast.Subscript) else None
        held = getattr(getattr(part, "value", None), "id", "")
        if bound is not None and part is not None and held in found:
            found[bound] = Kind("dict")
            items = dict(found[held].items) | {getattr(part.slice, "value", ANY): found[bound]}
            found[held] = Kind("dict", None, tuple(items.items()))
    return found


def _unpacked(text: _Text, wanted: list[str]) -> dict[str, Kind]:
    """What is read once, by `u, v = params`, has these parts; whether it is an array is seen when the text runs."""
    apart = {node.value.id: stores(node) for node in text.order if _takes_apart(node)}

    def kind(name: str, times: int) -> Kind:
        if times and text.bound[name] == times and name not in apart:
            return _keyed(text.order, [name]).get(name, UNKNOWN)
        if name not in apart or text.reads[name] != 1 or text.bound[name] != times:
            return UNKNOWN
        return Kind("tuple", None, tuple((place, kind(part, 1)) for place, part in enumerate(apart[name])))

    found = {one: kind(one, 0) for one in wanted}
    return {one: known for one, known in found.items() if known != UNKNOWN}


def _sequences(text: _Text, wanted: list[str], *, slices: bool) -> dict[str, Kind]:
    """What is read item by item, `for u, v in params`, where each item is taken apart or is read by names."""
    found = {one: _item_of(one, text, slices=slices) for one in wanted}
    return {one: Kind("tuple", None, ((ANY, item),)) for one, item in found.items() if item is not None}


def _item_of(held: str, text: _Text, *, slices: bool) -> Kind | None:
    """The kind of all items of an argument; None if it is read in any other way than by items, or by slices."""
    order, reads, bound, counters = text.order, text.reads, text.bound, text.counters
    wholes: dict[str, int] = {held: 0}  # it and its slices: in how many of these ways each is read
    items: list[str] = []
    for node in order:
        source = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
        part = source if isinstance(source, gast.Subscript) else None
        of = getattr(source if part is None else part.value, "id", "")
        name = node.target.id if isinstance(node, gast.For) else target(node)
        if of not in wholes or name is None or bound[name] != 1:
            continue
        if source.__class__ is gast.Name and target(node) is not None:
            wholes[name] = 0  # a second name: `trips = params`
        elif part is not None and isinstance(part.slice, gast.Slice) and slices:
            wholes[name] = 0
        elif _is_place(part.slice, counters) if part is not None else isinstance(node, gast.For):
            items.append(name)
        else:
            return None
        wholes[of] += 1
    for call in (n for node in order for part in header(node) for n in walk(part) if called(n) == "len" and n.args):
        if getattr(call.args[0], "id", "") in wholes:
            wholes[call.args[0].id] += 1
    kinds = {_taken(item, reads[item], order) for item in items}
    return kinds.pop() if len(kinds) == 1 and all(reads[one] == count for one, count in wholes.items()) else None


def _counters(order: list[Node]) -> set[str]:
    """Names of integers: those of loops over `range`, and those that only count, `place = 0`, `place = place + 1`."""
    bound: set[str] = set()
    others: set[str] = set()
    for node in order:
        value = getattr(node, "value", None)
        step = value.right if isinstance(value, gast.BinOp) and getattr(value.left, "id", "") == target(node) else value
        (bound if type(getattr(step, "value", None)) is int else others).update(stores(node))
    return {*(bound - others), *(node.target.id for node in order if called(getattr(node, "iter", None)) == "range")}


def _is_place(index: Node, counters: set[str]) -> bool:
    """Whether an index is an integer: a literal or the counter of a loop."""
    literal = index.operand if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub) else index
    return type(getattr(literal, "value", None)) is int or getattr(index, "id", "") in counters


def _taken(item: str, reads: int, order: list[Node]) -> Kind | None:
    """The kind of an item that one statement takes apart, or of which only values by name are read."""
    apart = [node for node in order if _takes_apart(node) and node.value.id == item]
    if len(apart) == reads == 1:
        return Kind("tuple", None, tuple((place, UNKNOWN) for place, _ in enumerate(stores(apart[0]))))
    parts = [n for node in order for part in header(node) for n in inside(part, gast.Subscript)]
    named = [n for n in parts if getattr(n.value, "id", "") == item and isinstance(getattr(n.slice, "value", 0), str)]
    return Kind("dict") if named and len(named) == reads else None


def _takes_apart(node: Node) -> bool:
    """Whether a statement is `u, v = params`."""
    if not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Name):
        return False
    display = node.targets[0]
    return isinstance(display, gast.Tuple) and all(isinstance(n, gast.Name) for n in display.elts)
