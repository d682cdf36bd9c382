"""The derivative of one item, for a loop over many: it writes rows of a Jacobian into arrays of the loop's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import gast

from srcgrad.backend.text.definitions import Import
from srcgrad.core.control_flow import liveness
from srcgrad.core.facts import Facts, Names
from srcgrad.core.target import ParallelLoop
from srcgrad.core.trees import (
    Block,
    Node,
    assign,
    expression,
    find_nodes,
    literal_node,
    name,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.derive.program import Program

LETTERS = "jmpq"


@dataclass(frozen=True)
class Items:
    """What items are: the kind of a value (number, tuple or array), how many parts it has, and the lengths of the
    axes of their arguments, where all are small.
    """

    kind: str
    size: int
    lengths: Mapping[str, tuple[int, ...]] | None


@dataclass(frozen=True)
class ItemArguments:
    """What the derivative of an item takes behind the item: see `add_item_parameters` and `rows`."""

    row: bool  # the number of the part of the value of which the adjoints are wanted
    seeds: bool  # an array of the seeds of all parts
    blocks: tuple[str, ...]  # arguments whose blocks, or rows of them, it fills; it returns the adjoints of the others
    inside: bool = False  # whether no index need be looked at: see `srcgrad.backend.numba.array_statements`


def parallel_loop(names: Names, inside: bool) -> ParallelLoop:
    """A loop over items that Numba spreads over processors."""
    njit, prange = (names.fresh(name) for name in ("njit", "prange"))
    checks = "" if inside else ", boundscheck=True"
    imports = {Import("numba", member).line(name) for member, name in (("njit", njit), ("prange", prange))}
    return ParallelLoop(prange, f'@{njit}(parallel=True, error_model="numpy"{checks})\n', frozenset(imports))


def add_item_parameters(program: Program, facts: Facts) -> Program:
    """Let the seed be that of part `k` of the value, and adjoints of arrays that are only added to be parameters."""
    items: Items | None = facts.module.given
    if items is None or facts.request.mode != "pull" or facts.request.called:
        return program
    value, adjoints = program.result.value.elts
    if items.kind == "array" and not _arrays_written(program) <= set(facts.names.adjoint_of):
        value = expression("value.copy()", value=value)  # what the backward half brings back is part of it
        kept = facts.names.fresh("y")
        program.forward.append(assign(kept, value))
        value = name(kept)
    taken = [w for w in facts.request.wrt if _only_added_to(facts.names.spelled[w], w, program, facts)]
    counters: dict[tuple[int, int], str] = {}
    for wanted in taken:
        _clear(facts.names.spelled[wanted], (items.lengths or {}).get(wanted), counters, program, facts)
    parts = adjoints.elts if isinstance(adjoints, gast.Tuple) else [adjoints]
    names = {facts.names.spelled[w] for w in taken}
    left = [part for part in parts if part.id not in names]
    program.result.value = gast.Tuple(elts=[value, *left], ctx=gast.Load()) if left else value
    seeds = [facts.names.fresh("seeds")] if items.kind == "array" else []
    row = [facts.names.fresh("k")] if items.kind != "number" else []
    reads = any(
        facts.names.seeds[0] == n.id for node in program.forward for n in walk(node) if isinstance(n, gast.Name)
    )
    half = program.forward if reads else program.backward
    half.insert(0, assign(facts.names.seeds[0], _seed(items, [*row, *seeds])))
    _let(program, facts, (*row, *seeds, *(facts.names.spelled[w] for w in taken)))
    facts.module.given_of[facts.source.name] = ItemArguments(bool(row), bool(seeds), tuple(taken))
    return program


def _let(program: Program, facts: Facts, seeds: tuple[str, ...]) -> None:
    """Let these be the parameters behind the item."""
    program.parameters = [*(p for p in program.parameters if p not in facts.names.seeds), *seeds]
    facts.names.seeds = seeds


def _seed(items: Items, names: list[str]) -> Node:
    """`1.0`, `(1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0)`, `seeds[k]`."""
    if items.kind == "number":
        return literal_node(1.0)
    if items.kind == "array":
        return expression("seeds[k]", k=name(names[0]), seeds=name(names[1]))
    parts = [
        expression("1.0 if k == place else 0.0", k=name(names[0]), place=literal_node(j)) for j in range(items.size)
    ]
    return gast.Tuple(elts=parts, ctx=gast.Load())


def rows(program: Program, facts: Facts) -> Program:
    """Let one forward half do for all parts of a value, where the backward half may run again behind it.

    `for k in range(2)` is around the backward half then, and all blocks are parameters, of which it fills rows.
    """
    taken: ItemArguments | None = facts.module.given_of.get(facts.source.name)
    if (
        taken is None
        or facts.request.mode != "pull"
        or facts.request.called
        or not taken.row
        or not _runs_again(program, facts, taken)
    ):
        return program
    row, *seeds = facts.names.seeds[: 1 + taken.seeds]
    blocks = {w: facts.names.fresh(f"{w}_rows") for w in facts.request.wrt}
    begin = [_part(facts.names.spelled[w], blocks[w], row) for w in taken.blocks]
    end = [
        statement("rows[k] = x_bar", rows=name(blocks[w]), k=name(row), x_bar=name(facts.names.spelled[w]))
        for w in facts.request.wrt
        if w not in taken.blocks
    ]
    loop = statement(f"for {row} in range(size):\n    pass", size=literal_node(facts.module.given.size))
    loop.body = [*begin, *program.backward, *end]
    program.backward = [loop]
    if len(taken.blocks) < len(facts.request.wrt):
        program.result.value = program.result.value.elts[0]
    _let(program, facts, (*seeds, *blocks.values()))
    facts.module.given_of[facts.source.name] = ItemArguments(False, taken.seeds, tuple(facts.request.wrt))
    return program


def _part(adjoint: str, block: str, row: str) -> Node:
    return assign(adjoint, expression("rows[k]", rows=name(block), k=name(row)))


def _runs_again(program: Program, facts: Facts, taken: ItemArguments) -> bool:
    """Whether nothing that the backward half changes is what it reads of the forward half, or part of the value."""
    nodes = list(statements(program.backward))
    calls = [item for node in program.backward for item in find_nodes(node, gast.Call)]
    into = any(keyword.arg == "out" for call in calls for keyword in call.keywords)
    if into or not _arrays_written(program) <= set(facts.names.adjoint_of):
        return False
    flow = liveness([*program.backward, program.result])
    alive = flow.before[0] if flow.before else 0
    bound = {each for node in nodes for each in stores(node)} - {facts.names.spelled[w] for w in taken.blocks}
    return not any(flow.bits.get(each, 0) & alive for each in bound)


def _arrays_written(program: Program) -> set[str]:
    """The arrays into which the backward half writes."""
    return {array for node in statements(program.backward) for array in written_names(node)}


def _clear(
    adjoint: str, lengths: tuple[int, ...] | None, counters: dict[tuple[int, int], str], program: Program, facts: Facts
) -> None:
    """Zeros in the array that is given, in place of an array of zeros; each length of an axis has its counter."""
    for axis in enumerate(lengths or ()):
        if axis not in counters:
            counters[axis] = facts.names.fresh(LETTERS[min(len(counters), len(LETTERS) - 1)])
    place = next(k for k, node in enumerate(program.backward) if _is_zeros(node, adjoint, facts))
    program.backward[place] = _zeros(adjoint, lengths, counters)


def _zeros(adjoint: str, lengths: tuple[int, ...] | None, counters: dict[tuple[int, int], str]) -> Node:
    """`x_bar[:] = 0.0`, or a loop over axes of known lengths, which compiled code keeps in registers."""
    if lengths is None:
        return statement(f"{adjoint}[:] = 0.0")
    axes = list(enumerate(lengths))
    made = statement(f"{adjoint}[{', '.join(counters[axis] for axis in axes)}] = 0.0")
    for axis in reversed(axes):
        loop = statement(f"for {counters[axis]} in range({axis[1]}):\n    pass")
        loop.body = [made]
        made = loop
    return made


def _is_zeros(node: Node, adjoint: str, facts: Facts) -> bool:
    return node in facts.tape.zeros and target(node) == adjoint


def _only_added_to(adjoint: str, wanted: str, program: Program, facts: Facts) -> bool:
    kind = facts.kinds.of_names.get(wanted)
    if kind is None or kind.tag != "array" or not kind.ndim:
        return False
    made = [node for node in program.backward if _is_zeros(node, adjoint, facts)]
    others: Block = [node for node in statements([*program.forward, *program.backward]) if node not in made]
    if len(made) != 1 or any(adjoint in stores(n) and adjoint not in written_names(n) for n in others):
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
