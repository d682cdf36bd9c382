"""Whether an expression is finite wherever what it reads is, told by its text: `g / x` is not, `g * np.cos(x)` is.

A factor that is not needs a mask where the adjoint beside it is zero by structure: docs/decisions/masks.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any  # what a name of a template means is an arbitrary object

import gast
import numpy as np

from srcgrad.derive.decide import Setting
from srcgrad.derive.floors import floor, floor_of
from srcgrad.derive.instantiate import decided
from srcgrad.facts import Facts, Operation, Spec
from srcgrad.rules import Rule, rule_of
from srcgrad.template import Template, adjoint_template, derivative_of
from srcgrad.trees import Node, loads, name, same, walk

DIVIDE = (gast.Div, gast.FloorDiv, gast.Mod)


def _unknown(one: str) -> float | None:
    return None


@dataclass(frozen=True)
class Reading:
    """What the names of an expression mean."""

    called: Callable[[Node], Any]  # tree of a function -> the function
    is_finite: Callable[[str], bool]  # whether the value of a name is a finite number
    value: Callable[[str], Node | None]  # the expression or literal that a name stands for
    floor: Callable[[str], float | None] = _unknown  # the least that the value of a name can be


def is_finite(node: Node, reading: Reading) -> bool:
    """Whether an expression is a finite number wherever the names that are finite are numbers at all."""
    if derivative_of(node) is not None or isinstance(node, gast.Compare | gast.BoolOp | gast.Slice):
        return True
    if isinstance(node, gast.Constant):
        return not isinstance(node.value, float | complex) or np.isfinite(node.value)
    if isinstance(node, gast.Name):
        meant = reading.value(node.id)
        return reading.is_finite(node.id) if meant is None else is_finite(meant, reading)
    if isinstance(node, gast.UnaryOp):
        return is_finite(node.operand, reading)
    if isinstance(node, gast.BinOp):
        return _is_finite_operation(node, reading)
    if isinstance(node, gast.Call):
        return _is_finite_call(node, reading)
    if isinstance(node, gast.Attribute):
        known = reading.called(node)
        return math.isfinite(known) if isinstance(known, float) else is_finite(node.value, reading)
    if isinstance(node, gast.Subscript):
        return is_finite(node.value, reading)
    return isinstance(node, gast.Tuple | gast.List) and all(is_finite(part, reading) for part in node.elts)


def _is_finite_operation(node: Node, reading: Reading) -> bool:
    left = is_finite(node.left, reading)
    if isinstance(node.op, DIVIDE):
        return left and is_nonzero(node.right, reading)
    if isinstance(node.op, gast.Pow):
        power = _literal(node.right, reading)
        positive = _is_positive(node.left, reading)
        return left and type(power) in (int, float) and (positive or (power >= 0 and power == int(power)))
    return left and is_finite(node.right, reading)


def _is_finite_call(node: Node, reading: Reading) -> bool:
    function = reading.called(node.func)
    rule = rule_of(function)
    if rule is None and isinstance(node.func, gast.Attribute) and function is None:
        return False
    given = [*node.args, *(word.value for word in node.keywords)]
    if function is np.where:
        given = given[1:]
    if function in (np.log, np.sqrt) and _is_positive(node.args[0], reading):
        return is_finite(node.args[0], reading)
    smooth = rule is not None and (rule.kind in ("constant", "linear", "multilinear") or is_regular(rule))
    return smooth and all(is_finite(part, reading) for part in given)


def is_nonzero(node: Node, reading: Reading) -> bool:
    """Whether a divisor is never 0 nor nan; it may be inf."""
    if isinstance(node, gast.Name) and reading.value(node.id) is not None:
        return is_nonzero(reading.value(node.id), reading)
    if isinstance(node, gast.UnaryOp):
        return is_nonzero(node.operand, reading)
    if isinstance(node, gast.Constant):
        return isinstance(node.value, int | float | complex) and bool(node.value != 0) and node.value == node.value
    if isinstance(node, gast.Attribute):
        known = reading.called(node)
        return isinstance(known, float) and known != 0.0 and known == known
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        return is_nonzero(node.left, reading) and is_nonzero(node.right, reading)
    if isinstance(node, gast.Call) and reading.called(node.func) is np.where and len(node.args) == 3:
        test, one, other = node.args
        return _is_guarded(test, one, other, reading)
    if isinstance(node, gast.Call) and (rule := rule_of(reading.called(node.func))) is not None:
        if rule.kind == "constant":
            return True  # a rule divides by counts, which are at least 1
    return _is_positive(node, reading)


def _is_guarded(test: Node, one: Node, other: Node, reading: Reading) -> bool:
    """`np.where(z == 0.0, np.inf, z)`."""
    if not isinstance(test, gast.Compare) or not isinstance(test.ops[0], gast.Eq):
        return False
    zero = _literal(test.comparators[0], reading) == 0.0
    return zero and same(test.left, other) and is_nonzero(one, reading) and is_finite(other, reading)


def _is_positive(node: Node, reading: Reading) -> bool:
    """A positive number, `1.0 + x * x`, or the root of one."""
    literal = _literal(node, reading)
    if type(literal) in (int, float):
        return bool(literal > 0)
    if isinstance(node, gast.Name):
        meant = reading.value(node.id)
        return (reading.floor(node.id) or 0.0) > 0.0 if meant is None else _is_positive(meant, reading)
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add):
        positive = _is_positive(node.left, reading) or _is_positive(node.right, reading)
        return positive and all(_is_positive(n, reading) or _is_square(n, reading) for n in (node.left, node.right))
    if isinstance(node, gast.Call) and reading.called(node.func) is np.sqrt:
        return _is_positive(node.args[0], reading)
    return False


def _is_square(node: Node, reading: Reading) -> bool:
    product = isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult)
    return product and same(node.left, node.right) and is_finite(node.left, reading)


def _literal(node: Node, reading: Reading) -> Any:
    if isinstance(node, gast.Name):
        meant = reading.value(node.id)
        return None if meant is None else _literal(meant, reading)
    return node.value if isinstance(node, gast.Constant) else None


def meaning(node: Node, namespace: dict[str, Any]) -> Any:
    """What `np.cos` is, in a template or a text; None if that cannot be told."""
    if isinstance(node, gast.Attribute):
        return getattr(meaning(node.value, namespace), node.attr, None)
    return namespace.get(node.id) if isinstance(node, gast.Name) else None


_regular: dict[int, tuple[Rule, bool]] = {}


def is_regular(rule: Rule) -> bool:
    """Whether an operation and its derivatives are finite wherever its arguments are: a fact of the rule's lines."""
    known = _regular.get(id(rule))
    if known is not None and known[0] is rule:
        return known[1]
    everywhere = rule.kind == "elementwise" and rule.domain == Rule.domain
    _regular[id(rule)] = rule, everywhere  # the line of sin reads cos, whose line reads sin: no gamma functions
    template = None if rule.overflows or rule.own is not None else adjoint_template(rule)
    found = template is not None and _is_regular(template)
    _regular[id(rule)] = rule, found
    return found


