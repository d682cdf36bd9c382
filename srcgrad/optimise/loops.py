"""Loops: both halves in one where they only add up, and products that are the same in each trip before them.

Of a loop that only adds up, what a trip adds and its adjoints stand together, and nothing is recorded. Statements
change places by what they read, bind, and only add to.

    for i in reversed(range(n)):                 t_bar = y_bar * (c * w)
        x_bar[i] += y_bar * (c * w) * x[i]   =>  for i in reversed(range(n)):
                                                     x_bar[i] += t_bar * x[i]
"""

from __future__ import annotations

from dataclasses import field

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


def can_change_places(one: Block, two: Block, but: set[str], touched: TouchedNames) -> bool:
    """Whether statements may change places: neither binds what the other reads or binds, the names in `but` aside.

    These are adjoints to which both add, in whatever order, and names that each binds for itself.
    """
    made = [touched.stored(*block) - but for block in (one, two)]
    read = [touched.loaded(*block) - but for block in (one, two)]
    return not (made[0] & (made[1] | read[1]) or made[1] & read[0])


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


def only_adds(loop: Node, program: Program, facts: Facts, touched: TouchedNames) -> bool:
    """Whether a loop of the user's does nothing but add up: it is not left early, nor its counter read behind."""
    inner = statements(loop.body)
    left = any(isinstance(node, gast.Break | gast.Continue | gast.Return | gast.While) for node in inner)
    outside = [node for node in [*program.forward, *program.backward, program.result] if not isinstance(node, gast.For)]
    counted = touched.loaded(*outside) & set(stores(loop))
    kept = any(node in facts.tape.pushes for one in inner if isinstance(one, gast.If) for node in statements([one]))
    return not left and not counted and not kept and not any(node in facts.resolution.effects for node in inner)


def kept_by(loop: Node, back: Node, program: Program, facts: Facts) -> dict[Node, None] | None:
    """What keeps values of a trip at its end, and brings them back; None if the loop keeps others as well.

    A block puts on its stacks what it takes from them itself: what it writes over may stay there.
    """
    blocks = _has_blocks(facts)
    stacks = [facts.tape.pushes[node] for node in loop.body if node in facts.tape.pushes]
    gone: dict[Node, None] = {}
    known = {*facts.tape.pushes, *facts.tape.restores}
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
        changed = {held for one in statements(behind) if one not in known for held in written_names(one)}
        if target(pops[0]) != value.id or any(value.id in stores(one) for one in statements(behind)):
            return None
        if copied is not None and changed:
            return None
        gone.update({node: None, pops[0]: None})
    emptied = {facts.tape.pushes[node] for node in gone if node in facts.tape.pushes}
    gone.update({node: None for node in program.forward if facts.tape.pushes.get(node) in emptied})
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
    touched = TouchedNames()
    for loop in [node for node in reversed(program.forward) if isinstance(node, gast.For)]:
        back = next((node for node in program.backward if is_backward_form(node, loop) or by_items(node, loop)), None)
        if back is None:
            continue
        whole = dict(loop.__dict__), back.body, program.forward
        if not _fuse(loop, back, program, facts, touched):
            loop.__dict__.update(whole[0])
            back.body, program.forward = whole[1:]
        touched.forget(loop, back)
    facts.activity.left_over = True
    return program


def _has_blocks(facts: Facts) -> bool:
    """Whether a function takes rows by blocks: of a text of ours, or as it is asked for."""
    return maker_of(facts.source.file) == BLOCKS or facts.module.blocks is not None


