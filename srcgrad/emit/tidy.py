"""Functions that a standalone module takes over, laid out as black has it, with their comments.

A statement that is laid out so stays as its author wrote it; any other one is printed anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import gast

from srcgrad.converted import parsed
from srcgrad.emit.text import expression, statement
from srcgrad.trees import Block, Node

WIDTH = 88
STEP = 4
TEXT = re.compile(r'(\w+ = |return )?"""[^"]*("""$|$)')  # text in lines of its own, which layout leaves alone
PRAGMA = re.compile(r"\s*# (type: ignore|noqa|ruff: noqa|fmt:)\S*")


class _Unusual(Exception):  # noqa: N818  (it leaves a recursion, and meets no user)
    """A statement that is left as it is."""


def tidied(body: Block, lines: Sequence[str], comments: Mapping[int, str], after: int, indent: int) -> list[str] | None:
    """The statements of a function below line `after`; None where some are of a kind that is not laid out here.

    `lines` are those of the file, `comments` the remarks by their line.

    >>> import gast
    >>> text = ["def f(x):", "  if x>0: # when", "    # twice", "    x=x  *2"]
    >>> print(*tidied(gast.parse("\\n".join(text)).body[0].body, text, {2: "# when", 3: "# twice"}, 1, 4), sep="\\n")
        if x > 0:  # when
            # twice
            x = x * 2
    """
    layout = _Layout(lines, comments, after)
    try:
        layout.block(body, indent)
    except _Unusual:
        return None
    return layout.made if _means_the_same(body, layout.made, indent) else None


def tidied_statement(node: Node, lines: Sequence[str], comments: Mapping[int, str], indent: int) -> list[str]:
    """The lines of one statement that holds no others, with the comments in it."""
    layout = _Layout(lines, comments, node.lineno - 1)
    layout.simple(node, indent)
    return layout.made


def _means_the_same(body: Block, made: list[str], indent: int) -> bool:
    margin = [f"{' ' * depth}if 1:" for depth in range(0, indent, STEP)]
    found = parsed("\n".join([*margin, *made])).body
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
            self._above(_first(node), indent, start, gap)
            if isinstance(node, gast.If | gast.For | gast.While | gast.With | gast.FunctionDef):
                self._compound(node, indent)
            elif isinstance(node, gast.Try):
                self._try(node, indent)
            elif hasattr(node, "body") or hasattr(node, "cases"):
                raise _Unusual
            else:
                self.simple(node, indent)
        column, last = body[-1].col_offset, self.done
        for line in range(self.done + 1, len(self.lines) + 1):
            text = self.lines[line - 1]
            if line in self.comments and text.lstrip().startswith("#") and len(text) - len(text.lstrip()) >= column:
                last = line
            elif text.strip():
                break
        self._above(last + 1, indent, start)

    def _above(self, line: int, indent: int, start: int, gap: bool = False) -> None:
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

    def simple(self, node: Node, indent: int) -> None:
        """One statement that holds no others."""
        first, last = node.lineno, node.end_lineno
        printed = statement(node, indent, WIDTH)
        alone = not self.lines[first - 1][: node.col_offset].strip() and self._ends(last, node.end_col_offset)
        self._either(first, last, printed, indent, alone)

    def _ends(self, line: int, column: int) -> bool:
        """Whether nothing but a comment follows in a line."""
        rest = self.lines[line - 1].encode()[column:].decode().strip()
        return not rest or rest.startswith("#")

    def _either(self, first: int, last: int, printed: list[str], indent: int, alone: bool) -> None:
        """The lines of the source if they are laid out well, else what is printed with their comments."""
        raw = [line.rstrip() for line in self.lines[first - 1 : last]]
        here = [self.comments[n] for n in range(first, last + 1) if n in self.comments]
        remarks = [remark for remark in here if not PRAGMA.match(remark)]
        margin = len(raw[0]) - len(raw[0].lstrip())
        bare = _bare([_without(line, self.comments.get(n)) for n, line in enumerate(raw, first)])
        fits = all(len(line) <= WIDTH for line in raw) and margin == indent and len(here) == len(remarks)
        if alone and fits and ((bare == _bare(printed) and _is_opened(raw, here)) or TEXT.match(raw[0].lstrip())):
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
        first, last = _first(node), self._end_of_header(node)
        self._either(first, last, printed, indent, last < _first(node.body[0]))
        self.block(node.body, indent + STEP)
        others = getattr(node, "orelse", None) or []
        if not others:
            return
        [other, *more] = others
        if not more and self.lines[other.lineno - 1][other.col_offset :].startswith("elif"):
            self._above(other.lineno, indent, len(self.made))
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
            self._above(handler.lineno, indent, len(self.made))
            self.made.append(f"{margin}except{kind}{name}:")
            self.block(handler.body, indent + STEP)
        for word, body in (("else", node.orelse), ("finally", node.finalbody)):
            if body:
                self.made.append(f"{margin}{word}:")
                self.block(body, indent + STEP)

    def _end_of_header(self, node: Node) -> int:
        """The line of the colon in front of the body; that of the body where they share it."""
        body = _first(node.body[0])
        above = range(body - 1, node.lineno - 1, -1)
        return next((n for n in above if _without(self.lines[n - 1], self.comments.get(n))), body)


def _is_opened(raw: Sequence[str], remarks: Sequence[str]) -> bool:
    """Whether a statement of several lines is broken behind its first bracket and in front of its last one."""
    start = raw[0]
    for remark in remarks:
        start = start.removesuffix(remark).rstrip()
    closing = raw[-1].lstrip()[:1] in tuple(")]}") and raw[-1].index(raw[-1].lstrip()) == raw[0].index(raw[0].lstrip())
    return len(raw) == 1 or (start[-1:] in tuple("([{") and closing)


def _first(node: Node) -> int:
    """The first line of a statement, its decorators included."""
    lines: list[int] = [node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]
    return min(lines)


def _without(line: str, comment: str | None) -> str:
    """A line without the comment at its end."""
    return line.strip() if comment is None else line.strip().removesuffix(comment).rstrip()


def _bare(lines: Sequence[str]) -> str:
    """Lines as one, without the brackets and commas by which layouts differ."""
    joined = ""
    for line in lines:
        text = line.strip()
        joined += text if not joined or joined[-1] in "([{" or text[:1] in ")]}" else f" {text}"
    return re.sub(r"[(),]", "", joined)
