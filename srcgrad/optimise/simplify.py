"""One simplifier: rows of patterns and what stands in their places, both as text, applied from the inside out.

A name of one letter in a pattern stands for any expression, the same one wherever it is repeated; `np.outer(a, b)` for
a call of that function, `a.T` for an attribute. A row that says `exact` gives the same floats to the last bit,
`-0.0`, infinities and nan among them; `tests/optimise/test_simplify.py` evaluates each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gast
import numpy as np

from srcgrad.analysis.floating_types import fits, has_sign, is_elementwise, is_floating, operand_of_negative
from srcgrad.analysis.shape_rules import spec_of_tree
from srcgrad.core.facts import Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.trees import Node, at, children, expression, find_nodes, same_tree, substitute
from srcgrad.core.visitor import rewrite


@dataclass(frozen=True)
class Match:
    """What the names of a pattern stand for in an expression."""

    parts: dict[str, Node]
    functions: dict[str, Node]  # `np.outer` -> as it is spelled there
    is_operand: bool  # whether the expression is an operand of arithmetic, so that nobody keeps its value
    facts: Facts


Condition = Callable[[Match], bool]


@dataclass(frozen=True)
class Row:
    """A pattern, what stands in its place, and when it may."""

    text: tuple[str, str]
    pattern: Node
    result: Node
    when: Sequence[Condition]
    exact: bool  # whether every float comes out the same, to the last bit
    leading: bool  # whether `-a` is also `-b * c`, whose sign stands in front of a product


def rule(pattern: str, result: str, *, when: Sequence[Condition] = (), exact: bool, leading: bool = False) -> Row:
    """A row of a table."""
    return Row((pattern, result), expression(pattern), expression(result), when, exact, leading)


Table = Sequence[Row]


def simplified(tree: Node, table: Table, facts: Facts) -> Node:
    """A tree in which no row of a table matches any more.

    >>> tree = simplified(expression("f(np.outer(a, b).T.T)"), TRANSPOSES[:1], None)
    >>> gast.unparse(tree)
    'f(np.outer(a, b))'
    """
    operands = {part for node in find_nodes(tree, gast.BinOp, gast.UnaryOp) for part in children(node)}

    def change(node: Node) -> Node:
        while (made := applied(node, table, facts, node in operands)) is not None:
            operands.update([made] if node in operands else [])
            node = made
        return node

    return rewrite(tree, change)


def applied(node: Node, table: Table, facts: Facts, is_operand: bool = False) -> Node | None:
    """What the first row that matches an expression puts in its place; None if none does."""
    for row in table:
        if type(node) is not type(row.pattern):
            continue
        match = Match({}, {}, is_operand, facts)
        found = _matches(row.pattern, node, match, row.leading, top=True)
        if found and all(condition(match) for condition in row.when):
            made = substitute(_with_functions(row.result, match), match.parts)
            return made if type(row.result) is gast.Name else at(made, node)
    return None


def _matches(pattern: Node, node: Node, match: Match, leading: bool, top: bool = False) -> bool:
    kind = type(pattern)
    if kind is gast.Name:
        known = match.parts.setdefault(pattern.id, node)
        return known is node or same_tree(known, node)
    if kind is gast.UnaryOp and leading and not top:
        operand = operand_of_negative(node, match.facts)
        return operand is not None and _matches(pattern.operand, operand, match, leading)
    if kind is not type(node):
        return False
    if kind is gast.Constant:
        return same_tree(pattern, node)
    if kind is gast.BinOp:
        return (
            type(pattern.op) is type(node.op)
            and _matches(pattern.left, node.left, match, leading)
            and _matches(pattern.right, node.right, match, leading)
        )
    if kind is gast.UnaryOp:
        return type(pattern.op) is type(node.op) and _matches(pattern.operand, node.operand, match, leading)
    if kind is gast.Attribute:
        return bool(pattern.attr == node.attr) and _matches(pattern.value, node.value, match, leading)
    assert kind is gast.Call, "a pattern is made of arithmetic, attributes and calls"
    if function_called(node, match.facts) is not getattr(np, pattern.func.attr):
        return False
    match.functions[pattern.func.attr] = node.func
    if node.keywords or len(node.args) != len(pattern.args):
        return False
    return all(_matches(*pair, match, leading) for pair in zip(pattern.args, node.args, strict=True))


def _with_functions(result: Node, match: Match) -> Node:
    """The result of a row, with functions as they are spelled where it matched."""
    if not match.functions:
        return result

    def spelled(node: Node) -> Node:
        if isinstance(node, gast.Call):
            node.func = match.functions[node.func.attr]
        return node

    return rewrite(substitute(result, {}), spelled)


def floating(part: str) -> Condition:
    """Whether a part is a float, or an array of them."""
    return lambda match: is_floating(match.parts[part], match.facts)


def signed(part: str) -> Condition:
    """Whether a part has a negative: small integers without a sign have none."""
    return lambda match: has_sign(match.parts[part], match.facts)


def matrix(part: str) -> Condition:
    """Whether a part is known to have two axes."""
    return lambda match: spec_of_tree(match.parts[part], match.facts).ndim == 2


def own(part: str) -> Condition:
    """Whether nothing else holds the value of a part, or nobody keeps it: arithmetic makes a value of its own."""
    return lambda match: match.is_operand or _is_own(match.parts[part], match.facts)


def _is_own(node: Node, facts: Facts) -> bool:
    if isinstance(node, gast.Name):
        spec = facts.spec.get(node) or facts.value_spec.get(facts.adjoint_of.get(node.id, node.id))
        return spec is not None and spec.scalar and not spec.dtype
    if isinstance(node, gast.Subscript):
        return is_floating(node.value, facts)
    if fits(node, facts):
        return is_floating(node.args[0], facts)
    if isinstance(node, gast.Call):
        return is_elementwise(node, facts)
    return isinstance(node, gast.BinOp | gast.UnaryOp | gast.Constant)


def not_transposed(part: str) -> Condition:
    """Whether a part is not spelled `a.T` itself."""
    return lambda match: getattr(match.parts[part], "attr", "") != "T"


UNITS: Table = (
    rule("1.0 * a", "a", when=(floating("a"), own("a")), exact=True),
    rule("a * 1.0", "a", when=(floating("a"), own("a")), exact=True),
)
SIGNS: Table = (
    rule("a + -b", "a - b", exact=True, leading=True),
    rule("a - -b", "a + b", exact=True, leading=True),
    rule("-a + b", "b - a", exact=True, leading=True),
    rule("-(-a)", "a", exact=True, leading=True),
)
TRANSPOSES: Table = (
    rule("a.T.T", "a", exact=True),
    rule("np.outer(a, b).T", "np.outer(b, a)", exact=True),
    rule("(-np.outer(a, b)).T", "-np.outer(b, a)", exact=True),
    rule("(a.T @ b).T", "b.T @ a", when=(matrix("a"), matrix("b"), not_transposed("b")), exact=False),
)
QUOTIENTS: Table = (
    rule("a / y + -(b / y * c)", "(a - b * c) / y", when=(signed("b"),), exact=False, leading=True),
    rule("a / y - -(b / y * c)", "(a + b * c) / y", when=(signed("b"),), exact=False, leading=True),
    rule("a / y + b / y * c", "(a + b * c) / y", when=(signed("b"),), exact=False),
    rule("a / y - b / y * c", "(a - b * c) / y", when=(signed("b"),), exact=False),
    rule(
        "np.divide(a, y) + -(np.divide(b, y) * c)",
        "np.divide(a - b * c, y)",
        when=(signed("b"),),
        exact=False,
        leading=True,
    ),
    rule(
        "np.divide(a, y) - -(np.divide(b, y) * c)",
        "np.divide(a + b * c, y)",
        when=(signed("b"),),
        exact=False,
        leading=True,
    ),
    rule("np.divide(a, y) + np.divide(b, y) * c", "np.divide(a + b * c, y)", when=(signed("b"),), exact=False),
    rule("np.divide(a, y) - np.divide(b, y) * c", "np.divide(a - b * c, y)", when=(signed("b"),), exact=False),
)
TABLES = {"units": UNITS, "signs": SIGNS, "transposes": TRANSPOSES, "quotients": QUOTIENTS}
