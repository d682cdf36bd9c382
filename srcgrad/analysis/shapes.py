"""Shapes and dtypes of values, as sets of unknowns: enough to prove that two values have equal ones.

So it is in both halves: names of the backward half carry what is known of the primal's values.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.argument_kinds import kinds_of, lengths_of
from srcgrad.analysis.array_regions import (
    broadcast,
    canonical_spec,
    constants,
    counters,
    cross,
    cut,
    extents,
    forget,
    keepdims_shape,
    nested_length,
    part_of,
    product,
    short_symbol,
    with_extents,
    without_kept,
)
from srcgrad.core.facts import UNKNOWN, Facts, Operation, Spec, function_called
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    Block,
    Node,
    header,
    index_rank,
    is_write,
    literal_of,
    parameters,
    part_written,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.frontend.early_facts import gives_several, several_of
from srcgrad.frontend.resolve import METHODS, bind, binding_of
from srcgrad.runtime.structure import row_count

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
    if node in facts.values.spec:
        return facts.values.spec[node]
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
    if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name) and node.value in facts.values.spec:
        return _part(node, facts) or _unknown_spec(node)
    if isinstance(node, gast.Attribute) and node.attr in ("real", "imag"):
        return as_real(spec_of_tree(node.value, facts))
    return _unknown_spec(node)


def _part(node: Node, facts: Facts) -> Spec | None:
    """The spec of `x[i]` of an array, where the index is basic; its rank is that of the array less the integers."""
    held, whole = node.value.id, facts.values.spec[node.value]
    if held in facts.kinds.containers or facts.list_kind(held):
        return None
    if whole.ndim is None:
        return cut(whole, node.slice)
    return part_of(whole, node.slice, frozenset(facts.values.integers), facts.values.constants)


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
    rule = rule_of(function)
    model = None if rule is None else rule.argument(node, rule.shape)
    if rule is not None and model is not None:
        like = spec_of_tree(model, facts)
        if rule.dtype == rule.shape or len(node.args) == 1:
            return like
        return replace(like, dtype=frozenset[str]().union(*(spec_of_tree(a, facts).dtype for a in node.args[:3])))
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


def literal(node: Node | None, default: object = None) -> object:
    """The value of a literal, or what stands for one that is left out; Ellipsis for anything else."""
    found: object = default if node is None else literal_of(node)
    whole = isinstance(found, tuple) and all(type(item) is int for item in found)
    return found if found is None or isinstance(found, bool | int) or whole else ...


def _product(operation: Operation, arguments: dict[str, Spec], opaque: Spec, dot: bool = False) -> Spec:
    one, two = list(arguments.values())[:2]
    if one.ndim is None or two.ndim is None:
        return opaque
    if one.ndim == 0 or two.ndim == 0:
        return broadcast_specs(one, two) if dot else opaque
    rank = max(one.ndim, two.ndim, 2) - (one.ndim == 1) - (two.ndim == 1)
    if max(one.ndim, two.ndim) > 2 and dot:
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


def _spec_of_solve(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.linalg.solve(a, b)` with one matrix has the shape of b, a vector or a matrix."""
    one, two = arguments["a"], arguments["b"]
    return replace(two, dtype=opaque.dtype) if one.ndim == 2 and two.ndim in (1, 2) else opaque


