"""What the ops that are not elementwise make of the specs of their arguments."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.analyse.extents import extents, product, with_extents
from srcgrad.facts import Facts, Operation, Spec
from srcgrad.front.results import several_of
from srcgrad.runtime import cast, hook, owned, probe, probed, sum_to
from srcgrad.trees import Node, stores


def _reduction(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    axis, keep = operation.bound.get("axis"), operation.bound.get("keepdims")
    kept = isinstance(keep, gast.Constant) and keep.value is True
    whole = next(iter(arguments.values()))
    if axis is None or (isinstance(axis, gast.Constant) and axis.value is None):
        if keep is None or (isinstance(keep, gast.Constant) and keep.value is False):
            return Spec(frozenset(), whole.dtype, 0)
        return Spec(opaque.shape, whole.dtype, whole.ndim if kept else None)
    rank = whole.ndim
    if rank is not None and not kept:
        many = len(axis.elts) if isinstance(axis, gast.Tuple) else 1
        literal = isinstance(axis, gast.Constant | gast.Tuple | gast.UnaryOp)
        rank = rank - many if literal and keep is None else None
    return Spec(opaque.shape if rank != 0 else frozenset(), whole.dtype, rank)


def _same(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    return next(iter(arguments.values()))


def _like(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    return arguments["x"]


def _product(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    one, two = list(arguments.values())[:2]
    if one.ndim is None or two.ndim is None or one.ndim == 0 or two.ndim == 0:
        return opaque
    rank = max(one.ndim, two.ndim, 2) - (one.ndim == 1) - (two.ndim == 1)
    if max(one.ndim, two.ndim) > 2 and operation.function is not np.matmul:
        return opaque
    found = product(one, two, opaque.dtype) if rank else None
    return found or Spec(opaque.shape if rank else frozenset(), opaque.dtype, rank)


def _outer(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    one, two = (extents(spec) for spec in list(arguments.values())[:2])
    if one is None or two is None or len(one) != 1 or len(two) != 1:
        return Spec(opaque.shape, opaque.dtype, 2)
    return with_extents((*one, *two), opaque.dtype)


def _transpose(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    whole = next(iter(arguments.values()))
    return Spec(opaque.shape if whole.ndim not in (0, 1) else whole.shape, whole.dtype, whole.ndim)


def _cast(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    whole, dtype = arguments["x"], operation.bound["dtype"]
    known = isinstance(dtype, gast.Attribute) and dtype.attr in ("float16", "float32")
    return Spec(whole.shape, frozenset([dtype.attr]) if known else opaque.dtype, whole.ndim)


FORMS = {
    np.sum: _reduction, np.mean: _reduction, np.max: _reduction, np.min: _reduction, np.prod: _reduction,
    np.var: _reduction, np.std: _reduction, np.copy: _same, np.transpose: _transpose, np.matmul: _product,
    np.dot: _product, np.outer: _outer, np.full_like: _same, sum_to: _like, np.flip: _same, np.roll: _same,
    owned: _same, hook: _same, probe: _same, probed: _same, cast: _cast,
}  # fmt: skip


def several_specs(node: Node, whole: Spec, facts: Facts) -> list[tuple[str, Spec]]:
    """What is known of each result of `w, v = op(whole)`: its rank follows from that of the first argument."""
    found = []
    for name, (_, beyond) in zip(stores(node), several_of(node, facts), strict=True):
        rank = None if whole.ndim is None or beyond is None else whole.ndim + beyond
        shape = frozenset([f"{name} {facts.number[node]}"]) if rank != 0 else frozenset[str]()
        found.append((name, Spec(shape, whole.dtype, rank)))
    return found
