"""Rules for a leading axis, by operation: products, reductions, what arranges elements, helpers of generated texts.

Products of vectors and matrices, sums of products, solutions of systems; operations along axes: sums, cumulative
ones, transforms, sorted places; shapes, transposes, joins, copies, axes in another order. Helpers of generated texts
run once for each direction where nothing better is known; what treats each row of its argument by itself runs once
for all tangents.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any  # axes are integers or tuples of them

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.batched.expressions import (
    NUMBER,
    OTHER,
    RULES,
    UNKNOWN,
    Call,
    Expressions,
    Lifted,
    Rule,
    UnknownFormError,
    Value,
    add_leading_axis,
    call_per_direction,
    common_value,
    expand_to_rank,
    insert_axes,
    list_of_stacks,
    object_of_name,
    rule,
    shape_of,
    shift_axis,
    starred_shape,
    written_out,
)
from srcgrad.core.facts import Facts
from srcgrad.core.trees import Node, copy, expression, literal_node, loads, name, same_tree, statements
from srcgrad.derive.program import Program
from srcgrad.runtime.singular import i0_derivative


def _rank(one: int, two: int) -> int:
    """The rank of a matrix product."""
    return max(one, two, 2) - (one == 1) - (two == 1)


def _transposed_matrix(matrix: Node) -> Node:
    """A matrix transposed; twice is not at all."""
    if isinstance(matrix, gast.Attribute) and matrix.attr == "T":
        turned: Node = matrix.value
        return turned
    return expression("a.T", a=matrix)


@rule("a b", np.matmul)
def _matmul(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "b")
    one, two = call.value("a"), call.value("b")
    if one.ndim is None or two.ndim is None:
        if one.batched or two.batched:
            raise text.refuse("the rank of a factor of a product is not known", call.node)
        return call.node, Value()
    if 0 in (one.ndim, two.ndim):
        raise UnknownFormError
    value = Value(_rank(one.ndim, two.ndim), one.batched or two.batched)
    if one.batched and two.batched:
        raise text.refuse("both factors of a product have directions", call.node)
    if two.batched:
        return _product_with_batched_right(text, call, one.ndim, two.ndim), value
    return _product_with_batched_left(text, call, one.ndim, two.ndim), value


def _product_with_batched_right(text: Expressions, call: Call, one: int, two: int) -> Node:
    """The product where the right factor has the axis."""
    a, b = call["a"], call["b"]
    if two > 1:
        return expression("a @ b", a=a, b=insert_axes(b, one - two) if one > two else b)
    if one > 3:
        raise UnknownFormError
    if one == 3:
        columns = expression("b[:, None, :, None]", b=b)
        return expression("product[..., 0]", product=expression("a @ b", a=a, b=columns))
    return expression("b @ a", b=b, a=a if one == 1 else _transposed_matrix(a))


def _product_with_batched_left(text: Expressions, call: Call, one: int, two: int) -> Node:
    """The product where the left factor has the axis."""
    a, b = call["a"], call["b"]
    if one == 1 and two > 2:
        return expression("product[..., 0, :]", product=expression("a @ b", a=insert_axes(a, two - 1), b=b))
    rows = _rows(text, a) if one == two == 2 else None
    if rows is not None:
        merged = expression("whole.reshape(count * rows, -1)", whole=a.func.value, count=text.count, rows=rows)
        product = expression("a @ b", a=merged, b=b)
        return expression("product.reshape(count, rows, -1)", product=product, count=text.count, rows=copy(rows))
    return expression("a @ b", a=insert_axes(a, two - one) if two > one > 1 else a, b=b)


def _rows(text: Expressions, a: Node) -> Node | None:
    """The r of `e.reshape(len(x_dot), r, -1)`: NumPy multiplies one matrix sooner than many, if its rows are there."""
    if not isinstance(a, gast.Call) or not isinstance(a.func, gast.Attribute) or a.func.attr != "reshape":
        return None
    if len(a.args) != 3 or not same_tree(a.args[0], text.count) or gast.unparse(a.args[2]) != "-1":
        return None
    rows: Node = a.args[1]
    return rows


@rule("a b", np.dot)
def _dot(text: Expressions, call: Call) -> Lifted:
    one, two = call.value("a"), call.value("b")
    if one.ndim is None or two.ndim is None or max(one.ndim, two.ndim) > 2:
        raise UnknownFormError
    if 0 in (one.ndim, two.ndim):
        (a, b), value = text.elementwise([call.given["a"], call.given["b"]], call.node)
        return gast.BinOp(a, gast.Mult(), b), value
    made, value = _matmul(text, call)
    return made, value


@rule("a b", np.inner, np.vdot)
def _lift_inner(text: Expressions, call: Call) -> Lifted:
    if call.value("a").ndim != 1 or call.value("b").ndim != 1 or text.facts.values.complex:
        raise UnknownFormError
    return _matmul(text, call)


@rule("a b out", np.outer)
def _lift_outer(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "b")
    (a, one), (b, two) = call.given["a"], call.given["b"]
    if not (one.batched or two.batched):
        return call.node, Value(2)
    if one.ndim != 1 or two.ndim != 1:
        raise UnknownFormError
    left = expression("a[:, :, None]", a=a) if one.batched else expression("a[:, None]", a=a)
    right = expression("b[:, None, :]", b=b) if two.batched else b
    return gast.BinOp(left, gast.Mult(), right), Value(2, True)


@rule("subscripts a b c d", np.einsum)
def _einsum(text: Expressions, call: Call) -> Lifted:
    """`np.einsum("ij,j->i", a, x)` with a letter more for each operand that has the axis."""
    spelled = call.literal("subscripts")
    if not isinstance(spelled, str):
        raise UnknownFormError
    call.require_arguments("subscripts", "a", "b", "c", "d")
    spelled = spelled.replace(" ", "")
    inputs, arrow, output = spelled.partition("->")
    if not arrow:
        letters = [c for c in inputs if c.isalpha()]
        output = ("..." if "..." in inputs else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    free = next((c for c in "kzZKQ" if c not in spelled), None)
    terms = inputs.split(",")
    operands = [call.value(p) for p in "abcd"[: len(terms)]]
    if free is None or len(call.given) != len(terms) + 1:
        raise UnknownFormError
    having = any(value.batched for value in operands)
    known = [f"{free}{term}" if value.batched else term for term, value in zip(terms, operands, strict=True)]
    rank = None if "..." in output else len(output)
    if not having:
        return call.node, Value(rank)
    return call.made(subscripts=literal_node(f"{','.join(known)}->{free}{output}")), Value(rank, True)


@rule("a b", np.linalg.solve)
def _solve(text: Expressions, call: Call) -> Lifted:
    one, (b, two) = call.value("a"), call.given["b"]
    if one.batched or one.ndim is None or two.ndim is None:
        raise UnknownFormError
    if not two.batched:
        return call.node, Value(two.ndim)
    if one.ndim == 2 and two.ndim == 1:
        return expression("solved.T", solved=call.made(b=_transposed_matrix(b))), two
    if two.ndim < one.ndim or two.ndim == 1:
        raise UnknownFormError
    return call.made(), two


@rule("a b axes", np.tensordot)
def _tensordot(text: Expressions, call: Call) -> Lifted:
    axes = call.literal("axes", 2)
    one, two = call.value("a"), call.value("b")
    if one.ndim is None or two.ndim is None or two.batched:
        raise UnknownFormError
    if isinstance(axes, int):
        axes = (tuple(range(one.ndim - axes, one.ndim)), tuple(range(axes)))
    first, second = ((s,) if isinstance(s, int) else tuple(s) for s in axes)
    rank = one.ndim + two.ndim - 2 * len(first)
    if not one.batched:
        return call.node, Value(rank)
    shifted = tuple(axis + 1 if axis >= 0 else axis for axis in first)
    return call.made(axes=literal_node((shifted, second))), Value(rank, True)


@rule("operands u", runtime.einsum_tangent)
def _einsum_tangent(text: Expressions, call: Call) -> Lifted:
    """One product for each operand that has directions, which takes its place."""
    operands, tangents = call.node.args[0], call.node.args[1]
    if not isinstance(operands, gast.Tuple) or not isinstance(tangents, gast.Tuple):
        raise UnknownFormError
    if not isinstance(operands.elts[0], gast.Constant):  # lists of axes
        raise UnknownFormError
    total: Node | None = None
    rank = None
    for place, part in list(enumerate(tangents.elts))[1:]:
        made, value = text.look(part)
        if not value.batched:
            if object_of_name(getattr(part, "func", None), text.facts, text.known) is not runtime.zeros_like:
                raise UnknownFormError
            continue
        given = list(zip("abcd", map(text.look, operands.elts[1:]), strict=False))
        given[place - 1] = (given[place - 1][0], (made, value))
        spelled = text.np("np.einsum(subscripts)", subscripts=operands.elts[0])
        spelled.args += [one for _, (one, _) in given]
        known = {"subscripts": (operands.elts[0], OTHER), **dict(given)}
        term, found = _einsum(text, Call(spelled, np.einsum, ("subscripts", *"abcd"), known))
        total, rank = term if total is None else gast.BinOp(total, gast.Add(), term), found.ndim
    if total is None:
        raise UnknownFormError
    return total, Value(rank, True)


@rule("g position operands", runtime.einsum_adjoint)
def _einsum_adjoint(text: Expressions, call: Call) -> Lifted:
    value = call.value("operands").item(call.literal("position") + 1)
    if not call.value("g").batched:
        return call.node, value
    return call_per_direction(text, call)[0], Value(value.ndim, True)


def _rank_along(call: Call, first: str) -> int:
    rank = call.value(first).ndim
    if rank is None:
        raise UnknownFormError
    return rank


@rule("a axis dtype out keepdims initial where", np.sum, np.mean, np.nansum)
def _sums(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "axis", "keepdims", "dtype")
    a, axis, keep = call.value("a"), call.literal("axis", None), call.literal("keepdims", False)
    if a.container:
        raise UnknownFormError
    if axis is None and not keep and not a.batched:
        return call.node, Value(0)
    rank = _rank_along(call, "a")
    count = rank if axis is None else len(axis) if isinstance(axis, tuple) else 1
    left = Value(rank if keep else rank - count, a.batched)
    if rank == 0 and axis is None:
        return call["a"], left
    return call.made(a=call["a"], axis=written_out(shift_axis(axis, rank))), left


@rule("a axis dtype out", np.cumsum, np.nancumsum)
def _lift_cumsum(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "axis", "dtype")
    a, axis = call.value("a"), call.literal("axis", None)
    if axis is None and _rank_along(call, "a") > 1:
        if a.batched:
            raise UnknownFormError
        return call.node, Value(1)
    if axis is None:
        axis = 0
        if not a.ndim:
            raise UnknownFormError
    return call.made(axis=written_out(shift_axis(axis, a.ndim))), a


@rule("a n axis norm out", np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)
def _transforms(text: Expressions, call: Call) -> Lifted:
    axis = call.literal("axis", -1)
    return (call.made(axis=written_out(shift_axis(axis, None))) if axis >= 0 else call.made()), call.value("a")


@rule("a s axes norm out", np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2)
def _transforms_of_two(text: Expressions, call: Call) -> Lifted:
    axes = call.literal("axes", (-2, -1))
    return (call.made(axes=written_out(shift_axis(axes, None))) if "axes" in call.given else call.made()), call.value(
        "a"
    )


@rule("x axes", np.fft.fftshift, np.fft.ifftshift)
def _shifts(text: Expressions, call: Call) -> Lifted:
    axes = call.literal("axes", None)
    return call.made(axes=written_out(shift_axis(axes, call.value("x").ndim))), call.value("x")


@rule("m axis", np.flip)
def _flip(text: Expressions, call: Call) -> Lifted:
    axis = call.literal("axis", None)
    if axis is None and call.value("m").ndim == 0:
        raise UnknownFormError
    return call.made(axis=written_out(shift_axis(axis, call.value("m").ndim))), call.value("m")


@rule("a shift axis", np.roll)
def _roll(text: Expressions, call: Call) -> Lifted:
    axis = call.literal("axis", None)
    if axis is None and _rank_along(call, "a") != 1:
        if call.value("a").batched:
            raise UnknownFormError
        return call.node, call.value("a")
    return call.made(axis=written_out(shift_axis(0 if axis is None else axis, None))), call.value("a")


@rule("a n axis prepend append", np.diff)
def _diff(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "n", "axis")
    axis = call.literal("axis", -1)
    made = call.made(axis=written_out(shift_axis(axis, None))) if axis >= 0 else call.made()
    return made, call.value("a")


@rule("a indices axis", np.take)
def _take(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "indices", "axis")
    axis, a, places = call.literal("axis", None), call.value("a"), call.value("indices")
    if places.batched or places.ndim is None or places.container:
        raise UnknownFormError
    if axis is None:
        if _rank_along(call, "a") != 1:
            raise UnknownFormError
        axis = 0
    rank = None if a.ndim is None else a.ndim - 1 + places.ndim
    return call.made(axis=written_out(shift_axis(axis, None))), Value(rank, a.batched)


@rule("arr indices axis", np.take_along_axis)
def _along(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis"), call.value("arr")
    if call.value("indices").batched or axis is None:
        raise UnknownFormError
    if not a.batched:
        return call.node, a
    places = expression("i[None]", i=call["indices"])
    return call.made(indices=places, axis=written_out(shift_axis(axis, None))), a


@rule("a repeats axis", np.repeat)
def _repeat(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis", None), call.value("a")
    if axis is None:
        if _rank_along(call, "a") != 1:
            raise UnknownFormError
        axis = 0
    return call.made(axis=written_out(shift_axis(axis, None))), a


@rule("m k", np.triu, np.tril)
def _triangles(text: Expressions, call: Call) -> Lifted:
    if _rank_along(call, "m") < 2:
        raise UnknownFormError
    return call.made(), call.value("m")


@rule("a offset axis1 axis2", np.trace, np.diagonal)
def _diagonals(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "offset", "axis1", "axis2")
    first, second = call.literal("axis1", 0), call.literal("axis2", 1)
    rank = _rank_along(call, "a") - (2 if call.function is np.trace else 1)
    made = call.made(axis1=written_out(shift_axis(first, None)), axis2=written_out(shift_axis(second, None)))
    return made, Value(rank, call.value("a").batched)


@rule("v k", np.diag)
def _diag(text: Expressions, call: Call) -> Lifted:
    rank, v = _rank_along(call, "v"), call.value("v")
    if not v.batched:
        return call.node, Value({1: 2, 2: 1}.get(rank))
    if rank == 1:
        return call_per_direction(text, call)[0], Value(2, True)
    if rank != 2 or "k" in call.given:
        raise UnknownFormError
    return text.np("np.diagonal(v, axis1=1, axis2=2)", v=call["v"]), Value(1, True)


@rule("condition x y", np.where)
def _where(text: Expressions, call: Call) -> Lifted:
    if "y" not in call.given:
        raise UnknownFormError
    names = ("condition", "x", "y")
    made, value = text.elementwise([call.given[one] for one in names], call.node)
    return call.made(**dict(zip(names, made, strict=True))), Value(value.ndim, value.batched)


@rule("x1 x2 out where casting order dtype subok", np.add, np.subtract, np.multiply, np.divide)
def _arithmetic(text: Expressions, call: Call) -> Lifted:
    if set(call.given) - {"x1", "x2"}:
        raise UnknownFormError
    (one, two), value = text.elementwise([call.given["x1"], call.given["x2"]], call.node)
    return call.made(x1=one, x2=two), value


_LONG = 60  # columns: behind more of them a method is easily overlooked


@rule("a", np.shape)
def _shape(text: Expressions, call: Call) -> Lifted:
    return expression("shape[1:]", shape=call.made()), shape_of(call.value("a"))


@rule("a", np.ndim, np.size)
def _counts(text: Expressions, call: Call) -> Lifted:
    if call.value("a").batched:
        raise text.refuse(f"`{gast.unparse(call.node)}` is read", call.node)
    return call.node, NUMBER


@rule("x", len, int)
def _length(text: Expressions, call: Call) -> Lifted:
    if call.value("x").container:
        return call.node, NUMBER
    if call.value("x").batched:
        raise text.refuse(f"`{gast.unparse(call.node)}` is read", call.node)
    return call.node, NUMBER


@rule("x", float)
def _number(text: Expressions, call: Call) -> Lifted:
    return call["x"] if call.value("x").ndim == 0 else _reshape_to_count(text, call["x"]), Value(
        0, call.value("x").batched
    )


def _reshape_to_count(text: Expressions, x: Node) -> Node:
    return text.np("np.reshape(x, count)", x=x, count=text.count)


@rule("a order subok", np.copy)
@rule("x", np.zeros_like, np.ones_like, np.empty_like, runtime.zeros_like, np.asarray, np.ascontiguousarray)
@rule("x dtype", np.ndarray.astype)
def _lift_copy(text: Expressions, call: Call) -> Lifted:
    first = call.parameters[0]
    call.require_arguments(first, "dtype")
    value = call.value(first)
    if value.container or (value.tag == "other" and value.batched):
        if call.function is not runtime.zeros_like:
            raise UnknownFormError
    if call.function is np.ndarray.astype:
        return expression("x.astype(dtype)", x=call[first], dtype=call["dtype"]), value
    return call.made(), value


@rule("object dtype copy order subok ndmin", np.array)
def _array(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("object", "dtype")
    value = call.value("object")
    made, rank = _stack_nested_lists(text, call["object"], value)
    if not value.container:
        return call.made(), value
    if not value.batched:
        return call.node, Value(rank)
    if "dtype" in call.given:
        made = expression("made.astype(dtype)", made=made, dtype=call["dtype"])
    return made, Value(rank, True)


def _stack_nested_lists(text: Expressions, node: Node, value: Value) -> tuple[Node, int | None]:
    """Nested lists of batched numbers or arrays as one array."""
    if not value.container:
        return node, value.ndim
    inner = value.any_item()
    if isinstance(node, gast.List | gast.Tuple) and value.items:
        parts = [_stack_nested_lists(text, part, value.item(k)) for k, part in enumerate(node.elts)]
        ranks = [rank for _, rank in parts]
        if not value.batched:
            return node, None if None in ranks or len(set(ranks)) > 1 else (ranks[0] or 0) + 1
        if None in ranks or len(set(ranks)) > 1:
            raise UnknownFormError
        items = gast.Tuple(elts=[made for made, _ in parts], ctx=gast.Load())
        return text.np("np.stack(items, axis=1)", items=items), (ranks[0] or 0) + 1
    if inner.container:
        if value.batched:
            raise text.refuse("a list of lists of tangents becomes an array", node)
        return node, None if inner.any_item().ndim != 0 else 2
    rank = None if inner.ndim is None else inner.ndim + 1
    return (text.np("np.stack(items, axis=1)", items=node) if value.batched else node), rank


@rule("a shape newshape order", np.reshape)
def _reshape(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "shape")
    rank = length_of(call["shape"], call.value("shape"))
    if not call.value("a").batched:
        return call.node, Value(rank)
    if rank is None and not _is_tuple(call["shape"], call.value("shape")):
        raise UnknownFormError
    if not isinstance(call["shape"], gast.Tuple) and not _is_tuple(call["shape"], call.value("shape")):
        shape: Node = gast.Tuple(elts=[text.count, call["shape"]], ctx=gast.Load())
    else:
        shape = starred_shape(text.count, call["shape"])
    if isinstance(shape, gast.Tuple) and is_array(call.value("a")) and len(gast.unparse(call["a"])) <= _LONG:
        made = expression("a.reshape()", a=call["a"])
        made.args = shape.elts
        return made, Value(rank, True)
    return call.made(a=view_argument(text, call, "a"), shape=shape), Value(rank, True)


def is_array(value: Value) -> bool:
    """Whether a value with the axis has others as well: an array, which has methods. A zero may be a float."""
    return value.tag == "array" and bool(value.ndim) and not value.zero


def _is_tuple(shape: Node, value: Value) -> bool:
    return isinstance(shape, gast.Tuple) or value.tag == "tuple"


def length_of(shape: Node, value: Value) -> int | None:
    """The number of axes of a shape."""
    if isinstance(shape, gast.Tuple):
        return None if any(isinstance(one, gast.Starred) for one in shape.elts) else len(shape.elts)
    if value.tag == "array" and value.ndim == 0:
        return 1
    return value.ndim if value.tag == "tuple" else None


def view_argument(text: Expressions, call: Call, first: str) -> Node:
    """The argument of an operation that makes views: of a number it would be none."""
    if text.axis.writes and call.value(first).batched and call.value(first).ndim == 0:
        return expression("x.copy()", x=call[first])
    return call[first]


@rule("a order", np.ravel, np.ndarray.flatten)
def _ravel(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a")
    if not call.value("a").batched:
        return call.node, Value(1)
    made = text.np("np.reshape(a, (count, -1))", a=view_argument(text, call, "a"), count=text.count)
    return (expression("a.copy()", a=made) if call.function is np.ndarray.flatten else made), Value(1, True)


@rule("a args", np.ndarray.item)
def _item(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a")
    if not call.value("a").batched:
        return call.node, NUMBER
    return (call["a"] if call.value("a").ndim == 0 else _reshape_to_count(text, call["a"])), Value(0, True)


@rule("array shape subok", np.broadcast_to)
def _broadcast(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("array", "shape")
    rank = length_of(call["shape"], call.value("shape"))
    if not call.value("array").batched:
        return call.node, Value(rank)
    if rank is None or call.value("array").ndim is None:
        raise UnknownFormError
    array = expand_to_rank(call["array"], call.value("array"), rank)
    shape = starred_shape(text.count, call["shape"]) if _is_tuple(call["shape"], call.value("shape")) else None
    if shape is None:
        raise UnknownFormError
    return call.made(array=array, shape=shape), Value(rank, True)


@rule("a fill_value dtype", np.full_like)
def _lift_full_like(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "fill_value")
    rank = call.value("a").ndim
    if not call.value("fill_value").batched:
        return call.made(), call.value("a")
    if rank is None or call.value("a").batched or call.value("fill_value").ndim != 0:
        raise UnknownFormError
    value = expand_to_rank(call["fill_value"], call.value("fill_value"), rank)
    made = "np.broadcast_to(v, (count, *np.shape(a))).copy()"
    return text.np(made, v=value, count=text.count, a=call["a"]), Value(rank, True)


def _parts(text: Expressions, call: Call, first: str) -> tuple[Node, Value]:
    """The arrays that are joined, and what is known of each of them."""
    value = call.value(first)
    if value.container and not value.items and value.each is None:
        raise UnknownFormError
    if value.tag == "array" and value.batched:
        raise UnknownFormError
    inner = value.any_item() if value.container else Value(None if value.ndim is None else value.ndim - 1)
    return call[first], inner


@rule("arrays axis out dtype casting", np.concatenate)
def _concatenate(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("arrays", "axis")
    parts, inner = _parts(text, call, "arrays")
    axis = call.literal("axis", 0)
    ranks = [value.ndim for _, value in call.value("arrays").items or ()]
    rank = inner.ndim if inner.ndim is not None else next((r for r in ranks if r is not None), None)
    if axis is None:
        raise UnknownFormError
    return call.made(arrays=parts, axis=written_out(shift_axis(axis, None))), Value(rank, inner.batched)


@rule("arrays axis out dtype casting", np.stack)
def _stack(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("arrays", "axis")
    parts, inner = _parts(text, call, "arrays")
    axis = call.literal("axis", 0)
    rank = None if inner.ndim is None else inner.ndim + 1
    return call.made(arrays=parts, axis=written_out(shift_axis(axis, None))), Value(rank, inner.batched)


@rule("tup dtype casting", np.hstack, np.vstack, np.column_stack)
def _stacks(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("tup")
    parts, inner = _parts(text, call, "tup")
    if inner.ndim is None:
        raise UnknownFormError
    return _stacks_of(text, call.function, parts, inner, inner.ndim)


def _stacks_of(text: Expressions, function: object, parts: Node, inner: Value, rank: int) -> Lifted:
    """Rows and columns beside each other, for arrays of one rank."""
    if rank == 0 and function is not np.hstack:
        raise UnknownFormError
    if rank == 0 or (rank == 1 and function is not np.hstack):
        axis = 2 if function is np.column_stack else 1
        return text.np(f"np.stack(parts, axis={axis})", parts=parts), Value(rank + 1, inner.batched)
    axis = 1 if function is np.vstack or rank == 1 else 2
    return text.np(f"np.concatenate(parts, axis={axis})", parts=parts), Value(rank, inner.batched)


@rule("x", list, tuple)
def _lift_sequence(text: Expressions, call: Call) -> Lifted:
    x, tag = call.value("x"), call.function.__name__
    if x.container:
        return call.made(), Value(None, x.batched, tag, x.items, x.each)
    if x.tag != "array" or not x.ndim:
        raise text.refuse(f"`{gast.unparse(call.node)}` is not understood", call.node)
    row = Value(x.ndim - 1, x.batched)
    turned = expression("x.T", x=call["x"]) if x.ndim == 1 else text.np("np.moveaxis(x, 1, 0)", x=call["x"])
    return call.made(x=turned), Value(None, x.batched, tag, each=row)


@rule("a b", runtime.add)
def _lift_add(text: Expressions, call: Call) -> Lifted:
    both = [call.value("a"), call.value("b")]
    if not any(value.batched for value in both):
        return call.node, common_value(both)
    if both[0].tag == both[1].tag == "array" and both[0].ndim == both[1].ndim is not None:
        one, two = (text.with_axis(*call.given[p]) for p in ("a", "b"))
        return call.made(a=one, b=two), Value(both[0].ndim, True)
    if any(value.container for value in both):
        one, two = (text.with_axis(*call.given[p]) for p in ("a", "b"))
        return call.made(a=one, b=two), add_leading_axis(both[0])
    raise UnknownFormError


@rule("a axes", np.transpose)
@rule("a", np.matrix_transpose)
def _transpose(text: Expressions, call: Call) -> Lifted:
    a = call.value("a")
    if "axes" not in call.given or isinstance(call["axes"], gast.Constant):
        if not a.batched:
            return call.node, a
        if a.ndim is None:
            raise UnknownFormError
        if a.ndim < 2:
            return call["a"], a
        if a.ndim == 2 or call.function is np.matrix_transpose:
            return expression("a.mT", a=call["a"]), a
        return text.np("np.transpose(a, axes)", a=call["a"], axes=written_out((0, *range(a.ndim, 0, -1)))), a
    axes = call.literal("axes")
    if a.ndim is None and any(axis < 0 for axis in axes):
        raise UnknownFormError
    places = written_out((0, *shift_axis(axes, a.ndim)))
    if not is_array(a):
        return call.made(axes=places), Value(len(axes), a.batched)
    made = expression("a.transpose()", a=call["a"])
    made.args = places.elts
    return made, Value(len(axes), a.batched)


@rule("a axis1 axis2", np.swapaxes)
@rule("a source destination", np.moveaxis)
def _moves(text: Expressions, call: Call) -> Lifted:
    axes = {one: written_out(shift_axis(call.literal(one), None)) for one in call.parameters[1:]}
    return call.made(**axes), call.value("a")


@rule("a axis", np.expand_dims)
def _expand(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis"), call.value("a")
    many = len(axis) if isinstance(axis, tuple | list) else 1
    rank = None if a.ndim is None else a.ndim + many
    return call.made(a=view_argument(text, call, "a"), axis=written_out(shift_axis(axis, rank))), Value(rank, a.batched)


@rule("a axis", np.squeeze)
def _squeeze(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis", None), call.value("a")
    if axis is None:
        raise UnknownFormError
    many = len(axis) if isinstance(axis, tuple) else 1
    return call.made(axis=written_out(shift_axis(axis, None))), Value(
        None if a.ndim is None else a.ndim - many, a.batched
    )


LIKE: dict[str, tuple[Any, ...]] = {
    "a": (
        runtime.share, runtime.split_axes, runtime.prod_without, runtime.diff_transpose, runtime.repeat_transpose,
        runtime.tile_transpose, runtime.place_diagonal, runtime.section_sums_transpose, runtime.matmul_left,
        runtime.matmul_both, runtime.dot_both,
        runtime.dot_left, runtime.inner_left, runtime.kron_left, runtime.tensordot_left, runtime.cofactor,
        runtime.as_square, runtime.resized, runtime.square, runtime.recurrence, runtime.recurrence_back,
        runtime.products_before,
    ),
    "b": (
        runtime.matmul_right, runtime.dot_right, runtime.inner_right, runtime.kron_right, runtime.tensordot_right,
    ),
    "x": (
        runtime.scatter, runtime.norm_gradient, runtime.norm_curvature, runtime.cofactor_derivative,
        runtime.cofactor_second, runtime.check_adjoint, runtime.check_total, runtime.triangle,
        runtime.permuted, runtime.unpermuted, runtime.raised, runtime.filled, runtime.shifted,
    ),
    "array": (runtime.unpad,),
    "v": (runtime.diag_transpose,),
    "f": (runtime.gradient_transpose,),
    "g": (runtime.doubled, runtime.filtered_transpose),
    "target": (runtime.converted,),
}  # fmt: skip


def _rank_of_argument(parameter: str) -> Rule:
    def using(text: Expressions, call: Call) -> Lifted:
        rank = call.value(parameter).ndim
        if not any(value.batched for _, value in call.given.values()):
            return call.node, Value(rank)
        made, _ = call_per_direction(text, call)
        return made, Value(rank, True)

    return using


@rule("g operands u v", runtime.einsum_adjoints)
def _einsum_adjoints(text: Expressions, call: Call) -> Lifted:
    """The adjoint of each operand has its rank."""
    having = any(value.batched for _, value in call.given.values())
    operands = call.value("operands").items or ()
    items = tuple((k, Value(value.ndim, having)) for k, value in operands)
    return (list_of_stacks(text, call) if having else call.node), Value(None, having, "list", items)


@rule("f spacings axis edge_order", runtime.gradients)
@rule("g xs", runtime.summands)
def _one_or_several(text: Expressions, call: Call) -> Lifted:
    """An array, or a list of them, as the arguments have it."""
    if any(value.batched for _, value in call.given.values()):
        raise text.refuse(f"`{gast.unparse(call.node.func)}` gives one array or several", call.node)
    return call.node, UNKNOWN


def _parameters(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


for _name, _functions in LIKE.items():
    for _function in _functions:
        if _name not in _parameters(_function):
            raise TypeError(f"{_function.__name__} has no parameter {_name}")
        RULES.setdefault(_function, (_parameters(_function), _rank_of_argument(_name)))


@rule("g x dtype", runtime.sum_to)
def _sum_to(text: Expressions, call: Call) -> Lifted:
    """Each direction's sum."""
    x = call.value("x")
    if not call.value("g").batched:
        return call.node, x
    if x.ndim is None or x.container or call.value("g").container or x.batched:
        raise text.refuse(f"the rank of `{gast.unparse(call['x'])}` is not known", call.node)
    if x.ndim == call.value("g").ndim == 0:
        return call["g"], Value(0, True)
    made = call.made()
    made.func = expression(text.facts.library("sum_each_to"))
    return made, Value(x.ndim, True)


