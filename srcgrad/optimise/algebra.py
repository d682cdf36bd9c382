"""Algebra: the table of patterns that simplifies texts; factors, signs and units, exactly.

A row of the table is a pattern and what stands in its place, both as text, applied from the inside out. A name of one
letter stands for any expression, the same one wherever it is repeated; `np.outer(a, b)` for a call of that function,
`a.T` for an attribute. A row that says `exact` gives the same floats to the last bit, `-0.0`, infinities and nan among
them; `tests/optimise/test_algebra.py` evaluates each row.

- `np.divide(a, b)`, needed for Python's numbers alone, whose division by zero raises, is `a / b` where NumPy divides
  anyway; and `x_dot / y - y_dot / y * z`, the tangent of `z = x / y`, is `(x_dot - y_dot * z) / y`.
- `e * 100.0 * 2.0` is `e * 200.0`, and `a * 2.0 + b * 2.0` is `(a + b) * 2.0`, where one factor is a power of two.
- Numbers stand first: `y_bar * 0.3 * x` goes over one array once, `y_bar * x * 0.3` twice; so does the sign of a
  product.
- `a + -b` is `a - b`, and `-(a / b)` is `-a / b`. By the seed 1.0 of a gradient nothing need be multiplied.
- Matrix products that a loop adds up, one per trip, are one product of what the trips kept; transposes that a product
  takes as well, that undo each other, or that are of a number, go: `(x.T @ z_bar).T`.

Fractions that are there are read: `g / d * n` is `g * q`, where the function has computed `q = n / d`. The derivative
of a length gives `length_bar / length * d`, and a function that takes a length mostly goes on with the direction, `d /
length`. Both products have one shape and dtype, and are NaN together; only their rounding differs. Quotients cancel:
with `q = a / b`, `g / q / b` is `g / a`, which makes fewer arrays, and holds where the ratio is 0 or infinite.

`g * a + g * b` is `g * (a + b)`: terms of one adjoint share what comes in. Sums of what may be small integers stay:
these may be too large for their type, where the products with a float were not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import frexp
from typing import (
    Any,  # operations are arbitrary functions
    TypeGuard,
)

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.array_regions import canonical_spec
from srcgrad.analysis.dtypes import (
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
from srcgrad.analysis.shapes import covers, spec_of_tree
from srcgrad.core.facts import UNKNOWN, Facts, copy_with_facts, function_called
from srcgrad.core.identity import record
from srcgrad.core.trees import (
    COMPOUND,
    SIMPLE,
    Block,
    Node,
    adds_axes,
    at,
    children,
    copy,
    expression,
    find_nodes,
    header,
    holds,
    literal_node,
    loads,
    name,
    names_in,
    reads,
    same_tree,
    statement,
    statements,
    stores,
    substitute,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import bindings, replace, rewrite, rewrite_parts, rewrite_statements
from srcgrad.derive.program import Program
from srcgrad.optimise.broadcasting import without_kept_axes


@record(frozen=True)
class Match:
    """What the names of a pattern stand for in an expression."""

    parts: dict[str, Node]
    functions: dict[str, Node]  # `np.outer` -> as it is spelled there
    is_operand: bool  # whether the expression is an operand of arithmetic, so that nobody keeps its value
    facts: Facts


Condition = Callable[[Match], bool]


@record(frozen=True)
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
        spec = facts.values.spec.get(node) or facts.values.value_spec.get(facts.names.adjoint_of.get(node.id, node.id))
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


def simplify(program: Program, facts: Facts) -> Program:
    """Simplify the lines of a derivative: units, quotients, constant factors, signs, and axes kept to be taken off.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    return 100.0 * x ** 2", after="simplify").splitlines()[-2])
    x_bar = y_bar * 200.0 * x
    >>> print(explain_text("def f(x):\\n    return np.exp(-0.5 * x ** 2)", after="simplify").splitlines()[-2])
    x_bar = -y_bar * np.exp(-0.5 * x**2) * x
    >>> print(explain_text("def f(x):\\n    return np.log(np.sum(np.exp(x)))", after="simplify").splitlines()[-2])
    x_bar = y_bar / np.sum(t3) * t3
    """
    tangents = [node for node in statements(program.forward) if node in facts.tape.tangents]
    backward = list(statements(program.backward))
    if facts.request.seed == "one":
        for node in backward:
            _without_units(node, facts)
    _divide(program, facts)
    for node in [*backward, *tangents]:
        _multiply_constants(node, facts)
        _move_signs(node, facts)
    for node in backward:
        without_kept_axes(node)
    return program


def _multiply_constants(node: Node, facts: Facts) -> None:
    """Multiply the constant factors of a product, and leave out a factor of 1.0; one of -1.0 is a sign."""
    if isinstance(node, gast.Assign | gast.AugAssign) and any(
        _is_float(item) for item in find_nodes(node.value, gast.Constant)
    ):
        node.value = _merge_constants(node.value, facts, inside=isinstance(node, gast.AugAssign))


def _merge_constants(value: Node, facts: Facts, inside: bool) -> Node:
    """An expression in which each product has one constant; `inside` tells whether it is an operand of arithmetic."""
    if type(value) in SIMPLE:
        return value
    arithmetic = isinstance(value, gast.BinOp | gast.UnaryOp)
    rewrite_parts(value, lambda part: _merge_constants(part, facts, arithmetic), apart=("slice",))
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add | gast.Sub):
        return _factor_out_power(value, facts)
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return value
    for factor, rest in ((value.right, value.left), (value.left, value.right)):
        if _is_float(factor) and is_floating(rest, facts):
            found = rest if _is_one(factor) else _absorb_constant(rest, factor.value, facts, next_to=True)
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


def _is_float(value: Node) -> TypeGuard[gast.Constant]:
    return isinstance(value, gast.Constant) and type(value.value) is float


def _is_one(value: Node) -> bool:
    return _is_float(value) and value.value == 1.0


def _is_power(number: float) -> bool:
    """Whether a number is a power of two, or minus one: a product with it is exact."""
    return abs(frexp(number)[0]) == 0.5


def constants_first(node: Node, facts: Facts) -> None:
    """Multiply a number by a constant before arrays are, in one statement."""
    if any(type(item.value) is float for item in find_nodes(node.value, gast.Constant)):
        node.value = _move_constants(node.value, facts)
    if facts.names.adjoint_of.get(str(target(node))) not in facts.activity.indexed:
        node.value = _move_sign_inward(
            node.value, facts
        )  # what `fit_to` gives is nobody's to change: with a minus it is


def _move_constants(value: Node, facts: Facts) -> Node:
    """An expression with the constants of each product behind its first factor, if that is a number."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        factors = factors_of(value)
        first = factors[0][1]
        if len(factors) > 2 and _is_number(first, facts) and is_of_derivative(value, facts):
            start = next((k for k, (_, one) in enumerate(factors) if not _is_number(one, facts)), len(factors))
            places = [k for k, factor in enumerate(factors) if k > start and _may_move(*factor)]
            for shift, place in enumerate(places):
                factors.insert(start + shift, factors.pop(place))
            for op, one in factors[1:] if places else ():
                first = at(gast.BinOp(first, op(), one), value)
            value = first if places else value
    rewrite_parts(value, lambda part: _move_constants(part, facts), apart=("slice",))
    return value


