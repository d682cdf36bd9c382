"""A function behind the front, kept for all who ask about it: what the front does depends on few of its arguments."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from srcgrad.facts import Facts, Kind
from srcgrad.kinds import Asked, contained, numbers
from srcgrad.names import Names
from srcgrad.trees import Node


@dataclass
class Shared:
    """The tree, which stays as it is until a derivative takes it, and the facts, of which each who asks has a copy."""

    facts: Facts
    tree: Node
    asked: Asked
    making: tuple[str, ...]  # the derivatives that the text had or made then, whose names others had to avoid
    taken: bool = False

    def serves(self, kinds: dict[str, Kind]) -> bool:
        """Whether the front would have done the same for arguments of these kinds."""
        if self.taken or self.asked.told or contained(self.asked) or contained(kinds):
            return False
        alike = self.asked.numbers is None or self.asked.numbers == numbers(kinds)
        return alike and self.making == tuple(self.facts.module.making)

    def begin(self, kinds: dict[str, Kind]) -> tuple[Facts, Node]:
        """Facts of one's own, for arguments of these kinds, and the tree."""
        made = copy(self.facts)
        for key, value in vars(self.facts).items():
            setattr(made, key, _own(value))
        made.kinds = dict(self.asked) if self.asked.told else dict(kinds)  # the front may have changed them
        made.arguments = dict(kinds)
        return made, self.tree


def _own(value: object) -> object:
    """A table that may be filled; nodes and records in it are shared."""
    if type(value) is dict:
        return {key: _own(item) if type(item) in (dict, list) else item for key, item in value.items()}
    if type(value) is list:
        return list(value)
    return Names(value.taken) if isinstance(value, Names) else value


def shared(facts: Facts, tree: Node) -> Shared:
    """What the front has made of a function, whose kinds have noted what it asked of them."""
    assert isinstance(facts.kinds, Asked), "the caller has given them so"
    return Shared(facts, tree, facts.kinds, tuple(facts.module.making))
