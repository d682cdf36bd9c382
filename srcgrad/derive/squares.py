"""Squares: `x * x` and `x @ x` are operations of one operand, `a * x * x` is a times a square, `x * x * x` a cube."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.facts import Facts, Operation, Spec, copied
from srcgrad.rules import rule_of
from srcgrad.runtime.contract import self_dot, self_product
from srcgrad.trees import Node, constant, expression, same

_ITSELF = {np.multiply: np.square, np.matmul: self_product, np.dot: self_dot, np.inner: self_dot, np.vdot: self_dot}


def squared(operation: Operation, facts: Facts) -> Operation:
    """A product of a value with itself as an operation of one operand: two equal terms are one.

    Of `np.inner` and `np.vdot` that holds for vectors; of complex values for `x * x` alone.
    """
    own = None if operation.function is None else _ITSELF.get(operation.function)
    if own is None or len(operation.bound) != 2:
        return operation
    one, two = operation.bound.values()
    if not isinstance(one, gast.Name) or not same(one, two):
        return operation
    if own is not np.square and one.id in facts.complex:
        return operation
    if operation.function in (np.inner, np.vdot) and facts.value_spec.get(one.id, Spec(ndim=None)).ndim != 1:
        return operation
    return Operation("op", own, rule_of(own), {"x": one})


def scaled_square(operation: Operation, node: Node, read: Node, facts: Facts) -> list[tuple[Node, Node]]:
    """What `t * x` contributes to a and x, where the same line says `t = a * x`; nothing for any other operation.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    return 0.5 * x * x", after="factors").splitlines()[-2])
    x_bar = y_bar * x
    """
    factors = _factors(operation)
    whole, x = factors or (None, None)
    if not isinstance(whole, gast.Name) or not isinstance(x, gast.Name) or whole.id not in facts.temporaries:
        return []
    definition = facts.definition.get(whole.id)
    user = facts.origin.get(node)
    inner = _factors(facts.operation.get(getattr(definition, "value", None)))
    if inner is None or user is None or facts.origin.get(definition) is not user or whole.id in facts.complex:
        return []
    others = [one for one in inner if getattr(one, "id", None) != x.id]
    if not others:
        return [(copied(x, facts), _product(read, constant(3.0), copied(whole, facts)))]
    if len(others) > 1:
        return []
    scale = others[0]
    if isinstance(scale, gast.Constant):
        twice = constant(2.0 * scale.value)
        own = copied(x, facts)
        value = gast.BinOp(read, gast.Mult(), own) if twice.value == 1.0 else _product(read, twice, own)
        return [(copied(x, facts), value)]
    return [
        (copied(scale, facts), _product(copied(read, facts), copied(x, facts), copied(x, facts))),
        (copied(x, facts), _product(read, constant(2.0), copied(whole, facts))),
    ]


def _factors(operation: Operation | None) -> tuple[Node, Node] | None:
    """The two factors of a product of names and numbers."""
    if operation is None or operation.function is not np.multiply or len(operation.bound) != 2:
        return None
    one, two = operation.bound.values()
    fits = all(isinstance(n, gast.Name) or (isinstance(n, gast.Constant) and _is_real(n.value)) for n in (one, two))
    return (one, two) if fits else None


def _is_real(value: object) -> bool:
    return type(value) in (int, float)


def _product(one: Node, two: Node, three: Node) -> Node:
    return expression("one * two * three", one=one, two=two, three=three)