def _spec_of_diag(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """`np.diag` takes the diagonal of a matrix, and makes a matrix of a vector."""
    rank = next(iter(arguments.values())).ndim
    return Spec(opaque.shape, opaque.dtype, 3 - rank) if rank in (1, 2) else opaque


FORMS: dict[str, Callable[[Operation, dict[str, Spec], Spec], Spec]] = {
    "reduce": _reduction,
    "transpose": _transpose,
    "swap": _spec_of_swapaxes,
    "matmul": _product,
    "dot": partial(_product, dot=True),
    "inner": _spec_of_inner,
    "outer": _spec_of_outer,
    "cross": _cross,
    "reshape": _reshape,
    "solve": _spec_of_solve,
    "diag": _spec_of_diag,
}


def _spec_of_result(operation: Operation, arguments: dict[str, Spec], opaque: Spec) -> Spec:
    """What the rule of an operation says of the shape and the dtype of its result."""
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    if rule.shape in arguments:
        found = replace(arguments[rule.shape], dtype=opaque.dtype)
    else:
        found = FORMS[rule.shape](operation, arguments, opaque) if rule.shape in FORMS else opaque
    if rule.dtype in arguments:
        found = replace(found, dtype=arguments[rule.dtype].dtype)
    elif rule.dtype == "given":
        dtype = operation.bound["dtype"]
        known = isinstance(dtype, gast.Attribute) and dtype.attr in ("float16", "float32")
        found = replace(found, dtype=frozenset([dtype.attr]) if known else opaque.dtype)
    return replace(as_real(found) if rule.values == "real" else found, length=None)


def several_specs(node: Node, whole: Spec, facts: Facts) -> list[tuple[str, Spec]]:
    """What is known of each result of `w, v = op(whole)`: its rank follows from that of the first argument."""
    found = []
    for name, (_, beyond) in zip(stores(node), several_of(node, facts), strict=True):
        rank = None if whole.ndim is None or beyond is None else whole.ndim + beyond
        shape = frozenset([f"{name} {facts.origin.number[node]}"]) if rank != 0 else frozenset[str]()
        found.append((name, Spec(shape, whole.dtype, rank)))
    return found


Known = dict[str, Spec]
NUMBER = Spec()
SHAPE = frozenset(["the shape of an array"])  # of the tuple `x.shape`


def spec_of(value: Node, known: Known, facts: Facts, fresh: str) -> Spec:
    """The spec of an expression in normal form; what cannot be told gets the unknown `fresh`."""
    if isinstance(value, gast.Constant):
        length = str(value.value) if type(value.value) is int and value.value >= 0 else None
        return Spec(dtype=COMPLEX if isinstance(value.value, complex) else frozenset(), length=length)
    if isinstance(value, gast.Name):
        return known.get(value.id, Spec(frozenset([value.id]), frozenset([value.id]), None))
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Attribute) and value.value.attr == "shape":
        return _length(value, known, facts, fresh)
    operation = facts.resolution.operation.get(value)
    if operation is not None and operation.rule is not None and operation.rule.kind != "constant":
        return _of_operation(operation, known, facts, fresh)
    if operation is not None and operation.kind == "callee":
        return _of_callee(value, operation, known, facts, fresh)
    return _of_passive(value, known, facts, fresh)


def _length(value: Node, known: Known, facts: Facts, fresh: str) -> Spec:
    """`x.shape[0]`, a number, and the length of that axis."""
    lengths = extents(spec_of(value.value.value, known, facts, fresh))
    place = literal(value.slice, ...)
    if lengths is None or not isinstance(place, int) or not -len(lengths) <= place < len(lengths):
        return NUMBER
    return Spec(length=lengths[place])


def _of_callee(value: Node, operation: Operation, known: Known, facts: Facts, fresh: str) -> Spec:
    """The spec of a callee's result, where the numbers among its arguments tell; tuples are kept by name."""
    unknown = frozenset([fresh])
    callee = facts.module.callee(operation.function, value, facts)
    bound = bind(value, callee.tree, facts)
    kinds = kinds_of(bound, facts)
    lengths = lengths_of(bound, kinds, facts)
    found = facts.module.output_spec(operation.function, kinds) if kinds else None
    if isinstance(found, tuple):
        own = tuple(_spec_in_caller(s, f"{fresh}[{k}]", lengths) for k, s in enumerate(found))
        facts.kinds.tuples[fresh.split(" ")[0]] = own
        return Spec(unknown, unknown, None)
    return Spec(unknown, unknown, None) if found is None else _spec_in_caller(found, fresh, lengths)


def _spec_in_caller(spec: Spec, fresh: str, lengths: dict[str, str]) -> Spec:
    """A callee's spec in the caller: lengths of its arguments are known here, others get names of their own."""
    own = frozenset([fresh])
    dtype = own if spec.dtype and spec.dtype != {"floating"} else spec.dtype
    known = extents(spec)
    if known is None:
        return Spec(own, dtype, None)
    named = (lengths.get(one, one if one.isdigit() else f"{fresh}.{axis}") for axis, one in enumerate(known))
    return with_extents(tuple(named), dtype)


