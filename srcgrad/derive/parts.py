"""The backward statements of one primal statement, and which of them read its new value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

from srcgrad.facts import Facts
from srcgrad.trees import Block, Node, assign, name, stores, walk


@dataclass
class Parts:
    """Backward statements of one primal statement, each with whether it reads the statement's new value."""

    facts: Facts
    blocks: list[tuple[Block, bool]] = field(default_factory=list)

    @property
    def reads_result(self) -> bool:
        """Whether any line reads the new value."""
        return any(reads for _, reads in self.blocks)

    def all(self) -> Block:
        """All statements in order."""
        return [node for block, _ in self.blocks for node in block]

    def split(self, lost: Iterable[str], again: Iterable[str]) -> tuple[Block, Block]:
        """Statements that run while the new value is there, and statements that run once the old is back.

        A line that needs both reads the new value under a second name.
        """
        old = set(lost) | set(again)
        early: Block = []
        late: Block = []
        for block, reads in self.blocks:
            shared = {s for node in block for s in stores(node) if s in self.facts.temporaries}
            if (reads or shared) and not self._reads_old(block, old):
                early += block
                continue
            if reads:
                early += self._keep(block)
            late += block
            old |= shared
        return early, late

    def _reads_old(self, block: Block, old: set[str]) -> bool:
        return any(
            isinstance(n, gast.Name) and n.id in old and n not in self.facts.results
            for node in block
            for n in walk(node)
        )

    def _keep(self, block: Block) -> Block:
        made: Block = []
        kept: dict[str, str] = {}
        for item in [n for node in block for n in walk(node) if n in self.facts.results]:
            if item.id not in kept:
                held = self.facts.names.fresh(f"t{len(self.facts.temporaries) + 1}")
                self.facts.temporaries[held] = "t"
                kept[item.id] = held
                made.append(assign(held, name(item.id), block[0]))
            item.id = kept[item.id]
        return made


def reads_new(node: Node, facts: Facts) -> bool:
    """Whether an expression reads what its statement has bound."""
    return any(item in facts.results for item in walk(node))
