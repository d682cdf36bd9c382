"""Definitions that an output takes over from another module.

Annotations that a standalone module can keep: those that Python, typing and NumPy suffice for.

Functions that a standalone module takes over, laid out as black has it, with their comments.

A statement that is laid out so stays as its author wrote it; any other one is printed anew.

The text with which an output file takes over a function or a value of another module.
"""

from __future__ import annotations

import ast
import contextlib
import re
import textwrap
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import gast

from srcgrad.backend.text.free_names import CopiedDefinition, Literal
from srcgrad.core.bindings import Binding, StaticFunction
from srcgrad.core.printer.expressions import docstring, expression, parameters
from srcgrad.core.printer.line_breaking import wrap_definition
from srcgrad.core.printer.statements import statement
from srcgrad.core.source_text import FunctionNode, comments, segment
from srcgrad.core.trees import Block, Node, parse_tree, walk

HOMES = ("builtins", "collections", "numbers", "numpy", "typing")
PARTS = (gast.Name, gast.Attribute, gast.Subscript, gast.Tuple, gast.List, gast.BinOp, gast.BitOr, gast.Load)


def plain_annotation(annotation: Node | None, lookup: Callable[[str], Binding | None]) -> Node | None:
    """The annotation, out of its quotes; None for one that needs more than NumPy where the text runs.

    >>> import numpy as np
    >>> known = {"np": Binding("object", np), "float": Binding("object", float)}
    >>> tree = gast.parse("def f(x: 'np.ndarray | float', y: Model, z: 'no type'): pass").body[0]
    >>> [plain_annotation(parameter.annotation, known.get) is not None for parameter in tree.args.args]
    [True, False, False]
    """
    if isinstance(annotation, gast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = parse_tree(annotation.value.strip(), "eval").body
        except SyntaxError:
            return None
    if annotation is None or not all(_is_part(node, lookup) for node in walk(annotation)):
        return None
    return annotation


def _is_part(node: Node, lookup: Callable[[str], Binding | None]) -> bool:
    if isinstance(node, gast.Constant):
        return node.value is None or node.value is ...
    if not isinstance(node, PARTS):
        return False
    if not isinstance(node, gast.Name):
        return True
    found = lookup(node.id)
    if found is None or found.kind != "object":
        return False
    known = found.object
    home = known.__name__ if isinstance(known, ModuleType) else getattr(known, "__module__", "") or ""
    return str(home).partition(".")[0] in HOMES


STEP = 4
TEXT = re.compile(r'(\w+ = |return )?"""[^"]*("""$|$)')  # text in lines of its own, which layout leaves alone
PRAGMA = re.compile(r"\s*# (type: ignore|noqa|ruff: noqa|fmt:)\S*")


class _UnusualStatement(Exception):  # noqa: N818  (it leaves a recursion, and meets no user)
    """A statement that is left as it is."""


def tidy_body(
    body: Block, lines: Sequence[str], comments: Mapping[int, str], after: int, indent: int
) -> list[str] | None:
    """The statements of a function below line `after`; None where some are of a kind that is not laid out here.

    `lines` are those of the file, `comments` the remarks by their line.

    >>> import gast
    >>> text = ["def f(x):", "  if x>0: # when", "    # twice", "    x=x  *2"]
    >>> print(*tidy_body(gast.parse("\\n".join(text)).body[0].body, text, {2: "# when", 3: "# twice"}, 1, 4), sep="\\n")
        if x > 0:  # when
            # twice
            x = x * 2
    """
    layout = _Layout(lines, comments, after)
    try:
        layout.block(body, indent)
    except _UnusualStatement:
        return None
    return layout.made if _means_the_same(body, layout.made, indent) else None


def tidied_statement(node: Node, lines: Sequence[str], comments: Mapping[int, str], indent: int) -> list[str]:
    """The lines of one statement that holds no others, with the comments in it."""
    layout = _Layout(lines, comments, node.lineno - 1)
    layout.lay_out_simple(node, indent)
    return layout.made


def _means_the_same(body: Block, made: list[str], indent: int) -> bool:
    margin = [f"{' ' * depth}if 1:" for depth in range(0, indent, STEP)]
    found = parse_tree("\n".join([*margin, *made])).body
    for _ in margin:
        found = found[0].body
    return [gast.dump(node) for node in found] == [gast.dump(node) for node in body]


@dataclass
class _Layout:
    """The lines made so far, and the last line of the source that has been dealt with."""

    lines: Sequence[str]
    comments: Mapping[int, str]
    done: int
    made: list[str] = field(default_factory=list)

    def block(self, body: Block, indent: int) -> None:
        """The statements of a block, and the comments at its end."""
        start = len(self.made)
        for number, node in enumerate(body):
            gap = number > 0 and gast.FunctionDef in (type(node), type(body[number - 1]))
            self._put_comments_above(_first_line(node), indent, start, gap)
            if isinstance(node, gast.If | gast.For | gast.While | gast.With | gast.FunctionDef):
                self._compound(node, indent)
            elif isinstance(node, gast.Try):
                self._try(node, indent)
            elif hasattr(node, "body") or hasattr(node, "cases"):
                raise _UnusualStatement
            else:
                self.lay_out_simple(node, indent)
        column, last = body[-1].col_offset, self.done
        for line in range(self.done + 1, len(self.lines) + 1):
            text = self.lines[line - 1]
            if line in self.comments and text.lstrip().startswith("#") and len(text) - len(text.lstrip()) >= column:
                last = line
            elif text.strip():
                break
        self._put_comments_above(last + 1, indent, start)

    def _put_comments_above(self, line: int, indent: int, start: int, gap: bool = False) -> None:
        """Comments and an empty line above a line; `start` is where the block begins."""
        for number in range(self.done + 1, line):
            gap = gap or not self.lines[number - 1].strip()
            if number in self.comments and not PRAGMA.match(self.comments[number]):
                self._gap(gap, start)
                self.made.append(" " * indent + self.comments[number])
                gap = False
        if line <= len(self.lines):
            self._gap(gap, start)
        self.done = max(self.done, line - 1)

    def _gap(self, wanted: bool, start: int) -> None:
        if wanted and len(self.made) > start and self.made[-1]:
            self.made.append("")

    def lay_out_simple(self, node: Node, indent: int) -> None:
        """One statement that holds no others."""
        first, last = node.lineno, node.end_lineno
        printed = statement(node, indent, WIDTH)
        alone = not self.lines[first - 1][: node.col_offset].strip() and self._ends(last, node.end_col_offset)
        self._source_or_printed(first, last, printed, indent, alone)

    def _ends(self, line: int, column: int) -> bool:
        """Whether nothing but a comment follows in a line."""
        rest = self.lines[line - 1].encode()[column:].decode().strip()
        return not rest or rest.startswith("#")

    def _source_or_printed(self, first: int, last: int, printed: list[str], indent: int, alone: bool) -> None:
        """The lines of the source if they are laid out well, else what is printed with their comments."""
        raw = [line.rstrip() for line in self.lines[first - 1 : last]]
        here = [self.comments[n] for n in range(first, last + 1) if n in self.comments]
        remarks = [remark for remark in here if not PRAGMA.match(remark)]
        margin = len(raw[0]) - len(raw[0].lstrip())
        bare = _bare_text([_strip_comment(line, self.comments.get(n)) for n, line in enumerate(raw, first)])
        fits = all(len(line) <= WIDTH for line in raw) and margin == indent and len(here) == len(remarks)
        if alone and fits and ((bare == _bare_text(printed) and _is_opened(raw, here)) or TEXT.match(raw[0].lstrip())):
            self.made += raw
        elif len(remarks) == 1 and len(printed) == 1 and len(f"{printed[0]}  {remarks[0]}") <= WIDTH:
            self.made.append(f"{printed[0]}  {remarks[0]}")
        else:
            self.made += [" " * indent + remark for remark in remarks] + printed
        self.done = max(self.done, last)

    def _compound(self, node: Node, indent: int, word: str = "") -> None:
        shallow = type(node)(**{name: getattr(node, name) for name in node._fields})
        shallow.body = [gast.Pass()]
        if hasattr(node, "orelse"):
            shallow.orelse = []
        printed = statement(shallow, indent, WIDTH)[:-1]
        if word:
            printed[0] = printed[0].replace("if", word, 1)
        first, last = _first_line(node), self._end_of_header(node)
        self._source_or_printed(first, last, printed, indent, last < _first_line(node.body[0]))
        self.block(node.body, indent + STEP)
        others = getattr(node, "orelse", None) or []
        if not others:
            return
        [other, *more] = others
        if not more and self.lines[other.lineno - 1][other.col_offset :].startswith("elif"):
            self._put_comments_above(other.lineno, indent, len(self.made))
            self._compound(other, indent, "elif")
            return
        self.made.append(" " * indent + "else:")
        self.block(others, indent + STEP)

    def _try(self, node: Node, indent: int) -> None:
        margin = " " * indent
        self.made.append(f"{margin}try:")
        self.block(node.body, indent + STEP)
        for handler in node.handlers:
            kind = "" if handler.type is None else f" {expression(handler.type)}"
            name = "" if handler.name is None else f" as {handler.name.id}"
            self._put_comments_above(handler.lineno, indent, len(self.made))
            self.made.append(f"{margin}except{kind}{name}:")
            self.block(handler.body, indent + STEP)
        for word, body in (("else", node.orelse), ("finally", node.finalbody)):
            if body:
                self.made.append(f"{margin}{word}:")
                self.block(body, indent + STEP)

    def _end_of_header(self, node: Node) -> int:
        """The line of the colon in front of the body; that of the body where they share it."""
        body = _first_line(node.body[0])
        above = range(body - 1, node.lineno - 1, -1)
        return next((n for n in above if _strip_comment(self.lines[n - 1], self.comments.get(n))), body)


def _is_opened(raw: Sequence[str], remarks: Sequence[str]) -> bool:
    """Whether a statement of several lines is broken behind its first bracket and in front of its last one."""
    start = raw[0]
    for remark in remarks:
        start = start.removesuffix(remark).rstrip()
    closing = raw[-1].lstrip()[:1] in tuple(")]}") and raw[-1].index(raw[-1].lstrip()) == raw[0].index(raw[0].lstrip())
    return len(raw) == 1 or (start[-1:] in tuple("([{") and closing)


def _first_line(node: Node) -> int:
    """The first line of a statement, its decorators included."""
    lines: list[int] = [node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]
    return min(lines)


def _strip_comment(line: str, comment: str | None) -> str:
    """A line without the comment at its end."""
    return line.strip() if comment is None else line.strip().removesuffix(comment).rstrip()


def _bare_text(lines: Sequence[str]) -> str:
    """Lines as one, without the brackets and commas by which layouts differ."""
    joined = ""
    for line in lines:
        text = line.strip()
        joined += text if not joined or joined[-1] in "([{" or text[:1] in ")]}" else f" {text}"
    return re.sub(r"[(),]", "", joined)


WIDTH = 88


def definition(meaning: CopiedDefinition | Literal, name: str, *, tidy: bool = False) -> str:
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


def rename_definition(text: str, old: str, new: str) -> str:
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
    arguments, returns = _parameters_and_body(function, tidy and not own)
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
        head = _first_paragraph(text) if own else _docstring(text, source.lines[first - 1 : after])
    rest = tidy_body(body, source.lines, source.comments, after, 4) if body else []
    return None if rest is None else [*head, *rest]


def _value(text: str) -> str:
    """An assignment as black has it."""
    if text.endswith("\n)"):  # brackets around several lines, which need not be the author's
        with contextlib.suppress(SyntaxError):
            bare = text.replace(" = (", " = ", 1).removesuffix("\n)")
            parse_tree(bare)
            text = bare
    lines = tuple(text.split("\n"))
    return "\n".join(tidied_statement(parse_tree(text).body[0], lines, comments(lines, 1, len(lines)), 0))


def _class(meaning: CopiedDefinition, node: ast.ClassDef, name: str) -> str:
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


def _parameters_and_body(function: StaticFunction, keep: bool) -> tuple[Node, str]:
    """The parameters and what stands behind them: without annotations, or with those that need NumPy alone."""
    tree = function.source.tree
    arguments = tree.args
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if each is not None:
            each.annotation = plain_annotation(each.annotation, function.module.lookup) if keep else None
    returned = plain_annotation(tree.returns, function.module.lookup) if keep else None
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


def _first_paragraph(text: str) -> list[str]:
    """The first paragraph of a docstring: examples belong to the library's manual."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return (" " * 4 + docstring("\n    ".join(textwrap.wrap(paragraph, WIDTH - 10)))).split("\n")


def _docstring(text: str, lines: Sequence[str]) -> list[str]:
    """The docstring of a user, as it is where it is indented by four blanks."""
    if lines[0].startswith('    """'):
        return [line.rstrip() for line in lines]
    inner = "\n".join(f"    {line}".rstrip() for line in text.split("\n")).strip()
    return (" " * 4 + docstring(f"{inner}\n    " if "\n" in inner else inner)).split("\n")
