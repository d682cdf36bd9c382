"""What operations make of the shapes of their arguments, in the forward half and in the backward half.

Specs of expressions in the backward half, whose names carry what is known of the primal's values.

What the ops that are not elementwise make of the specs of their arguments.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.axis_lengths import (
    broadcast,
    canonical_spec,
    cross,
    cut,
    extents,
    keepdims_shape,
    part_of,
    product,
    with_extents,
    without_kept,
)
from srcgrad.core.facts import Facts, Operation, Spec
from srcgrad.core.meanings import function_called
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import Node, literal_value, stores
from srcgrad.frontend.results import several_of
from srcgrad.runtime import cast, hook, max_or_least, min_or_most, owned, probe, probed, sum_to

COMPLEX = frozenset(["complex"])  # among the dtypes of a value that may be complex


def as_real(spec: Spec) -> Spec:
    """The spec of the real part of a value."""
    return spec if COMPLEX.isdisjoint(spec.dtype) else replace(spec, dtype=spec.dtype - COMPLEX)


def with_dtype(is_complex: bool, spec: Spec) -> Spec:
    """What may be complex says so among its dtypes, and nothing else does."""
    spec = as_real(spec)
    return replace(spec, dtype=spec.dtype | COMPLEX) if is_complex else spec


def broadcast_specs(*specs: Spec) -> Spec:
    """The spec of an elementwise combination: shapes broadcast, dtypes promote."""
    return _combine_specs(*[(spec.shape, spec.dtype, spec.ndim, spec.extents, spec.parts) for spec in specs])


_Known = tuple[frozenset[str], frozenset[str], int | None, tuple[str, ...] | None, frozenset[tuple[str, ...]]]


@functools.lru_cache(maxsize=8192)
def _combine_specs(*given: _Known) -> Spec:
    """As `broadcast_specs`, of all that specs say: a text combines the same few shapes again and again."""
    specs = [Spec(shape, dtype, ndim, lengths, parts) for shape, dtype, ndim, lengths, parts in given]
    dtype = frozenset[str]().union(*(s.dtype for s in specs))
    known = [extents(spec) for spec in specs]
    lengths = [each for each in known if each is not None]
    if len(lengths) == len(specs):
        return with_extents(functools.reduce(broadcast, lengths, ()), dtype)
    shape = frozenset[str]().union(*(canonical_spec(s).shape for s in specs))
    parts = frozenset(lengths).union(*(s.parts for s in specs))
    return Spec(without_kept(shape), dtype, None, parts=parts)


def covers(made: Spec, result: Spec) -> bool:
    """Whether a value has all that broadcasting it with one of the other shape could give it."""
    whole = extents(result)
    if broadcast_specs(made, result).shape == made.shape:
        return True
    return whole is not None and any(broadcast(part, whole) == part for part in made.parts)


def spec_of_tree(node: Node, facts: Facts) -> Spec:
    """The spec of an expression; what cannot be told gets an unknown that equals nothing else."""
    if isinstance(node, gast.Constant):
        return Spec(dtype=COMPLEX if isinstance(node.value, complex) else frozenset())
    if node in facts.spec:
        return facts.spec[node]
    if isinstance(node, gast.UnaryOp):
        return spec_of_tree(node.operand, facts)
    if isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
        return broadcast_specs(*_specs_of_operands(node, facts))
    if isinstance(node, gast.BinOp):
        one, two = spec_of_tree(node.left, facts), spec_of_tree(node.right, facts)
        return product(one, two, one.dtype | two.dtype) or _unknown_spec(node)
    if isinstance(node, gast.Attribute) and node.attr == "T":
        whole = spec_of_tree(node.value, facts)
        lengths = extents(whole)
        return _unknown_spec(node) if lengths is None else with_extents(lengths[::-1], whole.dtype)
    if isinstance(node, gast.Compare):
        sides = broadcast_specs(*(spec_of_tree(n, facts) for n in [node.left, *node.comparators]))
        return replace(sides, dtype=frozenset())
    if isinstance(node, gast.Call):
        return _of_call(node, facts)
    if isinstance(node, gast.Attribute) and node.attr in ("size", "ndim", *_NUMBERS):
        return Spec()
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Attribute) and node.value.attr == "shape":
        return Spec()
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value in facts.spec:
        return _part(node, facts) or _unknown_spec(node)
    if isinstance(node, gast.Attribute) and node.attr in ("real", "imag"):
        return as_real(spec_of_tree(node.value, facts))
    return _unknown_spec(node)


def _part(node: Node, facts: Facts) -> Spec | None:
    """The spec of `x[i]` of an array, where the index is basic; its rank is that of the array less the integers."""
    held, whole = node.value.id, facts.spec[node.value]
    if held in facts.containers or facts.list_kind(held):
        return None
    if whole.ndim is None:
        return cut(whole, node.slice)
    return part_of(whole, node.slice, frozenset(facts.integers), facts.constants)


_NUMBERS = ("pi", "e", "inf", "nan", "euler_gamma")  # of NumPy and math: no user's array has such attributes


def _specs_of_operands(node: Node, facts: Facts) -> list[Spec]:
    """Specs of the two sides; a long chain of operators is walked, not descended."""
    specs = []
    while isinstance(node, gast.BinOp) and not isinstance(node.op, gast.MatMult):
        specs.append(spec_of_tree(node.right, facts))
        node = node.left
    return [*specs, spec_of_tree(node, facts)]


def _of_call(node: Node, facts: Facts) -> Spec:
    function = function_called(node, facts)
    if function is None and getattr(node.func, "attr", "") == "sum" and not node.args:
        return _spec_of_sum(node, facts) or _unknown_spec(node)
    if function in (np.size, runtime.count) or getattr(function, "__module__", "") == "math":
        return Spec()
    if function is np.where and len(node.args) == 3:
        chosen = broadcast_specs(*(spec_of_tree(a, facts) for a in node.args))
        return replace(chosen, dtype=broadcast_specs(*(spec_of_tree(a, facts) for a in node.args[1:])).dtype)
    if function is np.cross and not node.keywords and len(node.args) == 2:
        one, two = (spec_of_tree(a, facts) for a in node.args)
        return cross(one, two, one.dtype | two.dtype) or _unknown_spec(node)
    if function is runtime.if_larger:
        seed, *compared = (spec_of_tree(a, facts) for a in node.args)
        return replace(broadcast_specs(seed, *compared), dtype=seed.dtype)
    if function in _LIKE:
        return spec_of_tree(node.args[_LIKE[function]], facts)
    if function in _SHAPED:
        like = spec_of_tree(node.args[_SHAPED[function]], facts)
        return replace(like, dtype=frozenset[str]().union(*(spec_of_tree(a, facts).dtype for a in node.args[:3])))
    rule = rule_of(function)
    if rule is not None and rule.kind == "elementwise" and not node.keywords:
        return broadcast_specs(*(spec_of_tree(a, facts) for a in node.args))
    return _unknown_spec(node)


def _spec_of_sum(call: Node, facts: Facts) -> Spec | None:
    """The spec of `e.sum(axis=0)`, of an expression of known rank."""
    whole = spec_of_tree(call.func.value, facts)
    known = extents(whole)
    words = {word.arg: getattr(word.value, "value", None) for word in call.keywords}
    axis, keep = words.get("axis"), words.get("keepdims", False)
    if not call.keywords:
        return Spec(frozenset(), whole.dtype, 0)
    if (
        not known
        or type(axis) is not int
        or not -len(known) <= axis < len(known)
        or words.keys() - {"axis", "keepdims"}
    ):
        return None
    axis %= len(known)
    return with_extents((*known[:axis], *(("1",) if keep is True else ()), *known[axis + 1 :]), whole.dtype)


_LIKE = {np.zeros_like: 0, np.full_like: 0, runtime.zeros_like: 0, runtime.sum_to: 1, runtime.fit_to: 1}
_SHAPED = {
    runtime.share: 1, runtime.matmul_left: 1, runtime.dot_left: 1, runtime.matmul_right: 2, runtime.dot_right: 2,
    runtime.matmul_both: 1, runtime.dot_both: 1,
}  # fmt: skip


def _unknown_spec(node: Node) -> Spec:
    own = frozenset([f"unknown {id(node)}"])
    return Spec(own, own, None)


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
        return Spec(keepdims_shape(whole.shape, axis) if keep else opaque.shape, whole.dtype, None)
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


def _spec_of_first(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    return next(iter(arguments.values()))


def _spec_of_x(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    return arguments["x"]


def _product(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    one, two = list(arguments.values())[:2]
    if one.ndim is None or two.ndim is None:
        return opaque
    if one.ndim == 0 or two.ndim == 0:
        return broadcast_specs(one, two) if operation.function is np.dot else opaque
    rank = max(one.ndim, two.ndim, 2) - (one.ndim == 1) - (two.ndim == 1)
    if max(one.ndim, two.ndim) > 2 and operation.function is not np.matmul:
        return opaque
    found = product(one, two, opaque.dtype) if rank else None
    return found or Spec(opaque.shape if rank else frozenset(), opaque.dtype, rank)


def _spec_of_outer(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    one, two = (extents(spec) for spec in list(arguments.values())[:2])
    if one is None or two is None or len(one) != 1 or len(two) != 1:
        return Spec(opaque.shape, opaque.dtype, 2)
    return with_extents((*one, *two), opaque.dtype)


def _spec_of_inner(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.inner(a, b)`: the last axes go."""
    one, two = list(arguments.values())[:2]
    left, right = extents(one), extents(two)
    if left is None or right is None:
        return opaque
    return with_extents((*left[:-1], *right[:-1]), opaque.dtype) if left and right else broadcast_specs(one, two)


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


