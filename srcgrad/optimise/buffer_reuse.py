"""A large intermediate array gives its memory to its adjoint, where that is its last use.

`t_bar = e * t` becomes `t_bar = t`, `t_bar *= e`: one large array less to make. The adjoint has the primal's shape, so
the product fits. So with `z_bar = e * t - g`, where all that is read is known to be no larger than t. And
`t_bar = if_larger(e, t, 0.0)` becomes `t_bar = if_larger(e, t, 0.0, out=t)`, which looks at shapes when it runs.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any  # a name, and pairs of an operator and a tree

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.dtypes import is_elementwise
from srcgrad.analysis.shapes import broadcast_specs
from srcgrad.core.facts import Facts, function_called
from srcgrad.core.rules import makes_new
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    find_nodes,
    header,
    loads,
    mentions,
    name,
    names_in,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.derive.program import Program


def buffer_reuse(program: Program, facts: Facts) -> Program:
    """Let adjoints of large intermediates overwrite them; a pullback, which may run again, keeps what it reads."""
    if facts.request.mode not in ("reverse", "value-and-grad") or facts.request.called or facts.module.inline:
        return program
    values = _Values(program, facts)
    made: Block = []
    for position, node in enumerate(program.backward):
        later = [*program.backward[position + 1 :], program.result]
        selected = _buffer_of_selection(node, facts)
        if selected and _is_array(selected, node, program, facts) and not any(mentions(n, selected) for n in later):
            node.value.keywords.append(gast.keyword("out", name(selected)))
        held, *steps = _buffer_of_scaling(node, facts) or _buffer_of_combination(node, facts)
        own = bool(held) and _is_own(held, program, facts, values, len(steps) > 1)
        bound = str(target(node))
        overwritten = any(mentions(value, bound) for _, value in steps)  # `t_bar = t_bar * h`, by the time it is read
        if not own or overwritten or any(mentions(n, held) for n in later):
            made.append(node)
            continue
        made.append(at(assign(bound, name(held)), node))
        made += [at(gast.AugAssign(name(bound, gast.Store()), op, value), node) for op, value in steps]
    program.backward = made
    return program


def _buffer_of_selection(node: Node, facts: Facts) -> str:
    """The t of `t_bar = if_larger(e, t, y)`, of two axes or more, in a text for NumPy; an empty string otherwise."""
    value = node.value if isinstance(node, gast.Assign) else None
    if value is None or not facts.module.target.as_written or function_called(value, facts) is not runtime.if_larger:
        return ""
    primal = facts.names.adjoint_of.get(str(target(node)), "")
    spec = facts.values.value_spec.get(primal)
    if spec is None or (spec.ndim or 0) < 2:
        return ""
    seed, *compared = value.args
    one, other = compared if getattr(compared[0], "id", "") == primal else compared[::-1]
    alone = getattr(one, "id", "") == primal and not mentions(other, primal)
    return primal if alone and _only_read(seed, primal, facts) else ""


def _is_array(held: str, reader: Node, program: Program, facts: Facts) -> bool:
    """Whether a name is bound once to an array that is computed there, and of which nothing shows a part."""
    if (
        held in facts.memory.mutable
        or held in facts.memory.viewed
        or held in facts.memory.swapped
        or held in facts.activity.rebound
    ):
        return False
    bound = [n for n in statements(program.block) if held in stores(n)]
    if len(bound) != 1 or bound[0] not in program.forward or not isinstance(bound[0].value, gast.BinOp):
        return False
    others = [n for n in statements(program.block) if n is not bound[0] and n is not reader]
    return all(_only_read(part, held, facts) for n in others for part in header(n))


def _buffer_of_scaling(node: Node, facts: Facts) -> tuple[Any, ...]:
    """The primal t of `t_bar = e * t`, and what is done to it; nothing for any other statement."""
    value = node.value if isinstance(node, gast.Assign) else None
    primal = facts.names.adjoint_of.get(str(target(node)), "")
    return _name_and_factor(value, primal) if value is not None and primal else ()


def _name_and_factor(value: Node, held: str) -> tuple[Any, ...]:
    """A name that is a factor of a product, and the other factor."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
        for one, other in ((value.right, value.left), (value.left, value.right)):
            if isinstance(one, gast.Name) and one.id in (held, held or one.id) and not mentions(other, one.id):
                return one.id, (value.op, other)
    return ()


def _buffer_of_combination(node: Node, facts: Facts) -> tuple[Any, ...]:
    """The t of `z_bar = e * t - g`, of two axes or more, where nothing else is as large, and what is done to it."""
    value = node.value if isinstance(node, gast.Assign) else None
    if not facts.module.target.as_written or facts.names.adjoint_of.get(str(target(node))) is None:
        return ("",)
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Add | gast.Sub):
        return ("",)
    found = _name_and_factor(value.left, "")
    if not found or mentions(value.right, found[0]) or not _fits(value, found[0], facts):
        return ("",)
    return *found, (value.op, value.right)


