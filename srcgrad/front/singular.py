"""Operations in texts of ours that have another derivative there: lengths at 0, and divisors that stand for them."""

from __future__ import annotations

from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

from srcgrad.facts import Facts
from srcgrad.rules import rule_of
from srcgrad.runtime.singular import denominator, divisor, magnitude, one_norm
from srcgrad.trees import Node


def once_more(op: Any, arguments: list[Node], keywords: list[Node], node: Node, facts: Facts) -> tuple[Any, list[Node]]:
    """The operation and arguments that stand for an operation in a text that is differentiated once more."""
    settled = facts.instead.get(node)
    if op is np.where and len(arguments) == 3 and is_divisor(*arguments):
        return denominator if settled is denominator else divisor, arguments[2:]
    if settled is op:
        return op, arguments
    if op is np.linalg.norm and _order(arguments, keywords) == 1:
        return one_norm, arguments
    return (magnitude if rule_of(op) is rule_of(np.absolute) else op), arguments


def _order(arguments: list[Node], keywords: list[Node]) -> object:
    """The `ord` of a norm, where it is written out."""
    given = [*arguments[1:2], *(word.value for word in keywords if word.arg == "ord")]
    return given[0].value if given and isinstance(given[0], gast.Constant) else None


def is_divisor(condition: Node, other: Node, length: Node) -> bool:
    """Whether this is `np.where(0.0 == z, np.inf, z)`, as only our templates write it."""
    return (
        isinstance(condition, gast.Compare)
        and isinstance(condition.left, gast.Constant)
        and condition.left.value == 0.0
        and isinstance(condition.ops[0], gast.Eq)
        and gast.unparse(condition.comparators[0]) == gast.unparse(length)
        and gast.unparse(other).endswith(".inf")
    )
