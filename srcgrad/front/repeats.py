"""`[a, b] * 3` and `(a, b) * 3` of literal lengths, as the display that they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.trees import Block, Node, at, copy, name

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain

_MOST = 64  # items of a display that are still read as one
_LAZY = (gast.Lambda, gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp, gast.IfExp, gast.BoolOp)


def repeats(node: Node, work: Plain) -> Block:
    """Spell repeated displays of a statement's value; the statements that compute their items once.

    >>> from srcgrad.phases import explain_text
    >>> print(explain_text("def f(x):\\n    y = [x, 0.0] * 2\\n    return y[0] * y[2]", after="plain"))
    def f(x):
        y = [x, 0.0, x, 0.0]
        return y[0] * y[2]
    """
    part = "iter" if isinstance(node, gast.For) else "value"
    before: Block = []
    if isinstance(node, gast.Assign | gast.Return | gast.AugAssign | gast.For) and getattr(node, part) is not None:
        setattr(node, part, _spelled(getattr(node, part), node, before, work))
    return before


def _spelled(value: Node, where: Node, before: Block, work: Plain) -> Node:
    if isinstance(value, _LAZY):
        return value
    for key in value._fields:
        part = getattr(value, key, None)
        if isinstance(part, list):
            setattr(value, key, [_spelled(p, where, before, work) if isinstance(p, gast.expr) else p for p in part])
        elif isinstance(part, gast.expr):
            setattr(value, key, _spelled(part, where, before, work))
    shown, times = _repeated(value)
    if shown is None:
        return value
    work.facts.foreign[where] = None
    items = [
        item if isinstance(item, gast.Constant | gast.Name) else _held(item, where, before, work) for item in shown.elts
    ]
    return at(type(shown)([copy(item) for _ in range(times) for item in items], gast.Load()), value)


def _held(item: Node, where: Node, before: Block, work: Plain) -> Node:
    held = work.name("item")
    before.append(work.bind(held, item, where))
    return at(name(held), item)


def _repeated(value: Node) -> tuple[Node | None, int]:
    """The display that an expression repeats, and how often; of constants alone it stays as it is."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return None, 0
    for shown, times in ((value.left, value.right), (value.right, value.left)):
        count = times.value if isinstance(times, gast.Constant) and type(times.value) is int else -1
        if isinstance(shown, gast.List | gast.Tuple) and 0 < count * len(shown.elts) <= _MOST:
            steady = all(isinstance(item, gast.Constant) for item in shown.elts)
            starred = any(isinstance(item, gast.Starred) for item in shown.elts)
            return (None, 0) if steady or starred else (shown, count)
    return None, 0
