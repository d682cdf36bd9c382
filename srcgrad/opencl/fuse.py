"""Which statements run as one kernel: straight-line elementwise work, with the sums that end it.

Each group becomes a function of its own in the text: its body is the Python that it stands for, its docstring the C of
one element. `launch` runs the C, or the Python where the arguments are not what the C is for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts, copied
from srcgrad.opencl.element import element, reach_of
from srcgrad.opencl.groups import Group
from srcgrad.opencl.launch import launch
from srcgrad.trees import COMPOUND, Block, Node, at, loads, name, statements, stores, substitute


@dataclass
class Fusing:
    """The work on one derivative: what is read where, and the functions made so far."""

    facts: Facts
    stem: str
    reads: dict[str, int] = field(default_factory=dict)  # how often each name is read in the whole text
    made: list[Node] = field(default_factory=list)
    count: int = 1
    loops: int = 0  # around the statements at hand
    primal: bool = True  # whether the statements at hand are of the forward half


def fuse(program: Program, facts: Facts) -> Program:
    """Put the elementwise work of both halves into kernels."""
    work = Fusing(facts, f"{facts.source.name}_kernel")
    body = [*program.forward, *facts.fresh_copies, *program.backward, program.result]
    for node in statements(body):
        for read in loads(node):
            work.reads[read] = work.reads.get(read, 0) + 1
    if facts.mode == "vjp":
        program.forward = _block(program.forward, work)
        work.primal = False
        program.backward = _block(program.backward, work)
    else:
        mark = gast.Pass()
        joined = _block([*program.forward, mark, *program.backward], work)
        split = joined.index(mark)
        program.forward, program.backward = joined[:split], joined[split + 1 :]
    for made in work.made:
        facts.module.add_kernel(made, facts)
    return program


def _block(block: Block, work: Fusing, hopeful: bool = True) -> Block:
    made: Block = []
    group = Group(work.facts, work.primal, hopeful)
    for node in block:
        work.primal = work.primal and not isinstance(node, gast.Pass)
        group.primal = work.primal
        if isinstance(node, COMPOUND):
            made += _closed(group, work)
            group = Group(work.facts, work.primal, hopeful)
            work.loops += isinstance(node, gast.For | gast.While)
            node.body = _block(node.body, work)
            node.orelse = _block(getattr(node, "orelse", None) or [], work)
            work.loops -= isinstance(node, gast.For | gast.While)
            made.append(node)
            continue
        if group.take(node):
            continue
        made += _closed(group, work)
        group = Group(work.facts, work.primal, hopeful)
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
    carried = {r for given in group.arguments.values() for r in loads(given)} if work.loops else set()
    wanted = [s for s in group.stored if s in carried or work.reads.get(s, 0) > inside.get(s, 0)]
    small = _small(group, wanted)
    if small is None:
        return group.plain()
    wanted = [s for s in wanted if s not in {t for node in small for t in stores(node)}]
    results = [*wanted, *group.sums]
    text = element(group, wanted) if results else None
    if text is None:
        return group.plain()
    facts = work.facts
    called = facts.module.names.fresh(f"{work.stem}_{work.count}")
    work.count += 1
    facts.names.taken.add(called)
    work.made.append(_function(called, group, text, results, work))
    call = gast.Call(name(facts.library("launch", launch)), [name(called), *group.arguments.values()], [])
    places: list[Node] = [name(result, gast.Store()) for result in results]
    bound = places[0] if len(places) == 1 else gast.Tuple(elts=places, ctx=gast.Store())
    made = at(gast.Assign([bound], call, None), group.statements[0])
    return [*group.before, made, *small, *group.after]


def _small(group: Group, wanted: list[str]) -> Block | None:
    """Statements whose values are wanted but may be smaller than the whole: Python computes them, too.

    None if one of them needs what only the kernel knows.
    """
    reach = reach_of(group)
    whole = set(group.arguments) if not group.wholes else None
    found: Block = []
    known = set(group.arguments)
    for node in group.statements:
        bound = node.targets[0].id
        if bound not in wanted or whole is None:
            continue
        widest = max(len(reach[other]) for other in [*group.stored, *group.sums])
        if len(reach[bound]) == widest:
            known.add(bound)
            continue
        sources = [n for n in group.statements if bound in stores(n)]
        if len(sources) != 1 or not {r for r in loads(node.value) if r in reach} <= known:
            return None
        if _rebound(node.value, group):
            return None
        value = substitute(copied(node.value, group.facts), dict(group.arguments))
        found.append(at(gast.Assign([name(bound, gast.Store())], value, None), node))
        known.add(bound)
    return found


def _rebound(value: Node, group: Group) -> bool:
    """Whether an argument of the kernel that a value reads means something else once the kernel has run."""
    bound = group.bound()
    return any(bound & set(loads(group.arguments[read])) for read in loads(value) if read in group.arguments)


def _function(called: str, group: Group, text: str, results: list[str], work: Fusing) -> Node:
    """`def kernel(x, a): ...`: the C as docstring, the Python as body, in smaller kernels where it may be needed."""
    made = gast.parse(f"def {called}({', '.join(group.arguments)}): pass").body[0]
    names: list[Node] = [name(result) for result in results]
    value = names[0] if len(names) == 1 else gast.Tuple(elts=names, ctx=gast.Load())
    last = gast.Return(value)
    body = [group.augmented.get(node, node) for node in group.statements]
    if group.wholes:
        inner = Fusing(work.facts, work.stem, made=work.made, count=work.count, primal=group.primal)
        for node in [*body, last]:
            for read in loads(node):
                inner.reads[read] = inner.reads.get(read, 0) + 1
        body = _block([_again(node, work.facts) for node in body], inner, False)
        work.count = inner.count
    made.body = [gast.Expr(gast.Constant(value=text, kind=None)), *body, last]
    return made


def _again(node: Node, facts: Facts) -> Node:
    """A statement of the user's line, of its own."""
    if isinstance(node, gast.AugAssign):
        return at(gast.AugAssign(name(node.target.id, gast.Store()), node.op, copied(node.value, facts)), node)
    return at(gast.Assign([name(node.targets[0].id, gast.Store())], copied(node.value, facts), None), node)
