"""Which function of a text a code object belongs to: decided by compiling the text, never by its looks.

A text is compiled as a whole, since a nested function or a method means something else when compiled
alone; then a function is found by the line and name of its code, and taken only if both codes are equal.
"""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType

from srcgrad.definitions import definitions
from srcgrad.front.parse import FunctionNode, parse

Key = tuple[str, int]  # name of the code, line of its `def` or of its first decorator

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


@dataclass(frozen=True)
class Module:
    """A text, its tree, and the functions and code objects in it by name and line."""

    lines: tuple[str, ...]
    tree: ast.Module
    flags: int
    nodes: dict[Key, list[FunctionNode]]
    codes: dict[Key, list[CodeType]]

    @cached_property
    def alone(self) -> dict[Key, list[CodeType]]:
        """The code objects where each statement of the text is compiled by itself, as IPython does with a cell.

        Python calls `np.tanh` by other instructions where the same text imports np.
        """
        return _indexed(_by_statements(self.tree, self.flags))


def futures(code: CodeType) -> int:
    """The `from __future__` imports that `code` was compiled under; a notebook cell inherits earlier ones."""
    return code.co_flags & _FUTURES


def module_of(text: str, lines: tuple[str, ...], flags: int) -> Module:
    """The index of a text; raises what `compile` raises."""
    tree = parse(text, flags)
    nodes: dict[Key, list[FunctionNode]] = {}
    for node in ast.walk(tree) if "lambda" in text else definitions(tree):
        if isinstance(node, FunctionNode):
            nodes.setdefault(_key(node), []).append(node)
    return Module(lines, tree, flags, nodes, _indexed(_codes(_compiled(tree, flags))))


def _indexed(codes: Iterable[CodeType]) -> dict[Key, list[CodeType]]:
    found: dict[Key, list[CodeType]] = {}
    for code in codes:
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    return found


def _compiled(tree: ast.Module, flags: int) -> CodeType:
    code = compile(tree, "<text>", "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    assert isinstance(code, CodeType), "without PyCF_ONLY_AST, compile gives code"
    return code


def _by_statements(tree: ast.Module, flags: int) -> Iterator[CodeType]:
    for statement in tree.body:
        yield from _codes(_compiled(ast.Module([statement], []), flags))


def _key(node: FunctionNode) -> Key:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _codes(code: CodeType) -> Iterator[CodeType]:
    todo = [code]
    while todo:
        item = todo.pop()
        yield item
        todo.extend(const for const in reversed(item.co_consts) if isinstance(const, CodeType))


def node_of(module: Module, code: CodeType) -> FunctionNode | None:
    """The function of `module` that compiles to `code`: at its line, or where an edit above has moved it."""
    line = code.co_firstlineno
    keys = [key for key in module.codes if key[0] == code.co_name]
    for key in sorted(keys, key=lambda key: (abs(key[1] - line), key[1])):
        if any(same_code(code, other) for other in module.codes[key]) or any(
            same_code(code, other) for other in module.alone.get(key, ())
        ):
            nodes = module.nodes.get(key, [])
            return nodes[0] if len(nodes) == 1 else _lambda_of(module, nodes, code)
    return None


def _lambda_of(module: Module, nodes: list[FunctionNode], code: CodeType) -> FunctionNode | None:
    """The lambda, of several in one line, that compiles to `code`."""
    here = [node for node in nodes if isinstance(node, ast.Lambda) and _covers(node, code)]
    if here:
        return here[0]
    for node, other in _paired(module):
        if any(node is candidate for candidate in nodes) and same_code(code, other):
            return node
    return None


def _covers(node: ast.Lambda, code: CodeType) -> bool:
    """Whether an instruction of `code` has the very position of the lambda's body (from Python 3.11 on)."""
    if sys.version_info < (3, 11):
        return False
    body = node.body
    span = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    return span in set(code.co_positions())


def _paired(module: Module) -> Iterator[tuple[ast.Lambda, CodeType]]:
    """Lambdas with their code objects, told apart by compiling a copy in which each has a line of its own."""
    copy = parse("\n".join(module.lines) + "\n", module.flags)
    lambdas: list[ast.Lambda] = []
    for node, twin in zip(ast.walk(module.tree), ast.walk(copy), strict=True):
        if isinstance(node, ast.Lambda) and isinstance(twin, ast.Lambda):
            lambdas.append(node)
            twin.lineno = twin.end_lineno = len(lambdas)
            twin.col_offset = twin.end_col_offset = 0
    for code in (*_codes(_compiled(copy, module.flags)), *_by_statements(copy, module.flags)):
        if code.co_name == "<lambda>":
            yield lambdas[code.co_firstlineno - 1], code


def same_code(live: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same: instructions, names and constants; positions and files may differ."""
    if live == other:
        return True
    if _signature(live) != _signature(other):
        return False
    if _is_rewritten(live):
        return _same_but_asserts(live, other)
    return (
        live.co_code == other.co_code
        and live.co_names == other.co_names
        and live.co_varnames == other.co_varnames
        and getattr(live, "co_exceptiontable", b"") == getattr(other, "co_exceptiontable", b"")
        and _same_constant(live.co_consts, other.co_consts)
    )


def _signature(code: CodeType) -> tuple[object, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    scope = (sorted(code.co_freevars), sorted(code.co_cellvars))
    return code.co_name, counts, code.co_flags, code.co_varnames[:count], scope


def _same_constant(one: object, other: object) -> bool:
    if type(one) is not type(other):  # 1, 1.0 and True are equal but not the same
        return False
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, float | complex):
        return repr(one) == repr(other)  # 0.0 and -0.0 are equal but not the same; nan is not equal to itself
    return one == other


def _is_rewritten(code: CodeType) -> bool:
    """Whether pytest has rewritten the `assert` statements of `code`: a test's functions have other code."""
    return any(name.startswith("@py") for name in (*code.co_names, *code.co_varnames))


def _same_but_asserts(live: CodeType, other: CodeType) -> bool:
    return set(other.co_names) - {"AssertionError"} <= set(live.co_names) and _lines(live) == _lines(other)


def _lines(code: CodeType) -> set[int]:
    return {line - code.co_firstlineno for _, _, line in code.co_lines() if line is not None}
