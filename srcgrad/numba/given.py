"""Pullbacks that add into arrays of the caller's: what a loop over many items calls for each of them."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Block, Node, statements, stores, target, walk, written


def given(program: Program, facts: Facts) -> Program:
    """Let adjoints of arrays that are only added to in place be parameters, zeros when it is called.

    They are no results then: the caller has them.
    """
    if not facts.module.given or facts.mode != "pull":
        return program
    taken = [w for w in facts.wrt if _only_added_to(facts.spelled[w], w, program, facts)]
    for wanted in taken:
        program.backward = [node for node in program.backward if not _is_zeros(node, facts.spelled[wanted], facts)]
    names = {facts.spelled[w] for w in taken}
    value = program.result.value
    parts = value.elts if isinstance(value, gast.Tuple) else [value]
    left = [part for part in parts if part.id not in names]
    result: Node = gast.Constant(None, None)
    if left:
        result = left[0] if len(left) == 1 else gast.Tuple(elts=left, ctx=gast.Load())
    facts.module.given_of[facts.source.name] = tuple(taken)
    facts.seeds = (*facts.seeds, *(facts.spelled[w] for w in taken))
    program.result.value = result
    return program


def _is_zeros(node: Node, adjoint: str, facts: Facts) -> bool:
    return node in facts.zeros and target(node) == adjoint


def _only_added_to(adjoint: str, wanted: str, program: Program, facts: Facts) -> bool:
    kind = facts.kinds.get(wanted)
    if kind is None or kind.tag != "array" or not kind.ndim:
        return False
    made = [node for node in program.backward if _is_zeros(node, adjoint, facts)]
    others: Block = [node for node in statements([*program.forward, *program.backward]) if node not in made]
    if len(made) != 1 or any(adjoint in stores(n) and adjoint not in written(n) for n in others):
        return False
    return all(_is_part(item, adjoint) for node in others for item in _holders(node, adjoint))


def _holders(node: Node, adjoint: str) -> list[Node]:
    """What stands right around each mention of the adjoint in a statement."""
    found = []
    for item in walk(node):
        for child in gast.iter_child_nodes(item):
            if isinstance(child, gast.Name) and child.id == adjoint:
                found.append(item)
    return found


def _is_part(item: Node, adjoint: str) -> bool:
    return isinstance(item, gast.Subscript) and isinstance(item.value, gast.Name) and item.value.id == adjoint
