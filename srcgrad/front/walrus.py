"""`(t := e)` inside of an expression: a statement of its own before the one that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.trees import Block, Node, at, name, walk

if TYPE_CHECKING:
    from srcgrad.front.plain import Plain


def walruses(node: Node, work: Plain) -> Block:
    """`t = e` for each `(t := e)` that is evaluated in any case, whose place `t` takes."""
    made: Block = []
    for key in ("test", "iter", "value", "exc"):
        part = getattr(node, key, None)
        if isinstance(part, gast.AST):
            setattr(node, key, _hoisted(part, node, made, work))
    if made:
        work.facts.foreign[node] = None
    return made


def _hoisted(value: Node, where: Node, made: Block, work: Plain) -> Node:
    if not any(isinstance(n, gast.NamedExpr) for n in walk(value)):
        return value
    if isinstance(value, gast.NamedExpr):
        inner = _hoisted(value.value, where, made, work)
        earlier = [n for n in walk(where) if isinstance(n, gast.Name) and n.id == value.target.id]
        if any((n.lineno, n.col_offset) < (value.lineno, value.col_offset) for n in earlier if "lineno" in n.__dict__):
            return value
        made.append(work.bind(value.target.id, inner, where))
        return at(name(value.target.id), value)
    if isinstance(value, gast.IfExp):
        value.test = _hoisted(value.test, where, made, work)
    elif isinstance(value, gast.BoolOp):
        value.values[0] = _hoisted(value.values[0], where, made, work)
    elif not isinstance(value, gast.Lambda | gast.ListComp | gast.GeneratorExp | gast.SetComp | gast.DictComp):
        for key in value._fields:
            part = getattr(value, key, None)
            if isinstance(part, list):
                setattr(value, key, [_hoisted(p, where, made, work) if isinstance(p, gast.AST) else p for p in part])
            elif isinstance(part, gast.AST):
                setattr(value, key, _hoisted(part, where, made, work))
    return value
