"""Loops over the same elements, one behind the other, as one loop."""

from __future__ import annotations

from typing import Any

import gast

from srcgrad.trees import Block, Node, same, stores, target, walk

Shown = dict[str, frozenset[str]]


def merged(block: Block, made: dict[Node, None], shown: Shown) -> Block:
    """Join loops of `made` with equal headers, where no trip of one needs another trip of the other.

    That is where what both mention is read only, is mentioned at the same elements, or is only added to; then the sums
    have another order. An array that the second loop fills is made before both.
    """
    found: Block = []
    for node in block:
        back = 2 if len(found) > 1 and _makes(found[-1]) else 1
        before = found[-back] if len(found) >= back else None
        if node in made and before in made and _joins(before, node, found[len(found) - back + 1 :], shown):
            found[len(found) - back :] = [*found[len(found) - back + 1 :], before]
            _inner(before).body += _inner(node).body
        else:
            found.append(node)
    return found


def _makes(node: Node) -> bool:
    call = node.value if isinstance(node, gast.Assign) and target(node) is not None else None
    return isinstance(call, gast.Call) and getattr(call.func, "attr", "") == "empty_like"


def _inner(loop: Node) -> Node:
    return _inner(loop.body[0]) if isinstance(loop.body[0], gast.For) else loop


def _joins(one: Node, two: Node, between: Block, shown: Shown) -> bool:
    depth_one, depth_two = one, two
    while True:
        if not same(depth_one.iter, depth_two.iter) or not same(depth_one.target, depth_two.target):
            return False
        first, second = (isinstance(loop.body[0], gast.For) for loop in (depth_one, depth_two))
        if first != second:
            return False
        if not first:
            break
        depth_one, depth_two = depth_one.body[0], depth_two.body[0]
    if any(bound in _mentions(depth_one.body) for node in between for bound in stores(node)):
        return False
    return _independent(depth_one.body, depth_two.body, shown)


def _independent(one: Block, two: Block, shown: Shown) -> bool:
    first, second = _mentions(one), _mentions(two)
    for held, uses in first.items():
        for other, others in second.items():
            if other not in shown.get(held, frozenset([held])):
                continue
            every = uses | others
            kinds = {kind for kind, _ in every}
            if kinds == {"reads"} or kinds == {"adds"}:
                continue
            if held != other or len({place for _, place in every}) > 1 or "" in {place for _, place in every}:
                return False
    return True


def _mentions(body: Block) -> dict[str, set[tuple[str, str]]]:
    """How the statements of a loop use names: whether they read, add or store, and at which elements."""
    found: dict[str, set[tuple[str, str]]] = {}

    def note(item: Any, kind: str) -> None:
        whole, place = (item.value, gast.unparse(item.slice)) if isinstance(item, gast.Subscript) else (item, "")
        found.setdefault(whole.id, set()).add((kind, place))

    for node in body:
        adds = isinstance(node, gast.AugAssign) and isinstance(node.op, gast.Add | gast.Sub)
        written = node.target if isinstance(node, gast.AugAssign) else node.targets[0]
        note(written, "adds" if adds else "stores")
        todo = [node.value]
        while todo:
            item = todo.pop()
            if isinstance(item, gast.Name) or (isinstance(item, gast.Subscript) and isinstance(item.value, gast.Name)):
                note(item, "reads")
                todo += [item.slice] if isinstance(item, gast.Subscript) else []
            else:
                todo += [child for child in gast.iter_child_nodes(item) if isinstance(child, gast.expr)]
    for item in [n for node in body for n in walk(node) if isinstance(n, gast.Attribute)]:
        note(gast.Name(id=gast.unparse(item.value), ctx=gast.Load(), annotation=None, type_comment=None), "reads")
    return found
