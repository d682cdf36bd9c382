"""What is known of the items of tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, ValuesView
from typing import Any  # what `get` gives where there is nothing

import gast

from srcgrad.converted import literal_value
from srcgrad.facts import SCALAR, UNKNOWN, Kind
from srcgrad.trees import Node

_PLAIN = ("unknown", "array", "scalar")
ANY = ...  # the key of a kind that holds of all items of a list or dict whose keys are not known


def of_display(value: Node, kinds: dict[str, Kind]) -> Kind:
    """The kind of a display of names and literals."""
    if isinstance(value, gast.Name):
        return kinds.get(value.id, UNKNOWN)
    if isinstance(value, gast.Tuple | gast.List):
        tag = "tuple" if isinstance(value, gast.Tuple) else "list"
        return Kind(tag, None, tuple((k, of_display(item, kinds)) for k, item in enumerate(value.elts)))
    if isinstance(value, gast.Dict):
        keys = [getattr(key, "value", None) for key in value.keys]
        return Kind("dict", None, tuple(zip(keys, (of_display(v, kinds) for v in value.values), strict=True)))
    return UNKNOWN


def common(kind: Kind) -> Kind:
    """What holds of all items of a container; the keys of a dict, over which a loop runs, are unknown."""
    parts = [part for _, part in kind.items] if kind.tag in ("tuple", "list") else []
    return joined(parts) if parts else UNKNOWN


def joined(parts: list[Kind]) -> Kind:
    """What several kinds have in common."""
    first = parts[0]
    if all(part == first for part in parts):
        return first
    of = [dict(part.items) for part in parts]
    if first.tag not in ("tuple", "list", "dict") or any(part.tag != first.tag for part in parts):
        return UNKNOWN
    if any(items.keys() != of[0].keys() for items in of):
        return Kind("dict") if first.tag == "dict" else UNKNOWN
    return Kind(first.tag, None, tuple((key, joined([items[key] for items in of])) for key in of[0]))


def part_of(kind: Kind, index: Node) -> Kind:
    """The kind of `x[index]`: of the item, for a literal key; what all items are, for any other."""
    if isinstance(index, gast.Slice):
        return _slice_of(kind, index) if kind.tag in ("tuple", "list") else UNKNOWN
    try:
        key = literal_value(index)
    except (ValueError, TypeError):
        parts = [part for _, part in kind.items]
        return joined(parts) if parts and kind.tag in ("tuple", "list", "dict") else UNKNOWN
    items = dict(kind.items)
    if ANY in items:
        of_all: Kind = items[ANY]
        return of_all
    if isinstance(key, int) and key < 0:
        key += len(items)
    return items.get(key, UNKNOWN) if isinstance(key, int | str) else UNKNOWN


def _slice_of(kind: Kind, index: Node) -> Kind:
    """The kind of `x[1:-1]`: of these items, for literal bounds; of any number of items that are alike, for others."""
    items = dict(kind.items)
    if not items or ANY in items:
        return Kind(kind.tag, None, kind.items)
    try:
        places = slice(*(None if one is None else literal_value(one) for one in (index.lower, index.upper, index.step)))
        chosen = range(len(items))[places]
    except (ValueError, TypeError):
        return Kind(kind.tag, None, ((ANY, common(kind)),))
    return Kind(kind.tag, None, tuple((k, items.get(place, UNKNOWN)) for k, place in enumerate(chosen)))


class Asked(dict[str, Kind]):
    """Kinds that note whether anyone has asked for more than `contained` and `numbers` tell, or has changed them."""

    told = False
    numbers: frozenset[str] | None = None  # what `numbers` has told, if it was asked

    def __getitem__(self, name: str) -> Kind:
        self.told = True
        return super().__getitem__(name)

    def __setitem__(self, name: str, kind: Kind) -> None:
        self.told = True
        super().__setitem__(name, kind)

    def __contains__(self, name: object) -> bool:
        self.told = True
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self.told = True
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """The kind of a name."""
        self.told = True
        return super().get(name, default)

    def items(self) -> ItemsView[str, Kind]:  # type: ignore[override]  # a dict has a view of its own type
        """All names and kinds."""
        self.told = True
        return super().items()

    def values(self) -> ValuesView[Kind]:  # type: ignore[override]
        """All kinds."""
        self.told = True
        return super().values()


def contained(kinds: dict[str, Kind]) -> list[tuple[str, Kind]]:
    """Names and kinds of what is neither a number nor an array, as far as it is known."""
    every = dict.items(kinds)
    return [(n, kind) for n, kind in every if kind.tag not in _PLAIN or kind.items or kind.owner is not None]


def numbers(kinds: dict[str, Kind]) -> frozenset[str]:
    """Names of which it is known that they are numbers."""
    found = frozenset(name for name, kind in dict.items(kinds) if kind == SCALAR)
    if isinstance(kinds, Asked):
        kinds.numbers = found
    return found