@rule("g a axis keepdims", runtime.spread)
def _lift_spread(text: Expressions, call: Call) -> Lifted:
    axis, keep = call.literal("axis", None), call.literal("keepdims", False)
    g, a = call.value("g"), call.value("a")
    if not g.batched:
        return call.node, Value(a.ndim)
    many = 0 if axis is None or keep else len(axis) if isinstance(axis, tuple) else 1
    rank = a.ndim if axis is None or g.ndim is None else g.ndim + many
    if rank is None or a.batched or a.container:
        raise UnknownFormError
    if axis is None and not keep:
        made = insert_axes(call["g"], rank) if rank else call["g"]
    elif keep:
        made = call["g"]
    else:
        made = text.np("np.expand_dims(g, axis)", g=call["g"], axis=written_out(shift_axis(axis, rank)))
    shape = "np.broadcast_to(g, (count, *np.shape(a)))"
    return text.np(shape, g=made, count=text.count, a=call["a"]), Value(rank, True)


@rule("g arrays axis", runtime.split_like)
def _split_like(text: Expressions, call: Call) -> Lifted:
    """The parts of what was joined, each with the axis."""
    arrays, g = call.value("arrays"), call.value("g")
    items = arrays.items or ()
    parts = tuple((k, Value(item.ndim, g.batched)) for k, item in items)
    found = Value(None, g.batched, "list", parts or None, None if parts else Value(arrays.any_item().ndim, g.batched))
    if not g.batched:
        return call.node, found
    if not arrays.container or g.container or arrays.batched or g.tag == "unknown":
        raise text.refuse("what was joined is not known", call.node)
    made = call.made()
    made.func = expression(text.facts.library("split_each_like"))
    return made, found


