"""The parts that make up an adjoint, put together where its primal would be kept for its shape alone.

gates_bar = empty_like(gates)
gates_bar[b:] = e             =>  t1_bar = e
gates_bar[:b] = f                 t2_bar = f
                                  gates_bar = np.concatenate((t2_bar, t1_bar))
"""

from __future__ import annotations

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.extents import canonical
from srcgrad.analyse.floating import negative
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import count
from srcgrad.names import bar
from srcgrad.trees import Block, Node, assign, at, expression, loads, name, same, statements, stores, target


def put_together(
    zeros: Node, block: Block, parts: list[Node], axis: int | None, program: Program, facts: Facts
) -> bool:
    """Do so for `parts`, the statements that add to zeros, in the order of their places; whether that was due.

    It is in a pullback, which would have to keep the primal, and where each part is known to have its own shape.
    """
    adjoint = str(target(zeros))
    primal = facts.adjoint_of[adjoint]
    reads = sum(loads(node).count(primal) for node in statements([*program.backward, program.result]))
    if facts.mode != "vjp" or primal in program.parameters or reads != 1:
        return False
    bound = [_bound(primal, node, program, facts) for node in parts]
    if None in bound:
        return False
    named = dict(zip(parts, map(str, bound), strict=True))
    last = max(parts, key=block.index)
    along = f", axis={axis}" if axis else ""
    whole = expression(f"{facts.library('np')}.concatenate(parts{along})", parts=gast.Tuple([], gast.Load()))
    whole.args[0].elts = [name(named[node]) for node in parts]
    made: Block = []
    for node in block:
        if node is zeros:
            continue
        if node in named:
            value = added_value(node, facts)
            made += [] if getattr(value, "id", "") == named[node] else [at(assign(named[node], value), node)]
        else:
            made.append(node)
        if node is last:
            made.append(at(assign(adjoint, whole), node))
    facts.zeros.pop(zeros)
    block[:] = made
    return True


def added_value(node: Node, facts: Facts) -> Node:
    """What a statement adds: `-e` for `x_bar[i] -= e`."""
    return negative(node.value, facts) if isinstance(node.op, gast.Sub) else node.value


def _bound(primal: str, node: Node, program: Program, facts: Facts) -> str | None:
    """The name of what is added to a part: the adjoint of the name that the part has; None if its shape may differ."""
    value = added_value(node, facts)
    for held, definition in facts.definition.items():
        part = getattr(definition, "value", None)
        if not isinstance(part, gast.Subscript) or getattr(part.value, "id", "") != primal:
            continue
        if held not in facts.value_spec or not same(part.slice, node.target.slice):
            continue
        if canonical(spec_of_tree(value, facts)).shape != canonical(facts.value_spec[held]).shape:
            return None
        own = facts.spelled.get(held, bar(held))
        made = [n.value for n in statements(program.backward) if own in stores(n) and target(n) == own]
        if getattr(value, "id", "") == own:
            return own if len(made) == 1 == count(program.block).bound[own] and _is_fresh(made[0], facts) else None
        return own if facts.adjoint_of.get(own) == held and not made and _is_fresh(value, facts) else None
    return None


def _is_fresh(value: Node, facts: Facts) -> bool:
    """Whether a value is an array of its own, in which nothing that is added to another one later can be seen."""
    if isinstance(value, gast.Call) and getattr(value.func, "id", "") == facts.imports.get("sum_to"):
        value = value.args[0]
    return isinstance(value, gast.BinOp | gast.UnaryOp)
