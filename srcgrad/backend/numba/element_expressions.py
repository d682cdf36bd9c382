"""Expressions of arrays by their elements: `x * w[:, None]` at i, j is `x[i, j] * w[i]`.

Functions of arrays that work on each element are spelled as for numbers; sums and largest elements along axes, and
arrays in the shape of others, come as pieces. Of what is no map of elements the axes are told: products of matrices,
other shapes of an array, joined arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import gast
import numpy as np

from srcgrad.backend.numba.value_types import (
    DOUBLE,
    ONE,
    SINGLE,
    WEAK,
    Axes,
    Form,
    Lengths,
    NotLoweredError,
    Piece,
    Reduction,
    bounds,
    common_dtype,
    convert_piece,
    dtype_function,
    fixed_index,
    leaf,
    literal_axes,
    number,
    product_of,
    shifted_counter,
    sources,
    strong,
)
from srcgrad.core.facts import Facts, function_called, meant
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Node,
    at,
    copy,
    expression,
    find_nodes,
    literal_node,
    literal_of,
    loads,
    name,
    statements,
    stores,
    substitute,
    walk,
)


def of_elements(node: Node, facts: Facts) -> Callable[[list[Node]], Node] | None:
    """A function of elements, as its rule spells it for numbers; None for any other."""
    rule = rule_of(function_called(node, facts))
    if rule is None or not rule.numba:
        return None
    if rule.numba == "same":
        return lambda parts: at(gast.Call(copy(node.func), parts, []), node)
    if len(node.args) != len(rule.parameters):
        return None
    spelled = rule.numba.replace("math.", f"{facts.library('math', math)}.") if "math." in rule.numba else rule.numba
    return lambda parts: expression(spelled, **dict(zip(rule.parameters, parts, strict=True)))


REDUCED = {"sum": "sum", "max": "max", "min": "min", "amax": "max", "amin": "min", "mean": "mean"}


def read_reduction(node: Node, called: str, words: dict[str, Node], reader: Reader) -> Piece | None:
    """A call that puts elements together, or repeats them; None for any other."""
    if called in REDUCED:
        return _along(node, called, words, reader)
    if words or any(isinstance(one, gast.Starred) for one in node.args):
        return None
    if called in ("sum_to", "fit_to") and len(node.args) == 2:
        return _read_sum_to(reader.value(node.args[0]), reader.form_of(node.args[1]), reader)
    if called == "count":
        return number(_count(node, reader))
    if called in ("spread", "broadcast_to") and len(node.args) == 2:
        return strong(_read_broadcast(reader.value(node.args[0]), reader.axes_of(node.args[1]), reader))
    if (called, len(node.args)) in (("full_like", 2), ("ones_like", 1)):
        value = reader.value(node.args[1]) if len(node.args) == 2 else number(literal_node(1.0))
        form = reader.form_of(node.args[0])
        return convert_piece(_read_broadcast(value, form.axes, reader), form.real, reader.facts)
    return None


def _count(node: Node, reader: Reader) -> Node:
    """How many elements a reduction puts together."""
    axes = reader.axes_of(node.args[0])
    gone = literal_axes(node.args[1] if len(node.args) == 2 else literal_node(None), len(axes))
    if gone is None:
        raise NotLoweredError
    return product_of([reader.lengths.node(axes[k]) for k in gone if axes[k] != ONE])


def _along(node: Node, called: str, words: dict[str, Node], reader: Reader) -> Piece:
    method = isinstance(node.func, gast.Attribute) and not _is_library(node.func.value, reader)
    given = [node.func.value, *node.args] if method else list(node.args)
    if not set(words) <= {"axis", "keepdims"} or len(given) > 2 or (len(given) == 2 and "axis" in words):
        raise NotLoweredError
    axis = given[1] if len(given) == 2 else words.get("axis", literal_node(None))
    keeps = words.get("keepdims", literal_node(False))
    inner = reader.value(given[0])
    rank = len(inner.axes)
    gone = literal_axes(axis, rank)
    if gone is None or not isinstance(keeps, gast.Constant) or not rank:
        raise NotLoweredError
    kept = [(None if k in gone else k) for k in range(rank) if keeps.value or k not in gone]
    return reduction(REDUCED[called], inner, tuple(kept), reader)


def _is_library(node: Node, reader: Reader) -> bool:
    return isinstance(node, gast.Name) and node.id not in reader.known


def reduction(kind: str, inner: Piece, kept: tuple[int | None, ...], reader: Reader) -> Piece:
    """What holds a reduction, which comes before the statement; `kept` are the axes of the result."""
    axes = tuple(ONE if k is None else inner.axes[k] for k in kept)
    gone = [inner.axes[k] for k in range(len(inner.axes)) if k not in kept and inner.axes[k] != ONE]
    if not gone:
        return Piece(axes, inner.real, lambda index: inner.at(sources(index, kept, len(inner.axes))))
    if kind in ("max", "min"):
        reader.lengths.filled += gone
    held = reader.fresh("t")
    reader.reductions.append(Reduction(held, "sum" if kind == "mean" else kind, inner, axes, kept))
    made = leaf(held, Form(axes, inner.real)) if axes else replace(number(name(held), inner.real), leaf=held)
    if kind != "mean":
        return made
    length = number(product_of([reader.lengths.node(one) for one in gone], least=False))
    return reader.map_pieces([made, length], lambda parts: gast.BinOp(parts[0], gast.Div(), parts[1]))


def _read_sum_to(inner: Piece, form: Form, reader: Reader) -> Piece:
    """A value reduced to the shape of another that was broadcast to it."""
    lead = len(inner.axes) - len(form.axes)
    if lead < 0:
        return _as(_read_broadcast(inner, form.axes, reader), form, reader)
    kept: list[int | None] = []
    for k, wanted in enumerate(form.axes, lead):
        own = inner.axes[k]
        if own == ONE and wanted != ONE:
            raise NotLoweredError
        kept.append(None if wanted == ONE else k)
        if wanted != ONE:
            reader.lengths.broadcast_length(wanted, own)
    if lead == 0 and all(k is not None or inner.axes[place] == ONE for place, k in enumerate(kept)):
        return _as(inner, form, reader)
    return _as(reduction("sum", inner, tuple(kept), reader), form, reader)


def _as(piece: Piece, form: Form, reader: Reader) -> Piece:
    """An adjoint is of the dtype of what it belongs to."""
    return piece if form.real == WEAK else convert_piece(piece, form.real, reader.facts)


def _read_broadcast(inner: Piece, axes: Axes, reader: Reader) -> Piece:
    """A value repeated along the axes of another."""
    lead = len(axes) - len(inner.axes)
    if lead < 0 or any(a != ONE and b == ONE for a, b in zip(inner.axes, axes[lead:], strict=True)):
        raise NotLoweredError
    reader.lengths.broadcast(inner.axes, axes)
    zeros = [a == ONE and b != ONE for a, b in zip(inner.axes, axes[lead:], strict=True)]
    return Piece(
        axes,
        inner.real,
        lambda index: inner.at(
            [literal_node(0) if zero else one for zero, one in zip(zeros, index[lead:], strict=True)]
        ),
    )


def read_share(node: Node, words: dict[str, Node], reader: Reader) -> Piece:
    """`share(g, a, y, axis)`: `among * (g / count)`, where `among` is 1.0 for elements that are equal to y."""
    if len(node.args) not in (3, 4) or not set(words) <= {"axis", "keepdims"} or (len(node.args) == 4 and words):
        raise NotLoweredError
    axis = node.args[3] if len(node.args) == 4 else words.get("axis", literal_node(None))
    keeps = words.get("keepdims", literal_node(False))
    given, whole, found = map(reader.value, node.args[:3])
    gone = literal_axes(axis, len(whole.axes))
    if not gone or not isinstance(keeps, gast.Constant):
        raise NotLoweredError
    if not keeps.value:
        given, found = (
            _widened_reduction(given, gone, len(whole.axes)),
            _widened_reduction(found, gone, len(whole.axes)),
        )
    one, zero = (convert_piece(number(literal_node(each)), found.real, reader.facts).at([]) for each in (1.0, 0.0))
    among = reader.map_pieces(
        [whole, found],
        lambda parts: expression("one if a == y else zero", one=one, a=parts[0], y=parts[1], zero=zero),
    )
    kept = tuple(None if k in gone else k for k in range(len(whole.axes)))
    count = reduction("sum", among, kept, reader)
    return reader.map_pieces(
        [among, given, count], lambda parts: expression("a * (g / n)", a=parts[0], g=parts[1], n=parts[2])
    )


def _widened_reduction(piece: Piece, gone: tuple[int, ...], rank: int) -> Piece:
    """A reduction with an axis of length 1 for each that is gone."""
    if not piece.axes:
        return piece
    if len(piece.axes) != rank - len(gone):
        raise NotLoweredError
    left = iter(piece.axes)
    axes = tuple(ONE if k in gone else next(left) for k in range(rank))
    return Piece(axes, piece.real, lambda index: piece.at([one for k, one in enumerate(index) if k not in gone]))


@dataclass
class Reader:
    """Reads expressions of one text, whose names hold arrays and numbers that are known."""

    facts: Facts
    lengths: Lengths
    known: dict[str, Form]  # names that hold arrays and real numbers
    fresh: Callable[[str], str]
    opaque: Callable[[Node], Form | None]  # what is known of what a call that is no map gives
    reductions: list[Reduction | tuple[str, Node, Form]] = field(default_factory=list)  # of this statement, in order
    masks: dict[str, Node] = field(default_factory=dict)  # names of ours that hold what is true or false -> what it is

    def piece(self, node: Node) -> Piece:
        """An expression as a piece; NotLoweredError for what is none."""
        if isinstance(node, gast.Constant) and type(node.value) in (int, float):
            return number(node)
        if isinstance(node, gast.Name):
            return self.named(node)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
            return self.map_pieces([self.value(node.operand)], lambda parts: gast.UnaryOp(node.op, parts[0]))
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
            return self._read_product(node)
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div | gast.Pow):
            return self._read_binary(node)
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            sides = [self.value(node.left), self.value(node.comparators[0])]
            made = self.map_pieces(sides, lambda parts: gast.Compare(parts[0], node.ops, [parts[1]]))
            return replace(made, tests=True)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert):
            return self._read_tests([node.operand], lambda parts: gast.UnaryOp(gast.Not(), parts[0]))
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.BitAnd | gast.BitOr):
            joint = gast.And() if isinstance(node.op, gast.BitAnd) else gast.Or()
            return self._read_tests([node.left, node.right], lambda parts: gast.BoolOp(joint, parts))
        if isinstance(node, gast.Subscript):
            return self._part(node)
        if isinstance(node, gast.Call):
            return self._call(node)
        raise NotLoweredError

    def _read_tests(self, nodes: list[Node], made: Callable[[list[Node]], Node]) -> Piece:
        """What is made of what is true or false."""
        sides = [self.piece(one) for one in nodes]
        if not all(side.tests for side in sides):
            raise NotLoweredError
        return replace(self.map_pieces(sides, made), tests=True)

    def value(self, node: Node) -> Piece:
        """An expression of numbers."""
        found = self.piece(node)
        if found.tests:
            raise NotLoweredError
        return found

    def taken(self) -> list[Reduction | tuple[str, Node, Form]]:
        """What the statement at hand needs before it, which is nobody else's then."""
        found, self.reductions = self.reductions, []
        return found

    def named(self, node: Node) -> Piece:
        """A name of an array or of a number, or of a mask, which is made anew."""
        if node.id in self.masks:
            return self.piece(copy(self.masks[node.id]))
        form = self.known.get(node.id)
        if form is None:
            raise NotLoweredError
        return leaf(node.id, form) if form.axes else number(node, form.real)

    def _read_binary(self, node: Node) -> Piece:
        if isinstance(node.op, gast.Pow) and not isinstance(node.right, gast.Constant):
            if self.value(node.left).axes == () == self.value(node.right).axes:
                raise NotLoweredError  # a number, which may be an integer
        sides = [self.value(node.left), self.value(node.right)]
        if isinstance(node.op, gast.Pow) and isinstance(node.right, gast.Constant) and type(node.right.value) is int:
            return self.map_pieces(sides[:1], lambda parts: gast.BinOp(parts[0], node.op, copy(node.right)))
        return self.map_pieces(sides, lambda parts: gast.BinOp(parts[0], node.op, parts[1]))

    def map_pieces(self, parts: list[Piece], made: Callable[[list[Node]], Node]) -> Piece:
        """What a function of elements makes of several pieces; Python's numbers are of float32 where others are."""
        axes: Axes = ()
        for part in parts:
            axes = self.lengths.broadcast(axes, part.axes)
        real = common_dtype(part.real for part in parts if not part.tests)
        alike = [part if part.tests or part.real != WEAK else convert_piece(part, real, self.facts) for part in parts]
        return Piece(axes, real, lambda index: made([part.at(index[len(index) - len(part.axes) :]) for part in alike]))

    def _part(self, node: Node) -> Piece:
        """`e[:, None]`, `e[:, 0]`, and of arrays `x[1:-1]`."""
        if isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
            return number(node)
        parts = list(node.slice.elts) if isinstance(node.slice, gast.Tuple) else [node.slice]
        if isinstance(node.value, gast.Call) and self.called_function(node.value) == "split_like":
            return self._read_product(node)
        whole = self.piece(node.value)
        used = [part for part in parts if not _is(part, None)]
        if not whole.axes or len(used) > len(whole.axes) or any(_is(part, ...) for part in parts):
            raise NotLoweredError
        axes: list[str] = []
        places: list[Callable[[list[Node]], Node]] = []
        source = 0
        for part in [*parts, *([_ALL] * (len(whole.axes) - len(used)))]:
            here = len(axes)
            if _is(part, None):
                axes.append(ONE)
                continue
            axis = whole.axes[source]
            source += 1
            if isinstance(part, gast.Slice):
                ends = bounds(part)
                if ends is None or (axis == ONE and ends != (0, 0)):
                    raise NotLoweredError
                axes.append(self.lengths.cut(axis, sum(ends)))
                places.append(shifted_counter(here, ends[0]))
            elif isinstance(part, gast.Constant) and type(part.value) is int and part.value >= 0:
                if not (whole.leaf or (axis == ONE and part.value == 0)):
                    raise NotLoweredError
                places.append(fixed_index(part))
                self.lengths.fixed |= axis != ONE
            else:
                raise NotLoweredError
        return Piece(tuple(axes), whole.real, lambda index: whole.at([place(index) for place in places]), whole.tests)

    def _call(self, node: Node) -> Piece:
        called = self.called_function(node)
        words = {str(word.arg): word.value for word in node.keywords}
        if isinstance(node.func, gast.Attribute) and node.func.attr == "astype" and len(node.args) == 1 and not words:
            real = dtype_function(node.args[0])
            if real and self._is_numpys(node.args[0]):
                return replace(convert_piece(self.value(node.func.value), real, self.facts), leaf="")
        found = read_share(node, words, self) if called == "share" else read_reduction(node, called, words, self)
        if found is not None:
            return found
        if not words and not any(isinstance(one, gast.Starred) for one in node.args):
            if called in _LOGICAL:
                return self._read_tests(node.args, _LOGICAL[called])
            if called == "where" and len(node.args) == 3:
                test, *sides = [self.piece(node.args[0]), *map(self.value, node.args[1:])]
                if test.tests:
                    made = self.map_pieces([test, *sides], lambda parts: gast.IfExp(parts[0], parts[1], parts[2]))
                    return strong(made)
            if called == "if_larger" and len(node.args) == 3:
                return self._larger(node)
            function = of_elements(node, self.facts)
            if function is not None:
                mapped = self.map_pieces([self.value(one) for one in node.args], function)
                return strong(mapped) if self._is_numpys(node.func) else mapped
        return self._read_product(node)

    def _larger(self, node: Node) -> Piece:
        """`if_larger(g, x, y)` is of the dtype of g, which may be a number of Python's."""
        given, one, two = map(self.value, node.args)
        compared = common_dtype([one.real, two.real])
        parts = [
            convert_piece(given, compared, self.facts) if given.real == WEAK else given,
            *(convert_piece(side, compared, self.facts) if side.real == WEAK else side for side in (one, two)),
        ]
        made = self.map_pieces(parts, lambda each: at(gast.Call(copy(node.func), each, []), node))
        return replace(made, real=parts[0].real)

    def _is_numpys(self, function: Node) -> bool:
        """Whether a function, or a dtype, is NumPy's."""
        return isinstance(function, gast.Attribute) and meant(function.value, self.facts) is np

    def _read_product(self, node: Node) -> Piece:
        """A product of matrices or the like, which has a name of its own before the loops."""
        form = self.opaque(node)
        if form is None:
            raise NotLoweredError
        held = self.fresh("t")
        self.reductions.append((held, node, form))
        return leaf(held, form) if form.axes else number(name(held), form.real)

    def called_function(self, node: Node) -> str:
        """The function of NumPy, or helper of ours, that is called; an empty string for any other."""
        function = node.func
        if isinstance(function, gast.Name):
            ours = [known for known, spelled in self.facts.names.imports.items() if spelled == function.id]
            return ours[0] if ours else ""
        if not isinstance(function, gast.Attribute):
            return ""
        if isinstance(function.value, gast.Name) and function.value.id not in self.known:
            owner = meant(function.value, self.facts)  # `in` would compare an array of the module by its elements
            return str(function.attr) if owner is np or owner is math else ""
        return str(function.attr) if function.attr in ("sum", "max", "min", "mean") else ""

    def axes_of(self, node: Node) -> Axes:
        """The axes of an expression of which only the shape matters."""
        return self.form_of(node).axes

    def form_of(self, node: Node) -> Form:
        """What is known of an expression of which no element is wanted."""
        if isinstance(node, gast.Call) and self.called_function(node) == "shape" and len(node.args) == 1:
            return self.form_of(node.args[0])
        if isinstance(node, gast.Attribute) and node.attr == "T":
            form = self.form_of(node.value)
            return Form(form.axes[::-1], form.real)
        before = len(self.reductions)
        found = self.piece(node)
        del self.reductions[before:]
        return Form(found.axes, found.real)


