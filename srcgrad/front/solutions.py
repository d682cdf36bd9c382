"""Results that are objects, `sol = solve_ivp(...)` with `sol.t` and `sol.y`, as the arrays in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import gast

import srcgrad.templates as templates
from srcgrad.front.namespace import Binding
from srcgrad.front.overlay import Overlay
from srcgrad.front.resolve import binding_of
from srcgrad.handed import Parts, parts_of
from srcgrad.identity import home
from srcgrad.trees import (
    Block,
    Node,
    at,
    constant,
    header,
    inside,
    loads,
    name,
    statements,
    stores,
    target,
    walk,
)

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def solutions(function: Node, work: Plain) -> None:
    """Let `t, y = solution(f, span, y0)` stand for `sol = solve_ivp(f, span, y0)` where only parts of `sol` are read.

    What is read otherwise stays as it is: no derivative is known then.
    """
    every = list(statements(function.body))
    if not any(_parts(n, work) for node in every for part in header(node) for n in inside(part, gast.Call)):
        return
    function.body = _hoisted(function.body, work)
    every = list(statements(function.body))
    for held in dict.fromkeys(target(n) for n in every if _parts(getattr(n, "value", None), work)):
        bound = [n for n in every if held in stores(n)]
        found = [_parts(getattr(node, "value", None), work) for node in bound if target(node) == held]
        if held is None or len(found) != len(bound) or any(one is not found[0] for one in found):
            continue
        if found[0] is not None and _only_parts(function, held, found[0], work):
            _apart(function, held, found[0], bound, work)


def _parts(node: Node, work: Plain) -> Parts | None:
    """What is known of the result of a call, if it is an object with parts."""
    if not isinstance(node, gast.Call):
        return None
    found = binding_of(node.func, work.facts, work.facts.local)
    if found is None or found.kind != "object" or found.static is not None:
        return None
    module = home(found.object) or ""
    if module.startswith("scipy."):
        templates.load_for(module)
    return parts_of(found.object)


def _hoisted(block: Block, work: Plain) -> Block:
    """`sol = solve_ivp(...)` before a statement that reads a part of such a call."""
    made: Block = []
    for node in block:
        for which in ("body", "orelse"):
            if getattr(node, which, None):
                setattr(node, which, _hoisted(getattr(node, which), work))
        if isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Expr) and node.value is not None:
            before: Block = []
            exchange(node, partial(_held, node=node, before=before, work=work), SOMETIMES)
            made += before
        made.append(node)
    return made


def _held(part: Node, node: Node, before: Block, work: Plain) -> Node:
    """`sol.y` for `solve_ivp(...).y`."""
    if isinstance(part, gast.Attribute) and _parts(part.value, work):
        held = work.name("sol")
        before.append(work.bind(held, part.value, node))
        part.value = at(name(held), part.value)
        work.facts.foreign[node] = None
    return part


SOMETIMES = (gast.Lambda, gast.IfExp, gast.BoolOp, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def exchange(node: Node, function: Callable[[Node], Node], without: tuple[type, ...] = ()) -> None:
    """Put `function` of each part of a statement in its place, the blocks that it holds and some nodes apart."""
    for key in node._fields:
        value = getattr(node, key, None)
        if isinstance(value, list) and key not in ("body", "orelse"):
            setattr(node, key, [_exchanged(item, function, without) for item in value])
        elif isinstance(value, gast.AST):
            setattr(node, key, _exchanged(value, function, without))


def _exchanged(part: Node, function: Callable[[Node], Node], without: tuple[type, ...]) -> Node:
    if not isinstance(part, gast.AST) or not part._fields or isinstance(part, without):
        return part
    exchange(part, function, without)
    return function(part)


def _only_parts(function: Node, held: str, parts: Parts, work: Plain) -> bool:
    """Whether nothing but known parts of a name is read, and nothing of it in nested functions."""
    nested = [known.tree for known in work.facts.functions.values() if known.tree is not None]
    if any(isinstance(n, gast.Name) and n.id == held for tree in nested for n in walk(tree)):
        return False
    reads = [n for n in walk(function) if isinstance(n, gast.Name) and n.id == held and isinstance(n.ctx, gast.Load)]
    known = (*parts.names, *parts.constants)
    taken = [
        n
        for n in walk(function)
        if isinstance(n, gast.Attribute) and getattr(n.value, "id", "") == held and n.attr in known
    ]
    return len(reads) == len(taken)


def _apart(function: Node, held: str, parts: Parts, bound: list[Node], work: Plain) -> None:
    """Bind the parts to names, and read these."""
    helper = work.facts.library(parts.helper.__name__, parts.helper)
    work.facts.namespace = Overlay(work.facts.namespace, {helper: Binding("object", parts.helper)})
    names = {part: work.name(f"{held}_{part}") for part in parts.names}
    for node in bound:
        targets = [name(one, gast.Store()) for one in names.values()]
        node.targets = [gast.Tuple(targets, gast.Store()) if len(targets) > 1 else targets[0]]
        node.value.func = at(name(helper), node.value.func)
        work.own(node, node)
    for node in statements(function.body):
        if held in loads(node):
            exchange(node, partial(_part, held=held, names=names, parts=parts))
            work.facts.foreign[node] = None


def _part(node: Node, held: str, names: dict[str, str], parts: Parts) -> Node:
    if not isinstance(node, gast.Attribute) or getattr(node.value, "id", "") != held:
        return node
    made = name(names[node.attr]) if node.attr in names else constant(parts.constants[node.attr])
    return at(made, node)
