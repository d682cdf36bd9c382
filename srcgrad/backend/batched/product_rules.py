"""Leading axes for products: of vectors and matrices, sums of products, solutions of systems."""

from __future__ import annotations

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.backend.batched.expressions import Expressions, call_per_direction, rule
from srcgrad.backend.batched.values import OTHER, Call, Lifted, UnknownFormError, Value, insert_axes, object_of_name
from srcgrad.core.trees import Node, copy, expression, literal_node, same_tree


def _rank(one: int, two: int) -> int:
    """The rank of a matrix product."""
    return max(one, two, 2) - (one == 1) - (two == 1)


def _transposed_matrix(matrix: Node) -> Node:
    """A matrix transposed; twice is not at all."""
    if isinstance(matrix, gast.Attribute) and matrix.attr == "T":
        turned: Node = matrix.value
        return turned
    return expression("a.T", a=matrix)


@rule("a b", np.matmul)
def _matmul(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "b")
    one, two = call.value("a"), call.value("b")
    if one.ndim is None or two.ndim is None:
        if one.batched or two.batched:
            raise text.refuse("the rank of a factor of a product is not known", call.node)
        return call.node, Value()
    if 0 in (one.ndim, two.ndim):
        raise UnknownFormError
    value = Value(_rank(one.ndim, two.ndim), one.batched or two.batched)
    if one.batched and two.batched:
        raise text.refuse("both factors of a product have directions", call.node)
    if two.batched:
        return _product_with_batched_right(text, call, one.ndim, two.ndim), value
    return _product_with_batched_left(text, call, one.ndim, two.ndim), value


def _product_with_batched_right(text: Expressions, call: Call, one: int, two: int) -> Node:
    """The product where the right factor has the axis."""
    a, b = call["a"], call["b"]
    if two > 1:
        return expression("a @ b", a=a, b=insert_axes(b, one - two) if one > two else b)
    if one > 3:
        raise UnknownFormError
    if one == 3:
        columns = expression("b[:, None, :, None]", b=b)
        return expression("product[..., 0]", product=expression("a @ b", a=a, b=columns))
    return expression("b @ a", b=b, a=a if one == 1 else _transposed_matrix(a))


def _product_with_batched_left(text: Expressions, call: Call, one: int, two: int) -> Node:
    """The product where the left factor has the axis."""
    a, b = call["a"], call["b"]
    if one == 1 and two > 2:
        return expression("product[..., 0, :]", product=expression("a @ b", a=insert_axes(a, two - 1), b=b))
    rows = _rows(text, a) if one == two == 2 else None
    if rows is not None:
        merged = expression("whole.reshape(count * rows, -1)", whole=a.func.value, count=text.count, rows=rows)
        product = expression("a @ b", a=merged, b=b)
        return expression("product.reshape(count, rows, -1)", product=product, count=text.count, rows=copy(rows))
    return expression("a @ b", a=insert_axes(a, two - one) if two > one > 1 else a, b=b)


def _rows(text: Expressions, a: Node) -> Node | None:
    """The r of `e.reshape(len(x_dot), r, -1)`: NumPy multiplies one matrix sooner than many, if its rows are there."""
    if not isinstance(a, gast.Call) or not isinstance(a.func, gast.Attribute) or a.func.attr != "reshape":
        return None
    if len(a.args) != 3 or not same_tree(a.args[0], text.count) or gast.unparse(a.args[2]) != "-1":
        return None
    rows: Node = a.args[1]
    return rows


@rule("a b", np.dot)
def _dot(text: Expressions, call: Call) -> Lifted:
    one, two = call.value("a"), call.value("b")
    if one.ndim is None or two.ndim is None or max(one.ndim, two.ndim) > 2:
        raise UnknownFormError
    if 0 in (one.ndim, two.ndim):
        (a, b), value = text.elementwise([call.given["a"], call.given["b"]], call.node)
        return gast.BinOp(a, gast.Mult(), b), value
    made, value = _matmul(text, call)
    return made, value


@rule("a b", np.inner, np.vdot)
def _lift_inner(text: Expressions, call: Call) -> Lifted:
    if call.value("a").ndim != 1 or call.value("b").ndim != 1 or text.facts.complex:
        raise UnknownFormError
    return _matmul(text, call)