def _fits(value: Node, held: str, facts: Facts) -> bool:
    """Whether nothing that an expression reads is larger than the array of a name, or of another kind of number."""
    spec = facts.values.value_spec.get(held)
    if spec is None or spec.ndim is None or spec.ndim < 2:
        return False
    wide = {one for found in facts.tape.accumulators.values() for one in found}
    for read in names_in(value) - {
        *facts.names.imports.values(),
        *facts.names.seeds,
    }:
        primal = facts.names.adjoint_of.get(read, read)
        known = facts.values.value_spec.get(primal)
        if known is None or primal in wide or primal in facts.values.complex or "float16" in known.dtype:
            return False
        if broadcast_specs(spec, known).shape != spec.shape:
            return False
    return True


def _is_own(held: str, program: Program, facts: Facts, values: _Values, fits: bool) -> bool:
    """Whether a name holds floats in a large array of its own, of which nothing shows a part."""
    if (
        held in facts.memory.mutable
        or held in facts.memory.viewed
        or held in facts.memory.swapped
        or held in facts.activity.rebound
    ):
        return False
    bound = values.bound.get(held, [])
    if len(bound) != 1 or bound[0] not in program.forward or not isinstance(bound[0], gast.Assign):
        return False
    value = bound[0].value
    if not (isinstance(value, gast.BinOp) or (fits and isinstance(value, gast.Call) and is_elementwise(value, facts))):
        return False
    if not (fits or held in values.grown) or not values.is_float(value):
        return False
    return all(
        _only_read(part, held, facts) for n in statements(program.block) for part in header(n) if n is not bound[0]
    )


class _Values:
    """What is known of the names of a forward half; each question about a name is answered once."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self.facts = facts
        self.of: dict[str, list[Node]] = {}
        self.bound: dict[str, Block] = {}
        for node in statements(program.block):
            for one in dict.fromkeys(stores(node)):
                self.bound.setdefault(one, []).append(node)
        for node in statements(program.forward):
            if (bound := target(node)) is not None:
                self.of.setdefault(bound, []).append(node.value)

    @cached_property
    def grown(self) -> set[str]:
        """Names that are computed with a new axis: `x[:, None] - y`, and what is computed of that by arithmetic."""
        found = {one for one, values in self.of.items() if any(map(_has_new_axis, values))}
        readers: dict[str, list[str]] = {}
        for one, values in self.of.items():
            for read in [read for value in values if isinstance(value, gast.BinOp) for read in loads(value)]:
                readers.setdefault(read, []).append(one)
        pending = list(found)
        while pending:
            for one in readers.get(pending.pop(), []):
                if one not in found:
                    found.add(one)
                    pending.append(one)
        return found

    @cached_property
    def floats(self) -> set[str]:
        """Names all values of which are floats."""
        found: set[str] = set()
        before = -1
        while len(found) > before:
            before = len(found)
            found.update(one for one, values in self.of.items() if all(self._is_float(v, found) for v in values))
        return found

    def is_float(self, value: Node) -> bool:
        """Whether an expression gives floats, whatever its operands are."""
        return self._is_float(value, self.floats)

    def _is_float(self, value: Node, floats: set[str]) -> bool:
        if isinstance(value, gast.Constant):
            return isinstance(value.value, float)
        if isinstance(value, gast.BinOp):
            sides = (value.left, value.right)
            return isinstance(value.op, gast.Div) or any(self._is_float(side, floats) for side in sides)
        if isinstance(value, gast.UnaryOp):
            return self._is_float(value.operand, floats)
        if isinstance(value, gast.Name):
            return value.id in floats
        return _gives_floats(function_called(value, self.facts))


def _has_new_axis(value: Node) -> bool:
    parts = [item.slice for item in find_nodes(value, gast.Subscript)]
    return any(isinstance(n, gast.Constant) and n.value is None for part in parts for n in walk(part))


def _only_read(node: Node, one: str, facts: Facts) -> bool:
    """Whether a name stands only where its elements are read: in arithmetic, in a reduction, as a model of a shape."""
    if isinstance(node, gast.Name):
        return bool(node.id != one)
    if isinstance(node, COMPOUND):
        return not any(mentions(part, one) for part in header(node))
    parts = [p for p in gast.iter_child_nodes(node) if not isinstance(p, gast.expr_context)]
    if isinstance(node, gast.BinOp) or (isinstance(node, gast.Call) and _reads(node, facts)):
        parts = [p for p in parts if not (isinstance(p, gast.Name) and p.id == one)]
    return all(_only_read(p, one, facts) for p in parts)


def _reads(call: Node, facts: Facts) -> bool:
    """Whether a call of a library gives a value of its own, or one that shows no elements."""
    function = function_called(call, facts)
    return isinstance(call.func, gast.Attribute) and makes_new(function, call)


def _gives_floats(function: object) -> bool:
    """Whether a function of NumPy gives floats for integers too."""
    made = [form.partition("->")[2] for form in function.types] if isinstance(function, np.ufunc) else []
    return bool(made) and not any(np.dtype(one).kind in "biu" for one in made)
