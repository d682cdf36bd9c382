"""Loops: both halves in one where they only add up, and products that are the same in each trip before them.

Of a loop that only adds up, what a trip adds and its adjoints stand together, and nothing is recorded. Statements
change places by what they read, bind, and only add to.

    for i in reversed(range(n)):                 t_bar = y_bar * (c * w)
        x_bar[i] += y_bar * (c * w) * x[i]   =>  for i in reversed(range(n)):
                                                     x_bar[i] += t_bar * x[i]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Container
from dataclasses import field
from heapq import heappop, heappush

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.dtypes import note_integers
from srcgrad.core.control_flow import live_in
from srcgrad.core.facts import Facts, copy_with_facts, function_called
from srcgrad.core.identity import record
from srcgrad.core.source_text import BLOCKS, maker_of
from srcgrad.core.trees import (
    COMPOUND,
    NOTHING,
    Block,
    Node,
    adds_to,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    header,
    is_self_copy,
    loads,
    name,
    same_tree,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import LOOPS, places, replace
from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.program import Program, rebuilt
from srcgrad.derive.recording import backwards


def names_mentioned(node: Node) -> list[str]:
    """Names that a statement, and those inside it, read or bind."""
    return [one for each in statements([node]) for one in [*loads(each), *stores(each)]]


def mentions_in(block: Block) -> dict[str, list[int]]:
    """Where in the block each name is read or bound, nested statements included."""
    found: dict[str, list[int]] = {}
    for position, node in enumerate(block):
        for inner in () if node is None else statements([node]) if isinstance(node, COMPOUND) else [node]:
            for one in dict.fromkeys((*loads(inner), *stores(inner))):
                places = found.setdefault(one, [])
                if not places or places[-1] != position:
                    places.append(position)
    return found


@record(frozen=True)
class TouchedNames:
    """What statements, with those inside of them, read and bind: each is looked at once, until it is forgotten."""

    reads: dict[Node, set[str]] = field(default_factory=dict)
    binds: dict[Node, set[str]] = field(default_factory=dict)

    def loaded(self, *block: Node) -> set[str]:
        """The names that statements read."""
        for node in block:
            if node not in self.reads:
                self.reads[node] = {one for each in statements([node]) for one in loads(each)}
        return set[str]().union(*map(self.reads.__getitem__, block))

    def stored(self, *block: Node) -> set[str]:
        """The names that statements bind, or whose elements they change."""
        for node in block:
            if node not in self.binds:
                self.binds[node] = names_changed([node])
        return set[str]().union(*map(self.binds.__getitem__, block))

    def mentioned(self, node: Node) -> set[str]:
        """The names that a statement reads or binds."""
        return self.loaded(node) | self.stored(node)

    def forget(self, *block: Node) -> None:
        """Look at statements again, which have changed."""
        for node in block:
            self.reads.pop(node, None)
            self.binds.pop(node, None)


def only_added(held: str, block: Block, facts: Facts) -> bool:
    """Whether a block does nothing with an adjoint but add to it."""
    for node in statements(block):
        parts = [gast.Expr(part) for part in header(node)] if isinstance(node, COMPOUND) else [node]
        if any(held in names_mentioned(part) for part in parts) and not (
            adds_to(node, held, lambda call: function_called(call, facts) is runtime.add_at)
            and (target(node) is None or node in facts.tape.accumulates)
        ):
            return False
    return True


@record
class _Halves:
    """The statements of both halves by number, and where each name is read and bound, nested statements included.

    A statement keeps its number as long as it keeps its place, so that what is asked of those between two costs
    little. Those before `middle` are the forward half.
    """

    program: Program
    facts: Facts
    touched: TouchedNames = field(default_factory=TouchedNames)
    number: dict[Node, float] = field(default_factory=dict)
    at: dict[float, Node] = field(default_factory=dict)
    readers: dict[str, list[float]] = field(default_factory=dict)
    binders: dict[str, list[float]] = field(default_factory=dict)
    loops: dict[str, list[float]] = field(default_factory=dict)  # of the backward half, by what their headers spell
    adding: dict[tuple[Node, str], bool] = field(default_factory=dict)  # whether a statement only adds to a name

    def __post_init__(self) -> None:
        self.stacks = set(self.facts.tape.pushes.values())  # filled and emptied within a trip
        self.forward = list(self.program.forward)
        self.middle = len(self.forward) - 0.5
        whole = self.program.block
        self.last = len(whole) - 1.0
        for number, node in enumerate(whole):
            self.put(node, float(number))

    def put(self, node: Node, number: float) -> None:
        """Note a statement in its place."""
        self.number[node], self.at[number] = number, node
        for one in self.touched.loaded(node):
            insort(self.readers.setdefault(one, []), number)
        for one in self.touched.stored(node):
            insort(self.binders.setdefault(one, []), number)
        self._note_header(node)

    def _note_header(self, node: Node) -> None:
        for spelled in _headers(node) if self.number[node] > self.middle else ():
            insort(self.loops.setdefault(spelled, []), self.number[node])

    def take(self, node: Node) -> float:
        """Forget a statement, which may have changed, and its place, which is given."""
        number = self.number.pop(node)
        del self.at[number]
        for one in self.touched.loaded(node):
            self.readers[one].remove(number)
        for one in self.touched.stored(node):
            self.binders[one].remove(number)
        for spelled in _headers(node) if number > self.middle else ():
            self.loops[spelled].remove(number)
        self.touched.forget(node)
        return number

    def look_again(self, *block: Node) -> None:
        """Statements have changed, but not the headers of loops."""
        for node in block:
            if node in self.number:
                self.put(node, self.take(node))
        self.adding = {}

    def between(self, places: list[float] | None, low: float, high: float) -> Block:
        """The statements of these places between two places."""
        found = places or ()
        return [self.at[one] for one in found[bisect_right(found, low) : bisect_left(found, high)]]

    def touching(self, held: str, low: float, high: float) -> Block:
        """The statements between two places that read or bind a name, in order."""
        readers = self.between(self.readers.get(held), low, high)
        binders = self.between(self.binders.get(held), low, high)
        return sorted({*readers, *binders}, key=self.number.__getitem__)

    def backward_form(self, loop: Node) -> Node | None:
        """The first loop of the backward half that is the backward form of one of the forward half."""
        found = self.loops.get(_spelled(backwards(copy(loop.iter)), loop.target), [])[:1]
        if isinstance(loop.iter, gast.Name):
            places = self.loops.get(_spelled(backwards(expression("range(len(x))", x=copy(loop.iter)))), [])
            found += next(([one] for one in places if by_items(self.at[one], loop)), [])
        return self.at[min(found)] if found else None

    def join(self, loop: Node, back: Node, hoisted: Block, facts: Facts) -> None:
        """Let a loop and all behind it be of the backward half, for its backward loop, some statements before it."""
        start = self.number[loop]
        self.take(back)
        tail = self.forward[int(start) + 1 :]
        del self.forward[int(start) :]
        facts.origin.again_written.update(dict.fromkeys(statements([*loop.body, *tail])))
        order = sorted(dict.fromkeys(hoisted), key=lambda node: self.number.get(node, -1.0))
        for node in order:
            if node in self.number:
                self.take(node)
        self.take(loop)
        self.middle = start - 1.0 + 1.0 / (len(order) + 2)
        for node in tail:
            if node in self.number:  # not one that has been taken
                self._note_header(node)
        for place, node in enumerate(order):
            self.put(node, start - 1.0 + (place + 2) / (len(order) + 2))
        self.put(loop, start)

    def only_added(self, held: str, block: Block) -> bool:
        """Whether a block does nothing with an adjoint but add to it; each statement is looked at once."""
        for node in block:
            if (node, held) not in self.adding:
                self.adding[node, held] = only_added(held, [node], self.facts)
        return all(self.adding[node, held] for node in block)

    def settle(self) -> None:
        """Give the program the statements in their new order."""
        self.program.forward = [node for node in self.forward if node in self.number]
        behind = sorted(number for number in self.at if self.middle < number < self.last)
        self.program.backward = [self.at[number] for number in behind]


def is_live(held: str, block: Block) -> bool:
    """Whether some statements, those that mention a name, read it before they bind it."""
    for node in block:
        if held in live_in([node]):
            return True
        if held not in live_in([node, gast.Expr(name(held))]):
            return False
    return False


def _read(block: Block) -> list[str]:
    """Names that statements, and those inside of them, read."""
    return [one for node in statements(block) for one in loads(node)]


def _spelled(*parts: Node) -> str:
    return " ".join(gast.dump(part) for part in parts)


def _headers(node: Node) -> list[str]:
    """What the header of a loop over a call spells, its target aside and with it."""
    called = isinstance(node, gast.For) and isinstance(node.iter, gast.Call)
    return [_spelled(node.iter), _spelled(node.iter, node.target)] if called else []


def names_changed(block: Block) -> set[str]:
    """Names that a block binds, or whose contents it changes."""
    return {s for node in statements(block) for s in stores(node)}


def is_backward_form(node: Node, loop: Node) -> bool:
    """Whether a loop is the backward form of another."""
    if (
        not isinstance(node, gast.For)
        or not same_tree(node.target, loop.target)
        or not isinstance(node.iter, gast.Call)
    ):
        return False
    return same_tree(node.iter, backwards(copy(loop.iter)))


def only_adds(loop: Node, halves: _Halves, facts: Facts) -> bool:
    """Whether a loop of the user's does nothing but add up: it is not left early, nor its counter read behind."""
    inner = statements(loop.body)
    left = any(isinstance(node, gast.Break | gast.Continue | gast.Return | gast.While) for node in inner)
    places = [number for one in stores(loop) for number in halves.readers.get(one, ())]
    counted = any(not isinstance(halves.at[number], gast.For) for number in places)
    kept = any(node in facts.tape.pushes for one in inner if isinstance(one, gast.If) for node in statements([one]))
    return not left and not counted and not kept and not any(node in facts.resolution.effects for node in inner)


