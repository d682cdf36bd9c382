"""Two updates of one part in a row are one: `a[i] -= e`, `a[i] -= g` is `a[i] -= e + g`."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.emit.text import statement as spelled
from srcgrad.facts import Facts
from srcgrad.improve.inline import WIDTH
from srcgrad.trees import COMPOUND, Block, Node, at, loads, same, statements, stores, target


def joined(program: Program, facts: Facts) -> Program:
    """Add what is added to one part of an array first, where that fits in a line.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    return np.sum(np.sin(x[1:]) * x[1:])"
    >>> print(explain_text(text, after="joined").splitlines()[-2])
    x_bar[1:] += y_bar * np.sin(x[1:]) + y_bar * x[1:] * np.cos(x[1:])
    """
    made: dict[str, list[Node]] = {}
    for node in statements(program.backward):
        for one in stores(node):
            made.setdefault(one, []).append(node)
    program.backward = _block(program.backward, made, facts, 4)
    return program


def _block(block: Block, made: dict[str, list[Node]], facts: Facts, indent: int) -> Block:
    found: Block = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, made, facts, indent + 4)
            node.orelse = _block(getattr(node, "orelse", None) or [], made, facts, indent + 4)
        total = _sum(found[-1], node, made, facts) if found else None
        if total is not None and max(map(len, spelled(total, width=10_000))) + indent <= WIDTH:
            found[-1] = total
        else:
            found.append(node)
    return found


def _sum(one: Node, two: Node, made: dict[str, list[Node]], facts: Facts) -> Node | None:
    """Both updates in one; None where they are not updates of one part, or the second may read what the first made."""
    if not (_is_update(one) and _is_update(two) and same(one.target, two.target)):
        return None
    if getattr(one, "lineno", 0) != getattr(two, "lineno", 0) or facts.hooked(one) or facts.hooked(two):
        return None
    if not all(_is_apart(read, stores(one)[0], made, facts) for read in loads(two.value)):
        return None
    op = gast.Add() if type(one.op) is type(two.op) else gast.Sub()
    return at(gast.AugAssign(one.target, one.op, gast.BinOp(one.value, op, two.value)), one)


def _is_update(node: Node) -> bool:
    """Whether a statement adds to a part of an array: `a[i] += e`, `a[i] -= e`."""
    if not isinstance(node, gast.AugAssign) or not isinstance(node.op, gast.Add | gast.Sub):
        return False
    return isinstance(node.target, gast.Subscript) and isinstance(node.target.value, gast.Name)


def _is_apart(read: str, changed: str, made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether a name that is read shows nothing of an adjoint: all that the backward half binds it to is arithmetic."""
    if read == changed:
        return False
    return all(target(node) == read and _is_new(node) for node in made.get(read, []) if node not in facts.zeros)


def _is_new(node: Node) -> bool:
    value = node.value
    return isinstance(value, gast.BinOp | gast.Constant) or (
        isinstance(value, gast.UnaryOp) and not isinstance(value.op, gast.UAdd)
    )
