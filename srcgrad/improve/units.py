"""A gradient that takes no seed is for the seed 1.0, by which nothing need be multiplied."""

from __future__ import annotations

import gast

from srcgrad.analyse.floating import fits, is_elementwise, is_floating
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.inline import bindings
from srcgrad.trees import Node, constant, statements, target, walk
from srcgrad.walked import reads


def spread_seed(program: Program, facts: Facts) -> Program:
    """Read 1.0 where a seed is read that the backward half binds to 1.0."""
    if facts.seed != "one":
        return program
    bound = bindings(program.block)
    kept = {facts.spelled[w] for w in facts.wrt} | set(facts.elements) | _opened(program)
    seeds: set[str] = set()
    block = []
    for node in program.backward:
        _replace_reads(node, seeds)
        made = target(node)
        if made is not None and bound[made] == 1 and made not in kept and _is_one(node.value):
            seeds.add(made)
        else:
            block.append(node)
    program.backward = block
    _replace_reads(program.result, seeds)
    return program


def _opened(program: Program) -> set[str]:
    """Names of which parts are read: of 1.0 there are none, which the test of the seed tells when it runs."""
    parts = [n for node in [*program.backward, program.result] for n in walk(node) if isinstance(n, gast.Subscript)]
    return {part.value.id for part in parts if isinstance(part.value, gast.Name)}


def _replace_reads(node: Node, seeds: set[str]) -> None:
    def is_seed(part: Node) -> bool:
        return isinstance(part, gast.Name) and part.id in seeds

    if seeds.isdisjoint(reads(node)):
        return
    for item in walk(node):
        for key in item._fields:
            part = getattr(item, key, None)
            if is_seed(part):
                setattr(item, key, constant(1.0))
            elif isinstance(part, list):
                setattr(item, key, [constant(1.0) if is_seed(each) else each for each in part])


def units(program: Program, facts: Facts) -> Program:
    """`e` for `1.0 * e`, where e is a float already, and a value of its own."""
    if facts.seed == "one":
        for node in statements(program.backward):
            for key in ("value", "test", "iter"):
                if isinstance(getattr(node, key, None), gast.AST):
                    setattr(node, key, _folded(getattr(node, key), facts, inside=False))
    return program


def _folded(node: Node, facts: Facts, inside: bool) -> Node:
    """The expression without factors 1.0; `inside` tells whether it is an operand, whose value nobody keeps."""
    arithmetic = isinstance(node, gast.BinOp | gast.UnaryOp)
    for key in node._fields:
        part = getattr(node, key, None)
        if isinstance(part, list):
            setattr(node, key, [_folded(p, facts, False) if isinstance(p, gast.AST) else p for p in part])
        elif isinstance(part, gast.AST) and part._fields:
            setattr(node, key, _folded(part, facts, arithmetic))
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if _is_one(one) and is_floating(other, facts) and (inside or _is_own(other, facts)):
                return other
    return node


def _is_one(node: Node | None) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) is float and node.value == 1.0


def _is_own(node: Node, facts: Facts) -> bool:
    """Whether an expression makes a value that nothing else holds: arithmetic does, and numbers cannot be changed."""
    if isinstance(node, gast.Name):
        spec = facts.spec.get(node) or facts.value_spec.get(facts.adjoint_of.get(node.id, node.id))
        return spec is not None and spec.scalar and not spec.dtype
    if isinstance(node, gast.Subscript):
        return is_floating(node.value, facts)
    if fits(node, facts):
        return is_floating(node.args[0], facts)
    if isinstance(node, gast.Call):
        return is_elementwise(node, facts)
    return isinstance(node, gast.BinOp | gast.UnaryOp | gast.Constant)