Factor = tuple[type, Node]  # gast.Mult or gast.Div, and what one multiplies with or divides by


def factors_of(value: Node) -> list[Factor]:
    """The factors and divisors of a product, from left to right."""
    found: list[Factor] = []
    while isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        found.append((type(value.op), value.right))
        value = value.left
    return [(gast.Mult, value), *reversed(found)]


def _may_move(op: type, factor: Node) -> bool:
    """Whether a factor is a constant that may be multiplied earlier: not one with which products get out of range."""
    constant = isinstance(factor, gast.Constant) and type(factor.value) is float
    return constant and op is gast.Mult and 2.0**-8 <= abs(factor.value) <= 2.0**8


def _is_number(factor: Node, facts: Facts) -> bool:
    """Whether a factor, but for its sign, is a number of a floating type."""
    factor = factor.operand if is_minus(factor) else factor
    if not is_floating(factor, facts):
        return False
    if isinstance(factor, gast.Name) and factor not in facts.values.spec:
        spec = facts.values.value_spec.get(facts.names.adjoint_of.get(factor.id, factor.id))
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
            summed: Node = value.operand
            return summed
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
    if isinstance(node, gast.Assign | gast.AugAssign | gast.Return) and node.value is not None:
        node.value = outward(node.value, facts)
    if isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub):
        minus = operand_of_negative(node.value, facts)
        if minus is not None:
            node.op = gast.Sub() if isinstance(node.op, gast.Add) else gast.Add()
            node.value = minus
    return node


def _move_signs(node: Node, facts: Facts) -> None:
    """Subtract where the negative of something would be added."""
    if not any(holds(part, gast.UnaryOp) for part in header(node)):
        return
    settle_signs(node, facts)
    for part in header(node):
        for item in walk(part):
            if is_minus(item) and _starts(item.operand, facts):
                replace(node, item, negative_of(item.operand, facts))


def _starts(value: Node, facts: Facts) -> bool:
    """Whether a value is a product or a quotient that begins with a float: what is unsigned has no negative."""
    first = value
    while isinstance(first, gast.BinOp) and isinstance(first.op, gast.Mult | gast.Div):
        first = first.left
    return first is not value and is_floating(first, facts)


def spread_seed(program: Program, facts: Facts) -> Program:
    """Read 1.0 where a seed is read that the backward half binds to 1.0."""
    if facts.request.seed != "one":
        return program
    bound = bindings(program.block)
    kept = (
        {facts.names.spelled[w] for w in facts.request.wrt} | set(facts.memory.elements) | _names_read_in_parts(program)
    )
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
    parts = [n for node in [*program.backward, program.result] for n in find_nodes(node, gast.Subscript)]
    return {part.value.id for part in parts if isinstance(part.value, gast.Name)}


def _replace_reads(node: Node, seeds: set[str]) -> None:
    for each in statements([node]) if not seeds.isdisjoint(reads(node)) else ():
        rewrite(each, lambda part: literal_node(1.0) if isinstance(part, gast.Name) and part.id in seeds else part)


def _without_units(node: Node, facts: Facts) -> None:
    """`e` for `1.0 * e`, where e is a float already, and a value of its own."""
    for key in ("value", "test", "iter"):
        if isinstance(getattr(node, key, None), gast.AST):
            setattr(node, key, simplified(getattr(node, key), UNITS, facts))


def _is_unit(node: Node | None) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) is float and node.value == 1.0


