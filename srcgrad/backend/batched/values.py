"""What is known of values that get a leading axis: ranks, axes, and the calls that rules see.

What is known of a value while a text gets its leading axis: rank, whether it has the axis, what it holds.

Calls as rules see them: the function that is meant, and its arguments by name.

Axes of a value that has a leading one more: where it is added, and where others move.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from dataclasses import dataclass as record
from typing import Any  # keys of containers are arbitrary objects

import gast

from srcgrad.core.facts import Facts, Kind
from srcgrad.core.trees import Node, expression, literal_node, literal_value


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
        return common_value([value for _, value in self.items or ()])


UNKNOWN = Value(tag="unknown")
NUMBER = Value(0)
NONE = Value(tag="none")
OTHER = Value(tag="other")
OPEN = Value(tag="open")  # nothing has been bound yet


def shape_of(value: Value) -> Value:
    """The shape of a value: a tuple of numbers, as many as it has axes."""
    return Value(value.ndim, tag="tuple", each=NUMBER)


def add_leading_axis(value: Value) -> Value:
    """The same with the leading axis, on every array that it holds."""
    if value.tag in ("none", "open", "other"):
        return value
    items = None if value.items is None else tuple((key, add_leading_axis(item)) for key, item in value.items)
    each = None if value.each is None else add_leading_axis(value.each)
    return Value(value.ndim, True, value.tag, items, each, value.boolean, value.zero)


def common_value(values: Iterable[Value]) -> Value:
    """What holds of each of several values."""
    found: Value | None = None
    for value in values:
        found = value if found is None or found.tag in ("none", "open") else _common_value_of_two(found, value)
    return OPEN if found is None else found


def _common_value_of_two(one: Value, other: Value) -> Value:
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
        items = tuple((key, common_value([one.item(key), other.item(key)])) for key in keys)
        return Value(None, having, one.tag, items)
    parts = [value.any_item() for value in (one, other) if value.each is not None or value.items]
    return Value(None, having, one.tag, each=common_value(parts) if parts else None)


def merge_values(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """What holds of each name whichever way was taken."""
    found = {**one, **other}
    for bound, value in found.items():
        first = one.get(bound, value)
        if first is not value:
            found[bound] = common_value([first, value])
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


Lifted = tuple[Node, Value]
MISSING = object()


class UnknownFormError(Exception):
    """A form of a call that a rule does not know: it is made once for each direction."""


@dataclass
class Call:
    """A call of an operation; `given` has each argument with what is known of it."""

    node: Node
    function: Any
    parameters: tuple[str, ...]
    given: dict[str, Lifted]

    def __getitem__(self, parameter: str) -> Node:
        return self.given[parameter][0]

    def value(self, parameter: str) -> Value:
        """What is known of an argument."""
        return self.given[parameter][1]

    def literal(self, parameter: str, default: Any = MISSING) -> Any:
        """An argument that is written out; UnknownFormError for any other."""
        if parameter not in self.given:
            return default
        return literal(self[parameter])

    def require_arguments(self, *parameters: str) -> None:
        """UnknownFormError where the call has other arguments than these."""
        if set(self.given) - set(parameters):
            raise UnknownFormError

    def made(self, **arguments: Node) -> Node:
        """The call with these arguments in place of its own; those that it had not are keywords."""
        new = gast.Call(func=self.node.func, args=[], keywords=[])
        positional = len(self.node.args)
        for place, parameter in enumerate(self.parameters[:positional]):
            del place
            new.args.append(arguments.pop(parameter, None) or self[parameter])
        known = [word.arg for word in self.node.keywords]
        for parameter in [*known, *(p for p in arguments if p not in known)]:
            value = arguments.get(parameter)
            new.keywords.append(gast.keyword(arg=parameter, value=self[parameter] if value is None else value))
        return new


def literal(node: Node) -> Any:
    """The value of a literal; UnknownFormError for any other tree."""
    try:
        return literal_value(node)
    except (ValueError, TypeError):
        raise UnknownFormError from None


def bind_arguments(
    node: Node, function: Any, parameters: tuple[str, ...], args: list[Lifted], words: list[Lifted]
) -> Call:
    """The call with its arguments by name."""
    if len(args) > len(parameters) or any(isinstance(part, gast.Starred) for part, _ in args):
        raise UnknownFormError
    given = dict(zip(parameters, args, strict=False))
    for word, lifted in zip(node.keywords, words, strict=True):
        if word.arg is None or word.arg in given:
            raise UnknownFormError
        given[word.arg] = lifted
    return Call(node, function, parameters, given)


def object_of_name(node: Node, facts: Facts, known: Container[str]) -> Any:
    """The object that a name such as `np.sum` or `sum_to` of the text means; None for any other expression.

    Names of the function, and those in `known`, hold values of its own.
    """
    if isinstance(node, gast.Name):
        for identifier, spelled in facts.imports.items():
            if spelled == node.id:
                return facts.library_values[identifier]
        if node.id in facts.local or node.id in known:
            return None
        found = facts.namespace.lookup(facts.globals_as.get(node.id, node.id))
        return None if found is None else found.object
    if isinstance(node, gast.Attribute):
        base = object_of_name(node.value, facts, known)
        return None if base is None else getattr(base, node.attr, None)
    return None


def starred_shape(count: Node, shape: Node) -> Node:
    """The shape `(count, *shape)`; a tuple that is written out gets one item more."""
    if isinstance(shape, gast.Tuple):
        return gast.Tuple(elts=[count, *shape.elts], ctx=gast.Load())
    return expression("(count, *shape)", count=count, shape=shape)


def shift_axis(axis: Any, ndim: int | None) -> Any:
    """The axis, or the axes, that a value of rank `ndim` has there once a leading axis is added.

    >>> shift_axis(0, 2), shift_axis(-1, 2), shift_axis((0, 1), 2), shift_axis(None, 2)
    (1, -1, (1, 2), (1, 2))
    """
    if axis is None:
        if ndim is None:
            raise UnknownFormError
        return 1 if ndim == 1 else tuple(range(1, ndim + 1))
    if isinstance(axis, tuple | list):
        return tuple(shift_axis(one, ndim) for one in axis)
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise UnknownFormError
    return axis + 1 if axis >= 0 else axis


def expand_to_rank(node: Node, value: Value, ndim: int) -> Node:
    """A batched value in a form that broadcasts with values of rank `ndim`, its own or a higher one."""
    assert value.ndim is not None, "ranks are known where they are compared"
    missing = ndim - value.ndim
    return insert_axes(node, missing) if missing > 0 and value.batched else node


def insert_axes(node: Node, missing: int) -> Node:
    """`x[:, None]`: so many axes more behind the leading one."""
    if isinstance(node, gast.UnaryOp):
        return gast.UnaryOp(node.op, insert_axes(node.operand, missing))
    own: list[Node] = []
    if isinstance(node, gast.Subscript) and _is_led(node.slice):
        node, own = node.value, node.slice.elts[1:]
    return part(node, [full_slice(), *[literal_node(None)] * missing, *own])


def _is_led(index: Node) -> bool:
    """Whether an index keeps the leading axis whole, and is made of slices and integers."""
    if not isinstance(index, gast.Tuple) or not isinstance(index.elts[0], gast.Slice):
        return False
    first = index.elts[0]
    if first.lower is not None or first.upper is not None or first.step is not None:
        return False
    return all(isinstance(one, gast.Slice) or type(getattr(one, "value", None)) is int for one in index.elts[1:])


def full_slice() -> Node:
    """The index `:`."""
    return gast.Slice(lower=None, upper=None, step=None)


def part(node: Node, indices: list[Node]) -> Node:
    """`node[indices]`."""
    index = indices[0] if len(indices) == 1 else gast.Tuple(elts=indices, ctx=gast.Load())
    return gast.Subscript(value=node, slice=index, ctx=gast.Load())


def written_out(value: Any) -> Node:
    """A number, None, or a tuple of them as a tree."""
    if isinstance(value, tuple):
        return gast.Tuple(elts=[written_out(one) for one in value], ctx=gast.Load())
    if isinstance(value, int) and value < 0:
        return gast.UnaryOp(gast.USub(), literal_node(-value))
    return literal_node(value)