@rule("a b out", np.outer)
def _lift_outer(text: Expressions, call: Call) -> Lifted:
    call.require_arguments("a", "b")
    (a, one), (b, two) = call.given["a"], call.given["b"]
    if not (one.batched or two.batched):
        return call.node, Value(2)
    if one.ndim != 1 or two.ndim != 1:
        raise UnknownFormError
    left = expression("a[:, :, None]", a=a) if one.batched else expression("a[:, None]", a=a)
    right = expression("b[:, None, :]", b=b) if two.batched else b
    return gast.BinOp(left, gast.Mult(), right), Value(2, True)


@rule("subscripts a b c d", np.einsum)
def _einsum(text: Expressions, call: Call) -> Lifted:
    """`np.einsum("ij,j->i", a, x)` with a letter more for each operand that has the axis."""
    spelled = call.literal("subscripts")
    if not isinstance(spelled, str):
        raise UnknownFormError
    call.require_arguments("subscripts", "a", "b", "c", "d")
    spelled = spelled.replace(" ", "")
    inputs, arrow, output = spelled.partition("->")
    if not arrow:
        letters = [c for c in inputs if c.isalpha()]
        output = ("..." if "..." in inputs else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    free = next((c for c in "kzZKQ" if c not in spelled), None)
    terms = inputs.split(",")
    operands = [call.value(p) for p in "abcd"[: len(terms)]]
    if free is None or len(call.given) != len(terms) + 1:
        raise UnknownFormError
    having = any(value.batched for value in operands)
    known = [f"{free}{term}" if value.batched else term for term, value in zip(terms, operands, strict=True)]
    rank = None if "..." in output else len(output)
    if not having:
        return call.node, Value(rank)
    return call.made(subscripts=literal_node(f"{','.join(known)}->{free}{output}")), Value(rank, True)


@rule("a b", np.linalg.solve)
def _solve(text: Expressions, call: Call) -> Lifted:
    one, (b, two) = call.value("a"), call.given["b"]
    if one.batched or one.ndim is None or two.ndim is None:
        raise UnknownFormError
    if not two.batched:
        return call.node, Value(two.ndim)
    if one.ndim == 2 and two.ndim == 1:
        return expression("solved.T", solved=call.made(b=_transposed_matrix(b))), two
    if two.ndim < one.ndim or two.ndim == 1:
        raise UnknownFormError
    return call.made(), two


@rule("a b axes", np.tensordot)
def _tensordot(text: Expressions, call: Call) -> Lifted:
    axes = call.literal("axes", 2)
    one, two = call.value("a"), call.value("b")
    if one.ndim is None or two.ndim is None or two.batched:
        raise UnknownFormError
    if isinstance(axes, int):
        axes = (tuple(range(one.ndim - axes, one.ndim)), tuple(range(axes)))
    first, second = ((s,) if isinstance(s, int) else tuple(s) for s in axes)
    rank = one.ndim + two.ndim - 2 * len(first)
    if not one.batched:
        return call.node, Value(rank)
    shifted = tuple(axis + 1 if axis >= 0 else axis for axis in first)
    return call.made(axes=literal_node((shifted, second))), Value(rank, True)


@rule("operands u", runtime.einsum_tangent)
def _einsum_tangent(text: Expressions, call: Call) -> Lifted:
    """One product for each operand that has directions, which takes its place."""
    operands, tangents = call.node.args[0], call.node.args[1]
    if not isinstance(operands, gast.Tuple) or not isinstance(tangents, gast.Tuple):
        raise UnknownFormError
    if not isinstance(operands.elts[0], gast.Constant):  # lists of axes
        raise UnknownFormError
    total: Node = None
    rank = None
    for place, part in list(enumerate(tangents.elts))[1:]:
        made, value = text.look(part)
        if not value.batched:
            if object_of_name(getattr(part, "func", None), text.facts, text.known) is not runtime.zeros_like:
                raise UnknownFormError
            continue
        given = list(zip("abcd", map(text.look, operands.elts[1:]), strict=False))
        given[place - 1] = (given[place - 1][0], (made, value))
        spelled = text.np("np.einsum(subscripts)", subscripts=operands.elts[0])
        spelled.args += [one for _, (one, _) in given]
        known = {"subscripts": (operands.elts[0], OTHER), **dict(given)}
        term, found = _einsum(text, Call(spelled, np.einsum, ("subscripts", *"abcd"), known))
        total, rank = term if total is None else gast.BinOp(total, gast.Add(), term), found.ndim
    return total, Value(rank, True)


@rule("g position operands", runtime.einsum_adjoint)
def _einsum_adjoint(text: Expressions, call: Call) -> Lifted:
    value = call.value("operands").item(call.literal("position") + 1)
    if not call.value("g").batched:
        return call.node, value
    return call_per_direction(text, call)[0], Value(value.ndim, True)
