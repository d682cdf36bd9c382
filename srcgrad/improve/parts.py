"""The adjoint of a container to whose parts the backward half adds, each by name: a display of their adjoints."""

from __future__ import annotations

import dataclasses
from typing import Any  # keys of containers are arbitrary

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import SCALAR, UNKNOWN, Facts, Kind
from srcgrad.trees import (
    COMPOUND,
    Block,
    Node,
    assign,
    at,
    constant,
    copy,
    expression,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
    written,
)

ONE_BY_ONE = ("tuple", "list", "dict")


def parts(program: Program, facts: Facts) -> Program:
    """`p_bar = zeros_like(p)`, `p_bar["w"] += e` as `p_bar = {"w": e, ...}`, where nothing reads p_bar in between.

    It is done for texts that will be differentiated again, in which containers do not change.
    """
    if facts.module is not None and facts.module.seeded:
        return program
    changed = {one for node in statements(program.forward) for one in written(node)}
    for adjoint, primal in list(facts.adjoint_of.items()):
        kind = _kind(primal, facts)
        if kind.tag in ONE_BY_ONE and primal in facts.containers and primal not in changed:
            program.backward = _displayed(program.backward, adjoint, primal, kind, facts)
    return program


def _kind(primal: str, facts: Facts) -> Kind:
    """The parts of a container; those of an object are the fields of its class."""
    kind = facts.kinds.get(primal, UNKNOWN)
    owner = facts.records.get(facts.base.get(primal, primal))
    if owner is None or not dataclasses.is_dataclass(owner):
        return kind
    return Kind("dict", None, tuple((f.name, UNKNOWN) for f in dataclasses.fields(owner) if f.init))


def _displayed(block: Block, adjoint: str, primal: str, kind: Kind, facts: Facts) -> Block:
    touching = [k for k, node in enumerate(block) if _mentions(node, adjoint)]
    if not touching or block[touching[0]] not in facts.zeros or target(block[touching[0]]) != adjoint:
        return block
    keys = [key for key, _ in kind.items]
    added: list[tuple[int, Any, Node]] = []
    for place in touching[1:]:
        found = _added(block[place], adjoint)
        if found is None or found[0] not in keys:
            break
        added.append((place, *found))
    rest = touching[1 + len(added) :]
    if any(adjoint in stores(node) for place in rest for node in statements([block[place]])):
        return block
    first, last = block[touching[0]], added[-1][0] if added else touching[0]
    held: dict[Any, str] = {}
    made: Block = []
    for place, node in enumerate(block[: last + 1]):
        match = next((one for one in added if one[0] == place), None)
        if match is None:
            made += [] if node is first else [node]
            continue
        made.append(_kept(match[1], match[2], held, node, facts))
    display = _display(kind, primal, held, facts)
    made.append(at(assign(adjoint, display), block[last]))
    return [*made, *block[last + 1 :]]


def _kept(key: Any, value: Node, held: dict[Any, str], node: Node, facts: Facts) -> Node:
    """The statement that holds, or adds to, the adjoint of one part."""
    if key in held:
        helper = facts.library("add")
        return at(assign(held[key], expression(f"{helper}(one, two)", one=name(held[key]), two=value)), node)
    held[key] = facts.names.fresh(f"t{len(facts.temporaries) + 1}")
    facts.temporaries[held[key]] = "t"
    return at(assign(held[key], value), node)


def _display(kind: Kind, primal: str, held: dict[Any, str], facts: Facts) -> Node:
    values = [name(held[key]) if key in held else _zero(key, part, primal, facts) for key, part in kind.items]
    if kind.tag == "dict":
        return gast.Dict(keys=[constant(key) for key, _ in kind.items], values=values)
    return (gast.Tuple if kind.tag == "tuple" else gast.List)(elts=values, ctx=gast.Load())


def _zero(key: Any, part: Kind, primal: str, facts: Facts) -> Node:
    if part == SCALAR:
        return constant(0.0)
    return expression(f"{facts.library('zeros_like')}(primal[key])", primal=primal, key=constant(key))


def _added(node: Node, adjoint: str) -> tuple[Any, Node] | None:
    """The key and the value of `p_bar[key] += e` and `p_bar[key] = add(p_bar[key], e)`, with a literal key."""
    if isinstance(node, COMPOUND) or written(node) != [adjoint]:
        return None
    part = node.target if isinstance(node, gast.AugAssign) else getattr(node, "targets", [None])[0]
    plain = isinstance(part, gast.Subscript) and getattr(part.value, "id", "") == adjoint
    if not plain or not isinstance(part.slice, gast.Constant):
        return None
    value = node.value
    if isinstance(node, gast.AugAssign):
        found = value if isinstance(node.op, gast.Add) else None
    else:
        found = value.args[1] if isinstance(value, gast.Call) and len(value.args) == 2 else None
    if found is None or any(isinstance(n, gast.Name) and n.id == adjoint for n in walk(found)):
        return None
    return part.slice.value, copy(found)


def _mentions(node: Node, adjoint: str) -> bool:
    return any(adjoint in loads(each) or adjoint in stores(each) for each in statements([node]))
