"""Leading axes for the helpers of generated texts: sums that undo broadcasting, and their transposes."""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.batch.axes import moved, opened, written_out
from srcgrad.batch.calls import Call, Lifted, UnknownFormError
from srcgrad.batch.expressions import Expressions
from srcgrad.batch.operations import rule
from srcgrad.batch.values import Value
from srcgrad.trees import expression


@rule("g x dtype", runtime.sum_to)
def _sum_to(text: Expressions, call: Call) -> Lifted:
    """Each direction's sum."""
    x = call.value("x")
    if not call.value("g").batched:
        return call.node, x
    if x.ndim is None or x.container or call.value("g").container or x.batched:
        raise text.refuse(f"the rank of `{gast.unparse(call['x'])}` is not known", call.node)
    if x.ndim == call.value("g").ndim == 0:
        return call["g"], Value(0, True)
    made = call.made()
    made.func = expression(text.facts.library("sum_each_to"))
    return made, Value(x.ndim, True)


@rule("g a axis keepdims", runtime.spread)
def _spread(text: Expressions, call: Call) -> Lifted:
    axis, keep = call.literal("axis", None), call.literal("keepdims", False)
    g, a = call.value("g"), call.value("a")
    if not g.batched:
        return call.node, Value(a.ndim)
    many = 0 if axis is None or keep else len(axis) if isinstance(axis, tuple) else 1
    rank = a.ndim if axis is None or g.ndim is None else g.ndim + many
    if rank is None or a.batched or a.container:
        raise UnknownFormError
    if axis is None and not keep:
        made = opened(call["g"], rank) if rank else call["g"]
    elif keep:
        made = call["g"]
    else:
        made = text.np("np.expand_dims(g, axis)", g=call["g"], axis=written_out(moved(axis, rank)))
    shape = "np.broadcast_to(g, (count, *np.shape(a)))"
    return text.np(shape, g=made, count=text.count, a=call["a"]), Value(rank, True)


@rule("g arrays axis", runtime.split_like)
def _split_like(text: Expressions, call: Call) -> Lifted:
    """The parts of what was joined, each with the axis."""
    arrays, g = call.value("arrays"), call.value("g")
    items = arrays.items or ()
    parts = tuple((k, Value(item.ndim, g.batched)) for k, item in items)
    found = Value(None, g.batched, "list", parts or None, None if parts else Value(arrays.any_item().ndim, g.batched))
    if not g.batched:
        return call.node, found
    if not arrays.container or g.container or arrays.batched or g.tag == "unknown":
        raise text.refuse("what was joined is not known", call.node)
    made = call.made()
    made.func = expression(text.facts.library("split_each_like"))
    return made, found


@rule("x b", runtime.columns)
def _columns(text: Expressions, call: Call) -> Lifted:
    x, b = call.value("x"), call.value("b")
    if x.ndim is None or b.ndim is None or b.batched:
        raise UnknownFormError
    if b.ndim != 1:
        return call["x"], x
    return expression("x[..., None]", x=call["x"]), Value(x.ndim + 1, x.batched)


@rule("x dtype", runtime.cast)
def _cast(text: Expressions, call: Call) -> Lifted:
    return call.made(), call.value("x")