def _of_operation(operation: Operation, known: Known, facts: Facts, fresh: str) -> Spec:
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    arguments = {p: spec_of(a, known, facts, f"{fresh}.{p}") for p, a in operation.bound.items()}
    if rule.kind == "elementwise":
        return broadcast_specs(*arguments.values())
    opaque = Spec(frozenset([fresh]), frozenset().union(*(s.dtype for s in arguments.values())), None)
    if operation.function is operator.getitem:
        return element(operation, arguments["x"], opaque, facts)
    if rule.shape in ("join", "stack"):
        return _join(operation, known, facts, opaque)
    if rule.shape == "reshape" and operation.bound.keys() == {"a", "shape"}:
        return _of_shape(operation.bound["shape"], known, facts, fresh, arguments["a"].dtype)
    return _spec_of_result(operation, arguments, opaque)


def _join(operation: Operation, known: Known, facts: Facts, opaque: Spec) -> Spec:
    """All parts have one rank, and one length along all axes but that along which they are joined."""
    parts, axis = operation.bound["arrays"], literal(operation.bound.get("axis"), 0)
    listed = parts.elts if isinstance(parts, gast.Tuple | gast.List) else []
    specs = [spec_of(part, known, facts, "part") for part in listed if not isinstance(part, gast.Starred)]
    rank = next((spec.ndim for spec in specs if spec.ndim), None)
    if axis is None:
        return Spec(opaque.shape, opaque.dtype, 1)
    if rank is None or type(axis) is not int:
        return Spec(opaque.shape, opaque.dtype, None)
    stacked = operation.rule is not None and operation.rule.shape == "stack"
    lengths = [known_one for spec in specs if (known_one := extents(spec)) is not None]
    if len(lengths) < len(listed) or not -rank - stacked <= axis < rank + stacked:
        return Spec(opaque.shape, opaque.dtype, rank + stacked)
    dtype = frozenset[str]().union(*(spec.dtype for spec in specs))
    axis %= rank + stacked
    along = [each[axis] for each in lengths] if not stacked else ["1"] * len(listed)
    counted = all(length.isdigit() for length in along)
    made = str(sum(map(int, along))) if counted else f"({'+'.join(map(nested_length, along))})"
    return with_extents((*lengths[0][:axis], made, *lengths[0][axis + (not stacked) :]), dtype)


def element(operation: Operation, whole: Spec, opaque: Spec, facts: Facts) -> Spec:
    """The spec of `a[index]`: a slice with literal bounds has the shape of others that leave out as many rows."""
    index, source = operation.bound["index"], operation.bound["x"]
    integers = frozenset(facts.values.integers)
    rank = index_rank(index, whole.ndim, integers)
    made = cut(whole, index, integers if whole.ndim is not None else frozenset())
    if isinstance(source, gast.Name) and (source.id in facts.kinds.containers or facts.list_kind(source.id)):
        made = None  # its items may have any shape
    elif rank:
        fresh = short_symbol(" & ".join(sorted(opaque.shape)))
        found = part_of(whole, index, integers, facts.values.constants, fresh)
        if found is not None:
            return found
    shape = opaque.shape if made is None else made.shape
    return Spec(shape if rank != 0 else frozenset(), whole.dtype, rank)


