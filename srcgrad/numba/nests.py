"""Loops over elements: where the next one goes, so that what is over the same elements is one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gast

from srcgrad.trees import Node, walk

Access = tuple[str, str]  # an array, and its index as text; an empty one for a number


@dataclass
class Step:
    """What is done for each element: `x[i, j] = e`, `s[i] += e`. Indices are names of places: see `counter`."""

    node: Node
    space: tuple[str, ...]  # the lengths of the loops around it, outermost first
    writes: Access
    reads: tuple[Access, ...]


@dataclass
class Loop:
    """A loop over an axis, of others and of steps."""

    axis: str
    depth: int
    body: list[Item] = field(default_factory=list)


@dataclass
class Plain:
    """A statement that stays as it is, or the beginning of a sum; it touches these names."""

    node: Node
    reads: frozenset[str]
    writes: frozenset[str]


Item = Loop | Step | Plain
Shown = Callable[[str], frozenset[str]]  # the names that may show elements of one array with a name


def counter(depth: int) -> str:
    """The name of a counter before it has one."""
    return f"<{depth}>"


def accesses(node: Node) -> tuple[Access, ...]:
    """The arrays, at which index, and the numbers that an element reads."""
    found: list[Access] = []
    todo = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, gast.Subscript) and isinstance(item.value, gast.Name):
            found.append((item.value.id, gast.unparse(item.slice)))
            todo.append(item.slice)
        elif isinstance(item, gast.Name):
            found.append((item.id, ""))
        else:
            todo += [child for child in gast.iter_child_nodes(item) if isinstance(child, gast.expr)]
    return tuple(dict.fromkeys(found))


def steps(item: Item) -> Iterator[Step | Plain]:
    """What an item does, in order."""
    if isinstance(item, Loop):
        for inner in item.body:
            yield from steps(inner)
    else:
        yield item


def touched(item: Item) -> tuple[set[str], set[str]]:
    """The names that an item reads, and those that it writes."""
    reads: set[str] = set()
    writes: set[str] = set()
    for one in steps(item):
        if isinstance(one, Plain):
            reads |= one.reads
            writes |= one.writes
        else:
            reads |= {held for held, _ in one.reads}
            writes.add(one.writes[0])
    return reads, writes


def meets(item: Item, step: Step, shown: Shown) -> bool:
    """Whether a step must not change places with an item."""
    reads, writes = touched(item)
    own, wanted = shown(step.writes[0]), {other for held, _ in step.reads for other in shown(held)}
    return bool(own & (reads | writes) or wanted & writes)


def takes(loop: Loop, step: Step, shown: Shown) -> bool:
    """Whether a step may run in the trips of a loop: what both touch, and one writes, is at the element of the trip."""
    mark = counter(loop.depth)
    mine = (step.writes, *step.reads)
    for one in steps(loop):
        assert isinstance(one, Step), "loops hold steps alone"
        theirs = (one.writes, *one.reads)
        for held, index in mine:
            for other, place in theirs:
                writes = (held, index) == step.writes or (other, place) == one.writes
                if writes and other in shown(held) and not _is_same(held, index, other, place, mark):
                    return False
    return True


def _is_same(held: str, index: str, other: str, place: str, mark: str) -> bool:
    """Whether two accesses of one array have the counter at the same axis."""
    one, two = index.strip("()").split(", "), place.strip("()").split(", ")
    return held == other and len(one) == len(two) and any(a == b == mark for a, b in zip(one, two, strict=True))


def put(items: list[Item], step: Step, depth: int, shown: Shown) -> list[list[Item]]:
    """Put a step into the last loop that may take it, or behind all items; the bodies on the way, outermost first."""
    if depth == len(step.space):
        items.insert(_ahead(items, step, shown) if depth else len(items), step)
        return [items]
    for item in reversed(items):
        fits = isinstance(item, Loop) and item.axis == step.space[depth] and item.depth == depth
        if fits and isinstance(item, Loop) and takes(item, step, shown):
            return [items, *put(item.body, step, depth + 1, shown)]
        if meets(item, step, shown):
            break
    made = Loop(step.space[depth], depth)
    items.append(made)
    return [items, *put(made.body, step, depth + 1, shown)]


def _ahead(items: list[Item], step: Step, shown: Shown) -> int:
    """The place of a step in a body: in front of loops that it has nothing to do with, so that others may be joined."""
    place = found = len(items)
    while place and not meets(items[place - 1], step, shown):
        place -= 1
        found = place if isinstance(items[place], Loop) else found
    return found


def named(node: Node) -> set[str]:
    """All names in an expression."""
    return {item.id for item in walk(node) if isinstance(item, gast.Name)}