_LEFT = (runtime.matmul_left, runtime.dot_left)
_RIGHT = (runtime.matmul_right, runtime.dot_right)


@record(frozen=True)
class _Term:
    """`w_bar = w_bar + matmul_left(z_bar, w, x)`: the rule, the factor that is fixed, and what is kept."""

    node: Node
    rule: Any  # np.outer, or the helper that multiplies
    fixed: Node | None
    kept: tuple[Node, Node]  # the adjoint of the product, the other factor


def loop_products(program: Program, facts: Facts) -> Program:
    """Keep the factors of each trip in lists, and multiply once behind the loop.

    An outer product per trip touches all of the matrix twice per trip; the product of two matrices does so once.
    A text that is to be differentiated again keeps its products where they are.
    """
    if facts.module is None or facts.module.inline or facts.origin.again_written:  # blocks of rows keep nothing
        return program
    made: dict[str, list[Node]] = {}
    for node in statements(program.forward):
        for one in stores(node):
            made.setdefault(one, []).append(node)
    program.backward = _block(program.backward, made, facts)
    return program


def _block(block: Block, made: dict[str, list[Node]], facts: Facts) -> Block:
    found: Block = []
    for node in block:
        before, behind = _gather_terms(node, made, facts) if isinstance(node, gast.For | gast.While) else ([], [])
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, made, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], made, facts)
        if before:  # lists begin where zeros do, above all that is cited
            start = next((k for k, one in enumerate(found) if one not in facts.tape.zeros), len(found))
            found[start:start] = before
        found.append(node)
        for total in behind:
            found = _add_total(found, total, facts)
    return found


def _gather_terms(loop: Node, made: dict[str, list[Node]], facts: Facts) -> tuple[Block, Block]:
    """Make terms of a loop `append`; what belongs before the loop, and what belongs behind it."""
    before: Block = []
    behind: Block = []
    kept: list[tuple[Node, Node, str]] = []  # a value, the term that reads it, its list
    swaps: dict[Node, Block] = {}
    for term in _terms(loop, made, facts):
        lists, within = [], []
        for part in term.kept:
            again = next((one for old, at_term, one in kept if _is_same(part, term.node, old, at_term, loop)), None)
            lists.append(again or _list_name(part, facts))
            if again is None:
                kept.append((part, term.node, lists[-1]))
                before.append(statement(f"{lists[-1]} = []"))
                within.append(at(statement(f"{lists[-1]}.append(x)", x=part), term.node))
        swaps.setdefault(term.node, []).extend(within)
        behind.append(at(_total(term, lists, facts), term.node))
    loop.body = rewrite_statements(loop.body, lambda node: swaps.get(node, [node]))
    return before, behind


def _total(term: _Term, lists: list[str], facts: Facts) -> Node:
    """`w_bar = w_bar + ...`, of all trips."""
    total = target(term.node)
    if term.rule is np.outer:
        np_ = facts.library("np")
        made = statement(f"{total} = {total} + {np_}.transpose({lists[0]}) @ {np_}.array({lists[1]})")
    else:
        factors = f"{_name(term.fixed)}, {lists[1]}" if term.rule in _LEFT else f"{lists[1]}, {_name(term.fixed)}"
        summed = f"{facts.library('sum_products')}({facts.library(term.rule.__name__)}, {lists[0]}, {factors})"
        made = statement(f"{total} = {total} + {summed}")
    facts.tape.accumulates[made] = None
    return made


def _add_total(block: Block, node: Node, facts: Facts) -> Block:
    """The block with a total at its end, which takes the place of zeros that nothing else was added to."""
    total = str(target(node))
    mentions = [n for n in block if total in stores(n) or any(_mentions(m, total) for m in statements([n]))]
    call = node.value.right
    if isinstance(call, gast.Call) and len(mentions) == 1 and mentions[0] in facts.tape.zeros:
        node.value = call
        del facts.tape.accumulates[node]
        block = [n for n in block if n is not mentions[0]]
    return [*block, node]


def _is_same(one: Node, here: Node, two: Node, there: Node, loop: Node) -> bool:
    """Whether two terms of one block, with nothing bound between them, keep the same value."""
    block = next(b for b in _blocks(list(statements([loop]))) if any(n is here for n in b))
    place = {n: k for k, n in enumerate(block)}
    if there not in place or gast.unparse(one) != gast.unparse(two):
        return False
    names = names_in(one)
    between = block[place[there] : place[here]]
    return not any(set(stores(n)) & names for m in between for n in statements([m]))


def _terms(loop: Node, made: dict[str, list[Node]], facts: Facts) -> list[_Term]:
    """Products that the loop does nothing with but add them up."""
    inside = list(statements([loop]))
    bound = {s for n in inside for s in stores(n)}
    every = {n: found for n in inside if (found := _terms_of(n, facts))}
    terms = [t for found in every.values() for t in found if not any(_name(one.fixed) in bound for one in found)]
    found = []
    for term in terms:
        total = str(target(term.node))
        others = [n for n in inside if total in stores(n) or _mentions(n, total)]
        alone = all(any(o is t.node for t in terms) for o in others if o is not loop)
        if alone and all(_stays(part, term, inside, made, facts) for part in term.kept):
            found.append(term)
    return found


