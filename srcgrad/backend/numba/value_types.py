"""Types of names in compiled code, and the spelling that Numba takes: numbers, lengths of axes, dtypes.

Lengths of axes are symbols that are joined where arrays meet, and what is checked for it when the text runs. Numba
knows no `reversed`, no `np.array` of an array, and `trips.start`, but not `trips[place]`; `math.cos(x)` in compiled
code is several times as fast as `np.cos(x)` of a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import (
    NamedTuple,
)

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.facts import Facts, function_called, meant
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    COMPOUND,
    NOTHING,
    Block,
    Node,
    at,
    called_name,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    literal_integer,
    literal_node,
    literal_of,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.derive.in_place_writes import is_pop, is_push
from srcgrad.derive.program import Program

ONE = "1"  # an axis whose length is 1 by construction: `x[:, None]`
WEAK, SINGLE, DOUBLE = "weak", "single", "double"  # Python's numbers, which give way; float32; float64
Axes = tuple[str, ...]


class NotLoweredError(Exception):
    """An expression stays one of arrays."""


class Form(NamedTuple):
    """What is known of an array or a number: its axes, of which a number has none, and its dtype."""

    axes: Axes
    real: str


@dataclass(frozen=True)
class Piece:
    """An expression: its axes, its dtype, and what its element is at some indices."""

    axes: Axes
    real: str
    at: Callable[[list[Node]], Node]
    tests: bool = False  # whether its elements are true or false
    leaf: str = ""  # the array that it is, as it is


@dataclass(frozen=True)
class Reduction:
    """What is added up, or of which the largest is wanted: the piece, the axes that go, and what holds the result."""

    held: str
    kind: str
    piece: Piece
    axes: Axes  # of the result
    kept: tuple[int | None, ...]  # for each of them the axis of the piece; None where its length is 1


@dataclass
class Lengths:
    """Symbols of lengths, joined where broadcasting needs them to be equal. A class is spelled by its oldest symbol."""

    above: dict[str, str] = field(default_factory=dict)
    spelled: dict[str, Node] = field(default_factory=dict)  # symbol -> the expression
    names: list[tuple[str, str]] = field(default_factory=list)  # a symbol, and a name of the user's that holds it
    age: dict[str, int] = field(default_factory=dict)
    pending: list[tuple[str, str]] = field(default_factory=list)  # joined, and not yet checked
    filled: list[str] = field(default_factory=list)  # must not be 0: a maximum is taken along it
    fixed: bool = False  # whether an element is read at an index of which nothing tells that it lies inside

    def new_symbol(self, symbol: str, spelled: Node) -> str:
        """A symbol, which means what it meant if it is known."""
        if symbol not in self.spelled:
            self.spelled[symbol], self.age[symbol] = spelled, len(self.age)
        return symbol

    def of_array(self, held: str, rank: int) -> Axes:
        """The axes of an array of which nothing else is known."""
        return tuple(
            self.new_symbol(f"{held}.{k}", expression("x.shape[k]", x=name(held), k=literal_node(k)))
            for k in range(rank)
        )

    def top(self, symbol: str) -> str:
        """The symbol that stands for all that are equal to one."""
        while symbol in self.above:
            symbol = self.above[symbol]
        return symbol

    def broadcast_length(self, one: str, two: str) -> str:
        """The length along which two axes broadcast; symbols are made equal."""
        if one == ONE or two == ONE:
            return two if one == ONE else one
        one, two = self.top(one), self.top(two)
        if one != two:
            old, new = sorted((one, two), key=self.age.__getitem__)
            self.above[new] = old
            self.pending.append((old, new))
            return old
        return one

    def broadcast(self, one: Axes, two: Axes) -> Axes:
        """The axes of what two arrays make together."""
        if len(one) < len(two):
            one, two = two, one
        lead = len(one) - len(two)
        return (*one[:lead], *(self.broadcast_length(a, b) for a, b in zip(one[lead:], two, strict=True)))

    def axes_are_equal(self, one: Axes, two: Axes) -> bool:
        """Whether axes are known to be equal, one by one."""
        return len(one) == len(two) and all(map(self.lengths_are_equal, one, two))

    def lengths_are_equal(self, one: str, two: str) -> bool:
        """Whether two lengths are known to be equal."""
        return one == two or (ONE not in (one, two) and self.top(one) == self.top(two))

    def cut(self, axis: str, count: int) -> str:
        """The length of an axis of which some items are left out."""
        if not count:
            return axis
        whole = self.top(axis)
        length = expression("max(n - cut, 0)", n=self.node(whole), cut=literal_node(count))
        return self.new_symbol(f"{whole}-{count}", length)

    def call(self, axis: str, held: str) -> None:
        """Let a length be spelled by a name of the user's."""
        if axis != ONE:
            self.names.append((axis, held))

    def length_of_name(self, number: str) -> str:
        """The length that a name holds; an empty string if it holds none."""
        return next((symbol for symbol, one in self.names if one == number), "")

    def node(self, axis: str) -> Node:
        """How a length is spelled."""
        if axis == ONE:
            return literal_node(1)
        whole = self.top(axis)
        for symbol, held in self.names:
            if self.top(symbol) == whole:
                return name(held)
        return copy(self.spelled[whole])

    def spells(self, held: str) -> bool:
        """Whether a name spells some length."""
        return f"{held}.0" in self.spelled or any(one == held for _, one in self.names)

    def own(self, symbol: str) -> Node:
        """How the text spells one symbol, whatever it is equal to."""
        held = next((held for known, held in self.names if known == symbol), "")
        return name(held) if held else copy(self.spelled[symbol])

    def shape(self, axes: Axes) -> Node:
        """The shape of an array, as `np.empty` takes it."""
        parts = [self.node(axis) for axis in axes]
        return parts[0] if len(parts) == 1 else gast.Tuple(elts=parts, ctx=gast.Load())

    def saved_state(self) -> tuple[dict[str, str], int, int]:
        """What is known, to come back to."""
        return dict(self.above), len(self.pending), len(self.filled)

    def restore(self, before: tuple[dict[str, str], int, int]) -> None:
        """Forget what was joined since."""
        self.above = before[0]
        del self.pending[before[1] :], self.filled[before[2] :]


