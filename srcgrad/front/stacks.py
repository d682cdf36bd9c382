"""Lists in a text of ours, which is differentiated again: stacks, and adjoints and tangents of lists."""

from __future__ import annotations

import gast

from srcgrad.facts import Facts
from srcgrad.front.changing import is_change
from srcgrad.front.replaced import library
from srcgrad.runtime import fields_of
from srcgrad.trees import (
    BLOCKS,
    Block,
    Node,
    assign,
    at,
    copy,
    expression,
    header,
    is_write,
    name,
    part_written,
    statements,
    target,
    walk,
    written,
)


def stacks(function: Node, facts: Facts) -> Node:
    """Tell the lists of a text of ours from its stacks, which are no lists to the passes that follow."""
    if facts.generated:
        facts.lists = _beside_stacks(function, facts)
        function.body = _renewed(function.body, facts)
        filled = {w for node in statements(function.body) if is_write(node) for w in written(node)}
        function.body = _owned(function.body, filled & set(facts.lists), facts)
    return function


def _owned(block: Block, filled: set[str], facts: Facts) -> Block:
    """A list that is filled, and comes off a stack or out of another one, as a copy: what held it stays as it is."""
    made: Block = []
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, _owned(getattr(node, which), filled, facts))
        bound = target(node)
        if bound in filled and not is_write(node) and not is_change(node, bound):
            popped = isinstance(node.value, gast.Call) and isinstance(node.value.func, gast.Attribute)
            if popped:
                held = facts.names.fresh("held")
                facts.local |= {held}
                first = at(assign(held, node.value), node)
                facts.foreign[first] = None
                made.append(first)
                node.value = name(held)
            if isinstance(node.value, gast.Name | gast.Subscript):
                copies = "list" if facts.lists[bound] == "list" else library("fields_of", fields_of, facts)
                node.value = at(expression(f"{copies}(held)", held=node.value), node)
                facts.foreign[node] = None
        made.append(node)
    return made


def _renewed(block: Block, facts: Facts) -> Block:
    for node in block:
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, _renewed(getattr(node, which), facts))
    return [_renewed_item(node, facts) for node in block]


def _renewed_item(node: Node, facts: Facts) -> Node:
    """`parts_bar[k] += e` as `parts_bar[k] = parts_bar[k] + e`: nothing else holds an item of an adjoint."""
    if not is_write(node) or isinstance(part_written(node).slice, gast.Slice):
        return node
    part, held = part_written(node), written(node)[0]
    if not isinstance(node, gast.AugAssign) or held not in facts.lists:
        return node
    read = copy(part)
    read.ctx = gast.Load()
    made = at(gast.Assign([part], at(gast.BinOp(read, node.op, node.value), node), None), node)
    if node in facts.foreign:
        facts.foreign[made] = None
    return made


def _beside_stacks(function: Node, facts: Facts) -> dict[str, str]:
    """The lists of a text of ours; a stack is empty at first, pushed and popped and nothing else, and is none."""
    order = list(statements(function.body))
    parts = [(node, item) for node in order for part in header(node) for item in walk(part)]
    mentions = [i.id for _, i in parts if isinstance(i, gast.Name) and isinstance(i.ctx, gast.Load)]
    found = {w: facts.lists[w] for n in order if is_write(n) for w in written(n) if w in facts.lists}
    for bound in dict.fromkeys(w for node in order for w in written(node) if is_change(node, w)):
        pushed = [
            n for n in order if isinstance(n, gast.Expr) and is_change(n, bound) and n.value.func.attr == "append"
        ]
        popped = [n for n, item in parts if _is_pop(item, bound) and not isinstance(n, gast.Expr)]
        if bound not in facts.lists:
            raise facts.refuse(
                next(n for n in order if bound in written(n)),
                "E5010",
                f"the derivative of a derivative that changes the list `{bound}` is not made",
                "use an array for what the second derivative goes through",
            )
        made = [n for n in order if target(n) == bound and not is_change(n, bound)]
        empty = bool(made) and all(isinstance(n.value, gast.List) and not n.value.elts for n in made)
        if not empty or len(popped) + len(pushed) != mentions.count(bound):
            found[bound] = facts.lists[bound]
    return found


def _is_pop(node: Node, bound: str) -> bool:
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.func.attr != "pop":
        return False
    return isinstance(node.func.value, gast.Name) and node.func.value.id == bound
