"""A pullback may be called any number of times: what the backward half changes is its own copy."""

from __future__ import annotations

import gast

from srcgrad.analysis.activity import branch_depths
from srcgrad.core.control_flow import liveness
from srcgrad.core.facts import Facts
from srcgrad.core.trees import (
    Block,
    Node,
    expression,
    is_write,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.derive.program import Program


def close_pullback(program: Program, facts: Facts) -> Program:
    """In mode vjp, give the backward half fresh names for the stacks it pops and the values it restores."""
    if facts.request.mode != "vjp":
        return program
    _own_arrays(program.backward, facts)
    bound = {s for n in statements(program.backward) for s in stores(n)}
    flow = liveness([*program.backward, program.result])
    alive = flow.before[0] if flow.before else 0
    stacks = [s for s in dict.fromkeys(facts.tape.pushes.values()) if _mentions_name(program.backward, s)]
    kept = {s for n in statements(program.forward) for s in stores(n)} | set(program.parameters)
    alive_here = [n for n, bit in flow.bits.items() if bit & alive and n in kept]
    changed = [n for n in alive_here if n in bound and n not in stacks]
    renamed: dict[str, str] = {}
    copies: list[tuple[str, Node]] = []
    for name in changed:
        if name not in facts.names.seeds:
            renamed[name] = facts.names.numbered_name(facts.names.base.get(name, name))
            changes = name in facts.memory.mutable or facts.list_kind(name)
            own = f"{name}.copy()" if changes else name  # its elements will change
            if _bind_early(program.forward, name, program.parameters) and changes:
                own = f"None if {name} is None else {own}"
            copies.append((name, statement(f"{renamed[name]} = {own}")))
    for name in stacks:
        if name not in renamed and _is_popped(program.backward, name):
            renamed[name] = facts.names.numbered_name(name)
            early = facts.calls.snapshots.get(name) is not None and _bind_early(
                program.forward, name, program.parameters
            )
            own = f"None if {name} is None else {name}.copy()" if early else f"{name}.copy()"
            copies.append((name, statement(f"{renamed[name]} = {own}")))
    for node in [*program.backward, program.result.value.elts[1]]:
        for item in walk(node):
            if isinstance(item, gast.Name) and item.id in renamed:
                item.id = renamed[item.id]
    for name, made in copies:
        if not _place(program.backward, renamed[name], made):
            facts.tape.fresh_copies.append(_where_bound(name, made, program))
    return program


def _where_bound(name: str, made: Node, program: Program) -> Node:
    """The copy of a name that some branch binds, made before all branches: None where the name has no value."""
    block = [] if name in program.parameters else program.forward
    for position, node in enumerate(block):
        bound = any(name in stores(inner) for inner in statements([node]))
        if bound and isinstance(node, gast.If) and branch_depths([node])[name]:
            block.insert(position, statement(f"{name} = None"))
            copy = f"None if {name} is None else value" if isinstance(made.value, gast.Call) else "value"
            return statement(f"{made.targets[0].id} = {copy}", value=made.value)
        if bound:
            break
    return made


def _own_arrays(block: Block, facts: Facts) -> None:
    """An array that comes back from a record, and into which the backward half writes, comes back as a copy."""
    changed = {
        other for n in statements(block) for s in written_names(n) for other in facts.memory.swapped.get(s, {s: None})
    }
    for node in statements(block):
        if node in facts.tape.restores and target(node) in changed and not is_write(node):
            node.value = expression("kept.copy()", kept=node.value)


def _bind_early(block: Block, name: str, parameters: list[str]) -> bool:
    """`h = None` before the loop that binds a name, since the pullback takes it even if the loop makes no trip."""
    if name in parameters:
        return False
    for position, node in enumerate(block):
        if any(name in stores(inner) for inner in statements([node])):
            if any(isinstance(inner, gast.For | gast.While) for inner in statements([node])):
                block.insert(position, statement(f"{name} = None"))
                return True
            return False
    return False


def _place(block: Block, name: str, made: Node) -> bool:
    """Whether the copy has its place in a branch: a name that matters in one branch only is copied in that branch."""
    here = block
    while True:
        touching = [node for node in here if _mentions_name([node], name)]
        sides = [s for s in ("body", "orelse") if touching and getattr(touching[0], s, None)]
        sides = [s for s in sides if _mentions_name(getattr(touching[0], s), name)]
        tested = touching and isinstance(touching[0], gast.If) and _mentions_name([touching[0].test], name)
        if len(touching) != 1 or not isinstance(touching[0], gast.If) or len(sides) != 1 or tested:
            break
        here = getattr(touching[0], sides[0])
    if here is not block:
        here.insert(0, made)
    return here is not block


def _mentions_name(block: Block, name: str) -> bool:
    return any(isinstance(i, gast.Name) and i.id == name for n in block for i in walk(n))


def _is_popped(block: Block, name: str) -> bool:
    return any(
        isinstance(item, gast.Attribute)
        and item.attr in ("pop", "backwards")
        and isinstance(item.value, gast.Name)
        and item.value.id == name
        for node in block
        for item in walk(node)
    )