def kept_by(loop: Node, back: Node, forward: Block, facts: Facts) -> dict[Node, None] | None:
    """What keeps values of a trip at its end, and brings them back; None if the loop keeps others as well.

    A block puts on its stacks what it takes from them itself: what it writes over may stay there.
    """
    blocks = _has_blocks(facts)
    stacks = [facts.tape.pushes[node] for node in loop.body if node in facts.tape.pushes]
    gone: dict[Node, None] = {}
    for node in loop.body:
        kept = facts.tape.pushes.get(node)
        if kept is None:
            continue
        pops = [one for one in back.body if facts.tape.restores.get(one) == kept]
        value = node.value.args[0] if isinstance(node, gast.Expr) else None
        copied = _copied(value) if blocks else None
        value = value if copied is None else copied
        if len(pops) != 1 or stacks.count(kept) != 1 or not isinstance(value, gast.Name):
            if blocks:
                continue
            return None
        behind = [*loop.body[loop.body.index(node) :], *back.body[: back.body.index(pops[0])]]
        inside = statements(behind)
        others = [one for one in inside if one not in facts.tape.pushes and one not in facts.tape.restores]
        changed = copied is not None and any(written_names(one) for one in others)
        if target(pops[0]) != value.id or any(value.id in stores(one) for one in inside):
            return None
        if changed:
            return None
        gone.update({node: None, pops[0]: None})
    emptied = {facts.tape.pushes[node] for node in gone if node in facts.tape.pushes}
    if emptied:
        gone.update({node: None for node in forward if facts.tape.pushes.get(node) in emptied})
    gone.update({node: None for node in back.body if target(node) and getattr(node.value, "id", "") == target(node)})
    return gone


