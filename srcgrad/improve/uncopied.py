"""Copies of parts that are only looked at while the array stays as it is: `t = a[i].copy()` is `t = a[i]`, or no name.

And one update of a part for two equal ones: `a[i] += e` twice is `a[i] += 2.0 * e`.
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import bindings, replace
from srcgrad.improve.outlines import is_fitted
from srcgrad.indices import is_basic
from srcgrad.trees import COMPOUND, Block, Node, constant, header, loads, root, same, statements, stores, target, walk
from srcgrad.walked import mentions

_NEW = ("outer", "sum", "dot", "matmul", "exp", "square")


def uncopied(program: Program, facts: Facts) -> Program:
    """Look at parts where they stand, in the backward half."""
    bound = bindings(program.block)
    program.backward = _block(program.backward, bound, facts)
    for node in statements(program.backward):
        for part in header(node):
            _operands(part, facts)
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Subscript):
            node.value = _looked_at(node.value, facts, stores(node))
    return program


def _block(block: Block, bound: dict[str, int], facts: Facts) -> Block:
    made: Block = []
    for node in block:
        if isinstance(node, COMPOUND):
            node.body = _block(node.body, bound, facts)
            node.orelse = _block(getattr(node, "orelse", None) or [], bound, facts)
        elif made and _is_repeated(made[-1], node):
            made[-1].value = _doubled(node.value)
            continue
        made.append(node)
    gone = {id(node) for position, node in enumerate(made) if _seen_through(made, position, bound, facts)}
    return [node for node in made if id(node) not in gone]


def _is_repeated(one: Node, two: Node) -> bool:
    """Whether two statements add the same to the same part, of an array that they do not read."""
    if not isinstance(one, gast.AugAssign) or not isinstance(two, gast.AugAssign):
        return False
    if not isinstance(one.op, gast.Add | gast.Sub) or type(one.op) is not type(two.op) or not stores(one):
        return False
    if not isinstance(two.value, gast.BinOp | gast.Name) or any(isinstance(n, gast.Call) for n in walk(two)):
        return False
    return same(one.target, two.target) and same(one.value, two.value) and stores(one)[0] not in loads(one.value)


def _doubled(value: Node) -> Node:
    """`2.0 * a * b` for twice `a * b`: exact, and numbers are multiplied first."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        return gast.BinOp(_doubled(value.left), value.op, value.right)
    return gast.BinOp(constant(2.0), gast.Mult(), value)


def _copied_part(value: Node, facts: Facts) -> Node | None:
    """The `a[i]` of `a[i].copy()`, for integers and slices; None for any other expression."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr == "copy":
        part = value.func.value
        if isinstance(part, gast.Subscript) and isinstance(part.value, gast.Name) and not value.args:
            return part if is_basic(part.slice, frozenset(facts.integers)) else None
    return None


def _looked_at(value: Node, facts: Facts, changed: Sequence[str] = ()) -> Node:
    """`a[i]` for `a[i].copy()`, `sum_to(a[i], x)` for `sum_to(a[i].copy(), x)`, if a is none of what changes."""
    fitted = is_fitted(value, facts)
    part = _copied_part(value.args[0] if fitted else value, facts)
    if part is None or part.value.id in changed:
        return value
    return gast.Call(value.func, [part, *value.args[1:]], []) if fitted else part


def _operands(node: Node, facts: Facts) -> None:
    """Arithmetic makes a new array: its operands need no copy."""
    for item in walk(node):
        if isinstance(item, gast.BinOp):
            item.left, item.right = _looked_at(item.left, facts), _looked_at(item.right, facts)
        elif isinstance(item, gast.UnaryOp):
            item.operand = _looked_at(item.operand, facts)
        elif _makes_new(item, facts):
            item.args = [_looked_at(argument, facts) for argument in item.args]


def _makes_new(call: Node, facts: Facts) -> bool:
    """Whether a call makes a new array of what it is given."""
    function = call.func if isinstance(call, gast.Call) else None
    if not isinstance(function, gast.Attribute) or function.attr not in _NEW:
        return False
    return isinstance(function.value, gast.Name) and function.value.id == facts.imports.get("np")


def _seen_through(block: Block, position: int, bound: dict[str, int], facts: Facts) -> bool:
    """Read a part where its copy was read; whether the copy's statement is not needed any more."""
    node = block[position]
    held = target(node)
    part = None if held is None else _looked_at(node.value, facts)
    if held is None or part is node.value or bound.get(held) != 1 or facts.adjoint_of.get(held) in facts.wrt:
        return False
    users = [k for k in range(position + 1, len(block)) if mentions(block[k], held)]
    if not users or not _lasts(block, position, users[-1], part, facts):
        return False
    reads = [n for k in users for n in walk(block[k]) if isinstance(n, gast.Name) and n.id == held]
    if not all(is_only_read(block[k], held, facts, loads(part)) for k in users):
        return False
    if len(reads) > 1 or isinstance(block[users[0]], COMPOUND) or not isinstance(part, gast.Subscript):
        node.value = part
        shown: Node = part.args[0] if isinstance(part, gast.Call) else part
        facts.views[held] = shown.value.id
        return False
    replace(block[users[0]], reads[0], part)
    return True


def _lasts(block: Block, start: int, end: int, part: Node, facts: Facts) -> bool:
    """Whether no statement before the last reader, nor inside it if it holds others, changes what the part reads."""
    base = root(part)
    read = facts.shown([*loads(part), *([base.id] if base is not None else [])])
    until = end + 1 if isinstance(block[end], COMPOUND) else end
    return not any(read & set(stores(inner)) for inner in statements(block[start + 1 : until]))


def is_only_read(node: Node, name: str, facts: Facts, shown: Sequence[str] = ()) -> bool:
    """Whether each mention of a name is an operand of arithmetic, or of a call that makes a new array.

    Or it is what is added to a part of an array, other than those that it would show.
    """
    if isinstance(node, COMPOUND):
        inner = [*header(node)] if not isinstance(node, gast.For) else [node.iter]
        blocks = [*node.body, *(getattr(node, "orelse", None) or [])]
        apart = not any(mentions(part, name) for part in inner)
        return apart and all(is_only_read(n, name, facts, shown) for n in blocks)
    allowed = 0
    for item in walk(node):
        operands: list[Node] = []
        if isinstance(item, gast.BinOp):
            operands = [item.left, item.right]
        elif isinstance(item, gast.UnaryOp):
            operands = [item.operand]
        elif _makes_new(item, facts):
            operands = item.args
        elif isinstance(item, gast.AugAssign) and shown and not {*shown} & {*stores(item)}:
            operands = [item.value]
        allowed += sum(isinstance(part, gast.Name) and part.id == name for part in operands)
    met = [n for n in walk(node) if isinstance(n, gast.Name) and n.id == name]
    return allowed == len(met)