def _fuse(loop: Node, back: Node, program: Program, facts: Facts, touched: TouchedNames) -> bool:
    """Make one loop of two, if trips are independent; a loop of the user's only where no trip is run twice for it."""
    blocks = _has_blocks(facts)
    if not is_backward_form(back, loop):
        count_items(loop, back)
    if blocks:
        _drop_self_copies(back.body)
    records = kept_by(loop, back, program, facts)
    if records is None or not (blocks or only_adds(loop, program, facts, touched)):
        return False
    pair = _Pair(loop, back, program, facts, touched)
    if not pair.independent(records):
        return False
    loop.body = [node for node in loop.body if node not in records]
    back.body = [node for node in back.body if node not in records]
    program.forward = [node for node in program.forward if node not in records]
    if facts.request.mode == "vjp" or not pair.join_bodies():
        if not blocks:
            return False
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
    program: Program
    facts: Facts
    touched: TouchedNames

    def __post_init__(self) -> None:
        place, until = self.program.forward.index(self.loop), self.program.backward.index(self.back)
        self.ahead = self.program.forward[:place]
        self.tail, self.before = self.program.forward[place + 1 :], self.program.backward[:until]
        self.behind = self.program.backward[until + 1 :]
        self.stacks = set(self.facts.tape.pushes.values())  # filled and emptied within a trip
        self.within = statements(self.loop.body) if _has_blocks(self.facts) else self.loop.body
        totals = {held: self._touching(held) for node in self.within if (held := target(node)) is not None}
        self.totals = [held for held, nodes in totals.items() if all(self._adds(node, held) for node in nodes)]

    def _touching_any(self, names: set[str], block: Block) -> Block:
        """The statements that tell whether these names are read before they are bound."""
        return [node for node in block if not names.isdisjoint(self.touched.mentioned(node))]

    def _touching(self, held: str) -> Block:
        return [node for node in self.within if held in (*loads(node), *stores(node))]

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
        later = self.touched.stored(*self.tail, *self.before)
        read = self.touched.loaded(*self.tail, *self.before, *self.behind)
        inside = {r for node in statements(self.back.body) for r in loads(node)} & set(self.totals)
        outer = set(live) - set(self.totals) - self.stacks
        private = not read & (bound - set(self.totals)) and not outer & bound
        own = bound - set(live) if _has_blocks(self.facts) else set[str]()  # of rows it has been proved
        writes = any({*written_names(node)} - own for node in statements(body) if node not in self.facts.tape.pushes)
        return private and not inside and not outer & later and not writes

    def join_bodies(self) -> bool:
        """Put the backward body behind the forward body, in the place of the forward loop, if that is possible."""
        self._number_totals()
        whole = [*self.loop.body, *self.back.body]
        bound = names_changed(self.back.body) - self.stacks
        live = live_in([gast.For(self.loop.target, self.loop.iter, whole, [], None)])
        added = [one for one in live if one in bound]
        starts = [self._start(held) for held in added]
        first = [one for one in starts if one is not None]
        moved = dict.fromkeys(self._needed_statements([one for one in live if one not in bound]))
        kept = self.touched.stored(*[node for node in self.tail if node not in moved])
        made = (names_changed([self.loop]) | kept) - self.stacks
        if None in starts or any(one in made for one in live if one not in self.totals):
            return False
        if made & {read for one in statements([*first, *moved]) for read in loads(one)}:
            return False
        apart = {*first, *moved}
        rest = [node for node in [*self.tail, *self.before] if node not in apart]
        changed = names_changed(self.back.body)
        read = [live_in(self._touching_any(changed, part)) for part in (rest, [*self.behind, self.program.result])]
        own = {*added, *changed.difference(*read, live, self.touched.stored(*moved))}
        if not can_change_places(self.back.body, rest, own, self.touched):
            return False
        order = {node: k for k, node in enumerate([*self.tail, *self.before])}
        for one in moved:
            if not can_change_places([one], [n for n in rest if order[n] < order[one]], set(), self.touched):
                return False
        for held, start in zip(added, first, strict=True):
            self._add_behind(held, start)
        self.facts.origin.again_written.update(dict.fromkeys([*statements([*self.loop.body, *self.tail])]))
        self.loop.body = whole
        hoisted = sorted([*first, *moved], key=lambda node: order.get(node, -1))
        self.program.forward = self.ahead
        self.program.backward = [*hoisted, self.loop, *rest, *self.behind]
        return True

    def _number_totals(self) -> None:
        """`sum_to(y_bar, s)` for a number s needs no s: `np.sum(y_bar)`."""
        reading = [one for one in self.before if self.touched.loaded(one) & {*self.totals}]
        self.touched.forget(*reading)
        for node in [n for one in statements(reading) for n in walk(one)]:
            if function_called(node, self.facts) is runtime.sum_to:
                held = getattr(node.args[1], "id", "")
                spec = self.facts.values.value_spec.get(held)
                if held in self.totals and spec is not None and spec.scalar:
                    node.func, node.args = expression(f"{self.facts.library('np')}.sum"), node.args[:1]

    def _start(self, held: str) -> Node | None:
        """The zeros with which an adjoint starts that the loop adds to; None if something else is done with it."""
        if not only_added(held, self.back.body, self.facts):
            return None
        touching = [node for node in self.before if held in self.touched.mentioned(node)]
        if not touching or not only_added(held, touching[1:], self.facts):
            return None
        if touching[0] in self.facts.tape.zeros:
            return touching[0]
        first, primal = touching[0], self.facts.names.adjoint_of.get(held, "")
        if target(first) != held or held in loads(first) or primal not in self.facts.values.value_spec:
            return None
        return Adjoints(self.facts).zeros(primal, self.facts.values.value_spec[primal], first, bound=True)

    def _add_behind(self, held: str, start: Node) -> None:
        """What an adjoint began with is added behind the loop."""
        first = next((node for node in self.before if held in names_mentioned(node)), start)
        if first is not start:
            self.touched.forget(first)
            first.value = gast.BinOp(name(held), gast.Add(), first.value)
            self.facts.tape.accumulates[first] = None

    def _needed_statements(self, wanted: list[str]) -> Block:
        """Statements behind the forward loop without which that of both halves cannot begin."""
        needed = set(wanted)
        found: Block = []
        for node in reversed([*(self.tail if _has_blocks(self.facts) else ()), *self.before]):
            if needed & self.touched.stored(node) and node not in self.facts.resolution.effects:
                needed |= self.touched.loaded(node)
                found.insert(0, node)
        return found

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
        bound = [s for node in statements(self.loop.body) for s in stores(node)]
        for node in self.loop.body:
            for item in [n for one in statements([node]) for part in header(one) for n in walk(part)]:
                if isinstance(item, gast.Name) and item.id in renamed:
                    item.id = renamed[item.id]
            own = target(node)
            if self._is_restated(node, bound):
                continue
            if own is None or bound.count(own) != 1 or isinstance(node.value, gast.Name | gast.Constant):
                kept.append(node)
                continue
            spelled = gast.unparse(node.value)
            earlier = seen.get(spelled)
            if earlier is None or own not in self.facts.names.temporaries or own in self.facts.memory.mutable:
                fixed = [*loads(node), own]
                once = all(bound.count(one) <= 1 and one not in self.facts.memory.mutable for one in fixed)
                if once and node in self.facts.origin.again_written:
                    seen[spelled] = node
                kept.append(node)
            else:
                renamed[own] = str(target(earlier))
        self.loop.body = kept

    def _is_restated(self, node: Node, bound: list[str]) -> bool:
        """Whether the forward part has bound a name to this very expression, and nothing of it has changed."""
        own, again = target(node), self.facts.origin.again_written
        if own is None or node in again or bound.count(own) != 2 or own in self.facts.memory.mutable:
            return False
        first = next(one for one in statements(self.loop.body) if own in stores(one))
        steady = all(bound.count(one) == 0 and one not in self.facts.memory.mutable for one in loads(node))
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
