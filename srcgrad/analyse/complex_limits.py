"""What has no meaning for complex numbers, or no rule, and is refused."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.analyse.complexes import dtype_asked, function_called, may_be_complex, refused_inside
from srcgrad.analyse.sources import LIKE
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.rules import rule_of
from srcgrad.trees import Node, statements, stores, walk

_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)
_STEPS = (np.sign, np.argmax, np.argmin, np.argsort)


def complex_limits(function: Node, facts: Facts) -> Node:
    """Complex numbers have no order, a rule must say that it holds for them, and kernels have none."""
    if not facts.complex:
        return function
    order = list(statements(function.body))
    if any(facts.base.get(held, held) in facts.assumed_real for held in facts.complex):
        raise refused_inside(order[0], facts)
    for node in order:
        if facts.module.target != "numpy":
            raise facts.refuse(
                node, "E5017", f"complex values in a function for {facts.module.target}", 'use target="numpy"'
            )
        for item in walk(node.test if isinstance(node, gast.If | gast.While) else node):
            if isinstance(item, gast.Compare) and any(isinstance(op, _ORDERS) for op in item.ops):
                if any(may_be_complex(side, facts) for side in [item.left, *item.comparators]):
                    raise facts.refuse(item, "E5017", "complex numbers have no order", "compare `abs(z)`, or `z.real`")
            elif isinstance(item, gast.Call) and not isinstance(node, gast.If | gast.While | gast.For):
                _check_step(item, facts)
        _check_rule(node, facts)
    return function


def _check_step(call: Node, facts: Facts) -> None:
    """`np.sign` of a complex number is no step: z / |z|; `np.argmax` takes an order that is none."""
    function, method = function_called(call, facts)
    if not any(function is step for step in _STEPS):
        return
    operands = [call.func.value] if method else call.args[:1]
    if any(_carries(item, facts) and may_be_complex(operand, facts) for operand in operands for item in walk(operand)):
        name = getattr(function, "__name__", "")
        raise facts.refuse(call, "E5017", f"np.{name} of a complex value", "apply it to `abs(z)`, or write z / abs(z)")


def _carries(item: Node, facts: Facts) -> bool:
    return isinstance(item, gast.Name) and item.id in facts.complex and item.id in facts.varied


def _check_rule(node: Node, facts: Facts) -> None:
    value = getattr(node, "value", None)
    operation = facts.operation.get(value)
    if operation is None or operation.rule is None or operation.rule.kind == "constant" or operation.rule.complex:
        return
    if not isinstance(node, gast.Assign) or not any(s in facts.active for s in stores(node)):
        return
    given = operation.bound.values() if operation.rule.values == "complex" else [value, *operation.bound.values()]
    if any(may_be_complex(one, facts) for one in given):
        raise facts.refuse(
            value,
            "E5017",
            f"the rule of {operation.rule.name} does not hold for complex numbers",
            "apply it to the real and the imaginary part, `z.real` and `z.imag`",
        )


def is_complex_array(value: Node, facts: Facts) -> bool:
    """Whether a new array is known to be complex: made with a complex dtype, or of what is known to be so."""
    if isinstance(value, gast.BinOp):
        return is_complex_array(value.left, facts) or is_complex_array(value.right, facts)
    if isinstance(value, gast.Constant):
        return isinstance(value.value, complex)
    if isinstance(value, gast.Name):
        return facts.kinds.get(value.id, UNKNOWN).complex
    if not isinstance(value, gast.Call):
        return False
    function, method = function_called(value, facts)
    dtype = dtype_asked(function, value, facts)
    if dtype is not None:
        return dtype
    rule = rule_of(function)
    if rule is not None and rule.values:
        return rule.values == "complex"
    copied = function in LIKE or function in (np.copy, np.array, np.conjugate) or (rule and rule.kind == "elementwise")
    operands = [value.func.value, *value.args] if method else value.args
    return bool(copied) and any(is_complex_array(operand, facts) for operand in operands)
