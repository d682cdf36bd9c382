"""Arrays of lower precision: casts of arguments where the function begins, and back where elements are added up."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.core.bindings import Binding
from srcgrad.core.facts import UNKNOWN, Facts, Operation
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import Block, Node, assign, at, copy, expression, name, parameters, statements, stores, walk
from srcgrad.core.visitor import rewrite_statements
from srcgrad.runtime.structure import cast

ADDING = (np.sum, np.mean, np.prod, np.var, np.std, np.cumsum, np.cumprod, np.linalg.norm)


def autocast(function: Node, facts: Facts) -> Node:
    """With a dtype to compute in, cast each floating array that enters, and widen what reductions take.

    Arguments that hold integers, numbers and containers stay as they are, and so do arrays that the function makes.
    """
    dtype = facts.module.autocast
    if not dtype:
        return function
    if dtype == "float16":
        function.body = rewrite_statements(function.body, lambda node: _widen_sums(node, facts))
    if not facts.request.called:
        function.body[:0] = _cast_arguments(function, dtype, facts)
    facts.forget_shapes()
    return function


def _cast_arguments(function: Node, dtype: str, facts: Facts) -> Block:
    """`x_1 = x.astype(np.float16)`, read in the place of x from here on."""
    made: Block = []
    own = parameters(function)
    read = {n.id for node in function.body for n in walk(node) if isinstance(n, gast.Name)}
    bound = {*own, *(s for node in statements(function.body) for s in stores(node))} | set(facts.names.local)
    outer = [one for one in sorted(read - bound) if _is_array(facts.namespace.lookup(one))]
    for held in [*[p for p in own if p in read and _enters(p, facts)], *outer]:
        low = facts.names.numbered_name(held) if held in own else facts.names.fresh(f"{held}_{dtype}")
        for node in function.body:
            for item in walk(node):
                if isinstance(item, gast.Name) and item.id == held:
                    item.id = low
        if held in own:
            facts.names.base[low] = held
        for table in (facts.activity.varied, facts.activity.active):
            if held in table:
                table[low] = None
        made.append(_cast(low, name(held), dtype, function, facts))
    return made


def _enters(parameter: str, facts: Facts) -> bool:
    """Whether an argument is an array of floats: it is differentiated, or its kind says so."""
    kind = facts.kinds.of_names.get(parameter, UNKNOWN)
    if kind.tag == "unknown":
        return parameter in facts.request.wrt
    return kind.tag == "array" and kind.ndim != 0 and kind.dtype != "integer"


def _is_array(found: Binding | None) -> bool:
    value: object = None if found is None or found.kind != "object" else found.object
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim > 0


def _widen_sums(node: Node, facts: Facts) -> Block:
    """`np.sum(h)` of an array as `np.sum(h.astype(np.float32))`."""
    operation = facts.operation_of(node)
    if operation is not None and any(operation.function is one for one in ADDING):
        parameter, operand = next(iter(operation.bound.items()))
        spec = facts.values.spec.get(operand)
        if isinstance(operand, gast.Name) and operand.id in facts.activity.varied and spec is not None and spec.ndim:
            return [_widen(node, parameter, operand, operation, facts), node]
    return [node]


def _widen(node: Node, parameter: str, operand: Node, operation: Operation, facts: Facts) -> Node:
    held = facts.names.fresh(f"t{len(facts.names.temporaries) + 1}")
    facts.names.temporaries[held] = "t"
    for table in (facts.activity.varied, facts.activity.active):
        if operand.id in table:
            table[held] = None
    made = _cast(held, copy(operand), "float32", node, facts)
    facts.origin.user[made] = facts.origin.user.get(node, node)
    operand.id = held
    operation.bound[parameter] = operand
    return made


def _cast(bound: str, operand: Node, dtype: str, like: Node, facts: Facts) -> Node:
    value = expression(f"x.astype({facts.library('np')}.{dtype})", x=operand)
    facts.resolution.operation[value] = Operation("op", cast, rule_of(cast), {"x": operand, "dtype": value.args[0]})
    return at(assign(bound, value), like)
