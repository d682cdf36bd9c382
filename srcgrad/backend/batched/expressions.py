"""Expressions with a leading axis, and what is known of their values: rank, whether it has the axis, what it holds.

Indices get an axis more: `x[i]` becomes `x[:, i]`. Calls are as a rule says, elementwise ones as they are, unknown
ones once for each direction; rules see the function that is meant, and its arguments by name.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from dataclasses import dataclass as record
from typing import Any  # keys of containers are arbitrary objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.errors import NoAxisError
from srcgrad.core.facts import Facts, Kind
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Node,
    NodeWalk,
    as_value,
    copy,
    expression,
    literal_node,
    literal_value,
    name,
    reads,
    walk,
    walk_of,
)
from srcgrad.frontend.resolve import METHODS


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

    def item(self, key: object) -> Value:
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

    def literal(self, parameter: str, default: object = MISSING) -> Any:
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
            new.args.append(arguments.pop(parameter) if parameter in arguments else self[parameter])
        known = [str(word.arg) for word in self.node.keywords]
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
    node: Node, function: object, parameters: tuple[str, ...], args: list[Lifted], words: list[Lifted]
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


def object_of_name(node: Node | None, facts: Facts, known: Container[str]) -> object:
    """The object that a name such as `np.sum` or `sum_to` of the text means; None for any other expression.

    Names of the function, and those in `known`, hold values of its own.
    """
    if isinstance(node, gast.Name):
        for identifier, spelled in facts.names.imports.items():
            if spelled == node.id:
                return facts.names.library_values[identifier]
        if node.id in facts.names.local or node.id in known:
            return None
        found = facts.namespace.lookup(facts.names.globals_as.get(node.id, node.id))
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


def shift_axis(axis: object, ndim: int | None) -> Any:
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


def written_out(value: object) -> Node:
    """A number, None, or a tuple of them as a tree."""
    if isinstance(value, tuple):
        return gast.Tuple(elts=[written_out(one) for one in value], ctx=gast.Load())
    if isinstance(value, int) and value < 0:
        return gast.UnaryOp(gast.USub(), literal_node(-value))
    return literal_node(value)


Look = Callable[[Node], Lifted]


def parts_of(index: Node) -> list[Node]:
    """The parts of an index, `slice(...)` as a slice."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    parts = [gast.Constant(None, None) if getattr(one, "attr", "") == "newaxis" else one for one in parts]
    return [_as_slice(one) for one in parts]


def _as_slice(node: Node) -> Node:
    named = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "slice"
    if not named or node.keywords or not node.args:
        return node
    bounds = [None if isinstance(one, gast.Constant) and one.value is None else one for one in node.args]
    lower, upper, step = [None, bounds[0], None] if len(bounds) == 1 else [*bounds, None][:3]
    return gast.Slice(lower=lower, upper=upper, step=step)


def rank_left(parts: list[Node], ndim: int | None, look: Look) -> int | None:
    """The rank of `x[parts]` for x of rank `ndim`; None where it cannot be told."""
    rank, advanced = ndim, None
    for one in parts:
        if isinstance(one, gast.Slice) or _is(one, Ellipsis):
            continue
        if _is(one, None):
            rank = None if rank is None else rank + 1
            continue
        value = look(one)[1]
        if value.container:
            value_rank: int | None = 1 if value.tag == "list" and value.any_item().ndim == 0 else None
        else:
            value_rank = value.ndim
        if value_rank is None or rank is None or (value.boolean and not value_rank):
            return None
        if value_rank == 0:
            rank -= 1
        elif value.boolean:
            rank, advanced = rank - value_rank, max(advanced or 0, 1)
        else:
            rank, advanced = rank - 1, max(advanced or 0, value_rank)
    return None if rank is None else rank + (advanced or 0)


def check(parts: list[Node], look: Look) -> None:
    """Refuse an index that puts its axes first, or may be a tuple."""
    arrays = [k for k, one in enumerate(parts) if not _is_plain(one) and look(one)[1].ndim != 0]
    for k in arrays:
        value = look(parts[k])[1]
        if (value.ndim is None and value.tag != "list") or (value.boolean and not value.ndim):
            raise NoAxisError(f"the rank of the index `{gast.unparse(parts[k])}` is not known")
    if arrays:
        taking = [k for k, one in enumerate(parts) if not _is_plain(one)]
        if taking != list(range(taking[0], taking[-1] + 1)):
            raise NoAxisError("an index has arrays on both sides of a slice")


