"""Leading axes of the helpers that generated texts call.

Helpers of generated texts that run once for each direction, of whose results the rank, or the kind, is known.

Leading axes for the helpers of generated texts: sums that undo broadcasting, and their transposes.

Ranks of what has no leading axis: arrays made of shapes, numbers, helpers that keep a shape.

Calls of what treats each row of its argument by itself: derivatives by columns, once for all tangents.
"""

from __future__ import annotations

import inspect
from typing import Any  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.batched.expressions import RULES, Expressions, Rule, call_per_direction, rule
from srcgrad.backend.batched.shape_rules import length_of
from srcgrad.backend.batched.values import (
    NUMBER,
    UNKNOWN,
    Call,
    Lifted,
    UnknownFormError,
    Value,
    insert_axes,
    shift_axis,
    written_out,
)
from srcgrad.core.facts import Facts
from srcgrad.core.trees import Node, expression, loads, name, statements
from srcgrad.derive.program import Program
from srcgrad.runtime.singular import i0_derivative

LIKE: dict[str, tuple[Any, ...]] = {
    "a": (
        runtime.share, runtime.split_axes, runtime.prod_without, runtime.diff_transpose, runtime.repeat_transpose,
        runtime.tile_transpose, runtime.place_diagonal, runtime.section_sums_transpose, runtime.matmul_left,
        runtime.matmul_both, runtime.dot_both,
        runtime.dot_left, runtime.inner_left, runtime.kron_left, runtime.tensordot_left, runtime.cofactor,
        runtime.as_square, runtime.resized, runtime.square, runtime.recurrence, runtime.recurrence_back,
        runtime.products_before,
    ),
    "b": (
        runtime.matmul_right, runtime.dot_right, runtime.inner_right, runtime.kron_right, runtime.tensordot_right,
    ),
    "x": (
        runtime.scatter, runtime.norm_gradient, runtime.norm_curvature, runtime.cofactor_derivative,
        runtime.cofactor_second, runtime.check_adjoint, runtime.check_total, runtime.triangle,
        runtime.permuted, runtime.unpermuted, runtime.raised, runtime.filled, runtime.shifted,
    ),
    "array": (runtime.unpad,),
    "v": (runtime.diag_transpose,),
    "f": (runtime.gradient_transpose,),
    "g": (runtime.doubled, runtime.filtered_transpose),
    "target": (runtime.converted,),
}  # fmt: skip
LISTS: tuple[Any, ...] = (
    runtime.mesh, runtime.mesh_transpose, runtime.select_transpose, runtime.choose_transpose, runtime.chain_adjoints,
    runtime.chain_bend, runtime.broadcast_parts,
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.meshgrid, np.broadcast_arrays,
)  # fmt: skip


def _rank_of_argument(parameter: str) -> Rule:
    """The rank of the result is that of an argument."""

    def using(text: Expressions, call: Call) -> Lifted:
        rank = call.value(parameter).ndim
        if not any(value.batched for _, value in call.given.values()):
            return call.node, Value(rank)
        made, _ = call_per_direction(text, call)
        return made, Value(rank, True)

    return using


def _stack_lists(text: Expressions, call: Call) -> Lifted:
    """A list of arrays: the first of each direction, the second of each, and so on."""
    if not any(value.batched for _, value in call.given.values()):
        return call.node, Value(tag="list", each=Value())
    return _list_of_stacks(text, call), Value(None, True, "list", each=Value(None, True))


def _list_of_stacks(text: Expressions, call: Call) -> Node:
    made, _ = call_per_direction(text, call)
    return text.builtin("list(map(stack, zip(*rows)))", rows=made.args[0], stack=text.np("np.stack"))


@rule("g operands u v", runtime.einsum_adjoints)
def _einsum_adjoints(text: Expressions, call: Call) -> Lifted:
    """The adjoint of each operand has its rank."""
    having = any(value.batched for _, value in call.given.values())
    operands = call.value("operands").items or ()
    items = tuple((k, Value(value.ndim, having)) for k, value in operands)
    return (_list_of_stacks(text, call) if having else call.node), Value(None, having, "list", items)


@rule("f spacings axis edge_order", runtime.gradients)
@rule("g xs", runtime.summands)
def _one_or_several(text: Expressions, call: Call) -> Lifted:
    """An array, or a list of them, as the arguments have it."""
    if any(value.batched for _, value in call.given.values()):
        raise text.refuse(f"`{gast.unparse(call.node.func)}` gives one array or several", call.node)
    return call.node, UNKNOWN


