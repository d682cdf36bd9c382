"""Which statements run as one kernel: straight-line elementwise work, with the sums that end it.

Each group becomes a function of its own in the text: its body is the Python that it stands for, its docstring the C of
one element. `launch` runs the C, or the Python where the arguments are not what the C is for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.core.facts import Facts
from srcgrad.core.trees import COMPOUND, Block, Node, at, loads, name, parsed, statements, stores, target
from srcgrad.core.visitor import rewrite_statements
from srcgrad.derive.program import Program, kept_alive
from srcgrad.opencl.again import Closed, again
from srcgrad.opencl.element import element
from srcgrad.opencl.groups import Group
from srcgrad.opencl.launch import launch
from srcgrad.opencl.many import integer, new_axis
from srcgrad.opencl.nearest import nearest
from srcgrad.opencl.operands import Held, named, unnamed
from srcgrad.opencl.scattered import add_at


@dataclass
class Fusing:
    """The work on one derivative: what is read where, and the functions made so far."""

    facts: Facts
    stem: str
    reads: dict[str, int] = field(default_factory=dict)  # how often each name is read in the whole text
    counters: frozenset[str] = frozenset()  # names of integers
    singles: dict[str, int] = field(default_factory=dict)  # names of what has an axis of length one, and which
    closed: list[Closed] = field(default_factory=list)
    count: int = 1
    loops: int = 0  # around the statements at hand
    primal: bool = True  # whether the statements at hand are of the forward half

    def group(self) -> Group:
        """A group that has no statements yet."""
        return Group(self.facts, self.counters, self.singles, self.primal)


def fuse(program: Program, facts: Facts) -> Program:
    """Put the elementwise work of both halves into kernels."""
    work = Fusing(facts, f"{facts.source.name}_kernel")
    body = [*program.forward, *facts.fresh_copies, *program.backward, program.result]
    facts.saved = kept_alive(program, facts)
    nearest(body, facts)
    if "add_at" in facts.imports:
        facts.library_values["add_at"] = add_at
    held: Held = {}
    program.forward, program.backward = (
        named(half, facts, work.group, held) for half in (program.forward, program.backward)
    )
    body = [*program.forward, *facts.fresh_copies, *program.backward, program.result]
    forward = program.forward
    for node in statements(body):
        for read in loads(node):
            work.reads[read] = work.reads.get(read, 0) + 1
    work.counters, work.singles = _counters(body), _singles(body)
    if facts.mode == "vjp":
        program.forward = _block(program.forward, work)
        work.primal = False
        program.backward = _block(program.backward, work)
    else:
        mark = gast.Pass()
        joined = _block([*program.forward, mark, *program.backward], work)
        split = joined.index(mark)
        program.forward, program.backward = joined[:split], joined[split + 1 :]
    if facts.mode != "vjp":
        again(work.closed, forward, body)
    calls: dict[Node, Node] = {}
    for one in work.closed:
        function = _function(one.called, one.group, element(one.group, one.results), one.results)
        facts.module.add_kernel(function, facts)
        calls[one.mark] = _call(one, facts)
    for half in (program.forward, program.backward):
        half[:] = unnamed(rewrite_statements(half, lambda node: [calls.get(node, node)]), held)
    return program


def _counters(body: Block) -> frozenset[str]:
    """Names to which nothing but literal integers are bound, or added."""
    whole: dict[str, bool] = {}
    for node in statements(body):
        for bound in stores(node):
            value = node.value if isinstance(node, gast.Assign | gast.AugAssign) else None
            if isinstance(value, gast.BinOp) and isinstance(value.left, gast.Name) and value.left.id == bound:
                value = value.right
            whole[bound] = whole.get(bound, True) and integer(value) is not None
    return frozenset(name for name, all_whole in whole.items() if all_whole)


def _singles(body: Block) -> dict[str, int]:
    """Names to which nothing but `e[:, None]` is bound, and which axis that is."""
    found: dict[str, int | None] = {}
    for node in statements(body):
        made = new_axis(node.value) if target(node) and isinstance(node.value, gast.Subscript) else None
        axis = None if made is None else made.axis
        for bound in stores(node):
            found[bound] = axis if found.get(bound, axis) == axis else None
    return {bound: axis for bound, axis in found.items() if axis is not None}


def _block(block: Block, work: Fusing) -> Block:
    made: Block = []
    group = work.group()
    for node in block:
        work.primal = work.primal and not isinstance(node, gast.Pass)
        group.primal = work.primal
        if isinstance(node, COMPOUND):
            made += _closed(group, work)
            group = work.group()
            work.loops += isinstance(node, gast.For | gast.While)
            node.body = _block(node.body, work)
            node.orelse = _block(getattr(node, "orelse", None) or [], work)
            work.loops -= isinstance(node, gast.For | gast.While)
            made.append(node)
            continue
        if group.take(node):
            continue
        made += _closed(group, work)
        group = work.group()
        if not group.take(node):
            made.append(node)
    return made + _closed(group, work)


def _closed(group: Group, work: Fusing) -> Block:
    """The statements of a group: what goes before, the call of its kernel, what comes after."""
    if not group.is_worth_it():
        return group.plain()
    inside: dict[str, int] = {}
    for node in group.statements:
        for read in loads(node):
            inside[read] = inside.get(read, 0) + 1
    made_here = [*group.stored, *group.sums]
    carried = {r for given in group.arguments.values() for r in loads(given)} if work.loops else set()
    outside = {s for s in made_here if work.reads.get(s, 0) > inside.get(s, 0) or s not in work.reads}
    results = [s for s in made_here if s in outside | carried]
    if not results and not group.writes:
        return group.plain()
    facts = work.facts
    called = facts.module.names.fresh(f"{work.stem}_{work.count}")
    work.count += 1
    facts.names.taken.add(called)
    mark = gast.Pass()
    work.closed.append(Closed(group, called, results, mark, group.statements[0]))
    return [*group.before, mark, *group.after]


def _call(one: Closed, facts: Facts) -> Node:
    """What stands where the statements of a group stood."""
    call = gast.Call(name(facts.library("launch", launch)), [name(one.called), *one.group.arguments.values()], [])
    places: list[Node] = [name(result, gast.Store()) for result in one.results]
    bound = places[0] if len(places) == 1 else gast.Tuple(elts=places, ctx=gast.Store())
    return at(gast.Assign([bound], call, None) if places else gast.Expr(call), one.first)


def _function(called: str, group: Group, text: str, results: list[str]) -> Node:
    """`def kernel(x, a): ...`: the C as docstring, the Python as body."""
    made = parsed(f"def {called}({', '.join(group.arguments)}): pass").body[0]
    names: list[Node] = [name(result) for result in results]
    value = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Load())
    body = [group.augmented.get(node, node) for node in group.statements]
    made.body = [gast.Expr(gast.Constant(value=text, kind=None)), *body, *([gast.Return(value)] if results else [])]
    return made