def literal_axes(axis: Node, rank: int) -> tuple[int, ...] | None:
    """The axes that a literal names, all for None; None for anything else."""
    found = literal_of(axis)
    listed = range(rank) if found is None else found if isinstance(found, tuple) else (found,)
    if any(type(one) is not int or not -rank <= one < rank for one in listed):
        return None
    return tuple(sorted({one % rank for one in listed})) if rank else ()


def product_of(factors: list[Node], *, least: bool = True) -> Node:
    """A product of lengths, at least 1."""
    if not factors:
        return literal_node(1)
    made = factors[0]
    for one in factors[1:]:
        made = gast.BinOp(made, gast.Mult(), one)
    return expression("max(n, 1)", n=made) if least else made


def shifted_counter(place: int, first: int) -> Callable[[list[Node]], Node]:
    """A counter behind which some elements are left out."""

    def index_of_counter(index: list[Node]) -> Node:
        counter = index[place]
        if not first:
            return counter
        if isinstance(counter, gast.Constant):
            return literal_node(counter.value + first)
        return expression("i + n", i=counter, n=literal_node(first))

    return index_of_counter


def fixed_index(part: Node) -> Callable[[list[Node]], Node]:
    """An index that is a number."""
    return lambda _: copy(part)


def sources(index: list[Node], kept: tuple[int | None, ...], rank: int) -> list[Node]:
    """The index of a piece from that of its reduction along axes of length 1."""
    at_axis = {k: one for k, one in zip(kept, index, strict=True) if k is not None}
    return [at_axis.get(k, literal_node(0)) for k in range(rank)]


NUMBER_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow, gast.Mod, gast.FloorDiv)


def numbers(program: Program, facts: Facts) -> frozenset[str]:
    """The names of which every binding is a real number if those of the others are."""
    bound = _bindings(program, facts)
    facts.kinds.ranks = {p: _rank(p, facts) for p in program.parameters if len(bound.get(p, ())) == 1}
    _note_axis_counts(bound, facts)
    known = {name for name in bound if name not in facts.values.complex}
    before = None
    while before != len(known):
        before = len(known)
        known = {name for name in known if all(_holds(value, known, facts) for value in bound[name])}
    return frozenset(name for name in known if not any(isinstance(value, gast.Tuple) for value in bound[name]))


def _rank(parameter: str, facts: Facts) -> int:
    """The number of axes of an argument that is an array of real numbers; 0 for any other."""
    kind = facts.kinds.arguments.get(parameter)
    return kind.ndim or 0 if kind is not None and kind.tag == "array" and not kind.complex else 0


def _note_axis_counts(bound: dict[str, list[Node | None]], facts: Facts) -> None:
    """Note the numbers of axes of arrays that the text makes: `np.zeros(n)`, `np.empty((n, 3))`, `np.zeros_like(x)`."""
    for held, values in bound.items():
        found = {_rank_of(value, facts) for value in values}
        if len(found) == 1 and 0 not in found:
            facts.kinds.ranks[held] = found.pop()


