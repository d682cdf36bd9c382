"""The text with which an output file takes over a function or a value of another module."""

from __future__ import annotations

import ast
import contextlib
import re
import textwrap
import tokenize
from collections.abc import Sequence

from srcgrad.converted import parsed
from srcgrad.emit.annotations import plain
from srcgrad.emit.binders import parameters
from srcgrad.emit.expression import expression
from srcgrad.emit.literal import docstring
from srcgrad.emit.meaning import Copied, Literal
from srcgrad.emit.tidy import tidied, tidied_statement
from srcgrad.emit.wrap import wrap_definition
from srcgrad.front.parse import FunctionNode, comments, segment
from srcgrad.front.static import StaticFunction
from srcgrad.trees import Node

WIDTH = 88


def definition(meaning: Copied | Literal, name: str, *, tidy: bool = False) -> str:
    """A `def` without decorators and annotations, or an assignment; the body is as its author wrote it.

    With `tidy`, it is laid out as black has it.
    """
    if isinstance(meaning, Literal):
        return f"{name} = {meaning.text}"
    whole = meaning.module.table.get(meaning.name, [None])[-1]
    if whole is not None and isinstance(whole.node, ast.ClassDef):
        return _class(meaning, whole.node, name)
    if meaning.function is None:
        return _value(f"{name} = {meaning.expression}") if tidy else f"{name} = {meaning.expression}"
    node = meaning.function.node
    if isinstance(node, ast.Lambda):
        text = segment(meaning.module.lines, node)
        made = f"{name} = ({text}\n)" if "\n" in text else f"{name} = {text}"
        return _value(made) if tidy else made
    return _function(meaning.function, node, name, tidy)


def renamed(text: str, old: str, new: str) -> str:
    """A definition under another name."""
    start = text.index(old)  # behind `def `, or at the start
    return text[:start] + new + text[start + len(old) :]


def _function(
    function: StaticFunction, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, tidy: bool = True
) -> str:
    lines = textwrap.dedent("\n".join(function.module.lines[node.lineno - 1 : node.end_lineno])).split("\n")
    own = function.module.name.partition(".")[0] == "srcgrad"
    if not (own or tidy or _is_annotated(node)):
        return "\n".join(line.rstrip() for line in lines)
    last, column = _end_of_header(lines)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    arguments, returns = _annotated(function, tidy and not own)
    header = wrap_definition(f"{word} {name}", parameters(arguments), f"{returns}:", indent=0, width=WIDTH)
    known = _laid_out(function, node, node.lineno + last, own) if own or tidy else None
    if known is not None:
        return "\n".join([*header, *known])
    behind = lines[last][column:].strip()
    body = ([f"    {behind}"] if behind and not behind.startswith("#") else []) + lines[last + 1 :]
    return "\n".join(line.rstrip() for line in [*header, *body])


def _laid_out(function: StaticFunction, node: FunctionNode, after: int, own: bool) -> list[str] | None:
    """The body, below line `after`, as black has it; the docstring of functions of our own is cut short."""
    source = function.source
    body, text = source.tree.body, ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    if isinstance(node, ast.Lambda | ast.AsyncFunctionDef):
        return None
    head: list[str] = []
    if text is not None:
        first, after, body = body[0].lineno, body[0].end_lineno, body[1:]
        head = _brief(text) if own else _docstring(text, source.lines[first - 1 : after])
    rest = tidied(body, source.lines, source.comments, after, 4) if body else []
    return None if rest is None else [*head, *rest]


def _value(text: str) -> str:
    """An assignment as black has it."""
    if text.endswith("\n)"):  # brackets around several lines, which need not be the author's
        with contextlib.suppress(SyntaxError):
            bare = text.replace(" = (", " = ", 1).removesuffix("\n)")
            parsed(bare)
            text = bare
    lines = tuple(text.split("\n"))
    return "\n".join(tidied_statement(parsed(text).body[0], lines, comments(lines, 1, len(lines)), 0))


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


def _annotated(function: StaticFunction, keep: bool) -> tuple[Node, str]:
    """The parameters and what stands behind them: without annotations, or with those that need NumPy alone."""
    tree = function.source.tree
    arguments = tree.args
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if each is not None:
            each.annotation = plain(each.annotation, function.module.lookup) if keep else None
    returned = plain(tree.returns, function.module.lookup) if keep else None
    return arguments, "" if returned is None else f" -> {expression(returned)}"


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


def _brief(text: str) -> list[str]:
    """The first paragraph of a docstring: examples belong to the library's manual."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return (" " * 4 + docstring("\n    ".join(textwrap.wrap(paragraph, WIDTH - 10)))).split("\n")


def _docstring(text: str, lines: Sequence[str]) -> list[str]:
    """The docstring of a user, as it is where it is indented by four blanks."""
    if lines[0].startswith('    """'):
        return [line.rstrip() for line in lines]
    inner = "\n".join(f"    {line}".rstrip() for line in text.split("\n")).strip()
    return (" " * 4 + docstring(f"{inner}\n    " if "\n" in inner else inner)).split("\n")