def _of_passive(value: Node, known: Known, facts: Facts, fresh: str) -> Spec:
    """Expressions that carry no derivative: numbers, attributes, arithmetic of known things, comparisons."""
    unknown = Spec(frozenset([fresh]), frozenset([fresh]), None)
    if isinstance(value, gast.UnaryOp):
        return replace(spec_of(value.operand, known, facts, fresh), length=None)  # -1 is no length
    if isinstance(value, gast.BinOp):
        if isinstance(value.op, gast.MatMult):
            one, two = (spec_of(side, known, facts, fresh) for side in (value.left, value.right))
            return product(one, two, one.dtype | two.dtype) or unknown
        return broadcast_specs(*(spec_of(side, known, facts, fresh) for side in (value.left, value.right)))
    if isinstance(value, gast.Compare):
        sides = [value.left, *value.comparators]
        joined = broadcast_specs(*(spec_of(side, known, facts, fresh) for side in sides))
        return replace(joined, dtype=frozenset())
    if isinstance(value, gast.Attribute) and value.attr in ("size", "ndim"):
        return NUMBER
    if isinstance(value, gast.Attribute) and value.attr == "shape":
        return Spec(SHAPE, frozenset(), None)
    if isinstance(value, gast.Attribute) and value.attr == "T":
        rows = spec_of(value.value, known, facts, fresh)
        lengths = extents(rows)
        return unknown if lengths is None else with_extents(lengths[::-1], rows.dtype)
    if isinstance(value, gast.Attribute):  # np.pi
        constant = binding_of(value, facts, facts.names.local)
        return NUMBER if constant is not None and type(constant.object) in (int, float) else unknown
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        whole = known.get(value.value.id)
        if whole is not None and whole.ndim is not None:
            part = Operation("op", operator.getitem, None, {"x": value.value, "index": value.slice})
            return element(part, whole, unknown, facts)
    if isinstance(value, gast.Call) and facts.resolution.operation.get(value) is None:
        return _of_passive_call(value, known, facts, fresh) or unknown
    return unknown


def _of_shape(shape: Node, known: Known, facts: Facts, fresh: str, dtype: frozenset[str]) -> Spec:
    """The spec of an array made with a shape: a tuple of lengths, or a number."""
    parts: list[Node] | None
    if isinstance(shape, gast.Tuple):
        parts = shape.elts
    elif isinstance(shape, gast.Constant) or (isinstance(shape, gast.Name) and shape.id in facts.values.integers):
        parts = [shape]
    elif isinstance(shape, gast.Attribute) and shape.attr == "shape":
        return replace(spec_of(shape.value, known, facts, fresh), dtype=dtype)
    else:
        parts = [shape] if spec_of(shape, known, facts, fresh).scalar else None
    if parts is None or any(isinstance(part, gast.Starred) for part in parts):
        return Spec(frozenset([fresh]), dtype, None)
    found = [spec_of(part, known, facts, fresh).length or f"{fresh}.{axis}" for axis, part in enumerate(parts)]
    return with_extents(tuple(found), dtype)


def _of_passive_call(value: Node, known: Known, facts: Facts, fresh: str) -> Spec | None:
    found = binding_of(value.func, facts, facts.names.local)
    function, arguments = (None, []) if found is None else (found.object, list(value.args))
    if found is None and isinstance(value.func, gast.Attribute) and spec_of(value.func.value, known, facts, fresh).ndim:
        function, arguments = METHODS.get(value.func.attr), [value.func.value, *value.args]  # of an array
    if found is None and isinstance(value.func, gast.Name):
        spelled = {name: identifier for identifier, name in facts.names.imports.items()}
        function = facts.names.library_values.get(spelled.get(value.func.id, ""))
    rule = rule_of(function)
    if rule is not None and rule.kind == "elementwise" and not value.keywords:
        return broadcast_specs(*(spec_of(argument, known, facts, fresh) for argument in arguments))
    if any(isinstance(argument, gast.Starred) for argument in arguments):
        return None
    words = {str(word.arg): word.value for word in value.keywords}
    if rule is not None and rule.shape == "reduce" and arguments:
        bound = {**dict(zip(rule.parameters, arguments, strict=False)), **words}
        first, *_ = bound
        if set(bound) <= {first, "axis", "keepdims"} and len(arguments) <= 2:
            whole = {first: spec_of(arguments[0], known, facts, fresh)}
            made = _spec_of_result(Operation("op", function, rule, bound), whole, Spec(frozenset([fresh]), ndim=None))
            wider = found is None and made.dtype != {"floating"}  # the sum of a mask is an int64
            return replace(made, dtype=frozenset([fresh])) if wider else made
    if rule is not None and rule.shape in ("dot", "matmul") and len(arguments) == 2 and not words:
        one, two = (spec_of(side, known, facts, fresh) for side in arguments)
        return product(one, two, one.dtype | two.dtype)
    if function in _COPIES and arguments:
        return _spec_of_copy(function, arguments, words, known, facts, fresh)
    if rule is not None and rule.kind == "constant" and rule.shape == "a" and arguments and not words:
        return replace(spec_of(arguments[0], known, facts, fresh), length=None)
    if rule is not None and rule.shape == "filled" and arguments:
        dtype = _default_dtype(facts) if len(arguments) == 1 and not words else None
        return _of_shape(arguments[0], known, facts, fresh, dtype or frozenset([fresh]))
    if rule is not None and rule.shape in _RANKS:
        return Spec(frozenset([fresh]), frozenset([fresh]), _RANKS[rule.shape])
    if function is len and len(arguments) == 1:
        lengths = extents(spec_of(arguments[0], known, facts, fresh))
        return Spec(length=lengths[0] if lengths else None)
    return NUMBER if function in (float, int, row_count) else None


