"""The least number that a value can be: `x * x + 1e-9` is at least 1e-9, so its root has a derivative everywhere."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any  # literals are arbitrary objects

import gast
import numpy as np

from srcgrad.derive.squares import squared
from srcgrad.facts import Facts, Operation, Spec
from srcgrad.front.webs import parameters
from srcgrad.runtime.contract import self_dot, self_product
from srcgrad.trees import Block, Node, constant, loads, same, stores

_TINY = 1e-30  # what is less may be 0 as a float32
_FROM_ZERO = (np.absolute, np.square, np.exp, np.exp2, np.var, np.std, np.hypot, np.linalg.norm)
_KEPT = (np.sum, np.mean, np.cumsum, np.max, np.min, np.sqrt, np.log1p, operator.getitem, np.triu, np.tril, np.where)
_LEAST: dict[object, Callable[[float, float], float]] = {
    np.add: operator.add,
    np.multiply: operator.mul,
    np.minimum: min,
    np.fmin: min,
}
_WORDS = (
    "x",
    "y",
    "a",
    "m",
    "k",
    "axis",
    "keepdims",
    "axes",
    "shape",
    "operands",
    "a_min",
    "a_max",
    "condition",
    "index",
)


def floors(function: Node, order: Block, facts: Facts) -> dict[str, float]:
    """By name, a number of at least 0 below which no value is, where the arguments are finite; no such value is nan.

    >>> from srcgrad.phases import explain_facts
    >>> explain_facts("def f(x):\\n    r = np.sqrt(x * x + 0.25)\\n    return np.sum(1.0 / r)", after="doubts").floors
    {'t2': 0.0, 't1': 0.25, 'r': 0.5, 't4': 0.0, 'y': 0.0}
    """
    apart = parameters(function)
    made: dict[str, list[Node]] = {}  # a write into an array, by whatever name, is one of these (front/views.py)
    for node in order:
        for bound in stores(node):
            made.setdefault(bound, []).append(node)
    open_ = {one: nodes for one, nodes in made.items() if one not in apart and one not in facts.complex}
    while True:
        known = len(facts.floors)
        for one, nodes in open_.items():
            if one not in facts.floors:
                found = [floor_of_value(node, facts) for node in nodes]
                least = [each for each in found if each is not None]
                if len(least) == len(found):
                    facts.floors[one] = min(least)
        if len(facts.floors) == known:
            return facts.floors


def floor_of_value(node: Node, facts: Facts) -> float | None:
    """The floor of what a statement binds."""
    if not isinstance(node, gast.Assign) or not isinstance(node.targets[0], gast.Name):
        return None
    operation = facts.operation.get(node.value)
    found = floor(node.value, facts) if operation is None else floor_of(operation, facts)
    return 0.0 if found is not None and found < _TINY else found


def floor(node: object, facts: Facts) -> float | None:
    """The floor of an operand: a name or a literal."""
    if isinstance(node, gast.Name):
        return facts.floors.get(node.id)
    value: Any = node.value if isinstance(node, gast.Constant) else None
    return float(value) if type(value) in (int, float) and value >= 0 else None


def floor_of(operation: Operation, facts: Facts) -> float | None:
    """The floor of what a call gives."""
    bound, rule = operation.bound, operation.rule
    read = [one for part in bound.values() if isinstance(part, gast.AST) for one in loads(part)]
    if operation.kind != "op" or rule is None or not bound or any(one not in _WORDS for one in bound):
        return None
    given, function = list(bound.values()), rule.op
    if _is_square(operation, facts):
        return 0.0
    if function in _FROM_ZERO:
        return 0.0 if all(_is_number(part, facts) for part in given) else None
    if function in (np.maximum, np.fmax, np.logaddexp):
        least = [one for part in given if (one := floor(part, facts)) is not None]
        return max(least) if least and all(_is_number(part, facts) for part in given) else None
    if function is np.clip:
        return _clipped(bound, facts)
    if function is np.power:
        return _power(given[0], given[1], facts)
    first = floor(given[1] if function is np.where else given[0], facts)
    if first is None:
        return None
    if function in _KEPT or rule.zeros == "kept":
        return _kept(function, first, given, facts)
    second = floor(given[1], facts) if len(given) == 2 else None
    if second is None:
        return None
    if function is np.divide:
        return 0.0 if second > 0.0 and all(one not in facts.doubts for one in loads(given[0])) else None
    if function is np.multiply and not (first > 0.0 and second > 0.0) and any(one in facts.doubts for one in read):
        return None  # 0 times inf
    return _LEAST[function](first, second) if function in _LEAST else None


def _kept(function: object, first: float, given: list[Node], facts: Facts) -> float | None:
    if function is np.where:
        other = floor(given[2], facts) if len(given) == 3 else None
        return None if other is None else min(first, other)
    if function is np.sqrt:
        return math.sqrt(first)
    return 0.0 if function in (np.sum, np.cumsum, np.log1p, np.triu, np.tril) else first


def _is_number(node: object, facts: Facts) -> bool:
    """Whether no value is nan."""
    if isinstance(node, gast.Name):
        return node.id not in facts.doubts or node.id in facts.floors
    return not isinstance(node, gast.AST) or not any(one in facts.doubts for one in loads(node))


def _clipped(bound: dict[str, Node], facts: Facts) -> float | None:
    """`np.clip(x, 1e-6, 1.0 - 1e-6)`."""
    lower, upper = (bound.get(one, constant(None)) for one in ("a_min", "a_max"))
    least, above = floor(lower, facts), floor(upper, facts)
    if least is None or not _is_number(next(iter(bound.values())), facts):
        return None
    if isinstance(upper, gast.BinOp) and isinstance(upper.op, gast.Sub):
        one, other = upper.left, upper.right
        if isinstance(one, gast.Constant) and isinstance(other, gast.Constant):
            above = one.value - other.value
    if isinstance(upper, gast.Constant) and upper.value is None:
        return least
    return None if above is None or above < 0.0 else min(least, above)


def _power(x: Node, power: Node, facts: Facts) -> float | None:
    value: Any = power.value if isinstance(power, gast.Constant) else None
    least = floor(x, facts)
    if type(value) not in (int, float):
        return None
    if value >= 0 and value % 2 == 0:
        return 0.0 if _is_number(x, facts) else None
    if least is None or (value < 0 and not least > 0.0):
        return None
    return float(least**value) if value >= 0 else 0.0


def _is_square(operation: Operation, facts: Facts) -> bool:
    """Products of a value with itself: `x * x`, `v @ v`, `np.einsum("ij,ij->i", d, d)`."""
    given = list(operation.bound.values())
    if operation.function is np.einsum:
        text, *read = given[0].elts
        terms = str(getattr(text, "value", "")).partition("->")[0].split(",")
        twice = len(terms) == len(read) == 2 and terms[0] == terms[1] and isinstance(read[0], gast.Name)
        return twice and same(read[0], read[1]) and _is_number(read[0], facts)
    one = squared(operation, facts)
    if one is operation or not _is_number(given[0], facts):
        return False
    if one.function in (self_dot, self_product):
        return facts.value_spec.get(given[0].id, Spec(ndim=None)).ndim == 1
    return True
