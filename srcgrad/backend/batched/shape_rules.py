"""Leading axes for operations that arrange elements.

Leading axes for operations that arrange: shapes, transposes, joins, copies.

Leading axes for operations that put axes in another order, add some or leave some out.
"""

from __future__ import annotations

from typing import Any  # axes are integers or tuples of them

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.batched.expressions import Expressions, rule
from srcgrad.backend.batched.values import (
    NUMBER,
    Call,
    Lifted,
    UnknownFormError,
    Value,
    add_leading_axis,
    common_value,
    expand_to_rank,
    shape_of,
    shift_axis,
    starred_shape,
    written_out,
)
from srcgrad.core.trees import Node, expression

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


def _stacks_of(text: Expressions, function: Any, parts: Node, inner: Value, rank: int) -> Lifted:
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
