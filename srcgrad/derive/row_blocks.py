"""A function that adds up over the rows of arguments as a loop over blocks of them."""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad.analysis.rows import FIRST, IN_BLOCK, Form, Phase, Plan, are_rows, plan, read_for_lengths
from srcgrad.core.facts import UNKNOWN, Facts, Operation
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import rule_of
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
    name,
    names_in,
    statement,
    statements,
    stores,
    target,
    walk,
)

ELEMENTS = 16_384  # of the widest value of a block: 128 KB of float64
FEWEST = 64  # rows of a block


@record(frozen=True)
class Blocks:
    """Arguments whose rows come in blocks, and how many rows a block has (None: chosen from the widest value).

    `chunks` is how many rows of an array of NumPy are a task, where blocks are spread (None: chosen from bytes).
    """

    over: tuple[str, ...]
    rows: int | None = None
    chunks: int | None = None
    apart: bool = False  # whether what reads no rows is taken apart as well, so that its ranks are known
    over_rows: frozenset[tuple[str, int, int, int]] = (
        frozenset()
    )  # calls that are written out, as they add up over rows


def loop_over_blocks(function: Node, facts: Facts) -> Node:
    """Write a sum over the rows of arguments as a loop over blocks of rows; E5029 where it is not known to be one.

    >>> import numpy as np, srcgrad
    >>> def loss(w, x):
    ...     return np.sum((x @ w) ** 2) + np.sum(w * w)
    >>> text = srcgrad.blocked(loss, over="x", rows=64).source_for(np.ones(2), np.ones((3, 2)))
    >>> print(text[text.index("    stop") :])
        stop = max(len(x), 1)
        total = 0
        for first in range(0, stop, 64):
            x_rows = x[first : first + 64]
            total += np.sum((x_rows @ w) ** 2)
        y = total + np.sum(w * w)
        return y
    <BLANKLINE>
    """
    if facts.request.called or facts.request.mode == "hvp":  # the text of a gradient has its loops
        return function
    blocks = facts.module.blocks
    found = plan(function, blocks.over, facts)
    _note_rows(found, blocks, facts)
    work = _Work(facts, found, blocks, function)
    facts.request = replace(facts.request, wrt=facts.request.asked)
    function.body = [*found.phases[0].before, *work.starts(), *work.loops(), *found.after, function.body[-1]]
    facts.forget_shapes()
    return function


def _note_rows(found: Plan, blocks: Blocks, facts: Facts) -> None:
    """Which names mean what has an entry for each row: what is made of rows, and does not add them up."""
    loops = [node for phase in found.phases for node in phase.loop]
    facts.of_rows.update(dict.fromkeys(blocks.over))
    for node in [*statements(loops), *statements(loops)]:  # twice: inner loops carry values
        read = names_in(node.iter) if isinstance(node, gast.For) else loads(node)
        if node not in found.totals and {s.removesuffix(IN_BLOCK) for s in read} & set(facts.of_rows):
            facts.of_rows.update(dict.fromkeys(s for s in stores(node) if s not in found.added))


