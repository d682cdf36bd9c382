"""What is known of a value while a text gets its leading axis: rank, whether it has the axis, what it holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any  # keys of containers are arbitrary objects

from srcgrad.facts import Kind
from srcgrad.frozen import record


class NoAxisError(Exception):
    """A text that cannot have a leading axis; the message says why, for those who read the text without it."""


@record(frozen=True)
class Value:
    """A value as one direction has it: `ndim` is its rank, without the leading axis that it has if `batched`.

    A container has `items` by position or key where it was written out, or `each` for what all of them are; of a
    shape, `ndim` is its length.
    """

    ndim: int | None = None
    batched: bool = False
    tag: str = "array"  # array, unknown, open, none, tuple, list, dict, other
    items: tuple[tuple[Any, Value], ...] | None = None
    each: Value | None = None
    boolean: bool = False
    zero: bool = False  # whether it may be the number 0.0, without an axis, to which arrays will be added

    @property
    def container(self) -> bool:
        """Whether it is a tuple, list or dict."""
        return self.tag in ("tuple", "list", "dict")

    @property
    def pure_zero(self) -> bool:
        """Whether it is the number 0.0 as far as is known."""
        return self.zero and self.ndim == 0

    def item(self, key: Any) -> Value:
        """What is known of one item, whatever it is called if `key` is not known."""
        for known, value in self.items or ():
            if known == key or (isinstance(key, int) and key < 0 and known == key + len(self.items or ())):
                return value
        return self.any_item()

    def any_item(self) -> Value:
        """What holds of every item."""
        if self.each is not None:
            return self.each
        return joined([value for _, value in self.items or ()])


UNKNOWN = Value(tag="unknown")
NUMBER = Value(0)
NONE = Value(tag="none")
OTHER = Value(tag="other")
OPEN = Value(tag="open")  # nothing has been bound yet


def shape_of(value: Value) -> Value:
    """The shape of a value: a tuple of numbers, as many as it has axes."""
    return Value(value.ndim, tag="tuple", each=NUMBER)


def batched(value: Value) -> Value:
    """The same with the leading axis, on every array that it holds."""
    if value.tag in ("none", "open", "other"):
        return value
    items = None if value.items is None else tuple((key, batched(item)) for key, item in value.items)
    each = None if value.each is None else batched(value.each)
    return Value(value.ndim, True, value.tag, items, each, value.boolean, value.zero)


def joined(values: Iterable[Value]) -> Value:
    """What holds of each of several values."""
    found: Value | None = None
    for value in values:
        found = value if found is None or found.tag in ("none", "open") else _joined(found, value)
    return OPEN if found is None else found


def _joined(one: Value, other: Value) -> Value:
    if one == other or other.tag in ("none", "open"):
        return one
    if one.tag != other.tag:
        return Value(tag="unknown", batched=one.batched or other.batched)
    having = one.batched or other.batched
    if not one.container:
        zero = one.zero or other.zero
        rank = one.ndim if one.ndim == other.ndim else None
        if rank is None and (one.pure_zero or other.pure_zero):
            rank = one.ndim if other.pure_zero else other.ndim
        return Value(rank, having, one.tag, boolean=one.boolean and other.boolean, zero=zero)
    keys = [key for key, _ in one.items or ()]
    if one.items and other.items is not None and keys == [key for key, _ in other.items]:
        items = tuple((key, joined([one.item(key), other.item(key)])) for key in keys)
        return Value(None, having, one.tag, items)
    parts = [value.any_item() for value in (one, other) if value.each is not None or value.items]
    return Value(None, having, one.tag, each=joined(parts) if parts else None)


def merged(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """What holds of each name whichever way was taken."""
    found = {**one, **other}
    for bound, value in found.items():
        first = one.get(bound, value)
        if first is not value:
            found[bound] = joined([first, value])
    return found


def of_kind(kind: Kind) -> Value:
    """What the kind of an argument tells."""
    if kind.tag == "scalar":
        return NUMBER
    if kind.tag == "array":
        return Value(kind.ndim)
    if kind.tag in ("tuple", "list", "dict"):
        return Value(None, False, kind.tag, tuple((key, of_kind(item)) for key, item in kind.items))
    return UNKNOWN if kind.tag == "unknown" else OTHER
