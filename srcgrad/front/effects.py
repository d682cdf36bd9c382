"""Statements that only report: print, warnings, logging, and the checks of our own texts."""

from __future__ import annotations

import builtins

import gast

from srcgrad.facts import Facts
from srcgrad.front.resolve import binding_of
from srcgrad.rules import rule_of
from srcgrad.runtime import (
    check_array,
    check_arrays,
    check_complex,
    check_dtype,
    check_floating,
    check_input,
    check_item,
    check_method,
    check_module,
    check_number,
    check_operand,
    check_seed,
    check_shapes,
    require_handled,
)
from srcgrad.runtime.quadrature import check_numbers, check_steady
from srcgrad.runtime.roots import check_slopes
from srcgrad.trees import Node

_REPORTS = (
    builtins.print,
    check_array,
    check_arrays,
    check_operand,
    check_seed,
    check_shapes,
    check_complex,
    check_floating,
    check_input,
    require_handled,
    check_number,
    check_item,
    check_dtype,
    check_method,
    check_module,
    check_numbers,
    check_slopes,
    check_steady,
)


def effects(node: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a statement's call is one that only reports: print, warnings, logging; E5001 for what is refused."""
    found = binding_of(node.func, facts, local)
    if found is None or found.static is not None:
        return False
    function = found.object
    rule = rule_of(function)
    if rule is not None and rule.kind == "refused":
        called = gast.unparse(node.func)
        raise facts.refuse(node, "E5001", f"`{called}` has no derivative: {rule.note}", "write it out")
    if function in _REPORTS:
        return True
    return getattr(function, "__module__", None) in ("warnings", "_warnings", "logging")