def _spec_of_swapaxes(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
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


def _spec_of_solve(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.linalg.solve(a, b)` with one matrix has the shape of b, a vector or a matrix."""
    one, two = arguments["a"], arguments["b"]
    return replace(two, dtype=opaque.dtype) if one.ndim == 2 and two.ndim in (1, 2) else opaque


def _spec_of_diag(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.diag` takes the diagonal of a matrix, and makes a matrix of a vector."""
    rank = next(iter(arguments.values())).ndim
    return Spec(opaque.shape, opaque.dtype, 3 - rank) if rank in (1, 2) else opaque


REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std, max_or_least, min_or_most)
FORMS = {
    np.sum: _reduction, np.mean: _reduction, np.max: _reduction, np.min: _reduction, np.prod: _reduction,
    np.var: _reduction, np.std: _reduction, np.copy: _spec_of_first, np.transpose: _transpose, np.matmul: _product,
    np.dot: _product, np.inner: _spec_of_inner, np.linalg.norm: _norm, np.outer: _spec_of_outer,
    np.full_like: _spec_of_first, sum_to: _spec_of_x, np.swapaxes: _spec_of_swapaxes, np.flip: _spec_of_first,
    np.roll: _spec_of_first, np.cross: _cross, owned: _spec_of_first, hook: _spec_of_first, probe: _spec_of_first,
    probed: _spec_of_first, cast: _cast,
    max_or_least: _reduction, min_or_most: _reduction,
    np.reshape: _reshape, np.linalg.cholesky: _spec_of_first, np.linalg.inv: _spec_of_first,
    np.linalg.solve: _spec_of_solve, np.diag: _spec_of_diag,
}  # fmt: skip


def several_specs(node: Node, whole: Spec, facts: Facts) -> list[tuple[str, Spec]]:
    """What is known of each result of `w, v = op(whole)`: its rank follows from that of the first argument."""
    found = []
    for name, (_, beyond) in zip(stores(node), several_of(node, facts), strict=True):
        rank = None if whole.ndim is None or beyond is None else whole.ndim + beyond
        shape = frozenset([f"{name} {facts.number[node]}"]) if rank != 0 else frozenset[str]()
        found.append((name, Spec(shape, whole.dtype, rank)))
    return found
