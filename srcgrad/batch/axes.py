"""Axes of a value that has a leading one more: where it is added, and where others move."""

from __future__ import annotations

from typing import Any  # an axis is an integer, a tuple of them, or None

import gast

from srcgrad.batch.calls import UnknownFormError
from srcgrad.batch.values import Value
from srcgrad.trees import Node, constant


def moved(axis: Any, ndim: int | None) -> Any:
    """The axis, or the axes, that a value of rank `ndim` has there once a leading axis is added.

    >>> moved(0, 2), moved(-1, 2), moved((0, 1), 2), moved(None, 2)
    (1, -1, (1, 2), (1, 2))
    """
    if axis is None:
        if ndim is None:
            raise UnknownFormError
        return 1 if ndim == 1 else tuple(range(1, ndim + 1))
    if isinstance(axis, tuple | list):
        return tuple(moved(one, ndim) for one in axis)
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise UnknownFormError
    return axis + 1 if axis >= 0 else axis


def grown(node: Node, value: Value, ndim: int) -> Node:
    """A batched value in a form that broadcasts with values of rank `ndim`, its own or a higher one."""
    assert value.ndim is not None, "ranks are known where they are compared"
    missing = ndim - value.ndim
    return opened(node, missing) if missing > 0 and value.batched else node


def opened(node: Node, missing: int) -> Node:
    """`x[:, None]`: so many axes more behind the leading one."""
    if isinstance(node, gast.UnaryOp):
        return gast.UnaryOp(node.op, opened(node.operand, missing))
    own: list[Node] = []
    if isinstance(node, gast.Subscript) and _is_led(node.slice):
        node, own = node.value, node.slice.elts[1:]
    return part(node, [whole(), *[constant(None)] * missing, *own])


def _is_led(index: Node) -> bool:
    """Whether an index keeps the leading axis whole, and is made of slices and integers."""
    if not isinstance(index, gast.Tuple) or not isinstance(index.elts[0], gast.Slice):
        return False
    first = index.elts[0]
    if first.lower is not None or first.upper is not None or first.step is not None:
        return False
    return all(isinstance(one, gast.Slice) or type(getattr(one, "value", None)) is int for one in index.elts[1:])


def whole() -> Node:
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
        return gast.UnaryOp(gast.USub(), constant(-value))
    return constant(value)
