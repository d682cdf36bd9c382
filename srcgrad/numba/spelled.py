"""Loops over elements as text: arrays that one trip makes and reads are numbers, long sums are sums of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts
from srcgrad.numba.axes import Axes, Lengths
from srcgrad.numba.nests import Item, Loop, Plain, Step, counter
from srcgrad.trees import (
    Block,
    Node,
    assign,
    at,
    constant,
    expression,
    name,
    statement,
    substitute,
    target,
    walk,
)

LETTERS = "ijlpqrstuvw"
PART = 4096  # elements of a part of a long sum: NumPy adds up in pairs, which loses as little


@dataclass
class Nests:
    """The statements of a text, in order, and what is known of the arrays and sums among them."""

    items: list[Item] = field(default_factory=list)
    made: dict[str, Axes] = field(default_factory=dict)  # arrays that loops fill; without axes where they add up
    totals: dict[str, None] = field(default_factory=dict)  # sums of all elements of one axis
    sums: dict[str, Step] = field(default_factory=dict)  # arrays of sums of rows -> where such a sum begins
    narrow: dict[str, Callable[[Node], Node]] = field(default_factory=dict)  # ... of float32: how one becomes that
    checks: bool = False  # whether lengths are looked at
    lengths: Lengths = field(default_factory=Lengths)


def contracted(nests: Nests, result: Node) -> None:
    """Let arrays be numbers where each trip of a loop reads only what it has made."""
    for held in list(nests.made):
        if nests.made[held]:
            _contract(held, nests, result)


def spelled(nests: Nests, fresh: Callable[[str], str], facts: Facts) -> Block:
    """The statements with loops."""
    for held, begin in nests.sums.items():
        if held in nests.made or held in nests.narrow:
            _gather(held, begin, nests, fresh)
    names = _counters(nests.items, facts)
    made: Block = []
    for item in nests.items:
        made += _block(item, names, nests, fresh)
    return made


def _counters(items: list[Item], facts: Facts) -> dict[str, str]:
    """The names of counters, by depth."""
    deepest = max((len(path) for _, path, _ in places(items, ())), default=1)
    free = [one for one in LETTERS if one not in facts.names.taken and one not in facts.local]
    letters = [free[k] if k < len(free) else facts.names.fresh("i") for k in range(deepest)]
    return {counter(depth): one for depth, one in enumerate(letters)}


Bodies = tuple[int, ...]  # the bodies around a step, by identity


def places(items: list[Item], above: Bodies) -> Iterator[tuple[Step | Plain, Bodies, int]]:
    """Every step, the bodies around it, and its place in the last one."""
    for place, item in enumerate(items):
        if isinstance(item, Loop):
            yield from places(item.body, (*above, id(items)))
        else:
            yield item, (*above, id(items)), place


def _contract(held: str, nests: Nests, result: Node) -> None:
    """Let an array be a number, if each trip of a loop reads only what it has made."""
    uses = []
    begin: Plain | None = None
    for one, bodies, place in places(nests.items, ()):
        if isinstance(one, Plain):
            if target(one.node) == held and begin is None:
                begin = one
            elif held in one.reads | one.writes:
                return
        else:
            every = {index for other, index in (one.writes, *one.reads) if other == held}
            uses += [(index, bodies, place) for index in every]
    if begin is None or not uses or any(isinstance(n, gast.Name) and n.id == held for n in walk(result)):
        return
    index, home, _ = uses[0]
    if len(home) == 1 or any(other != index or bodies[: len(home)] != home for other, bodies, _ in uses):
        return
    for one, _, _ in places(nests.items, ()):
        if isinstance(one, Step) and held in {one.writes[0], *(other for other, _ in one.reads)}:
            _numbered(one.node, held)
    nests.items.remove(begin)
    del nests.made[held]


def _numbered(node: Node, held: str) -> None:
    """`x` for `x[i, j]`."""
    for item in list(walk(node)):
        for key, child in gast.iter_fields(item):
            parts = child if isinstance(child, list) else [child]
            for k, one in enumerate(parts):
                if isinstance(one, gast.Subscript) and isinstance(one.value, gast.Name) and one.value.id == held:
                    plain = name(held, one.ctx)
                    if isinstance(child, list):
                        child[k] = plain
                    else:
                        setattr(item, key, plain)


def _gather(held: str, begin: Step, nests: Nests, fresh: Callable[[str], str]) -> None:
    """Sums of rows in a number, which is stored behind the loop over the row."""
    for body in _bodies(nests.items):
        if begin not in body:
            continue
        part = fresh("t")
        place = body.index(begin)
        loop = next(k for k in range(place + 1, len(body)) if _fills(body[k], held))
        value = name(part) if held in nests.made else nests.narrow[held](name(part))
        stored = gast.Assign([begin.node.targets[0]], value, None)
        body.insert(loop + 1, Step(at(stored, begin.node), (), begin.writes, ((part, ""),)))
        for one, _, _ in places([body[loop]], ()):
            if isinstance(one, Step) and one.writes == begin.writes:
                _replace(one, held, part)
        begin.node = at(assign(part, begin.node.value), begin.node)
        return


def _replace(step: Step, held: str, part: str) -> None:
    _numbered(step.node, held)
    step.node = at(_renamed(step.node, held, part), step.node)


def _renamed(node: Node, held: str, other: str) -> Node:
    for item in walk(node):
        if isinstance(item, gast.Name) and item.id == held:
            item.id = other
    return node


def _fills(item: Item, held: str) -> bool:
    return isinstance(item, Loop) and any(
        isinstance(one, Step) and one.writes[0] == held for one, _, _ in places([item], ())
    )


def _bodies(items: list[Item]) -> Iterator[list[Item]]:
    yield items
    for item in items:
        if isinstance(item, Loop):
            yield from _bodies(item.body)


def _block(item: Item, names: dict[str, str], nests: Nests, fresh: Callable[[str], str]) -> Block:
    """An item as statements."""
    if isinstance(item, Plain):
        return [item.node]
    if isinstance(item, Step):
        return [at(substitute(item.node, {one: name(other) for one, other in names.items()}), item.node)]
    totals = [one for one in item.body if isinstance(one, Step) and one.writes[0] in nests.totals and not one.writes[1]]
    length = nests.lengths.node(item.axis)
    if not totals or item.depth or any(isinstance(one, Loop) for one in item.body):
        return [_loop(item, expression("range(n)", n=length), names, nests, fresh)]
    before: Block = []
    behind: Block = []
    for step in totals:
        held, part = step.writes[0], fresh("t")
        before.append(at(assign(part, constant(0.0)), step.node))
        behind.append(at(gast.AugAssign(name(held, gast.Store()), gast.Add(), name(part)), step.node))
        step.node.target = name(part, gast.Store())
    start = fresh("start")
    part_of = expression(f"range({start}, min({start} + {PART}, n))", n=length)
    inner = _loop(item, part_of, names, nests, fresh)
    outer = at(statement(f"for {start} in range(0, n, {PART}):\n    pass", n=length), inner)
    outer.body = [*before, inner, *behind]
    return [outer]


def _loop(loop: Loop, over: Node, names: dict[str, str], nests: Nests, fresh: Callable[[str], str]) -> Node:
    body = [made for item in loop.body for made in _block(item, names, nests, fresh)]
    made = statement(f"for {names[counter(loop.depth)]} in x:\n    pass", x=over)
    made.body = body
    return at(made, body[0])
