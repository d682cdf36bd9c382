"""Shapes and dtypes as sets of unknowns: enough to prove that two values have equal ones."""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad.analyse.adjoint_shapes import COMPLEX, with_dtype
from srcgrad.analyse.adjoint_shapes import joined as join
from srcgrad.analyse.callees import bind, kinds_of
from srcgrad.analyse.extents import counters, forget, part_of
from srcgrad.analyse.shape_forms import FORMS, several_specs
from srcgrad.facts import UNKNOWN, Facts, Operation, Spec
from srcgrad.front.resolve import binding_of
from srcgrad.front.results import gives_several
from srcgrad.front.webs import parameters
from srcgrad.indices import index_rank, slice_signature
from srcgrad.rules import rule_of
from srcgrad.trees import Block, Node, header, is_write, part_written, statements, stores, target, walk

Known = dict[str, Spec]
NUMBER = Spec()


def shapes(function: Node, facts: Facts) -> Node:
    """Find the spec of every value, by forward interpretation; loops until nothing changes."""
    known: Known = {}
    facts.counters = counters(function)
    facts.number = {node: k for k, node in enumerate(statements(function.body))}
    for parameter in parameters(function):
        known[parameter] = _parameter(parameter, facts)
        _note_value(parameter, known[parameter], facts)
    bound = {s for n in statements(function.body) if not is_write(n) for s in stores(n)}
    entry = {p: kind for p, kind in facts.kinds.items() if p in bound & set(known) and kind.tag in ("scalar", "array")}
    if entry:  # what the argument is does not hold of what the name is bound to later
        facts.kinds = {**facts.kinds, **dict.fromkeys(entry, UNKNOWN)}
    _block(function.body, known, facts)
    for parameter, kind in entry.items():
        rank = facts.value_spec[parameter].ndim
        if rank == (0 if kind.tag == "scalar" else kind.ndim):
            facts.kinds[parameter] = kind
    return function


def _parameter(parameter: str, facts: Facts) -> Spec:
    kind = facts.kinds.get(parameter, UNKNOWN)
    if kind.tag == "scalar":
        return Spec(dtype=COMPLEX if kind.complex else frozenset())
    own = Spec(frozenset([parameter]), frozenset([kind.dtype or parameter]), kind.ndim)
    return with_dtype(parameter in facts.complex, own)


def _block(block: Block, known: Known, facts: Facts) -> None:
    for node in block:
        if isinstance(node, gast.If):
            _note(node, known, facts)
            sides = [dict(known), dict(known)]
            _block(node.body, sides[0], facts)
            _block(node.orelse, sides[1], facts)
            _merge(known, sides, f"if {facts.number[node]}")
        elif isinstance(node, gast.For | gast.While):
            _loop(node, known, facts)
        else:
            _note(node, known, facts)
            _assignment(node, known, facts)


def _note(node: Node, known: Known, facts: Facts) -> None:
    for part in header(node):
        for item in walk(part):
            if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Load) and item.id in known:
                facts.spec[item] = known[item.id]


def _merge(known: Known, sides: list[Known], where: str) -> bool:
    """Where the sides differ the value gets an unknown of its own; tells whether anything changed."""
    changed = False
    for name in {**sides[0], **sides[1]}:
        one, two = sides[0].get(name), sides[1].get(name)
        if one is None or two is None:
            merged = one or two
        elif one == two:
            merged = one
        else:
            unknown = frozenset([f"{name} at {where}"])
            merged = Spec(
                one.shape if one.shape == two.shape else unknown,
                one.dtype if one.dtype == two.dtype else unknown,
                one.ndim if one.ndim == two.ndim else None,
            )
        if known.get(name) != merged and merged is not None:
            known[name] = merged
            changed = True
    return changed