def _terms_of(node: Node, facts: Facts) -> list[_Term]:
    """The products of `w_bar = w_bar + p - q`; nothing if anything else is added."""
    left = node.value if node in facts.tape.accumulates and isinstance(node, gast.Assign) else None
    found: list[_Term] = []
    while isinstance(left, gast.BinOp) and isinstance(left.op, gast.Add | gast.Sub):
        term = _term(node, left.right, isinstance(left.op, gast.Sub), facts)
        if term is None:
            return []
        found.insert(0, term)
        left = left.left
    return found if _name(left) == target(node) else []


def _term(node: Node, call: Node, subtracted: bool, facts: Facts) -> _Term | None:
    if not isinstance(call, gast.Call) or call.keywords or len(call.args) < 2:
        return None
    seed, *factors = call.args
    if subtracted:
        if not has_sign(seed, facts):
            return None
        seed = gast.UnaryOp(gast.USub(), seed)
    function = function_called(call, facts)
    if function is np.outer:
        return _Term(node, np.outer, None, (seed, factors[0]))
    if not isinstance(call.func, gast.Name) or len(factors) != 2:
        return None
    left, right = factors
    if function in _LEFT and isinstance(left, gast.Name):
        return _Term(node, function, left, (seed, right))
    if function in _RIGHT and isinstance(right, gast.Name):
        return _Term(node, function, right, (seed, left))
    return None


def _name(node: Node | None) -> str:
    return node.id if isinstance(node, gast.Name) else ""


def _mentions(node: Node, one: str) -> bool:
    if isinstance(node, COMPOUND):
        heads = [getattr(node, "test", None), getattr(node, "iter", None)]
        return any(_name(i) == one for head in heads if head is not None for i in walk(head))
    return any(_name(i) == one for i in walk(node))