def _is_plain(node: Node) -> bool:
    return isinstance(node, gast.Slice) or _is(node, None) or _is(node, Ellipsis)


def _is(node: Node, value: object) -> bool:
    return isinstance(node, gast.Constant) and node.value is value


def keep_leading_axis(parts: list[Node]) -> Node:
    """The index with the leading axis kept whole."""
    return gast.Tuple(elts=[full_slice(), *parts], ctx=gast.Load())


def led_as_value(parts: list[Node]) -> Node:
    """The same where an index is an argument: `(slice(None), i)`."""
    own = [as_value(one) for one in parts]
    return gast.Tuple(elts=[expression("slice(None)"), *own], ctx=gast.Load())


Given = tuple[NodeWalk, tuple[str, ...], list[object]]  # a tree as it is, the names that it reads, what they are


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
        given: Given = (walk_of(node), reads(node), [self.writes, *map(text.known.get, reads(node))])
        known = self.looks.pop(node, None) if final else self.looks.get(node)  # a tree stands in one place
        if known is not None and known[0][0] is given[0] and known[0][1:] == given[1:]:
            return known[1]
        found = text.own(node, zero=True)
        if not final:
            self.looks[node] = given, found
        return found


Rule = Callable[["Expressions", Call], Lifted]
RULES: dict[object, tuple[tuple[str, ...], Rule]] = {}
IMPURE = (runtime.hooked, runtime.hook, runtime.add_at, runtime.probe, runtime.probed, runtime.Snapshots)


def rule(parameters: str, *functions: object) -> Callable[[Rule], Rule]:
    """Register how calls of some functions get a leading axis, with the names of their parameters."""

    def keep(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(functions, (tuple(parameters.split()), function)))
        return function

    return keep


def method(text: Expressions, node: Node) -> Lifted:
    """A call of a method, as the function that it is."""
    base, value = text.look(node.func.value)
    attribute = node.func.attr
    if value.tag == "list" and attribute == "pop" and not node.args:
        return node, value.any_item()
    if attribute == "copy" and (value.batched or value.container):
        return (expression("x.copy()", x=base) if value.batched else node), value
    function = METHODS.get(attribute)
    if function is None or value.container:
        if value.batched or any(text.look(part)[1].batched for part in node.args):
            raise text.refuse(f"the method `{attribute}` is not understood", node)
        return node, UNKNOWN
    args = list(node.args)
    if attribute in ("reshape", "transpose") and (len(args) > 1 or (attribute == "transpose" and args)):
        args = [gast.Tuple(elts=args, ctx=gast.Load())] if len(args) > 1 else args
    spelled = getattr(function, "__name__", attribute)
    call = gast.Call(
        func=text.np(f"np.{'ravel' if spelled == 'flatten' else spelled}"), args=[node.func.value, *args],
        keywords=node.keywords,
    )  # fmt: skip
    lifted = [(base, value), *map(text.own, args)]
    made, found = call_of(text, call, function, lifted)
    return (made, found) if found.batched else (node, found)


def call_of(text: Expressions, node: Node, function: object, args: list[Lifted]) -> Lifted:
    """A call of a function, with its arguments."""
    words = [text.own(word.value) for word in node.keywords]
    found = RULES.get(function) if _is_hashable(function) else None
    known = rule_of(function) if _is_hashable(function) else None
    if (
        found is None
        and known is not None
        and known.gives == "arrays"
        and known.kind != "elementwise"
        and not isinstance(function, np.ufunc)
    ):
        found = known.parameters, _stack_lists
    if found is not None:
        try:
            call = bind_arguments(node, function, found[0], args, words)
        except UnknownFormError:
            return one_by_one(text, node, function, args, words)
        return apply_rule(text, found[1], call, node)
    wide = isinstance(function, np.ufunc) or (known is not None and known.kind == "elementwise")
    if wide and not words and (_home(function) in ("numpy", "scipy") or function in (abs, pow)):
        made, value = text.elementwise(args, node)
        called = gast.Call(node.func, made, []) if value.batched else node
        several = getattr(function, "nout", 1)  # np.modf, scipy.special.fresnel
        items = tuple((place, value) for place in range(several))
        return called, value if several == 1 else Value(None, value.batched, "tuple", items)
    if function is not None and _home(function) == "math":
        return node, NUMBER
    return one_by_one(text, node, function, args, words)