def _loop(node: Node, known: Known, facts: Facts) -> None:
    where = f"loop {facts.number[node]}"
    while True:
        _note(node, known, facts)
        inside = dict(known)
        if isinstance(node, gast.For):
            for bound in stores(node):
                inside[bound] = _item(node, bound, known)
                _note_value(bound, inside[bound], facts)
        _block(node.body, inside, facts)
        if not _merge(known, [dict(known), forget(inside, node, where)], where):
            return


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
        opaque = Spec(frozenset([f"part {facts.number[node]}"]), frozenset(), None)
        operation = Operation("op", operator.getitem, None, {"x": part.value, "index": part.slice})
        facts.part_spec[node] = _element(operation, whole, opaque, facts)
    if not isinstance(node, gast.Assign):
        return
    bound = target(node)
    if bound is not None:
        found = spec_of(node.value, known, facts, f"{bound} {facts.number[node]}")
        kind = facts.kinds.get(bound)
        if kind is not None and kind.tag in ("scalar", "array"):
            found = NUMBER if kind.tag == "scalar" else Spec(found.shape, found.dtype, kind.ndim)
        facts.spec[node] = known[bound] = found = with_dtype(bound in facts.complex, found)
        _note_value(bound, found, facts)
    elif isinstance(node.value, gast.Name) and len(facts.tuples.get(node.value.id, ())) == len(stores(node)):
        for name, spec in zip(stores(node), facts.tuples[node.value.id], strict=True):
            known[name] = spec
            _note_value(name, spec, facts)
    elif gives_several(node, facts):
        first, *_ = facts.operation[node.value].bound.values()
        for name, spec in several_specs(node, spec_of(first, known, facts, "first"), facts):
            known[name] = spec
            _note_value(name, spec, facts)
    elif not is_write(node):
        for name in stores(node):
            unknown = frozenset([f"{name} {facts.number[node]}"])
            known[name] = Spec(unknown, unknown, None)
            _note_value(name, known[name], facts)


def _note_value(name: str, spec: Spec, facts: Facts) -> None:
    """What holds of all values of a name."""
    before = facts.value_spec.get(name, spec)
    if before != spec:
        rank = spec.ndim if spec.ndim == before.ndim else None
        unknown = frozenset([f"any {name}"])
        spec = Spec(unknown if rank != 0 else frozenset(), unknown, rank)
    facts.value_spec[name] = spec


def spec_of(value: Node, known: Known, facts: Facts, fresh: str) -> Spec:
    """The spec of an expression in normal form; what cannot be told gets the unknown `fresh`."""
    if isinstance(value, gast.Constant):
        return Spec(dtype=COMPLEX if isinstance(value.value, complex) else frozenset())
    if isinstance(value, gast.Name):
        return known.get(value.id, Spec(frozenset([value.id]), frozenset([value.id]), None))
    operation = facts.operation.get(value)
    if operation is not None and operation.rule is not None and operation.rule.kind != "constant":
        return _of_operation(operation, known, facts, fresh)
    if operation is not None and operation.kind == "callee":
        return _of_callee(value, operation, known, facts, fresh)
    return _of_passive(value, known, facts, fresh)


def _of_callee(value: Node, operation: Operation, known: Known, facts: Facts, fresh: str) -> Spec:
    """The spec of a callee's result, where the numbers among its arguments tell; tuples are kept by name."""
    unknown = frozenset([fresh])
    callee = facts.module.callee(operation.function, value, facts)
    kinds = kinds_of(bind(value, callee.tree, facts), facts)
    found = facts.module.output_spec(operation.function, kinds) if kinds else None
    if isinstance(found, tuple):
        own = tuple(_owned(s, f"{fresh}[{k}]") for k, s in enumerate(found))
        facts.tuples[fresh.split(" ")[0]] = own
        return Spec(unknown, unknown, None)
    return Spec(unknown, unknown, None) if found is None else _owned(found, fresh)


def _owned(spec: Spec, fresh: str) -> Spec:
    """A callee's spec in the caller: numbers stay numbers, everything else is unknown here."""
    own = frozenset([fresh])
    return Spec(own if spec.shape else spec.shape, own if spec.dtype else spec.dtype, spec.ndim)


def _of_operation(operation: Operation, known: Known, facts: Facts, fresh: str) -> Spec:
    rule = operation.rule
    assert rule is not None, "an op has a rule"
    arguments = {p: spec_of(a, known, facts, f"{fresh}.{p}") for p, a in operation.bound.items()}
    if rule.kind == "elementwise":
        return join(*arguments.values())
    opaque = Spec(frozenset([fresh]), frozenset().union(*(s.dtype for s in arguments.values())), None)
    if operation.function is operator.getitem:
        return _element(operation, arguments["x"], opaque, facts)
    if operation.function in (np.concatenate, np.stack):
        return _join(operation, known, facts, opaque)
    known_form = FORMS.get(operation.function)
    return opaque if known_form is None else known_form(operation, arguments, opaque)