def _copied(value: Node | None) -> Node | None:
    """`h` of `h.copy()`, as what is written into is kept."""
    called = value.func if isinstance(value, gast.Call) and not value.args else None
    return called.value if isinstance(called, gast.Attribute) and called.attr == "copy" else None


def by_items(node: Node, loop: Node) -> bool:
    """Whether a loop is the backward form of one over the items of a name: it counts, and takes each by its place."""
    plain = isinstance(loop.iter, gast.Name) and isinstance(loop.target, gast.Name)
    if (
        not plain
        or not isinstance(node, gast.For)
        or not isinstance(node.target, gast.Name)
        or _item(loop, node) is None
    ):
        return False
    length = expression("range(len(x))", x=copy(loop.iter))
    return isinstance(node.iter, gast.Call) and same_tree(node.iter, backwards(length))


def _item(loop: Node, back: Node) -> Node | None:
    """The statement `v = items[i]` of a backward loop."""
    for node in back.body:
        value = getattr(node, "value", None)
        if target(node) == loop.target.id and isinstance(value, gast.Subscript):
            taken = getattr(value.value, "id", "") == loop.iter.id and getattr(value.slice, "id", "") == back.target.id
            return node if taken else None
    return None


def count_items(loop: Node, back: Node) -> None:
    """Let a loop over items count them as its backward form does, if that reads the counter for more than the items."""
    item = _item(loop, back)
    assert item is not None, "by_items has found it"
    back.body = [node for node in back.body if node is not item]
    if any(one.id == back.target.id for node in back.body for one in find_nodes(node, gast.Name)):
        loop.iter = expression("range(len(x))", x=loop.iter)
        loop.target = copy(back.target)
        loop.body = [copy(item), *loop.body]