def _rank_of(value: Node | None, facts: Facts) -> int:
    """The number of axes of a new array of real numbers; 0 for anything else."""
    if not isinstance(value, gast.Call) or value.keywords or len(value.args) != 1:
        return 0
    if not isinstance(value.func, gast.Attribute) or not isinstance(value.func.value, gast.Name):
        return 0
    if not is_library(value.func.value.id, np, facts):
        return 0
    [shape] = value.args
    if value.func.attr in ("zeros_like", "empty_like", "ones_like"):
        return facts.kinds.ranks.get(shape.id, 0) if isinstance(shape, gast.Name) else 0
    if value.func.attr not in ("zeros", "empty", "ones"):
        return 0
    if isinstance(shape, gast.Tuple):
        return len(shape.elts)
    length = (
        isinstance(shape, gast.Name | gast.Constant | gast.BinOp) and set(loads(shape)) <= facts.values.integers.keys()
    )
    return int(length or called_name(shape) == "len")


def _bindings(program: Program, facts: Facts) -> dict[str, list[Node | None]]:
    """What each name is bound to: an expression, or None for what is no expression of its own."""
    bound: dict[str, list[Node | None]] = {}
    for parameter in program.parameters:
        kind = facts.kinds.arguments.get(parameter)
        scalar = kind is not None and kind.tag == "scalar" and not kind.complex
        bound[parameter] = [gast.Constant(1.0, None) if scalar else None]
    nodes = list(statements([*program.forward, *program.backward]))
    pushed: dict[str, list[Node]] = {}
    for node in nodes:
        if is_push(node):
            pushed.setdefault(str(node.value.func.value.id), []).extend(node.value.args)
    for node in nodes:
        if isinstance(node, gast.Assign) and is_pop(node.value):
            for value in pushed.get(str(node.value.func.value.id), [NOTHING]):
                _bind(node.targets[0], value, bound)
        elif isinstance(node, gast.Assign):
            for target in node.targets:
                _bind(target, node.value, bound)
        elif isinstance(node, gast.AugAssign):
            _bind(node.target, node.value, bound)
        elif isinstance(node, gast.For):
            over = node.iter.args[0] if called_name(node.iter) == "reversed" and node.iter.args else node.iter
            _bind(node.target, gast.Constant(1, None) if called_name(over) == "range" else None, bound)
        elif isinstance(node, gast.FunctionDef | gast.With):
            return {}
    return bound


def _bind(target: Node, value: Node | None, bound: dict[str, list[Node | None]]) -> None:
    if isinstance(target, gast.Name):
        bound.setdefault(target.id, []).append(value)
    elif isinstance(target, gast.Tuple):
        same = isinstance(value, gast.Tuple) and len(value.elts) == len(target.elts)
        for place, part in enumerate(target.elts):
            item = gast.Subscript(value, gast.Constant(place, None), gast.Load())
            _bind(part, value.elts[place] if isinstance(value, gast.Tuple) and same else item, bound)


def _holds(value: Node | None, known: set[str], facts: Facts) -> bool:
    """Whether a binding is a number, or a tuple of numbers."""
    if isinstance(value, gast.Tuple):
        return all(is_number(part, known, facts) for part in value.elts)
    return value is not None and is_number(value, known, facts)


def is_number(node: Node, known: frozenset[str] | set[str], facts: Facts) -> bool:
    """Whether an expression is a real number, if the known names are."""
    if isinstance(node, gast.Constant):
        return isinstance(node.value, float | int)
    if isinstance(node, gast.Name):
        return node.id in known
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub | gast.UAdd) and is_number(node.operand, known, facts)
    if isinstance(node, gast.BinOp):
        parts = is_number(node.left, known, facts) and is_number(node.right, known, facts)
        return parts and isinstance(node.op, NUMBER_OPERATORS)
    if isinstance(node, gast.Subscript):
        if not isinstance(node.value, gast.Name):
            return False
        return node.value.id in known or _is_element(node, known, facts)
    if isinstance(node, gast.Call) and not node.keywords:
        return is_function(node.func, facts) and all(is_number(part, known, facts) for part in node.args)
    if isinstance(node, gast.IfExp):
        return is_number(node.body, known, facts) and is_number(node.orelse, known, facts)
    return False


def _is_element(node: Node, known: frozenset[str] | set[str], facts: Facts) -> bool:
    """Whether there is a number for each axis of an array of real numbers."""
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    whole = facts.kinds.ranks.get(node.value.id, 0) == len(parts)
    return whole and all(is_number(part, known, facts) for part in parts)