def _join(operation: Operation, known: Known, facts: Facts, opaque: Spec) -> Spec:
    """All parts have one rank, so it is enough to know that of one."""
    parts, axis = operation.bound["arrays"], operation.bound.get("axis")
    listed = parts.elts if isinstance(parts, gast.Tuple | gast.List) else []
    ranks = [spec_of(part, known, facts, "part").ndim for part in listed if not isinstance(part, gast.Starred)]
    rank = next((r for r in ranks if r), None)
    if axis is not None and not isinstance(axis, gast.Constant | gast.UnaryOp):
        rank = None
    elif isinstance(axis, gast.Constant) and axis.value is None:
        rank = 1
    elif rank is not None and operation.function is np.stack:
        rank += 1
    return Spec(opaque.shape, opaque.dtype, rank)


def _element(operation: Operation, whole: Spec, opaque: Spec, facts: Facts) -> Spec:
    """A slice with literal bounds has the shape of every other slice that leaves out as many rows."""
    index, source = operation.bound["index"], operation.bound["x"]
    integers = frozenset(facts.integers)
    rank = index_rank(index, whole.ndim, integers)
    cut = slice_signature(index, integers if whole.ndim is not None else frozenset())
    if isinstance(source, gast.Name) and (source.id in facts.containers or facts.list_kind(source.id)):
        cut = None  # its items may have any shape
    elif rank:
        found = part_of(whole, index, integers, facts.counters)
        if found is not None:
            return found
    shape = opaque.shape if cut is None else frozenset([f"({' & '.join(sorted(whole.shape))})[{cut}]"])
    return Spec(shape if rank != 0 else frozenset(), whole.dtype, rank)


def _of_passive(value: Node, known: Known, facts: Facts, fresh: str) -> Spec:
    """Expressions that carry no derivative: numbers, attributes, arithmetic of known things, comparisons."""
    unknown = Spec(frozenset([fresh]), frozenset([fresh]), None)
    if isinstance(value, gast.UnaryOp):
        return spec_of(value.operand, known, facts, fresh)
    if isinstance(value, gast.BinOp):
        if isinstance(value.op, gast.MatMult):
            return unknown
        return join(*(spec_of(side, known, facts, fresh) for side in (value.left, value.right)))
    if isinstance(value, gast.Compare):
        sides = [value.left, *value.comparators]
        joined = join(*(spec_of(side, known, facts, fresh) for side in sides))
        return Spec(joined.shape, frozenset(), joined.ndim)
    if isinstance(value, gast.Attribute) and value.attr in ("size", "ndim"):
        return NUMBER
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Attribute) and value.value.attr == "shape":
        return NUMBER
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        whole = known.get(value.value.id)
        if whole is not None and whole.ndim is not None:
            element = Operation("op", operator.getitem, None, {"x": value.value, "index": value.slice})
            return _element(element, whole, unknown, facts)
    if isinstance(value, gast.Call) and facts.operation.get(value) is None:
        return _of_passive_call(value, known, facts, fresh) or unknown
    return unknown


def _rank_of_shape(shape: Node, known: Known, facts: Facts, fresh: str) -> int | None:
    """The rank of an array made with a shape: the length of a tuple, 1 for a number."""
    if isinstance(shape, gast.Tuple):
        return len(shape.elts)
    if isinstance(shape, gast.Constant) or (isinstance(shape, gast.Name) and shape.id in facts.integers):
        return 1
    if isinstance(shape, gast.Name | gast.BinOp | gast.Call | gast.Subscript | gast.Attribute):
        return 1 if spec_of(shape, known, facts, fresh).scalar else None
    return None


def _of_passive_call(value: Node, known: Known, facts: Facts, fresh: str) -> Spec | None:
    found = binding_of(value.func, facts, facts.local)
    function = None if found is None else found.object
    rule = rule_of(function)
    if rule is not None and rule.kind == "elementwise" and not value.keywords:
        return join(*(spec_of(argument, known, facts, fresh) for argument in value.args))
    if function in (np.zeros_like, np.ones_like, np.empty_like) and value.args and not value.keywords:
        return spec_of(value.args[0], known, facts, fresh)
    if function in (np.zeros, np.ones, np.empty) and value.args:
        return Spec(frozenset([fresh]), frozenset([fresh]), _rank_of_shape(value.args[0], known, facts, fresh))
    rank = next((rank for known_one, rank in _RANKS if function is known_one), None)
    if rank is not None:
        return Spec(frozenset([fresh]), frozenset([fresh]), rank)
    return NUMBER if function in (len, float, int) else None


_RANKS = ((np.eye, 2), (np.identity, 2), (np.arange, 1))
