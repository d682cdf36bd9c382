"""Statements of arrays as loops with indices that are proved to lie inside.

Texts whose indices all lie inside of their arrays: lengths are known, and checked before the loops.

Arithmetic of parts of arrays as loops over their elements: compiled code makes temporaries for it otherwise.
"""

from __future__ import annotations

import dataclasses

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.numba.loop_placement import Item, PlainStatement, merge_loops
from srcgrad.backend.numba.map_items import ItemArguments, Items
from srcgrad.backend.numba.value_types import (
    ARITHMETIC,
    NameLengths,
    Shape,
    aliases,
    bindings,
    blocks,
    bounds,
    has_slice,
    is_function,
)
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    find_nodes,
    header,
    literal_node,
    mentions,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.derive.program import Program

Lengths = dict[str, tuple[int, ...]]
OWN_NAMES = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda, gast.NamedExpr)
BUILTINS = ("abs", "float", "range", "reversed")


def note_safe_indices(program: Program, facts: Facts) -> Program:
    """Note whether no index of the derivative of an item need be looked at: those are numbers, or count up to one."""
    items: Items | None = facts.module.given
    taken: ItemArguments | None = facts.module.given_of.get(facts.source.name)
    if items is None or taken is None or items.lengths is None or facts.request.mode != "pull" or facts.request.called:
        return program
    work = _Work(program, facts, items)
    if work.are_safe(program.block):
        facts.module.given_of[facts.source.name] = dataclasses.replace(taken, inside=True)
    return program


def is_inside(items: list[Item], result: Node) -> bool:
    """Whether statements beside loops over elements have no index: parts, and lengths, need no look."""
    trees = [*(item.node for item in items if isinstance(item, PlainStatement)), result]
    return all(_is_part(one) for tree in trees for one in find_nodes(tree, gast.Subscript))


def _is_part(node: Node) -> bool:
    """Whether an expression is `x.shape[0]`, `x[:, None]`, or one of the arrays of a tuple that a call gives."""
    if isinstance(node.value, gast.Attribute):
        return bool(node.value.attr == "shape")
    if isinstance(node.value, gast.Call):
        return isinstance(node.slice, gast.Constant) and getattr(node.value.func, "id", "").startswith("split_like")
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    plain = (one for one in parts if not isinstance(one, gast.Slice))
    return all(isinstance(one, gast.Constant) and one.value in (None, ...) for one in plain)


class _Work:
    """What names hold, where all their bindings tell."""

    def __init__(self, program: Program, facts: Facts, items: Items) -> None:
        self.facts, self.size = facts, items.size
        known = items.lengths or {}
        self.bound = bindings(program)
        self.tuples = {each: self._tuple(values) for each, values in self.bound.items()}
        self.ends = _ends(program)
        self.rows = {each: (items.size,) for each in facts.names.seeds if each not in self.bound}
        self.lengths: Lengths = {each: shape for each, shape in known.items() if each not in self.bound}
        for wanted in facts.request.wrt:
            adjoint = facts.names.spelled[wanted]
            whole = adjoint in facts.names.seeds and adjoint not in self.bound
            if wanted in known and (whole or all(self._is_row(value) for value in self.bound.get(adjoint, [None]))):
                self.lengths[adjoint] = known[wanted]

    def _tuple(self, values: list[Node | None]) -> int:
        """How many parts the tuples have that a name is bound to; 0 where it is bound to anything else."""
        found = {len(value.elts) if isinstance(value, gast.Tuple) else 0 for value in values}
        return found.pop() if len(found) == 1 else 0

    def _is_row(self, value: Node | None) -> bool:
        """Whether a value is `x_rows[k]`."""
        return isinstance(value, gast.Subscript) and getattr(value.value, "id", "") in self.rows

    def are_safe(self, block: Block) -> bool:
        """Whether that holds of all expressions of some statements, those inside of them among them."""
        return all(
            all(self.is_safe(item) for part in header(node) for item in walk(part)) and self._are_safe_in(node)
            for node in block
        )

    def _are_safe_in(self, node: Node) -> bool:
        """The same of the statements inside of one: a loop's own counter ends where that loop does."""
        blocks = [getattr(node, "body", None) or [], getattr(node, "orelse", None) or []]
        counter = node.target.id if isinstance(node, gast.For) and isinstance(node.target, gast.Name) else ""
        before = self.ends.get(counter)
        again = any(counter in stores(inner) for inner in statements(blocks[0]))
        if before is not None and not again:
            self.ends[counter] = _end(node.iter) or 0
        safe = all(map(self.are_safe, blocks))
        if before is not None:
            self.ends[counter] = before
        return safe

    def is_safe(self, item: Node) -> bool:
        """Whether an expression reads and writes elements that are there, and calls what knows no indices."""
        if isinstance(item, gast.Call):
            function = item.func
            plain = (
                isinstance(function, gast.Name)
                and function.id in BUILTINS
                and function.id not in self.facts.names.local
            )
            return plain or is_function(function, self.facts)
        if not isinstance(item, gast.Subscript):
            return not isinstance(item, OWN_NAMES)
        if not isinstance(item.value, gast.Name):
            return False
        held, parts = item.value.id, item.slice.elts if isinstance(item.slice, gast.Tuple) else [item.slice]
        shape = self.lengths.get(held) or self.rows.get(held) or (self.tuples.get(held, 0),)
        return len(parts) == len(shape) and all(map(self._is_below, parts, shape))

    def _is_below(self, index: Node, length: int) -> bool:
        if isinstance(index, gast.Constant):
            return type(index.value) is int and 0 <= index.value < length
        return isinstance(index, gast.Name) and self.ends.get(index.id, length + 1) <= length