def _is_regular(template: Template) -> bool:
    lines = [node for part in template.body for node in walk(part) if isinstance(node, gast.Assign)]
    held = {line.targets[0].id: line.value for line in lines if isinstance(line.targets[0], gast.Name)}
    reading = Reading(
        lambda node: meaning(node, template.namespace),
        lambda one: one in (template.result, *template.parameters) or isinstance(template.namespace.get(one), float),
        lambda one: held.get(one),
    )
    return all(is_finite(line.value, reading) for line in lines)


def _reading(
    operation: Operation, template: Template, chosen: list[Node], finite: Callable[[Node], bool], facts: Facts
) -> Reading:
    """What the names of a template stand for in one call."""
    held = {line.targets[0].id: line.value for line in chosen if isinstance(line.targets[0], gast.Name)}
    bound = {**template.defaults, **operation.bound}

    def value(one: str) -> Node | None:
        literal = bound.get(one)
        return held.get(one) if not isinstance(literal, gast.Constant) else literal

    def number(one: str) -> bool:
        if one == template.result:
            return finite(name(one))
        if one not in bound:
            return isinstance(template.namespace.get(one), float | int)
        return finite(bound[one])

    def least(one: str) -> float | None:
        if not number(one):
            return None  # inf: its own derivative is none
        return floor_of(operation, facts) if one == template.result else floor(bound.get(one), facts)

    return Reading(lambda node: meaning(node, template.namespace), number, value, least)