def loop_fusion(program: Program, facts: Facts) -> Program:
    """Run the backward half of each trip right behind its forward half, where no trip needs anything of another.

    The adjoints that come from outside must be known before the loop. Where they are not, and in a pullback, a loop
    over blocks of rows makes each block again in its backward loop; others keep what they have recorded.

    >>> import numpy as np, srcgrad
    >>> def loss(w, x):
    ...     return np.sum(np.sin(x @ w))
    >>> gradient = srcgrad.grad(srcgrad.blocked(loss, over="x", rows=64))
    >>> gradient(np.zeros(2), np.ones((3, 2)))
    array([3., 3.])
    >>> print(gradient.source[gradient.source.index("    w_bar") :])
        w_bar = np.zeros_like(w)
        for first in range(0, stop, 64):
            x_rows = x[first : first + 64]
            # line 12: total += np.sum(np.sin(x_rows @ w))
            w_bar += x_rows.T @ (total_bar * np.cos(x_rows @ w))
        return w_bar
    <BLANKLINE>
    """
    if (
        facts.request.called
        or facts.pushes_forward
        or not (_has_blocks(facts) or facts.request.mode in ("reverse", "value-and-grad"))
    ):
        return program
    loops = [node for node in reversed(program.forward) if isinstance(node, gast.For)]
    halves = _Halves(program, facts) if loops else None
    for loop in loops:
        assert halves is not None, "there are loops"
        back = halves.backward_form(loop)
        if back is None:
            continue
        whole = dict(loop.__dict__), back.body
        if _fuse(loop, back, halves, facts):
            facts.activity.left_over = True
        else:
            loop.__dict__.update(whole[0])
            back.body = whole[1]
        halves.look_again(loop, back)
    if halves is not None:
        halves.settle()
    return program


def _has_blocks(facts: Facts) -> bool:
    """Whether a function takes rows by blocks: of a text of ours, or as it is asked for."""
    return maker_of(facts.source.file) == BLOCKS or facts.module.blocks is not None


def _fuse(loop: Node, back: Node, halves: _Halves, facts: Facts) -> bool:
    """Make one loop of two, if trips are independent; a loop of the user's only where no trip is run twice for it."""
    blocks = _has_blocks(facts)
    if not is_backward_form(back, loop):
        count_items(loop, back)
    if blocks:
        _drop_self_copies(back.body)
    records = kept_by(loop, back, halves.forward, facts)
    if records is None or not (blocks or only_adds(loop, halves, facts)):
        return False
    pair = _Pair(loop, back, halves, facts)
    if not pair.independent(records):
        return False
    loop.body = [node for node in loop.body if node not in records]
    back.body = [node for node in back.body if node not in records]
    if facts.request.mode == "vjp" or not pair.join_bodies():
        if not blocks:
            return False
        for node in records:
            if node in halves.number:
                halves.take(node)
        pair.repeat_blocks()
    pair.shared()
    return True


