"""Ranks of what has no leading axis: arrays made of shapes, numbers, helpers that keep a shape."""

from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.batch.calls import Call, Lifted, UnknownFormError
from srcgrad.batch.expressions import Expressions
from srcgrad.batch.operations import rule
from srcgrad.batch.shapes import length_of
from srcgrad.batch.values import NUMBER, Value
from srcgrad.runtime.bessel import i0_derivative


def _passive(call: Call) -> None:
    if any(value.batched for _, value in call.given.values()):
        raise UnknownFormError


@rule("shape fill_value dtype order", np.zeros, np.ones, np.empty, np.full)
def _of_shape(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    return call.node, Value(length_of(call["shape"], call.value("shape")))


@rule("n m k dtype", np.eye, np.identity)
@rule("a w", runtime.blend_factors)
def _matrix(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    return call.node, Value(2)


@rule("start stop step dtype", np.arange)
@rule("a", np.flatnonzero)
def _vector(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    return call.node, Value(1)


@rule("start stop num endpoint retstep dtype axis", np.linspace)
def _between(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    start, stop = call.value("start").ndim, call.value("stop").ndim
    return call.node, Value(None if start is None or stop is None else max(start, stop) + 1)


@rule("x axis", runtime.count)
def _number(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    return call.node, NUMBER


@rule("a axis out keepdims initial where", np.max, np.min, np.prod, np.any, np.all, np.amax, np.amin)
@rule("a axis dtype out ddof keepdims", np.std, np.var)
@rule("a axis keepdims", np.count_nonzero)
@rule("a axis keepdims", runtime.max_or_least, runtime.min_or_most)
@rule("a axis out keepdims", np.argmax, np.argmin)
def _reduced(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    rank, axis, keep = call.value("a").ndim, call.literal("axis", None), call.literal("keepdims", False)
    if axis is None and not keep:
        return call.node, NUMBER
    count = len(axis) if isinstance(axis, tuple) else 1
    return call.node, Value(rank if keep or rank is None else rank - count)


@rule("x order", runtime.sinc_derivative)
@rule("x order", i0_derivative)
@rule("a axis kind order", np.argsort, np.sort)
def _like_first(text: Expressions, call: Call) -> Lifted:
    _passive(call)
    if call.function in (np.argsort, np.sort) and call.literal("axis", -1) is None:
        return call.node, Value(1)
    return call.node, Value(call.value(call.parameters[0]).ndim)
