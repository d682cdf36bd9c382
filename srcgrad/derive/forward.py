"""Forward mode: beside each statement its tangent, from the same templates as reverse mode."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.derive.supports import sought
from srcgrad.derive.tangents import tangent_of
from srcgrad.facts import Facts
from srcgrad.front.webs import parameters
from srcgrad.names import dot
from srcgrad.trees import COMPOUND, Block, Node, assign, at, copy, expression, loads, name, stores, target, walk


def tangent(function: Node, facts: Facts) -> Program:
    """The program that computes the value and its tangent; the tangents of the inputs are further parameters."""
    facts.sought = sought(function, facts)
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
    if isinstance(node, gast.For) and isinstance(node.iter, gast.Name) and node.iter.id in facts.active:
        if node.target.id in facts.active:
            rows = node.iter.id
            pair = [name(node.target.id, gast.Store()), name(dotted(node.target.id, facts), gast.Store())]
            node.target = gast.Tuple(elts=pair, ctx=gast.Store())
            node.iter = expression(f"zip({rows}, {dotted(rows, facts)})")
    held = [one for one in stores(node) if one in facts.active] if isinstance(node, gast.For) else []
    node.body = _block(node.body, facts)
    if held and not isinstance(node.target, gast.Tuple):  # what it held before the trip is lost
        zeros = expression(f"{facts.library('zeros_like')}(x)", x=held[0])
        node.body.insert(0, at(assign(dotted(held[0], facts), zeros), node))
    if getattr(node, "orelse", None):
        node.orelse = _block(node.orelse, facts)
    return node