_ALL = gast.Slice(None, None, None)
_LOGICAL: dict[str, Callable[[list[Node]], Node]] = {
    "logical_not": lambda parts: gast.UnaryOp(gast.Not(), parts[0]),
    "logical_and": lambda parts: gast.BoolOp(gast.And(), parts),
    "logical_or": lambda parts: gast.BoolOp(gast.Or(), parts),
}


def _is(part: Node, value: object) -> bool:
    return isinstance(part, gast.Constant) and part.value is value


LIKE = ("zeros_like", "empty_like", "copy", "owned", "ascontiguousarray", "array")
FILLED = ("zeros", "ones", "empty")
PRODUCTS = ("matmul", "dot")
ADJOINTS = ("matmul_left", "matmul_right", "dot_left", "dot_right")
BOTH = ("matmul_both", "dot_both")
VIEWS = ("reshape", "ravel", "transpose", "swapaxes", "broadcast_to", "asarray", "squeeze", "expand_dims", "moveaxis")
SHARING = ("sum_to", "fit_to", "spread", "stop_gradient", "split_like", "ascontiguousarray", "atleast_1d", "real")


def form_of_call(node: Node, reader: Reader, held: str) -> Form | None:
    """What is known of a call, a part or a transpose, of which `held` is the name; None where that is not enough."""
    try:
        axes = _axes(node, reader, held)
        real = _dtype_of_result(node, reader) if axes is not None else None
        return Form(axes, real) if axes is not None and real is not None else None
    except NotLoweredError:
        return None


