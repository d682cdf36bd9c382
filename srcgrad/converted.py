"""Trees of Python as trees of gast, and literals as values: what gast does, with fewer steps for each node."""

from __future__ import annotations

import ast
from typing import Any  # a gast tree has no types of its own

import gast
from gast.ast3 import Ast3ToGAst

Node = Any  # gast.AST; gast ships no type information

_HERE = {"visit_Name", "visit_arg", "visit_FunctionDef"}  # of what gast makes otherwise than field by field
_OTHERWISE = {key for key in vars(Ast3ToGAst) if key.startswith("visit_")} - _HERE
_TEXTS = {"id", "attr", "arg", "name", "level", "module", "asname", "type_comment", "conversion", "is_async"}


class _Kinds(dict[type, tuple[Any, tuple[str, ...]]]):
    """The kinds of gast for those of Python, None where gast is asked, and the fields that may hold nodes."""

    def __missing__(self, kind: type) -> tuple[Any, tuple[str, ...]]:
        spelled = "Name" if kind is ast.arg else kind.__name__
        asked = f"visit_{spelled}" in _OTHERWISE or not hasattr(gast, spelled)
        fields = () if kind is ast.Constant else tuple(key for key in getattr(kind, "_fields", ()) if key not in _TEXTS)
        return self.setdefault(kind, (None if asked else getattr(gast, spelled), fields))


_KINDS = _Kinds()
_EMPTY: dict[type, Node] = {}  # operators and contexts, which hold nothing: one of each kind


def parsed(text: str, mode: str = "exec") -> Node:
    """The tree of a text."""
    return converted(ast.parse(text, mode=mode))


def converted(node: ast.AST, levels: int = 1_000_000) -> Node:
    """The tree of gast for one of Python's, positions included; RecursionError if it has more levels than these.

    >>> plain = ast.parse("def f(x: int, *, n=-1.0): return [x[1:], {**n}]")
    >>> ours, theirs = converted(plain), gast.ast_to_gast(plain)
    >>> gast.dump(ours, include_attributes=True) == gast.dump(theirs, include_attributes=True)
    True
    """
    kind, levels = type(node), levels - 1
    if levels < 0:
        raise RecursionError
    if kind in _EMPTY:
        return _EMPTY[kind]
    of_gast, fields = _KINDS[kind]
    if of_gast is None:
        return gast.ast_to_gast(node)
    new = of_gast.__new__(of_gast)
    made = new.__dict__
    made.update(node.__dict__)
    for key in fields:
        value = made[key]
        if type(value) is list:
            made[key] = [converted(item, levels) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST):
            made[key] = converted(value, levels)
    if kind is ast.Name:
        made["annotation"] = made["type_comment"] = None
    elif kind is ast.arg:
        made["id"], made["ctx"] = made.pop("arg"), gast.Param()
    elif kind is ast.FunctionDef:
        made.setdefault("type_params", [])  # which gast knows, and Python from 3.12 on
    elif not made:
        _EMPTY[kind] = new
    return new


def literal_value(node: Node) -> Any:
    """The value of a literal; ValueError or TypeError for any other tree.

    >>> [literal_value(parsed(text, "eval").body) for text in ("-1", "(0, 1.5)", "'a'")]
    [-1, (0, 1.5), 'a']
    """
    kind = type(node)
    if kind is gast.Constant:
        return node.value
    if kind is gast.Tuple:
        return tuple([literal_value(item) for item in node.elts])
    if kind is gast.UnaryOp and type(node.op) is gast.USub and type(literal := node.operand) is gast.Constant:
        if type(literal.value) in (int, float):
            return -literal.value
    if kind in _NEVER:
        raise ValueError("not a literal")
    return gast.literal_eval(node)


_NEVER = {gast.Name, gast.Attribute, gast.Subscript, gast.Slice}
