"""Places in the user's text, also of what was written out into another function: there, and where it was called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from srcgrad.errors import Place
from srcgrad.front.parse import characters
from srcgrad.front.source import Source
from srcgrad.places import users_place
from srcgrad.trees import POSITION, Node, at

_FAR = 1 << 30  # no line is as long: columns from here on are keys of a table
_Placing = Callable[[Node], Place]


@dataclass
class Written:
    """Where the nodes of functions stand that were written out; their lines say where they were called.

    A column is all that goes with a node through the passes and that nothing else needs of a statement written out.
    """

    found: dict[int, tuple[_Placing, Node, _Placing, Node]] = field(default_factory=dict)

    def move(self, node: Node, where: Node, own: _Placing, call: Node, outer: _Placing) -> None:
        """Give `node` the line of `where`; `own` tells the place that it has had, `outer` that of the call."""
        if "lineno" in node.__dict__:
            had = SimpleNamespace(
                **{key: getattr(node, key) for key in POSITION if getattr(node, key, None) is not None}
            )
            at(node, where)
            node.col_offset = _FAR + len(self.found)
            self.found[node.col_offset] = own, had, outer, call
        else:
            at(node, where)

    def place(self, node: Node) -> Place | None:
        """Where a node that was written out stands; None for any other."""
        known = self.found.get(getattr(node, "col_offset", 0))
        if known is None:
            return None
        own, had, outer, call = known
        return _called(own(had), outer(call))


def _called(place: Place, call: Place) -> Place:
    """A place with a call more, from outside of those that are known."""
    return replace(place, call=call if place.call is None else _called(place.call, call))


def place_in(source: Source, node: Node, generated: bool) -> Place:
    """Where `node` is in a text; for one that srcgrad has made, where its line is from."""
    line = getattr(node, "lineno", source.first)
    if generated and (found := users_place(source.file, line)) is not None:
        return found
    text = source.lines[line - 1].rstrip("\n") if 0 < line <= len(source.lines) else ""
    column = characters(text, getattr(node, "col_offset", 0))
    within = getattr(node, "end_lineno", line) == line and hasattr(node, "end_col_offset")
    end = characters(text, node.end_col_offset) if within else len(text)
    return Place(source.cell or source.file, line, column, text, max(1, end - column))
