"""Dataflow over structured control flow: who may define what is read, and what is read later.

Equations are solved with bit sets and a work list, so that the length of a function is no limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field

import gast

from srcgrad.core.identity import record
from srcgrad.core.trees import Block, Node, loads, stores

ENTRY = 0
Edge = tuple[list[str], list[str]]


@record
class Graph:
    """The control flow graph: `nodes[k]` is a statement (its header, if compound); first entry, last exit."""

    nodes: list[Node | None] = field(default_factory=lambda: [None])
    successors: list[list[int]] = field(default_factory=lambda: [[]])
    index: dict[Node, int] = field(default_factory=dict)
    binding: set[int] = field(default_factory=set)  # where a loop binds its variable: on the way into the body

    def after(self, node: Node, passes: Callable[[int], bool]) -> Iterator[int]:
        """Where control may come behind a statement, each place once; what does not pass has nothing behind it."""
        seen: set[int] = set()
        todo = list(self.successors[self.index[node]])
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                yield number
                if passes(number):
                    todo += self.successors[number]

    def bound_at(self, number: int) -> list[str]:
        """Names that a node binds: the header of a `for` binds none, since it is also the way out."""
        node = self.nodes[number]
        if node is None or (isinstance(node, gast.For) and number not in self.binding):
            return []
        return stores(node)

    def read_at(self, number: int) -> tuple[str, ...]:
        """Names that a node reads."""
        node = self.nodes[number]
        return () if node is None or number in self.binding else loads(node)


def graph(block: Block) -> Graph:
    """The control flow graph of a block of assignments, ifs and loops."""
    result = Graph()
    left: Left = {gast.Return: []}
    for last in [*_chain(result, block, [ENTRY], left), *left[gast.Return]]:
        result.successors[last].append(len(result.nodes))
    result.nodes.append(None)
    result.successors.append([])
    return result


Left = dict[type, list[int]]  # `break`, `continue` and `return` -> where they stand


def _chain(result: Graph, block: Block, before: list[int], left: Left) -> list[int]:
    for node in block:
        number = len(result.nodes)
        result.nodes.append(node)
        result.successors.append([])
        result.index[node] = number
        for previous in before:
            result.successors[previous].append(number)
        kind = type(node)
        if kind is gast.If:
            after = _chain(result, node.body, [number], left)
            before = after + _chain(result, node.orelse, [number], left)
        elif kind is gast.For or kind is gast.While:
            inside = number
            if kind is gast.For:
                inside = len(result.nodes)
                result.nodes.append(node)
                result.successors.append([])
                result.binding.add(inside)
                result.successors[number].append(inside)
            own: Left = {**left, gast.Break: [], gast.Continue: []}
            for last in [*_chain(result, node.body, [inside], own), *own[gast.Continue]]:
                result.successors[last].append(number)
            before = _chain(result, node.orelse or [], [number], left) + own[gast.Break]
        elif kind in left:
            left[kind].append(number)
            before = []
        else:
            before = [number]
    return before


@record(frozen=True)
class Definitions:
    """Reaching definitions: `of[k]` is (graph node, name) of definition k; `reaching[n]` a bit set at node n.

    The `only` definition of a name has no bit, if what reads the name is known to come behind it.
    """

    graph: Graph
    of: list[tuple[int, str]]
    masks: dict[str, int]
    reaching: list[int]
    only: dict[str, int] = field(default_factory=dict)

    def at(self, node: Node, name: str, apart: int = 0) -> list[int]:
        """Numbers of the definitions of `name` that may reach the header of `node`; not those in the set `apart`."""
        if name in self.only:
            return [self.only[name]]
        bits = self.reaching[self.graph.index[node]] & self.masks.get(name, 0) & ~apart
        found = []
        while bits:
            lowest = bits & -bits
            found.append(lowest.bit_length() - 1)
            bits ^= lowest
        return found


def definitions(block: Block, parameters: Iterable[str], bound_first: bool = False) -> Definitions:
    """Reaching definitions of a block; parameters are defined at the entry.

    With `bound_first` nothing reads a name that is not bound: its only definition reaches whatever reads it.
    """
    flow = graph(block)
    every: list[tuple[int, str]] = [(ENTRY, name) for name in parameters]
    for number in range(1, len(flow.nodes) - 1):
        bound = flow.bound_at(number)
        every += [(number, name) for name in (bound if len(bound) < 2 else dict.fromkeys(bound))]
    times = Counter([name for _, name in every]) if bound_first else {}
    of = [one for one in every if times.get(one[1]) != 1]
    made, masks = [0] * len(flow.nodes), dict[str, int]()
    for k, (number, name) in enumerate(of):
        made[number] |= 1 << k
        masks[name] = masks.get(name, 0) | 1 << k
    killed = [0] * len(flow.nodes)
    for number, name in of:
        killed[number] |= masks[name]
    alone = [one for one in every if times.get(one[1]) == 1]
    only = {name: len(of) + k for k, (_, name) in enumerate(alone)}
    return Definitions(flow, of + alone, masks, solve_forward(flow, made, killed), only)


def solve_forward(flow: Graph, made: list[int], killed: list[int]) -> list[int]:
    """What may hold at the entry of each node: `made[n]` holds after node n, `killed[n]` does not."""
    return _solve(flow.successors, made, killed, list(range(len(flow.nodes) - 1, -1, -1)))[0]


def _solve(
    ahead: Sequence[Iterable[int]], made: list[int], killed: list[int], todo: list[int]
) -> tuple[list[int], list[int]]:
    """What holds before and behind each node, where what holds behind it holds before those `ahead` of it."""
    into, out = [0] * len(made), list(made)
    waiting = set(todo)
    while todo:
        number = todo.pop()
        waiting.discard(number)
        leaving = out[number] = made[number] | (into[number] & ~killed[number])
        for other in ahead[number]:
            if leaving | into[other] != into[other]:
                into[other] |= leaving
                if other not in waiting:
                    waiting.add(other)
                    todo.append(other)
    return into, out


@record(frozen=True)
class Liveness:
    """Names that may be read later: `after[n]`, `before[n]` are bit sets over `bits`, at graph node n."""

    graph: Graph
    bits: dict[str, int]
    before: list[int]
    after: list[int]


def liveness(block: Block, at_end: Iterable[str] = ()) -> Liveness:
    """Live names of a block; those in `at_end` are read after it."""
    flow = graph(block)
    bits: dict[str, int] = {}
    reads, writes = [0] * len(flow.nodes), [0] * len(flow.nodes)
    for number in range(1, len(flow.nodes) - 1):
        for name in flow.read_at(number):
            reads[number] |= bits.setdefault(name, 1 << len(bits))
        for name in flow.bound_at(number):
            writes[number] |= bits.setdefault(name, 1 << len(bits))
    for name in at_end:
        reads[-1] |= bits.setdefault(name, 1 << len(bits))
    predecessors: list[list[int]] = [[] for _ in flow.nodes]
    for number, successors in enumerate(flow.successors):
        for successor in successors:
            predecessors[successor].append(number)
    after, before = _solve(predecessors, reads, writes, list(range(len(flow.nodes))))
    return Liveness(flow, bits, before, after)


def live_in(block: Block) -> list[str]:
    """Names that a block reads before it binds them."""
    flow = liveness(block)
    return [one for one, bit in flow.bits.items() if flow.before[0] & bit]


def reachable_names(start: list[str], edges: list[Edge]) -> dict[str, None]:
    """What flows on from some names, they included; each edge leads from names to names."""
    leaving: dict[str, list[str]] = {}
    for sources, sinks in edges:
        for source in sources:
            leaving.setdefault(source, []).extend(sinks)
    found = dict.fromkeys(start)
    todo = list(start)
    while todo:
        for sink in leaving.get(todo.pop(), []):
            if sink not in found:
                found[sink] = None
                todo.append(sink)
    return found
