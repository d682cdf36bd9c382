"""Algebra: factors, signs and units, exactly; and the table of patterns that simplifies texts.

One simplifier: rows of patterns and what stands in their places, both as text, applied from the inside out.

A name of one letter in a pattern stands for any expression, the same one wherever it is repeated; `np.outer(a, b)` for
a call of that function, `a.T` for an attribute. A row that says `exact` gives the same floats to the last bit,
`-0.0`, infinities and nan among them; `tests/optimise/test_algebra.py` evaluates each row.

Algebra: factors, signs and units, exactly.

Constant factors: `e * 100.0 * 2.0` is `e * 200.0`, exactly, where one of the two is a power of two.

`a * 2.0 + b * 2.0` is `(a + b) * 2.0`, exactly as well: twice anything has its digits.

Numbers stand first in products: `y_bar * 0.3 * x` goes over one array once, `y_bar * x * 0.3` twice.

For the same reason the sign of a product that is summed to a shape is that of its number.

Signs: `a + -b` is `a - b`, and `-(a / b)` is `-a / b`, exactly.

A gradient that takes no seed is for the seed 1.0, by which nothing need be multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import frexp

import gast
import numpy as np

from srcgrad.analysis.floating_types import (
    fits,
    has_sign,
    is_elementwise,
    is_floating,
    is_linear,
    is_minus,
    is_of_derivative,
    is_sum,
    is_transpose,
    negative_of,
    operand_of_negative,
)
from srcgrad.analysis.shapes import spec_of_tree
from srcgrad.core.facts import Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.trees import (
    Node,
    at,
    children,
    expression,
    find_nodes,
    header,
    holds,
    literal_node,
    same_tree,
    statements,
    substitute,
    target,
    walk,
)
from srcgrad.core.visitor import bindings, replace, rewrite
from srcgrad.core.walks import reads
from srcgrad.derive.program import Program


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


def factors(program: Program, facts: Facts) -> Program:
    """Multiply the constant factors of a product, and leave out a factor that becomes 1.0; one of -1.0 is a sign.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    return 100.0 * x ** 2", after="factors").splitlines()[-2])
    x_bar = y_bar * 200.0 * x
    >>> print(explain_text("def f(x):\\n    return np.exp(-0.5 * x ** 2)", after="factors").splitlines()[-2])
    x_bar = -(y_bar * np.exp(-0.5 * x**2)) * x
    """
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if isinstance(node, gast.Assign | gast.AugAssign) and any(
            _is_float(item) for item in find_nodes(node.value, gast.Constant)
        ):
            node.value = _merge_constants(node.value, facts, inside=isinstance(node, gast.AugAssign))
    return program


def _merge_constants(value: Node, facts: Facts, inside: bool) -> Node:
    """An expression in which each product has one constant; `inside` tells whether it is an operand of arithmetic."""
    arithmetic = isinstance(value, gast.BinOp | gast.UnaryOp)
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(
                value,
                key,
                [_merge_constants(item, facts, False) if isinstance(item, gast.AST) else item for item in part],
            )
        elif isinstance(part, gast.AST) and part._fields and key != "slice":
            setattr(value, key, _merge_constants(part, facts, arithmetic))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add | gast.Sub):
        return _factor_out_power(value, facts)
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return value
    for factor, rest in ((value.right, value.left), (value.left, value.right)):
        if _is_float(factor) and is_floating(rest, facts):
            found = _absorb_constant(rest, factor.value, facts, next_to=True)
            if found is not None and (inside or isinstance(found, gast.BinOp | gast.UnaryOp | gast.Constant)):
                return found
    return value


def _factor_out_power(total: Node, facts: Facts) -> Node:
    """`(a + b) * 2.0` for `a * 2.0 + b * 2.0`, of floats; by 2, 4, 8 or 16."""
    for number in (2.0, 4.0, 8.0, 16.0):
        left, right = _other_factors(total.left, number, facts), _other_factors(total.right, number, facts)
        if left is None or right is None or not is_floating(left[0], facts) or not is_floating(right[0], facts):
            continue
        if not all(spec_of_tree(times, facts).scalar for _, times in (left, right)):  # a product of numbers is free
            return gast.BinOp(gast.BinOp(left[0], total.op, right[0]), gast.Mult(), literal_node(number))
    return total


def _other_factors(value: Node, number: float, facts: Facts, beside: bool = False) -> tuple[Node, Node] | None:
    """The other factors of a product of which a number is one, and what it multiplies; None if it is none."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return None
    for side, other in (("right", value.left), ("left", value.right)):
        own = getattr(value, side)
        if _is_float(own) and own.value == number and (beside or has_sign(other, facts)):
            return other, other
        found = _other_factors(own, number, facts, has_sign(other, facts))
        if found is not None:
            return gast.BinOp(*_place_operands(side, other, found[0], value.op)), found[1]
    return None


