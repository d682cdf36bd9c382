"""Which names are bound wherever they are read: definite assignment, with every way out of a block followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import gast

from srcgrad.trees import Block, Node, header, loads, statements, stores

Names = frozenset[str]
After = Names | None  # names bound for sure at the end of a block; None if the end is never reached


@dataclass
class Reader:
    """One walk over a function; `doubtful` collects names that are read where they may be unbound."""

    local: Names
    doubtful: dict[str, None] = field(default_factory=dict)
    breaks: list[list[Names]] = field(default_factory=list)  # of each loop around

    def block(self, block: Block, bound: Names) -> After:
        """Names bound for sure at the end of a block."""
        after: After = bound
        for node in block:
            if after is None:
                return None
            after = self.statement(node, after)
        return after

    def statement(self, node: Node, bound: Names) -> After:
        """Names bound for sure after a statement."""
        unsure = [read for read in loads(node) if read in self.local and read not in bound]
        if unsure:
            self.doubtful.update(dict.fromkeys(unsure))
            always = {one for part in header(node) for one in _read_always(part)}
            bound |= always.intersection(unsure)  # or what follows is never reached
        if isinstance(node, gast.Return | gast.Raise | gast.Continue):
            return None
        if isinstance(node, gast.Break):
            if self.breaks:
                self.breaks[-1].append(bound)
            return None
        if isinstance(node, gast.If):
            return _both(self.block(node.body, bound), self.block(node.orelse, bound))
        if isinstance(node, gast.For | gast.While):
            return self.loop(node, bound)
        return bound | frozenset(stores(node))

    def loop(self, node: Node, bound: Names) -> After:
        """A loop may run no trip, unless it is `while True`; `else` runs where no `break` left it."""
        self.breaks.append([])
        body = self.block(node.body, bound | frozenset(stores(node)))
        left = self.breaks.pop()
        if body is not None and _runs(node):
            bound = body
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
        after: After = None if endless else self.block(node.orelse or [], bound)
        for one in left:
            after = _both(after, one)
        return after


def _read_always(node: Node) -> Iterator[str]:
    """Names that an expression or a statement reads whatever the values: not those of a branch that it may not take."""
    if isinstance(node, gast.Name):
        yield node.id
    elif isinstance(node, gast.IfExp):
        yield from _read_always(node.test)
    elif isinstance(node, gast.BoolOp):
        yield from _read_always(node.values[0])
    elif not isinstance(node, gast.Lambda | gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp):
        for part in gast.iter_child_nodes(node):
            yield from _read_always(part)


def _runs(loop: Node) -> bool:
    """Whether a loop is sure to run a trip, to its end: `for k in range(3)`."""
    call = loop.iter if isinstance(loop, gast.For) else None
    if not isinstance(call, gast.Call) or getattr(call.func, "id", "") != "range" or len(call.args) != 1:
        return False
    count = getattr(call.args[0], "value", None)
    leaves = any(isinstance(node, gast.Continue | gast.Break) for node in statements(loop.body))
    return type(count) is int and count > 0 and not leaves


def _both(one: After, other: After) -> After:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def doubtful(block: Block, parameters: Iterable[str], local: Iterable[str]) -> dict[str, None]:
    """Names that some path reads before it binds them.

    >>> doubtful(gast.parse("if x: r = 1\\ny = r").body, ["x"], ["r", "y"])
    {'r': None}
    """
    reader = Reader(frozenset(local))
    reader.block(block, frozenset(parameters))
    return reader.doubtful