def _dtype_of_result(node: Node, reader: Reader) -> str | None:
    """The dtype of what compiled code gives for such an expression; None where NumPy's might be another one."""
    if isinstance(node, gast.BinOp):
        return common_dtype([_operand(node.left, reader), _operand(node.right, reader)])
    if isinstance(node, gast.Attribute | gast.Subscript):
        inner = node.value
        if isinstance(inner, gast.Call) and reader.called_function(inner) == "split_like":
            return _operand(inner.args[0], reader)
        return _operand(inner, reader)
    called = reader.called_function(node) or _method(node)
    if called in FILLED:
        return DOUBLE
    if called == "concatenate":
        return common_dtype([_operand(one, reader) for one in node.args[0].elts])
    if called in (*PRODUCTS, *ADJOINTS, *BOTH):
        given = node.args if called not in ADJOINTS else [node.args[0], node.args[2 if called.endswith("left") else 1]]
        return common_dtype([_operand(one, reader) for one in given])
    return _operand(node.args[0] if node.args else node.func.value, reader)


def _operand(node: Node, reader: Reader) -> str:
    """The dtype of an operand that compiled code computes: it takes Python's numbers for float64."""
    real = reader.form_of(node).real
    if real == SINGLE and not (is_view(node) or form_of_call(node, reader, "")):
        raise NotLoweredError
    return real


