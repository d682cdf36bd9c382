"""Operations on a part of the elements, `np.piecewise` and ufuncs with `where=` and `out=`: spelled out before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any  # called functions are arbitrary objects

import gast
import numpy as np

from srcgrad.front.functions import function_of
from srcgrad.front.resolve import binding_of
from srcgrad.front.solutions import SOMETIMES, exchange
from srcgrad.trees import Block, Node, at, constant, copy, expression, inside, name, statement

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

_INSIDE: dict[Any, float] = {np.arccosh: 2.0}  # a number at which an operation is smooth, for those that are not at 0.5


def chosen(node: Node, work: Plain) -> Block:
    """The statements that such calls of a statement stand for, of those that are made in any case.

    >>> from srcgrad.phases import explain_text
    >>> text = "import numpy as np\\ndef f(x):\\n    return np.log(x, out=np.zeros_like(x), where=x > 0.0)"
    >>> print(explain_text(text, after="plain"))
    def f(x):
        kept = x > 0.0
        return np.where(kept, np.log(np.where(kept, x, 0.5)), np.zeros_like(x))
    """
    made: Block = []
    held = isinstance(node, gast.Assign | gast.AugAssign | gast.Return | gast.Expr | gast.AnnAssign) and node.value
    if held and any(_may_be(part) for part in inside(node, gast.Call)):
        exchange(node, partial(_spelled, node=node, made=made, work=work), SOMETIMES)
    return made


def _may_be(call: Node) -> bool:
    """Whether a call has what both forms have, whatever its function is called."""
    return len(call.args) > 2 or any(word.arg == "out" for word in call.keywords)


def _spelled(part: Node, node: Node, made: Block, work: Plain) -> Node:
    found = binding_of(part.func, work.facts, work.facts.local) if isinstance(part, gast.Call) else None
    if found is None:
        return part
    other = None
    if found.object is np.piecewise:
        other = _piecewise(part, node, made, work)
    elif isinstance(found.object, np.ufunc):
        out = next((w.value for w in part.keywords if w.arg == "out"), None)
        if isinstance(out, gast.Call):
            other = selected(part, out, found.object, node, made, work)
    if other is None:
        return part
    work.facts.foreign[node] = None
    return work.own(other, part)


def selected(call: Node, out: Node, called: Any, node: Node, made: Block, work: Plain) -> Node | None:
    """`np.where(m, f(np.where(m, x, 0.5)), out)` for `f(x, out=out, where=m)`; None where there is no `where=`.

    The operands that nobody asked for are set to a number at which f is smooth, so that what it has there,
    `1 / 0` say, reaches no derivative.
    """
    words = {w.arg: w.value for w in call.keywords if w.arg not in ("out", "casting")}
    if set(words) != {"where"} or not isinstance(called, np.ufunc) or called.nout != 1 or called.signature is not None:
        return None
    numpy, mask = work.library("np"), words["where"]
    if not isinstance(mask, gast.Name | gast.Constant):
        kept = work.name("kept")
        made.append(work.bind(kept, mask, node))
        mask = name(kept)
    other = harmless(called)
    operands = [
        copy(x)
        if isinstance(x, gast.Constant)
        else expression(f"{numpy}.where(m, x, e)", m=copy(mask), x=copy(x), e=copy(other))
        for x in call.args
    ]
    value = at(gast.Call(copy(call.func), operands, []), call)
    return expression(f"{numpy}.where(m, value, out)", m=copy(mask), value=value, out=copy(out))


def harmless(called: Any) -> Node:
    """A number at which an operation on elements is smooth, in each of its operands."""
    return constant(_INSIDE.get(called, 0.5))


def _piecewise(call: Node, node: Node, made: Block, work: Plain) -> Node | None:
    """`y = np.zeros_like(x)`, then `y[c] = f(x[c])` for each condition in turn; what holds for the rest comes first."""
    if len(call.args) < 3 or not all(isinstance(part, gast.List | gast.Tuple) for part in call.args[1:3]):
        return None
    conditions, values = call.args[1].elts, call.args[2].elts
    if not len(conditions) <= len(values) <= len(conditions) + 1 or any(
        isinstance(part, gast.Starred | gast.Constant) for part in conditions
    ):
        return None
    numpy = work.library("np")
    over, piece = work.name("over"), work.name("piece")
    masks = [work.name("kept") for _ in conditions]
    made.append(work.bind(over, expression(f"{numpy}.asarray(x)", x=call.args[0]), node))
    made += [work.bind(one, part, node) for one, part in zip(masks, conditions, strict=True)]
    made.append(work.bind(piece, expression(f"{numpy}.zeros_like({over})"), node))
    if len(values) > len(conditions):
        rest = work.name("rest")
        none = expression("~(m)", m=name(masks[0]))
        for one in masks[1:]:
            none = gast.BinOp(none, gast.BitAnd(), expression("~(m)", m=name(one)))
        made.append(work.bind(rest, none, node))
        values, masks = [values[-1], *values[:-1]], [rest, *masks]
    for one, value in zip(masks, values, strict=True):
        given = copy(value)
        if function_of(value, work.facts, work.facts.local) is not None:
            given = gast.Call(given, [expression(f"{over}[{one}]"), *map(copy, call.args[3:])], [])
            given.keywords = [gast.keyword(word.arg, copy(word.value)) for word in call.keywords]
        elif not isinstance(value, gast.Constant | gast.UnaryOp):
            raise work.facts.refuse(
                value, "E5005", "a piece that is no function that is known here", "give a function by its name"
            )
        put = statement(f"{piece}[{one}] = value", value=given)
        made.append(work.own(put, node))
    return name(piece)


__all__ = ["chosen", "selected"]
