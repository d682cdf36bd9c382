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

Choose = Callable[[Node, float, bool], Node]  # a value, the number in its place, whether it is of a limited domain
Settled = Callable[[Node, bool], bool]  # whether a value is a number where nothing is taken; not 0, if it divides


def guarded(tree: Node, divides: bool, reading: Reading, choose: Choose, settled: Settled) -> Node:
    """A factor, or what divides, that is a finite number, and not 0, wherever nothing is taken."""
    if divides:
        return tree if is_nonzero(tree, reading) or settled(tree, True) else choose(tree, 1.0, True)
    if is_finite(tree, reading) or settled(tree, False):
        return tree
    if isinstance(tree, gast.UnaryOp):
        tree.operand = guarded(tree.operand, False, reading, choose, settled)
    elif isinstance(tree, gast.BinOp) and isinstance(tree.op, gast.Pow):
        tree.left = choose(tree.left, 1.0, True)
        tree.right = guarded(tree.right, False, reading, choose, settled)
    elif isinstance(tree, gast.BinOp) and not isinstance(tree.op, gast.MatMult):
        tree.left = guarded(tree.left, False, reading, choose, settled)
        tree.right = guarded(tree.right, isinstance(tree.op, DIVIDE), reading, choose, settled)
    else:
        rule = rule_of(reading.called(tree.func)) if isinstance(tree, gast.Call) else None
        if rule is None or rule.kind != "elementwise":
            return choose(tree, 0.0, False)
        tree.args = _arguments(tree, rule, reading, choose, settled)
    return tree


def _arguments(tree: Node, rule: Rule, reading: Reading, choose: Choose, settled: Settled) -> list[Node]:
    """Arguments of a function that are in its domain wherever nothing is taken."""
    if rule.op is np.where:
        return [tree.args[0], *(guarded(part, False, reading, choose, settled) for part in tree.args[1:])]
    parameters = [*rule.parameters, *("" for _ in tree.args)]
    limited = rule.domain != Rule.domain
    return [
        part if isinstance(part, gast.Constant) else choose(part, smooth_at(rule, parameter), limited)
        for part, parameter in zip(tree.args, parameters, strict=False)
    ]


def smooth_at(rule: Rule, parameter: str) -> float:
    """A number at which an operation is smooth."""
    domain: Any = rule.domain
    low, high = domain.get(parameter, (-2.0, 2.0)) if isinstance(domain, dict) else domain
    return next((one for one in (1.0, 0.5) if low < one < high), 0.5 * (low + high))


def is_settled(tree: Node, divides: bool, origin: str, facts: Facts, reading: Reading) -> bool:
    """Whether a value is made of what the text has set to a number where a condition does not hold."""
    with np.errstate(all="ignore"):
        number = _elsewhere(tree, origin, facts, reading)
    if number is not None:
        return bool(np.isfinite(number)) and not (divides and number == 0.0)
    return isinstance(tree, gast.Name) and _is_chosen(tree.id, divides, origin, facts)


def _is_chosen(one: str, divides: bool, origin: str, facts: Facts) -> bool:
    """Whether a name is made of `np.where(c, x, 1.0)`, or of what is finite there."""
    operation = facts.operation.get(getattr(facts.definition.get(one), "value", None))
    if operation is None or operation.rule is None or operation.rule.kind != "elementwise":
        return False
    given = operation.bound
    if operation.function is np.where and "y" in given and getattr(given["condition"], "id", "") == origin:
        finite = not divides and all(read not in facts.doubts for read in loads(given["y"]))
        return finite or isinstance(given["y"], gast.Constant)
    names = [read for part in given.values() for read in loads(part)]
    settled = {read: _is_chosen(read, divides, origin, facts) for read in names}
    return any(settled.values()) and all(known or read not in facts.doubts for read, known in settled.items())


def _elsewhere(tree: Node, origin: str, facts: Facts, reading: Reading) -> Any:
    """The number that a value is where a condition does not hold: 2.0 for `np.sqrt(np.where(c, x, 4.0))`."""
    if isinstance(tree, gast.Constant):
        return np.float64(tree.value) if type(tree.value) in (int, float) else None
    meant = reading.value(tree.id) if isinstance(tree, gast.Name) else None
    operation = facts.operation.get(getattr(facts.definition.get(getattr(tree, "id", "")), "value", None))
    if meant is not None:
        return _elsewhere(meant, origin, facts, reading)
    if operation is not None and operation.function is np.where and "y" in operation.bound:
        own = getattr(operation.bound["condition"], "id", "") == origin
        return _elsewhere(operation.bound["y"], origin, facts, reading) if own else None
    if operation is not None:
        function, given = operation.function, list(operation.bound.values())
    elif isinstance(tree, gast.Call) and not tree.keywords:
        function, given = reading.called(tree.func), tree.args
    elif isinstance(tree, gast.UnaryOp | gast.BinOp):
        function, given = (
            _UFUNCS.get(type(tree.op)),
            [getattr(tree, one) for one in ("operand", "left", "right") if hasattr(tree, one)],
        )
    elif isinstance(tree, gast.Compare) and len(tree.ops) == 1:
        function, given = _UFUNCS.get(type(tree.ops[0])), [tree.left, tree.comparators[0]]
    else:
        return None
    if not isinstance(function, np.ufunc) or function.nin != len(given) or function.nout != 1:
        return None
    numbers = [_elsewhere(one, origin, facts, reading) for one in given]
    return None if any(one is None for one in numbers) else function(*numbers)


_UFUNCS = {
    gast.Add: np.add, gast.Sub: np.subtract, gast.Mult: np.multiply, gast.Div: np.divide, gast.Pow: np.power,
    gast.USub: np.negative, gast.Eq: np.equal, gast.NotEq: np.not_equal,
}  # fmt: skip


def lasting(test: Node, facts: Facts) -> Node:
    """A condition, or a copy of one that the function may change before it is read."""
    if not any(getattr(test, "id", "") in table for table in (facts.mutable, facts.viewed, facts.views)):
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