def is_function(function: Node, facts: Facts) -> bool:
    """Whether what is called gives a real number for real numbers."""
    if isinstance(function, gast.Name):
        return meant(function, facts) in (abs, runtime.sum_to)
    if not isinstance(function, gast.Attribute) or not isinstance(function.value, gast.Name):
        return False
    rule = rule_of(meant(function, facts))
    return rule is not None and rule.kind == "elementwise" and bool(rule.numba)


def is_library(name: str, module: object, facts: Facts) -> bool:
    """Whether a name of the text means a module, by an import of ours or of the user's."""
    if name in facts.names.local:
        return False
    return meant(gast.Name(name, gast.Load(), None, None), facts) is module


Length = tuple[str, int]  # an axis of an argument, and what is cut off: max(length - cut, 0)
Shape = tuple[Length, ...]
ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div)
_FRESH = ("zeros_like", "ones_like", "empty_like", "copy", "sum", "zeros", "ones", "empty")


class NameLengths:
    """The shapes of names, where every value that a name is bound to has the same; numbers have the shape ()."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self.facts = facts
        self.numbers = numbers(program, facts)
        self.bindings = bindings(program)
        self.known: dict[str, Shape | None] = {}
        own = {p: _of_argument(p, facts) for p in program.parameters}
        known = {parameter: shape for parameter, shape in own.items() if parameter not in self.bindings}
        self.known = known  # each round reads what it has found already, so that a chain takes few of them
        while True:
            before = dict(known)
            for bound in {**own, **self.bindings}:
                found = [own[bound]] if bound in own else []
                found += [self.of(value) if value is not None else None for value in self.bindings.get(bound, [])]
                there = [shape for shape in found if shape != OPEN]
                if there:
                    known[bound] = there[0] if all(shape == there[0] for shape in there) else None
            if known == before:
                break
        self.known = {**dict.fromkeys(self.bindings), **known}

    def of(self, node: Node) -> Shape | None:
        """The shape of an expression; None where it is not known, or where it is not of float64."""
        if isinstance(node, gast.Name):
            return (
                () if node.id in self.numbers else self.known.get(node.id, OPEN if node.id in self.bindings else None)
            )
        if isinstance(node, gast.UnaryOp):
            return self.of(node.operand) if isinstance(node.op, gast.USub | gast.UAdd) else None
        if isinstance(node, gast.BinOp):
            return self._shape_of_operands(node)
        if isinstance(node, gast.Subscript):
            whole = self.of(node.value)
            return whole if whole is None or whole == OPEN else self._part(node, whole)
        if isinstance(node, gast.Call):
            return self._call(node)
        return () if is_number(node, self.numbers, self.facts) else None

    def _shape_of_operands(self, node: Node) -> Shape | None:
        one, two = self.of(node.left), self.of(node.right)
        square = isinstance(node.op, gast.Pow) and isinstance(node.right, gast.Constant) and node.right.value == 2
        if one is None or two is None or not (isinstance(node.op, ARITHMETIC) or square):
            return None
        if OPEN in (one, two):
            return OPEN
        if one == two or not two:
            return one
        return two if not one else None

    def _part(self, node: Node, whole: Shape) -> Shape | None:
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        if len(parts) > len(whole):
            return None
        left: list[Length] = []
        for (base, cut), part in zip(whole, parts, strict=False):
            if isinstance(part, gast.Slice):
                ends = bounds(part)
                if ends is None:
                    return None
                left.append((base, cut + sum(ends)))
            elif not is_number(part, self.numbers, self.facts):
                return None
        return (*left, *whole[len(parts) :])

    def _call(self, node: Node) -> Shape | None:
        function = function_called(node, self.facts)
        if function is None and getattr(node.func, "attr", "") == "copy" and not node.args:
            return self.of(node.func.value)
        rule = rule_of(function)
        if rule is not None and rule.is_like_first and len(node.args) == 1 and not node.keywords:
            return self.of(node.args[0])
        if function is np.sum and len(node.args) == 1 and not node.keywords:
            inner = self.of(node.args[0])
            return inner if inner is None or inner == OPEN else ()
        if function in (runtime.owned, runtime.sum_to):
            return self.of(node.args[0 if function is runtime.owned else 1])
        return () if is_number(node, self.numbers, self.facts) else None


OPEN: Shape = (("?", 0),)  # of a name none of whose values has been seen


def _of_argument(parameter: str, facts: Facts) -> Shape | None:
    kind = facts.kinds.arguments.get(parameter)
    if kind is None or kind.tag != "array" or kind.dtype != "double" or kind.ndim is None:
        return () if kind is not None and kind.tag == "scalar" and not kind.complex else None
    return tuple((f"{parameter} {axis}", 0) for axis in range(kind.ndim))


def bounds(part: Node) -> tuple[int, int] | None:
    """How many items a slice leaves out at both ends; None where that depends on the length.

    >>> bounds(gast.parse("a[1:-2]").body[0].value.slice), bounds(gast.parse("a[:5]").body[0].value.slice)
    ((1, 2), None)
    """
    first, last = (0 if one is None else literal_integer(one) for one in (part.lower, part.upper))
    if part.step is not None or first is None or last is None or first < 0 or last > 0:
        return None
    return None if part.upper is not None and last == 0 else (first, -last)


def bindings(program: Program) -> dict[str, list[Node | None]]:
    """What each name is bound to: an expression, or None for what has none of its own."""
    found: dict[str, list[Node | None]] = {}
    nodes = list(statements([*program.forward, *program.backward]))
    pushed: dict[str, list[Node]] = {}
    for node in nodes:
        if is_push(node):
            pushed.setdefault(str(node.value.func.value.id), []).extend(node.value.args)
    for node in nodes:
        single = isinstance(node, gast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], gast.Name)
        if single and is_pop(node.value):
            found.setdefault(node.targets[0].id, []).extend(pushed.get(str(node.value.func.value.id), [NOTHING]))
        elif single:
            found.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            whole = gast.BinOp(name(node.target.id), node.op, node.value)
            found.setdefault(node.target.id, []).append(whole)
        else:
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            for item in (item for one in targets if one is not None for item in walk(one)):
                if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Store):
                    counted = isinstance(node, gast.For) and isinstance(node.target, gast.Name) and _counts(node.iter)
                    found.setdefault(item.id, []).append(literal_node(0) if counted else None)
    return found


def _counts(node: Node) -> bool:
    inner = node.args[0] if isinstance(node, gast.Call) and getattr(node.func, "id", "") == "reversed" else node
    return isinstance(inner, gast.Call) and getattr(inner.func, "id", "") == "range"


def aliases(program: Program) -> dict[str, frozenset[str]]:
    """The names that may show elements of one array with a name, itself among them."""
    above: dict[str, str] = {}

    def top(one: str) -> str:
        found = one
        while above.get(found, found) != found:
            found = above[found]
        above[one] = found
        return found

    every = bindings(program)
    for bound, values in every.items():
        for value in values:
            shown = [] if value is None or is_fresh(value) else [n.id for n in find_nodes(value, gast.Name)]
            for other in shown:
                above[top(other)] = top(bound)
    known = [*program.parameters, *every]
    alike: dict[str, list[str]] = {}
    for one in known:
        alike.setdefault(top(one), []).append(one)
    groups = {first: frozenset(names) for first, names in alike.items()}
    return {one: groups[top(one)] for one in known}


def is_fresh(value: Node) -> bool:
    """Whether an expression makes a new array."""
    if isinstance(value, gast.BinOp | gast.UnaryOp | gast.Constant):
        return True
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _FRESH


def respell_for_numba(program: Program, facts: Facts) -> Program:
    """Spell `reversed(range(n))` as `range(n - 1, -1, -1)`, `reversed(x)` as `x[::-1]`, `np.array(x)` as `np.copy(x)`.

    `a[1:] += a[:-1]`, which Numba runs element by element, reading what it has written, is `a[1:] = a[1:] + a[:-1]`;
    `a[...]` is `a[:]`. What Numba compiles for arrays only has another name: `np.zeros_like(x)` is `zeros_like(x)`,
    `np.broadcast_to(e, np.shape(x))` is `spread(e, x)`.
    """
    for item in [item for node in statements(program.block) for part in header(node) for item in walk(part)]:
        if isinstance(item, gast.Subscript) and isinstance(item.slice, gast.Constant) and item.slice.value is ...:
            item.slice = gast.Slice(None, None, None)
    for block in blocks(program):
        block[:] = [_separate_update(node) for node in block]
    for node in statements(program.block):
        if isinstance(node, gast.For) and is_call(node.iter, "reversed", facts):
            [walked] = node.iter.args
            node.iter = _backwards(walked, facts)
        elif not isinstance(node, gast.For | gast.While | gast.If):
            for item in walk(node):
                _respell_copy(item, facts)
    parts = [part for node in statements(program.block) for part in header(node)]
    own = {*program.parameters, *(one for node in statements(program.block) for one in stores(node))}
    for item in [item for part in [*parts, program.result] for item in walk(part)]:
        _along(item, own, facts)
    return program


def blocks(program: Program) -> list[Block]:
    """The blocks of both halves, outer ones first."""
    inner = [node for node in statements([*program.forward, *program.backward]) if isinstance(node, COMPOUND)]
    found = [getattr(node, field, None) or [] for node in inner for field in ("body", "orelse")]
    return [program.forward, program.backward, *(block for block in found if block)]


def _separate_update(node: Node) -> Node:
    """An update of a part, or by a view, with the new values computed before one is stored."""
    if not isinstance(node, gast.AugAssign):
        return node
    if has_slice(node.target):
        read = copy(node.target)
        read.ctx = gast.Load()
        return at(gast.Assign([node.target], gast.BinOp(read, node.op, node.value), None), node)
    if isinstance(node.target, gast.Name) and _is_view(node.value):
        node.value = gast.BinOp(literal_node(1), gast.Mult(), node.value)
    return node


def has_slice(node: Node) -> bool:
    """Whether an expression is a part of an array that has elements of its own: `a[1:]`, not `a[1]`."""
    return isinstance(node, gast.Subscript) and holds(node.slice, gast.Slice)


def _is_view(node: Node) -> bool:
    if isinstance(node, gast.Subscript):
        return has_slice(node)
    if isinstance(node, gast.Call):
        shown = node.func.attr if isinstance(node.func, gast.Attribute) else ""
        return shown in _VIEWS and isinstance((node.args or [node])[0], gast.Name | gast.Call)
    return isinstance(node, gast.Attribute) and node.attr == "T"


_VIEWS = ("reshape", "ravel", "transpose", "swapaxes")


def is_call(node: Node, called: str, facts: Facts) -> bool:
    """Whether an expression calls a builtin."""
    plain = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and not node.keywords
    return plain and node.func.id == called and called not in facts.names.local


def _calls(node: Node, facts: Facts, function: object, count: int) -> bool:
    """Whether an expression is a call of a function of NumPy with some number of arguments."""
    return function_called(node, facts) is function and len(node.args) == count and not node.keywords


def _respell_copy(item: Node, facts: Facts) -> None:
    if _calls(item, facts, np.array, 1) and _is_array(item.args[0], facts):
        item.func = gast.Attribute(value=item.func.value, attr="copy", ctx=gast.Load())
    elif _calls(item, facts, np.reshape, 2) and not _calls(item.args[0], facts, np.ascontiguousarray, 1):
        item.args[0] = expression(f"{facts.library('np')}.ascontiguousarray(x)", x=item.args[0])
    elif _calls(item, facts, np.matmul, 2):
        item.func = name(facts.library("product"))
    elif _calls(item, facts, np.broadcast_to, 2) and _calls(item.args[1], facts, np.shape, 1):
        item.func = name(facts.library("spread"))
        item.args[1] = item.args[1].args[0]


def _along(item: Node, own: set[str], facts: Facts) -> None:
    """`max_along(x, 0)` for `np.max(x, axis=0)` and `x.max(axis=0)`: Numba knows that of all elements only."""
    if not isinstance(item, gast.Call) or not isinstance(item.func, gast.Attribute) or item.func.attr not in _REDUCED:
        return
    words = {word.arg: word.value for word in item.keywords}
    library = isinstance(item.func.value, gast.Name) and is_library(item.func.value.id, np, facts)
    array, *places = item.args if library else [item.func.value, *item.args]
    known = library or not isinstance(array, gast.Name) or array.id in own
    if not known or not words.keys() <= {"axis", "keepdims"} or len(places) > 1 - ("axis" in words):
        return
    axis = places[0] if places else words.get("axis", literal_node(None))
    plain = getattr(axis, "value", ...) is None or item.func.attr == "sum"
    if plain and "keepdims" not in words:
        return
    item.func, item.keywords = name(facts.library(f"{item.func.attr}_along")), []
    item.args = [array, axis, *([words["keepdims"]] if "keepdims" in words else [])]


_REDUCED = ("max", "min", "sum", "mean")


def _is_array(node: Node, facts: Facts) -> bool:
    if isinstance(node, gast.Name):
        return node.id not in facts.kinds.containers
    return isinstance(node, gast.Subscript | gast.Call | gast.BinOp | gast.UnaryOp)


def _backwards(walked: Node, facts: Facts) -> Node:
    if not is_call(walked, "range", facts):
        return expression("walked[::-1]", walked=walked)
    parts = [copy(part) for part in walked.args]
    if len(parts) == 1:
        return expression("range(last, -1, -1)", last=less_one(parts[0]))
    if len(parts) == 2:
        return expression("range(last, before, -1)", last=less_one(parts[1]), before=less_one(parts[0]))
    first, _, step = parts
    known = [literal_integer(part) for part in parts]
    if None not in known and known[2]:
        turned = range(*known)[::-1]  # type: ignore[arg-type]
        return expression(f"range({turned.start}, {turned.stop}, {turned.step})")
    last = expression("first + (len(whole) - 1) * step", first=first, whole=walked, step=step)
    return expression("range(last, first - step, -step)", last=last, first=copy(first), step=copy(step))


def less_one(node: Node) -> Node:
    """`n - 1`, or the number if it is one.

    >>> less_one(literal_node(5)).value, type(less_one(expression("n"))).__name__
    (4, 'BinOp')
    """
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return literal_node(node.value - 1)
    return expression("n - 1", n=node)


def decorators(facts: Facts) -> Block:
    """What makes Numba compile a function: indices are looked at, unless it is known that all are inside."""
    taken = facts.module.given_of.get(facts.source.name)
    inside = "inside" in facts.module.looped or (taken is not None and taken.inside and not facts.request.called)
    checks = "" if inside else ", boundscheck=True"
    return [expression(f'{facts.library("njit", "numba.njit")}(error_model="numpy"{checks})')]


def ranges(program: Program, facts: Facts) -> Program:
    """Spell `trips[place]` as `place` for `trips = range(n)`, as `2 + place * 3` for `trips = range(2, n, 3)`.

    Loops with `break` or `return` read their counter so. A start that is no number is read at the range,
    `trips.start + place`, since its names may be bound anew by then.
    """
    nodes = list(statements(program.block))
    bound = [each for node in nodes for each in stores(node)]
    plain = [node for node in nodes if target(node) is not None]
    calls = {str(target(node)): node.value for node in plain if is_call(node.value, "range", facts)}
    made = {held: value for held, value in calls.items() if bound.count(held) == 1}
    fixed = {each for each in program.parameters if each not in bound}
    for item in [item for node in nodes for part in header(node) for item in walk(part)] if made else []:
        for field, value in gast.iter_fields(item):
            if isinstance(value, list):
                value[:] = [_item(one, made, fixed) for one in value]
            else:
                setattr(item, field, _item(value, made, fixed))
    return program


def _item(node: Node, made: dict[str, Node], fixed: set[str]) -> Node:
    """What an item of a range is, or the node itself."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.value, gast.Name) or node.value.id not in made:
        return node
    if not isinstance(node.slice, gast.Name):  # a slice; a negative place counts from the end, and a loop has none
        return node
    held, parts = node.value.id, made[node.value.id].args
    first = _part(parts[0], held, "start", fixed) if len(parts) > 1 else literal_node(0)
    step = _part(parts[2], held, "step", fixed) if len(parts) > 2 else literal_node(1)
    place = name(node.slice.id)
    moved = place if _is(step, 1) else expression("place * step", place=place, step=step)
    if _is(step, -1):
        return expression("first - place", first=first, place=place)
    return moved if _is(first, 0) else expression("first + moved", first=first, moved=moved)