def _axes(node: Node, reader: Reader, held: str) -> Axes | None:
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        return _product(reader.axes_of(node.left), reader.axes_of(node.right), reader.lengths)
    if isinstance(node, gast.Attribute) and node.attr == "T":
        return reader.axes_of(node.value)[::-1]
    if isinstance(node, gast.Subscript):
        if isinstance(node.value, gast.Call):
            return _part(node, reader, held)
        try:
            return reader.axes_of(node)
        except NotLoweredError:
            return _part(node, reader, held)
    if not isinstance(node, gast.Call):
        return None
    called = reader.called_function(node) or _method(node)
    args, words = node.args, {word.arg: word.value for word in node.keywords}
    if called in LIKE and not words and args:
        return reader.axes_of(args[0])
    if called == "copy" and not args:
        return reader.axes_of(node.func.value)
    if called in FILLED and len(args) == 1 and not words:
        return _shape(args[0], reader, held)
    if called in PRODUCTS and len(args) == 2 and not words:
        return _product(reader.axes_of(args[0]), reader.axes_of(args[1]), reader.lengths)
    if called in ADJOINTS and len(args) == 3 and not words:
        return reader.axes_of(args[1 if called.endswith("left") else 2])
    if called in BOTH and len(args) == 2 and not words:
        return reader.axes_of(args[1])
    if called == "transpose" and args and not words:
        return _axes_of_transpose(reader.axes_of(args[0]), args[1:])
    if called == "swapaxes" and len(args) == 3 and not words:
        axes = reader.axes_of(args[0])
        places = [literal_axes(one, len(axes)) for one in args[1:]]
        return _axes_of_swapaxes(axes, *(one[0] if one and len(one) == 1 else None for one in places))
    if called == "reshape" and len(args) == 2 and not words and isinstance(node.func, gast.Attribute):
        reader.axes_of(args[0])
        return _shape(args[1], reader, held)
    if called == "concatenate" and len(args) == 1 and set(words) <= {"axis"} and isinstance(args[0], gast.Tuple):
        return _axes_of_concatenate(
            [reader.axes_of(one) for one in args[0].elts], words.get("axis"), held, reader.lengths
        )
    return None


