"""Where loops over elements go: each statement into its own, or into those that are there over the same elements.

Arrays that one trip makes and reads are numbers, long sums are sums of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from srcgrad.backend.numba.element_expressions import Reader, SharedMemory, is_view, operands
from srcgrad.backend.numba.value_types import (
    DOUBLE,
    ONE,
    SINGLE,
    Axes,
    Form,
    Lengths,
    NotLoweredError,
    Piece,
    Reduction,
    cast,
    dtype,
    leaf,
    widen_array,
)
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    literal_node,
    loads,
    mentions,
    name,
    names_in,
    same_tree,
    statement,
    statements,
    stores,
    substitute,
    target,
    walk,
    written_names,
)

Shown = dict[str, frozenset[str]]


def merge_loops(block: Block, made: dict[Node, None], shown: Shown) -> Block:
    """Join loops of `made` with equal headers, where no trip of one needs another trip of the other.

    That is where what both mention is read only, is mentioned at the same elements, or is only added to; then the sums
    have another order. An array that the second loop fills is made before both.
    """
    found: Block = []
    for node in block:
        back = 2 if len(found) > 1 and _makes(found[-1]) else 1
        before = found[-back] if len(found) >= back else None
        if node in made and before in made and _joins(before, node, found[len(found) - back + 1 :], shown):
            found[len(found) - back :] = [*found[len(found) - back + 1 :], before]
            _innermost_loop(before).body += _innermost_loop(node).body
        else:
            found.append(node)
    return found


def _makes(node: Node) -> bool:
    call = node.value if isinstance(node, gast.Assign) and target(node) is not None else None
    return isinstance(call, gast.Call) and getattr(call.func, "attr", "") == "empty_like"


def _innermost_loop(loop: Node) -> Node:
    return _innermost_loop(loop.body[0]) if isinstance(loop.body[0], gast.For) else loop


def _joins(one: Node, two: Node, between: Block, shown: Shown) -> bool:
    depth_one, depth_two = one, two
    while True:
        if not same_tree(depth_one.iter, depth_two.iter) or not same_tree(depth_one.target, depth_two.target):
            return False
        first, second = (isinstance(loop.body[0], gast.For) for loop in (depth_one, depth_two))
        if first != second:
            return False
        if not first:
            break
        depth_one, depth_two = depth_one.body[0], depth_two.body[0]
    if any(bound in _mentions(depth_one.body) for node in between for bound in stores(node)):
        return False
    return _independent(depth_one.body, depth_two.body, shown)


def _independent(one: Block, two: Block, shown: Shown) -> bool:
    first, second = _mentions(one), _mentions(two)
    for held, uses in first.items():
        for other, others in second.items():
            if other not in shown.get(held, frozenset([held])):
                continue
            every = uses | others
            kinds = {kind for kind, _ in every}
            if kinds == {"reads"} or kinds == {"adds"}:
                continue
            if held != other or len({place for _, place in every}) > 1 or "" in {place for _, place in every}:
                return False
    return True


def _mentions(body: Block) -> dict[str, set[tuple[str, str]]]:
    """How the statements of a loop use names: whether they read, add or store, and at which elements."""
    found: dict[str, set[tuple[str, str]]] = {}

    def note(item: Any, kind: str) -> None:
        whole, place = (item.value, gast.unparse(item.slice)) if isinstance(item, gast.Subscript) else (item, "")
        found.setdefault(whole.id, set()).add((kind, place))

    for node in body:
        adds = isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub)
        written = node.target if isinstance(node, gast.AugAssign) else node.targets[0]
        note(written, "adds" if adds else "stores")
        todo = [node.value]
        while todo:
            item = todo.pop()
            if isinstance(item, gast.Name) or (isinstance(item, gast.Subscript) and isinstance(item.value, gast.Name)):
                note(item, "reads")
                todo += [item.slice] if isinstance(item, gast.Subscript) else []
            else:
                todo += [child for child in gast.iter_child_nodes(item) if isinstance(child, gast.expr)]
    for item in [n for node in body for n in find_nodes(node, gast.Attribute)]:
        note(gast.Name(id=gast.unparse(item.value), ctx=gast.Load(), annotation=None, type_comment=None), "reads")
    return found


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
class PlainStatement:
    """A statement that stays as it is, or the beginning of a sum; it touches these names."""

    node: Node
    reads: frozenset[str]
    writes: frozenset[str]


Item = Loop | Step | PlainStatement
SharedNames = Callable[[str], frozenset[str]]  # the names that may show elements of one array with a name


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


def steps(item: Item) -> Iterator[Step | PlainStatement]:
    """What an item does, in order."""
    if isinstance(item, Loop):
        for inner in item.body:
            yield from steps(inner)
    else:
        yield item


def names_touched(item: Item) -> tuple[set[str], set[str]]:
    """The names that an item reads, and those that it writes."""
    reads: set[str] = set()
    writes: set[str] = set()
    for one in steps(item):
        if isinstance(one, PlainStatement):
            reads |= one.reads
            writes |= one.writes
        else:
            reads |= {held for held, _ in one.reads}
            writes.add(one.writes[0])
    return reads, writes


def meets(item: Item, step: Step, shown: SharedNames) -> bool:
    """Whether a step must not change places with an item."""
    reads, writes = names_touched(item)
    own, wanted = shown(step.writes[0]), {other for held, _ in step.reads for other in shown(held)}
    return bool(own & (reads | writes) or wanted & writes)


def takes(loop: Loop, step: Step, shown: SharedNames) -> bool:
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


def put(items: list[Item], step: Step, depth: int, shown: SharedNames) -> list[list[Item]]:
    """Put a step into the last loop that may take it, or behind all items; the bodies on the way, outermost first."""
    if depth == len(step.space):
        items.insert(_place_of_step(items, step, shown) if depth else len(items), step)
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


def _place_of_step(items: list[Item], step: Step, shown: SharedNames) -> int:
    """The place of a step in a body: in front of loops that it has nothing to do with, so that others may be joined."""
    place = found = len(items)
    while place and not meets(items[place - 1], step, shown):
        place -= 1
        found = place if isinstance(items[place], Loop) else found
    return found


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


def contract_arrays(nests: Nests, result: Node) -> None:
    """Let arrays be numbers where each trip of a loop reads only what it has made."""
    for held in list(nests.made):
        if nests.made[held]:
            _contract(held, nests, result)


def spell_nests(nests: Nests, fresh: Callable[[str], str], facts: Facts) -> Block:
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
    free = [one for one in LETTERS if one not in facts.names.taken and one not in facts.names.local]
    letters = [free[k] if k < len(free) else facts.names.fresh("i") for k in range(deepest)]
    return {counter(depth): one for depth, one in enumerate(letters)}


Bodies = tuple[int, ...]  # the bodies around a step, by identity


def places(items: list[Item], above: Bodies) -> Iterator[tuple[Step | PlainStatement, Bodies, int]]:
    """Every step, the bodies around it, and its place in the last one."""
    for place, item in enumerate(items):
        if isinstance(item, Loop):
            yield from places(item.body, (*above, id(items)))
        else:
            yield item, (*above, id(items)), place


def _contract(held: str, nests: Nests, result: Node) -> None:
    """Let an array be a number, if each trip of a loop reads only what it has made."""
    uses = []
    begin: PlainStatement | None = None
    for one, bodies, place in places(nests.items, ()):
        if isinstance(one, PlainStatement):
            if target(one.node) == held and begin is None:
                begin = one
            elif held in one.reads | one.writes:
                return
        else:
            every = {index for other, index in (one.writes, *one.reads) if other == held}
            uses += [(index, bodies, place) for index in every]
    if begin is None or not uses or mentions(result, held):
        return
    index, home, _ = uses[0]
    if len(home) == 1 or any(other != index or bodies[: len(home)] != home for other, bodies, _ in uses):
        return
    for one, _, _ in places(nests.items, ()):
        if isinstance(one, Step) and held in {one.writes[0], *(other for other, _ in one.reads)}:
            _replace_by_number(one.node, held)
    nests.items.remove(begin)
    del nests.made[held]


def _replace_by_number(node: Node, held: str) -> None:
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
        loop = next(k for k in range(place + 1, len(body)) if fills(body[k], held))
        value = name(part) if held in nests.made else nests.narrow[held](name(part))
        stored = gast.Assign([begin.node.targets[0]], value, None)
        body.insert(loop + 1, Step(at(stored, begin.node), (), begin.writes, ((part, ""),)))
        for one, _, _ in places([body[loop]], ()):
            if isinstance(one, Step) and one.writes == begin.writes:
                _replace(one, held, part)
        begin.node = at(assign(part, begin.node.value), begin.node)
        return


def _replace(step: Step, held: str, part: str) -> None:
    _replace_by_number(step.node, held)
    step.node = at(_rename_variable(step.node, held, part), step.node)


def _rename_variable(node: Node, held: str, other: str) -> Node:
    for item in walk(node):
        if isinstance(item, gast.Name) and item.id == held:
            item.id = other
    return node


def fills(item: Item, held: str) -> bool:
    """Whether a loop writes what a name holds."""
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
    if isinstance(item, PlainStatement):
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
        before.append(at(assign(part, literal_node(0.0)), step.node))
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


@dataclass
class LoopPlacement:
    """The loops of one text, as far as they are made."""

    facts: Facts
    lengths: Lengths
    nests: Nests
    sharing: SharedMemory
    taken: set[str]  # names that the text has
    known: dict[str, Form] = field(default_factory=dict)  # arrays and numbers

    def fresh(self, stem: str) -> str:
        """A name that nothing has."""
        number = 1
        while f"{stem}{number}" in self.taken or f"{stem}{number}" in self.facts.names.taken:
            number += 1
        self.taken.add(f"{stem}{number}")
        return f"{stem}{number}"

    def append(self, node: Node) -> None:
        """A statement that stays as it is."""
        every = list(statements([node]))
        reads = {one for each in every for one in loads(each)}
        writes = {one for each in every for one in (*stores(each), *written_names(each))}
        into = [
            word.value
            for each in every
            for item in walk(each)
            for word in getattr(item, "keywords", None) or []
            if word.arg == "out"
        ]
        writes |= {one for value in into for one in names_in(value)}
        if isinstance(node, gast.Expr):
            writes |= reads
        shown = {other for one in writes for other in self.sharing.of(one)}
        self.nests.items.append(PlainStatement(node, frozenset(reads), frozenset(shown)))

    def check(self) -> None:
        """What must hold before the loops of a statement: lengths that are equal, and not 0."""
        groups: dict[str, list[str]] = {}
        for old, new in self.lengths.pending:
            groups.setdefault(old, []).append(new)
        for old, others in groups.items():
            lengths = [self.lengths.own(one) for one in (old, *dict.fromkeys(others))]
            self._look("check_lengths", lengths)
        if self.lengths.filled:
            self._look("check_filled", [self.lengths.node(one) for one in dict.fromkeys(self.lengths.filled)])
        self.lengths.pending, self.lengths.filled = [], []

    def _look(self, helper: str, lengths: list[Node]) -> None:
        call = gast.Call(name(self.facts.library(helper)), lengths, [])
        self.nests.checks = True
        reads = frozenset(one for length in lengths for one in names_in(length))
        self.nests.items.append(PlainStatement(gast.Expr(call), reads, frozenset()))

    def reduce(self, node: Node, reader: Reader, last: str = "") -> None:
        """The reductions, and products of matrices, that a statement needs; `last` is the name for the last one."""
        every = reader.taken()
        for one in every:
            if isinstance(one, Reduction):
                held = last if last and one is every[-1] else one.held
                self.known[held] = Form(one.axes, one.piece.real)
                self._sum(node, held, one)
            else:
                held, call, form = one[0], copy(one[1]), one[2]
                self._unify_dtypes(call, reader)
                self.append(at(assign(held, call), node))
                self.known[held] = form

    def _sum(self, node: Node, held: str, one: Reduction) -> None:
        """`s[i] = 0.0` before a loop, `s[i] += e` inside. What adds up float32 in one number is of float64."""
        axes = one.piece.axes
        index = indices(axes)
        own, kept = one.axes, [k for k in one.kept if k is not None]
        form = Form(own, one.piece.real)
        narrow = form.real == SINGLE
        adds = self.fresh("t") if not own and narrow and one.kind == "sum" else held
        element = element_of(held, form, [literal_node(0) if k is None else index[k] for k in one.kept])
        element = element if own else name(adds)
        first, made = self._step(one, element, one.piece.at(index))
        space = [k for k in range(len(axes)) if axes[k] != ONE]
        outer = [k for k in space if k in kept]
        if own and space[: len(outer)] != outer:  # not one behind the other
            if one.kind == "sum":
                self._allocate(held, form, node, "zeros")
            else:
                self._allocate(held, form, node, "full", first)
            self.nests.made[held] = ()
            self.put(at(made, node), axes)
        elif not own:
            self.append(assign(adds, first))
            step, path = self.put(at(made, node), axes)
            if len(space) > 1 and one.kind == "sum":
                self._by_rows(step, path, adds, node)
            elif one.kind == "sum":
                self.nests.totals[adds] = None
            if adds != held:
                self.append(at(assign(held, cast(name(adds), SINGLE, self.facts)), node))
        else:
            self._allocate(held, form, node)
            _, path = self.put(at(made, node), axes)
            begin = Step(at(gast.Assign([element_target(element)], first, None), node), (), accesses(element)[0], ())
            self._put_beside_loop(path, len(outer), begin)
            self.nests.sums[held] = begin
            if narrow and one.kind == "sum":
                self.nests.narrow[held] = lambda part: cast(part, SINGLE, self.facts)

    def _step(self, one: Reduction, element: Node, value: Node) -> tuple[Node, Node]:
        """What a reduction begins with, and what takes one more element into it."""
        if one.kind == "sum":
            return literal_node(0.0), gast.AugAssign(element_target(element), gast.Add(), value)
        np_ = self.facts.library("np")
        first = expression(f"{'-' if one.kind == 'max' else ''}{np_}.inf")
        first = cast(first, SINGLE, self.facts) if one.piece.real == SINGLE else first
        called = f"{np_}.{'maximum' if one.kind == 'max' else 'minimum'}(a, b)"
        return first, gast.Assign([element_target(element)], expression(called, a=element, b=value), None)

    def _by_rows(self, step: Step, path: list[list[Item]], held: str, node: Node) -> None:
        """A sum over many rows adds up sums of rows, which loses less."""
        part = self.fresh("t")
        step.node.target = name(part, gast.Store())
        step.writes = (part, "")
        self._put_beside_loop(path, len(path) - 2, Step(at(assign(part, literal_node(0.0)), node), (), (part, ""), ()))
        ends = at(gast.AugAssign(name(held, gast.Store()), gast.Add(), name(part)), node)
        self._put_beside_loop(path, len(path) - 2, Step(ends, (), (held, ""), ((part, ""),)), after=1)

    def _put_beside_loop(self, path: list[list[Item]], depth: int, step: Step, after: int = 0) -> None:
        """Put a step right before, or behind, the loop at some depth of a path."""
        place = next(k for k, item in enumerate(path[depth]) if isinstance(item, Loop) and item.body is path[depth + 1])
        path[depth].insert(place + after, step)

    def operands(self, node: Node, value: Node, reader: Reader) -> None:
        """Let operands of products of matrices have names."""
        for owner, key, place in operands(value, reader):
            given = getattr(owner, key) if place is None else getattr(owner, key)[place]
            if isinstance(given, gast.Name) or is_view(given):
                continue
            before, reader.reductions = self.lengths.saved_state(), []
            try:
                piece = reader.piece(given)
            except NotLoweredError:
                self.lengths.restore(before)
                continue
            if not piece.axes or piece.tests:
                self.lengths.restore(before)
                continue
            held = piece.leaf
            self.check()
            self.reduce(node, reader)
            if not held:
                held = self.fresh("t")
                self.map(node, held, piece)
                reader.known[held] = Form(piece.axes, piece.real)
            if place is None:
                setattr(owner, key, name(held))
            else:
                getattr(owner, key)[place] = name(held)

        self._unify_dtypes(value, reader)

    def _unify_dtypes(self, value: Node, reader: Reader) -> None:
        """Let operands of a product, other than one of which the shape matters alone, be of one dtype."""
        called = reader.called_function(value) if isinstance(value, gast.Call) else ""
        places = operands(value, reader)
        places = [one for one in places if one[2] != {"matmul_left": 1, "matmul_right": 2}.get(called, -1)]
        given = [getattr(owner, key) if place is None else getattr(owner, key)[place] for owner, key, place in places]
        try:
            reals = [reader.form_of(one).real for one in given]
        except NotLoweredError:
            return
        for (owner, key, place), one, real in zip(places, given, reals, strict=True):
            if real != SINGLE or DOUBLE not in reals:
                continue
            if place is None:
                setattr(owner, key, widen_array(one, self.facts))
            else:
                getattr(owner, key)[place] = widen_array(one, self.facts)

    def _allocate(self, held: str, form: Form, node: Node, how: str = "empty", *start: Node) -> None:
        call = expression(f"{self.facts.library('np')}.{how}(n)", n=self.lengths.shape(form.axes))
        call.args += [*start, *dtype(form.real, self.facts)]
        self.append(assign(held, call))
        self.nests.made[held] = form.axes

    def map(self, node: Node, held: str, piece: Piece) -> None:
        index = indices(piece.axes)
        form = Form(piece.axes, piece.real)
        self._allocate(held, form, node)
        element = element_target(element_of(held, form, index))
        self.put(at(gast.Assign([element], piece.at(index), None), node), piece.axes)

    def put(self, node: Node, axes: Axes) -> tuple[Step, list[list[Item]]]:
        """A step in loops over axes: it and the bodies around it. What was put behind the loops goes before them."""
        space = tuple(self.lengths.top(axis) for axis in axes if axis != ONE)
        place = node.target if isinstance(node, gast.AugAssign) else node.targets[0]
        [writes, *more] = accesses(place)
        reads = [*accesses(node.value), *(one for one in more if not one[0].startswith("<"))]
        reads = [one for one in reads if not one[0].startswith("<")]
        for axis in space:
            reads += [(one, "") for one in names_in(self.lengths.node(axis)) if one not in self.nests.made]
        step = Step(node, space, writes, tuple(dict.fromkeys(reads)))
        items = self.nests.items
        ahead: list[Item] = []
        while items and isinstance(items[-1], PlainStatement) and _begins(items[-1], writes[0]):
            ahead.insert(0, items.pop())
        path = put(items, step, 0, self.sharing.of)
        nest = len(items) - 1
        while len(path) > 1 and getattr(items[nest], "body", None) is not path[1]:
            nest -= 1
        items[nest:nest] = ahead
        return step, path


def _begins(item: PlainStatement, held: str) -> bool:
    """Whether a statement makes the array that a step fills, or looks at lengths."""
    if isinstance(item.node, gast.Expr):
        return item.writes == frozenset() and isinstance(item.node.value, gast.Call)
    value = getattr(item.node, "value", None)
    fills = (
        isinstance(value, gast.Constant)
        or (isinstance(value, gast.Call) and getattr(value.func, "attr", "") in ("empty", "zeros", "full"))
        or isinstance(value, gast.UnaryOp | gast.Attribute)
    )
    return target(item.node) == held and fills


def indices(axes: Axes) -> list[Node]:
    """The counters of axes, and 0 along those of length 1."""
    found: list[Node] = []
    depth = 0
    for axis in axes:
        found.append(literal_node(0) if axis == ONE else name(counter(depth)))
        depth += axis != ONE
    return found


def element_of(held: str, form: Form, index: list[Node]) -> Node:
    return leaf(held, form).at(index)


def element_target(element: Node) -> Node:
    """An element, to be written."""
    made = copy(element)
    made.ctx = gast.Store()
    return made