def _ends(program: Program) -> dict[str, int]:
    """Names that are counters of `range(3)` and nothing else, and the largest end."""
    found: dict[str, list[int | None]] = {}
    bound = bindings(program)
    for node in statements([*program.forward, *program.backward]):
        if isinstance(node, gast.For) and isinstance(node.target, gast.Name):
            found.setdefault(node.target.id, []).append(_end(node.iter))
    return {
        each: max(end for end in ends if end is not None)
        for each, ends in found.items()
        if None not in ends and len(bound[each]) == len(ends)
    }


def _end(walked: Node) -> int | None:
    """3 for `range(3)` and `reversed(range(3))`."""
    name = walked.func.id if isinstance(walked, gast.Call) and isinstance(walked.func, gast.Name) else ""
    if name == "reversed" and len(walked.args) == 1:
        return _end(walked.args[0])
    plain = name == "range" and len(walked.args) == 1 and isinstance(walked.args[0], gast.Constant)
    return int(walked.args[0].value) if plain else None


LETTERS = "ijk"


def loops(program: Program, facts: Facts) -> Program:
    """Let `u[1:-1] += a * (v[2:] - v[:-2])` be a loop of `u[i + 1] += a * (v[i + 2] - v[i])`.

    That is where all arrays are known to be of float64 and of equal shapes, and where nothing that is read can be
    what has just been written. `np.sum(e)` of such an expression is a loop that adds up.
    """
    spelled = {"max", "range"} & facts.names.local
    if (
        facts.values.complex
        or facts.module.given
        or spelled
        or not any(k.tag == "array" for k in facts.kinds.arguments.values())
    ):
        return program
    if not any(has_slice(item) for node in statements(program.block) for item in walk(node)):
        return program
    work = _LoopWork(program, facts)
    for block in blocks(program):
        block[:] = merge_loops([made for node in block for made in work.made(node)], work.loops, work.shown)
    return program


