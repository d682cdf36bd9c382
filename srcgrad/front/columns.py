"""`np.r_[a, 0.0, b]` and `np.c_[a, b]` as the functions that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast
import numpy as np

from srcgrad.front.resolve import binding_of
from srcgrad.trees import Node, copy, expression

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def columns(node: Node, work: Plain) -> Node | None:
    """`np.concatenate([np.atleast_1d(a), [0.0], np.atleast_1d(b)])`; None where the expression stays as it is.

    What is sure to have one axis is taken as it is; columns of what may have three are joined along the last axis.
    """
    found = binding_of(node.value, work.facts, work.facts.local)
    kind = None if found is None else found.object
    if kind is not np.r_ and kind is not np.c_:
        return None
    numpy = work.library("np")
    items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    ranks = [_rank(item, work) for item in items]
    made = [_item(item, rank, kind is np.r_, numpy) for item, rank in zip(items, ranks, strict=True)]
    if any(one is None for one in made):
        return None
    parts = gast.List(elts=made, ctx=gast.Load())
    if kind is np.r_:
        return expression(f"{numpy}.concatenate(parts)", parts=parts)
    if all(rank is not None and rank <= 2 for rank in ranks):
        return expression(f"{numpy}.column_stack(parts)", parts=parts)
    parts.elts = [expression(f"{numpy}.column_stack([a])", a=one) for one in made]
    return expression(f"{numpy}.concatenate(parts, axis=-1)", parts=parts)


def _item(item: Node, rank: int | None, flat: bool, numpy: str) -> Node | None:
    if isinstance(item, gast.Slice):
        return _steps(item, numpy)
    if isinstance(item, gast.Constant) and not isinstance(item.value, int | float | complex):
        return None  # how to join, in words
    if isinstance(item, gast.Starred):
        return None
    if rank == 0:
        return gast.List(elts=[copy(item)], ctx=gast.Load())
    return copy(item) if rank or not flat else expression(f"{numpy}.atleast_1d(a)", a=copy(item))


def _steps(item: Node, numpy: str) -> Node | None:
    """`0:1:5j` as `np.linspace(0, 1, 5)`, `a:b` as `np.arange(a, b)`."""
    if item.upper is None:
        return None
    lower = copy(item.lower) if item.lower is not None else expression("0")
    if isinstance(item.step, gast.Constant) and isinstance(item.step.value, complex):
        count = gast.Constant(int(abs(item.step.value)), None)
        return expression(f"{numpy}.linspace(a, b, n)", a=lower, b=copy(item.upper), n=count)
    made = expression(f"{numpy}.arange(a, b)", a=lower, b=copy(item.upper))
    made.args += [] if item.step is None else [copy(item.step)]
    return made


_FILLED = (np.ones, np.zeros, np.full)
_LIKE = (np.ones_like, np.zeros_like, np.full_like)


def _rank(item: Node, work: Plain) -> int | None:
    """How many axes an expression has, where that is sure."""
    if isinstance(item, gast.Slice):
        return 1
    if isinstance(item, gast.Constant):
        return 0
    if isinstance(item, gast.Name):
        kind = work.facts.kinds.get(item.id)
        known = kind is not None and kind.tag in ("array", "scalar") and item.id not in work.bound
        return kind.ndim if known and kind is not None else None
    if isinstance(item, gast.UnaryOp):
        return _rank(item.operand, work)
    if isinstance(item, gast.BinOp) and not isinstance(item.op, gast.MatMult):
        sides = (_rank(item.left, work), _rank(item.right, work))
        return None if None in sides else max(sides)  # type: ignore[type-var]  # none of them is None here
    found = binding_of(item.func, work.facts, work.facts.local) if isinstance(item, gast.Call) else None
    if found is None or not item.args:
        return None
    if any(found.object is one for one in _FILLED):
        shape = item.args[0]
        return len(shape.elts) if isinstance(shape, gast.Tuple) else 1 if _is_length(shape) else None
    elementwise = isinstance(found.object, np.ufunc) and len(item.args) == 1 and not item.keywords
    if elementwise or any(found.object is one for one in _LIKE):
        return _rank(item.args[0], work)
    return 1 if found.object is np.arange else None


def _is_length(shape: Node) -> bool:
    """Whether the argument of `np.ones` is one length for sure: a number, `len(x)`, `x.size`, `x.shape[0]`."""
    if isinstance(shape, gast.Subscript):
        return isinstance(shape.slice, gast.Constant) and getattr(shape.value, "attr", "") == "shape"
    called = isinstance(shape, gast.Call) and getattr(shape.func, "id", "") == "len"
    return called or isinstance(shape, gast.Constant) or getattr(shape, "attr", "") == "size"
