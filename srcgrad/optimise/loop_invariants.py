"""Products that are the same in each trip of a backward loop are computed once, before it.

for i in reversed(range(n)):                 t_bar = y_bar * (c * w)
    x_bar[i] += y_bar * (c * w) * x[i]   =>  for i in reversed(range(n)):
                                                 x_bar[i] += t_bar * x[i]
"""

from __future__ import annotations

import gast

from srcgrad.analysis.floating_types import note_integers
from srcgrad.core.facts import Facts, copy_with_facts
from srcgrad.core.trees import COMPOUND, Block, Node, assign, at, header, name, statements, stores, walk, written_names
from srcgrad.core.visitor import LOOPS, places, replace
from srcgrad.derive.program import Program


def loop_invariants(program: Program, facts: Facts) -> Program:
    """Bind what no trip changes before the loop: products, sums and differences, which are as good if no trip is run.

    A quotient stays: it may divide by the number of trips. So does what reads an array that some trip may change.
    """
    if facts.module is None or facts.module.inline:
        return program
    made: dict[str, list[Node]] = {}
    for node in statements(program.block):
        for one in stores(node):
            made.setdefault(one, []).append(node if node in program.block else None)
    for place in [place for place in places(program.backward) if isinstance(place.node, LOOPS)]:
        where = place.block.index(place.node)
        place.block[where:where] = _invariant_statements(place.node, made, facts)
    return program


def _invariant_statements(loop: Node, made: dict[str, list[Node]], facts: Facts) -> Block:
    """The statements that bind the invariants of a loop; in the loop their names stand for them."""
    inside = list(statements([loop]))
    changed = {one for node in inside for one in (*stores(node), *written_names(node))}
    before: Block = []
    held: dict[str, str] = {}
    for node in _always(loop.body):
        if node in facts.pushes or node in facts.restores or node in facts.again_written:
            continue
        for part in header(node):
            for value in _invariants(part, changed, made, facts, isinstance(node, gast.AugAssign)):
                spelled = gast.unparse(gast.fix_missing_locations(value))
                if spelled not in held:
                    held[spelled] = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
                    facts.temporaries[held[spelled]] = "t"
                    note_integers(held[spelled], value, facts)
                    before.append(at(assign(held[spelled], copy_with_facts(value, facts)), node))
                replace(node, value, name(held[spelled]))
    return before


def _always(block: Block) -> Block:
    """Statements of a loop's body that each trip runs: not those of branches, of which no trip may take one."""
    found: Block = []
    for node in block:
        if isinstance(node, gast.For | gast.While):
            found += _always(node.body)
        elif not isinstance(node, COMPOUND):
            found.append(node)
    return found


def _invariants(part: Node, changed: set[str], made: dict[str, list[Node]], facts: Facts, combined: bool) -> list[Node]:
    """The largest parts of an expression that are arithmetic of steady names.

    They are `combined` with what changes: a name that were bound to one of them might be changed in place.
    """
    if _is_invariant(part, changed, made, facts):
        return [part] if combined and isinstance(part, gast.BinOp) and _is_worth_it(part, facts) else []
    combined = combined or isinstance(part, gast.BinOp)
    if isinstance(part, gast.Lambda):
        return []
    below = [child for child in gast.iter_child_nodes(part) if isinstance(child, gast.expr | gast.keyword)]
    return [found for child in below for found in _invariants(child, changed, made, facts, combined)]


def _is_worth_it(value: Node, facts: Facts) -> bool:
    """Whether an expression reads what may be an array, or an adjoint: `0.5 * h` of a number stays where it is."""
    read = [n.id for n in walk(value) if isinstance(n, gast.Name)]
    numbers = [one for one in read if (spec := facts.value_spec.get(one)) is not None and spec.scalar]
    if len(read) == 1 and read[0] in facts.seeds:
        return False
    return len(numbers) < len(read) or any(one in facts.adjoint_of or one in facts.seeds for one in read)


def _is_invariant(node: Node, changed: set[str], made: dict[str, list[Node]], facts: Facts) -> bool:
    if isinstance(node, gast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, gast.Name):
        return isinstance(node.ctx, gast.Load) and node.id not in changed and _is_steady(node.id, made, facts)
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub) and _is_invariant(node.operand, changed, made, facts)
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Add | gast.Sub | gast.Mult):
        return all(_is_invariant(side, changed, made, facts) for side in (node.left, node.right))
    return False


def _is_steady(one: str, made: dict[str, list[Node]], facts: Facts) -> bool:
    """Whether no other name shows the elements of what a name holds: it is an argument, or came out of arithmetic.

    Where a branch or a loop binds it, it need not be bound.
    """
    if one in facts.mutable or one in facts.viewed or one in facts.swapped or one in facts.containers:
        return False
    if one in facts.elements or facts.list_kind(one):
        return False
    bound = made.get(one, [])
    return len(bound) <= 1 and all(isinstance(getattr(n, "value", None), gast.BinOp | gast.Constant) for n in bound)
