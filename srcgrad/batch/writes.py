"""Writes with a leading axis: into parts of arrays, lists and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any  # keys of containers are arbitrary objects

import gast

from srcgrad.batch import indices
from srcgrad.batch.axes import grown
from srcgrad.batch.values import UNKNOWN, Value, batched, joined
from srcgrad.converted import literal_value
from srcgrad.trees import Node

if TYPE_CHECKING:
    from srcgrad.batch.statements import Statements


def write(body: Statements, node: Node, target: Node, given: Node) -> Node:
    """`x_bar[i] = e`, `x_bar[i] += e`."""
    base = target.value
    part, region = body.text.look(target)
    made, value = body.text.own(given)
    if not isinstance(base, gast.Name):
        if region.batched or value.batched:
            raise body.text.refuse("a part of a part is written", node)
        return node
    holds = body.text.known.get(base.id, UNKNOWN)
    if holds.container:
        return store(body, node, base.id, holds, target, made, value)
    if value.batched and not holds.batched:
        body.axis[base.id] = None
        body.text.known[base.id] = holds = batched(holds)
        part, region = body.text.look(target)
    if not holds.batched:
        return node
    body.text.axis.writes = True
    if value.batched:
        if region.ndim is None or value.ndim is None or value.ndim > region.ndim:
            raise body.text.refuse(f"the rank of `{gast.unparse(target)}` is not known", node)
        made = grown(made, value, region.ndim)
    if body.final:
        part.ctx, node.value = gast.Store(), made
        if isinstance(node, gast.Assign):
            node.targets = [part]
        else:
            node.target = part
    return node


def store(body: Statements, node: Node, held: str, holds: Value, target: Node, made: Node, value: Value) -> Node:
    """`parts_bar[k] = e` of a list or dict."""
    if isinstance(target.slice, gast.Slice) or (isinstance(node, gast.AugAssign) and holds.batched):
        raise body.text.refuse("a part of a list is written", node)
    if value.batched:
        body.axis[held] = None
    having = body.has(held)
    each = joined([holds.any_item(), value])
    known = Value(None, having, holds.tag, each=batched(each) if having else each)
    try:
        key: Any = literal_value(target.slice)
    except (ValueError, TypeError):
        key = None
    if holds.items is not None and key in dict(holds.items):
        items = tuple((k, value if k == key else v) for k, v in holds.items)
        known = Value(None, having, holds.tag, tuple((k, batched(v) if having else v) for k, v in items))
    body.text.known[held] = known
    if having and body.final:
        node.value = body.text.with_axis(made, value)
    return node


def added_at(body: Statements, node: Node, call: Node) -> Node:
    """`np.add.at(x_bar, i, e)`, in each direction."""
    base, (made, value) = call.args[0].id, body.text.own(call.args[2])
    holds = body.text.known.get(base, UNKNOWN)
    if value.batched:
        body.axis[base] = None
        holds = body.text.known[base] = batched(holds)
    if not holds.batched:
        return node
    body.text.axis.writes = True
    if holds.container:
        raise body.text.refuse("a part of a list is added to", node)
    parts = indices.parts_of(call.args[1])
    indices.check(parts, body.text.look)
    rank = indices.rank_left(parts, holds.ndim, body.text.look)
    if value.batched and (rank is None or value.ndim is None or value.ndim > rank):
        raise body.text.refuse(f"the rank of `{gast.unparse(call)}` is not known", node)
    if body.final:
        made = grown(made, value, rank) if rank is not None else made
        body.text.builtin("slice(None)")
        call.args = [call.args[0], indices.led_as_value(parts), made]
    return node
