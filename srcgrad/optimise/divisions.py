"""Divisions: fractions that are there, factors that sums share, quotients that cancel.

`g / d * n` is `g * q`, where the function has computed `q = n / d`. The derivative of a length gives `length_bar /
length * d`, and a function that takes a length mostly goes on with the direction, `d / length`. Both products have one
shape and dtype, and are NaN together; only their rounding differs.

`g * a + g * b` is `g * (a + b)`, which multiplies once less: terms of one adjoint share what comes in. Sums of what may
be small integers stay: these may be too large for their type, where the products with a float were not.

With `q = a / b`, `g / q / b` is `g / a`, and `g / q / b * q` is `g / b`, as the logarithm of a ratio has them; with `q
= a * b`, `g / q * b` is `g / a`. What is left makes fewer arrays, and holds where the ratio is 0 or infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from srcgrad.analysis.array_regions import canonical_spec
from srcgrad.analysis.dtypes import fits, has_sign, is_minus, is_of_derivative, operand_of_negative
from srcgrad.analysis.shapes import covers, spec_of_tree
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.identity import record
from srcgrad.core.trees import (
    Block,
    Node,
    adds_axes,
    at,
    children,
    copy,
    expression,
    find_nodes,
    header,
    literal_node,
    loads,
    name,
    same_tree,
    statements,
    target,
    walk,
)
from srcgrad.core.visitor import bindings, replace, rewrite
from srcgrad.derive.program import Program
from srcgrad.optimise.algebra import Factor, constants_first, factors_of


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
    """The value without its sign."""
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