def _spec_of_copy(
    function: object, arguments: list[Node], words: dict[str, Node], known: Known, facts: Facts, fresh: str
) -> Spec | None:
    """`r.copy()`, `np.asarray(r)`, `r.astype(float)`: an array in another place, or of another dtype."""
    whole = spec_of(arguments[0], known, facts, fresh)
    if not whole.ndim or not words.keys() <= {"dtype", "copy", "order"}:
        return None
    dtype = None if function is np.copy else words.get("dtype", arguments[1] if len(arguments) > 1 else None)
    if dtype is None:
        return replace(whole, length=None)
    asked = binding_of(dtype, facts, facts.names.local)
    double = asked is not None and asked.object in (float, np.float64)
    return replace(whole, dtype=(_default_dtype(facts) if double else None) or frozenset([fresh]), length=None)


def _default_dtype(facts: Facts) -> frozenset[str] | None:
    """The dtype of `np.zeros(n)`, where arguments have a declared one: it is float64 then, which the text checks.

    Examples of float32 have another, and the text has to take them.
    """
    kinds = facts.kinds.of_names.values()
    if not any(kind.dtype == "floating" for kind in kinds) or any(kind.single for kind in kinds):
        return None
    facts.module.double = True
    return frozenset(["floating"])


_COPIES = (np.copy, np.array, np.asarray, np.ndarray.astype)
_RANKS = {"square": 2, "row": 1}


def shapes(function: Node, facts: Facts) -> Node:
    """Find the spec of every value, by forward interpretation; loops until nothing changes."""
    known = _Found()
    facts.values.counters = counters(function)
    facts.values.constants = facts.values.counters | constants(function)
    facts.origin.number = {node: k for k, node in enumerate(statements(function.body))}
    bound = {s for n in statements(function.body) if not is_write(n) for s in stores(n)}
    given = {
        one: kind for one, kind in facts.kinds.arguments.items() if one in bound and kind.tag in ("scalar", "array")
    }
    facts.kinds.of_names.update(given)  # not what a part of a list is, to which the name is bound later
    for parameter in parameters(function):
        known[parameter] = _parameter(parameter, facts)
        _note_value(parameter, known[parameter], facts)
    entry = {
        p: kind
        for p, kind in facts.kinds.of_names.items()
        if p in bound & set(known) and kind.tag in ("scalar", "array")
    }
    if entry:  # what the argument is does not hold of what the name is bound to later
        facts.kinds.of_names = {**facts.kinds.of_names, **dict.fromkeys(entry, UNKNOWN)}
    _block(function.body, known, facts)
    for parameter, kind in entry.items():
        rank = facts.values.value_spec[parameter].ndim
        if rank == (0 if kind.tag == "scalar" else kind.ndim):
            facts.kinds.of_names[parameter] = kind
    return function


def _parameter(parameter: str, facts: Facts) -> Spec:
    kind = facts.kinds.of_names.get(parameter, UNKNOWN)
    if kind.tag == "scalar":
        return Spec(dtype=COMPLEX if kind.complex else frozenset())
    dtype = frozenset([kind.dtype or parameter])
    own = Spec(frozenset([parameter]), dtype, kind.ndim) if kind.shape is None else with_extents(kind.shape, dtype)
    return with_dtype(parameter in facts.values.complex, canonical_spec(own))