@rule("x b", runtime.columns)
def _columns(text: Expressions, call: Call) -> Lifted:
    x, b = call.value("x"), call.value("b")
    if x.ndim is None or b.ndim is None or b.batched:
        raise UnknownFormError
    if b.ndim != 1:
        return call["x"], x
    return expression("x[..., None]", x=call["x"]), Value(x.ndim + 1, x.batched)


@rule("x dtype", runtime.cast)
def _cast(text: Expressions, call: Call) -> Lifted:
    return call.made(), call.value("x")


def _require_unbatched(call: Call) -> None:
    if any(value.batched for _, value in call.given.values()):
        raise UnknownFormError


@rule("shape fill_value dtype order", np.zeros, np.ones, np.empty, np.full)
def _of_shape(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, Value(length_of(call["shape"], call.value("shape")))


@rule("n m k dtype", np.eye, np.identity)
@rule("a w", runtime.blend_factors)
def _matrix(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, Value(2)


@rule("start stop step dtype", np.arange)
@rule("a", np.flatnonzero)
def _vector(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, Value(1)


@rule("start stop num endpoint retstep dtype axis", np.linspace)
def _lift_linspace(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    start, stop = call.value("start").ndim, call.value("stop").ndim
    return call.node, Value(None if start is None or stop is None else max(start, stop) + 1)


@rule("x axis", runtime.count)
def _number_of_helper(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, NUMBER


@rule("a axis out keepdims initial where", np.max, np.min, np.prod, np.any, np.all, np.amax, np.amin)
@rule("a axis dtype out ddof keepdims", np.std, np.var)
@rule("a axis keepdims", np.count_nonzero)
@rule("a axis keepdims", runtime.max_or_least, runtime.min_or_most)
@rule("a axis out keepdims", np.argmax, np.argmin)
def _lift_reduction(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    rank, axis, keep = call.value("a").ndim, call.literal("axis", None), call.literal("keepdims", False)
    if axis is None and not keep:
        return call.node, NUMBER
    count = len(axis) if isinstance(axis, tuple) else 1
    return call.node, Value(rank if keep or rank is None else rank - count)


@rule("x order", runtime.sinc_derivative)
@rule("x order", i0_derivative)
@rule("a axis kind order", np.argsort, np.sort)
def _like_first(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    if call.function in (np.argsort, np.sort) and call.literal("axis", -1) is None:
        return call.node, Value(1)
    return call.node, Value(call.value(call.parameters[0]).ndim)


LEAST = 8  # reads of tangents, from which on fewer tangents and one product are faster


def rows_first(program: Program, facts: Facts, batched: dict[str, None]) -> None:
    """Let `y, y_dot = f_jvps(x, x_dot=x_dot)` be `by_rows(f_jvps, x, x_dot=x_dot)` where f treats each row by itself.

    That runs f_jvps with as many tangents as x has columns, and multiplies by x_dot. It adds up in another order.
    """
    reads = [one for node in statements(program.forward) for one in loads(node) if one in batched]
    facts.request = replace(facts.request, by_rows=facts.request.by_rows and len(reads) >= LEAST)
    for node in statements(program.forward):
        call = getattr(node, "value", None)
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name):
            continue
        called: Facts | None = facts.module.making.get(call.func.id)
        if called is not None and called.request.by_rows and len(call.keywords) == 1 and _gives_array(called):
            call.args.insert(0, name(call.func.id))
            call.func = name(facts.library("by_rows"))


def _gives_array(called: Facts) -> bool:
    """Whether the value is an array, with the axis of rows."""
    value, tangent = called.values.outcome
    return called.request.mode == "forward" and not value.container and tangent.ndim is not None and tangent.ndim > 0