def _part(node: Node, held: str, which: str, fixed: set[str]) -> Node:
    """A number, or arithmetic of arguments that nothing binds, as it stands; anything else is read at the range."""
    plain = gast.Constant | gast.Name | gast.BinOp | gast.UnaryOp | gast.operator | gast.unaryop | gast.Load
    if all(isinstance(item, plain) for item in walk(node)) and set(loads(node)) <= fixed:
        return copy(node)
    return expression(f"{held}.{which}")


def _is(node: Node, number: int) -> bool:
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return _is(node.operand, -number)
    return isinstance(node, gast.Constant) and type(node.value) is int and node.value == number


def common_dtype(reals: Iterable[str]) -> str:
    """The dtype of what several make together.

    >>> common_dtype(["weak", "single"]), common_dtype(["single", "double", "weak"]), common_dtype(["weak", "weak"])
    ('single', 'double', 'weak')
    """
    found = set(reals)
    return DOUBLE if DOUBLE in found else SINGLE if SINGLE in found else WEAK


def leaf(held: str, form: Form) -> Piece:
    """An array by its name."""

    def element(index: list[Node]) -> Node:
        parts = [literal_node(0) if axis == ONE else copy(one) for axis, one in zip(form.axes, index, strict=True)]
        return gast.Subscript(name(held), parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load()), gast.Load())

    return Piece(form.axes, form.real, element, leaf=held)