def _stays(value: Node, term: _Term, inside: list[Node], made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether a value that a trip computes keeps its elements while later trips run."""
    pending = list(loads(value))
    seen = set(pending)
    while pending:
        one = pending.pop()
        if (
            one in facts.memory.mutable
            or one in facts.memory.viewed
            or one in facts.memory.swapped
            or facts.list_kind(one)
        ):
            return False
        if any(one in written_names(n) for n in inside) and not _is_made_before(one, term.node, inside, facts):
            return False
        sources = [n for n in [*inside, *made.get(one, [])] if target(n) == one and n not in facts.tape.restores]
        shown = [n for n in sources if n not in facts.tape.zeros and not isinstance(n.value, gast.BinOp)]
        further = [read for source in shown for read in loads(source.value) if read not in seen]
        pending += further
        seen.update(further)
    return True


def _is_made_before(one: str, term: Node, inside: list[Node], facts: Facts) -> bool:
    """Whether an array is made anew in the block of the term, and is complete when the term reads it."""
    block = next(b for b in _blocks(inside) if any(n is term for n in b))
    place = {n: k for k, n in enumerate(block)}
    fresh = [n for n in block if n in facts.tape.zeros and target(n) == one]
    writes = [n for n in inside if one in written_names(n)]
    inner = {m: place[n] for n in block for m in statements([n])}
    ends = place[term]
    return bool(fresh) and all(n in inner and place[fresh[-1]] < inner[n] < ends for n in writes)


def _blocks(inside: list[Node]) -> list[Block]:
    compound = [n for n in inside if isinstance(n, COMPOUND)]
    return [b for n in compound for b in (n.body, getattr(n, "orelse", None) or [])]


def _list_name(part: Node, facts: Facts) -> str:
    """The name of a list of such values; it goes with the name of the value, which may be counted later."""
    held = next((one for one in loads(part) if one not in facts.names.imports.values()), "factor")
    if held in facts.names.temporaries:
        return facts.names.fresh("factors")
    made = facts.names.fresh(f"{held}s")
    facts.names.plurals[made] = held
    return made


def product_transposes(program: Program, facts: Facts) -> Program:
    """Transpose the factors of a product of matrices rather than the product, and nothing twice.

    >>> import numpy as np, srcgrad
    >>> def layer(w, x):
    ...     return np.sum(np.sin(x @ w.T))
    >>> slope = srcgrad.grad(layer)
    >>> _ = slope(np.ones((2, 3)), np.ones((4, 3)))
    >>> print(slope.source.splitlines()[-2])
        w_bar = (y_bar * np.cos(x @ w.T)).T @ x
    """
    if facts.module is not None and facts.module.leading.axis:
        return program
    sources: dict[str, Node] | None = None
    for node in [*(n for n in statements(program.forward) if n in facts.tape.tangents), *statements(program.backward)]:
        for part in header(node):
            if not any(_operand_of_transpose(whole) is not None for whole in find_nodes(part, gast.Attribute)):
                continue
            sources = _sources(program) if sources is None else sources
            for whole in walk(part):
                _read_without_transpose(whole, sources, facts)
                while (turned := applied(whole, TRANSPOSES, facts)) is not None:
                    replace(node, whole, whole := turned)
                number = _of_number(whole, program, facts)
                if number is not None:
                    replace(node, whole, number)
    return program


def _sources(program: Program) -> dict[str, Node]:
    """The w of each name that is `w.T`, both bound once, outside of loops and branches: they show one array."""
    if not any(target(node) and isinstance(_operand_of_transpose(node.value), gast.Name) for node in program.forward):
        return {}
    bound_to = bindings(program.block)
    fixed = {p for p in program.parameters if p not in bound_to}
    found: dict[str, Node] = {}
    for node in program.forward:
        bound = target(node)
        if bound is None or bound_to.get(bound) != 1:
            continue
        fixed.add(bound)
        below = _operand_of_transpose(node.value)
        if isinstance(below, gast.Name) and below.id in fixed:
            found[bound] = below
    return found


def _operand_of_transpose(value: Node) -> Node | None:
    """The a of `a.T`."""
    transposes = isinstance(value, gast.Attribute) and value.attr == "T"
    return value.value if transposes else None


def _read_without_transpose(whole: Node, sources: dict[str, Node], facts: Facts) -> None:
    """Read w in a product, and as an argument, where the transpose of `w.T` was read."""
    if isinstance(whole, gast.BinOp) and isinstance(whole.op, gast.MatMult):
        for side in ("left", "right"):
            below = _operand_of_transpose(getattr(whole, side))
            if isinstance(below, gast.Name) and below.id in sources:
                setattr(whole, side, copy_with_facts(sources[below.id], facts))
    elif isinstance(whole, gast.Call):
        for place, argument in enumerate(whole.args):
            below = _operand_of_transpose(argument)
            if isinstance(below, gast.Name) and below.id in sources:
                whole.args[place] = copy_with_facts(sources[below.id], facts)


def _of_number(whole: Node, program: Program, facts: Facts) -> Node | None:
    """`y_bar * 2.0` for its transpose: the seed of a gradient may be a float, which has none."""
    below = _operand_of_transpose(whole)
    bound = {} if below is None else bindings(program.block)
    if below is None or not _is_computed_number(below, bound, facts):
        return None
    seeds = [n for n in find_nodes(below, gast.Name) if not _stands_for_one(n, bound, facts)]
    if any(bound.get(seed.id, 0) > int(facts.request.seed == "one") for seed in seeds):
        return expression(f"{facts.library('np')}.transpose(x)", x=below)  # also the name of an adjoint of arrays
    return below


def _is_computed_number(value: Node, bound: Mapping[str, int], facts: Facts) -> bool:
    """Whether an expression is computed from the seed of a gradient, from numbers and from constants alone."""
    if isinstance(value, gast.BinOp):
        return _is_computed_number(value.left, bound, facts) and _is_computed_number(value.right, bound, facts)
    if isinstance(value, gast.UnaryOp):
        return _is_computed_number(value.operand, bound, facts)
    if isinstance(value, gast.Name):
        seed = facts.request.seed in ("parameter", "one") and not facts.pushes_forward and value.id in facts.names.seeds
        return seed or _stands_for_one(value, bound, facts)
    return isinstance(value, gast.Constant)


def _stands_for_one(value: Node, bound: Mapping[str, int], facts: Facts) -> bool:
    """Whether a name stands for a number, or for the derivative of an argument that is one all along."""
    primal = facts.names.adjoint_of.get(value.id, value.id)
    given = (
        facts.kinds.of_names.get(primal, UNKNOWN).tag == "scalar" and not bound.get(primal) and not bound.get(value.id)
    )
    return given or (spec_of_tree(value, facts).scalar and bound.get(value.id, 0) < 2)


_OTHERS = (
    np.sum,
    np.mean,
    np.prod,
    np.max,
    np.min,
    np.matmul,
    np.reshape,
    np.zeros_like,
)  # no ufuncs, but NumPy's values


def _divide(program: Program, facts: Facts) -> None:
    """Divide with an operator, unless both may be Python's numbers."""
    own = [*program.backward, *(node for node in statements(program.forward) if node in facts.tape.tangents)]
    divisions = [
        (node, call)
        for node in statements(own)
        if node not in facts.origin.again_written
        for part in header(node)
        for call in find_nodes(part, gast.Call)
        if function_called(call, facts) is np.divide and len(call.args) == 2 and not call.keywords
    ]
    if divisions:
        made = [node for node in statements(program.block) if node not in facts.tape.restores]
        bound = Counter(one for node in made for one in stores(node))
        once = [node for node in made if bound[str(target(node))] == 1]
        values = {str(target(node)): node.value for node in once if target(node) not in program.parameters}
        arrays = {one for one in program.parameters if one not in bound and _is_array(one, facts)}
        for node, call in divisions:
            if any(_is_numpys(side, values, arrays, facts) for side in call.args):
                replace(node, call, gast.BinOp(call.args[0], gast.Div(), call.args[1]))
    for node in statements(program.forward):
        if node in facts.tape.tangents and isinstance(node, gast.Assign):
            node.value = applied(node.value, QUOTIENTS, facts) or node.value


def _is_array(argument: str, facts: Facts) -> bool:
    return facts.kinds.of_names.get(argument, UNKNOWN).tag == "array"


def _is_numpys(node: Node, values: dict[str, Node], arrays: set[str], facts: Facts) -> bool:
    """Whether a value is an array or a scalar of NumPy's, whatever the arguments are."""
    seen: set[str] = set()
    left = [node]
    while left:
        node = left.pop()
        if isinstance(node, gast.Name) and node.id not in seen:
            if node.id in arrays:
                return True
            seen.add(node.id)
            left += [values[node.id]] if node.id in values else []
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
            left.append(node.operand)
        elif isinstance(node, gast.BinOp):
            left += [node.left, node.right]  # one of two is enough
        elif isinstance(node, gast.Call) and _gives_numpys(node, facts):
            return True
    return False


def _gives_numpys(call: Node, facts: Facts) -> bool:
    """Whether a call is of a function of NumPy that never gives a number of Python's; or `e.sum()`."""
    function = function_called(call, facts)
    if function is None and getattr(call.func, "attr", "") == "sum":
        array = call.func.value
        return getattr(array, "id", "") in facts.names.adjoint_of or isinstance(array, gast.BinOp)
    if any(isinstance(argument, gast.GeneratorExp) for argument in call.args):
        return False  # which `np.sum` gives to the sum of Python
    return isinstance(function, np.ufunc) or function in _OTHERS


def strength_reduction(program: Program, facts: Facts) -> Program:
    """Multiply by a quotient that the backward half reads anyway, instead of dividing again.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x):\\n    r = np.sqrt(np.sum(x * x))\\n    u = x / r\\n    return u @ np.sin(u)"
    >>> print(explain_text(text, after="strength_reduction").splitlines()[-2])
    x_bar = t5 - sum_to(t5 * u, r) * u

    Multiply two terms by what they share after they are added, where that is less work; a number by a constant first.

    >>> text = "def f(x):\\n    return np.sum(x * np.exp(-x))"
    >>> print(explain_text(text, after="strength_reduction").splitlines()[-2])
    x_bar = y_bar * t3 * (1.0 - x)
    >>> text = "def f(x):\\n    return np.sum(np.exp(-x * x))"
    >>> print(explain_text(text, after="strength_reduction").splitlines()[-2])
    x_bar = -y_bar * 2.0 * np.exp(-x * x) * x
    """
    if facts.module is not None and facts.module.target.as_written:
        _reuse_quotients(program, facts)
    tangents = [node for node in statements(program.forward) if node in facts.tape.tangents]
    for node in [*statements(program.backward), *tangents]:
        if isinstance(node, gast.Assign | gast.AugAssign):
            _factor_sums(node, facts)
            constants_first(node, facts)
    return program


def _reuse_quotients(program: Program, facts: Facts) -> None:
    known = _quotients(program, facts)
    for node in statements(program.backward) if known else ():
        if node in facts.origin.again_written:
            continue
        for product in [one for part in header(node) for one in find_nodes(part, gast.BinOp)]:
            made = _multiply_by_known(product, known, facts)
            if made is not None:
                replace(node, product, made)


def _quotients(program: Program, facts: Facts) -> dict[str, Node]:
    """Names of the forward half for quotients of what stays, which the backward half reads."""
    read = {one for node in statements(program.backward) for one in loads(node)}
    return {
        held: value
        for held, value in invariant_divisors(program, facts).items()
        if held in read and isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div)
    }


