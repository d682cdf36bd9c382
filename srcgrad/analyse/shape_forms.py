"""What the ops that are not elementwise make of the specs of their arguments."""

from __future__ import annotations

from dataclasses import replace

import gast
import numpy as np

from srcgrad.analyse.adjoint_shapes import as_real, joined
from srcgrad.analyse.extents import cross, extents, product, with_extents
from srcgrad.analyse.kept import kept
from srcgrad.converted import literal_value
from srcgrad.facts import Facts, Operation, Spec
from srcgrad.front.results import several_of
from srcgrad.runtime import cast, hook, max_or_least, min_or_most, owned, probe, probed, sum_to
from srcgrad.trees import Node, stores


def _reduction(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    whole = next(iter(arguments.values()))
    axis, keep = literal(operation.bound.get("axis")), literal(operation.bound.get("keepdims"), False)
    if axis is None and keep is False:
        return Spec(frozenset(), whole.dtype, 0)
    if axis is ... or not isinstance(keep, bool):
        rank = whole.ndim if keep is True else None
        return Spec(opaque.shape if rank != 0 else frozenset(), whole.dtype, rank)
    known = extents(whole)
    if known is None:
        return Spec(kept(whole.shape, axis) if keep else opaque.shape, whole.dtype, None)
    along = (
        {k % max(len(known), 1) for k in (axis if isinstance(axis, tuple) else (axis,))} if axis is not None else None
    )
    left = [("1" if keep else "") if along is None or k in along else one for k, one in enumerate(known)]
    return with_extents(tuple(one for one in left if one), whole.dtype)


def _norm(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """Norms are real."""
    return as_real(_reduction(operation, arguments, opaque))


def literal(node: Node, default: object = None) -> object:
    """The value of a literal, or what stands for one that is left out; Ellipsis for anything else."""
    try:
        found: object = default if node is None else literal_value(node)
    except (ValueError, TypeError):
        return ...
    whole = isinstance(found, tuple) and all(type(item) is int for item in found)
    return found if found is None or isinstance(found, bool | int) or whole else ...


def _same(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    return next(iter(arguments.values()))


def _like(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    return arguments["x"]


def _product(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    one, two = list(arguments.values())[:2]
    if one.ndim is None or two.ndim is None:
        return opaque
    if one.ndim == 0 or two.ndim == 0:
        return joined(one, two) if operation.function is np.dot else opaque
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


def _inner(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.inner(a, b)`: the last axes go."""
    one, two = list(arguments.values())[:2]
    left, right = extents(one), extents(two)
    if left is None or right is None:
        return opaque
    return with_extents((*left[:-1], *right[:-1]), opaque.dtype) if left and right else joined(one, two)


def _cross(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    plain = operation.bound.keys() == {"a", "b"}
    return (cross(arguments["a"], arguments["b"], opaque.dtype) if plain else None) or opaque


def _transpose(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    whole = next(iter(arguments.values()))
    known, axes = extents(whole), literal(operation.bound.get("axes"))
    if known is None or len(known) < 2:
        return whole if known is not None else Spec(opaque.shape, whole.dtype, None)
    order = tuple(reversed(range(len(known)))) if axes is None else axes
    if not isinstance(order, tuple) or len(order) != len(known):
        return Spec(opaque.shape, whole.dtype, whole.ndim)
    return with_extents(tuple(known[k] for k in order), whole.dtype)


def _swapped(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    whole = next(iter(arguments.values()))
    known = extents(whole)
    places = [literal(operation.bound.get(one)) for one in ("axis1", "axis2")]
    if known is None or not all(type(k) is int and -len(known) <= k < len(known) for k in places):
        return Spec(opaque.shape, whole.dtype, whole.ndim)
    made = list(known)
    one, two = (int(str(k)) for k in places)
    made[one], made[two] = made[two], made[one]
    return with_extents(tuple(made), whole.dtype)


def _reshape(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    shape = operation.bound.get("shape")
    if isinstance(shape, gast.Tuple) and not any(isinstance(part, gast.Starred) for part in shape.elts):
        return Spec(opaque.shape if shape.elts else frozenset(), opaque.dtype, len(shape.elts))
    return Spec(opaque.shape, opaque.dtype, 1) if isinstance(shape, gast.Constant | gast.UnaryOp) else opaque


def _cast(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    whole, dtype = arguments["x"], operation.bound["dtype"]
    known = isinstance(dtype, gast.Attribute) and dtype.attr in ("float16", "float32")
    return replace(whole, dtype=frozenset([dtype.attr]) if known else opaque.dtype)


def _solved(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.linalg.solve(a, b)` with one matrix has the shape of b, a vector or a matrix."""
    one, two = arguments["a"], arguments["b"]
    return replace(two, dtype=opaque.dtype) if one.ndim == 2 and two.ndim in (1, 2) else opaque


def _diagonal(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.diag` takes the diagonal of a matrix, and makes a matrix of a vector."""
    rank = next(iter(arguments.values())).ndim
    return Spec(opaque.shape, opaque.dtype, 3 - rank) if rank in (1, 2) else opaque


REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std, max_or_least, min_or_most)
FORMS = {
    np.sum: _reduction, np.mean: _reduction, np.max: _reduction, np.min: _reduction, np.prod: _reduction,
    np.var: _reduction, np.std: _reduction, np.copy: _same, np.transpose: _transpose, np.matmul: _product,
    np.dot: _product, np.inner: _inner, np.linalg.norm: _norm, np.outer: _outer,
    np.full_like: _same, sum_to: _like, np.swapaxes: _swapped, np.flip: _same,
    np.roll: _same, np.cross: _cross, owned: _same, hook: _same, probe: _same, probed: _same, cast: _cast,
    max_or_least: _reduction, min_or_most: _reduction,
    np.reshape: _reshape, np.linalg.cholesky: _same, np.linalg.inv: _same, np.linalg.solve: _solved, np.diag: _diagonal,
}  # fmt: skip


def several_specs(node: Node, whole: Spec, facts: Facts) -> list[tuple[str, Spec]]:
    """What is known of each result of `w, v = op(whole)`: its rank follows from that of the first argument."""
    found = []
    for name, (_, beyond) in zip(stores(node), several_of(node, facts), strict=True):
        rank = None if whole.ndim is None or beyond is None else whole.ndim + beyond
        shape = frozenset([f"{name} {facts.number[node]}"]) if rank != 0 else frozenset[str]()
        found.append((name, Spec(shape, whole.dtype, rank)))
    return found