def _absorb_constant(
    value: Node, factor: float, facts: Facts, next_to: bool = False, beside: bool = False
) -> Node | None:
    """`value * factor`, by a constant that `value` has; None if it has none, or if another number could come out.

    `beside` tells whether it is a factor of a product of floats: an integer needs no 1.0 there.
    """
    if _is_float(value):
        exact = _is_power(factor) or (next_to and _is_power(value.value))
        return literal_node(value.value * factor) if exact else None
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        for side, other in (("right", value.left), ("left", value.right)):
            own = getattr(value, side)
            found = _absorb_constant(own, factor, facts, next_to and _is_float(own), has_sign(other, facts))
            if found is not None and _is_one(found) and (beside or has_sign(other, facts)):
                return other
            if found is not None and is_minus(found) and _is_one(found.operand) and has_sign(other, facts):
                return gast.UnaryOp(found.op, other)
            if found is not None:
                return gast.BinOp(*_place_operands(side, other, found, value.op))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div):
        found = _absorb_constant(value.left, factor, facts, beside=has_sign(value.right, facts))
        return None if found is None else gast.BinOp(found, value.op, value.right)
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        found = _absorb_constant(value.operand, factor, facts)
        return None if found is None else gast.UnaryOp(value.op, found)
    if _is_sum(value):
        found = _absorb_constant(value.args[0], factor, facts)
        return None if found is None or _is_float(found) else gast.Call(value.func, [found], value.keywords)
    if isinstance(value, gast.Subscript):
        found = _absorb_constant(value.value, factor, facts)
        return None if found is None or _is_float(found) else gast.Subscript(found, value.slice, value.ctx)
    return None


def _is_sum(value: Node) -> bool:
    """Whether an expression is `np.sum(e)`, of all or along axes: twice a sum is the sum of what is twice as large."""
    if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute) or value.func.attr != "sum":
        return False
    return len(value.args) == 1 and all(word.arg in ("axis", "keepdims") for word in value.keywords)


def _place_operands(side: str, other: Node, found: Node, op: Node) -> tuple[Node, Node, Node]:
    return (other, op, found) if side == "right" else (found, op, other)


def _is_float(value: Node) -> bool:
    return isinstance(value, gast.Constant) and type(value.value) is float


def _is_one(value: Node) -> bool:
    return _is_float(value) and value.value == 1.0


def _is_power(number: float) -> bool:
    """Whether a number is a power of two, or minus one: a product with it is exact."""
    return abs(frexp(number)[0]) == 0.5


def constants_first(program: Program, facts: Facts) -> Program:
    """Multiply a number by a constant before arrays are.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    return np.sum(np.exp(-x * x))"
    >>> print(explain_text(text, after="constants_first").splitlines()[-2])
    x_bar = -y_bar * 2.0 * np.exp(-x * x) * x
    """
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if isinstance(node, gast.Assign | gast.AugAssign):
            if any(type(item.value) is float for item in find_nodes(node.value, gast.Constant)):
                node.value = _move_constants(node.value, facts)
            node.value = _move_sign_inward(node.value, facts)
    return program