def number(node: Node, real: str = WEAK) -> Piece:
    """A number by its name, or as it is spelled."""
    return Piece((), real, lambda _: copy(node))


def strong(piece: Piece) -> Piece:
    """What a function of NumPy gives, which is a number of NumPy also where it was given those of Python."""
    return replace(piece, real=DOUBLE) if piece.real == WEAK else piece


def convert_piece(piece: Piece, real: str, facts: Facts) -> Piece:
    """A piece of another dtype. Compiled code takes all numbers for float64, and widens what meets it by itself."""
    if real == piece.real or (real, piece.real) in ((DOUBLE, WEAK), (WEAK, DOUBLE)):
        return replace(piece, real=real)
    return Piece(piece.axes, real, lambda index: cast(piece.at(index), real, facts))


def dtype_function(node: Node) -> str:
    """What `np.float32` and `np.float64` are called here; an empty string for any other dtype."""
    return {"float32": SINGLE, "float64": DOUBLE}.get(getattr(node, "attr", ""), "")


def cast(node: Node, real: str, facts: Facts) -> Node:
    """An element or a number in another dtype."""
    return expression(f"{_spell_dtype(real, facts)}(x)", x=node)


def dtype(real: str, facts: Facts) -> list[Node]:
    """The argument by which an array gets its dtype, where it needs one."""
    return [expression(_spell_dtype(real, facts))] if real == SINGLE else []


