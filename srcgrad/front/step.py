"""The body of a checkpointed loop as a function: from the state before a trip to the state after it."""

from __future__ import annotations

from dataclasses import dataclass

from srcgrad.front.namespace import Namespace
from srcgrad.front.source import Source
from srcgrad.trees import Node


@dataclass(frozen=True, eq=False)
class Step:
    """One trip of a loop: parameters are the item of the trip (if it is read), the state, what stays the same.

    `state` are the names that are carried from trip to trip; `results` what the function returns, the state first;
    `changed` those names of the state whose arrays the body may write into; `made` statements that are not the user's.
    """

    source: Source
    namespace: Namespace
    item: str
    state: tuple[str, ...]
    results: tuple[str, ...]
    changed: tuple[str, ...]
    made: dict[Node, None]

    @property
    def parameters(self) -> list[str]:
        """The item, the state, and what is the same in every trip."""
        return [a.id for a in self.source.tree.args.args]