class _Found(dict[str, Spec]):
    """What has been found of each name so far, and in the specs of which names each name stands."""

    def __init__(self) -> None:
        self.spoken_of: dict[str, dict[str, None]] = {}
        self.order: dict[str, int] = {}
        self.bound: dict[Node, dict[str, None]] = {}  # what compound statements bind, looked up once

    def __setitem__(self, name: str, spec: Spec) -> None:
        super().__setitem__(name, spec)
        self.order.setdefault(name, len(self.order))
        for symbol in spec.shape:
            for one in symbol.split("|")[1:]:
                self.spoken_of.setdefault(one, {})[name] = None

    def touched(self, node: Node) -> list[str]:
        """Names of which a compound statement may tell something else: it binds them, or what their specs speak of."""
        if node not in self.bound:
            self.bound[node] = dict.fromkeys(one for inner in statements([node]) for one in stores(inner))
        found = self.bound[node]
        more = [other for one in found for other in self.spoken_of.get(one, ())]
        return sorted({**found, **dict.fromkeys(more)}, key=lambda one: self.order.get(one, len(self.order)))

    def of(self, names: list[str]) -> Known:
        """What is known of some names."""
        return {one: self[one] for one in names if one in self}


def _put_back(table: dict[str, Spec], names: list[str], held: Known) -> None:
    """Let a table hold of some names what it held before."""
    for one in names:
        if one in held:
            table[one] = held[one]
        else:
            table.pop(one, None)


def _block(block: Block, known: _Found, facts: Facts) -> None:
    for node in block:
        if isinstance(node, gast.If):
            _note(node, known, facts)
            touched = known.touched(node)
            before, sides = known.of(touched), list[Known]()
            for side in (node.body, node.orelse):
                _block(side, known, facts)
                sides.append(known.of(touched))
                _put_back(known, touched, before)
            _merge(known, sides, known.bound[node], f"if {facts.origin.number[node]}")
        elif isinstance(node, gast.For | gast.While):
            _loop(node, known, facts)
        else:
            _note(node, known, facts)
            _assignment(node, known, facts)


def _note(node: Node, known: Known, facts: Facts) -> None:
    for part in header(node):
        for item in walk(part):
            if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Load) and item.id in known:
                facts.values.spec[item] = known[item.id]


def _merge(known: Known, sides: list[Known], bound: Iterable[str], where: str) -> None:
    """Where the sides differ, by what they have bound, the value gets an unknown of its own."""
    for name in bound:
        one, two = sides[0].get(name), sides[1].get(name)
        if one is None and two is None:
            continue
        if one is None or two is None:
            known[name] = one or two or NUMBER
        else:
            own = frozenset([f"{name} at {where}"])
            known[name] = one if one == two else _spec_of_alternatives(one, two, own, own)


def _spec_of_alternatives(one: Spec, two: Spec, shape: frozenset[str], dtype: frozenset[str]) -> Spec:
    """What holds of a value that is one thing or the other: where they differ, the given unknown."""
    if one.dtype == two.dtype:
        dtype = one.dtype
    if one.shape == two.shape and one.ndim == two.ndim:
        return replace(one, dtype=dtype, length=one.length if one.length == two.length else None)
    rank = one.ndim if one.ndim == two.ndim else None
    return canonical_spec(Spec(shape if rank != 0 else frozenset(), dtype, rank))


def _loop(node: Node, known: _Found, facts: Facts) -> None:
    where = f"loop {facts.origin.number[node]}"
    touched, values = known.touched(node), facts.values.value_spec
    entry = begun = known.of(touched)
    outside = {one: values[one] for one in touched if one in values}
    past: dict[str, tuple[Spec, ...]] = {}
    while True:
        _put_back(values, touched, outside)  # what was found while less was known of the head holds of nothing
        _note(node, known, facts)
        if isinstance(node, gast.For):
            items = [(bound, _item(node, bound, known)) for bound in stores(node)]
            for bound, item in items:
                known[bound] = item
                _note_value(bound, item, facts)
        _block(node.body, known, facts)
        head = _head(entry, forget(known.of(touched), node, where), past, where)
        _put_back(known, touched, head)
        if head == begun:
            return
        begun = head


