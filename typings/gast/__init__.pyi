"""Types of the trees of gast, which ships none: of each kind of node its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, TypeVar

Node = TypeVar("Node", bound="AST")

class AST:
    _fields: tuple[str, ...]
    _attributes: tuple[str, ...]
    lineno: int  # positions: of nodes of a text, which have all four
    col_offset: int
    end_lineno: int
    end_col_offset: int
    def __init__(self, *args: Any, **fields: Any) -> None: ...
    # fields that mean the same in all kinds of nodes that have them, or in nearly all; no node has all of these
    id: str
    attr: str
    value: AST
    func: AST
    left: AST
    right: AST
    operand: AST
    test: AST
    iter: AST
    target: AST
    targets: list[AST]
    elts: list[AST]
    slice: AST
    keywords: list[keyword]
    comparators: list[AST]
    ops: list[cmpop]
    op: AST
    values: list[AST]
    keys: list[AST | None]
    generators: list[comprehension]
    name: str
    ctx: expr_context
    def __getattr__(self, name: str) -> Any: ...  # any other field
    def __setattr__(self, name: str, value: Any) -> None: ...

class alias(AST):
    name: str
    asname: str | None

class arguments(AST):
    args: list[Name]
    posonlyargs: list[Name]
    vararg: Name | None
    kwonlyargs: list[Name]
    kw_defaults: list[AST | None]
    kwarg: Name | None
    defaults: list[AST]

class boolop(AST): ...
class cmpop(AST): ...

class comprehension(AST):
    target: AST
    iter: AST
    ifs: list[AST]
    is_async: int

class excepthandler(AST): ...
class expr(AST): ...
class expr_context(AST): ...

class keyword(AST):
    arg: str | None
    value: AST

class match_case(AST):
    pattern: pattern | None
    guard: AST | None
    body: list[AST]

class mod(AST): ...
class operator(AST): ...
class pattern(AST): ...
class slice(AST): ...
class stmt(AST): ...
class type_param(AST): ...
class unaryop(AST): ...

class withitem(AST):
    context_expr: AST
    optional_vars: AST | None

class Add(operator): ...
class And(boolop): ...

class AnnAssign(stmt):
    target: AST
    annotation: AST
    value: AST | None  # type: ignore[assignment]
    simple: int

class Assert(stmt):
    test: AST
    msg: AST | None

class Assign(stmt):
    targets: list[AST]
    value: AST
    type_comment: str | None

class AsyncFor(stmt):
    target: AST
    iter: AST
    body: list[AST]
    orelse: list[AST]
    type_comment: str | None

class AsyncFunctionDef(stmt):
    name: str
    args: arguments
    body: list[AST]
    decorator_list: list[AST]
    returns: AST | None
    type_comment: str | None
    type_params: list[type_param]

class AsyncWith(stmt):
    items: list[withitem]
    body: list[AST]
    type_comment: str | None

class Attribute(expr):
    value: AST
    attr: str
    ctx: expr_context

class AugAssign(stmt):
    target: AST
    op: operator
    value: AST

class Await(expr):
    value: AST

class BinOp(expr):
    left: AST
    op: operator
    right: AST

class BitAnd(operator): ...
class BitOr(operator): ...
class BitXor(operator): ...

class BoolOp(expr):
    op: boolop
    values: list[AST]

class Break(stmt): ...

class Call(expr):
    func: AST
    args: list[AST]
    keywords: list[keyword]

class ClassDef(stmt):
    name: str
    bases: list[AST]
    keywords: list[keyword]
    body: list[AST]
    decorator_list: list[AST]
    type_params: list[type_param]

class Compare(expr):
    left: AST
    ops: list[cmpop]
    comparators: list[AST]

class Constant(expr):
    value: Any
    kind: str | None

class Continue(stmt): ...
class Del(expr_context): ...

class Delete(stmt):
    targets: list[AST]

class Dict(expr):
    keys: list[AST | None]
    values: list[AST]

class DictComp(expr):
    key: AST
    value: AST
    generators: list[comprehension]

class Div(operator): ...
class Eq(cmpop): ...

class ExceptHandler(excepthandler):
    type: AST | None
    name: str | None  # type: ignore[assignment]
    body: list[AST]

class Expr(stmt):
    value: AST

class Expression(mod):
    body: AST

class FloorDiv(operator): ...

class For(stmt):
    target: AST
    iter: AST
    body: list[AST]
    orelse: list[AST]
    type_comment: str | None

class FormattedValue(expr):
    value: AST
    conversion: int
    format_spec: AST | None

class FunctionDef(stmt):
    name: str
    args: arguments
    body: list[AST]
    decorator_list: list[AST]
    returns: AST | None
    type_comment: str | None
    type_params: list[type_param]

class GeneratorExp(expr):
    elt: AST
    generators: list[comprehension]

class Global(stmt):
    names: list[str]

class Gt(cmpop): ...
class GtE(cmpop): ...

class If(stmt):
    test: AST
    body: list[AST]
    orelse: list[AST]

class IfExp(expr):
    test: AST
    body: AST
    orelse: AST

class Import(stmt):
    names: list[alias]

class ImportFrom(stmt):
    module: str | None
    names: list[alias]
    level: int | None

class In(cmpop): ...
class Invert(unaryop): ...
class Is(cmpop): ...
class IsNot(cmpop): ...

class JoinedStr(expr):
    values: list[AST]

class LShift(operator): ...

class Lambda(expr):
    args: arguments
    body: AST

class List(expr):
    elts: list[AST]
    ctx: expr_context

class ListComp(expr):
    elt: AST
    generators: list[comprehension]

class Load(expr_context): ...
class Lt(cmpop): ...
class LtE(cmpop): ...
class MatMult(operator): ...

class Match(stmt):
    subject: AST
    cases: list[match_case]

class MatchAs(pattern):
    pattern: pattern | None
    name: str | None  # type: ignore[assignment]

class MatchClass(pattern):
    cls: AST
    patterns: list[pattern]
    kwd_attrs: list[str]
    kwd_patterns: list[pattern]

class MatchMapping(pattern):
    keys: list[AST | None]
    patterns: list[pattern]
    rest: str | None

class MatchOr(pattern):
    patterns: list[pattern]

class MatchSequence(pattern):
    patterns: list[pattern]

class MatchSingleton(pattern):
    value: Any

class MatchStar(pattern):
    name: str | None  # type: ignore[assignment]

class MatchValue(pattern):
    value: AST

class Mod(operator): ...

class Module(mod):
    body: list[AST]
    type_ignores: list[type_ignore]

class Mult(operator): ...

class Name(expr):
    id: str
    ctx: expr_context
    annotation: AST | None
    type_comment: str | None

class NamedExpr(expr):
    target: Name
    value: AST

class Nonlocal(stmt):
    names: list[str]

class Not(unaryop): ...
class NotEq(cmpop): ...
class NotIn(cmpop): ...
class Or(boolop): ...
class Param(expr_context): ...
class Pass(stmt): ...
class Pow(operator): ...
class RShift(operator): ...

class Raise(stmt):
    exc: AST | None
    cause: AST | None

class Return(stmt):
    value: AST | None  # type: ignore[assignment]

class Set(expr):
    elts: list[AST]

class SetComp(expr):
    elt: AST
    generators: list[comprehension]

class Slice(expr):
    lower: AST | None
    upper: AST | None
    step: AST | None

class Starred(expr):
    value: AST
    ctx: expr_context

class Store(expr_context): ...
class Sub(operator): ...

class Subscript(expr):
    value: AST
    slice: AST
    ctx: expr_context

class Try(stmt):
    body: list[AST]
    handlers: list[ExceptHandler]
    orelse: list[AST]
    finalbody: list[AST]

class TryStar(stmt):
    body: list[AST]
    handlers: list[ExceptHandler]
    orelse: list[AST]
    finalbody: list[AST]

class Tuple(expr):
    elts: list[AST]
    ctx: expr_context

class UAdd(unaryop): ...
class USub(unaryop): ...

class UnaryOp(expr):
    op: unaryop
    operand: AST

class While(stmt):
    test: AST
    body: list[AST]
    orelse: list[AST]

class With(stmt):
    items: list[withitem]
    body: list[AST]
    type_comment: str | None

class Yield(expr):
    value: AST | None  # type: ignore[assignment]

class YieldFrom(expr):
    value: AST

class type_ignore(AST): ...

def parse(source: str, *args: Any, **options: Any) -> Module: ...
def unparse(node: AST) -> str: ...
def walk(node: AST) -> Iterator[AST]: ...
def iter_child_nodes(node: AST) -> Iterator[AST]: ...
def iter_fields(node: AST) -> Iterator[tuple[str, Any]]: ...
def copy_location(new_node: Node, old_node: AST) -> Node: ...
def fix_missing_locations(node: AST) -> AST: ...
def dump(node: AST, annotate_fields: bool = ..., include_attributes: bool = ...) -> str: ...
def ast_to_gast(node: ast.AST) -> AST: ...
def gast_to_ast(node: AST) -> ast.AST: ...
def literal_eval(node: AST | str) -> Any: ...
def get_docstring(node: AST, clean: bool = ...) -> str | None: ...
