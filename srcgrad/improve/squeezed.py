"""`e.sum(axis=1, keepdims=True)[:, 0]` is `e.sum(axis=1)`: an axis that is kept to be taken off at once is not kept."""

from __future__ import annotations

import gast

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.trees import Node, header, inside, statements, walk


def squeezed(program: Program, facts: Facts) -> Program:
    """Leave out `keepdims` of a sum whose only element along the axis is read.

    >>> import numpy as np, srcgrad
    >>> def scaled(k, s):
    ...     return np.sum(np.sin(k) * s[:, None])
    >>> print(srcgrad.source(scaled, wrt="s", like=(np.ones((2, 3)), np.ones(2))).splitlines()[-2])
        s_bar = (y_bar * np.sin(k)).sum(axis=1)
    """
    for node in statements(program.backward):
        for whole in [whole for part in header(node) for whole in inside(part, gast.Subscript)]:
            if isinstance(whole.ctx, gast.Load) and _is_taken_off(whole):
                call = whole.value
                call.keywords = [word for word in call.keywords if word.arg != "keepdims"]
                _become(node, whole, call)
    return program


def _is_taken_off(whole: Node) -> bool:
    """Whether a subscript takes off the axis that the sum below it has kept, and nothing else."""
    call = whole.value
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute) or call.func.attr != "sum":
        return False
    words = {word.arg: word.value for word in call.keywords}
    if call.args or set(words) != {"axis", "keepdims"} or getattr(words["keepdims"], "value", None) is not True:
        return False
    along = words["axis"].elts if isinstance(words["axis"], gast.Tuple) else [words["axis"]]
    axes = [getattr(axis, "value", None) for axis in along]
    parts = whole.slice.elts if isinstance(whole.slice, gast.Tuple) else [whole.slice]
    known = all(type(axis) is int and 0 <= axis < len(parts) for axis in axes)
    return known and all(_is_zero(part) if place in axes else _is_full(part) for place, part in enumerate(parts))


def _is_zero(part: Node) -> bool:
    return isinstance(part, gast.Constant) and type(part.value) is int and part.value == 0


def _is_full(part: Node) -> bool:
    return isinstance(part, gast.Slice) and part.lower is part.upper is part.step is None


def _become(node: Node, old: Node, new: Node) -> None:
    for item in walk(node):
        for key in item._fields:
            part = getattr(item, key, None)
            if part is old:
                setattr(item, key, new)
            elif isinstance(part, list):
                setattr(item, key, [new if each is old else each for each in part])