def _move_constants(value: Node, facts: Facts) -> Node:
    """An expression with the constants of each product behind its first factor, if that is a number."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        factors = _factors(value)
        first = factors[0][1]
        if len(factors) > 2 and _is_number(first, facts) and is_of_derivative(value, facts):
            start = next((k for k, (_, one) in enumerate(factors) if not _is_number(one, facts)), len(factors))
            places = [k for k, factor in enumerate(factors) if k > start and _may_move(*factor)]
            for shift, place in enumerate(places):
                factors.insert(start + shift, factors.pop(place))
            for op, one in factors[1:] if places else ():
                first = at(gast.BinOp(first, op, one), value)
            value = first if places else value
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_move_constants(item, facts) if isinstance(item, gast.AST) else item for item in part])
        elif isinstance(part, gast.AST) and part._fields and key != "slice":
            setattr(value, key, _move_constants(part, facts))
    return value


def _factors(value: Node) -> list[tuple[Node, Node]]:
    """The factors and divisors of a product from left to right, each with the operator before it."""
    found = []
    while isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        found.append((value.op, value.right))
        value = value.left
    return [(found[-1][0], value), *reversed(found)]


def _may_move(op: Node, factor: Node) -> bool:
    """Whether a factor is a constant that may be multiplied earlier: not one with which products get out of range."""
    constant = isinstance(factor, gast.Constant) and type(factor.value) is float
    return constant and isinstance(op, gast.Mult) and 2.0**-8 <= abs(factor.value) <= 2.0**8


def _is_number(factor: Node, facts: Facts) -> bool:
    """Whether a factor, but for its sign, is a number of a floating type."""
    factor = factor.operand if is_minus(factor) else factor
    if not is_floating(factor, facts):
        return False
    if isinstance(factor, gast.Name) and factor not in facts.spec:
        spec = facts.value_spec.get(facts.adjoint_of.get(factor.id, factor.id))
        return spec is not None and spec.scalar
    return spec_of_tree(factor, facts).scalar


def _move_sign_inward(value: Node, facts: Facts) -> Node:
    """`sum_to(-y_bar * x, z)` for `-sum_to(y_bar * x, z)`."""
    if not is_minus(value) or not fits(value.operand, facts):
        return value
    product = value.operand.args[0]
    while isinstance(product, gast.BinOp) and isinstance(product.op, gast.Mult | gast.Div):
        left = product.left
        if isinstance(left, gast.Name) and _is_number(left, facts):
            product.left = at(gast.UnaryOp(gast.USub(), left), left)
            return value.operand
        product = left
    return value


def outward(value: Node, facts: Facts) -> Node:
    """The expression with minus signs moved out of `sum_to` and of parts: these are smaller than the whole."""
    if isinstance(value, gast.BinOp):
        value.left, value.right = outward(value.left, facts), outward(value.right, facts)
        minus = operand_of_negative(value.right, facts)
        if isinstance(value.op, gast.Mult | gast.Div):
            if is_minus(value.left):
                value.left = negative_of(value.left.operand, facts)
            if minus is not None:
                own = operand_of_negative(value.left, facts)
                if own is None and not has_sign(value.left, facts) and not isinstance(value.left, gast.Constant):
                    return at(gast.UnaryOp(gast.USub(), gast.BinOp(value.left, value.op, minus)), value)
                value.left, value.right = negative_of(value.left, facts) if own is None else own, minus
        else:
            return applied(value, SIGNS, facts) or value
    elif isinstance(value, gast.UnaryOp):
        value.operand = outward(value.operand, facts)
        return applied(value, SIGNS, facts) or value
    elif is_linear(value, facts):
        inner = outward(value.args[0], facts)
        minus = operand_of_negative(inner, facts)
        value.args[0] = inner if minus is None else minus
        return value if minus is None else at(gast.UnaryOp(gast.USub(), value), value)
    elif isinstance(value, gast.Subscript) or is_transpose(value) or is_sum(value):
        holder = value.func if isinstance(value, gast.Call) else value
        holder.value = outward(holder.value, facts)
        minus = operand_of_negative(holder.value, facts)
        holder.value = holder.value if minus is None else minus
        return value if minus is None else at(gast.UnaryOp(gast.USub(), value), value)
    elif isinstance(value, gast.Call):
        value.args = [outward(argument, facts) for argument in value.args]
    return value


def settle_signs(node: Node, facts: Facts) -> Node:
    """A statement with its minus signs moved out, as far as into `x_bar -= e`."""
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return):
        node.value = outward(node.value, facts)
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub):
        minus = operand_of_negative(node.value, facts)
        if minus is not None:
            node.op = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
            node.value = minus
    return node


def signs(program: Program, facts: Facts) -> Program:
    """Subtract where the negative of something would be added."""
    tangents = [node for node in statements(program.forward) if node in facts.tangents]
    for node in [*statements(program.backward), *tangents]:
        if not any(holds(part, gast.UnaryOp) for part in header(node)):
            continue
        settle_signs(node, facts)
        for part in header(node):
            for item in walk(part):
                if is_minus(item) and _starts(item.operand, facts):
                    replace(node, item, negative_of(item.operand, facts))
    return program


def _starts(value: Node, facts: Facts) -> bool:
    """Whether a value is a product or a quotient that begins with a float: what is unsigned has no negative."""
    first = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div):
        first = first.left
    return first is not value and is_floating(first, facts)


def spread_seed(program: Program, facts: Facts) -> Program:
    """Read 1.0 where a seed is read that the backward half binds to 1.0."""
    if facts.seed != "one":
        return program
    bound = bindings(program.block)
    kept = {facts.spelled[w] for w in facts.wrt} | set(facts.elements) | _names_read_in_parts(program)
    seeds: set[str] = set()
    block = []
    for node in program.backward:
        _replace_reads(node, seeds)
        made = target(node)
        if made is not None and bound[made] == 1 and made not in kept and _is_unit(node.value):
            seeds.add(made)
        else:
            block.append(node)
    program.backward = block
    _replace_reads(program.result, seeds)
    return program


def _names_read_in_parts(program: Program) -> set[str]:
    """Names of which parts are read: of 1.0 there are none, which the test of the seed tells when it runs."""
    parts = [n for node in [*program.backward, program.result] for n in walk(node) if isinstance(n, gast.Subscript)]
    return {part.value.id for part in parts if isinstance(part.value, gast.Name)}


def _replace_reads(node: Node, seeds: set[str]) -> None:
    def is_seed(part: Node) -> bool:
        return isinstance(part, gast.Name) and part.id in seeds

    if seeds.isdisjoint(reads(node)):
        return
    for item in walk(node):
        for key in item._fields:
            part = getattr(item, key, None)
            if is_seed(part):
                setattr(item, key, literal_node(1.0))
            elif isinstance(part, list):
                setattr(item, key, [literal_node(1.0) if is_seed(each) else each for each in part])


def units(program: Program, facts: Facts) -> Program:
    """`e` for `1.0 * e`, where e is a float already, and a value of its own."""
    if facts.seed == "one":
        for node in statements(program.backward):
            for key in ("value", "test", "iter"):
                if isinstance(getattr(node, key, None), gast.AST):
                    setattr(node, key, simplified(getattr(node, key), UNITS, facts))
    return program


def _is_unit(node: Node | None) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) is float and node.value == 1.0
