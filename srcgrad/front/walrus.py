"""`(t := e)` inside of an expression: a statement of its own before the one that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gast

from srcgrad.trees import Block, Node, at, copy, header, holds, name, walk

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
    if not holds(value, gast.NamedExpr):
        return value
    if isinstance(value, gast.NamedExpr):
        inner = _hoisted(value.value, where, made, work)
        read = [n for part in header(where) for n in walk(part)]
        earlier = [n for n in read if isinstance(n, gast.Name) and n.id == value.target.id]
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


def branched(node: Node, work: Plain) -> Block | None:
    """`if a and (t := e) > 1.0:` as two branches, so that e is computed only where a holds; None for any other.

    >>> from srcgrad.phases import explain_text
    >>> text = "def f(x):\\n    if x > 0 and (t := x * x) < 4:\\n        x = t\\n    return x"
    >>> print(explain_text(text, after="plain"))
    def f(x):
        if x > 0:
            t = x * x
            if t < 4:
                x = t
        return x
    """
    if not isinstance(node, gast.If) or not _splits(node.test):
        return None
    return [_branch(node.test, node.body, node.orelse, node, work)]


def _splits(test: Node) -> bool:
    """Whether some part of a condition that may not be evaluated binds a name."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return _splits(test.operand)
    if not isinstance(test, gast.BoolOp):
        return False
    return _splits(test.values[0]) or any(isinstance(n, gast.NamedExpr) for v in test.values[1:] for n in walk(v))


def _branch(test: Node, body: Block, orelse: Block, node: Node, work: Plain) -> Node:
    """A branch whose condition is taken apart; what both ways lead to stands twice."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not) and _splits(test):
        return _branch(test.operand, orelse or [at(gast.Pass(), node)], body, node, work)
    if not _splits(test):
        return work.own(gast.If(test, body, orelse), node)
    first, rest = test.values[0], test.values[1:]
    later = rest[0] if len(rest) == 1 else at(gast.BoolOp(test.op, rest), test)
    if isinstance(test.op, gast.And):
        inner = _branch(later, body, [copy(one) for one in orelse], node, work)
        return _branch(first, [inner], orelse, node, work)
    inner = _branch(later, [copy(one) for one in body], orelse, node, work)
    return _branch(first, body, [inner], node, work)