def _head(entry: Known, inside: Known, past: dict[str, tuple[Spec, ...]], where: str) -> Known:
    """What is known where a trip begins; `past` is what earlier looks at the body have made of each name.

    Names that begin alike, and of which each look has made the same, are alike in each trip: `v = np.zeros_like(w)` and
    w have one unknown shape, where a trip adds the same to both. A look that tells them apart gives them two.
    """
    head: Known = {**entry, **inside, **entry}  # what no trip binds is as it was
    shapes: dict[object, frozenset[str]] = {}
    dtypes: dict[object, frozenset[str]] = {}
    past |= {n: (*(past[n] if n in past else (entry[n],)), inside[n]) for n in entry if n in inside}
    bound = {n for n in entry if n in inside for each in past[n] if each is not entry[n]}
    for name in entry:
        if name not in bound:
            continue
        seen = past[name]
        own = frozenset([f"{name} at {where}"])
        shape = shapes.setdefault(tuple((each.shape, each.ndim) for each in seen), own)
        dtype = dtypes.setdefault(tuple(each.dtype for each in seen), own)
        merged = entry[name]
        for each in seen[1:]:
            merged = _spec_of_alternatives(merged, each, shape, dtype)
        head[name] = merged
    return head


def _item(node: Node, bound: str, known: Known) -> Spec:
    if isinstance(node.iter, gast.Name):
        whole = known.get(node.iter.id)
        rank = None if whole is None or whole.ndim is None else whole.ndim - 1
        dtype = frozenset([bound]) if whole is None else whole.dtype
        return Spec(frozenset([f"{bound} of {node.iter.id}"]) if rank != 0 else frozenset(), dtype, rank)
    return NUMBER  # range


def _assignment(node: Node, known: Known, facts: Facts) -> None:
    if is_write(node) and isinstance(part_written(node).value, gast.Name):
        part = part_written(node)
        whole = known.get(part.value.id, Spec(frozenset([part.value.id]), frozenset(), None))
        opaque = Spec(frozenset([f"part {facts.origin.number[node]}"]), frozenset(), None)
        operation = Operation("op", operator.getitem, None, {"x": part.value, "index": part.slice})
        facts.values.part_spec[node] = element(operation, whole, opaque, facts)
    if not isinstance(node, gast.Assign):
        return
    bound = target(node)
    if bound is not None:
        found = spec_of(node.value, known, facts, f"{bound} {facts.origin.number[node]}")
        kind = facts.kinds.of_names.get(bound)
        if kind is not None and kind.tag in ("scalar", "array"):
            if kind.tag == "scalar" or found.ndim != kind.ndim:
                found = NUMBER if kind.tag == "scalar" else Spec(found.shape, found.dtype, kind.ndim)
        if found.shape == SHAPE and isinstance(node.value, gast.Attribute):
            lengths = extents(spec_of(node.value.value, known, facts, bound))
            facts.kinds.tuples[bound] = tuple(Spec(length=one) for one in lengths or ())
        facts.values.spec[node] = known[bound] = found = with_dtype(
            bound in facts.values.complex, canonical_spec(found)
        )
        _note_value(bound, found, facts)
    elif isinstance(node.value, gast.Name) and len(facts.kinds.tuples.get(node.value.id, ())) == len(stores(node)):
        for name, spec in zip(stores(node), facts.kinds.tuples[node.value.id], strict=True):
            known[name] = spec
            _note_value(name, spec, facts)
    elif gives_several(node, facts):
        first, *_ = facts.resolution.operation[node.value].bound.values()
        for name, spec in several_specs(node, spec_of(first, known, facts, "first"), facts):
            known[name] = spec
            _note_value(name, spec, facts)
    elif isinstance(node.value, gast.Name) and known.get(node.value.id, NUMBER).shape == SHAPE:
        for name in stores(node):
            known[name] = NUMBER
            _note_value(name, NUMBER, facts)
    elif not is_write(node):
        for name in stores(node):
            unknown = frozenset([f"{name} {facts.origin.number[node]}"])
            known[name] = Spec(unknown, unknown, None)
            _note_value(name, known[name], facts)


def _note_value(name: str, spec: Spec, facts: Facts) -> None:
    """What holds of all values of a name."""
    before = facts.values.value_spec.get(name, spec)
    if before != spec:
        own = frozenset([f"any {name}"])
        spec = _spec_of_alternatives(before, spec, own, own)
    facts.values.value_spec[name] = spec