@record
class _Work:
    """What the loop is made with."""

    facts: Facts
    plan: Plan
    blocks: Blocks
    function: Node

    def __post_init__(self) -> None:
        fresh = self.facts.names.fresh
        self.like = self.plan.phases[0].loop[0]
        self.first, self.stop = fresh("first"), fresh("stop")
        self.rows: Node = literal_node(self.blocks.rows)
        self.called = set[str]()  # numbers of totals
        for node in [one for one in self.plan.totals if target(one) in self.facts.names.temporaries]:
            self._call_total(str(target(node)))
        self._give_own_rows()

    def _call_total(self, held: str) -> None:
        """A total that the user has no name for."""
        number = next(k for k in range(1, len(self.plan.totals) + 2) if f"total_{k}" not in self.called)
        total = self.facts.names.fresh("total" if number == 1 else f"total_{number}")
        self.called.add(f"total_{number}")
        for item in [n for node in statements(self.function.body) for n in find_nodes(node, gast.Name)]:
            item.id = total if item.id == held else item.id

    def _give_own_rows(self) -> None:
        """Give each loop behind the first statements and names of its own for what another one computes as well."""
        seen, shared = set[Node](), list[dict[str, str]]()
        for phase in self.plan.phases:
            again, seen = seen & set(phase.loop), seen | set(phase.loop)
            bound = [s for node in statements([n for n in phase.loop if n in again]) for s in stores(node)]
            number = len(shared) + 1
            shared.append({one: self._name_like(one, number) for one in dict.fromkeys(bound)})
            phase.loop = [self._copy(node) if node in again else node for node in phase.loop]
        for phase, own in zip(self.plan.phases, shared, strict=True):
            for item in [n for node in statements(phase.loop) for n in find_nodes(node, gast.Name)]:
                item.id = own.get(item.id, item.id)

    def _name_like(self, known: str, number: int) -> str:
        """The name of what is computed once more, in a loop of this number."""
        new = known in self.facts.names.temporaries
        made = self.facts.names.new_temporary() if new else self.facts.names.fresh(f"{known}_{number}")
        self.facts.kinds.of_names[made] = self.facts.kinds.of_names.get(known, UNKNOWN)
        return made

    def _copy(self, node: Node) -> Node:
        """A statement once more, with what is known of its operations and of the user's line."""
        made, facts = copy(node), self.facts
        twins = dict(zip(walk(node), walk(made), strict=True))
        for old, new in twins.items():
            operation = facts.resolution.operation.get(old)
            if operation is not None:
                bound = {word: twins.get(one, one) for word, one in operation.bound.items()}
                facts.resolution.operation[new] = replace(operation, bound=bound)
            if old in facts.origin.user:
                facts.origin.user[new] = facts.origin.user[old]
        return made

    def starts(self) -> Block:
        """How many rows there are, how many a block has, and the totals before the first."""
        longest = f"max(len({self.blocks.over[0]}), 1)"
        if len(self.blocks.over) > 1 or self.facts.request.mode != "primal" or self.plan.masks:
            masks = f", masks=[{', '.join(self.plan.masks)}]" if self.plan.masks else ""
            longest = f"{self.facts.library('row_count')}({', '.join(self.blocks.over)}{masks})"
        made = [statement(f"{self.stop} = {longest}")]
        if self.blocks.rows is None:
            rows = self.facts.names.fresh("rows")
            self.rows = name(rows)
            made.append(statement(f"{rows} = {block_size(self.plan.seen)}"))
        for node in self.plan.totals:
            least = self.plan.totals[node] == "max"
            made.append(assign(str(target(node)), expression(f"-{self._np()}.inf") if least else literal_node(0)))
        return [at(node, self.like) for node in made]

    def loops(self) -> Block:
        """The loops over blocks, each behind what it needs that has no rows."""
        made = [self._loop(self.plan.phases[0], self.first, "")]
        for number, phase in enumerate(self.plan.phases[1:], 2):
            first = self.facts.names.fresh(f"{self.first}_{number}")
            made += [*phase.before, self._loop(phase, first, f"_{number}")]
        return made

    def _loop(self, phase: Phase, first: str, suffix: str) -> Node:
        """A loop over blocks."""
        header = statement(f"for {first} in range(0, {self.stop}, rows):\n    pass", rows=self.rows)
        body: Block = []
        self.parts = {held: self.facts.names.fresh(f"{held}_rows{suffix}") for held in self._read(phase)}
        for held, part in self.parts.items():
            value = expression(f"{held}[{first} : {first} + rows]", rows=self.rows)
            self._note(value, operator.getitem, {"x": value.value, "index": value.slice})
            body.append(at(assign(part, value), self.like))
            self.facts.kinds.of_names[part] = self.facts.kinds.of_names.get(held, UNKNOWN)
        weight = self._weight(phase, body, suffix)
        for node in phase.loop:
            self._rename(node, first)
            body += self._add_sum(node, weight) if node in self.plan.totals else [node]
        header.body = body
        return at(header, self.function)

    def _read(self, phase: Phase) -> list[str]:
        """The arguments with rows that a loop reads."""
        found = {n.id.removesuffix(IN_BLOCK) for node in phase.loop for n in find_nodes(node, gast.Name)}
        return [held for held in self.blocks.over if held in found]

    def _weight(self, phase: Phase, body: Block, suffix: str) -> str:
        """A mean over the rows is the sum of those of the blocks, each times its part of the rows."""
        if not any(self.plan.totals.get(node) == "mean" for node in phase.loop):
            return ""
        weight = self.facts.names.fresh(f"weight{suffix}")
        count = self.facts.names.new_temporary()
        body.append(at(assign(count, expression(f"len({next(iter(self.parts.values()))})")), self.like))
        body.append(at(assign(weight, self._of_two(f"{count} / {self.stop}", np.divide)), self.like))
        return weight

    def _rename(self, node: Node, first: str) -> None:
        for each in statements([node]):
            lengths = read_for_lengths(each, self.blocks.over, self.facts)  # those of all rows
            read = [n for n in find_nodes(each, gast.Name) if n.id in self.parts and n not in lengths]
            own = [n for n in find_nodes(each, gast.Name) if n.id.endswith(IN_BLOCK)]
            for item in [*read, *own]:
                item.id = self.parts[item.id.removesuffix(IN_BLOCK)]
            for item in [n for n in find_nodes(each, gast.Name) if n.id == FIRST]:
                item.id = first
            if read or own or each in self.plan.totals or len(self.plan.phases) > 1:
                self.facts.origin.rewritten[self.facts.origin.user.get(each, each)] = None

    def _add_sum(self, node: Node, weight: str) -> Block:
        """`s = np.sum(t)` as `s = s + np.sum(t)`."""
        total, made = str(target(node)), []
        held = self.facts.names.new_temporary()
        made.append(self._as(node, assign(held, node.value)))
        if self.plan.totals[node] == "mean":
            weighed = self.facts.names.new_temporary()
            made.append(self._as(node, assign(weighed, self._of_two(f"{held} * {weight}", np.multiply))))
            held = weighed
        if self.plan.totals[node] == "max":
            value = expression(f"{self._np()}.maximum({total}, {held})")
            self._note(value, np.maximum, {"x": value.args[0], "y": value.args[1]})
            return [*made, self._as(node, assign(total, value))]
        made.append(self._as(node, assign(total, self._of_two(f"{total} + {held}", np.add))))
        self.facts.origin.augmented[made[-1]] = None
        return made

    def _np(self) -> str:
        return self.facts.library("np")

    def _as(self, node: Node, made: Node) -> Node:
        self.facts.origin.user[made] = self.facts.origin.user.get(node, node)
        return at(made, node)

    def _of_two(self, text: str, function: object) -> Node:
        value = expression(text)
        self._note(value, function, {"x": value.left, "y": value.right})
        return value

    def _note(self, value: Node, function: object, bound: dict[str, Node]) -> None:
        self.facts.resolution.operation[value] = Operation("op", function, rule_of(function), bound)


def block_size(seen: list[Form]) -> str:
    """The number of rows with which the widest value has some 16,000 elements, as text.

    >>> block_size([Form(("rows", "x.shape[1]")), Form(("means.shape[0]", "rows", "x.shape[1]"))])
    'max(64, 16384 // (means.shape[0] * x.shape[1]))'
    >>> block_size([Form(("rows",))])
    '16384'
    """
    wide: dict[tuple[str, ...], None] = {}
    for form in seen:
        axes = tuple(one for one in form.axes or () if one not in ("1", "?") and not are_rows(one))
        if not any(set(axes) <= set(other) for other in wide):
            wide = {other: None for other in wide if not set(other) <= set(axes)} | {axes: None}
    most = max(map(len, wide), default=0)
    products = [" * ".join(axes) for axes in wide if axes and len(axes) == most]
    if not products:
        return str(ELEMENTS)
    if len(products) > 1:
        return f"max({FEWEST}, {ELEMENTS} // max({', '.join(products)}))"
    return f"max({FEWEST}, {ELEMENTS} // {f'({products[0]})' if ' ' in products[0] else products[0]})"
