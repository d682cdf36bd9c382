"""Where statements of arrays go: each as loops of its own, or into those that are there."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts
from srcgrad.numba.axes import DOUBLE, ONE, SINGLE, Axes, Form, Lengths, NotLoweredError, Piece, Reduction
from srcgrad.numba.nests import Item, Loop, Plain, Step, accesses, counter, named, put
from srcgrad.numba.opaque import Sharing, is_view, operands
from srcgrad.numba.pieces import Reader
from srcgrad.numba.reals import cast, dtype, leaf, widened
from srcgrad.numba.spelled import Nests
from srcgrad.trees import (
    Node,
    assign,
    at,
    constant,
    copy,
    expression,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
    written,
)


@dataclass
class Placing:
    """The loops of one text, as far as they are made."""

    facts: Facts
    lengths: Lengths
    nests: Nests
    sharing: Sharing
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
        writes = {one for each in every for one in (*stores(each), *written(each))}
        into = [
            word.value
            for each in every
            for item in walk(each)
            for word in getattr(item, "keywords", None) or []
            if word.arg == "out"
        ]
        writes |= {one for value in into for one in named(value)}
        if isinstance(node, gast.Expr):
            writes |= reads
        shown = {other for one in writes for other in self.sharing.of(one)}
        self.nests.items.append(Plain(node, frozenset(reads), frozenset(shown)))

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
        reads = frozenset(one for length in lengths for one in named(length))
        self.nests.items.append(Plain(gast.Expr(call), reads, frozenset()))

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
                self._alike(call, reader)
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
        element = element_of(held, form, [constant(0) if k is None else index[k] for k in one.kept])
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
            begin = Step(at(gast.Assign([stored(element)], first, None), node), (), accesses(element)[0], ())
            self._before(path, len(outer), begin)
            self.nests.sums[held] = begin
            if narrow and one.kind == "sum":
                self.nests.narrow[held] = lambda part: cast(part, SINGLE, self.facts)

    def _step(self, one: Reduction, element: Node, value: Node) -> tuple[Node, Node]:
        """What a reduction begins with, and what takes one more element into it."""
        if one.kind == "sum":
            return constant(0.0), gast.AugAssign(stored(element), gast.Add(), value)
        np_ = self.facts.library("np")
        first = expression(f"{'-' if one.kind == 'max' else ''}{np_}.inf")
        first = cast(first, SINGLE, self.facts) if one.piece.real == SINGLE else first
        called = f"{np_}.{'maximum' if one.kind == 'max' else 'minimum'}(a, b)"
        return first, gast.Assign([stored(element)], expression(called, a=element, b=value), None)

    def _by_rows(self, step: Step, path: list[list[Item]], held: str, node: Node) -> None:
        """A sum over many rows adds up sums of rows, which loses less."""
        part = self.fresh("t")
        step.node.target = name(part, gast.Store())
        step.writes = (part, "")
        self._before(path, len(path) - 2, Step(at(assign(part, constant(0.0)), node), (), (part, ""), ()))
        ends = at(gast.AugAssign(name(held, gast.Store()), gast.Add(), name(part)), node)
        self._before(path, len(path) - 2, Step(ends, (), (held, ""), ((part, ""),)), after=1)

    def _before(self, path: list[list[Item]], depth: int, step: Step, after: int = 0) -> None:
        """Put a step right before, or behind, the loop at some depth of a path."""
        place = next(k for k, item in enumerate(path[depth]) if isinstance(item, Loop) and item.body is path[depth + 1])
        path[depth].insert(place + after, step)

    def operands(self, node: Node, value: Node, reader: Reader) -> None:
        """Let operands of products of matrices have names."""
        for owner, key, place in operands(value, reader):
            given = getattr(owner, key) if place is None else getattr(owner, key)[place]
            if isinstance(given, gast.Name) or is_view(given):
                continue
            before, reader.reductions = self.lengths.saved(), []
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

        self._alike(value, reader)

    def _alike(self, value: Node, reader: Reader) -> None:
        """Let operands of a product, other than one of which the shape matters alone, be of one dtype."""
        called = reader.spelled(value) if isinstance(value, gast.Call) else ""
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
                setattr(owner, key, widened(one, self.facts))
            else:
                getattr(owner, key)[place] = widened(one, self.facts)

    def _allocate(self, held: str, form: Form, node: Node, how: str = "empty", *start: Node) -> None:
        call = expression(f"{self.facts.library('np')}.{how}(n)", n=self.lengths.shape(form.axes))
        call.args += [*start, *dtype(form.real, self.facts)]
        self.append(assign(held, call))
        self.nests.made[held] = form.axes

    def map(self, node: Node, held: str, piece: Piece) -> None:
        index = indices(piece.axes)
        form = Form(piece.axes, piece.real)
        self._allocate(held, form, node)
        element = stored(element_of(held, form, index))
        self.put(at(gast.Assign([element], piece.at(index), None), node), piece.axes)

    def put(self, node: Node, axes: Axes) -> tuple[Step, list[list[Item]]]:
        """A step in loops over axes: it and the bodies around it. What was put behind the loops goes before them."""
        space = tuple(self.lengths.top(axis) for axis in axes if axis != ONE)
        place = node.target if isinstance(node, gast.AugAssign) else node.targets[0]
        [writes, *more] = accesses(place)
        reads = [*accesses(node.value), *(one for one in more if not one[0].startswith("<"))]
        reads = [one for one in reads if not one[0].startswith("<")]
        for axis in space:
            reads += [(one, "") for one in named(self.lengths.node(axis)) if one not in self.nests.made]
        step = Step(node, space, writes, tuple(dict.fromkeys(reads)))
        items = self.nests.items
        ahead: list[Item] = []
        while items and isinstance(items[-1], Plain) and _begins(items[-1], writes[0]):
            ahead.insert(0, items.pop())
        path = put(items, step, 0, self.sharing.of)
        nest = len(items) - 1
        while len(path) > 1 and getattr(items[nest], "body", None) is not path[1]:
            nest -= 1
        items[nest:nest] = ahead
        return step, path


def _begins(item: Plain, held: str) -> bool:
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
        found.append(constant(0) if axis == ONE else name(counter(depth)))
        depth += axis != ONE
    return found


def element_of(held: str, form: Form, index: list[Node]) -> Node:
    return leaf(held, form).at(index)


def stored(element: Node) -> Node:
    """An element, to be written."""
    made = copy(element)
    made.ctx = gast.Store()
    return made
