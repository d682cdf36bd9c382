"""Fractions that the function has computed: `g / d * n` is `g * q`, where `q = n / d` is there.

The derivative of a length gives `length_bar / length * d`, and a function that takes a length mostly goes on with the
direction, `d / length`. Both products have one shape and dtype, and are NaN together; only their rounding differs.
"""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.extents import canonical
from srcgrad.analyse.floating import negated
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import bindings, replace
from srcgrad.indices import adds_axes
from srcgrad.trees import Node, copy, header, inside, loads, name, same, statements, target


def divided(program: Program, facts: Facts) -> Program:
    """Multiply by a quotient that the backward half reads anyway, instead of dividing again.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    r = np.sqrt(np.sum(x * x))\\n    u = x / r\\n    return u @ np.sin(u)"
    >>> print(explain_text(text, after="divided").splitlines()[-2])
    x_bar = t5 - sum_to(t5 * u, r) * u
    """
    if facts.module is None or facts.module.target != "numpy":
        return program
    known = _quotients(program, facts)
    for node in statements(program.backward) if known else ():
        if node in facts.again_written:
            continue
        for product in [one for part in header(node) for one in inside(part, gast.BinOp)]:
            made = _multiplied(product, known, facts)
            if made is not None:
                replace(node, product, made)
    return program


def _quotients(program: Program, facts: Facts) -> dict[str, Node]:
    """Names of the forward half for quotients of what stays, which the backward half reads."""
    read = {one for node in statements(program.backward) for one in loads(node)}
    return {
        held: value
        for held, value in steady(program, facts).items()
        if held in read and isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div)
    }


def steady(program: Program, facts: Facts) -> dict[str, Node]:
    """By name, values that the forward half computes once, outside of its loops, of what never changes."""
    bound = bindings(program.block)
    tables = (facts.mutable, facts.viewed, facts.swapped, facts.containers, facts.elements, facts.lists)
    changing = {one for one in bound if bound[one] > 1}.union(*tables)
    changing |= {one for one in program.parameters if one in bound}
    return {
        str(target(node)): node.value
        for node in program.forward
        if target(node) is not None and changing.isdisjoint([str(target(node)), *loads(node.value)])
    }


def _multiplied(product: Node, known: dict[str, Node], facts: Facts) -> Node | None:
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
        if same(value.left, product.right) and same(value.right, divisor):
            factor = above if index is None else gast.Subscript(above, copy(index), gast.Load())
            return gast.BinOp(factor, gast.Mult(), name(one))
    return None


def _is_alike(one: Node, two: Node, facts: Facts) -> bool:
    """Whether two values are known to have one shape, so that an axis may be added to either."""
    minus = negated(one, facts)
    made, other = (canonical(spec_of_tree(each, facts)) for each in (one if minus is None else minus, two))
    return not made.scalar and made.shape == other.shape
