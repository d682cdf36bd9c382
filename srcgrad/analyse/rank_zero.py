"""Arrays without axes: NumPy gives them where one would look for a number, and `+=` changes them in place."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any  # called functions are arbitrary objects

import gast

from srcgrad.errors import DifferentiationError
from srcgrad.facts import Facts
from srcgrad.front.arrays import WRAPPING
from srcgrad.front.procedures import Procedures
from srcgrad.front.resolve import binding_of
from srcgrad.front.step import Step
from srcgrad.front.viewing import VIEWS
from srcgrad.front.webs import parameters
from srcgrad.runtime import owned
from srcgrad.trees import Node, statements, target, walk

Callees = tuple[Any, ...]  # functions, each called by the one before


def rank_zero(order: list[Node], facts: Facts, given: Iterable[str] = (), above: Callees = ()) -> dict[str, None]:
    """Names that hold, if it has no axes, perhaps an array all the same, which `+=` changes in place."""
    found: dict[str, None] = dict.fromkeys(given)
    found.update({n: None for n, kind in facts.kinds.items() if kind.tag == "array" and not kind.ndim})
    before = -1
    while before < len(found):
        before = len(found)
        for node in order:
            bound = target(node)
            if bound is not None and bound not in found and _keeps_rank_zero(node, found, facts, above):
                found[bound] = None
    return found


def _keeps_rank_zero(node: Node, known: dict[str, None], facts: Facts, above: Callees) -> bool:
    """Whether an assignment of what has no axes may bind an array all the same, if some names hold such."""
    value, operation = node.value, facts.operation.get(node.value)
    if isinstance(value, gast.Name):
        return value.id in known
    if node in facts.copies:
        return target(node) in known
    if node in facts.augmented:
        return getattr(getattr(value, "left", None), "id", "") in known
    if makes_rank_zero(value, facts):
        return True
    if operation is not None and operation.kind == "callee":
        return _returns_rank_zero(operation.function, facts, above)
    given = [n.id for n in walk(value) if isinstance(n, gast.Name)]
    if operation is not None and operation.function is operator.getitem:
        return any(getattr(n, "value", None) is ... for n in walk(operation.bound["index"]))
    return operation is not None and operation.function in VIEWS and any(one in known for one in given)


def _returns_rank_zero(function: Any, facts: Facts, above: Callees) -> bool:
    """Whether what a function returns may be such an array, if its arguments are; `above` are those that call it."""
    if isinstance(function, Step) or any(function is one for one in above):
        return False  # what a trip gives is looked at in the loop itself, and a function that calls itself outside
    try:
        source, _ = facts.module.source(function)
        tree, inner = facts.module.front(function, tuple(parameters(source.tree)), {})
    except DifferentiationError:
        return False  # refused later, if a derivative flows through it
    found = rank_zero(list(statements(tree.body)), inner, parameters(tree), (*above, function))
    return any(n.id in found for n in walk(tree.body[-1]) if isinstance(n, gast.Name))


def makes_rank_zero(value: Node, facts: Facts) -> bool:
    """Whether an expression is a call of NumPy's that gives an array even where it has no axes: `np.where(c, x, y)`."""
    operation = facts.operation.get(value)
    if operation is None and isinstance(value, gast.Call):
        found = binding_of(value.func, facts, facts.local)
        return found is not None and any(found.object is one for one in WRAPPING)
    return operation is not None and any(operation.function is one for one in (*WRAPPING, owned))


def given_away(order: list[Node], facts: Facts) -> Iterator[tuple[Node, str]]:
    """Calls of functions that take such an array for a number and change it by `s += e`, with its name."""
    found: dict[str, None] | None = None
    for node in order:
        operation = facts.operation.get(getattr(node, "value", None))
        if operation is None or operation.kind != "callee" or isinstance(operation.function, Step):
            continue
        changed = Procedures(facts, augments=True).arguments(node.value, facts, facts.local)
        if not changed:
            continue
        found = rank_zero(order, facts) if found is None else found
        for given in changed:
            held, spec = getattr(given, "id", ""), facts.spec.get(given)
            if held in found and spec is not None and spec.scalar:
                yield node, held
