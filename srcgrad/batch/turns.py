"""Leading axes for operations that put axes in another order, add some or leave some out."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad.batch.axes import moved, written_out
from srcgrad.batch.calls import Call, Lifted, UnknownFormError
from srcgrad.batch.expressions import Expressions
from srcgrad.batch.operations import rule
from srcgrad.batch.shapes import free, is_array
from srcgrad.batch.values import Value
from srcgrad.trees import expression


@rule("a axes", np.transpose)
@rule("a", np.matrix_transpose)
def _transpose(text: Expressions, call: Call) -> Lifted:
    a = call.value("a")
    if "axes" not in call.given or isinstance(call["axes"], gast.Constant):
        if not a.batched:
            return call.node, a
        if a.ndim is None:
            raise UnknownFormError
        if a.ndim < 2:
            return call["a"], a
        if a.ndim == 2 or call.function is np.matrix_transpose:
            return expression("a.mT", a=call["a"]), a
        return text.np("np.transpose(a, axes)", a=call["a"], axes=written_out((0, *range(a.ndim, 0, -1)))), a
    axes = call.literal("axes")
    if a.ndim is None and any(axis < 0 for axis in axes):
        raise UnknownFormError
    places = written_out((0, *moved(axes, a.ndim)))
    if not is_array(a):
        return call.made(axes=places), Value(len(axes), a.batched)
    made = expression("a.transpose()", a=call["a"])
    made.args = places.elts
    return made, Value(len(axes), a.batched)


@rule("a axis1 axis2", np.swapaxes)
@rule("a source destination", np.moveaxis)
def _moves(text: Expressions, call: Call) -> Lifted:
    axes = {one: written_out(moved(call.literal(one), None)) for one in call.parameters[1:]}
    return call.made(**axes), call.value("a")


@rule("a axis", np.expand_dims)
def _expand(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis"), call.value("a")
    many = len(axis) if isinstance(axis, tuple | list) else 1
    rank = None if a.ndim is None else a.ndim + many
    return call.made(a=free(text, call, "a"), axis=written_out(moved(axis, rank))), Value(rank, a.batched)


@rule("a axis", np.squeeze)
def _squeeze(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis", None), call.value("a")
    if axis is None:
        raise UnknownFormError
    many = len(axis) if isinstance(axis, tuple) else 1
    return call.made(axis=written_out(moved(axis, None))), Value(None if a.ndim is None else a.ndim - many, a.batched)
