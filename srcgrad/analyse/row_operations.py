"""What operations that are not elementwise make of rows: reductions, products, orders of axes."""

from __future__ import annotations

from typing import Any  # operations are arbitrary objects

import gast
import numpy as np

from srcgrad.analyse.row_forms import ROWS, Form, UnprovedError, joined, places, product, reduced, summation
from srcgrad.analyse.row_values import Handler, Rows
from srcgrad.converted import literal_value
from srcgrad.runtime import max_or_least, min_or_most
from srcgrad.trees import Node


def _literal(node: Node | None, default: object = None) -> object:
    """A literal's value; the string "?" for anything else."""
    if node is None:
        return default
    try:
        return literal_value(node)
    except (ValueError, TypeError):
        return "?"


def _reduction(adds: str) -> Handler:
    def handler(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
        first, *_ = bound.values()
        form, keeps = rows.form(first), _literal(bound.get("keepdims"), False)
        axis = _literal(bound.get("axis"))
        if form.row is not None and (keeps == "?" or axis == "?"):
            raise UnprovedError("the axis is no literal")
        return reduced(form, axis, keeps is True, adds)

    return handler


def _same(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    first, *rest = bound.values()
    if any(rows.depends(one) for one in rest):
        raise UnprovedError("it is not known to treat each row by itself")
    return rows.form(first)


def _along(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """What runs along one axis and leaves the shape as it is: `np.cumsum(a, axis=1)`."""
    form, axis = rows.form(bound["a"]), _literal(bound.get("axis"), "?")
    if form.row is not None and places(axis, len(form.axes or ())) in (None, (form.row,)):
        raise UnprovedError("it runs along the rows")
    return form


def _product(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    return product(one, two)


def _dot(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if max(len(one.axes or ()), len(two.axes or ())) > 2:
        raise UnprovedError("it is a product of more than two axes: use np.matmul")
    if one.axes == () or two.axes == ():
        return joined([one, two])
    return product(one, two)


def _flat(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.vdot`: all elements."""
    one, two = [rows.form(operand) for operand in list(bound.values())[:2]]
    if one.axes is None or one.axes != two.axes or "?" in one.axes or ROWS not in one.axes:
        raise UnprovedError("the two are not known to have one shape")
    return Form((), "sum")


def _transpose(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    form, axes = rows.form(next(iter(bound.values()))), _literal(bound.get("axes"))
    rank = len(form.axes or ())
    order = tuple(range(rank))[::-1] if axes is None else places(axes, rank)
    if form.axes is None or order is None or len(order) != rank:
        raise UnprovedError("the order of the axes is not known")
    return Form(tuple(form.axes[k] for k in order))


def _reshaped(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """A reshape of what has no rows: its rank is the length of a literal shape."""
    shape = bound.get("shape")
    if rows.form(bound["a"]).row is not None or not isinstance(shape, gast.Tuple):
        raise UnprovedError("a reshape may mix rows")
    return Form(("?",) * len(shape.elts))


def _swapped(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    form = rows.form(bound["a"])
    pair = places((_literal(bound["axis1"]), _literal(bound["axis2"])), len(form.axes or ()))
    if form.axes is None or pair is None:
        raise UnprovedError("the order of the axes is not known")
    made = list(form.axes)
    made[pair[0]], made[pair[1]] = made[pair[1]], made[pair[0]]
    return Form(tuple(made))


def _expanded(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    form, axis = rows.form(bound["a"]), _literal(bound["axis"])
    if form.axes is None or not isinstance(axis, int):
        raise UnprovedError("the axis is no literal")
    place = axis % (len(form.axes) + 1)
    return Form((*form.axes[:place], "1", *form.axes[place:]))


def _stacked(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    """`np.stack` and `np.concatenate` of parts that all have the rows along one axis."""
    parts, axis, new = bound["arrays"], _literal(bound.get("axis"), 0), node.func.attr == "stack"
    listed = parts.elts if isinstance(parts, gast.Tuple | gast.List) else []
    found = [rows.form(one) for one in listed]
    if found and all(f.axes is not None and f.row is None for f in found):
        return Form(("?",) * (len(found[0].axes or ()) + new))
    if not found or any(f.axes is None or f.row is None or f.row != found[0].row for f in found):
        raise UnprovedError("a part lacks the rows, or has them along another axis")
    axes = list(found[0].axes or ())
    if not isinstance(axis, int) or any(len(f.axes or ()) != len(axes) for f in found):
        raise UnprovedError("the axis is no literal, or the ranks differ")
    if new:
        axes.insert(axis % (len(axes) + 1), "?")
    elif axis % len(axes) == found[0].row:
        raise UnprovedError("it puts rows behind rows")
    else:
        axes[axis % len(axes)] = "?"
    return Form(tuple(axes))


def _einsum(node: Node, bound: dict[str, Node], rows: Rows) -> Form:
    subscripts, *operands = node.args
    if not isinstance(subscripts, gast.Constant):
        raise UnprovedError("the subscripts are no literal")
    return summation(str(subscripts.value), [rows.form(one) for one in operands])


HANDLERS: dict[Any, Handler] = {
    np.sum: _reduction("sum"), np.mean: _reduction("mean"), np.max: _reduction(""), np.min: _reduction(""),
    np.prod: _reduction(""), np.var: _reduction(""), np.std: _reduction(""), np.linalg.norm: _reduction(""),
    np.matmul: _product, np.dot: _dot, np.vdot: _flat, np.transpose: _transpose, np.swapaxes: _swapped,
    np.expand_dims: _expanded, np.stack: _stacked, np.concatenate: _stacked, np.einsum: _einsum, np.copy: _same,
    np.reshape: _reshaped, max_or_least: _reduction(""), min_or_most: _reduction(""),
    np.ndarray.astype: _same, np.zeros_like: _same, np.ones_like: _same, np.full_like: _same, np.cumsum: _along,
}  # fmt: skip