def _drop_self_copies(block: Block) -> None:
    """Leave out `s_bar = s_bar` in the statements that a block holds."""
    for node in [one for one in statements(block) if isinstance(one, COMPOUND)]:
        node.body = [one for one in node.body if not is_self_copy(one)] or [gast.Pass()]


@record
class _Pair:
    """The two loops, and the program that they are part of."""

    loop: Node
    back: Node
    halves: _Halves
    facts: Facts

    def __post_init__(self) -> None:
        self.start, self.until = self.halves.number[self.loop], self.halves.number[self.back]
        self.stacks = self.halves.stacks
        within = statements(self.loop.body) if _has_blocks(self.facts) else self.loop.body
        touching: dict[str, Block] = {}
        for node in within:
            for one in dict.fromkeys((*loads(node), *stores(node))):
                touching.setdefault(one, []).append(node)
        bound = dict.fromkeys(held for node in within if (held := target(node)) is not None)
        self.totals = {held: None for held in bound if all(self._adds(node, held) for node in touching[held])}

    def _adds(self, node: Node, held: str) -> bool:
        """Whether a statement adds to a name, and does nothing else with it."""
        value: Node = getattr(node, "value", node)
        blocks = _has_blocks(self.facts)
        if blocks and target(node) == held and function_called(value, self.facts) is np.maximum:
            return getattr(value.args[0], "id", "") == held and held not in loads(value.args[1])
        return (
            target(node) == held and adds_to(node, held, lambda _: False) and (blocks or isinstance(value.op, gast.Add))
        )

    def independent(self, records: dict[Node, None]) -> bool:
        """Whether a trip needs nothing of another, and what it reads from outside stays until it runs again."""
        body = [node for node in self.loop.body if node not in records]
        bound, live = names_changed(body) - self.stacks, live_in(body)
        outer = {*live}.difference(self.totals, self.stacks)
        if outer & bound or any(self._found(self.halves.binders, one, self.until) for one in outer):
            return False
        if any(self._found(self.halves.readers, one, self.halves.last) for one in bound.difference(self.totals)):
            return False
        if any(one in self.totals for node in statements(self.back.body) for one in loads(node)):
            return False
        own = bound - set(live) if _has_blocks(self.facts) else set[str]()  # of rows it has been proved
        return all(own.issuperset(written_names(one)) for one in statements(body) if one not in self.facts.tape.pushes)

    def _found(self, places: dict[str, list[float]], held: str, until: float, apart: Container[Node] = ()) -> Block:
        """The statements behind the forward loop that read, or bind, a name; neither those apart nor the other loop."""
        found = self.halves.between(places.get(held), self.start, until)
        return [node for node in found if node not in apart and node is not self.back]

    def join_bodies(self) -> bool:
        """Put the backward body behind the forward body, in the place of the forward loop, if that is possible."""
        self._number_totals()
        whole = [*self.loop.body, *self.back.body]
        changed = names_changed(self.back.body)
        live = live_in([gast.For(self.loop.target, self.loop.iter, whole, [], None)])
        added = [one for one in live if one in changed and one not in self.stacks]
        starts = [self._start(held) for held in added]
        first = [one for one in starts if one is not None]
        made = names_changed([self.loop])
        moved = self._needed_statements([one for one in live if one not in added], made)
        if moved is None or None in starts:
            return False
        wanted = [one for one in live if one not in self.totals]
        if any(self._is_made(one, made, moved) for one in [*wanted, *_read([*first, *moved])]):
            return False
        apart = dict.fromkeys([*first, *moved])
        kept = {*live}.union(*map(self.halves.touched.stored, moved))
        for one in self._clashes(changed, apart):
            if one not in added and (one in kept or one not in changed or self._is_read_later(one, apart)):
                return False
        if any(self._met(one, self.halves.number[one], apart) for one in moved):
            return False
        for held, start in zip(added, first, strict=True):
            self._add_behind(held, start)
        self.halves.join(self.loop, self.back, [*first, *moved], self.facts)
        self.loop.body = whole
        return True

    def _is_made(self, held: str, made: set[str], moved: dict[Node, None]) -> bool:
        """Whether the forward loop, which has `made` names, or a statement that stays behind it, binds a name."""
        if held in self.stacks:
            return False
        return held in made or bool(self._found(self.halves.binders, held, self.halves.middle, moved))

    def _clashes(self, changed: set[str], apart: dict[Node, None]) -> list[str]:
        """Names for which the body of the backward loop cannot pass what stands between the loops."""
        binders, readers = self.halves.binders, self.halves.readers
        found = [one for one in changed if self._found(readers, one, self.until, apart)]
        bound = dict.fromkeys([*changed, *_read(self.back.body)])
        return found + [one for one in bound if self._found(binders, one, self.until, apart)]

    def _is_read_later(self, held: str, apart: dict[Node, None]) -> bool:
        """Whether a name is read behind the loop, or behind the backward loop, before it is bound."""
        rest = [node for node in self.halves.touching(held, self.start, self.until) if node not in apart]
        return is_live(held, rest) or is_live(held, self.halves.touching(held, self.until, self.halves.last + 1.0))

    def _met(self, node: Node, until: float, apart: dict[Node, None]) -> bool:
        """Whether a statement cannot pass one that stands between the loop and it."""
        binders, readers = self.halves.binders, self.halves.readers
        stored, loaded = self.halves.touched.stored(node), self.halves.touched.loaded(node)
        if any(self._found(readers, one, until, apart) for one in stored):
            return True
        return any(self._found(binders, one, until, apart) for one in stored | loaded)

    def _number_totals(self) -> None:
        """`sum_to(y_bar, s)` for a number s needs no s: `np.sum(y_bar)`."""
        places = {one for held in self.totals for one in self.halves.readers.get(held, ())}
        reading = [self.halves.at[one] for one in sorted(places) if self.halves.middle < one < self.until]
        for node in [n for one in statements(reading) for n in walk(one)]:
            if function_called(node, self.facts) is runtime.sum_to:
                held = getattr(node.args[1], "id", "")
                spec = self.facts.values.value_spec.get(held)
                if held in self.totals and spec is not None and spec.scalar:
                    node.func, node.args = expression(f"{self.facts.library('np')}.sum"), node.args[:1]
                    self.facts.activity.left_over = True
        self.halves.look_again(*reading)

    def _start(self, held: str) -> Node | None:
        """The zeros with which an adjoint starts that the loop adds to; None if something else is done with it."""
        if not only_added(held, self.back.body, self.facts):
            return None
        touching = self.halves.touching(held, self.halves.middle, self.until)
        if not touching or not self.halves.only_added(held, touching[1:]):
            return None
        if touching[0] in self.facts.tape.zeros:
            return touching[0]
        first, primal = touching[0], self.facts.names.adjoint_of.get(held, "")
        if target(first) != held or held in loads(first) or primal not in self.facts.values.value_spec:
            return None
        return Adjoints(self.facts).zeros(primal, self.facts.values.value_spec[primal], first, bound=True)

    def _add_behind(self, held: str, start: Node) -> None:
        """What an adjoint began with is added behind the loop."""
        first = next(iter(self.halves.touching(held, self.halves.middle, self.until)), start)
        if first is not start:
            first.value = gast.BinOp(name(held), gast.Add(), first.value)
            self.halves.look_again(first)
            self.facts.tape.accumulates[first] = None

    def _needed_statements(self, wanted: list[str], made: set[str]) -> dict[Node, None] | None:
        """Statements behind the forward loop without which that of both halves cannot begin; None if it cannot at all.

        Only what goes through blocks takes some of the forward half along.
        """
        halves, blocks = self.halves, _has_blocks(self.facts)
        low = self.start if blocks else halves.middle
        found: dict[Node, None] = {}
        todo: list[float] = []  # negative, so that the last comes first
        needed, until = {*wanted}, self.until
        fresh = list(needed)
        while True:
            for one in fresh:
                for node in halves.between(halves.binders.get(one), low, until):
                    heappush(todo, -halves.number[node])
            while todo and halves.at[-todo[0]] in found:
                heappop(todo)
            if not todo:
                return dict(reversed(found.items()))
            until = -heappop(todo)
            node = halves.at[until]
            fresh = []
            if node not in self.facts.resolution.effects:
                found[node] = None
                read = halves.touched.loaded(node)
                if not blocks and any(self._is_made(one, made, found) for one in read):
                    return None
                fresh = [one for one in read if one not in needed]
                needed |= read

    def repeat_blocks(self) -> None:
        """Let the backward loop make each block again."""
        totals = {node: None for node in self.loop.body if target(node) in self.totals}
        again = [copy(node) for node in self.loop.body if node not in totals]
        own = [one for one in names_changed(self.loop.body) if one in self.facts.names.temporaries]
        renamed = {one: self.facts.names.new_temporary() for one in sorted(own)}
        for item in [n for node in [*again, *self.back.body] for n in find_nodes(node, gast.Name)]:
            item.id = renamed.get(item.id, item.id)
        self.facts.origin.again_written.update(dict.fromkeys(statements(again)))
        for old, new in zip(statements([n for n in self.loop.body if n not in totals]), statements(again), strict=True):
            if old in self.facts.origin.user:
                self.facts.origin.user[new] = self.facts.origin.user[old]
            if old in self.facts.tape.pushes:
                self.facts.tape.pushes[new] = self.facts.tape.pushes[old]
        keep = {node: None for node in statements([self.loop]) if node not in self.facts.tape.pushes}
        rebuilt([self.loop], keep)
        added = {node for node in statements(again) if target(node) in self.totals}  # in loops that a block has
        again = rebuilt(again, {node: None for node in statements(again) if node not in added})
        self.back.body = [*again, *self.back.body]
        self.loop = self.back

    def shared(self) -> None:
        """What the backward part of the loop computes as the forward part did is computed once."""
        seen: dict[str, Node] = {}
        renamed: dict[str, str] = {}
        kept: Block = []
        bound = Counter(s for node in statements(self.loop.body) for s in stores(node))
        for node in self.loop.body:
            for item in [n for one in statements([node]) for part in header(one) for n in walk(part)]:
                if isinstance(item, gast.Name) and item.id in renamed:
                    item.id = renamed[item.id]
            own = target(node)
            if self._is_restated(node, bound):
                continue
            if own is None or bound[own] != 1 or isinstance(node.value, gast.Name | gast.Constant):
                kept.append(node)
                continue
            spelled = gast.unparse(node.value)
            earlier = seen.get(spelled)
            if earlier is None or own not in self.facts.names.temporaries or own in self.facts.memory.mutable:
                fixed = [*loads(node), own]
                once = all(bound[one] <= 1 and one not in self.facts.memory.mutable for one in fixed)
                if once and node in self.facts.origin.again_written:
                    seen[spelled] = node
                kept.append(node)
            else:
                renamed[own] = str(target(earlier))
        self.loop.body = kept

    def _is_restated(self, node: Node, bound: Counter[str]) -> bool:
        """Whether the forward part has bound a name to this very expression, and nothing of it has changed."""
        own, again = target(node), self.facts.origin.again_written
        if own is None or node in again or bound[own] != 2 or own in self.facts.memory.mutable:
            return False
        first = next(one for one in statements(self.loop.body) if own in stores(one))
        steady = all(bound[one] == 0 and one not in self.facts.memory.mutable for one in loads(node))
        return steady and first in self.loop.body and first in again and same_tree(first, node)


