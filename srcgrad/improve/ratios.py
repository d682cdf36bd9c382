"""Divisions that undo one another: with `q = a / b`, `g / q / b` is `g / a`, and `g / q / b * q` is `g / b`.

The rules have the first two for the logarithm of a ratio, and `g / q * b`, which is `g / a`, for that of a product
`q = a * b`. What is left makes fewer arrays, and holds where the ratio is 0 or infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gast

from srcgrad.analyse.adjoint_shapes import covers, spec_of_tree
from srcgrad.analyse.floating import fits, is_minus
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.dead import dead
from srcgrad.improve.divided import steady
from srcgrad.improve.inline import bindings, replace
from srcgrad.improve.quotients import sides
from srcgrad.trees import Block, Node, children, copy, expression, loads, name, same, statements, target, walk


@dataclass(frozen=True)
class _Read:
    """Where an adjoint is read: the statement, the expression to replace, its sign, and what it is to be divided by."""

    node: Node
    whole: Node
    minus: bool
    operand: Node


def ratios(program: Program, facts: Facts) -> Program:
    """Divide by an operand of a ratio or of a product once, instead of by it and by the other.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(a, b):\\n    return np.sum(np.log(a / b) ** 2)"
    >>> print("\\n".join(explain_text(text, after="ratios").splitlines()[-4:-1]))
    t3_bar = y_bar * 2.0 * t3
    a_bar = sum_to(t3_bar / a, a)
    b_bar = sum_to(-t3_bar / b, b)
    """
    if not any(_is_plain(node.value) for node in program.forward if target(node) is not None):
        return program
    known = {one: value for one, value in steady(program, facts).items() if _is_plain(value)}
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
    return dead(program, facts) if undone else program


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
    reads = None if second is None else _named(str(target(second)), known, readers)
    if reads is None:
        second, reads = None, _reads(held, known, block, facts)
    if not reads or (second is not None and len(block) != 1):
        return False
    bound = bindings(program.block)
    alone = bound[held] == 1 and (second is None or bound[str(target(second))] == 1)
    if not alone or not all(_is_there(one.operand, program, facts) for one in reads):
        return False
    if isinstance(above, gast.Name) and (not fits(node.value, facts) or all(_is_fitted(one, facts) for one in reads)):
        base = above
        program.backward.remove(node)
    else:
        base = name(held)
        facts.spec[node] = facts.spec[base] = spec_of_tree(above, facts)
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
    if not isinstance(operand, gast.Name) or operand.id not in facts.temporaries:
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
    if node in facts.spec:
        facts.spec[made] = facts.spec[node]
    return made


def _reads(held: str, known: tuple[str, Node], block: Block, facts: Facts) -> list[_Read] | None:
    """The divisions of an adjoint by b, or its products with a and b; None if there are other readers."""
    below, made = known

    def term(one: Node) -> Node | None:
        if isinstance(made.op, gast.Div):
            parts = sides(one, facts)
            again = parts is not None and _is_name(parts[0], held) and same(parts[1], made.right)
            return made.left if again else None
        if not isinstance(one, gast.BinOp) or not isinstance(one.op, gast.Mult) or not _is_name(one.left, held):
            return None
        return made.left if same(one.right, made.right) else made.right if same(one.right, made.left) else None

    return _all(held, below, made, term, block)


def _named(held: str, known: tuple[str, Node], readers: dict[str, Block]) -> list[_Read] | None:
    """The readers of `g / q / b`, which has a name."""
    below, made = known
    return _all(held, below, made, lambda one: made.left if _is_name(one, held) else None, readers.get(held, []))


def _all(held: str, below: str, made: Node, term: Callable[[Node], Node | None], block: Block) -> list[_Read] | None:
    """The terms of all readers, times q or not; None unless each read of the name is in one of them."""
    found: list[_Read] = []
    for node in dict.fromkeys(block):
        if isinstance(node, gast.Assign | gast.AugAssign):
            todo = [node.value]
            while todo:
                one = todo.pop()
                minus = is_minus(one)
                ratio = isinstance(made.op, gast.Div) and isinstance(one, gast.BinOp) and isinstance(one.op, gast.Mult)
                if ratio and _is_name(one.right, below) and term(_plain(one.left)) is not None:
                    found.append(_Read(node, one, is_minus(one.left), made.right))
                elif (operand := term(_plain(one))) is not None:
                    found.append(_Read(node, one, minus, operand))
                else:
                    todo += children(one)
    return found if len(found) == len(block) else None


def _plain(value: Node) -> Node:
    """The value without its sign."""
    return value.operand if is_minus(value) else value


def _is_name(value: Node, held: str) -> bool:
    return isinstance(value, gast.Name) and value.id == held


def _is_again(parts: tuple[Node, Node] | None, held: str, known: tuple[str, Node]) -> bool:
    """Whether the operands of a division are `g / q` and b."""
    return parts is not None and _is_name(parts[0], held) and same(parts[1], known[1].right)


def _is_fitted(read: _Read, facts: Facts) -> bool:
    """Whether what is read is summed to the shape of what it is divided by, right away."""
    for call in walk(read.node.value):
        if fits(call, facts) and call.args[0] in (read.whole, getattr(read.whole, "operand", None)):
            return same(call.args[1], read.operand)
    return False
