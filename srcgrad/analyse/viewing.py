"""Which operations give a part of what they get, and which calls give a value that nothing else holds."""

from __future__ import annotations

from types import FunctionType

import gast
import numpy as np

from srcgrad.facts import Facts, Operation
from srcgrad.front.resolve import METHODS, binding_of
from srcgrad.front.static import StaticFunction
from srcgrad.front.viewing import VIEWS
from srcgrad.rules import is_users, rule_of
from srcgrad.trees import Node


def is_view(operation: Operation, facts: Facts) -> bool:
    """Whether the result of an operation may show elements of an operand: so may what a user's function gives."""
    if operation.rule is not None and is_users(operation.rule):
        own = operation.rule.own
        called = operation.function if own is None or own.applied is None else own.applied.forward
        return not (isinstance(called, FunctionType | StaticFunction) and facts.module.returns_new(called))
    return operation.function in VIEWS


def is_passive_result(value: Node, facts: Facts) -> bool:
    """Whether an expression that carries no derivative calls a function of NumPy that makes a new value."""
    if not isinstance(value, gast.Call):
        return False
    found = binding_of(value.func, facts, facts.local)
    method = METHODS.get(value.func.attr) if found is None and isinstance(value.func, gast.Attribute) else None
    function = method if found is None else found.object
    rule = None if function is None else rule_of(function)
    if rule is None or rule.kind in ("composed", "refused"):
        return False
    if any(word.arg == "copy" for word in value.keywords) or (function is np.nan_to_num and len(value.args) > 1):
        return False  # `np.nan_to_num(x, copy=False)` is x
    if function is np.array:
        return True
    return not is_view(Operation("op", function, rule), facts)