def loop_invariants(program: Program, facts: Facts) -> Program:
    """Bind what no trip changes before the loop: products, sums and differences, which are as good if no trip is run.

    A quotient stays: it may divide by the number of trips. So does what reads an array that some trip may change.
    """
    if facts.module is None or facts.module.inline:
        return program
    made: dict[str, list[Node]] = {}
    outermost = set(program.block)
    for node in statements(program.block):
        for one in stores(node):
            made.setdefault(one, []).append(node if node in outermost else NOTHING)
    for place in [place for place in places(program.backward) if isinstance(place.node, LOOPS)]:
        where = place.block.index(place.node)
        place.block[where:where] = _invariant_statements(place.node, made, facts)
    return program


def _invariant_statements(loop: Node, made: dict[str, list[Node]], facts: Facts) -> Block:
    """The statements that bind the invariants of a loop; in the loop their names stand for them."""
    inside = list(statements([loop]))
    changed = {one for node in inside for one in (*stores(node), *written_names(node))}
    before: Block = []
    held: dict[str, str] = {}
    for node in _always(loop.body):
        if node in facts.tape.pushes or node in facts.tape.restores or node in facts.origin.again_written:
            continue
        for part in header(node):
            for value in _invariants(part, changed, made, facts, isinstance(node, gast.AugAssign)):
                spelled = gast.unparse(gast.fix_missing_locations(value))
                if spelled not in held:
                    held[spelled] = facts.names.new_temporary()
                    note_integers(held[spelled], value, facts)
                    before.append(at(assign(held[spelled], copy_with_facts(value, facts)), node))
                replace(node, value, name(held[spelled]))
    return before


