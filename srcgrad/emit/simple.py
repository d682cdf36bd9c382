"""Text of statements without a body, in three parts: head, expression, tail.

A line that is too long may be broken in the expression, and parentheses put around it.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.emit.expression import expression
from srcgrad.emit.operators import BARE, BINARY


def _assign(node: gast.AST) -> tuple[str, str, str]:
    head = "".join([f"{expression(target, BARE)} = " for target in node.targets])
    return head, expression(node.value, BARE), ""


def _augmented(node: gast.AST) -> tuple[str, str, str]:
    symbol = BINARY[type(node.op)][0].strip()
    return f"{expression(node.target)} {symbol}= ", expression(node.value), ""


def _annotated(node: gast.AST) -> tuple[str, str, str]:
    target = expression(node.target)
    if not node.simple and isinstance(node.target, gast.Name):
        target = f"({target})"
    head = f"{target}: {expression(node.annotation)}"
    return (head, "", "") if node.value is None else (f"{head} = ", expression(node.value), "")


def _return(node: gast.AST) -> tuple[str, str, str]:
    if node.value is None:
        return "return", "", ""
    return "return ", expression(node.value, BARE), ""


def _expression_statement(node: gast.AST) -> tuple[str, str, str]:
    return "", expression(node.value, BARE), ""


def _assert(node: gast.AST) -> tuple[str, str, str]:
    if node.msg is None:
        return "assert ", expression(node.test), ""
    return f"assert {expression(node.test)}, ", expression(node.msg), ""


def _raise(node: gast.AST) -> tuple[str, str, str]:
    if node.exc is None:
        return "raise", "", ""
    cause = "" if node.cause is None else f" from {expression(node.cause)}"
    return "raise ", expression(node.exc), cause


def _delete(node: gast.AST) -> tuple[str, str, str]:
    return "del ", ", ".join([expression(each) for each in node.targets]), ""


def _aliases(node: gast.AST) -> str:
    names = [f"{each.name} as {each.asname}" if each.asname else each.name for each in node.names]
    return ", ".join(names)


def _import(node: gast.AST) -> tuple[str, str, str]:
    return "import ", _aliases(node), ""


def _import_from(node: gast.AST) -> tuple[str, str, str]:
    return f"from {'.' * (node.level or 0)}{node.module or ''} import ", _aliases(node), ""


SIMPLE: dict[type, Callable[[gast.AST], tuple[str, str, str]]] = {
    gast.Assign: _assign,
    gast.AugAssign: _augmented,
    gast.AnnAssign: _annotated,
    gast.Return: _return,
    gast.Expr: _expression_statement,
    gast.Assert: _assert,
    gast.Raise: _raise,
    gast.Delete: _delete,
    gast.Import: _import,
    gast.ImportFrom: _import_from,
    gast.Pass: lambda node: ("pass", "", ""),
    gast.Break: lambda node: ("break", "", ""),
    gast.Continue: lambda node: ("continue", "", ""),
    gast.Global: lambda node: ("global ", ", ".join(node.names), ""),
    gast.Nonlocal: lambda node: ("nonlocal ", ", ".join(node.names), ""),
}
