"""Adjoints of several operands that one call gives: `x_bar, y_bar = g_back(z_bar)`."""

from __future__ import annotations

import gast

from srcgrad.derive.adjoints import Adjoints
from srcgrad.derive.states import PRESENT
from srcgrad.facts import Facts, copied
from srcgrad.trees import Block, Node, expression, name, stores

Pair = tuple[Node, Node]  # operand, its contribution


def pulled_back(node: Node, bound: list[str], adjoints: Adjoints, shared: Block) -> list[Pair]:
    """`a_bar, b_bar = g_back(y_bar)`: one closure per call of a differentiated function."""
    facts = adjoints.facts
    operands = facts.pulled[node.value]
    seed = adjoints.of_value(node, bound[0])
    seeds = facts.callee_seeds.get(node.value, ())
    if node.value in facts.recomputed:
        call = _again(node.value, seed, facts)
    else:
        call = expression("back()", back=facts.backs[node.value])
        call.args.append(gast.Starred(seed, gast.Load()) if len(seeds) > 1 else seed)
    if len(operands) == 1:
        return [(copied(operands[0], facts), call)]
    return unpacked(call, operands, node, adjoints, shared)


def _again(call: Node, seed: Node, facts: Facts) -> Node:
    """`g_pull(a, b, y_bar=y_bar)`: the call once more, and its adjoints; several seeds stand behind the arguments."""
    again = copied(call, facts)
    again.func = name(facts.recomputed[call])
    spelled = facts.module.seeds(again.func.id)
    if len(spelled) == 1:
        again.keywords.append(gast.keyword(spelled[0], seed))
    elif again.keywords:
        parts = [expression(f"seed[{place}]", seed=copied(seed, facts)) for place in range(len(spelled))]
        again.keywords += [gast.keyword(one, part) for one, part in zip(spelled, parts, strict=True)]
    else:
        again.args.append(gast.Starred(seed, gast.Load()))
    return again


def unpacked(call: Node, operands: list[Node | None], node: Node, adjoints: Adjoints, shared: Block) -> list[Pair]:
    """`a_bar, b_bar = call`: adjoints that begin here get their names at once; None in `operands` is not asked for.

    An adjoint whose elements will change goes by another name first: two of them may be one array.
    """
    facts = adjoints.facts
    names = [operand.id for operand in operands if operand is not None]
    targets: list[Node] = []
    pairs: list[Pair] = []
    direct: list[str] = []
    for operand in operands:
        if operand is None:
            targets.append(name(facts.unused, gast.Store()))
            continue
        once = names.count(operand.id) == 1 and operand.id not in stores(node)
        changes = operand.id in facts.indexed and operand.id not in facts.containers
        if once and not changes and not adjoints.exists(operand.id):
            targets.append(name(adjoints.of(operand.id), gast.Store()))
            direct.append(operand.id)
        else:
            held = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
            facts.temporaries[held] = "t"
            targets.append(name(held, gast.Store()))
            pairs.append((copied(operand, facts), name(held)))
    for primal in direct:
        adjoints.state[primal] = PRESENT
    shared.append(gast.Assign([gast.Tuple(elts=targets, ctx=gast.Store())], call, None))
    return pairs
