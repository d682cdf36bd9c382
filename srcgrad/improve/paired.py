"""Which loop of the backward half belongs to a loop of the forward half, and what the one keeps for the other."""

from __future__ import annotations

import gast

from srcgrad.derive.backwards import backwards
from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, copy, expression, inside, loads, same, statements, stores, target


def turned(node: Node, loop: Node) -> bool:
    """Whether a loop is the backward form of another."""
    if not isinstance(node, gast.For) or not same(node.target, loop.target) or not isinstance(node.iter, gast.Call):
        return False
    return same(node.iter, backwards(copy(loop.iter)))


def only_adds(loop: Node, program: Program, facts: Facts) -> bool:
    """Whether a loop of the user's does nothing but add up: it is not left early, nor its counter read behind."""
    inner = statements(loop.body)
    left = any(isinstance(node, gast.Break | gast.Continue | gast.Return | gast.While) for node in inner)
    outside = [node for node in [*program.forward, *program.backward, program.result] if not isinstance(node, gast.For)]
    counted = {one for node in statements(outside) for one in loads(node)} & set(stores(loop))
    kept = any(node in facts.pushes for one in inner if isinstance(one, gast.If) for node in statements([one]))
    return not left and not counted and not kept and not any(node in facts.effects for node in inner)


def kept_by(loop: Node, back: Node, program: Program, facts: Facts) -> dict[Node, None] | None:
    """What keeps values of a trip at its end, and brings them back; None if the loop keeps others as well."""
    stacks = [facts.pushes[node] for node in loop.body if node in facts.pushes]
    gone: dict[Node, None] = {}
    for node in loop.body:
        kept = facts.pushes.get(node)
        if kept is None:
            continue
        pops = [one for one in back.body if facts.restores.get(one) == kept]
        value = node.value.args[0] if isinstance(node, gast.Expr) else None
        if len(pops) != 1 or stacks.count(kept) != 1 or not isinstance(value, gast.Name):
            return None
        behind = [*loop.body[loop.body.index(node) :], *back.body[: back.body.index(pops[0])]]
        if target(pops[0]) != value.id or any(value.id in stores(one) for one in statements(behind)):
            return None
        gone.update({node: None, pops[0]: None})
    gone.update({node: None for node in program.forward if facts.pushes.get(node) in stacks})
    gone.update({node: None for node in back.body if target(node) and getattr(node.value, "id", "") == target(node)})
    return gone


def by_items(node: Node, loop: Node) -> bool:
    """Whether a loop is the backward form of one over the items of a name: it counts, and takes each by its place."""
    plain = isinstance(loop.iter, gast.Name) and isinstance(loop.target, gast.Name)
    if (
        not plain
        or not isinstance(node, gast.For)
        or not isinstance(node.target, gast.Name)
        or _item(loop, node) is None
    ):
        return False
    length = expression("range(len(x))", x=copy(loop.iter))
    return isinstance(node.iter, gast.Call) and same(node.iter, backwards(length))


def _item(loop: Node, back: Node) -> Node | None:
    """The statement `v = items[i]` of a backward loop."""
    for node in back.body:
        value = getattr(node, "value", None)
        if target(node) == loop.target.id and isinstance(value, gast.Subscript):
            taken = getattr(value.value, "id", "") == loop.iter.id and getattr(value.slice, "id", "") == back.target.id
            return node if taken else None
    return None


def count_items(loop: Node, back: Node) -> None:
    """Let a loop over items count them as its backward form does, if that reads the counter for more than the items."""
    item = _item(loop, back)
    assert item is not None, "by_items has found it"
    back.body = [node for node in back.body if node is not item]
    if any(one.id == back.target.id for node in back.body for one in inside(node, gast.Name)):
        loop.iter = expression("range(len(x))", x=loop.iter)
        loop.target = copy(back.target)
        loop.body = [copy(item), *loop.body]