class _LoopWork:
    """The loops of one text; they share the names of their counters."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self.facts = facts
        self.lengths = NameLengths(program, facts)
        self.shown = aliases(program)
        self.parameters = frozenset(program.parameters)
        self.outside = frozenset(target(node) for node in [*program.forward, *program.backward])  # of all loops
        self.counters: list[str] = []
        self.loops: dict[Node, None] = {}
        every = self.lengths.bindings
        once = {bound: values[0] for bound, values in every.items() if len(values) == 1 and values[0] is not None}
        self.views = {bound: value for bound, value in once.items() if self._is_view(value)}

    def _is_view(self, value: Node) -> bool:
        """Whether a value is a part of an array that is bound once and for all: it may be read in place of its name."""
        if not isinstance(value, gast.Subscript) or not has_slice(value) or not isinstance(value.value, gast.Name):
            return False
        whole = value.value.id
        bound = len(self.lengths.bindings.get(whole, []))
        return bound == 0 if whole in self.parameters else bound == 1 and whole in self.outside

    def made(self, node: Node) -> Block:
        """A statement, or the loop that it is."""
        if isinstance(node, gast.AugAssign):
            return self._lower_augmented(node) or [node]
        if not isinstance(node, gast.Assign) or len(node.targets) != 1:
            return [node]
        [place] = node.targets
        if isinstance(place, gast.Subscript):
            return self._lower_store(node, place) or [node]
        return self._lower_binding(node, place.id) or [node] if isinstance(place, gast.Name) else [node]

    def _lower_binding(self, node: Node, held: str) -> Block:
        """`x = u[1:] - u[:-1]`, `s = np.sum(x * y)`."""
        inner = self._summed_elements(node.value)
        if inner is not None and mentions(inner, held):
            return []
        if inner is not None:
            return [at(assign(held, literal_node(0.0)), node), *self._sum(held, inner, node)]
        shape = self.lengths.of(node.value)
        if not shape or not self._computes(node.value, shape):
            return []
        fresh = held
        if mentions(node.value, held):
            fresh = self.facts.names.fresh(held)
        like = self._array(node.value)
        array = at(assign(fresh, expression(f"{self.facts.library('np')}.empty_like(x)", x=copy(like))), node)
        loop = self._loop(
            node, like, gast.Assign([self._element(name(fresh), len(shape))], node.value, None), len(shape)
        )
        return [array, loop, *([at(assign(held, name(fresh)), node)] if fresh != held else [])]

    def _summed_elements(self, value: Node) -> Node | None:
        """What a sum of all elements adds up, if it is computed for it."""
        if not isinstance(value, gast.Call) or value.keywords:
            return None
        function = function_called(value, self.facts)
        plain, reduced = function is np.sum, function is runtime.sum_to and len(value.args) == 2
        if not (plain and len(value.args) == 1) and not (reduced and self.lengths.of(value.args[1]) == ()):
            return None
        shape = self.lengths.of(value.args[0])
        return value.args[0] if shape and self._computes(value.args[0], shape) else None

    def _sum(self, held: str, inner: Node, node: Node) -> Block:
        shape = self.lengths.of(inner)
        assert shape is not None, "the shape of what is added up is known"
        one = gast.AugAssign(name(held, gast.Store()), gast.Add(), inner)
        return [self._loop(node, self._array(inner), one, len(shape))]

    def _lower_augmented(self, node: Node) -> Block:
        """`x[1:] += e`, `x += e`, `s += np.sum(e)`."""
        inner = self._summed_elements(node.value)
        if inner is not None and isinstance(node.target, gast.Name) and isinstance(node.op, gast.Add):
            held = str(node.target.id)
            adds = self.lengths.of(node.target) == () and not mentions(inner, held)
            return self._sum(held, inner, node) if adds else []
        return self._into(node, node.target)

    def _lower_store(self, node: Node, place: Node) -> Block:
        return self._into(node, place) if has_slice(place) else []

    def _into(self, node: Node, place: Node) -> Block:
        whole = place.value if isinstance(place, gast.Subscript) else place
        shape = self.lengths.of(_read(place))
        if not isinstance(whole, gast.Name) or not shape or self.lengths.of(node.value) != shape:
            return []
        if isinstance(node, gast.AugAssign) and not isinstance(node.op, ARITHMETIC):
            return []
        parts = has_slice(place) or self._computes(node.value, shape)
        if not parts or not self._is_plain(node.value) or self._meets(whole.id, node.value, place):
            return []
        element = self._element(place, len(shape))
        element.ctx = gast.Store()
        adds = isinstance(node, gast.AugAssign)
        one = gast.AugAssign(element, node.op, node.value) if adds else gast.Assign([element], node.value, None)
        return [self._loop(node, _read(place), one, len(shape))]

    def _meets(self, held: str, value: Node, place: Node) -> bool:
        """Whether an expression reads what a loop over it may have written: all but the element that it writes."""
        same = gast.unparse(_read(place))
        todo = [value]
        while todo:
            item = todo.pop()
            if gast.unparse(item) == same and isinstance(item, gast.Subscript | gast.Name):
                continue
            if isinstance(item, gast.Name) and held in self.shown.get(item.id, frozenset([item.id])):
                return True
            todo += [child for child in gast.iter_child_nodes(item) if isinstance(child, gast.expr)]
        return False

    def _computes(self, value: Node, shape: Shape) -> bool:
        """Whether there is arithmetic of parts of arrays, which would have temporaries of their own."""
        if not isinstance(value, gast.BinOp | gast.UnaryOp) or not self._is_plain(value):
            return False
        parts = find_nodes(value, gast.Subscript, gast.Name)
        return any(
            (has_slice(item) or getattr(item, "id", "") in self.views) and self.lengths.of(item) == shape
            for item in parts
        )

    def _is_plain(self, value: Node) -> bool:
        """Whether an expression is arithmetic of names, parts of them, and numbers."""
        if isinstance(value, gast.BinOp):
            return self._is_plain(value.left) and self._is_plain(value.right)
        if isinstance(value, gast.UnaryOp):
            return self._is_plain(value.operand)
        named = isinstance(value, gast.Name) or (
            isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
        )
        return named or self.lengths.of(value) == ()

    def _array(self, value: Node) -> Node:
        """The first array in an expression that has its shape."""
        shape = self.lengths.of(value)
        todo = [value]
        while todo:
            item = todo.pop()
            if isinstance(item, gast.Name | gast.Subscript) and self.lengths.of(item) == shape:
                return item
            if isinstance(item, gast.BinOp):
                todo += [item.right, item.left]
            elif isinstance(item, gast.UnaryOp):
                todo.append(item.operand)
        raise AssertionError("an expression with a shape reads an array that has it")

    def _loop(self, node: Node, like: Node, one: Node, rank: int) -> Node:
        """`for i in range(n): for j in range(m): one`, in terms of the elements at i, j."""
        one.value = self._elements(one.value, rank)
        made = at(one, node)
        like = self._show_array(like)
        for axis in reversed(range(rank)):
            header = statement(f"for {self._counter(axis)} in range(n):\n    pass", n=_length(like, axis))
            header.body = [made]
            made = at(header, node)
        self.loops[made] = None
        return made

    def _counter(self, axis: int) -> str:
        while len(self.counters) <= axis:
            stem = LETTERS[len(self.counters)] if len(self.counters) < len(LETTERS) else "i"
            self.counters.append(self.facts.names.fresh(stem))
        return self.counters[axis]

    def _show_array(self, node: Node) -> Node:
        return self.views[node.id] if isinstance(node, gast.Name) and node.id in self.views else node

    def _elements(self, node: Node, rank: int) -> Node:
        """An expression for the elements at the counters, where it is one of arrays of this rank."""
        if isinstance(node, gast.BinOp):
            return gast.BinOp(self._elements(node.left, rank), node.op, self._elements(node.right, rank))
        if isinstance(node, gast.UnaryOp):
            return gast.UnaryOp(node.op, self._elements(node.operand, rank))
        return self._element(node, rank) if self.lengths.of(node) else copy(node)

    def _element(self, node: Node, rank: int) -> Node:
        """`u[1:, k]` at i: `u[i + 1, k]`."""
        node = self._show_array(node)
        parts: list[Node] = []
        if isinstance(node, gast.Subscript):
            parts = list(node.slice.elts) if isinstance(node.slice, gast.Tuple) else [node.slice]
        place, axis = [], 0
        for part in parts:
            if isinstance(part, gast.Slice):
                found = bounds(part)
                assert found is not None, "a part whose shape is known has literal bounds"
                counter = self._counter(axis)
                place.append(expression(f"{counter} + n", n=literal_node(found[0])) if found[0] else name(counter))
                axis += 1
            else:
                place.append(copy(part))
        place += [name(self._counter(one)) for one in range(axis, rank)]
        whole = node.value if isinstance(node, gast.Subscript) else node
        index = place[0] if len(place) == 1 else gast.Tuple(elts=place, ctx=gast.Load())
        return gast.Subscript(value=copy(whole), slice=index, ctx=gast.Load())


def _length(node: Node, axis: int) -> Node:
    """`u.shape[0] - 2` for `u[1:-1]`."""
    if not isinstance(node, gast.Subscript):
        return expression("x.shape[k]", x=_read(node), k=literal_node(axis))
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    kept = [(place, part) for place, part in enumerate(parts) if isinstance(part, gast.Slice)]
    kept += [(place, gast.Slice(None, None, None)) for place in range(len(parts), len(parts) + axis + 1)]
    place, part = kept[axis]
    whole = expression("x.shape[k]", x=copy(node.value), k=literal_node(place))
    ends = bounds(part)
    assert ends is not None, "a part whose shape is known has literal bounds"
    return expression("n - cut", n=whole, cut=literal_node(sum(ends))) if sum(ends) else whole


def _read(node: Node) -> Node:
    """What a statement writes into, as it is read."""
    made = copy(node)
    made.ctx = gast.Load()
    return made