_OPERATORS = {
    np.divide: gast.Div, np.power: gast.Pow, np.floor_divide: gast.FloorDiv, np.remainder: gast.Mod, np.fmod: gast.Mod
}  # fmt: skip


def gives_finite(operation: Operation, facts: Facts, doubtful: dict[str, None]) -> bool:
    """Whether the value of a call is finite where what it reads is, and the names in `doubtful` may not be."""
    rule, given = operation.rule, list(operation.bound.values())
    if rule is not None and rule.kind == "constant" and not isinstance(operation.function, np.ufunc):
        return True  # arrays of ones, lengths, positions
    text = Reading(partial(object_of, facts=facts), lambda one: one not in doubtful, lambda one: None)
    if operation.function is np.divide and len(given) == 2 and (floor(given[1], facts) or 0.0) > 0.0:
        return is_finite(given[0], text)  # `1 / (1 + np.exp(x))`
    if rule is None or not all(is_finite(part, text) for part in given):
        return False
    if operation.function in _OPERATORS and len(given) == 2:
        reading = Reading(lambda node: None, lambda one: True, lambda one: None, facts.floors.get)
        return is_finite(gast.BinOp(given[0], _OPERATORS[operation.function](), given[1]), reading)
    if rule.kind in ("linear", "multilinear", "constant"):
        return True
    return not rule.overflows and has_finite_lines(operation, facts, doubtful, True)


def is_finite_quotient(value: Node, facts: Facts) -> bool:
    """Whether a value that has no derivative, if it is a whole quotient, divides by what is never 0."""
    divides = isinstance(value, gast.Call) and object_of(value.func, facts) is np.floor_divide and len(value.args) > 1
    by = value.args[1] if divides else value.right if isinstance(getattr(value, "op", None), gast.FloorDiv) else None
    return by is None or is_nonzero(
        by, Reading(lambda node: None, lambda one: True, lambda one: None, facts.floors.get)
    )


def object_of(node: Node, facts: Facts) -> Any:
    """What `np.nan` is in the user's text."""
    if isinstance(node, gast.Attribute):
        return getattr(object_of(node.value, facts), node.attr, None)
    known = facts.namespace.lookup(node.id) if isinstance(node, gast.Name) and node.id not in facts.local else None
    return None if known is None else known.object


def has_finite_lines(operation: Operation, facts: Facts, doubtful: dict[str, None], result: bool) -> bool:
    """Whether all derivatives of a call are finite; `result` says whether its value is."""
    rule = operation.rule
    template = None if rule is None or rule.own is not None else adjoint_template(rule)
    if template is None:
        return False
    if operation.function is np.einsum:  # sums of products, whatever the template calls
        return all(one not in doubtful for part in operation.bound.values() for one in _names(part))
    setting = Setting(template, operation, facts, "", Spec(ndim=None), {})
    chosen = decided(template.body, setting)

    def finite(node: Node) -> bool:
        if isinstance(node, gast.Name) and node.id == template.result:
            return result
        return all(one not in doubtful for one in _names(node))

    reading = _reading(operation, template, chosen, finite, facts)
    wanted = [p for p, a in operation.bound.items() if any(one in facts.active for one in _names(a))]
    lines = [line for line in chosen if derivative_of(line.targets[0]) in wanted]
    return all(is_finite(line.value, reading) for line in lines)


def _names(node: Node) -> tuple[str, ...]:
    return loads(node) if isinstance(node, gast.AST) else ()