def operands(node: Node, reader: Reader) -> list[tuple[Node, str, int | None]]:
    """Where a product of matrices, or another shape of an array, has its operands: node, field, place."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        return [(node, "left", None), (node, "right", None)]
    called = reader.called_function(node) if isinstance(node, gast.Call) else ""
    count = {"matmul": 2, "dot": 2, "reshape": 1, "transpose": 1, "swapaxes": 1}.get(called, 0)
    count = 3 if called in ADJOINTS else 2 if called in BOTH else count
    return [(node, "args", k) for k in range(min(count, len(getattr(node, "args", []))))]


def _method(node: Node) -> str:
    return str(node.func.attr) if isinstance(node.func, gast.Attribute) and node.func.attr == "copy" else ""


def _product(one: Axes, two: Axes, lengths: Lengths) -> Axes | None:
    if not one or not two:
        return None
    batch = lengths.broadcast(one[:-2], two[:-2])
    return (*batch, *one[-2:-1], *(two[-1:] if len(two) > 1 else ()))


def _axes_of_transpose(axes: Axes, order: list[Node]) -> Axes | None:
    if not order:
        return axes[::-1]
    found = literal_of(order[0])
    plain = isinstance(found, tuple) and sorted(found) == list(range(len(axes)))
    return tuple(axes[k] for k in found) if plain else None


def _axes_of_swapaxes(axes: Axes, one: int | None, two: int | None) -> Axes | None:
    if one is None or two is None:
        return None
    order = {one: two, two: one}
    return tuple(axes[order.get(k, k)] for k in range(len(axes)))


def _shape(node: Node, reader: Reader, held: str) -> Axes | None:
    """The axes that a shape spells; a length of which nothing is known is that of the array itself."""
    if isinstance(node, gast.Call) and reader.called_function(node) == "shape":
        return reader.axes_of(node)
    if isinstance(node, gast.Attribute) and node.attr == "shape":
        return reader.axes_of(node.value)
    parts = node.elts if isinstance(node, gast.Tuple) else [node]
    if any(not isinstance(part, gast.Name | gast.Constant) for part in parts):
        return reader.lengths.of_array(held, len(parts)) if isinstance(node, gast.Tuple) and held else None
    made: list[str] = []
    for k, part in enumerate(parts):
        if isinstance(part, gast.Constant) and part.value == 1:
            made.append(ONE)
        elif isinstance(part, gast.Name) and (known := reader.lengths.length_of_name(part.id)):
            made.append(known)
        elif isinstance(part, gast.Name) and ((form := reader.known.get(part.id)) is None or form.axes):
            return None  # a tuple
        elif held:
            made.append(reader.lengths.of_array(held, len(parts))[k])
        else:
            return None
    return tuple(made)


def _axes_of_concatenate(parts: list[Axes], axis: Node | None, held: str, lengths: Lengths) -> Axes | None:
    place = 0 if axis is None else axis.value if isinstance(axis, gast.Constant) else None
    rank = len(parts[0])
    if type(place) is not int or not held or not 0 <= place < rank or any(len(one) != rank for one in parts):
        return None
    own = lengths.of_array(held, rank)
    return tuple(own[k] if k == place else parts[0][k] for k in range(rank))


def _part(node: Node, reader: Reader, held: str) -> Axes | None:
    """`x[:, :d]`, `x[:, index]`: lengths that are not those of the array itself are those of the part."""
    if isinstance(node.value, gast.Call) and reader.called_function(node.value) == "split_like":
        arrays = node.value.args[1]
        plain = isinstance(arrays, gast.Tuple) and isinstance(node.slice, gast.Constant)
        return reader.axes_of(arrays.elts[node.slice.value]) if plain else None
    whole = reader.axes_of(node.value)
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    if len(parts) > len(whole) or not held:
        return None
    made: list[str | None] = []
    for axis, part in zip(whole, parts, strict=False):
        if isinstance(part, gast.Slice):
            made.append(axis if part.lower is None and part.upper is None and part.step is None else None)
        elif isinstance(part, gast.Name) and reader.facts.kinds.arguments.get(part.id) is not None:
            kind = reader.facts.kinds.arguments[part.id]
            if kind.tag != "array" or kind.ndim != 1 or made.count(None) > 0:
                return None
            made.append(None)
        else:
            return None
    left = [*made, *whole[len(parts) :]]
    own = reader.lengths.of_array(held, len(left))
    return tuple(own[k] if axis is None else axis for k, axis in enumerate(left))


def named_lengths(node: Node, reader: Reader, once: frozenset[str]) -> None:
    """`n, d = x.shape`, `n = x.shape[0]`: names of lengths."""
    if not isinstance(node, gast.Assign) or len(node.targets) != 1:
        return
    value, [place] = node.value, node.targets
    parts = place.elts if isinstance(place, gast.Tuple) else [place]
    index = None
    if isinstance(value, gast.Subscript) and isinstance(place, gast.Name):
        index, value = value.slice, value.value
    if not isinstance(value, gast.Attribute) or value.attr != "shape" or not isinstance(value.value, gast.Name):
        return
    known = reader.known.get(value.value.id)
    axes = known.axes if known is not None else ()
    if index is not None:
        k = index.value if isinstance(index, gast.Constant) and type(index.value) is int else len(axes)
        axes = axes[k : k + 1] if k >= 0 else ()
    if len(axes) != len(parts) or not all(isinstance(part, gast.Name) for part in parts):
        return
    for part, axis in zip(parts, axes, strict=True):
        if part.id in once:
            reader.known[part.id] = Form((), WEAK)
            reader.lengths.call(axis, part.id)


def is_view(value: Node) -> bool:
    """Whether an expression is a part or a transpose of a named array."""
    while isinstance(value, gast.Subscript) or (isinstance(value, gast.Attribute) and value.attr == "T"):
        value = value.value
    return isinstance(value, gast.Name)


@dataclass
class SharedMemory:
    """Which names may show elements of one array, as far as statements have told."""

    groups: dict[str, frozenset[str]] = field(default_factory=dict)

    def of(self, held: str) -> frozenset[str]:
        """The names that share an array with a name, itself among them."""
        return self.groups.get(held, frozenset([held]))

    def unite_names(self, names: Iterable[str]) -> None:
        """Let all these names be of one array."""
        every = frozenset(other for one in names for other in self.of(one))
        for one in every:
            self.groups[one] = every

    def note(self, node: Node) -> None:
        """What a statement that stays as it is, and those inside of it, let share."""
        for one in statements([node]):
            if isinstance(one, gast.Assign):
                for place in one.targets:
                    bound = [item.id for item in find_nodes(place, gast.Name)]
                    self.unite_names([*bound, *_names_in_view(one.value)])
            elif isinstance(one, gast.For):
                self.unite_names([*stores(one), *loads(one)])
            elif isinstance(one, gast.Expr):
                self.unite_names(loads(one))


def _names_in_view(value: Node) -> list[str]:
    """The names of which a value may show elements."""
    if value is None or isinstance(value, gast.BinOp | gast.UnaryOp | gast.Constant | gast.Compare):
        return []
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, gast.Subscript | gast.Attribute):
        return _names_in_view(value.value)
    if isinstance(value, gast.Call):
        called = value.func.attr if isinstance(value.func, gast.Attribute) else value.func.id
        if called.rstrip("_") in (*VIEWS, *SHARING):
            return [each for one in [*value.args[:1], value.func] for each in _names_in_view(one)]
        if called == "pop":
            return _names_in_view(value.func)
        plain = isinstance(value.func, gast.Attribute) or called.rstrip("_") in KNOWN
        return [] if plain else [item.id for item in find_nodes(value, gast.Name)]
    return [item.id for item in find_nodes(value, gast.Name)]


KNOWN = (*ADJOINTS, *BOTH, "zeros_like", "if_larger", "owned", "count", "abs")


def rename_arrays(node: Node, names: dict[str, str]) -> Node:
    """A statement with other names for some arrays; itself where it has none of them."""
    if not any(isinstance(item, gast.Name) and item.id in names for item in walk(node)):
        return node
    return substitute(node, names)  # strings keep places to store what they are
