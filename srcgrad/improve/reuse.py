"""A large intermediate array gives its memory to its adjoint, where that is its last use.

`t_bar = e * t` becomes `t_bar = t`, `t_bar *= e`: one large array less to make. The adjoint has the primal's shape, so
the product fits.
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import COMPOUND, Block, Node, assign, at, header, name, statements, stores, target, walk

_READS = ("sum", "mean", "shape", "exp", "sqrt", "square", "sin", "cos", "tanh", "abs", "full_like", "zeros_like")
_FLOATS = (np.exp, np.log, np.sqrt, np.sin, np.cos, np.tanh, np.divide, np.true_divide)


def reuse(program: Program, facts: Facts) -> Program:
    """Let adjoints of large intermediates overwrite them; a pullback, which may run again, keeps what it reads."""
    if facts.mode not in ("reverse", "value-and-grad") or facts.called or facts.generated or facts.module.inline:
        return program
    made: Block = []
    for position, node in enumerate(program.backward):
        primal, factor = _scaled(node, facts)
        later = [*program.backward[position + 1 :], program.result]
        if not primal or not _is_own(primal, program, facts) or any(_mentions(n, primal) for n in later):
            made.append(node)
            continue
        bound = str(target(node))
        product = gast.AugAssign(name(bound, gast.Store()), gast.Mult(), factor)
        made += [at(assign(bound, name(primal)), node), at(product, node)]
    program.backward = made
    return program


def _scaled(node: Node, facts: Facts) -> tuple[str, Node]:
    """The primal t and the factor e of `t_bar = e * t`."""
    value = node.value if isinstance(node, gast.Assign) else None
    primal = facts.adjoint_of.get(str(target(node)), "")
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        for one, other in ((value.right, value.left), (value.left, value.right)):
            if isinstance(one, gast.Name) and one.id == primal and not _mentions(other, primal):
                return primal, other
    return "", None


def _is_own(primal: str, program: Program, facts: Facts) -> bool:
    """Whether a name holds floats in a large array of its own, of which nothing shows a part."""
    if primal in facts.mutable or primal in facts.viewed or primal in facts.swapped or primal in facts.rebound:
        return False
    bound = [n for n in statements(program.block) if primal in stores(n)]
    if len(bound) != 1 or bound[0] not in program.forward or not isinstance(bound[0].value, gast.BinOp):
        return False
    if not _grows(primal, program, facts, ()) or not _is_float(bound[0].value, program, facts, ()):
        return False
    return all(_only_read(part, primal) for n in statements(program.block) for part in header(n) if n is not bound[0])


def _values(one: str, program: Program) -> list[Node]:
    return [n.value for n in statements(program.forward) if target(n) == one]


def _grows(one: str, program: Program, facts: Facts, seen: tuple[str, ...]) -> bool:
    """Whether a value is computed with a new axis: `x[:, None] - y`."""
    for value in _values(one, program):
        for item in walk(value):
            if isinstance(item, gast.Subscript):
                if any(isinstance(n, gast.Constant) and n.value is None for n in walk(item.slice)):
                    return True
            elif isinstance(item, gast.Name) and item.id not in (*seen, one):
                if isinstance(value, gast.BinOp) and _grows(item.id, program, facts, (*seen, one)):
                    return True
    return False


def _is_float(value: Node, program: Program, facts: Facts, seen: tuple[str, ...]) -> bool:
    """Whether an expression gives floats, whatever its operands are."""
    if isinstance(value, gast.Constant):
        return isinstance(value.value, float)
    if isinstance(value, gast.BinOp):
        sides = (value.left, value.right)
        return isinstance(value.op, gast.Div) or any(_is_float(side, program, facts, seen) for side in sides)
    if isinstance(value, gast.UnaryOp):
        return _is_float(value.operand, program, facts, seen)
    if isinstance(value, gast.Name) and value.id not in seen:
        values = _values(value.id, program)
        return bool(values) and all(_is_float(v, program, facts, (*seen, value.id)) for v in values)
    spelled = gast.unparse(value.func) if isinstance(value, gast.Call) else ""
    return any(spelled == f"{facts.imports.get('np', 'np')}.{function.__name__}" for function in _FLOATS)


def _mentions(node: Node, one: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == one for n in walk(node))


def _only_read(node: Node, one: str) -> bool:
    """Whether a name stands only where its elements are read: in arithmetic, in a reduction, as a model of a shape."""
    if isinstance(node, gast.Name):
        return bool(node.id != one)
    if isinstance(node, COMPOUND):
        return not any(_mentions(part, one) for part in header(node))
    parts = [p for p in gast.iter_child_nodes(node) if not isinstance(p, gast.expr_context)]
    if isinstance(node, gast.BinOp) or (isinstance(node, gast.Call) and _reads(node)):
        parts = [p for p in parts if not (isinstance(p, gast.Name) and p.id == one)]
    return all(_only_read(p, one) for p in parts)


def _reads(call: Node) -> bool:
    called = call.func if isinstance(call.func, gast.Attribute) else None
    return called is not None and isinstance(called.value, gast.Name) and str(called.attr) in _READS