def _stack_lists(text: Expressions, call: Call) -> Lifted:
    """A list of arrays: the first of each direction, the second of each, and so on."""
    if not any(value.batched for _, value in call.given.values()):
        return call.node, Value(tag="list", each=Value())
    return list_of_stacks(text, call), Value(None, True, "list", each=Value(None, True))


def list_of_stacks(text: Expressions, call: Call) -> Node:
    """As `_stack_lists`, where something is batched."""
    made, _ = call_per_direction(text, call)
    return text.builtin("list(map(stack, zip(*rows)))", rows=made.args[0], stack=text.np("np.stack"))


def apply_rule(text: Expressions, using: Rule, call: Call, node: Node) -> Lifted:
    """What a rule makes of a call; once for each direction where it does not know the form."""
    if not any(value.batched for _, value in call.given.values()):
        try:
            return node, using(text, call)[1]
        except (UnknownFormError, NoAxisError):
            return node, UNKNOWN
    try:
        return using(text, call)
    except UnknownFormError:
        return call_per_direction(text, call)


def call_per_direction(text: Expressions, call: Call) -> Lifted:
    """A call made once for each direction."""
    args = [call.given[p] for p in call.parameters[: len(call.node.args)]]
    words = [call.given[str(word.arg)] for word in call.node.keywords]
    function = np.matmul if call.function is operator.matmul else call.function
    return one_by_one(text, call.node, function, args, words)


def one_by_one(text: Expressions, node: Node, function: object, args: list[Lifted], words: list[Lifted]) -> Lifted:
    """`np.stack([op(one, a) for one in x_dot])`: right for every function that only computes."""
    lifted = [*args, *words]
    if not any(value.batched for _, value in lifted):
        return node, UNKNOWN
    if function is None or _home(function) not in ("numpy", "scipy", "srcgrad") or function in IMPURE:
        raise text.refuse(f"`{gast.unparse(node.func)}` is called", node)
    if any(value.batched and (value.container or value.tag in ("other", "unknown")) for _, value in lifted):
        raise text.refuse(f"`{gast.unparse(node.func)}` takes a list of tangents", node)
    sources: list[Node] = []
    parts: list[Node] = []
    for made, value in lifted:
        if value.batched:
            if len(text.axis.spare) == len(sources):
                text.axis.spare.append(text.facts.names.fresh("one"))
            parts.append(name(text.axis.spare[len(sources)]))
            sources.append(made)
        else:
            parts.append(made)
    call = gast.Call(func=node.func, args=parts[: len(args)], keywords=[])
    for word, part in zip(node.keywords, parts[len(args) :], strict=True):
        call.keywords.append(gast.keyword(arg=word.arg, value=part))
    spelled = f"np.stack([call for {', '.join(text.axis.spare[: len(sources)])} in source])"
    source = sources[0] if len(sources) == 1 else text.builtin("zip()")
    if len(sources) > 1:
        source.args = sources
    return text.np(spelled, call=call, source=source), Value(None, True)


def _home(function: object) -> str:
    """The package of a function; of ours, only what generated texts may call counts."""
    module = getattr(function, "__module__", None) or type(function).__module__
    package = module.split(".")[0]
    return package if package != "srcgrad" or module.startswith("srcgrad.runtime") else ""


def _is_hashable(function: object) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


BUILTINS: dict[str, object] = {"len": len, "list": list, "map": map, "slice": slice, "zip": zip}