def _always(block: Block) -> Block:
    """Statements of a loop's body that each trip runs: not those of branches, of which no trip may take one."""
    found: Block = []
    for node in block:
        if isinstance(node, gast.For | gast.While):
            found += _always(node.body)
        elif not isinstance(node, COMPOUND):
            found.append(node)
    return found


def _invariants(part: Node, changed: set[str], made: dict[str, list[Node]], facts: Facts, combined: bool) -> list[Node]:
    """The largest parts of an expression that are arithmetic of steady names.

    They are `combined` with what changes: a name that were bound to one of them might be changed in place.
    """
    if _is_invariant(part, changed, made, facts):
        return [part] if combined and isinstance(part, gast.BinOp) and _is_worth_it(part, facts) else []
    combined = combined or isinstance(part, gast.BinOp)
    if isinstance(part, gast.Lambda):
        return []
    below = [child for child in gast.iter_child_nodes(part) if isinstance(child, gast.expr | gast.keyword)]
    return [found for child in below for found in _invariants(child, changed, made, facts, combined)]


def _is_worth_it(value: Node, facts: Facts) -> bool:
    """Whether an expression reads what may be an array, or an adjoint: `0.5 * h` of a number stays where it is."""
    read = [n.id for n in find_nodes(value, gast.Name)]
    numbers = [one for one in read if (spec := facts.values.value_spec.get(one)) is not None and spec.scalar]
    if len(read) == 1 and read[0] in facts.names.seeds:
        return False
    return len(numbers) < len(read) or any(one in facts.names.adjoint_of or one in facts.names.seeds for one in read)


def _is_invariant(node: Node, changed: set[str], made: dict[str, list[Node]], facts: Facts) -> bool:
    if isinstance(node, gast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, gast.Name):
        return isinstance(node.ctx, gast.Load) and node.id not in changed and _is_steady(node.id, made, facts)
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub) and _is_invariant(node.operand, changed, made, facts)
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub | gast.Mult):
        return all(_is_invariant(side, changed, made, facts) for side in (node.left, node.right))
    return False


def _is_steady(one: str, made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether no other name shows the elements of what a name holds: it is an argument, or came out of arithmetic.

    Where a branch or a loop binds it, it need not be bound.
    """
    if (
        one in facts.memory.mutable
        or one in facts.memory.viewed
        or one in facts.memory.swapped
        or one in facts.kinds.containers
    ):
        return False
    if one in facts.memory.elements or facts.list_kind(one):
        return False
    bound = made.get(one, [])
    return len(bound) <= 1 and all(isinstance(getattr(n, "value", None), gast.BinOp | gast.Constant) for n in bound)
