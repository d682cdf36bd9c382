"""Indices of a value that has a leading axis more: `x[i]` becomes `x[:, i]`."""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.batch.axes import whole
from srcgrad.batch.calls import Lifted
from srcgrad.batch.values import NoAxisError
from srcgrad.indices import as_value
from srcgrad.trees import Node, expression

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


def led(parts: list[Node]) -> Node:
    """The index with the leading axis kept whole."""
    return gast.Tuple(elts=[whole(), *parts], ctx=gast.Load())


def led_as_value(parts: list[Node]) -> Node:
    """The same where an index is an argument: `(slice(None), i)`."""
    own = [as_value(one) for one in parts]
    return gast.Tuple(elts=[expression("slice(None)"), *own], ctx=gast.Load())
