"""What loops and unpacking go through where it has a leading axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.batch.calls import Lifted
from srcgrad.batch.values import NUMBER, UNKNOWN, NoAxisError, Value
from srcgrad.trees import Node, expression

if TYPE_CHECKING:
    from srcgrad.batch.statements import Statements


def rows(body: Statements, made: Node, value: Value) -> Lifted:
    """What iterating goes through: the rows of each direction."""
    if value.tag != "array" or not value.ndim:
        raise NoAxisError("a tangent of unknown rank is iterated")
    turned = expression("x.T", x=made) if value.ndim == 1 else body.text.np("np.moveaxis(x, 1, 0)", x=made)
    return turned, Value(None, True, "list", each=Value(value.ndim - 1, True))


def through(body: Statements, node: Node) -> Lifted:
    """An iterator, and what it gives in each trip."""
    called = node.func.id if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else ""
    if called == "range":
        return node, NUMBER
    if called in ("zip", "reversed", "enumerate") and not node.keywords:
        found = [through(body, part) for part in node.args[: 1 if called == "enumerate" else None]]
        made = gast.Call(node.func, [one for one, _ in found] + node.args[len(found) :], [])
        if called == "reversed":
            if found[0][1].batched and isinstance(found[0][0], gast.Call):
                raise body.text.refuse("tangents are iterated backwards", node)
            return made, found[0][1]
        each = [NUMBER] if called == "enumerate" else []
        items = tuple(enumerate([*each, *(value for _, value in found)]))
        return made, Value(None, any(v.batched for _, v in items), "tuple", items)
    made, value = body.text.look(node)
    if value.container:
        return made, value.any_item()
    if value.batched:
        made, value = rows(body, made, value)
        return made, value.any_item()
    return made, row(value)


def row(value: Value) -> Value:
    """What is known of a row of an array."""
    if value.tag != "array" or not value.ndim:
        return UNKNOWN
    return Value(value.ndim - 1, value.batched, boolean=value.boolean)
