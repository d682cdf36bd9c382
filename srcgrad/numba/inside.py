"""Texts whose indices all lie inside of their arrays: lengths are known, and checked before the loops."""

from __future__ import annotations

import dataclasses

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.numba.given import Items, Taken
from srcgrad.numba.lengths import bindings
from srcgrad.numba.nests import Item, Plain
from srcgrad.numba.numbers import is_function
from srcgrad.trees import Block, Node, header, statements, stores, walk

Lengths = dict[str, tuple[int, ...]]
OWN_NAMES = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda, gast.NamedExpr)
BUILTINS = ("abs", "float", "range", "reversed")


def inside(program: Program, facts: Facts) -> Program:
    """Note whether no index of the derivative of an item need be looked at: those are numbers, or count up to one."""
    items: Items | None = facts.module.given
    taken: Taken | None = facts.module.given_of.get(facts.source.name)
    if items is None or taken is None or items.lengths is None or facts.mode != "pull" or facts.called:
        return program
    work = _Work(program, facts, items)
    if work.are_safe(program.block):
        facts.module.given_of[facts.source.name] = dataclasses.replace(taken, inside=True)
    return program


def is_inside(items: list[Item], result: Node) -> bool:
    """Whether statements beside loops over elements have no index: parts, and lengths, need no look."""
    trees = [*(item.node for item in items if isinstance(item, Plain)), result]
    return all(_is_part(one) for tree in trees for one in walk(tree) if isinstance(one, gast.Subscript))


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
        self.rows = {each: (items.size,) for each in facts.seeds if each not in self.bound}
        self.lengths: Lengths = {each: shape for each, shape in known.items() if each not in self.bound}
        for wanted in facts.wrt:
            adjoint = facts.spelled[wanted]
            whole = adjoint in facts.seeds and adjoint not in self.bound
            if wanted in known and (whole or all(self._is_row(value) for value in self.bound.get(adjoint, [None]))):
                self.lengths[adjoint] = known[wanted]

    def _tuple(self, values: list[Node]) -> int:
        """How many parts the tuples have that a name is bound to; 0 where it is bound to anything else."""
        found = {len(value.elts) if isinstance(value, gast.Tuple) else 0 for value in values}
        return found.pop() if len(found) == 1 else 0

    def _is_row(self, value: Node) -> bool:
        """Whether a value is `x_rows[k]`."""
        part = isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)
        return part and value.value.id in self.rows

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
            plain = isinstance(function, gast.Name) and function.id in BUILTINS and function.id not in self.facts.local
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
