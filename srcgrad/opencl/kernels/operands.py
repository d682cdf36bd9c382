"""What kernels are given: operands of products, and nearest places."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.facts import Facts
from srcgrad.core.meanings import function_called
from srcgrad.core.trees import Block, Node, at, children, name, statements, stores, target, walk
from srcgrad.core.visitor import rewrite_blocks, rewrite_statements
from srcgrad.opencl.kernels.groups import Group, is_number
from srcgrad.opencl.kernels.print_c import NotElementwiseError, Place, put
from srcgrad.opencl.kernels.print_c import at as found_at
from srcgrad.opencl.scattered import (
    add_at,
)

_PRODUCTS = (np.matmul, np.dot, runtime.matmul_left, runtime.matmul_right, runtime.dot_left, runtime.dot_right)


Held = dict[Node, tuple[Node, Place]]  # per statement that names an operand, the one that reads it, and where


def name_operands(block: Block, facts: Facts, group: Callable[[], Group], held: Held) -> Block:
    """Statements in which such operands are names: `t = e` before `add_at(x_bar, i, t)`, or before `t @ w`."""

    def change(node: Node) -> Block:
        made: Block = []
        if isinstance(node, gast.Assign | gast.AugAssign | gast.Expr):
            for stem, place in [*_added_operands(node, facts), *_product_operands(node.value, group)]:
                bound = facts.names.fresh(stem)
                facts.names.taken.add(bound)
                made.append(at(gast.Assign([name(bound, gast.Store())], found_at(place), None), node))
                put(place, name(bound))
                held[made[-1]] = node, place
        return [*made, node]

    return rewrite_statements(block, change)


def put_operands_back(block: Block, held: Held) -> Block:
    """The statements with those operands back in their places that no kernel has taken."""
    return rewrite_blocks(block, lambda inner: _unnamed(inner, held))


def _unnamed(block: Block, held: Held) -> Block:
    made: Block = []
    for node in block:
        own: Block = []
        while made and made[-1] in held and held[made[-1]][0] is node:
            own.append(made.pop())
        for statement in own:
            put(held[statement][1], statement.value)
        made.append(node)
    return made


def _added_operands(node: Node, facts: Facts) -> Iterator[tuple[str, Place]]:
    """What a statement adds at an index, where that is computed in it."""
    call: Node = node.value if isinstance(node, gast.Expr) else None
    if function_called(call, facts) is add_at and len(call.args) == 3:
        if isinstance(call.args[2], gast.BinOp | gast.UnaryOp):
            yield "added", (call.args, 2)


def _product_operands(node: Node, group: Callable[[], Group]) -> Iterator[tuple[str, Place]]:
    """The operands of products in an expression that are maps; inner ones first."""
    if not isinstance(node, gast.BinOp | gast.UnaryOp | gast.Call | gast.Subscript | gast.Attribute):
        return  # what is computed later, or perhaps not at all, stays where it is
    for child in children(node):
        yield from _product_operands(child, group)
    places: list[Place] = []
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.MatMult):
        places = [(node, "left"), (node, "right")]
    elif isinstance(node, gast.Call) and group().printer().function(node) in _PRODUCTS:
        places = [(node.args, k) for k in range(len(node.args))]
    yield from (("factor", place) for place in places if _is_map(found_at(place), group()))


def _is_map(node: Node, group: Group) -> bool:
    """Whether an expression is a map that kernels can compute."""
    if not group.is_elementwise(node) or is_number(node, group):
        return False
    try:
        group.operand(node)
    except NotElementwiseError:
        return False
    return True


_EXTREMES = ("max", "min", "amax", "amin")


def share_nearest_only(body: Block, facts: Facts) -> None:
    """`share_nearest` for `share`, but where an extreme is of the very array that is asked for its elements.

    Likewise `is_nearest(a, y)` for `a == y`, of which the adjoint of an extreme of all elements counts the hits.
    """
    counted = {
        call.args[0].id
        for node in body
        for call in walk(node)
        if isinstance(call, gast.Call) and _is_counting(call) and isinstance(call.args[0], gast.Name)
    }
    if "share" not in facts.imports and not counted:
        return
    bound: dict[str, list[Node]] = {}
    for node in statements(body):
        for one in stores(node):
            bound.setdefault(one, []).append(node)
    for node in statements(body):
        value = node.value if target(node) in counted else None
        if isinstance(value, gast.Compare) and isinstance(value.ops[0], gast.Eq):
            if not _is_same(value.left, value.comparators[0], bound):
                called = name(facts.library("is_nearest"))
                node.value = gast.Call(called, [value.left, value.comparators[0]], [])
    for node in body:
        for call in walk(node):
            if function_called(call, facts) is runtime.share and not _is_same(call.args[1], call.args[2], bound):
                call.func = name(facts.library("share_nearest"))


def _is_counting(call: Node) -> bool:
    """`np.count_nonzero(t)`"""
    return isinstance(call.func, gast.Attribute) and call.func.attr == "count_nonzero" and len(call.args) == 1


def _is_same(of: Node, extreme: Node, bound: dict[str, list[Node]]) -> bool:
    """Whether an extreme was found in an array that has its name from then on."""
    if not isinstance(of, gast.Name) or len(bound.get(of.id, [])) > 1:
        return False
    made = bound.get(extreme.id, []) if isinstance(extreme, gast.Name) else []
    if len(made) == 1 and target(made[0]) == extreme.id:
        extreme = made[0].value
    return _is_extreme(extreme, of.id)


def _is_extreme(value: Node, of: str) -> bool:
    """`np.max(of, ...)` or `of.max(...)`"""
    if not (isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _EXTREMES):
        return False
    places = [value.func.value, *value.args[:1]]
    return any(isinstance(place, gast.Name) and place.id == of for place in places)