def invariant_divisors(program: Program, facts: Facts) -> dict[str, Node]:
    """By name, values that the forward half computes once, outside of its loops, of what never changes."""
    bound = bindings(program.block)
    tables = (
        facts.memory.mutable,
        facts.memory.viewed,
        facts.memory.swapped,
        facts.kinds.containers,
        facts.memory.elements,
        facts.kinds.lists,
    )
    changing = {one for one in bound if bound[one] > 1}.union(*tables)
    changing |= {one for one in program.parameters if one in bound}
    return {
        str(target(node)): node.value
        for node in program.forward
        if target(node) is not None and changing.isdisjoint([str(target(node)), *loads(node.value)])
    }


def _multiply_by_known(product: Node, known: dict[str, Node], facts: Facts) -> Node | None:
    """`g * q` for `g / d * n`; `g[:, None] * q` for `(g / d)[:, None] * n`, where q is `n / d[:, None]`."""
    if not isinstance(product.op, gast.Mult):
        return None
    left = product.left
    index = left.slice if isinstance(left, gast.Subscript) and adds_axes(left.slice) else None
    quotient = left if index is None else left.value
    if not isinstance(quotient, gast.BinOp) or not isinstance(quotient.op, gast.Div):
        return None
    above, below = quotient.left, quotient.right
    if index is not None and not _is_alike(above, below, facts):
        return None
    divisor = below if index is None else gast.Subscript(below, index, gast.Load())
    for one, value in known.items():
        if same_tree(value.left, product.right) and same_tree(value.right, divisor):
            factor = above if index is None else gast.Subscript(above, copy(index), gast.Load())
            return gast.BinOp(factor, gast.Mult(), name(one))
    return None


def _is_alike(one: Node, two: Node, facts: Facts) -> bool:
    """Whether two values are known to have one shape, so that an axis may be added to either."""
    minus = operand_of_negative(one, facts)
    made, other = (canonical_spec(spec_of_tree(each, facts)) for each in (one if minus is None else minus, two))
    return not made.scalar and made.shape == other.shape


def _factor_sums(node: Node, facts: Facts) -> None:
    """Multiply two terms of a statement by what they share after they are added, where that is less work."""
    if node not in facts.origin.again_written:
        if any(isinstance(item.op, gast.Add | gast.Sub) for item in find_nodes(node.value, gast.BinOp)):
            node.value = rewrite(node.value, lambda value: _factor_sum(value, facts))


