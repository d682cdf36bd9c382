"""Names that hold tuples, lists or dicts: their adjoints are containers of adjoints."""

from __future__ import annotations

import operator
from typing import Any  # keys of containers are arbitrary

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.facts import UNKNOWN, Facts, Kind
from srcgrad.front.lists import kinds_of_lists
from srcgrad.front.resolve import binding_of
from srcgrad.trees import Node, statements, stores, target

_SEQUENCES = (
    "split", "array_split", "hsplit", "vsplit", "dsplit", "meshgrid", "broadcast_arrays", "unstack", "modf", "divmod",
)  # fmt: skip
_FACTORS = ("slogdet", "eigh", "eig", "svd", "qr")
_HELPERS = (runtime.split_like, runtime.mesh, runtime.mesh_transpose, runtime.einsum_adjoints)
_COPIES = (list, tuple, runtime.zeros_like, runtime.add)


def _makers() -> tuple[Any, ...]:
    found = [getattr(np, name, None) for name in _SEQUENCES]
    found += [getattr(np.linalg, name, None) for name in _FACTORS]
    return (*(op for op in found if op is not None), *_HELPERS)


MAKERS = _makers()


def containers(function: Node, facts: Facts) -> Node:
    """Find the names that hold a container: arguments of that kind, their parts, results of np.split and the like."""
    for name, kind in list(facts.kinds.items()):
        _note(name, kind, facts)
    for node in statements(function.body):
        if isinstance(node, gast.Assign):
            _assignment(node, facts)
            if isinstance(node.value, gast.BinOp) and not facts.generated:
                _check_operands(node.value, facts)
    return function


def _check_operands(value: Node, facts: Facts) -> None:
    """Refuse arithmetic on lists: `+` joins them, and `*` repeats them."""
    for operand in (value.left, value.right):
        if value in facts.operation and isinstance(operand, gast.Name) and operand.id in facts.containers:
            raise facts.refuse(
                value,
                "E5005",
                f"arithmetic on the {facts.containers[operand.id]} `{facts.base.get(operand.id, operand.id)}`",
                "make an array of it: `np.array(...)`, or append to it",
            )


def _note(name: str, kind: Kind, facts: Facts) -> None:
    if kind.tag in ("tuple", "list", "dict"):
        facts.containers[name] = kind.tag
    if kind != UNKNOWN:
        facts.kinds[name] = kind


def _assignment(node: Node, facts: Facts) -> None:
    bound = target(node)
    operation = facts.operation.get(node.value)
    if bound is not None and facts.list_kind(bound):
        _note(bound, Kind(facts.list_kind(bound)), facts)
        if isinstance(node.value, gast.Dict):
            facts.displays.setdefault(bound, []).append(node)
    elif bound is not None and operation is not None and operation.function in MAKERS:
        facts.containers[bound] = "tuple"
    elif bound is not None and operation is not None and operation.function is runtime.fields_of:
        facts.containers[bound] = "dict"
    elif bound is not None and operation is not None and operation.function is runtime.summands:
        summed = operation.bound["xs"]
        if isinstance(summed, gast.List | gast.Tuple) or getattr(summed, "id", "") in facts.containers:
            facts.containers[bound] = "list"
    elif bound is not None and operation is not None and operation.kind == "callee":
        callee = facts.module.callee(operation.function, node.value, facts)
        returned = getattr(callee.tree.body[-1], "value", None)
        if isinstance(returned, gast.Tuple | gast.List | gast.Dict):
            _note(bound, _of_display(returned, {}), facts)
        elif isinstance(returned, gast.Name):
            _note(bound, Kind(kinds_of_lists(callee.tree).get(returned.id, "unknown")), facts)
    elif bound is not None and (source := _copied(node.value, facts)) is not None:
        _note(bound, facts.kinds.get(source, UNKNOWN), facts)
        facts.containers[bound] = facts.containers[source]
    elif bound is not None and operation is not None and operation.function is operator.getitem:
        source, index = operation.bound["x"], operation.bound["index"]
        if isinstance(source, gast.Name) and source.id in facts.kinds:
            _note(bound, part_of(facts.kinds[source.id], index), facts)
    elif bound is not None and isinstance(node.value, gast.Tuple | gast.List | gast.Dict):
        if node.value in facts.pushes or not getattr(node.value, "elts", getattr(node.value, "values", None)):
            return  # an empty stack
        _note(bound, _of_display(node.value, facts.kinds), facts)
    elif bound is not None and isinstance(node.value, gast.Name) and node.value.id in facts.containers:
        _note(bound, facts.kinds.get(node.value.id, UNKNOWN), facts)
        facts.containers[bound] = facts.containers[node.value.id]
    elif bound is None and isinstance(node.value, gast.Name) and node.value.id in facts.kinds:
        items = dict(facts.kinds[node.value.id].items)
        for position, name in enumerate(stores(node)):
            _note(name, items.get(position, UNKNOWN), facts)


def _of_display(value: Node, kinds: dict[str, Kind]) -> Kind:
    """The kind of a display of names and literals."""
    if isinstance(value, gast.Name):
        return kinds.get(value.id, UNKNOWN)
    if isinstance(value, gast.Tuple | gast.List):
        tag = "tuple" if isinstance(value, gast.Tuple) else "list"
        return Kind(tag, None, tuple((k, _of_display(item, kinds)) for k, item in enumerate(value.elts)))
    if isinstance(value, gast.Dict):
        keys = [getattr(key, "value", None) for key in value.keys]
        return Kind("dict", None, tuple(zip(keys, (_of_display(v, kinds) for v in value.values), strict=True)))
    return UNKNOWN


def _copied(value: Node, facts: Facts) -> str | None:
    """The container of which a call makes another of the same parts: `list(zeros_like(t))`; None for other values."""
    called = isinstance(value, gast.Call)
    while isinstance(value, gast.Call) and value.args:
        found = binding_of(value.func, facts, facts.local)
        if found is None or not any(found.object is one for one in _COPIES):
            return None
        value = value.args[0]
    return value.id if called and isinstance(value, gast.Name) and value.id in facts.containers else None


def part_of(kind: Kind, index: Node) -> Kind:
    """The kind of `x[index]`, for a literal key of a container."""
    try:
        key = gast.literal_eval(index)
    except (ValueError, TypeError):
        return UNKNOWN
    items = dict(kind.items)
    if isinstance(key, int) and key < 0:
        key += len(items)
    return items.get(key, UNKNOWN) if isinstance(key, int | str) else UNKNOWN
