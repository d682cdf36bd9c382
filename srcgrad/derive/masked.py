"""Branches of `np.where` are computed where they are taken alone, in functions marked by `srcgrad.safe_where`.

y = np.where(m, np.log(x), 0.0)     =>      y = np.where(m, np.log(np.where(m, x, 0.5)), 0.0)

What an operation has at an element that is not taken, `1 / 0` say, reaches no derivative then.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.facts import Facts, Operation
from srcgrad.front.chosen import harmless
from srcgrad.rules import rule_of
from srcgrad.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    loads,
    name,
    statements,
    stores,
    target,
    written,
)

_LINEAR = (np.add, np.subtract, np.negative, np.positive, np.where)  # no value of an operand is in their derivatives
_SCALING = (np.multiply, np.divide)
_ENTIRE = (np.multiply, np.square, np.exp, np.expm1, np.sin, np.cos, np.sinh, np.cosh, np.tanh)  # smooth at any number
_SINGULAR = (
    np.sqrt, np.cbrt, np.log, np.log2, np.log10, np.log1p, np.power, np.float_power, np.divide, np.reciprocal,
    np.arcsin, np.arccos, np.arccosh, np.arctanh, np.arctan2,
)  # fmt: skip
DOUBT = "may be nan where the other branch is taken: safe_where"


def masked(function: Node, facts: Facts) -> Node:
    """Mask what the operations of a branch take, if what they give is read in that branch alone."""
    if not facts.source.safe and not facts.safe and not facts.module.explained:
        return function
    _Masking(facts, *_counts(function.body)).block(function.body)
    return function


def _counts(block: Block) -> tuple[Counter[str], Counter[str]]:
    """How often each name is read, and how often it is bound or written into."""
    every = list(statements(block))
    changes = (one for node in every for one in (*stores(node), *written(node)))
    return Counter(one for node in every for one in loads(node)), Counter(changes)


@dataclass
class _Masking:
    facts: Facts
    reads: Counter[str]
    changes: Counter[str]

    def block(self, block: Block) -> None:
        """Each `where` of a block, the inner ones of an expression after those around them."""
        for node in block[::-1]:
            for which in BLOCKS:
                self.block(getattr(node, which, None) or [])
            operation = self.facts.operation.get(getattr(node, "value", None))
            marked = self.facts.source.safe or self.facts.origin.get(node, node) in self.facts.safe
            if operation is not None and operation.function is np.where and "x" in operation.bound:
                if marked:
                    self._branches(node, operation, block)
                elif any(
                    self._is_doubtful(one) for key in "xy" for one in self._chain(node, operation.bound[key], block)
                ):
                    self.facts.lines.setdefault(node.lineno, {})[DOUBT] = None

    def _branches(self, node: Node, operation: Operation, block: Block) -> None:
        chains = [(which, self._chain(node, operation.bound[which], block)) for which in ("x", "y")]
        moved = [one for _, chain in chains for one in chain]
        if not any(self._operands(one) for one in moved):
            return
        block[:] = [one for one in block if one not in moved]
        made: Block = []
        mask = self._mask(node, operation, made)
        for which, chain in chains:
            place = _Place(node, mask, which == "x")
            for one in chain:
                self._mask_operands(one, place, made)
                made.append(one)
        here = block.index(node)
        block[here:here] = made

    def _chain(self, node: Node, branch: Node, block: Block) -> Block:
        """The operations on elements that compute a branch and nothing else, in their order."""
        readers, found = Counter([branch.id] if isinstance(branch, gast.Name) else []), []
        changed: set[str] = set()
        for one in reversed(block[: block.index(node)]):
            bound = target(one)
            if bound is None or readers[bound] != self.reads[bound] or not self._is_elementwise(one, changed):
                changed |= {name for each in statements([one]) for name in (*stores(each), *written(each))}
            else:
                found.append(one)
                readers.update(loads(one))
        return found[::-1]

    def _is_elementwise(self, node: Node, changed: set[str]) -> bool:
        """Whether a statement may stand right before the `where`: it binds a value once, of operands that stay."""
        operation, bound = self.facts.operation.get(node.value), str(target(node))
        if operation is None or operation.rule is None or operation.rule.kind != "elementwise":
            return False
        alone = bound in self.facts.varied and self.changes[bound] == 1
        return alone and not changed.intersection(loads(node))

    def _operands(self, node: Node) -> list[str]:
        """Parameters of an operation which may depend on an input, and whose values are in its derivatives."""
        operation = self.facts.operation[node.value]
        if operation.function in _LINEAR:
            return []
        if operation.function in _SCALING and any(isinstance(one, gast.Constant) for one in operation.bound.values()):
            over = operation.bound["y"]
            return ["y"] if operation.function is np.divide and isinstance(over, gast.Name) else []
        given = operation.bound.items()
        return [key for key, one in given if isinstance(one, gast.Name) and one.id in self.facts.varied]

    def _is_doubtful(self, node: Node) -> bool:
        """Whether an operation of a branch has an infinite derivative somewhere."""
        operation = self.facts.operation[node.value]
        power = operation.bound.get("y")
        whole = isinstance(power, gast.Constant) and isinstance(power.value, int) and power.value > 0
        return operation.function in _SINGULAR and not whole and bool(self._operands(node))

    def _mask(self, node: Node, operation: Operation, made: Block) -> Node:
        """The condition as a name, or as a literal."""
        condition = operation.bound["condition"]
        if not isinstance(condition, gast.Name | gast.Constant):
            held = self._named(condition, node, made)
            place = node.value.args.index(condition)
            node.value.args[place] = operation.bound["condition"] = condition = name(held)
        return condition

    def _mask_operands(self, node: Node, place: _Place, made: Block) -> None:
        operation = self.facts.operation[node.value]
        chosen = self._operands(node)
        given = {
            one.id for one in operation.bound.values() if isinstance(one, gast.Name) and one.id in self.facts.varied
        }
        if chosen or given <= place.numbers:
            place.numbers.add(str(target(node)))
        for parameter in chosen:
            read = operation.bound[parameter]
            if read.id in place.numbers and operation.function in _ENTIRE:
                continue
            if read.id not in place.held:
                value = place.chosen(self.facts.library("np"), read, harmless(operation.function))
                self.facts.operation[value] = Operation(
                    "op", np.where, rule_of(np.where), dict(zip(("condition", "x", "y"), value.args, strict=True))
                )
                place.held[read.id] = self._named(value, place.node, made)
                for table in (self.facts.varied, self.facts.active):
                    table[place.held[read.id]] = None
            read.id = place.held[read.id]
        self.facts.rewritten[self.facts.origin.get(node, node)] = None

    def _named(self, value: Node, node: Node, made: Block) -> str:
        held = self.facts.names.fresh(f"t{len(self.facts.temporaries) + 1}")
        self.facts.temporaries[held] = "t"
        bound = at(assign(held, value), node)
        self.facts.origin[bound] = user = self.facts.origin.get(node, node)
        self.facts.rewritten[user] = None
        made.append(bound)
        return held


@dataclass
class _Place:
    """One branch of a `where`, and what has been masked for it, by name."""

    node: Node
    mask: Node
    taken: bool  # where the mask is true
    held: dict[str, str] = field(default_factory=dict)
    numbers: set[str] = field(default_factory=set)  # what is a number, not inf or nan, at elements that are not taken

    def chosen(self, numpy: str, read: Node, other: Node) -> Node:
        """`np.where(m, x, 0.5)`, or `np.where(m, 0.5, x)`."""
        parts = {"m": copy(self.mask), "x": copy(read), "e": other}
        return expression(f"{numpy}.where(m, x, e)" if self.taken else f"{numpy}.where(m, e, x)", **parts)
