"""The text with which an output file takes over a function or a value of another module."""

from __future__ import annotations

import ast
import re
import textwrap
import tokenize

from srcgrad.emit.binders import parameters
from srcgrad.emit.literal import docstring
from srcgrad.emit.meaning import Copied, Literal
from srcgrad.emit.text import statement
from srcgrad.emit.wrap import wrap_definition
from srcgrad.front.parse import FunctionNode, segment
from srcgrad.front.static import StaticFunction
from srcgrad.trees import Node, statements

WIDTH = 88


def definition(meaning: Copied | Literal, name: str) -> str:
    """A `def` without decorators and annotations, or an assignment; the body is as its author wrote it."""
    if isinstance(meaning, Literal):
        return f"{name} = {meaning.text}"
    whole = meaning.module.table.get(meaning.name, [None])[-1]
    if whole is not None and isinstance(whole.node, ast.ClassDef):
        return _class(meaning, whole.node, name)
    if meaning.function is None:
        return f"{name} = {meaning.expression}"
    node = meaning.function.node
    if isinstance(node, ast.Lambda):
        text = segment(meaning.module.lines, node)
        return f"{name} = ({text}\n)" if "\n" in text else f"{name} = {text}"
    return _function(meaning.function, node, name)


def renamed(text: str, old: str, new: str) -> str:
    """A definition under another name."""
    start = text.index(old)  # behind `def `, or at the start
    return text[:start] + new + text[start + len(old) :]


def _function(function: StaticFunction, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    lines = list(function.module.lines[node.lineno - 1 : node.end_lineno])
    own = function.module.name.partition(".")[0] == "srcgrad"
    if own:
        lines = _narrow(function.source.tree, lines, node.lineno)
    lines = textwrap.dedent("\n".join(lines)).split("\n")
    if not own and not _is_annotated(node):
        return "\n".join(line.rstrip() for line in lines)
    last, column = _end_of_header(lines)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    header = wrap_definition(f"{word} {name}", parameters(_bare(function)), ":", indent=0, width=WIDTH)
    behind = lines[last][column:].strip()
    body = ([f"    {behind}"] if behind and not behind.startswith("#") else []) + lines[last + 1 :]
    if own:
        body = _brief(node, body, node.lineno + last + 1)
    return "\n".join(line.rstrip() for line in [*header, *body])


def _class(meaning: Copied, node: ast.ClassDef, name: str) -> str:
    """A class of the library: its methods one by one, without the annotations of its attributes."""
    summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
    lines = [f"class {name}:", *(" " * 4 + docstring("\n    ".join(textwrap.wrap(summary, WIDTH - 10)))).split("\n")]
    for method in node.body:
        if isinstance(method, ast.FunctionDef):
            text = _function(StaticFunction(meaning.module, method.name, method), method, method.name)
            bare = re.sub(r"(?m)^( *self\.\w+): .*? = ", r"\1 = ", text)
            lines += ["", *(f"    {line}".rstrip() for line in bare.split("\n"))]
    return "\n".join(lines)


def _is_annotated(node: FunctionNode) -> bool:
    returns = getattr(node, "returns", None) is not None
    return returns or any(isinstance(n, ast.arg) and n.annotation is not None for n in ast.walk(node.args))


def _bare(function: StaticFunction) -> ast.AST:
    """The parameters without their annotations, as a tree that can be printed."""
    arguments = function.source.tree.args
    for each in [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]:
        if each is not None:
            each.annotation = None
    return arguments  # type: ignore[no-any-return]


def _end_of_header(lines: list[str]) -> tuple[int, int]:
    """Line and column behind the colon that ends a signature."""
    depth = 0
    supply = iter(line + "\n" for line in lines)
    for token in tokenize.generate_tokens(lambda: next(supply, "")):
        if token.type != tokenize.OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
        elif token.string == ":" and depth == 0:
            return token.end[0] - 1, token.end[1]
    raise AssertionError("a parsed signature ends with a colon")


def _brief(node: ast.FunctionDef | ast.AsyncFunctionDef, body: list[str], first: int) -> list[str]:
    """The body with the first paragraph of its docstring alone: examples belong to the library's manual."""
    text = ast.get_docstring(node)
    if text is None:
        return body
    held = node.body[0]
    assert held.end_lineno is not None, "statements have places"
    paragraph = " ".join(text.partition("\n\n")[0].split())
    brief = "\n    ".join(textwrap.wrap(paragraph, WIDTH - 10))
    return [*(" " * 4 + docstring(brief)).split("\n"), *body[held.end_lineno + 1 - first :]]


def _narrow(tree: Node, lines: list[str], first: int) -> list[str]:
    """The lines of a function with those statements printed anew that are wider than generated text may be.

    The number of lines above the docstring's end stays, since only statements behind it are touched.
    """
    simple = [node for node in statements(tree.body[1:]) if not hasattr(node, "body")]
    for node in sorted(simple, key=lambda node: -node.lineno):
        start, end = node.lineno - first, node.end_lineno - first + 1
        block = lines[start:end]
        if any(len(line) > WIDTH for line in block) and not any("#" in line for line in block):
            lines[start:end] = statement(node, node.col_offset, WIDTH)
    return lines