def _parameters(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


for _name, _functions in LIKE.items():
    for _function in _functions:
        if _name not in _parameters(_function):
            raise TypeError(f"{_function.__name__} has no parameter {_name}")
        RULES.setdefault(_function, (_parameters(_function), _rank_of_argument(_name)))
for _function in LISTS:
    RULES.setdefault(_function, (_parameters(_function), _stack_lists))


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
def _lift_spread(text: Expressions, call: Call) -> Lifted:
    axis, keep = call.literal("axis", None), call.literal("keepdims", False)
    g, a = call.value("g"), call.value("a")
    if not g.batched:
        return call.node, Value(a.ndim)
    many = 0 if axis is None or keep else len(axis) if isinstance(axis, tuple) else 1
    rank = a.ndim if axis is None or g.ndim is None else g.ndim + many
    if rank is None or a.batched or a.container:
        raise UnknownFormError
    if axis is None and not keep:
        made = insert_axes(call["g"], rank) if rank else call["g"]
    elif keep:
        made = call["g"]
    else:
        made = text.np("np.expand_dims(g, axis)", g=call["g"], axis=written_out(shift_axis(axis, rank)))
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


def _require_unbatched(call: Call) -> None:
    if any(value.batched for _, value in call.given.values()):
        raise UnknownFormError


@rule("shape fill_value dtype order", np.zeros, np.ones, np.empty, np.full)
def _of_shape(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, Value(length_of(call["shape"], call.value("shape")))


@rule("n m k dtype", np.eye, np.identity)
@rule("a w", runtime.blend_factors)
def _matrix(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, Value(2)


@rule("start stop step dtype", np.arange)
@rule("a", np.flatnonzero)
def _vector(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, Value(1)


@rule("start stop num endpoint retstep dtype axis", np.linspace)
def _lift_linspace(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    start, stop = call.value("start").ndim, call.value("stop").ndim
    return call.node, Value(None if start is None or stop is None else max(start, stop) + 1)


@rule("x axis", runtime.count)
def _number(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    return call.node, NUMBER


@rule("a axis out keepdims initial where", np.max, np.min, np.prod, np.any, np.all, np.amax, np.amin)
@rule("a axis dtype out ddof keepdims", np.std, np.var)
@rule("a axis keepdims", np.count_nonzero)
@rule("a axis keepdims", runtime.max_or_least, runtime.min_or_most)
@rule("a axis out keepdims", np.argmax, np.argmin)
def _lift_reduction(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    rank, axis, keep = call.value("a").ndim, call.literal("axis", None), call.literal("keepdims", False)
    if axis is None and not keep:
        return call.node, NUMBER
    count = len(axis) if isinstance(axis, tuple) else 1
    return call.node, Value(rank if keep or rank is None else rank - count)


@rule("x order", runtime.sinc_derivative)
@rule("x order", i0_derivative)
@rule("a axis kind order", np.argsort, np.sort)
def _like_first(text: Expressions, call: Call) -> Lifted:
    _require_unbatched(call)
    if call.function in (np.argsort, np.sort) and call.literal("axis", -1) is None:
        return call.node, Value(1)
    return call.node, Value(call.value(call.parameters[0]).ndim)


LEAST = 8  # reads of tangents, from which on fewer tangents and one product are faster


def rows_first(program: Program, facts: Facts, batched: dict[str, None]) -> None:
    """Let `y, y_dot = f_jvps(x, x_dot=x_dot)` be `by_rows(f_jvps, x, x_dot=x_dot)` where f treats each row by itself.

    That runs f_jvps with as many tangents as x has columns, and multiplies by x_dot. It adds up in another order.
    """
    reads = [one for node in statements(program.forward) for one in loads(node) if one in batched]
    facts.by_rows = facts.by_rows and len(reads) >= LEAST
    for node in statements(program.forward):
        call = getattr(node, "value", None)
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name):
            continue
        called = facts.module.making.get(call.func.id)
        if called is not None and called.by_rows and len(call.keywords) == 1 and _gives_array(called):
            call.args.insert(0, name(call.func.id))
            call.func = name(facts.library("by_rows"))


def _gives_array(called: Facts) -> bool:
    """Whether the value is an array, with the axis of rows."""
    value, tangent = called.outcome
    return called.mode == "forward" and not value.container and tangent.ndim is not None and tangent.ndim > 0
