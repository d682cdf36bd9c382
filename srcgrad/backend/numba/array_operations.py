"""The axes of what is no map of elements: products of matrices, other shapes of an array, joined arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

from srcgrad.backend.numba.element_expressions import Reader
from srcgrad.backend.numba.spelling import common_dtype
from srcgrad.backend.numba.value_types import (
    DOUBLE,
    ONE,
    SINGLE,
    WEAK,
    Axes,
    Form,
    Lengths,
    NotLoweredError,
    literal_axes,
)
from srcgrad.core.trees import Node, literal_value, loads, statements, stores, substitute, walk

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
    try:
        found = literal_value(order[0])
    except (ValueError, TypeError):
        return None
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
        elif isinstance(part, gast.Name) and reader.facts.arguments.get(part.id) is not None:
            kind = reader.facts.arguments[part.id]
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
                    bound = [item.id for item in walk(place) if isinstance(item, gast.Name)]
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
        return [] if plain else [item.id for item in walk(value) if isinstance(item, gast.Name)]
    return [item.id for item in walk(value) if isinstance(item, gast.Name)]


KNOWN = (*ADJOINTS, *BOTH, "zeros_like", "if_larger", "owned", "count", "abs")


def rename_arrays(node: Node, names: dict[str, str]) -> Node:
    """A statement with other names for some arrays; itself where it has none of them."""
    if not any(isinstance(item, gast.Name) and item.id in names for item in walk(node)):
        return node
    return substitute(node, names)  # strings keep places to store what they are
