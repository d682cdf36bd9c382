"""Factors beside a masked adjoint: numbers wherever that is zero by structure, `np.where(m, y, 1.0)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # the bounds of a domain are given for all parameters or for each

import gast
import numpy as np

from srcgrad.derive.regularity import DIVIDE, Reading, is_finite, is_nonzero, meaning
from srcgrad.facts import Facts
from srcgrad.rules import Rule, rule_of
from srcgrad.trees import Node, expression, loads, remade, walk

Choose = Callable[[Node, float], Node]  # a value, and the number in its place where nothing is taken


def guarded(tree: Node, divides: bool, reading: Reading, choose: Choose) -> Node:
    """A factor, or what divides, that is a finite number, and not 0, wherever nothing is taken."""
    if divides:
        return tree if is_nonzero(tree, reading) else choose(tree, 1.0)
    if is_finite(tree, reading):
        return tree
    if isinstance(tree, gast.UnaryOp):
        tree.operand = guarded(tree.operand, False, reading, choose)
    elif isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Pow):
        tree.left = choose(tree.left, 1.0)
        tree.right = guarded(tree.right, False, reading, choose)
    elif isinstance(tree, gast.BinOp) and not isinstance(tree.op, gast.MatMult):
        tree.left = guarded(tree.left, False, reading, choose)
        tree.right = guarded(tree.right, isinstance(tree.op, DIVIDE), reading, choose)
    else:
        rule = rule_of(reading.called(tree.func)) if isinstance(tree, gast.Call) else None
        if rule is None or rule.kind != "elementwise":
            return choose(tree, 0.0)
        tree.args = _arguments(tree, rule, reading, choose)
    return tree


def _arguments(tree: Node, rule: Rule, reading: Reading, choose: Choose) -> list[Node]:
    """Arguments of a function that are in its domain wherever nothing is taken."""
    if rule.op is np.where:
        return [tree.args[0], *(guarded(part, False, reading, choose) for part in tree.args[1:])]
    parameters = [*rule.parameters, *("" for _ in tree.args)]
    return [
        part if isinstance(part, gast.Constant) else choose(part, smooth_at(rule, parameter))
        for part, parameter in zip(tree.args, parameters, strict=False)
    ]


def smooth_at(rule: Rule, parameter: str) -> float:
    """A number at which an operation is smooth."""
    domain: Any = rule.domain
    low, high = domain.get(parameter, (-2.0, 2.0)) if isinstance(domain, dict) else domain
    return next((one for one in (1.0, 0.5) if low < one < high), 0.5 * (low + high))


def is_settled(one: str, origin: str, facts: Facts) -> bool:
    """Whether a value is made of what the text has set to a number where a condition does not hold."""
    operation = facts.operation.get(getattr(facts.definition.get(one), "value", None))
    if operation is None or operation.rule is None or operation.rule.kind != "elementwise":
        return False
    given = operation.bound
    if operation.function is np.where and "y" in given and getattr(given["condition"], "id", "") == origin:
        zero = getattr(given["y"], "value", None) == 0.0 and facts.derivative_mode == "forward"
        return isinstance(given["y"], gast.Constant) and not zero  # the user's zero: a root of it divides by 0
    names = [read for part in given.values() for read in loads(part)]
    settled = {read: is_settled(read, origin, facts) for read in names}
    return any(settled.values()) and all(known or read not in facts.doubts for read, known in settled.items())


def lasting(test: Node, facts: Facts) -> Node:
    """A condition, or a copy of one that the function may change before forward mode reads the mask."""
    changes = any(getattr(test, "id", "") in table for table in (facts.mutable, facts.viewed, facts.views))
    if not changes or facts.derivative_mode != "forward":
        return test
    return expression(f"{facts.library('np')}.array(m)", m=test)


def picked(tree: Node, facts: Facts) -> Node:
    """A line of a tangent in which weights that are zero by structure leave out what may be inf or nan.

    What holds no such product stays the node that it was: facts are known of it.
    """
    known = {held: facts.library_values[one] for one, held in facts.imports.items()}
    if not any(_is_weighted(part, known) for part in walk(tree)):
        return tree
    if _is_weighted(tree, known):
        return expression(f"{facts.library('picks')}(w, d)", w=tree.left, d=tree.right)
    return remade(tree, lambda part: picked(part, facts))


def _is_weighted(tree: Node, known: dict[str, object]) -> bool:
    """`w * d`, where w is what an operation makes that puts zeros where it takes nothing."""
    return isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Mult) and _has_zeros(tree.left, known)


def _has_zeros(tree: Node, known: dict[str, object]) -> bool:
    """Whether a weight, a sum of weights or a multiple is zero by structure somewhere."""
    if isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Add):
        return _has_zeros(tree.left, known) and _has_zeros(tree.right, known)
    if isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Mult) and isinstance(tree.left, gast.Constant):
        return _has_zeros(tree.right, known)
    rule = rule_of(meaning(tree.func, known)) if isinstance(tree, gast.Call) else None
    return rule is not None and rule.zeros == "made"
