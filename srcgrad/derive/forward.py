"""Forward mode: beside each statement its tangent, from the same templates as reverse mode."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.supports import full, supports
from srcgrad.derive.tangents import tangent_of
from srcgrad.facts import Facts
from srcgrad.front.webs import parameters
from srcgrad.names import dot
from srcgrad.trees import COMPOUND, Block, Node, assign, at, copy, expression, loads, name, stores, target, walk


def tangent(function: Node, facts: Facts) -> Program:
    """The program that computes the value and its tangent; the tangents of the inputs are further parameters."""
    supports(function, facts)
    others = [p for p in parameters(function) if p in facts.active and p not in facts.wrt]
    start = [assign(dotted(p, facts), expression(f"{facts.library('zeros_like')}(x)", x=p)) for p in others]
    body = start + _block(function.body[:-1], facts)
    value = function.body[-1].value
    pair = [copy(value), _output(value, facts)]
    result = gast.Return(pair[1] if facts.mode in ("hvp", "push") else gast.Tuple(elts=pair, ctx=gast.Load()))
    return Program([*parameters(function), *facts.seeds], body, [], result)


def dotted(primal: str, facts: Facts) -> str:
    """The name of the tangent of a name."""
    if primal not in facts.spelled:
        stem = "y" if facts.temporaries.get(primal) == "y" else primal
        facts.spelled[primal] = facts.names.fresh(dot(stem))
        facts.adjoint_of[facts.spelled[primal]] = primal
    return facts.spelled[primal]


def _output(value: Node, facts: Facts) -> Node:
    if isinstance(value, gast.Tuple):
        return gast.Tuple(elts=[_output(item, facts) for item in value.elts], ctx=gast.Load())
    if value.id in facts.active:
        return name(dotted(value.id, facts))
    return expression(f"{facts.library('zeros_like')}(y)", y=value.id)


def _block(block: Block, facts: Facts) -> Block:
    made: Block = []
    for run in _runs(block, facts):
        made += _run(run, facts)
    return made


def _runs(block: Block, facts: Facts) -> list[Block]:
    runs: list[Block] = []
    for node in block:
        user = facts.origin.get(node, node)
        if runs and facts.origin.get(runs[-1][-1], runs[-1][-1]) is user and not isinstance(node, COMPOUND):
            if not isinstance(runs[-1][-1], COMPOUND):
                runs[-1].append(node)
                continue
        runs.append([node])
    return runs


def _run(run: Block, facts: Facts) -> Block:
    """The primal statements of one statement of the user and their tangents, so that neither loses what it reads."""
    if isinstance(run[0], COMPOUND):
        return [_compound(run[0], facts)]
    lost = {s for n in run for s in stores(n)} & {name for n in run for name in loads(n)}
    lost -= set(facts.temporaries)
    made: Block = []
    tangents: Block = []
    for node in run:
        beside = tangent_of(node, facts, dotted)
        for item in beside:
            at(item, node)
            facts.tangents[item] = None
        if isinstance(node, gast.Assign) and node.value in facts.pulled:
            made += [*tangents, node, *beside]  # the call takes the tangents
            tangents = []
        elif lost & set(stores(node)):
            early = {s for n in made for s in stores(n) if n in run and s not in facts.temporaries}
            if early & {read for n in tangents + beside for read in loads(n)}:  # they stand in between
                facts.rewritten[facts.origin.get(node, node)] = None
            made += _before(node, tangents + beside, facts)
            tangents = []
        else:
            made.append(node)
            tangents += beside
    return made + tangents


def _before(node: Node, tangents: Block, facts: Facts) -> Block:
    """A statement that overwrites its operand comes after its tangent, which may need the new value as well."""
    bound = stores(node) if isinstance(node, gast.Assign) and target(node) is None else [str(target(node))]
    new = [i for t in tangents for i in walk(t) if i in facts.results and i.id in bound]
    if not new:
        return [*tangents, node]
    held: dict[str, str] = {}
    for one in bound:
        held[one] = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
        facts.temporaries[held[one]] = "t"
    for item in new:
        item.id = held[item.id]
    first = at(assign(held[bound[0]], node.value), node)
    if target(node) is None:
        first.targets = [gast.Tuple(elts=[name(held[one], gast.Store()) for one in bound], ctx=gast.Store())]
    facts.rewritten[facts.origin.get(node, node)] = None
    return [first, *tangents, *(at(assign(one, name(held[one])), node) for one in bound)]


def _compound(node: Node, facts: Facts) -> Node:
    held = [one for one in stores(node) if one in facts.active] if isinstance(node, gast.For) else []
    before = _walked(node, held[0], facts) if held else []
    node.body = before + _block(node.body, facts)
    if getattr(node, "orelse", None):
        node.orelse = _block(node.orelse, facts)
    return node


def _walked(node: Node, bound: str, facts: Facts) -> Block:
    """Let a loop over an array walk over its tangents as well; what stands before each trip, where it cannot."""
    rows, support = getattr(node.iter, "id", ""), facts.supported.get(bound, "")
    if rows in facts.active and isinstance(node.target, gast.Name):
        given = [rows, dotted(rows, facts), *([facts.supported[rows]] if support and rows in facts.supported else [])]
        pair = [bound, dotted(bound, facts), *([support] if len(given) == 3 else [])]
        node.target = gast.Tuple(elts=[name(one, gast.Store()) for one in pair], ctx=gast.Store())
        node.iter = expression(f"zip({', '.join(given)})")
        made = {support: full(bound, None, facts)} if support and len(given) == 2 else {}
    else:  # what it held before the trip is lost
        zeros = f"{facts.library('zeros_like')}({bound})"
        made = {one: expression(zeros) for one in (dotted(bound, facts), support) if one}
    return [at(assign(one, value), node) for one, value in made.items()]