class Expressions:
    """Gives expressions their leading axis; `known` is what is known of the names at this place of the text."""

    def __init__(self, facts: Facts, known: dict[str, Value], first: Node, axis: Axis) -> None:
        self.facts, self.known, self.first, self.axis = facts, known, first, axis
        self.outcomes: dict[str, Value] = {}  # name of a callee's pullback -> the adjoints that it gives

    def np(self, text: str, **parts: Node) -> Node:
        """An expression in which `np` is what the text calls NumPy."""
        return expression(text.replace("np.", f"{self.facts.library('np')}."), **parts)

    @property
    def count(self) -> Node:
        """How many directions there are."""
        return self.builtin("len(x)", x=copy(self.first))

    def builtin(self, text: str, **parts: Node) -> Node:
        """An expression with functions of Python, which no name of the user's may hide."""
        for called in ("len", "list", "map", "slice", "zip"):
            if f"{called}(" not in text:
                continue
            found = self.facts.namespace.lookup(called)
            if self._is_local(called) or found is None or found.object is not BUILTINS[called]:
                raise NoAxisError(f"`{called}` is a name of the function")
        return expression(text, **parts)

    def refuse(self, reason: str, node: Node) -> NoAxisError:
        """Why the text keeps to one direction."""
        line = getattr(node, "lineno", None)
        return NoAxisError(reason if line is None else f"{reason} in line {line}")

    def look(self, node: Node) -> Lifted:
        """The expression with its axis, and what is known of its value."""
        found = self.seen(node)
        if found[1].zero:
            raise self.refuse(f"the rank of `{gast.unparse(node)}` is not known", node)
        return found

    def seen(self, node: Node) -> Lifted:
        """The same; the value may be the number 0.0, without an axis."""
        method = getattr(self, _method(type(node).__name__), None)
        if method is not None:
            found: Lifted = method(node)
            return found
        if any(isinstance(item, gast.Name) and self.has_axis(item.id) for item in walk(node)):
            raise self.refuse(f"`{gast.unparse(node)}` is not understood", node)
        return node, UNKNOWN

    def has_axis(self, bound_name: str) -> bool:
        """Whether a name holds something with the leading axis."""
        return self.known.get(bound_name, UNKNOWN).batched

    def own(self, node: Node, *, zero: bool = False) -> Lifted:
        """The same, but no view of an element, which is a number in a text for one direction."""
        made, value = (self.seen if zero else self.look)(node)
        return self.copy_of_element(made, value), value

    def copy_of_element(self, made: Node, value: Value) -> Node:
        """An element of an array that is written into, as an array of its own."""
        if self.axis.writes and value.batched and value.ndim == 0 and isinstance(made, gast.Subscript):
            return expression("made.copy()", made=made)
        return made

    def _constant(self, node: Node) -> Lifted:
        if node.value is None:
            return node, NONE
        return node, NUMBER if isinstance(node.value, int | float | complex) else OTHER

    def _name(self, node: Node) -> Lifted:
        value = self.known.get(node.id, UNKNOWN)
        if node.id not in self.known and node.id not in self.facts.names.local:
            value = _constant_of(object_of_name(node, self.facts, self.known))
        if value.tag in ("array", "unknown") and value.ndim is None and node in self.facts.values.spec:
            rank = self.facts.values.spec[node].ndim
            value = value if rank is None else Value(rank, value.batched, boolean=value.boolean)
        return node, value

    def _tuple(self, node: Node) -> Lifted:
        lifted = [self.own(item) for item in node.elts]
        if any(isinstance(item, gast.Starred) for item in node.elts):
            if any(value.batched for _, value in lifted):
                raise self.refuse("a starred item stands beside tangents", node)
            return node, Value(tag="tuple", each=NUMBER)
        tag = "tuple" if isinstance(node, gast.Tuple) else "list"
        return self._display(node, tag, list(enumerate(lifted)))

    _list = _tuple

    def _dict(self, node: Node) -> Lifted:
        keys = [getattr(key, "value", None) for key in node.keys]
        return self._display(node, "dict", list(zip(keys, map(self.own, node.values), strict=True)))

    def _display(self, node: Node, tag: str, lifted: list[tuple[object, Lifted]]) -> Lifted:
        having = any(value.batched for _, (_, value) in lifted)
        if not having:
            return node, Value(None, False, tag, tuple((key, value) for key, (_, value) in lifted))
        parts = [self.with_axis(*one) for _, one in lifted]
        items = tuple((key, add_leading_axis(value)) for key, (_, value) in lifted)
        if tag == "dict":
            return gast.Dict(keys=node.keys, values=parts), Value(None, True, tag, items)
        return type(node)(elts=parts, ctx=node.ctx), Value(None, True, tag, items)

    def with_axis(self, node: Node, value: Value) -> Node:
        """A value with its axis, added if it has none: zeros, where a derivative flows from elsewhere only."""
        if value.batched or value.tag in ("none", "other"):
            return node
        if isinstance(node, gast.Constant) and value.ndim == 0 and not node.value:
            return self.np("np.zeros(count)", count=self.count)
        if isinstance(node, gast.List | gast.Tuple) and value.items is not None:
            parts = [self.with_axis(part, value.item(k)) for k, part in enumerate(node.elts)]
            return type(node)(elts=parts, ctx=gast.Load())
        if isinstance(node, gast.Dict) and value.items is not None:
            parts = [self.with_axis(part, item) for part, (_, item) in zip(node.values, value.items, strict=True)]
            return gast.Dict(keys=node.keys, values=parts)
        if isinstance(node, gast.Call) and len(node.args) == 1 and not node.keywords:
            if object_of_name(node.func, self.facts, self.known) in (np.zeros_like, runtime.zeros_like):
                helper = self.facts.library("zeros_each")
                return expression(f"{helper}(count, x)", count=self.count, x=node.args[0])
        return expression(f"{self.facts.library('each')}(count, value)", count=self.count, value=node)

    def _unaryop(self, node: Node) -> Lifted:
        made, value = self.look(node.operand)
        value = Value(value.ndim, value.batched, boolean=isinstance(node.op, gast.Not | gast.Invert) and value.boolean)
        return (gast.UnaryOp(node.op, made) if value.batched else node), value

    def _binop(self, node: Node) -> Lifted:
        adds = isinstance(node.op, gast.Add | gast.Sub)
        left, right = ((self.seen if adds else self.look)(side) for side in (node.left, node.right))
        if left[1].zero or right[1].zero:
            return self._lift_sum(node, left, right)
        if isinstance(node.op, gast.MatMult):
            spelled = self.np("np.matmul(a, b)", a=node.left, b=node.right)
            call = Call(spelled, operator.matmul, ("a", "b"), {"a": left, "b": right})
            return apply_rule(self, RULES[np.matmul][1], call, node)
        (one, two), value = self.elementwise([left, right], node)
        return (gast.BinOp(one, node.op, two) if value.batched else node), value

    def _lift_sum(self, node: Node, left: Lifted, right: Lifted) -> Lifted:
        """A sum with what may be the number 0.0: it broadcasts as it is, and is nothing to go by."""
        (one, first), (two, second) = left, right
        known = second if first.zero else first
        other = first if first.zero else second
        if known.ndim is None or other.ndim is None or known.ndim < other.ndim or not known.batched:
            raise self.refuse(f"the rank of `{gast.unparse(node)}` is not known", node)
        if 0 < other.ndim < known.ndim:
            raise self.refuse(f"the rank of `{gast.unparse(node)}` is not known", node)
        return gast.BinOp(one, node.op, two), known

    def _compare(self, node: Node) -> Lifted:
        parts = [self.look(part) for part in [node.left, *node.comparators]]
        if any(value.batched for _, value in parts):
            raise self.refuse("a tangent is compared", node)
        ranks = [value.ndim for _, value in parts]
        rank = None if None in ranks else max(rank for rank in ranks if rank is not None)
        if any(value.tag == "none" for _, value in parts):
            rank = 0
        return node, Value(rank, boolean=True)

    def _boolop(self, node: Node) -> Lifted:
        if any(self.look(part)[1].batched for part in node.values):
            raise self.refuse("a tangent is tested", node)
        return node, UNKNOWN

    def _ifexp(self, node: Node) -> Lifted:
        if self.look(node.test)[1].batched:
            raise self.refuse("a tangent is tested", node)
        one, two = self.own(node.body), self.own(node.orelse)
        value = common_value([one[1], two[1]])
        if not value.batched:
            return node, value
        return gast.IfExp(node.test, self.with_axis(*one), self.with_axis(*two)), add_leading_axis(value)

    def elementwise(self, operands: list[Lifted], node: Node) -> tuple[list[Node], Value]:
        """Operands in forms that broadcast, and what is known of the result."""
        values = [value for _, value in operands]
        having = any(value.batched for value in values)
        ranks = [value.ndim for value in values]
        if any(value.container or value.tag in ("other", "none", "open") for value in values):
            ranks = [*ranks, None]
        if None in ranks:
            if having:
                unknown = next((made for made, value in operands if value.ndim is None), node)
                raise self.refuse(f"the rank of `{gast.unparse(unknown)}` is not known", node)
            return [made for made, _ in operands], Value(None, boolean=all(v.boolean for v in values))
        rank = max(rank for rank in ranks if rank is not None)
        made = [expand_to_rank(made, value, rank) for made, value in operands]
        return made, Value(rank, having, boolean=all(v.boolean for v in values))

    def _attribute(self, node: Node) -> Lifted:
        if object_of_name(node, self.facts, self.known) is not None:
            return node, OTHER if not isinstance(object_of_name(node, self.facts, self.known), float | int) else NUMBER
        made, value = self.look(node.value)
        if node.attr in ("shape", "size", "ndim", "dtype"):
            if value.batched and node.attr in ("size", "ndim"):
                raise self.refuse(f"`{gast.unparse(node)}` is read", node)
            found = {"shape": shape_of(value), "dtype": OTHER}.get(node.attr, NUMBER)
            return (expression("x.shape[1:]", x=made) if value.batched and node.attr == "shape" else node), found
        if node.attr in ("T", "mT", "real", "imag"):
            function = {"T": np.transpose, "mT": np.matrix_transpose}.get(node.attr)
            if function is None:
                return (gast.Attribute(made, node.attr, node.ctx) if value.batched else node), value
            call = Call(self.np("np.transpose(a)", a=node.value), function, ("a",), {"a": (made, value)})
            found_one = apply_rule(self, RULES[function][1], call, node)
            return found_one if found_one[1].batched else (node, found_one[1])
        if value.batched:
            raise self.refuse(f"the attribute `.{node.attr}` of a tangent is read", node)
        return node, UNKNOWN

    def _is_local(self, bound_name: str) -> bool:
        """Whether a name means a value of the function."""
        return bound_name in self.facts.names.local or bound_name in self.known

    def _subscript(self, node: Node) -> Lifted:
        base, value = self.look(node.value)
        if value.container:
            return self._item(node, base, value)
        if value.tag in ("other", "unknown") and value.batched:
            raise self.refuse(f"what `{gast.unparse(node.value)}` is, is not known", node)
        parts = parts_of(node.slice)
        if any(not isinstance(one, gast.Slice) and self.look(one)[1].batched for one in parts):
            raise self.refuse("a tangent is an index", node)
        rank = rank_left(parts, value.ndim, self.look)
        if not value.batched:
            return node, Value(rank, boolean=value.boolean)
        check(parts, self.look)
        return gast.Subscript(base, keep_leading_axis(parts), node.ctx), Value(rank, True)

    def _item(self, node: Node, base: Node, value: Value) -> Lifted:
        if isinstance(node.slice, gast.Slice):
            return node, Value(None, value.batched, value.tag, each=value.any_item())
        try:
            key = literal_value(node.slice)
        except (ValueError, TypeError):
            found = value.any_item()
        else:
            found = value.item(key)
        if value.batched and found is UNKNOWN:
            found = Value(None, True)
        return gast.Subscript(base, node.slice, node.ctx) if value.batched else node, found

    def _call(self, node: Node) -> Lifted:
        function = object_of_name(node.func, self.facts, self.known)
        called = getattr(node.func, "id", "")
        if called in self.outcomes:
            made, value = self.own(node.args[0])
            if value.tag == "open":
                return node, OPEN
            return gast.Call(node.func, [self.with_axis(made, value)], []), self.outcomes[called]
        if called in self.facts.module.making:
            function = None
        if function is None and isinstance(node.func, gast.Attribute):
            return method(self, node)
        return call_of(self, node, function, [self.own(part) for part in node.args])


@functools.cache
def _method(kind: str) -> str:
    return f"_{kind.lower()}"


def _constant_of(found: object) -> Value:
    """What is known of a value from outside of the function; the text is made anew when that changes."""
    if isinstance(found, int | float):
        return NUMBER
    return Value(found.ndim) if isinstance(found, np.ndarray) else UNKNOWN
