"""Rows that are picked from a result by an index are picked from what it is made of: fewer rows go through products."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.batch.axes import part, whole
from srcgrad.batch.calls import UnknownFormError, literal, meant
from srcgrad.batch.indices import parts_of
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.rules import rule_of
from srcgrad.trees import Node, copy, is_write, loads, name, statements, stores, target, walk

Rank = Callable[[Node], int | None]
Axes = frozenset[tuple[str, int]]


class StaysError(Exception):
    """The rows are picked where the user picks them."""


def sooner(program: Program, facts: Facts, rank: Rank, known: Container[str]) -> None:
    """Let `(w @ turn)[i]` be `w[i] @ turn`, for arguments with more rows than `i` has entries.

    Which these are, `facts.module.leading.fewer` tells of the arguments of this call. All that reads the rows of a
    result has to pick the same ones; else they stay where they are.
    """
    if facts.called or any(is_write(node) for node in statements(program.block)):
        return
    for index, axes in facts.module.leading.fewer:
        if not any(index in stores(node) for node in statements(program.block)):
            work = _Work(program, facts, rank, known, index, frozenset(axes))
            try:
                work.run()
            except StaysError:
                continue


@dataclass
class _Work:
    """One index, and the arguments of which it may pick rows."""

    program: Program
    facts: Facts
    rank: Rank
    known: Container[str]
    index: str
    axes: Axes
    made: dict[str, tuple[int, Node]] = field(default_factory=dict)  # name -> the axis, and its value with fewer rows
    reads: dict[str, int] = field(default_factory=dict)
    products: int = 0

    def run(self) -> None:
        """Change the text, if there is a product that gets smaller."""
        block = self.program.forward
        self.bound = {str(target(n)): n for n in block if target(n) is not None and isinstance(n, gast.Assign)}
        stored = [bound for node in statements(self.program.block) for bound in stores(node)]
        self.bound = {bound: node for bound, node in self.bound.items() if stored.count(bound) == 1}
        self.stored = frozenset(stored)
        sites = [item for node in block if isinstance(node, gast.Assign) for item in walk(node.value)]
        changed = [(site, self._rows(site.value)) for site in sites if self._picks(site)]
        every = [read for node in statements(self.program.block) for read in loads(node)]
        if not self.products or any(every.count(read) != times for read, times in self.reads.items()):
            raise StaysError
        for site, value in changed:
            _become(site, value)
        for bound, (_, value) in self.made.items():
            node = self.bound[bound]
            node.value = value
            self.facts.rewritten[self.facts.origin.get(node, node)] = None

    def _picks(self, site: Node) -> bool:
        picks = isinstance(site, gast.Subscript) and isinstance(site.ctx, gast.Load)
        if not picks or not isinstance(site.slice, gast.Name) or site.slice.id != self.index:
            return False
        return not isinstance(site.value, gast.Name) or (site.value.id, 0) not in self.axes

    def _rows(self, node: Node) -> Node:
        return self.of(node, 0)

    def of(self, node: Node, axis: int) -> Node:
        """The expression with only the rows that are picked along an axis."""
        if isinstance(node, gast.Name):
            return self._name(node, axis)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
            return gast.UnaryOp(node.op, self.of(node.operand, axis))
        if isinstance(node, gast.BinOp):
            if isinstance(node.op, gast.MatMult):
                left, right = self._product(node, node.left, node.right, axis)
            elif isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div | gast.Pow):
                left, right = (self._operand(side, self._known(node) - axis) for side in (node.left, node.right))
            else:
                raise StaysError
            return gast.BinOp(left, node.op, right)
        if isinstance(node, gast.Subscript):
            return self._part(node, axis)
        if isinstance(node, gast.Attribute) and node.attr == "T":
            return gast.Attribute(self.of(node.value, self._known(node) - 1 - axis), "T", gast.Load())
        if isinstance(node, gast.Call):
            return self._call(node, axis)
        raise StaysError

    def _known(self, node: Node) -> int:
        found = self.rank(node)
        if found is None:
            raise StaysError
        return found

    def _name(self, node: Node, axis: int) -> Node:
        if (node.id, axis) in self.axes and node.id not in self.stored:
            return part(copy(node), [*[whole()] * axis, name(self.index)])
        if node.id not in self.bound or node.id in self.facts.containers:
            raise StaysError
        self.reads[node.id] = self.reads.get(node.id, 0) + 1
        if node.id not in self.made:
            self.made[node.id] = axis, node
            self.made[node.id] = axis, self.of(self.bound[node.id].value, axis)
        if self.made[node.id][0] != axis:
            raise StaysError
        return copy(node)

    def _operand(self, node: Node, from_end: int) -> Node:
        """An operand that broadcasts: one with fewer axes, or with a new one there, has no such rows."""
        rank = self._known(node)
        if rank < from_end or _is_new(node, rank - from_end):
            return copy(node)
        return self.of(node, rank - from_end)

    def _product(self, node: Node, left: Node, right: Node, axis: int) -> tuple[Node, Node]:
        one, two = self._known(left), self._known(right)
        self.products += 1
        if one < 2 or two < 2:
            raise StaysError
        from_end = self._known(node) - axis
        if from_end == 2:
            return self.of(left, one - 2), copy(right)
        if from_end == 1:
            return copy(left), self.of(right, two - 1)
        raise StaysError

    def _part(self, node: Node, axis: int) -> Node:
        """Rows of `x[:, None, :]`: those of x, along the axis that is kept whole there."""
        source = kept = 0
        parts = parts_of(node.slice)
        for one in parts:
            if isinstance(one, gast.Slice):
                if kept == axis and (one.lower, one.upper, one.step) == (None, None, None):
                    return gast.Subscript(self.of(node.value, source), copy(node.slice), gast.Load())
                source, kept = source + 1, kept + 1
            elif isinstance(one, gast.Constant) and one.value is None:
                kept += 1
            elif isinstance(one, gast.Constant) and type(one.value) is int:
                source += 1
            else:
                raise StaysError
        if kept > axis:
            raise StaysError
        return gast.Subscript(self.of(node.value, source + axis - kept), copy(node.slice), gast.Load())

    def _call(self, node: Node, axis: int) -> Node:
        function = meant(node.func, self.facts, self.known)
        given, words = node.args, {word.arg: word.value for word in node.keywords}
        if function is np.matmul and len(given) == 2 and not words:
            return gast.Call(node.func, list(self._product(node, given[0], given[1], axis)), [])
        if function is np.transpose and len(given) == 1 and not words:
            return gast.Call(node.func, [self.of(given[0], self._known(node) - 1 - axis)], [])
        if function is np.broadcast_to and len(given) == 2 and not words and _is_shape(given[1]):
            like = self.of(given[1].args[0], axis)
            shape = gast.Call(given[1].func, [like], [])
            return gast.Call(node.func, [self._operand(given[0], self._known(node) - axis), shape], [])
        if function is np.sum and len(given) == 1 and set(words) == {"axis"}:
            try:
                over = literal(words["axis"])
            except UnknownFormError:
                raise StaysError from None
            if type(over) is not int:
                raise StaysError
            over %= self._known(given[0])
            return gast.Call(node.func, [self.of(given[0], axis + (axis >= over))], copy(node).keywords)
        rule = rule_of(function) if isinstance(function, np.ufunc) else None
        if rule is not None and rule.kind == "elementwise" and not words:
            from_end = self._known(node) - axis
            return gast.Call(node.func, [self._operand(one, from_end) for one in given], [])
        raise StaysError


def _is_shape(node: Node) -> bool:
    """Whether an expression is `np.shape(x)`, as generated texts have it."""
    called = isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "shape"
    return called and len(node.args) == 1 and not node.keywords


def _is_new(node: Node, axis: int) -> bool:
    """Whether an axis of a value is one that its index puts there, of length 1."""
    if not isinstance(node, gast.Subscript):
        return False
    kept = [one for one in parts_of(node.slice) if not (isinstance(one, gast.Constant) and type(one.value) is int)]
    plain = all(isinstance(one, gast.Slice) or getattr(one, "value", 0) is None for one in kept)
    return plain and axis < len(kept) and not isinstance(kept[axis], gast.Slice)


def _become(site: Node, value: Node) -> None:
    """Let an expression that stands in a text be another one."""
    site.__class__ = type(value)
    site.__dict__.clear()
    site.__dict__.update(value.__dict__)