def widen_array(node: Node, facts: Facts) -> Node:
    """An array of float32 as one of float64: compiled products of matrices take one dtype."""
    return expression(f"x.astype({_spell_dtype(DOUBLE, facts)})", x=node)


def _spell_dtype(real: str, facts: Facts) -> str:
    return f"{facts.library('np')}.{'float32' if real == SINGLE else 'float64'}"


def scalars(program: Program, facts: Facts) -> Program:
    """Spell functions of what is known to be a real number as those of `math`, and `np.divide(x, y)` as `x / y`.

    Of numbers, `sum_to(e, x)` is `e`, and no seed of one need be looked at.
    """
    known = numbers(program, facts)
    program.backward = [node for node in program.backward if not _is_seed_check(node, known, facts)]
    for node in [*statements([*program.forward, *program.backward]), program.result]:
        for part in header(node):
            for item in list(walk(part)):
                _respell(item, known, facts)
    return program


def _is_seed_check(node: Node, known: frozenset[str], facts: Facts) -> bool:
    """`check_seed(1.0, y)` of a number."""
    call = node.value if isinstance(node, gast.Expr) else None
    checks = function_called(call, facts) is runtime.check_seed
    return isinstance(call, gast.Call) and checks and all(is_number(part, known, facts) for part in call.args)


