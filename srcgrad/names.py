"""Names in generated text: adjoints, tangents, stacks, temporaries; fresh and never in the user's way."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

LOOP = "srcgrad.checkpointed"  # marks the header of a checkpointed loop until the normal form is reached


class Names:
    """Hands out names that are not yet taken; on a clash a name gets a trailing underscore.

    >>> names = Names({"x", "x_bar"})
    >>> names.fresh("x_bar"), names.fresh("x_bar"), names.fresh("w_bar")
    ('x_bar_', 'x_bar__', 'w_bar')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def fresh(self, name: str) -> str:
        """The name itself if it is free, otherwise the name with underscores; taken from now on."""
        while name in self.taken or keyword.iskeyword(name):
            name += "_"
        self.taken.add(name)
        return name

    def numbered(self, stem: str) -> str:
        """The first free of stem_1, stem_2, ...; taken from now on.

        >>> Names({"p"}).numbered("p")
        'p_1'
        """
        number = 1
        while f"{stem}_{number}" in self.taken:
            number += 1
        self.taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"


def bar(name: str) -> str:
    """The name of an adjoint."""
    return name + "_bar"


def dot(name: str) -> str:
    """The name of a tangent."""
    return name + "_dot"


def stack(name: str) -> str:
    """The name of the stack on which values are recorded, one per trip."""
    return name + "_stack"