def _factor_sum(value: Node, facts: Facts) -> Node:
    """A sum as a product, where its terms share factors and that is less work."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add | gast.Sub):
        return value
    made = _factor_terms(value, facts)
    if made is None or not is_of_derivative(value, facts) or _work(made, facts) >= _work(value, facts):
        return value
    return at(made, value)


def _factor_terms(total: Node, facts: Facts) -> Node | None:
    """`g * (a + b)` for `g * a + g * b`; for `e + g * a + g * b` it is `e + g * (a + b)`. Signs may be any."""
    first = factors_of(total.left)
    minus = is_minus(first[0][1])
    if minus:
        first[0] = (gast.Mult, first[0][1].operand)
    shared, one, two = _split(first, factors_of(total.right))
    rests = [_product(one), _product(two)]
    if shared and all(has_sign(rest, facts) or isinstance(rest, gast.Constant) for rest in rests):
        op = total.op
        if minus and isinstance(op, gast.Add):
            rests, op = rests[::-1], gast.Sub()
        elif minus and shared[0][0] is gast.Mult:
            shared[0], op = (gast.Mult, gast.UnaryOp(gast.USub(), shared[0][1])), gast.Add()
        elif minus:
            rests[0] = gast.UnaryOp(gast.USub(), rests[0])
        return _product([*shared, (gast.Mult, gast.BinOp(rests[0], op, rests[1]))])
    before = total.left
    if not isinstance(before, gast.BinOp) or not isinstance(before.op, gast.Add | gast.Sub):
        return None
    if isinstance(before.op, gast.Add):
        made = _factor_terms(gast.BinOp(before.right, total.op, total.right), facts)
    elif isinstance(total.op, gast.Add):
        made = _factor_terms(gast.BinOp(total.right, before.op, before.right), facts)
    else:
        made = _factor_terms(gast.BinOp(before.right, gast.Add(), total.right), facts)
    op = gast.Add() if isinstance(before.op, gast.Add) or isinstance(total.op, gast.Add) else gast.Sub()
    return None if made is None else gast.BinOp(before.left, op, made)


def _split(one: list[Factor], two: list[Factor]) -> tuple[list[Factor], list[Factor], list[Factor]]:
    """What two products share, divisors last, and the rest of each; a constant factor alone is not shared."""
    shared, left, right = [], [], list(two)
    for op, factor in one:
        place = next((k for k, (other, two_) in enumerate(right) if other is op and same_tree(two_, factor)), None)
        if place is None:
            left.append((op, factor))
        else:
            shared.append((op, factor))
            right.pop(place)
    shared.sort(key=lambda factor: factor[0] is gast.Div)
    named = any(op is gast.Div or not isinstance(factor, gast.Constant) for op, factor in shared)
    return shared if named else [], left, right


def _product(factors: list[Factor]) -> Node:
    """A product of factors, which begins with the first that is no divisor; 1.0 if there is none."""
    first = next((one for one in factors if one[0] is gast.Mult), None)
    made = literal_node(1.0) if first is None else first[1]
    for one in factors:
        if one is not first:
            made = gast.BinOp(made, one[0](), one[1])
    return made


def _work(value: Node, facts: Facts) -> tuple[int, int]:
    """How many operations an expression has on arrays, and in all."""
    operations = find_nodes(value, gast.BinOp)
    return sum(not spec_of_tree(one, facts).scalar for one in operations), len(operations)


def sides(quotient: Node, facts: Facts) -> tuple[Node, Node] | None:
    """What is divided by what."""
    if isinstance(quotient, gast.BinOp) and isinstance(quotient.op, gast.Div):
        return quotient.left, quotient.right
    divides = function_called(quotient, facts) is np.divide
    return tuple(quotient.args) if divides and len(quotient.args) == 2 and not quotient.keywords else None


@record(frozen=True)
class _Read:
    """Where an adjoint is read: the statement, the expression to replace, its sign, and what it is to be divided by."""

    node: Node
    whole: Node
    minus: bool
    operand: Node


def common_divisors(program: Program, facts: Facts) -> Program:
    """Divide by an operand of a ratio or of a product once, instead of by it and by the other.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(a, b):\\n    return np.sum(np.log(a / b) ** 2)"
    >>> print("\\n".join(explain_text(text, after="common_divisors").splitlines()[-4:-1]))
    t3_bar = y_bar * 2.0 * t3
    a_bar = sum_to(t3_bar / a, a)
    b_bar = sum_to(-t3_bar / b, b)
    """
    if not any(_is_plain(node.value) for node in program.forward if target(node) is not None):
        return program
    known = {one: value for one, value in invariant_divisors(program, facts).items() if _is_plain(value)}
    undone = False
    readers = _readers(program) if known else {}
    for node in list(program.backward) if known else ():
        if target(node) is None:
            continue
        quotient = sides(node.value.args[0] if fits(node.value, facts) else node.value, facts)
        below = getattr(quotient[1], "id", "") if quotient is not None else ""
        if quotient is not None and below in known:
            if covers(spec_of_tree(quotient[0], facts), spec_of_tree(quotient[1], facts)):
                if _undo(node, quotient[0], (below, known[below]), readers, program, facts):
                    undone, readers = True, _readers(program)
    facts.activity.left_over |= undone
    return program


def _readers(program: Program) -> dict[str, Block]:
    """By name, the statements that read it, in the order of the text; one that reads it twice stands there twice."""
    found: dict[str, Block] = {}
    for node in statements(program.block):
        for read in loads(node):
            found.setdefault(read, []).append(node)
    return found


def _is_plain(value: Node) -> bool:
    """Whether a value is a quotient or a product of names and constants."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Div | gast.Mult):
        return False
    return all(isinstance(one, gast.Name | gast.Constant) for one in (value.left, value.right))


