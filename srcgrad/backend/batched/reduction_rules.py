"""Leading axes for operations along axes: sums, cumulative ones, transforms, sorted places."""

from __future__ import annotations

import numpy as np

from srcgrad.backend.batched.expressions import Expressions, call_per_direction, rule
from srcgrad.backend.batched.values import Call, Lifted, UnknownFormError, Value, shift_axis, written_out
from srcgrad.core.trees import expression


def _rank(call: Call, first: str) -> int:
    rank = call.value(first).ndim
    if rank is None:
        raise UnknownFormError
    return rank


@rule("a axis dtype out keepdims initial where", np.sum, np.mean, np.nansum)
def _sums(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "axis", "keepdims", "dtype")
    a, axis, keep = call.value("a"), call.literal("axis", None), call.literal("keepdims", False)
    if a.container:
        raise UnknownFormError
    if axis is None and not keep and not a.batched:
        return call.node, Value(0)
    rank = _rank(call, "a")
    count = rank if axis is None else len(axis) if isinstance(axis, tuple) else 1
    left = Value(rank if keep else rank - count, a.batched)
    if rank == 0 and axis is None:
        return call["a"], left
    return call.made(a=call["a"], axis=written_out(shift_axis(axis, rank))), left


@rule("a axis dtype out", np.cumsum, np.nancumsum)
def _lift_cumsum(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "axis", "dtype")
    a, axis = call.value("a"), call.literal("axis", None)
    if axis is None and _rank(call, "a") > 1:
        if a.batched:
            raise UnknownFormError
        return call.node, Value(1)
    if axis is None:
        axis = 0
        if not a.ndim:
            raise UnknownFormError
    return call.made(axis=written_out(shift_axis(axis, a.ndim))), a


@rule("a n axis norm out", np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)
def _transforms(text: Expressions, call: Call) -> Lifted:
    axis = call.literal("axis", -1)
    return (call.made(axis=written_out(shift_axis(axis, None))) if axis >= 0 else call.made()), call.value("a")


@rule("a s axes norm out", np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2)
def _transforms_of_two(text: Expressions, call: Call) -> Lifted:
    axes = call.literal("axes", (-2, -1))
    return (call.made(axes=written_out(shift_axis(axes, None))) if "axes" in call.given else call.made()), call.value(
        "a"
    )


@rule("x axes", np.fft.fftshift, np.fft.ifftshift)
def _shifts(text: Expressions, call: Call) -> Lifted:
    axes = call.literal("axes", None)
    return call.made(axes=written_out(shift_axis(axes, call.value("x").ndim))), call.value("x")


@rule("m axis", np.flip)
def _flip(text: Expressions, call: Call) -> Lifted:
    axis = call.literal("axis", None)
    if axis is None and call.value("m").ndim == 0:
        raise UnknownFormError
    return call.made(axis=written_out(shift_axis(axis, call.value("m").ndim))), call.value("m")


@rule("a shift axis", np.roll)
def _roll(text: Expressions, call: Call) -> Lifted:
    axis = call.literal("axis", None)
    if axis is None and _rank(call, "a") != 1:
        if call.value("a").batched:
            raise UnknownFormError
        return call.node, call.value("a")
    return call.made(axis=written_out(shift_axis(0 if axis is None else axis, None))), call.value("a")


@rule("a n axis prepend append", np.diff)
def _diff(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "n", "axis")
    axis = call.literal("axis", -1)
    made = call.made(axis=written_out(shift_axis(axis, None))) if axis >= 0 else call.made()
    return made, call.value("a")


@rule("a indices axis", np.take)
def _take(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "indices", "axis")
    axis, a, places = call.literal("axis", None), call.value("a"), call.value("indices")
    if places.batched or places.ndim is None or places.container:
        raise UnknownFormError
    if axis is None:
        if _rank(call, "a") != 1:
            raise UnknownFormError
        axis = 0
    rank = None if a.ndim is None else a.ndim - 1 + places.ndim
    return call.made(axis=written_out(shift_axis(axis, None))), Value(rank, a.batched)


@rule("arr indices axis", np.take_along_axis)
def _along(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis"), call.value("arr")
    if call.value("indices").batched or axis is None:
        raise UnknownFormError
    if not a.batched:
        return call.node, a
    places = expression("i[None]", i=call["indices"])
    return call.made(indices=places, axis=written_out(shift_axis(axis, None))), a


@rule("a repeats axis", np.repeat)
def _repeat(text: Expressions, call: Call) -> Lifted:
    axis, a = call.literal("axis", None), call.value("a")
    if axis is None:
        if _rank(call, "a") != 1:
            raise UnknownFormError
        axis = 0
    return call.made(axis=written_out(shift_axis(axis, None))), a


@rule("m k", np.triu, np.tril)
def _triangles(text: Expressions, call: Call) -> Lifted:
    if _rank(call, "m") < 2:
        raise UnknownFormError
    return call.made(), call.value("m")


@rule("a offset axis1 axis2", np.trace, np.diagonal)
def _diagonals(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "offset", "axis1", "axis2")
    first, second = call.literal("axis1", 0), call.literal("axis2", 1)
    rank = _rank(call, "a") - (2 if call.function is np.trace else 1)
    made = call.made(axis1=written_out(shift_axis(first, None)), axis2=written_out(shift_axis(second, None)))
    return made, Value(rank, call.value("a").batched)


@rule("v k", np.diag)
def _diag(text: Expressions, call: Call) -> Lifted:
    rank, v = _rank(call, "v"), call.value("v")
    if not v.batched:
        return call.node, Value({1: 2, 2: 1}.get(rank))
    if rank == 1:
        return call_per_direction(text, call)[0], Value(2, True)
    if rank != 2 or "k" in call.given:
        raise UnknownFormError
    return text.np("np.diagonal(v, axis1=1, axis2=2)", v=call["v"]), Value(1, True)


@rule("condition x y", np.where)
def _where(text: Expressions, call: Call) -> Lifted:
    if "y" not in call.given:
        raise UnknownFormError
    names = ("condition", "x", "y")
    made, value = text.elementwise([call.given[one] for one in names], call.node)
    return call.made(**dict(zip(names, made, strict=True))), Value(value.ndim, value.batched)


@rule("x1 x2 out where casting order dtype subok", np.add, np.subtract, np.multiply, np.divide)
def _arithmetic(text: Expressions, call: Call) -> Lifted:
    if set(call.given) - {"x1", "x2"}:
        raise UnknownFormError
    (one, two), value = text.elementwise([call.given["x1"], call.given["x2"]], call.node)
    return call.made(x1=one, x2=two), value
