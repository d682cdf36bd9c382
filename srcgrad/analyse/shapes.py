"""Shapes and dtypes as sets of unknowns: enough to prove that two values have equal ones."""

from __future__ import annotations

import operator
from dataclasses import replace

import gast

from srcgrad.analyse.adjoint_shapes import COMPLEX, with_dtype
from srcgrad.analyse.extents import canonical, constants, counters, extents, forget, with_extents
from srcgrad.analyse.shape_forms import several_specs
from srcgrad.analyse.value_shapes import NUMBER, SHAPE, Known, element, spec_of
from srcgrad.facts import UNKNOWN, Facts, Operation, Spec
from srcgrad.front.results import gives_several
from srcgrad.front.webs import parameters
from srcgrad.trees import Block, Node, header, is_write, part_written, statements, stores, target, walk


def shapes(function: Node, facts: Facts) -> Node:
    """Find the spec of every value, by forward interpretation; loops until nothing changes."""
    known: Known = {}
    facts.counters = counters(function)
    facts.constants = facts.counters | constants(function)
    facts.number = {node: k for k, node in enumerate(statements(function.body))}
    bound = {s for n in statements(function.body) if not is_write(n) for s in stores(n)}
    given = {one: kind for one, kind in facts.arguments.items() if one in bound and kind.tag in ("scalar", "array")}
    facts.kinds.update(given)  # not what a part of a list is, to which the name is bound later
    for parameter in parameters(function):
        known[parameter] = _parameter(parameter, facts)
        _note_value(parameter, known[parameter], facts)
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
    dtype = frozenset([kind.dtype or parameter])
    own = Spec(frozenset([parameter]), dtype, kind.ndim) if kind.shape is None else with_extents(kind.shape, dtype)
    return with_dtype(parameter in facts.complex, canonical(own))


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


def _merge(known: Known, sides: list[Known], where: str) -> None:
    """Where the sides differ the value gets an unknown of its own."""
    for name in {**sides[0], **sides[1]}:
        one, two = sides[0].get(name), sides[1].get(name)
        if one is None or two is None:
            known[name] = one or two or NUMBER
        else:
            own = frozenset([f"{name} at {where}"])
            known[name] = one if one == two else _either(one, two, own, own)


def _either(one: Spec, two: Spec, shape: frozenset[str], dtype: frozenset[str]) -> Spec:
    """What holds of a value that is one thing or the other: where they differ, the given unknown."""
    if one.dtype == two.dtype:
        dtype = one.dtype
    if one.shape == two.shape and one.ndim == two.ndim:
        return replace(one, dtype=dtype, length=one.length if one.length == two.length else None)
    rank = one.ndim if one.ndim == two.ndim else None
    return canonical(Spec(shape if rank != 0 else frozenset(), dtype, rank))


def _loop(node: Node, known: Known, facts: Facts) -> None:
    where = f"loop {facts.number[node]}"
    entry, outside = dict(known), dict(facts.value_spec)
    past: dict[str, tuple[Spec, ...]] = {}
    while True:
        facts.value_spec = dict(outside)  # what was found while less was known of the head holds of nothing
        _note(node, known, facts)
        inside = dict(known)
        if isinstance(node, gast.For):
            for bound in stores(node):
                inside[bound] = _item(node, bound, known)
                _note_value(bound, inside[bound], facts)
        _block(node.body, inside, facts)
        head = _head(entry, forget(inside, node, where), past, where)
        if head == known:
            return
        known.clear()
        known.update(head)


def _head(entry: Known, inside: Known, past: dict[str, tuple[Spec, ...]], where: str) -> Known:
    """What is known where a trip begins; `past` is what earlier looks at the body have made of each name.

    Names that begin alike, and of which each look has made the same, are alike in each trip: `v = np.zeros_like(w)` and
    w have one unknown shape, where a trip adds the same to both. A look that tells them apart gives them two.
    """
    head: Known = {}
    shapes: dict[object, frozenset[str]] = {}
    dtypes: dict[object, frozenset[str]] = {}
    for name in {**entry, **inside}:
        one, two = entry.get(name), inside.get(name)
        if one is None or two is None:
            head[name] = one or two or NUMBER
            continue
        past[name] = seen = (*past.get(name, (one,)), two)
        if not [each for each in seen if each is not one]:
            head[name] = one  # no trip binds it
            continue
        own = frozenset([f"{name} at {where}"])
        shape = shapes.setdefault(tuple((each.shape, each.ndim) for each in seen), own)
        dtype = dtypes.setdefault(tuple(each.dtype for each in seen), own)
        merged = one
        for each in seen[1:]:
            merged = _either(merged, each, shape, dtype)
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
        opaque = Spec(frozenset([f"part {facts.number[node]}"]), frozenset(), None)
        operation = Operation("op", operator.getitem, None, {"x": part.value, "index": part.slice})
        facts.part_spec[node] = element(operation, whole, opaque, facts)
    if not isinstance(node, gast.Assign):
        return
    bound = target(node)
    if bound is not None:
        found = spec_of(node.value, known, facts, f"{bound} {facts.number[node]}")
        kind = facts.kinds.get(bound)
        if kind is not None and kind.tag in ("scalar", "array"):
            if kind.tag == "scalar" or found.ndim != kind.ndim:
                found = NUMBER if kind.tag == "scalar" else Spec(found.shape, found.dtype, kind.ndim)
        if found.shape == SHAPE and isinstance(node.value, gast.Attribute):
            lengths = extents(spec_of(node.value.value, known, facts, bound))
            facts.tuples[bound] = tuple(Spec(length=one) for one in lengths or ())
        facts.spec[node] = known[bound] = found = with_dtype(bound in facts.complex, canonical(found))
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
    elif isinstance(node.value, gast.Name) and known.get(node.value.id, NUMBER).shape == SHAPE:
        for name in stores(node):
            known[name] = NUMBER
            _note_value(name, NUMBER, facts)
    elif not is_write(node):
        for name in stores(node):
            unknown = frozenset([f"{name} {facts.number[node]}"])
            known[name] = Spec(unknown, unknown, None)
            _note_value(name, known[name], facts)


def _note_value(name: str, spec: Spec, facts: Facts) -> None:
    """What holds of all values of a name."""
    before = facts.value_spec.get(name, spec)
    if before != spec:
        own = frozenset([f"any {name}"])
        spec = _either(before, spec, own, own)
    facts.value_spec[name] = spec