def _undo(
    node: Node, above: Node, known: tuple[str, Node], readers: dict[str, Block], program: Program, facts: Facts
) -> bool:
    """Leave `above / q` out of a statement, where q is known to be a quotient or a product, and divide the readers."""
    held = str(target(node))
    block = readers.get(held, [])
    again = (one for one in block if target(one) is not None and _is_again(sides(one.value, facts), held, known))
    second = next(again, None) if isinstance(known[1].op, gast.Div) else None
    reads = None if second is None else _readers_of_name(str(target(second)), known, readers)
    if reads is None:
        second, reads = None, _reads(held, known, block, facts)
    if not reads or (second is not None and len(block) != 1):
        return False
    bound = bindings(program.block)
    alone = bound[held] == 1 and (second is None or bound[str(target(second))] == 1)
    if not alone or not all(_is_there(one.operand, program, facts) for one in reads):
        return False
    if isinstance(above, gast.Name) and (not fits(node.value, facts) or all(_is_fitted(one, facts) for one in reads)):
        base: Node = above
        program.backward.remove(node)
    else:
        base = name(held)
        facts.values.spec[node] = facts.values.spec[base] = spec_of_tree(above, facts)
        if fits(node.value, facts):
            node.value.args[0] = above
        else:
            node.value = above
    if second is not None:
        program.backward.remove(second)
    for read in reads:
        replace(read.node, read.whole, _quotient(base, read, facts))
    return True


def _is_there(operand: Node, program: Program, facts: Facts) -> bool:
    """Whether what is to be divided by needs no name for that alone."""
    if not isinstance(operand, gast.Name) or operand.id not in facts.names.temporaries:
        return True
    return any(operand.id in loads(node) for node in statements(program.backward))


def _quotient(base: Node, read: _Read, facts: Facts) -> Node:
    """What a reader divides; Python's numbers are divided by NumPy, which knows what a division by zero gives."""
    above, below = _twin(base, facts), _twin(read.operand, facts)
    above = gast.UnaryOp(gast.USub(), above) if read.minus else above
    if spec_of_tree(below, facts).scalar:
        return expression(f"{facts.library('np')}.divide(x, y)", x=above, y=below)
    return gast.BinOp(above, gast.Div(), below)


def _twin(node: Node, facts: Facts) -> Node:
    """A copy, of which the same is known; names are spelled anew in place, so no node may stand in a text twice."""
    made = copy(node)
    if node in facts.values.spec:
        facts.values.spec[made] = facts.values.spec[node]
    return made


def _reads(held: str, known: tuple[str, Node], block: Block, facts: Facts) -> list[_Read] | None:
    """The divisions of an adjoint by b, or its products with a and b; None if there are other readers."""
    below, made = known

    def term(one: Node) -> Node | None:
        if isinstance(made.op, gast.Div):
            parts = sides(one, facts)
            again = parts is not None and _is_name(parts[0], held) and same_tree(parts[1], made.right)
            return made.left if again else None
        if not isinstance(one, gast.BinOp) or not isinstance(one.op, gast.Mult) or not _is_name(one.left, held):
            return None
        return (
            made.left if same_tree(one.right, made.right) else made.right if same_tree(one.right, made.left) else None
        )

    return _readers_of_terms(held, below, made, term, block)


def _readers_of_name(held: str, known: tuple[str, Node], readers: dict[str, Block]) -> list[_Read] | None:
    """The readers of `g / q / b`, which has a name."""
    below, made = known
    return _readers_of_terms(
        held, below, made, lambda one: made.left if _is_name(one, held) else None, readers.get(held, [])
    )


def _readers_of_terms(
    held: str, below: str, made: Node, term: Callable[[Node], Node | None], block: Block
) -> list[_Read] | None:
    """The terms of all readers, times q or not; None unless each read of the name is in one of them."""
    found: list[_Read] = []
    for node in dict.fromkeys(block):
        if isinstance(node, gast.Assign | gast.AugAssign):
            todo = [node.value]
            while todo:
                one = todo.pop()
                minus = is_minus(one)
                ratio = isinstance(made.op, gast.Div) and isinstance(one, gast.BinOp) and isinstance(one.op, gast.Mult)
                if ratio and _is_name(one.right, below) and term(_without_sign(one.left)) is not None:
                    found.append(_Read(node, one, is_minus(one.left), made.right))
                elif (operand := term(_without_sign(one))) is not None:
                    found.append(_Read(node, one, minus, operand))
                else:
                    todo += children(one)
    return found if len(found) == len(block) else None


def _without_sign(value: Node) -> Node:
    return value.operand if is_minus(value) else value


def _is_name(value: Node, held: str) -> bool:
    return isinstance(value, gast.Name) and value.id == held


def _is_again(parts: tuple[Node, Node] | None, held: str, known: tuple[str, Node]) -> bool:
    """Whether the operands of a division are `g / q` and b."""
    return parts is not None and _is_name(parts[0], held) and same_tree(parts[1], known[1].right)


def _is_fitted(read: _Read, facts: Facts) -> bool:
    """Whether what is read is summed to the shape of what it is divided by, right away."""
    for call in walk(read.node.value):
        if fits(call, facts) and call.args[0] in (read.whole, getattr(read.whole, "operand", None)):
            return same_tree(call.args[1], read.operand)
    return False
