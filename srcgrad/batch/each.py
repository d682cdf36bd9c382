"""Helpers of generated texts that run once for each direction, of whose results the rank, or the kind, is known."""

from __future__ import annotations

import inspect
from typing import Any  # functions are arbitrary objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.batch.calls import Call, Lifted
from srcgrad.batch.expressions import Expressions
from srcgrad.batch.operations import RULES, Rule, rule, stacked
from srcgrad.batch.values import UNKNOWN, Value
from srcgrad.trees import Node

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


def _like(parameter: str) -> Rule:
    """The rank of the result is that of an argument."""

    def using(text: Expressions, call: Call) -> Lifted:
        rank = call.value(parameter).ndim
        if not any(value.batched for _, value in call.given.values()):
            return call.node, Value(rank)
        made, _ = stacked(text, call)
        return made, Value(rank, True)

    return using


def _several(text: Expressions, call: Call) -> Lifted:
    """A list of arrays: the first of each direction, the second of each, and so on."""
    if not any(value.batched for _, value in call.given.values()):
        return call.node, Value(tag="list", each=Value())
    return _listed(text, call), Value(None, True, "list", each=Value(None, True))


def _listed(text: Expressions, call: Call) -> Node:
    made, _ = stacked(text, call)
    return text.builtin("list(map(stack, zip(*rows)))", rows=made.args[0], stack=text.np("np.stack"))


@rule("g operands u v", runtime.einsum_adjoints)
def _einsum_adjoints(text: Expressions, call: Call) -> Lifted:
    """The adjoint of each operand has its rank."""
    having = any(value.batched for _, value in call.given.values())
    operands = call.value("operands").items or ()
    items = tuple((k, Value(value.ndim, having)) for k, value in operands)
    return (_listed(text, call) if having else call.node), Value(None, having, "list", items)


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
        RULES.setdefault(_function, (_parameters(_function), _like(_name)))
for _function in LISTS:
    RULES.setdefault(_function, (_parameters(_function), _several))
