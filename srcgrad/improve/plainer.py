"""What is computed for its shape alone is not computed: a part of it that has the shape is read in its place.

v_bar = sum_to(a_bar[1:-1], u[2:] - 2.0 * u[1:-1])  =>  v_bar = sum_to(a_bar[1:-1], u[2:])
"""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.extents import canonical
from srcgrad.derive.program import Program
from srcgrad.facts import Facts, Spec
from srcgrad.improve.dead import dead
from srcgrad.improve.outlines import is_fitted
from srcgrad.trees import Node, header, root, statements, walk


def plainer(program: Program, facts: Facts) -> Program:
    """Give `sum_to` and `fit_to` an operand in place of arithmetic; what only that has read goes.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(q, k):\\n    return np.sum(k * (1.0 - np.cos(q)))"
    >>> explain_text(text, after="plainer", wrt=("q",)).splitlines()[-2]
    'q_bar = --fit_to(y_bar * k, q) * np.sin(q)'
    """
    changed = False
    for node in statements(program.backward):
        for call in [call for part in header(node) for call in walk(part)]:
            if is_fitted(call, facts) and isinstance(call.args[1], gast.BinOp | gast.UnaryOp | gast.Call):
                found = _operand(call.args[1], facts)
                if found is not None:
                    call.args[1], changed = found, True
    return dead(program, facts) if changed else program


def _operand(whole: Node, facts: Facts) -> Node | None:
    """A name, or a part of one, that has the shape and dtype of some arithmetic in which it stands; names first."""
    spec = spec_of_tree(whole, facts)
    found = [each for each in _operands(whole, facts) if _is_alike(spec_of_tree(each, facts), spec)]
    return min(found, key=lambda each: isinstance(each, gast.Subscript), default=None)


def _operands(whole: Node, facts: Facts) -> list[Node]:
    """Active values, and parts of them, from which arithmetic computes a value element by element."""
    if isinstance(whole, gast.BinOp) and not isinstance(whole.op, gast.MatMult):
        return [*_operands(whole.left, facts), *_operands(whole.right, facts)]
    if isinstance(whole, gast.UnaryOp):
        return _operands(whole.operand, facts)
    if isinstance(whole, gast.Call):
        of_numpy = getattr(getattr(whole.func, "value", None), "id", None) == facts.imports.get("np")
        return [one for each in whole.args for one in _operands(each, facts)] if of_numpy else []
    held = root(whole) if isinstance(whole, gast.Name | gast.Subscript) else None
    own = "" if held is None else facts.again.get(held.id, held.id)
    return [whole] if own in facts.active and own not in facts.containers else []


def _is_alike(one: Spec, two: Spec) -> bool:
    return (canonical(one).shape, one.dtype, one.ndim) == (canonical(two).shape, two.dtype, two.ndim)