def _respell(item: Node, known: frozenset[str], facts: Facts) -> None:
    for key, child in gast.iter_fields(item):
        if isinstance(child, list):
            child[:] = [_respell_for_numbers(one, known, facts) for one in child]
        elif isinstance(child, gast.Call):
            setattr(item, key, _respell_for_numbers(child, known, facts))
    if not isinstance(item, gast.Call) or item.keywords or len(item.args) != 1:
        return
    rule = rule_of(_numpys(item, facts))
    if rule is not None and rule.numba.startswith("math.") and is_number(item.args[0], known, facts):
        spelled = rule.numba.removeprefix("math.").partition("(")[0]
        item.func = gast.Attribute(value=name(facts.library("math", math)), attr=spelled, ctx=gast.Load())


def _numpys(call: Node, facts: Facts) -> object:
    """The function of NumPy that is called; None for any other."""
    narrow = any(
        kind.dtype == SINGLE for kind in facts.kinds.arguments.values()
    )  # np.exp(2.0) makes float64 of float32
    ours = not narrow and isinstance(call.func, gast.Attribute) and meant(call.func.value, facts) is np
    return function_called(call, facts) if ours else None


def _respell_for_numbers(node: Node, known: frozenset[str], facts: Facts) -> Node:
    """`x / y` for `np.divide(x, y)`, and `e` for `sum_to(e, x)`, of numbers."""
    if not isinstance(node, gast.Call) or node.keywords or len(node.args) != 2:
        return node
    if not all(is_number(argument, known, facts) for argument in node.args):
        return node
    if function_called(node, facts) is runtime.sum_to:
        return _respell_for_numbers(node.args[0], known, facts)
    return gast.BinOp(node.args[0], gast.Div(), node.args[1]) if _numpys(node, facts) is np.divide else node
