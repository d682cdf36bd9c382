"""What has been found while a text is gone through again and again: names with the leading axis, what values are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any  # what is known of names, or nothing

from srcgrad.batch.calls import Lifted
from srcgrad.trees import Node
from srcgrad.walked import Walked, reads, walked

if TYPE_CHECKING:
    from srcgrad.batch.expressions import Expressions

Given = tuple[Walked, tuple[str, ...], list[Any]]  # a tree as it is, the names that it reads, what is known of them


@dataclass
class Axis:
    """What has the leading axis, as far as it has been found."""

    names: dict[str, None]
    writes: bool = False  # whether the text writes into parts of what has it
    zeroed: dict[str, None] = field(default_factory=dict)  # names bound to 0.0, which became zeros
    plain: dict[str, None] = field(default_factory=dict)  # those that stay 0.0, since arrays are added to it
    spare: list[str] = field(default_factory=list)  # names of what comprehensions go through
    looks: dict[Node, tuple[Given, Lifted]] = field(default_factory=dict)  # by value of an assignment

    @property
    def state(self) -> tuple[int, bool, int, int]:
        """What grows until all is known."""
        return len(self.names), self.writes, len(self.zeroed), len(self.plain)

    def look(self, node: Node, text: Expressions, *, final: bool) -> Lifted:
        """A value with its axis: looked at again where it has changed, or more is known of what it reads."""
        given: Given = (walked(node), reads(node), [self.writes, *map(text.known.get, reads(node))])
        known = self.looks.pop(node, None) if final else self.looks.get(node)  # a tree stands in one place
        if known is not None and known[0][0] is given[0] and known[0][1:] == given[1:]:
            return known[1]
        found = text.own(node, zero=True)
        if not final:
            self.looks[node] = given, found
        return found
